"""The forward zone: names that are resolved fast, in the trees of their domains (Z4, Z5)."""

import sys
from collections import OrderedDict
from collections.abc import Iterator
from operator import attrgetter

from gossamer.dns.zones.kept import Kept
from gossamer.dns.zones.tree import Node, hang, unhang, walk
from gossamer.policy.urls.registrable import registrable_domain

_ACCESSED = attrgetter("accessed")


class ForwardZone:
    """Keeps addresses by name, and each domain's names together.

    The second hash table (name -> addresses, which stand in the name's node) is in two parts, because two
    rules bound it: of names of the third level the older half leaves at once (Z5), of the others the least
    recently used one. A name that only holds others together is in neither, but counts nowhere beyond
    them: each has at most two such names above it.

    Invariants: the trees' nodes are exactly those of the two parts, and those with a sub-name; every tree
    has one with addresses; neither part exceeds its limit.
    """

    def __init__(self, names: int, third_level_names: int) -> None:
        self._limit = names
        self._third_limit = third_level_names
        self._domains: dict[str, Node] = {}  # first hash table: registrable domain -> root of its tree
        self._upper: OrderedDict[str, Node] = OrderedDict()  # domains and hosts, in order of last use
        self._third: dict[str, Node] = {}
        self._bare: dict[str, Node] = {}  # hosts without addresses, with names below them

    def __len__(self) -> int:
        return len(self._upper) + len(self._third)

    def __repr__(self) -> str:
        return f"<ForwardZone {len(self)} names in {len(self._domains)} trees>"

    def get(self, name: str, now: float) -> Kept | None:
        """What is kept of `name`, if it is fresh; counts as an access."""
        node = self._upper.get(name)
        if node is not None:
            kept = node.kept
            if kept is not None and kept.fresh(now):
                self._upper.move_to_end(name)
                return kept
            return None
        node = self._third.get(name)
        if node is not None:
            kept = node.kept
            if kept is not None and kept.fresh(now):
                node.accessed = now
                return kept
        return None

    def stale(self, name: str, now: float) -> Kept | None:
        """What is kept of `name`, if its time is over; counts for nothing."""
        node = self._upper.get(name) or self._third.get(name)
        if node is None or node.kept is None or node.kept.fresh(now):
            return None
        return node.kept

    def put(self, kept: Kept, now: float) -> None:
        """Keep addresses, in place of what was kept of the name."""
        assert kept.answer.addresses, kept
        name = kept.answer.name
        node = self._upper.get(name) or self._third.get(name) or self._place(name)
        node.kept = kept
        node.accessed = now
        if _is_third(node):
            self._third[name] = node
            if len(self._third) > self._third_limit:
                self._drop_older_half()
        else:
            self._bare.pop(name, None)
            self._upper[name] = node
            self._upper.move_to_end(name)
            if len(self._upper) > self._limit:
                self.remove(next(iter(self._upper)))
        assert len(self._upper) <= self._limit and len(self._third) <= self._third_limit, self

    def remove(self, name: str) -> None:
        """Forget a name, if it is kept."""
        node = self._upper.pop(name, None) or self._third.pop(name, None)
        if node is not None:
            node.kept = None
            self._prune(node)

    def names(self, domain: str) -> list[str]:
        """Names kept of a registrable domain, a host before the names below it, in order of arrival."""
        root = self._domains.get(domain)
        return [] if root is None else [node.name for node in walk(root) if node.kept is not None]

    def kept(self) -> Iterator[Kept]:
        """Every answer that is kept here."""
        for part in (self._upper, self._third):
            for node in part.values():
                assert node.kept is not None, node
                yield node.kept

    def room(self) -> int:
        """Bytes that all of it takes."""
        tables = (self._domains, self._upper, self._third, self._bare)
        total = sum(map(sys.getsizeof, tables))
        for root in self._domains.values():
            for node in walk(root):
                total += sys.getsizeof(node) + sys.getsizeof(node.accessed)
                # A bare name's text is its own; another's is its answer's.
                total += sys.getsizeof(node.name) if node.kept is None else node.kept.room()
        return total

    def clear(self) -> None:
        """Forget every fast name with its tree."""
        for table in (self._domains, self._upper, self._third, self._bare):
            table.clear()

    def _place(self, name: str) -> Node:
        """The node of a name that has no addresses yet; made, with those above it, where it is missing."""
        domain = registrable_domain(name)
        root = self._domains.get(domain)
        if root is None:
            root = self._domains[domain] = Node(domain)
        if name == domain:
            return root
        assert name.endswith("." + domain), name
        below = name[: -len(domain) - 1]
        host_name = f"{below.rpartition('.')[2]}.{domain}"
        host = self._upper.get(host_name) or self._bare.get(host_name)
        if host is None:
            host = self._bare[host_name] = Node(host_name)
            hang(host, root)
        if name == host_name:
            return host
        third = Node(name)
        hang(third, host)
        return third

    def _prune(self, node: Node) -> None:
        """Take a node without addresses out, and those above that have nothing left to hold together."""
        while node.kept is None:
            above = node.above
            if node.left is not None:
                if above is not None:
                    self._bare[node.name] = node
                return
            if above is None:
                del self._domains[node.name]
                return
            unhang(node)
            self._bare.pop(node.name, None)
            node = above

    def _drop_older_half(self) -> None:
        """Drop the names of the third level that were accessed before the median (Z5).

        Of equal times the older arrival counts as the older access: a clock that stands still must not
        keep everything.
        """
        nodes = sorted(self._third.values(), key=_ACCESSED)
        for node in nodes[: (len(nodes) + 1) // 2]:
            self.remove(node.name)


def _is_third(node: Node) -> bool:
    return node.above is not None and node.above.above is not None
