"""Keeps, for all crawls of one machine, who visits a host, until when it rests and whose turn is next.

One LMDB file, made anew each time the machine is started (its name holds the boot's id): a power failure may
leave anything in a file that is not synced, and neither processes nor times of one boot mean anything in the
next. Times are `CLOCK_BOOTTIME`, which all processes share and which no change of date moves.

While a crawl lives, its process holds a lock (`Presence`), so the visits of a dead one lapse at once.

A host that only one crawl visits is kept by it between its visits, too: the table says no more than that,
and the crawl goes by a copy in its memory, for a transaction costs several times what the rule does. Who
else asks finds the host held, as if visited, and rings for the crawl, which listens before it does anything
and puts what it keeps back into the table. A ring that is not heard makes others wait, and nothing else;
who dies with a host leaves it to others after twice what it was owed.
"""

import struct
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import lmdb
import msgspec

from gossamer.frontier.gates.shared_file import make_folder, release, remove_older, share
from gossamer.frontier.gates.shared_presence import Presence
from gossamer.model.errors import StorageError
from gossamer.policy.visits.shared_turns import (
    FORGET,
    NEVER,
    Asker,
    HostTurns,
    ask,
    begin_kept,
    bury,
    end,
    give_up,
    keep,
)
from gossamer.state.machine import boot_id, only_on_linux, since_boot

FORMAT = 2
_NUMBER = b"\0"
"""Key of the last number given; shorter than a host's, it stands before them all."""
KEY_BYTES = 16
MAX_BYTES = 32 << 20
"""Of the file: some 250,000 hosts. All of it is allocated when it is made, because a mapped page for which
the disk has no room would kill the process; it is mapped, because writing takes three times as long."""
_ROOM = 7 / 8
"""Share of it that hosts may fill; the rest is for pages that are being rewritten."""
FULL_WAIT = 10_000_000
"""Microseconds after which a host for which there is no room asks again. It gets room, because a full table
forgets rests, however long, of hosts for which nobody has asked for `FORGET`: the crawl that was told to wait
remembers by itself."""
SWEEP_EVERY = 64
SWEPT = 128
"""Entries looked at each so many claims. A claim makes at most one, so no more than about twice as many are
kept as are needed."""
_READER_CHECK_SWEEPS = 256
KEEP_AT_MOST = 512
"""Hosts that a crawl keeps: all are put back in one transaction when the bell rings."""
KEEP_FOR = FORGET // 2
"""Microseconds for which a host is kept before the table is told again that the crawl still asks for it."""

_IDLE_FROM = struct.Struct(">Q")
_encoder = msgspec.msgpack.Encoder()
_decode = msgspec.msgpack.Decoder(HostTurns).decode


def boot_micros() -> int:
    """Microseconds since the machine was started, its sleep included."""
    return since_boot() // 1_000


class Return(msgspec.Struct, frozen=True, gc=False):
    """A visit that has ended.

    Attributes:
        name: of the host.
        wait: microseconds for which it lies still from now on.
        visited: there was a visit.
        ago: microseconds since it ended.
        claimed: it was begun here.
    """

    name: str
    wait: int
    visited: bool
    ago: int = 0
    claimed: bool = True


class _Kept(msgspec.Struct, gc=False):
    """A host that is kept.

    Attributes:
        turns: what is known of it.
        owed: what the table says that it is owed if we die.
        until: when the table must be told again that we ask for it.
    """

    turns: HostTurns
    owed: int
    until: int


class SharedRests:
    """One crawl's hold on the table; not for several threads at once.

    Every change is one transaction without a sync. A process that is killed in the middle of one leaves the
    table as it was (pages are copied before they change, and the number that makes them count is written
    last), and its lock to the next (a robust mutex).
    """

    def __init__(self, folder: Path, now: Callable[[], int] = boot_micros) -> None:
        """Join the crawls that share `folder`, which is made if need be.

        Raises:
            ConfigError: the folder belongs to somebody else, others may write into it, or this is not Linux.
            StorageError: it cannot be used.
        """
        only_on_linux(
            "politeness by server or shared by crawls (politeness.shared, server, server_by, address_delay, "
            "visits_per_address)"
        )
        self._folder = folder
        self._now = now
        self._claims = self._sweeps = 0
        self._hand = b""
        self._full = False
        self._kept: dict[str, _Kept] = {}
        self._next_tidy = 0
        try:
            make_folder(folder)
            table = folder / f"rests-{FORMAT}-{boot_id()}.mdb"
            remove_older(folder, table)
            self._environment = share(table, MAX_BYTES)
        except (OSError, lmdb.Error) as error:
            raise self._unusable(error) from None
        try:
            self._presence = Presence(table.with_suffix(".crawls"), self._next_number)
        except (OSError, lmdb.Error) as error:
            release(self._environment)
            raise self._unusable(error) from None
        self.number = self._presence.number

    def __repr__(self) -> str:
        return f"<SharedRests {self._folder} as {self.number}>"

    def __len__(self) -> int:
        """Hosts in the table."""
        return max(0, int(self._environment.stat()["entries"]) - 1)

    def close(self) -> None:
        """Leave: what is claimed lapses as if the process had ended."""
        try:
            with suppress(StorageError):
                self._put_back(self._kept)
        finally:
            self._let_go()

    # Visits …

    def claim(self, name: str, rest: int, owed: int, limit: int) -> int:
        """Begin a visit to the host `name`, if no other crawl has it, its rest is over, and it is our turn.

        Args:
            rest: microseconds that our crawl lets the host lie still after any visit, also of others.
            owed: the same after this visit, should we die before it is given back.
            limit: visits at once, of all crawls.

        Returns:
            0, or microseconds after which to ask again.

        Raises:
            StorageError: the table cannot be written.
        """
        self.listen()
        now, asker = self._now(), Asker(self.number, rest, owed, limit)
        kept = self._kept.get(name)
        if kept is not None:
            if owed <= kept.owed and now < kept.until:
                if begin_kept(kept.turns, asker, now):
                    return 0
                until = ask(kept.turns, asker, now, self._presence.alive)
                return max(until - now, 1) if until else 0
            self._put_back([name])
        self._claims += 1
        if self._claims % SWEEP_EVERY == 0:
            self.sweep(SWEPT)
        key = _key(name)
        with self._changes() as transaction:
            data = transaction.get(key)
            if data is not None or not self._full:
                turns = HostTurns() if data is None else _turns(data)
                until = ask(turns, asker, now, self._presence.alive)
                if until:
                    self._ring(turns)
                transaction.put(key, _value(turns))
                return max(until - now, 1) if until else 0
        self.sweep(SWEPT)
        return FULL_WAIT

    def give_back(self, returns: Iterable[Return]) -> None:
        """End visits.

        Raises:
            StorageError: the table cannot be written.
        """
        self.listen()
        now = self._now()
        others = [each for each in returns if not self._end_kept(each, now)]
        if not others:
            return
        kept = {}
        with self._changes() as transaction:
            for each in others:
                key = _key(each.name)
                data = transaction.get(key)
                turns = HostTurns() if data is None else _turns(data)
                end(
                    turns,
                    self.number,
                    now + each.wait,
                    now - each.ago,
                    visited=each.visited,
                    claimed=each.claimed,
                )
                if len(self._kept) < KEEP_AT_MOST and not self._full and keep(turns, self.number, now):
                    kept[each.name] = _Kept(turns, turns.parties[0].owed, now + KEEP_FOR)
                transaction.put(key, _value(turns))
        self._kept.update(kept)  # now that it is written
        if len(self._kept) >= KEEP_AT_MOST and now >= self._next_tidy:
            self._next_tidy = now + KEEP_FOR // 4
            self._put_back([name for name, each in self._kept.items() if each.until <= now])

    def look(self, name: str) -> HostTurns | None:
        """What is known of a host, for whoever reports on it."""
        if (kept := self._kept.get(name)) is not None:
            return kept.turns
        with self._environment.begin() as transaction:
            data = transaction.get(_key(name))
        return None if data is None else _turns(data)

    # Keeping …

    def listen(self) -> None:
        """Put back what is kept if somebody waits for something of it; called every second at least.

        Raises:
            StorageError: the table cannot be written. All is kept still, and put back after the next ring:
                who waits rings each time he is refused.
        """
        if self._presence.rung():  # asked first: who rings while it is put back is heard again
            self._put_back(self._kept)

    def _ring(self, turns: HostTurns) -> None:
        """Tell who keeps a host that we wait; within a transaction, so that only one rings at a time."""
        for party in turns.parties:
            if party.keeps:
                self._presence.ring(party.crawl)

    def _end_kept(self, each: Return, now: int) -> bool:
        """End the visit to a host if that is kept; one that is owed more than the table says is put back."""
        kept = self._kept.get(each.name)
        if kept is None:
            return False
        end(
            kept.turns,
            self.number,
            now + each.wait,
            now - each.ago,
            visited=each.visited,
            claimed=each.claimed,
        )
        if each.wait > kept.owed:
            self._put_back([each.name])
        return True

    def _put_back(self, names: Collection[str]) -> None:
        """Write what is known of hosts that are kept, which are not any more."""
        if not names:
            return
        with self._changes() as transaction:
            for name in names:
                key = _key(name)
                data = transaction.get(key)
                turns = HostTurns() if data is None else _turns(data)
                give_up(turns, self._kept[name].turns, self.number)
                transaction.put(key, _value(turns))
        for name in list(names):
            del self._kept[name]

    # Upkeep …

    def sweep(self, entries: int) -> None:
        """Look at a run of so many entries, and forget those that nobody needs."""
        with self._changes() as transaction, transaction.cursor() as cursor:
            run = list(islice(cursor.iternext(), entries)) if cursor.set_range(self._hand or b"\0\0") else []
            self._hand = run[-1][0] + b"\0" if len(run) == entries else b""
            now = self._now()
            for key, value in run:
                if self._is_idle(key, value, now, transaction):
                    transaction.delete(key)
            stat = transaction.stat()
            pages = stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]
            self._full = pages * stat["psize"] > MAX_BYTES * _ROOM
        self._sweeps += 1
        if not self._sweeps % _READER_CHECK_SWEEPS:
            self._environment.reader_check()  # one who was killed while reading would keep old pages alive

    def _is_idle(self, key: bytes, value: bytes, now: int, transaction: "lmdb.Transaction[bytes]") -> bool:
        (idle_from,) = _IDLE_FROM.unpack_from(value)
        if idle_from <= now:
            return True
        if idle_from != NEVER and not self._full:
            return False
        turns = _turns(value)
        bury(turns, now, self._presence.alive)
        if idle_from == NEVER and not turns.held:  # who visited it is dead: it rests from now on
            transaction.put(key, _value(turns))
            return False
        return not turns.parties

    @contextmanager
    def _changes(self) -> "Iterator[lmdb.Transaction[bytes]]":
        try:
            with self._environment.begin(write=True) as transaction:
                yield transaction
        except lmdb.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> StorageError:
        return StorageError(f"{self._folder}: politeness.shared: the table cannot be used: {error}")

    def _next_number(self) -> int:
        self._environment.reader_check()
        with self._environment.begin(write=True) as transaction:
            number = int.from_bytes(transaction.get(_NUMBER) or b"", "big") + 1
            transaction.put(_NUMBER, number.to_bytes(8, "big"))
        return number

    def _let_go(self) -> None:
        self._kept.clear()
        self._presence.close()
        release(self._environment)


def _key(name: str) -> bytes:
    return blake2b(name.encode(), digest_size=KEY_BYTES, person=b"gossamer rests").digest()


def _value(turns: HostTurns) -> bytes:
    return _IDLE_FROM.pack(turns.idle_from) + _encoder.encode(turns)


def _turns(value: bytes) -> HostTurns:
    return _decode(memoryview(value)[_IDLE_FROM.size :])
