"""Writes a command as it is typed, so that who reads of it can copy it."""

import re
import shlex
from pathlib import PurePath

_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
"""What no shell takes for more than itself, as `shlex.quote` has it."""

_LIVE_IN_DOUBLE = frozenset('"$`\\!')
"""What means something between double quotes, too (POSIX.1-2024, XCU 2.2.3; `!` is the history of bash)."""


def command_line(*words: object) -> str:
    """`gossamer` with `words`, each quoted for a shell if it must be: `gossamer resume "/a b"`.

    Double quotes where they do, because commands stand between single ones in sentences.
    """
    return " ".join(("gossamer", *map(quoted, words)))


def quoted(word: object) -> str:
    """One word of a command line, quoted if a shell would take it apart; a path never looks like an option."""
    text = str(word)
    if isinstance(word, PurePath) and text.startswith("-"):
        text = f"./{text}"
    if _PLAIN.fullmatch(text):
        return text
    if text and text.isprintable() and _LIVE_IN_DOUBLE.isdisjoint(text):
        return f'"{text}"'
    return shlex.quote(text)
