"""Whether a page that was visited again says something else than at the last visit."""

from gossamer.engine.visiting.visit import Visit
from gossamer.model.exchange import Exchange
from gossamer.policy.revisit.history import History
from gossamer.state.records import PageRecord

TEXT_BYTES = 4


def changed(visit: Visit, exchange: Exchange, before: PageRecord, history: History) -> tuple[bool, bytes]:
    """Whether the text is another one, and the first `TEXT_BYTES` of its hash.

    Asked for visits that brought another payload than the last one did.
    """
    _ = visit, before
    text = exchange.body.sha256[:TEXT_BYTES]
    return text != history.text, text
