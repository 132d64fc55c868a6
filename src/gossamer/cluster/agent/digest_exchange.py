"""Asks the owner of a digest whether its content was met before (W10), and tells owners what we have met."""

import asyncio
import contextlib

import msgspec

from gossamer.cluster.agent.between import Inquiry, Known
from gossamer.cluster.agent.consulting import Consult, answer_of, encode
from gossamer.cluster.agent.digest_table import Announcement, Announcements, DigestTable, Marks
from gossamer.cluster.agent.shard_leases import ShardLeases
from gossamer.cluster.protocol import agent_name
from gossamer.cluster.ranges import shard_of
from gossamer.state.records import SharedDigestRecord

PATIENCE_SECONDS = 0.2
"""That a question waits for others to the same agent: the call costs as much as a hundred of them."""
ANSWER_SECONDS = 1.0
"""After which a visit is archived as if nobody had met its content."""
SILENCE_SECONDS = 5.0
"""That an agent which did not answer is not asked."""
TELL_SECONDS = 2.0
TOLD_AT_ONCE = 250
"""Announcements in a message: entering them takes some milliseconds."""


class Question:
    """Marks that one agent is asked about together."""

    def __init__(self) -> None:
        self.marks: set[bytes] = set()
        self.answer: asyncio.Future[dict[bytes, SharedDigestRecord]] = (
            asyncio.get_running_loop().create_future()
        )

    def close(self, known: dict[bytes, SharedDigestRecord]) -> None:
        """Give everybody who waits for the answer what is `known`, even if it is nothing."""
        if not self.answer.done():
            self.answer.set_result(known)


class DigestExchange:
    """`engine.admission.other_agents.OtherAgentsDigests` by shards.

    A visit waits for `PATIENCE_SECONDS`, then for an answer, at most `ANSWER_SECONDS`. Whatever goes wrong,
    its content counts as not met: that costs disk and nothing else.
    """

    def __init__(
        self,
        name: str,
        bits: int,
        secret: bytes,
        leases_held: ShardLeases,
        table: DigestTable,
        consult: Consult,
    ) -> None:
        self._name = name
        self._bits = bits
        self._marks = Marks(secret)
        self._leases_held = leases_held
        self._table = table
        self._consult = consult
        self._open: dict[str, Question] = {}
        self._asking: dict[asyncio.Task[None], Question] = {}
        self._silent: dict[str, float] = {}  # until when, by the loop's clock
        self._closed = False
        self.announcements = Announcements(bits)

    # Asking …

    async def look_up(self, key: bytes) -> SharedDigestRecord | None:
        """Where contents were met before, by who owns their digests."""
        mark = self._marks.of(key)
        name = self._owner(shard_of(mark, self._bits))
        if self._closed or not name:
            return None
        if name == self._name:
            return self._table.get(mark)
        question = self._open.get(name)
        if question is None:
            loop = asyncio.get_running_loop()
            if self._silent.get(name, 0.0) > loop.time():
                return None
            question = self._open[name] = Question()
            task = loop.create_task(self._ask(name, question))
            self._asking[task] = question
            task.add_done_callback(self._asked)
        question.marks.add(mark)
        # A worker that is cancelled must not take the answer from the others.
        return (await asyncio.shield(question.answer)).get(mark)

    def _owner(self, shard: int) -> str:
        """Name of who owns a shard and can be asked; empty while nobody does."""
        owner = self._leases_held.owner(shard)
        name = agent_name(owner) if owner else ""
        return name if name in self._leases_held.peers else ""

    async def _ask(self, name: str, question: Question) -> None:
        await asyncio.sleep(PATIENCE_SECONDS)
        del self._open[name]
        answer = await self._say(name, Inquiry(asked=tuple(question.marks)))
        question.close(answer.known if answer is not None else {})

    def _asked(self, task: asyncio.Task[None]) -> None:
        """However a question ended, nobody waits for it any more."""
        question = self._asking.pop(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            question.answer.set_exception(error)  # a mistake of ours ends the crawl
        question.close({})

    async def _say(self, name: str, inquiry: Inquiry) -> Known | None:
        """The answer of an agent; `None` if there is none in time."""
        answer = await answer_of(self._consult, name, inquiry, _decode, ANSWER_SECONDS)
        if answer is None:
            self._silent[name] = asyncio.get_running_loop().time() + SILENCE_SECONDS
        return answer

    # Telling …

    def learnt(self, key: bytes, record: SharedDigestRecord) -> None:
        """Tell the owners of digests what was captured here."""
        self.announcements.note(self._marks.of(key), record)

    async def run(self) -> None:
        """Tell owners what is due, until cancelled."""
        while True:
            await asyncio.sleep(TELL_SECONDS)
            await self.tell()

    async def tell(self) -> None:
        """Tell each owner some of what is due, in one message."""
        due = self.announcements.take(self._owner, TOLD_AT_ONCE)
        await asyncio.gather(*(self._tell_one(name, some) for name, some in due.items()))

    async def _tell_one(self, name: str, some: list[Announcement]) -> None:
        if name == self._name:
            refused = self._enter(some)
        else:
            answer = await self._say(name, Inquiry(told=tuple(some)))
            refused = frozenset(mark for mark, _ in some) if answer is None else frozenset(answer.refused)
        self.announcements.again([each for each in some if each[0] in refused])

    # Answering …

    async def receive(self, inquiry: Inquiry) -> bytes:
        """Answer another agent by a packed `Known`.

        Raises:
            ConnectionError: nobody is there any more.
        """
        if self._closed:
            raise ConnectionError("the agent is at its end")
        found = ((mark, self._table.get(mark)) for mark in inquiry.asked)
        known = {mark: record for mark, record in found if record is not None}
        return encode(Known(known, tuple(self._enter(inquiry.told))))

    def _enter(self, announcements: list[Announcement] | tuple[Announcement, ...]) -> frozenset[bytes]:
        """Enter those of our own shards; marks of the others."""
        ours = [each for each in announcements if self._leases_held.owns_shard(shard_of(each[0], self._bits))]
        self._table.enter(ours)
        return frozenset(mark for mark, _ in announcements) - {mark for mark, _ in ours}

    async def close(self) -> None:
        """Ask and answer nothing more; whoever waits for an answer has none."""
        self._closed = True
        for task in list(self._asking):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


_decode = msgspec.msgpack.Decoder(Known).decode
