"""The queues of all hosts on disk: puts entries where they belong, takes them out, counts them by branch."""

from collections import OrderedDict
from collections.abc import Callable, Iterable

import msgspec

from gossamer.frontier.queues.hosts import HostTable
from gossamer.model.candidate import Candidate
from gossamer.policy.branches.met import Filter
from gossamer.policy.branches.novelty import Said
from gossamer.policy.branches.tree import Branch, BranchConfig, BranchTree, Node
from gossamer.policy.ordering.ordering import ROBOTS_LEVEL
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import branch_of, order_of, ticket
from gossamer.state.records import Counters, HostRecord, QueueRecord, encode

_NUMBER_BYTES = 2
_FILTERS = 1 << 12
"""Behind the branches of a host stands what was met, the filters of each of `BranchTree.mets`."""
decode_branch = msgspec.msgpack.Decoder(Branch).decode
decode_filter = msgspec.msgpack.Decoder(Filter).decode


class QueueTable:
    """Entries of the family `queue`, by host and ticket; the branches of hosts that have many
    (`policy.branches.tree`).

    An entry is *taken* from the front of its host before it is deleted. Invariant: in a host with branches
    the sum of their `queued` is that of the host; `aside` of a host counts its entries in branches that are
    set aside, but for those that were lent before.
    """

    def __init__(
        self,
        environment: Environment,
        hosts: HostTable,
        counters: Counters,
        config: BranchConfig,
        lent: Callable[[bytes], Iterable[bytes]],
        memory: int = 24 << 20,
    ) -> None:
        """
        Args:
            lent: (host) tickets of a host's leases that are out.
            memory: bytes of branches of all hosts that are kept in memory, roughly.
        """
        self._environment = environment
        self.hosts = hosts
        self._counters = counters
        self._config = config
        self._lent = lent
        self._memory = memory
        self._trees: OrderedDict[bytes, BranchTree] = OrderedDict()
        self._changed: set[bytes] = set()
        self._sizes: dict[bytes, int] = {}
        self._held = 0

    # Entries …

    def add(self, host: bytes, record: HostRecord, candidate: Candidate, level: int, batch: Batch) -> bytes:
        """Put a new URL into the queue, the last one of its level in its branch; its place there."""
        self._counters.sequence += 1
        tree = self.tree(host, record)
        if level == ROBOTS_LEVEL:
            node = None if tree is None else tree.root
        else:
            tree = tree or self._plant(host, record)
            node = None if tree is None else tree.place(candidate.url.target)
        place = ticket(level, self._counters.sequence, 0 if node is None else node.record.number)
        self._enter(host, record, place, candidate, batch)
        if tree is not None and node is not None:
            self._wait(host, record, tree, node, place)
        return place

    def put(self, host: bytes, record: HostRecord, place: bytes, candidate: Candidate, batch: Batch) -> None:
        """Put an entry into the queue, where it can be lent."""
        self._enter(host, record, place, candidate, batch)
        if (tree := self.tree(host, record)) is not None:
            self._wait(host, record, tree, tree.node(branch_of(place)), place)

    def _enter(
        self, host: bytes, record: HostRecord, place: bytes, candidate: Candidate, batch: Batch
    ) -> None:
        batch.put(Family.QUEUE, host + place, encode(QueueRecord.of(candidate)))
        record.head = min(record.head, place) if record.queued else place
        record.queued += 1
        self._counters.queued += 1

    def _wait(self, host: bytes, record: HostRecord, tree: BranchTree, node: Node, place: bytes) -> None:
        """An entry waits in a branch."""
        known = node.record
        known.head = min(known.head, place) if known.queued else place
        tree.entered(node, order_of(place))
        self._changed.add(host)
        if node.aside:
            self._set_aside(record, 1)

    def delete(self, host: bytes, record: HostRecord, place: bytes, batch: Batch) -> None:
        """Delete an entry that was taken."""
        batch.delete(Family.QUEUE, host + place)
        record.queued -= 1
        self._counters.queued -= 1
        if (tree := self.tree(host, record)) is not None:
            tree.left(tree.node(branch_of(place)))
            self._changed.add(host)

    def move(self, host: bytes, place: bytes, better: bytes, candidate: Candidate, batch: Batch) -> None:
        """Move an entry that waits to another place in its branch."""
        batch.delete(Family.QUEUE, host + place)
        batch.put(Family.QUEUE, host + better, encode(QueueRecord.of(candidate)))
        record = self.hosts.change(host, "")
        record.head = min(record.head, better)
        if (tree := self.tree(host, record)) is not None:
            known = tree.node(branch_of(place)).record
            known.head = min(known.head, better)
            tree.moved(tree.node(known.number), order_of(better))
            tree.changed.add(known.number)
            self._changed.add(host)

    def given_back(self, host: bytes, record: HostRecord, place: bytes) -> None:
        """An entry that was lent can be lent again."""
        if (tree := self.tree(host, record)) is not None:
            node = tree.node(branch_of(place))
            tree.returned(node, order_of(place))
            if node.aside:
                self._set_aside(record, 1)

    # Branches …

    def tree(self, host: bytes, record: HostRecord) -> BranchTree | None:
        """The branches of a host, if it has such."""
        if not record.branched:
            return None
        tree = self._trees.get(host)
        if tree is None:
            tree = self._load(host)
        return tree

    def is_doubtful(self, host: bytes, place: bytes) -> bool | None:
        """Whether the branch that a lease was taken from is `Node.doubtful`; `None` without branches."""
        record = self.hosts.get(host)
        if record is None or (tree := self.tree(host, record)) is None:
            return None
        return tree.node(branch_of(place)).doubtful

    def value(self, host: bytes, said: Said) -> float | None:
        """How much of what a page says is new on its host, as `Novelty.value`; `None` without branches.
        Within a batch."""
        record = self.hosts.get(host)
        if record is None or (tree := self.tree(host, record)) is None:
            return None
        self._changed.add(host)
        return tree.novelty.value(said)

    def learn(self, host: bytes, place: bytes, value: float | None) -> bool | None:
        """A visit is settled that brought so much, 0 to 1; `None`: that is not known. As `is_doubtful`. Within a
        batch."""
        record = self.hosts.get(host)
        if record is None or (tree := self.tree(host, record)) is None:
            return None
        node = tree.node(branch_of(place))
        endless = tree.learn(node, value)
        self._changed.add(host)
        if endless is not None:
            self._set_aside(self.hosts.change(host, record.name), tree.set_aside(endless))
        return node.doubtful

    def release(self, host: bytes, name: str, number: int) -> None:
        """Lend the URLs of a branch that was set aside, for good. Within a batch."""
        record = self.hosts.change(host, name)
        if (tree := self.tree(host, record)) is not None:
            self._set_aside(record, -tree.release(tree.node(number)))
            self._changed.add(host)

    def _plant(self, host: bytes, record: HostRecord) -> BranchTree | None:
        config = self._config
        if not config.share or (record.queued < config.begin and record.pages < config.begin):
            return None
        record.branched = True
        tree = self._trees[host] = BranchTree(config, [Branch(0, -1, "", queued=record.queued)], order_of)
        for _ in self._lent(host):
            tree.taken(tree.root, 0)
        tree.changed.add(0)
        return tree

    def _load(self, host: bytes) -> BranchTree:
        records: list[Branch] = []
        filters: tuple[list[Filter], ...] = ([], [], [])
        for key, data in self._environment.scan(Family.BRANCHES, prefix=host):
            kind = int.from_bytes(key[len(host) :], "big") // _FILTERS
            if kind:
                filters[kind - 1].append(decode_filter(data))
            else:
                records.append(decode_branch(data))
        tree = BranchTree(self._config, records, order_of, filters=filters)
        self._trees[host] = tree
        self._weigh(host, tree.size)
        for place in self._lent(host):
            tree.taken(tree.node(branch_of(place)), 0)
        return tree

    def _set_aside(self, record: HostRecord, urls: int) -> None:
        record.aside += urls
        self._counters.aside += urls

    def forget(self, theirs: Callable[[bytes], bool]) -> None:
        """Some hosts, told by their hashes, are given away, or have come from elsewhere."""
        for host in [host for host in self._trees if theirs(host)]:
            _take_apart(self._trees.pop(host))
            self._weigh(host, 0)
            self._changed.discard(host)

    def flush(self, batch: Batch) -> None:
        """Put changed branches into `batch`, which is committed next."""
        for host in self._changed:
            tree = self._trees[host]
            self._trees.move_to_end(host)
            for number in tree.changed:
                batch.put(Family.BRANCHES, branch_key(host, number), encode(tree.nodes[number].record))
            tree.changed.clear()
            self._store_filters(host, tree, batch)
            self._weigh(host, tree.size)
        self._changed.clear()
        while self._held > self._memory and len(self._trees) > 1:
            host, tree = self._trees.popitem(last=False)
            self._weigh(host, 0)
            self._store_filters(host, tree, batch, all_of_it=True)
            _take_apart(tree)

    def _weigh(self, host: bytes, size: int) -> None:
        self._held += size - self._sizes.pop(host, 0)
        if size:
            self._sizes[host] = size

    def _store_filters(self, host: bytes, tree: BranchTree, batch: Batch, *, all_of_it: bool = False) -> None:
        for kind, met in enumerate(tree.mets, 1):
            if (all_of_it or met.worth_storing) and (stored := met.to_store()) is not None:
                slot, last = stored
                batch.put(Family.BRANCHES, branch_key(host, kind * _FILTERS + slot), encode(last))


def _take_apart(tree: BranchTree) -> None:
    """Its branches know one another; as they are, only the garbage collector would free them. Whoever holds one
    finds nothing to lend in it."""
    for node in tree.nodes.values():
        node.parent, node.own = None, 0
        node.children.clear()
        node.live.clear()


def branch_key(host: bytes, number: int) -> bytes:
    """Key in `branches`: all of one host stand together."""
    return host + number.to_bytes(_NUMBER_BYTES, "big")


def branches_of(environment: Environment, host: bytes) -> list[Branch]:
    """The branches of a host as committed, by number."""
    end = branch_key(host, _FILTERS)
    return [decode_branch(data) for _, data in environment.scan(Family.BRANCHES, prefix=host, end=end)]
