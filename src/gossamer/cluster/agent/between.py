"""What agents say to one another: batches of links, questions about content, and what they go by in visits again.

A receiver calls links `covered` only by a snapshot that is on record, see `protocol`.
"""

import msgspec

from gossamer.model.errors import GossamerError
from gossamer.policy.revisit.agreement import Told
from gossamer.state.records import SharedDigestRecord


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One message of the exchange.

    Attributes:
        shard: whom it concerns.
        sequence: its place among those of the sender to this shard; they rise, with gaps.
        data: the message (`messages.Message`: the link's `QueueRecord`, and the gift).
    """

    shard: int
    sequence: int
    data: bytes


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """Messages of one agent to another, in order; one batch at a time is under way between two.

    Attributes:
        sender, incarnation: whose. The receiver applies nothing of another incarnation than `View.peers`
            tells: what a process sent that is no more must not wake who was counted as idle since.
        epoch: of the view by which it found the receiver.
        entries: of each shard the next ones that are owed to it.
        scope_hosts: that this process of the receiver has not heard of, and needs to know before it judges
            what the entries lead to.
        ask: shards whose position is asked for, though nothing may be owed to them any more.
    """

    sender: str
    incarnation: int
    epoch: int
    entries: tuple[Entry, ...]
    scope_hosts: tuple[str, ...] = ()
    ask: tuple[int, ...] = ()


class ShardProgress(msgspec.Struct, frozen=True, array_like=True):
    """How far the sender's messages to a shard are applied, and how far no loss of the receiver undoes it."""

    shard: int
    applied: int
    covered: int


class Applied(msgspec.Struct, frozen=True, array_like=True):
    """The receiver's answer.

    What it says of a shard counts only if, by the view the sender goes by when it arrives, the receiver, in
    this incarnation, is still the owner: whoever took the shard over may have less.

    Attributes:
        receiver, incarnation: whose.
        epoch: of the view by which it judged what is its own.
        positions: of the shards in the batch that it owns; of the others nothing was applied.
        heard: the sender is the process that the receiver's view knows; else its batch had no effect.
        wait: seconds before the next batch, while it is busy.
    """

    receiver: str
    incarnation: int
    epoch: int
    positions: tuple[ShardProgress, ...]
    heard: bool = False
    wait: float = 0.0


class Inquiry(msgspec.Struct, frozen=True, array_like=True, tag="inquiry"):
    """What one agent asks another, and tells it, about content that was met. No order, no epoch: see `Known`.

    Attributes:
        asked: marks of digests (`digest_table`).
        told: marks, and captures of the sender which snapshots of it on record hold.
    """

    asked: tuple[bytes, ...] = ()
    told: tuple[tuple[bytes, SharedDigestRecord], ...] = ()


class Known(msgspec.Struct, frozen=True, array_like=True):
    """The answer. Whoever gives it, it is true: only what cannot be lost is ever told.

    Attributes:
        known: what is known of the marks that were asked for.
        refused: marks that were told to an agent which does not own their shards now.
    """

    known: dict[bytes, SharedDigestRecord]
    refused: tuple[bytes, ...] = ()


class News(msgspec.Struct, frozen=True, array_like=True):
    """What an agent said of itself; `number` rises with each saying of an incarnation."""

    incarnation: int
    number: int
    told: Told

    @property
    def order(self) -> tuple[int, int]:
        """Of two sayings of an agent the greater is the later."""
        return self.incarnation, self.number


class Gossip(msgspec.Struct, frozen=True, array_like=True, tag="gossip"):
    """The latest that one agent has heard of each, itself among them; the answer to it is one, too."""

    news: dict[str, News]


_decode_question = msgspec.msgpack.Decoder(Inquiry | Gossip).decode


def question_in(data: bytes) -> Inquiry | Gossip:
    """What another agent asks, packed.

    Raises:
        GossamerError: it is no such thing.
    """
    try:
        question: Inquiry | Gossip = _decode_question(data)
    except msgspec.MsgspecError as error:
        raise GossamerError(f"a question of another agent cannot be read ({error})") from None
    return question
