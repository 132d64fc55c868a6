"""Finds the robots rule that decides about a target, in bounded time (RFC 9309, 2.2.2 and 2.2.3).

Every rule is filed under a literal that a matching target must contain, so that of 20,000 rules a
handful are looked at: plain rules under the whole of their pattern, rules with wildcards under three
characters of it. Literals are compared by `str.find`, never by a regular expression, so that no
pattern can backtrack.
"""

import re
from collections.abc import Iterable

UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

# What may stand as it is. Outside: characters that no URI may hold, those that browsers write either way
# in a path or query (' [ ]), and in a target the two that are special in a pattern.
_ODD_IN_PATTERN = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!&()*+,;=:@/?$]")
_ODD_IN_TARGET = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!&()+,;=:@/?]")

GRAM = 3
"""Length of the literals that rules with wildcards are filed under."""

WORK_LIMIT = 50_000_000
"""Character comparisons that one target may cost in the worst case, some tens of milliseconds.

Only patterns made for it come near: thousands of long ones that all agree with one very long target.
"""

SHOWN = 500
"""Characters of a pattern that a decision quotes."""

TOO_COSTLY = "Disallow: (rules too costly to match)"


def _respell(match: re.Match[str]) -> str:
    odd = match[0]
    if len(odd) == 3:
        char = chr(int(odd[1:], 16))
        return char if char in UNRESERVED else odd.upper()
    # Bytes of a robots file come as latin-1, characters of a target as themselves: see the two callers.
    return f"%{ord(odd):02X}"


def normal_pattern(pattern: str) -> str:
    """Spell a pattern so that equal paths are equal text; `pattern` holds raw bytes as latin-1.

    Unreserved characters stand decoded, all else that is percent-encoded stays so, with capital
    digits; octets outside URIs are encoded. `*` and `$` stay special, `%2A` and `%24` literal.
    """
    return _ODD_IN_PATTERN.sub(_respell, pattern)


def normal_target(target: str) -> str:
    """Spell a path with query as `normal_pattern` does; `*` and `$` become `%2A` and `%24`."""
    if _ODD_IN_TARGET.search(target) is None:
        return target
    if not target.isascii():
        target = target.encode("utf-8", "surrogatepass").decode("latin-1")
    return _ODD_IN_TARGET.sub(_respell, target)


class _Wildcard:
    """A pattern with `*`: text that starts with `head`, holds `middles` in order, and ends with `tail`."""

    __slots__ = ("head", "middles", "tail", "work")

    def __init__(self, head: str, middles: tuple[str, ...], tail: str) -> None:
        self.head = head
        self.middles = middles
        self.tail = tail
        self.work = sum(map(len, middles))

    def matches(self, target: str) -> bool:
        # Taking the earliest place for each piece leaves the most room for the rest: no way back is needed.
        if not (target.startswith(self.head) and target.endswith(self.tail)):
            return False
        place, end = len(self.head), len(target) - len(self.tail)
        for piece in self.middles:
            found = target.find(piece, place, end)
            if found < 0:
                return False
            place = found + len(piece)
        return place <= end


class RuleIndex:
    """The rules of one robots file, ready to be asked.

    Rules are numbered by precedence (the longest pattern first, of equals `Allow` first), so that
    the smallest number that matches decides.

    Args:
        rules: (allow, pattern as `normal_pattern` spells it).
    """

    __slots__ = ("_always", "_exact", "_grams", "_lengths", "_prefixes", "_rules", "_wildcards")

    def __init__(self, rules: Iterable[tuple[bool, str]]) -> None:
        self._rules = sorted(rules, key=lambda rule: (-len(rule[1]), not rule[0]))
        self._prefixes: dict[str, int] = {}
        self._exact: dict[str, int] = {}
        self._wildcards: dict[int, _Wildcard] = {}
        self._grams: dict[str, list[int]] = {}
        self._always: list[int] = []
        for number, (_, pattern) in enumerate(self._rules):
            self._file(number, pattern)
        self._grams = {gram: bucket for gram, bucket in self._grams.items() if bucket}
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})

    def _file(self, number: int, pattern: str) -> None:
        anchored = pattern.endswith("$") and not pattern.endswith("*$")  # which ends anywhere, as `*` does
        pieces = pattern.removesuffix("$").replace("$", "%24").split("*")
        head, middles, tail = pieces[0], [piece for piece in pieces[1:] if piece], ""
        if anchored and len(pieces) == 1:
            self._exact.setdefault(head, number)
        elif not middles:
            self._prefixes.setdefault(head, number)
        else:
            if anchored:
                tail = middles.pop()
            self._wildcards[number] = _Wildcard(head, tuple(middles), tail)
            self._rarest_bucket([head, *middles, tail]).append(number)

    def _rarest_bucket(self, pieces: list[str]) -> list[int]:
        """The shortest list among those of some grams: the last four of the longest piece."""
        piece = max(pieces, key=len)
        if len(piece) < GRAM:
            return self._always
        shortest: list[int] | None = None
        for start in range(max(0, len(piece) - GRAM - 3), len(piece) - GRAM + 1):
            bucket = self._grams.setdefault(piece[start : start + GRAM], [])
            if shortest is None or len(bucket) < len(shortest):
                shortest = bucket
        assert shortest is not None
        return shortest

    def decide(self, target: str) -> tuple[bool, str]:
        """May a target (as `normal_target` spells it) be visited, and by which line."""
        best = self._exact.get(target, len(self._rules))
        for length in self._lengths:
            if length > len(target):
                break
            number = self._prefixes.get(target[:length], best)
            if number < best:
                best = number
        if self._wildcards:
            work = 0
            for number in self._suspects(target):
                if number >= best:
                    break
                wildcard = self._wildcards[number]
                work += wildcard.work * len(target)
                if work > WORK_LIMIT:
                    return False, TOO_COSTLY
                if wildcard.matches(target):
                    best = number
                    break
        if best == len(self._rules):
            return True, ""
        allow, pattern = self._rules[best]
        return allow, f"{'Allow' if allow else 'Disallow'}: {pattern[:SHOWN]}"

    def _suspects(self, target: str) -> list[int]:
        """Numbers of the rules with wildcards that may match, in order of precedence."""
        numbers = list(self._always)
        if len(self._grams) < len(target):
            for gram, bucket in self._grams.items():
                if gram in target:
                    numbers += bucket
        else:
            windows = {target[start : start + GRAM] for start in range(len(target) - GRAM + 1)}
            for gram in self._grams.keys() & windows:
                numbers += self._grams[gram]
        numbers.sort()
        return numbers
