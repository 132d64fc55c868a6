"""Long bodies that broke off: their beginnings are kept, so that the next visit need only ask for the rest."""

from msgspec.structs import replace

from gossamer.fetch.beginning import Beginning, length_said, strong_validator
from gossamer.fetch.body import LONGEST_HELD, SpooledBody
from gossamer.fetch.transfer import PARTIAL, Transfer
from gossamer.model.exchange import BROKEN_OFF, Exchange, StatusAction, Truncation
from gossamer.model.outcome import Failed, Fault
from gossamer.model.reasons.codes import FetchCode
from gossamer.model.reasons.reason import because
from gossamer.model.url import Url
from gossamer.policy.visits.retry import status_action

_NOT_SATISFIABLE = 416
_NOT_NOW = frozenset({StatusAction.RETRY, StatusAction.WAIT, StatusAction.THROTTLED})
_MOST_UNRELIABLE = 10_000
_LONGEST_BESIDE = 16 << 10
"""Bytes of heads and dialogues, which stay in memory, unlike the body."""


class Unfinished:
    """The beginnings that wait for another visit, in bounded space; what is kept longest goes first.

    Args:
        size: bytes of all of them together.
    """

    def __init__(self, size: int) -> None:
        self._left = size
        self._kept: dict[str, Beginning] = {}
        self._unreliable: dict[str, None] = {}

    def take(self, url: Url, attempts: int) -> Beginning | None:
        """What there is of a document, for a visit that asks for the rest of it.

        `attempts`: visits before this one that were for the same capture. Without one, what broke off has been
        archived as it was, and what comes now is a capture of its own.
        """
        beginning = self._kept.pop(url.text, None)
        if beginning is None:
            return None
        self._left += beginning.kept.size
        if not attempts or not beginning.kept.is_whole:
            beginning.kept.discard()
            return None
        return beginning

    def keep(self, exchange: Exchange) -> None:
        """Keep what has come, if it broke off, is long and can be asked for from there."""
        body = exchange.body
        if exchange.truncated not in BROKEN_OFF or body.size <= LONGEST_HELD:
            return
        validator = strong_validator(exchange)
        if not validator or exchange.url.origin in self._unreliable or not isinstance(body, SpooledBody):
            return
        if len(exchange.response_head) + sum(len(one.block) for one in exchange.further) > _LONGEST_BESIDE:
            return
        length = length_said(exchange.headers)
        if (length is None or body.size < length) and (kept := body.keep()) is not None:
            self._put(Beginning(replace(exchange, body=SpooledBody()), kept, validator, length))

    def _put(self, beginning: Beginning) -> None:
        """Keep a beginning, in place of others that were kept before if need be."""
        kept = self._kept
        if (before := kept.pop(beginning.exchange.url.text, None)) is not None:
            self._forget(before)
        self._left -= beginning.kept.size
        kept[beginning.exchange.url.text] = beginning
        while self._left < 0:
            self._forget(kept.pop(next(iter(kept))))

    def judge(
        self, beginning: Beginning, transfer: Transfer, verdict: Truncation | Failed | None
    ) -> Truncation | Failed | None:
        """What a visit that asked for the rest amounts to, given what it would amount to by itself.

        | answer                                                | the beginning      | verdict  |
        |-------------------------------------------------------|--------------------|----------|
        | the rest, or a part of it                             | was added to       | as it is |
        | another range, none (416), or another length          | goes; not again    | Failed   |
        | nothing; a status that asks for another visit         | waits for that     | as it is |
        | the whole document, as it has changed; any other      | goes               | as it is |
        """
        status = transfer.head.status if transfer.head.complete else 0
        if transfer.joined:
            missing = (transfer.whole or 0) - transfer.writer.size
            wrong = missing < 0 or (verdict is None and missing > 0)
        else:
            empty = transfer.whole is None and verdict is None
            wrong = status == _NOT_SATISFIABLE or (status == PARTIAL and (transfer.whole == 0 or empty))
        if wrong:
            return self.refuse(beginning)
        if not transfer.joined:
            self.put_back(beginning, None if isinstance(verdict, Failed) else status_action(status))
        return verdict

    def refuse(self, beginning: Beginning) -> Failed:
        """The server sent something else than the rest: none is asked of it again."""
        if len(self._unreliable) >= _MOST_UNRELIABLE:
            self._unreliable.clear()
        self._unreliable[beginning.exchange.url.origin] = None
        return Failed(Fault.PROTOCOL, because(FetchCode.OTHER_PART))

    def put_back(self, beginning: Beginning, asks: StatusAction | None) -> None:
        """Nothing was added to it; it stays if there was no answer (`None`), or one that asks for another visit."""
        if asks is None or asks in _NOT_NOW:
            self._put(beginning)

    def let_go(self, beginning: Beginning) -> None:
        """The visit that took it has ended, without adding to it: it is given up unless it was put back."""
        if self._kept.get(beginning.exchange.url.text) is not beginning:
            beginning.kept.discard()

    def close(self) -> None:
        """Give up all of them."""
        while self._kept:
            self._forget(self._kept.popitem()[1])

    def _forget(self, beginning: Beginning) -> None:
        self._left += beginning.kept.size
        beginning.kept.discard()
