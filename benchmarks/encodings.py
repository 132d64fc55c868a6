"""Pages in legacy encodings that declare none: how many are misread.

`python -m benchmarks.encodings [--folder F] [--json]`. Needs `apt-get download` and `dpkg`, as on Debian.

The pages are Debian's handbook, installation guide and other documents in 26 languages. Each is written in
the encodings that its language was written in before UTF-8, without its declarations; characters that these
lack become character references, as editors wrote them. A page is *wrong* when a character is read as
another than was written. `whole`: the page as it is. `short`: 360 characters of its text. The top-level
domain says nothing (`com`), but in the figures that end in `_at_home`, where it is that of the country.
"""

import argparse
import json
import os
import re
import subprocess
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

from gossamer.extract.encodings.charset import charset_of, decode
from gossamer.extract.encodings.labels import CODECS

PACKAGES = (
    "debian-handbook",
    "installation-guide-amd64",
    *(f"aptitude-doc-{language}" for language in ("cs", "es", "fi", "fr", "it", "ja", "nl", "ru")),
    *(f"debian-faq-{language}" for language in ("ko", "pt", "zh-cn")),
    *(f"maint-guide-{language}" for language in ("ca", "de", "vi", "zh-cn", "zh-tw")),
)
SHORT = 360
_WESTERN = ("windows-1252", "iso-8859-15")
ENCODINGS = {
    **dict.fromkeys(("ca", "da", "de", "es", "fi", "fr", "id", "it", "nb", "nl", "pt", "sv"), _WESTERN),
    **dict.fromkeys(("cs", "hr", "pl", "ro"), ("windows-1250", "iso-8859-2")),
    "ru": ("windows-1251", "koi8-r", "iso-8859-5", "ibm866"),
    "el": ("windows-1253", "iso-8859-7"),
    "tr": ("windows-1254",),
    "ar": ("windows-1256", "iso-8859-6"),
    "fa": ("windows-1256",),
    "vi": ("windows-1258",),
    "ja": ("shift_jis", "euc-jp", "iso-2022-jp"),
    "ko": ("euc-kr",),
    "zh-cn": ("gbk", "gb18030"),
    "zh-tw": ("big5",),
}
"""Language: WHATWG names of its encodings."""
WESTERN = frozenset(language for language, names in ENCODINGS.items() if names == _WESTERN)
HOME = {
    "ca": "es",
    "da": "dk",
    "cs": "cz",
    "sv": "se",
    "nb": "no",
    "el": "gr",
    "ar": "ma",
    "fa": "ir",
    "vi": "vn",
    "ja": "jp",
    "ko": "kr",
    "zh-cn": "cn",
    "zh-tw": "tw",
}
"""Top-level domains of languages, where they are not the same."""
_LANGUAGE = re.compile(r"(?:[./-]|^)([a-z]{2})(?:[_-]([A-Za-z]{2}))?(?=[./])")
_DECLARATION = re.compile(r"<\?xml[^>]*\?>|<meta[^>]*charset[^>]*>", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style|head)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TONES = "\u0300\u0301\u0303\u0309\u0323"
_TAG = re.compile(r"<[^>]*>")


class Case(NamedTuple):
    """A text to be read.

    Attributes:
        language: a key of `ENCODINGS`.
        kind: `whole` or `short`.
        encoding: its WHATWG name.
        content: the bytes.
        text: what they say.
    """

    language: str
    kind: str
    encoding: str
    content: bytes
    text: str


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--folder", type=Path, default=cache / "gossamer-benchmarks/translations",
        help="where packages are kept and unpacked")  # fmt: skip
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = measured(unpacked(arguments.folder))
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {one}" for key, one in result.items()))


def unpacked(folder: Path) -> Path:
    """The folder with the packages' files, fetched if they are not there."""
    files = folder / "files"
    if not files.exists():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(
                ["apt-get", "download", *PACKAGES], cwd=folder, check=True, stdout=subprocess.DEVNULL
            )
            for package in folder.glob("*.deb"):
                subprocess.run(["dpkg", "-x", package, folder / "unpacking"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(
                f"Debian's packages cannot be fetched ({error}); try 'apt-get update'"
            ) from error
        (folder / "unpacking").rename(files)
    return files


def pages(files: Path) -> Iterator[tuple[str, str]]:
    """(language, markup without declarations) of each translated page."""
    for path in sorted(files.rglob("*.html*")):
        place = str(path.relative_to(files)).replace("maint-guide-", "/").replace("_", "-")
        told = [name for one, two in _LANGUAGE.findall(place) for name in (one, f"{one}-{two.lower()}")]
        known = [name for name in told if name in ENCODINGS]
        if known and path.is_file() and not path.is_symlink():
            yield known[-1], _DECLARATION.sub("", path.read_text(encoding="utf-8", errors="replace"))


def cases(files: Path) -> Iterator[Case]:
    """What is to be read: all of it with a character in it that is not ASCII."""
    for language, markup in pages(files):
        words = " ".join(unescape(_TAG.sub(" ", _HIDDEN.sub(" ", markup))).split())
        middle = max(len(words) // 2 - SHORT // 2, 0)
        short = f"<html><body><p>{escape(words[middle : middle + SHORT])}</p></body></html>"
        for encoding in ENCODINGS[language]:
            codec = CODECS[encoding]
            for kind, text in (("whole", markup), ("short", short)):
                spelled = _vietnamese(text) if language == "vi" else text
                content = spelled.encode(codec, "xmlcharrefreplace")
                written = content.decode(codec)
                if not written.isascii():
                    yield Case(language, kind, encoding, content, written)


def _vietnamese(text: str) -> str:
    """As windows-1258 has it: the signs of tones stand behind their letters."""
    return "".join(map(_spelled, text))


@cache
def _spelled(letter: str) -> str:
    parts = unicodedata.normalize("NFD", letter)
    tones = "".join(part for part in parts if part in _TONES)
    rest = "".join(part for part in parts if part not in _TONES)
    return unicodedata.normalize("NFC", rest) + tones if tones else letter


def measured(files: Path) -> dict[str, object]:
    """Shares of what is misread."""
    asked: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    errors: dict[str, Counter[str]] = defaultdict(Counter)
    languages, seconds, read = set(), 0.0, 0
    for case in cases(files):
        group = f"{'western' if case.language in WESTERN else 'other'}_{case.kind}_wrong"
        languages.add(case.language)
        for place, domain in (("", "com"), ("_at_home", HOME.get(case.language, case.language))):
            begun = time.process_time()
            charset = charset_of(case.content, "", "text/html", domain)
            seconds, read = seconds + time.process_time() - begun, read + len(case.content)
            asked[group + place] += 1
            if decode(case.content, charset) != case.text:
                wrong[group + place] += 1
                if not place:
                    errors[f"{case.language} {case.encoding} {case.kind}"][charset] += 1
    figures: dict[str, object] = {group: round(wrong[group] / asked[group], 4) for group in sorted(asked)}
    worst = sorted(errors.items(), key=lambda pair: -pair[1].total())[:12]
    return figures | {
        "cases": sum(count for group, count in asked.items() if group.endswith("wrong")),
        "languages": len(languages),
        "mb_per_second": round(read / seconds / 1e6),
        "most_errors": {name: dict(taken) for name, taken in worst},
    }


if __name__ == "__main__":
    main()
