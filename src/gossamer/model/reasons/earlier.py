"""Reads what older versions have written down as sentences; nothing new is written so."""

from collections.abc import Callable
from enum import StrEnum

from gossamer.model.outcome import Fault, Rule
from gossamer.model.reasons.codes import BudgetCode, EndCode, HoldCode, RetryCode, TextCode
from gossamer.model.reasons.reason import Reason, because, text

_WHOLE = {
    "another crawl of this machine": HoldCode.SHARED,
    "by the operator": HoldCode.OPERATOR,
    "finished": EndCode.FINISHED,
    "interrupted": EndCode.INTERRUPTED,
    "unreachable": EndCode.NO_SERVER,
    "failed": EndCode.FAILED,
    "fenced": EndCode.FENCED,
    "drained": EndCode.DRAINED,
}
_LIMITS: dict[str, tuple[StrEnum, Callable[[str], int | float]]] = {
    "pages_per_host": (BudgetCode.PAGES_PER_HOST, int),
    "bytes_per_host": (BudgetCode.BYTES_PER_HOST, int),
    "pages_per_domain": (BudgetCode.PAGES_PER_DOMAIN, int),
    "bytes_per_domain": (BudgetCode.BYTES_PER_DOMAIN, int),
    "max_pages": (EndCode.MAX_PAGES, int),
    "max_bytes": (EndCode.MAX_BYTES, int),
    "max_time": (EndCode.MAX_TIME, float),
}
_KINDS = frozenset((*Rule, *Fault))
_ASKED_FOR_REST = ("429", "503")


def told_before(sentence: str) -> Reason:
    """The reason that a sentence of an older version gives, as far as anything is decided from it.

    What is not is shown as it was said.
    """
    if (code := _WHOLE.get(sentence)) is not None:
        return Reason(code)
    if sentence in _KINDS:
        return Reason(sentence)
    head, _, rest = sentence.partition(" ")
    if head in _LIMITS:
        limit, number = _LIMITS[head]
        try:
            return because(limit, number(rest))
        except ValueError:
            return text(sentence)
    if sentence.startswith("by the operator, "):
        return because(TextCode.TEXT, sentence, Reason(HoldCode.OPERATOR))
    kind, colon, detail = sentence.partition(": ")
    if colon and kind in _KINDS and not detail.startswith(("hold (", "open (", "closed (")):
        return because(kind, detail)
    for status in _ASKED_FOR_REST:
        if sentence.startswith(status) or f"({status})" in sentence:
            return because(TextCode.TEXT, sentence, because(RetryCode.STATUS, int(status)))
    return text(sentence)
