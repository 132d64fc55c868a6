"""The language of a text: as the document declares it if its first characters agree, else guessed."""

import re
from functools import lru_cache
from typing import Any

__all__ = ["language_of"]

_SAMPLE = 1_000
"""Characters that are looked at: 0.5 ms; a whole text takes ten times that and says no more."""
_FEWEST = 20
_ENOUGH = re.compile(rf"(?:[\W\d_]*+[^\W\d_]){{{_FEWEST}}}")
_SURE = 0.8
_DECLARED = 0.6
_CONTRADICTED = 0.3
_GUESSED = 0.3
"""Below it a guess is wrong more often than not: what it is made of is names, numbers and heads of tables."""
_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*\Z")
_SAME = (
    {"no", "nb", "nn"},
    {"hr", "sr", "bs", "sh"},
    {"id", "ms"},
    {"zh", "yue", "wuu", "cmn"},
    {"ar", "ary", "arz", "arb"},
    {"fil", "tl"},
    {"iw", "he", "hbo"},
    {"el", "grc"},
)


def language_of(text: str, declared: str) -> tuple[str, float]:
    """BCP 47 tag and how sure it is, 0 to 1; empty and 0 if neither text nor document says.

    Args:
        text: of the document.
        declared: as the document says, may be empty or nonsense.
    """
    declared = declared.strip().lower().replace("_", "-")
    if not _TAG.match(declared):
        declared = ""
    sample = text[:_SAMPLE]
    if not _ENOUGH.match(sample):
        return declared, _DECLARED if declared else 0.0
    try:
        guessed, probability = _identifier().classify(sample)
    except ImportError:
        return declared, _DECLARED if declared else 0.0
    probability = float(probability)
    if not declared:
        return (guessed, round(probability, 3)) if probability >= _GUESSED else ("", 0.0)
    main = declared.partition("-")[0]
    if main == guessed or any(main in group and guessed in group for group in _SAME):
        return declared, round(max(probability, _DECLARED), 3)
    if probability >= _SURE:  # templates declare the language of the template
        return guessed, round(probability * _SURE, 3)
    return declared, _CONTRADICTED


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
