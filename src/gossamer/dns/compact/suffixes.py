"""Splits a host name at its public suffix.

The algorithm is that of https://publicsuffix.org/list/ (private section included), over the list that
comes with the `publicsuffixlist` package. That package's own reader takes 35 ms to start; here rules of
one label are left out, because they say what holds without a rule, and the rest is read in a few.
"""

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

_MAX_LABELS = 8
"""Rules are not longer; the longest of 2026 have five labels."""


class Rules(msgspec.Struct, frozen=True):
    """The list's rules of two labels and more, in ASCII.

    Attributes:
        suffixes: public suffixes, and the other rules as they are written, which no name looks like.
        parents: public suffixes that with any one label in front are another (`*.ck`).
        exceptions: what is registrable in spite of that (`!www.ck`).
    """

    suffixes: set[str]
    parents: set[str]
    exceptions: set[str]


def suffix_list() -> Path:
    """The file of the installed list."""
    spec = find_spec("publicsuffixlist")  # finds it without running it: 18 ms
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name("public_suffix_list.dat")


def rule_lines(path: Path) -> Iterator[str]:
    """The list's rules, in ASCII, otherwise as written. A rule ends at the first white space."""
    with path.open(encoding="utf-8") as lines:  # line by line: a list of them would leave a MiB of holes
        for line in lines:
            if line[0] not in "/ \t\n":
                rule = line.split(None, 1)[0]
                yield _ascii(rule)


def read_rules(path: Path) -> Rules:
    """The rules that matter here."""
    # Each start reads them all: in bytes, and only what matters is turned into text.
    with path.open("rb") as lines:
        suffixes = {
            _ascii(rule.decode())
            for line in lines
            if line[0] not in b"/ \t\n" and 0 < (rule := line.split(None, 1)[0]).count(b".") < _MAX_LABELS
        }
    parents = {rule[2:] for rule in suffixes if rule[0] == "*"}
    exceptions = {rule[1:] for rule in suffixes if rule[0] == "!"}
    return Rules(suffixes, parents, exceptions)


@cache
def installed_rules() -> Rules:
    """The rules of the installed list."""
    return read_rules(suffix_list())


def public_suffix(name: str, rules: Rules) -> str:
    """The longest public suffix of a name in lower-case ASCII without final dot; a last label is one."""
    dot = name.rfind(".")
    parent = longest = name[dot + 1 :]
    for _ in range(_MAX_LABELS):
        if dot < 0:
            break
        dot = name.rfind(".", 0, dot)
        candidate = name[dot + 1 :]
        if candidate in rules.exceptions:
            return parent
        if candidate in rules.suffixes or candidate in rules.parents or parent in rules.parents:
            longest = candidate
        parent = candidate
    return longest


def _ascii(line: str) -> str:
    if line.isascii():
        return line
    # The list is written in lower case and normal form, so nothing need be prepared (RFC 3490 4.1).
    return ".".join(
        label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
        for label in line.split(".")
    )
