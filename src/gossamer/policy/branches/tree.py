"""Shares the visits of one host out among the branches of its site, so that no part takes them all (W16).

A site is a tree of *branches*. The first branching is whether a page of that name was met before, in whatever
folder: copies under another session or through a link back are. Then come folders, and in a folder its
pages, the folders below it and the addresses with a query, each a group of its own, so that a thousand
combinations of filters weigh as much together as the folder's pages do. Runs of digits count as one name. The
last branching is by what of an address is new: which of its parts (folders, file, parameters) can be replaced
with something else to give an address known before; copies in another language or order differ in just one.

Visits go down the tree by weighted fair queueing (H-PFQ, Bennett and Zhang 1996): a child that is `_SLACK`
turns ahead of the one that has had the least for its weight waits; of the others the one with the best URL by
the crawl's order is next. The weight is made of two things that are known of every branch. *Yield* is how
much of what its visits brought was new, never taken for less than a floor, so no branch waits for ever; a
branch with few visits is taken for what the branch around it is, because optimism would give an endless
supply of new branches all the turns. *Growth* is how many new URLs of its own a visit leads to: a maze of
random text has everything but an end, and what has one grows ever less as it is visited.

A branch is *set aside* when it is shown to be endless: it has brought nothing new for a long stretch, keeps
leading to more of its own, and the host has spent as many visits on such as it brought pages, or `patience`.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated

import msgspec
import xxhash
from msgspec import Meta

from gossamer.model.quantity import Count
from gossamer.policy.branches.met import Filter, Met
from gossamer.policy.branches.novelty import Novelty

MOST_CHILDREN = 24
"""Named children of a branching; what comes later shares one branch."""
MOST_KINDS = 8
_NODE_BYTES = 700
MOST_BRANCHES = 500
"""Branches of a host; their numbers have 12 bits."""
DEEPEST_FOLDER = 5
_FOLDERS_AT_HAND = 32
"""Folders whose branch is found without going down to it."""
_COMPARED_PARTS = 6
_LONGEST_LABEL = 60
_MEMORY = 32
"""Visits over which a mean fades."""
_PRIOR = 2
_GROWTH = 1.0
"""A branch each of whose visits leads to n new URLs of its own has 1/n of the turns: as many as it would
have if it were worth its visits. Who is nearly done has all of them."""
_MOST_BRED = 4.0
"""New URLs of one visit that count: a front page, or a sitemap, says nothing of the pages that it lists."""
_FLOOR = 0.05
_ENOUGH = 0.5
"""A branch whose visits bring one new piece of text on average has a whole share: more is not better, for
nobody brings as much as a maze of random text."""
_SLACK = 32.0
"""Turns that a branch may be ahead of its share while its URLs come first in the order."""
NOWHERE = 1 << 80
_ALIVE = 0.08
"""A visit of at least this value brought something: half a new sentence."""
_DRY = 80
"""Visits in a row without anything new after which a branch may be shown to be endless."""
_DRY_MIXED = 200
_GOES_DRY, _GOES_WELL = 4, 0.3
"""Visits in a row without anything new, or what is expected of one, from which a branch is doubtful."""
_STORED_EVERY = 8
"""Visits after which what was learned of a branch is stored: a crash may cost those since."""
_DOUBT = 0.35
"""Branches within it, on average, that may be mistaken for endless. Each visit that brings nothing leaves
`_MISSED` of the chance that a branch brings something; at first, by the rule of succession, one in as many
as there are may. A chain of fewer than `_DRY` visits keeps all of it, for the rest may lie behind."""
_MISSED = 0.3
_FEW = 4
_GROWS = 0.75
"""New URLs of its own that a visit of an endless branch leads to, at the least."""
_KNOWN_ERROR = 1e-5
"""What is taken for known by mistake is taken for a copy, and may be set aside with copies."""
OTHERS = "*"
_GROUPS = "/", "?"
_DIGITS = re.compile(r"\d+")
_mark = xxhash.xxh3_64_intdigest
_KIND = re.compile(r"\.[A-Za-z]{1,8}$")
_WORDS = re.compile(r"[^=]*+=[a-zA-Z_.-]{1,20}+")
"""A parameter whose value somebody chose, such as `action=edit`: neither number nor token."""


class BranchConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the visits of a large site are shared out among its parts."""

    share: Annotated[
        bool,
        Meta(
            description="share out a host's visits among the branches of its site by what they bring; off:"
            " the order alone decides, and an endless part may take all visits"
        ),
    ] = True
    begin: Annotated[
        int,
        Meta(
            ge=2,
            description="URLs waiting on a host, or pages fetched, from which its site is seen as branches",
        ),
    ] = 64
    set_aside: Annotated[
        bool,
        Meta(
            description="set aside branches that are shown to be endless; off: they go on at their least"
            " share for as long as the crawl runs"
        ),
    ] = True
    patience: Annotated[
        Count,
        Meta(
            description="visits of a host that brought nothing new before a branch is set aside; more is"
            " safer and costs as many visits on each endless host"
        ),
    ] = 400


class Branch(msgspec.Struct, array_like=True, gc=True):
    """One branch of a host's site, as it is stored.

    Attributes:
        number: unique in its host; 0 is the whole site, and holds what was found before it had branches.
        parent: its number; -1 for the whole site.
        label: what tells it from its siblings.
        queued: URLs that wait in it, those lent included; not in the branches below.
        head: no URL of it waits before this ticket.
        found: URLs ever placed in it.
        visits: settled, those of the branches below included, as in all that follows.
        judged: those of which it is known what they brought.
        value: faded mean of what a visit brought, 0 to 1.
        bred: faded mean of the new URLs of its own that a visit led to.
        brought: visits that brought something.
        dry: visits since the last that did.
        state: empty, `aside`, `released` (for good, with all that is found in it later), or `holds released`
            (it is not set aside as a whole).
    """

    number: int
    parent: int
    label: str
    queued: int = 0
    head: bytes = b""
    found: int = 0
    visits: int = 0
    judged: int = 0
    value: float = 1.0
    bred: float = 0.0
    brought: int = 0
    dry: int = 0
    state: str = ""


ASIDE, RELEASED, HOLDS_RELEASED = "aside", "released", "holds released"
NEW, KNOWN = "new", "known"
"""Labels of the first branching: whether a page of that name was met before, in whichever folder."""


class Node:
    """A branch in memory.

    Attributes:
        live: of the children those with any `waiting`: of many most are done, or were not begun.
        own: URLs of the branch itself that can be lent now; none when the tree is let go.
        waiting: the same with those of the branches below that are not set aside.
        passed: how far its turns have taken it, in visits by weight; `own_passed` that of its own URLs.
        first: place in the order of its own first URL, or before it; `NOWHERE` if it has none that can be
            lent.
        front: the same of the branches below, too.
        aside: it is set aside, or a branch that holds it is.
        doubtful: when it had its last turn, that was not likely to bring something new.
    """

    __slots__ = (
        "aside", "children", "doubtful", "first", "front", "live", "own", "own_passed", "parent", "passed",
        "record", "waiting",
    )  # fmt: skip

    def __init__(self, record: Branch, parent: "Node | None") -> None:
        self.record = record
        self.parent = parent
        self.children: dict[str, Node] = {}
        self.live: dict[str, Node] = {}
        self.own = self.waiting = 0
        self.first = self.front = NOWHERE
        self.passed = self.own_passed = 0.0
        self.doubtful = False
        self.aside: bool = record.state == ASIDE or (parent is not None and parent.aside)

    def above(self) -> "Iterator[Node]":
        """The branch and those that hold it, the whole site last."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def below(self) -> "Iterator[Node]":
        """The branch and those that it holds."""
        yield self
        for child in self.children.values():
            yield from child.below()

    @property
    def promise(self) -> float:
        """What a visit is expected to bring: what they brought, or while there are few, what the whole
        around does."""
        record = self.record
        if self.parent is None:
            return record.value
        return (record.judged * record.value + _PRIOR * self.parent.promise) / (record.judged + _PRIOR)

    @property
    def is_chain(self) -> bool:
        """Whether its few URLs may lead to all the rest of it, one by one."""
        return self.own < _FEW and self.record.visits >= _FEW and 0.75 <= self.record.bred <= 1.5

    @property
    def weight(self) -> float:
        """Its part of the turns, by what it promises; less where each visit leads to more of its own."""
        return self.part(self.promise)

    def part(self, promise: float) -> float:
        """The same if that is what it promises."""
        weight = (promise / _ENOUGH) ** 2 if promise < _ENOUGH else 1.0
        if self.record.bred > 1 and self.parent is not None:
            weight /= 1 + _GROWTH * (self.record.bred - 1)
        return weight if weight > _FLOOR else _FLOOR

    def start(self) -> float:
        """Where the turns of what it holds are."""
        start = self.own_passed if self.own else math.inf
        for child in self.live.values():
            if child.passed < start:
                start = child.passed
        return start if start < math.inf else 0.0


class BranchTree:
    """The branches of one host.

    Invariant: `waiting` of a branch that is not aside is the sum of its own and of its children's that are
        not; the numbers of changed records are in `changed` until somebody empties it.
    """

    def __init__(
        self,
        config: BranchConfig,
        records: Iterable[Branch] = (),
        order: Callable[[bytes], int] = lambda _: 0,
        *,
        filters: Sequence[Iterable[Filter]] = ((), (), ()),
    ) -> None:
        """
        Args:
            config: settings.
            records: the branches as stored.
            order: (head) the place in the order of a branch's first URL.
            filters: what `mets` gave to store, by its place there.
        """
        self._config = config
        known, marks, short = filters
        self.known = Met(first=1_024, growths=4, most=6, error=_KNOWN_ERROR, stored=known)
        self.novelty = Novelty(marks, short)
        self.mets = self.known, self.novelty.marks, self.novelty.short
        self.nodes: dict[int, Node] = {}
        self.changed: set[int] = set()
        self._found: list[Node] = []
        self._folders: dict[tuple[bool | str, ...], Node] = {}
        for record in sorted(records, key=lambda record: record.number):
            self._add(record)
        if not self.nodes:
            self._add(Branch(0, -1, ""))
            self.changed.add(0)
        self.root = self.nodes[0]
        for label in (NEW, KNOWN):
            self._child(self.root, label)
        for node in self.nodes.values():
            node.own = node.record.queued
            node.first = order(node.record.head) if node.record.queued else NOWHERE
        self._count()

    def _add(self, record: Branch) -> Node:
        parent = self.nodes.get(record.parent)
        node = self.nodes[record.number] = Node(record, parent)
        if parent is not None:
            parent.children[record.label] = node
        return node

    @property
    def size(self) -> int:
        """Bytes it takes in memory, roughly."""
        return _NODE_BYTES * len(self.nodes) + self.known.size + self.novelty.size

    def node(self, number: int) -> Node:
        """The branch of that number."""
        return self.nodes[number]

    # Placing …

    def place(self, target: str) -> Node:
        """The branch of a new URL, by its path and query; the visit that is settled next has found it."""
        path, _, query = target.partition("?")
        folders = path.split("/")[1:]
        file = folders.pop() if folders else ""
        file, _, matrix = file.partition(";")
        name = file or (folders[-1] if folders else "")
        parameters = (
            [each for each in (*matrix.split(";"), *query.split("&")) if each] if matrix or query else []
        )
        known, renewed = self._renewed(f"\2{name}?{query}", folders, file, parameters)
        if parameters:
            node = self._child(self.root, KNOWN if known else NEW)
            names = sorted({_general(parameter.partition("=")[0]) for parameter in parameters})
            words = sorted(parameter for parameter in parameters if _WORDS.fullmatch(parameter))
            kind = _KIND.search(file)
            names[0] = f"{f'*{kind[0]}' if kind else ''}?{names[0]}"
            node = self._child(self._child(node, "?"), "&".join(names)[:_LONGEST_LABEL])
            node = self._child(node, renewed, MOST_KINDS)
            node = self._child(node, "&".join([_general(name), *words])[:_LONGEST_LABEL])
        else:
            node = self._child(self._pages_of(known, folders), renewed, MOST_KINDS)
            general = _general(file)
            if general != file[:_LONGEST_LABEL]:
                node = self._child(node, general)
        node.record.found += 1
        self._found.append(node)
        return node

    def _pages_of(self, known: bool, folders: list[str]) -> Node:
        """The branch of the pages of a folder; always the same, for branches stay where they are."""
        key: tuple[bool | str, ...] = (known, *folders[:DEEPEST_FOLDER])
        if (node := self._folders.get(key)) is None:
            node = self._child(self.root, KNOWN if known else NEW)
            for folder in folders[:DEEPEST_FOLDER]:
                node = self._child(self._child(node, "/"), _general(folder))
            node = self._child(node, ".")
            if len(self._folders) >= _FOLDERS_AT_HAND:
                self._folders.clear()
            self._folders[key] = node
        return node

    def _child(self, node: Node, label: str, most: int = MOST_CHILDREN) -> Node:
        child = node.children.get(label)
        if child is not None:
            return child
        if len(node.children) >= most and label != OTHERS:
            return self._child(node, OTHERS)
        if len(self.nodes) >= MOST_BRANCHES:
            return node
        state = RELEASED if node.record.state == RELEASED else ""
        record = Branch(len(self.nodes), node.record.number, label, value=node.record.value, state=state)
        self.changed.add(record.number)
        child = self._add(record)
        child.passed = child.own_passed = node.start()
        return child

    def _renewed(self, page: str, folders: list[str], file: str, parameters: list[str]) -> tuple[bool, str]:
        """Whether the name of a page is known, in whichever folder, and which parts of its address tell it
        from addresses known before. All of its parts are known now."""
        above = folders[:_COMPARED_PARTS]
        parts = [*above, file, *parameters[:_COMPARED_PARTS]]
        marks = [_mark(page.encode())]
        for at, part in enumerate(parts):
            parts[at] = "\1"
            marks.append(_mark("\0".join(parts).encode()))
            parts[at] = part
        new = self.known.new(marks)
        if len(new) == len(marks):
            return False, ""
        told = set()
        for at, mark in enumerate(marks[1:]):
            if mark in new:
                continue
            if at < len(above):
                told.add(f"/{at}")
            else:
                told.add("." if at == len(above) else _general(parts[at].partition("=")[0]))
        return marks[0] not in new, " ".join(sorted(told))[:_LONGEST_LABEL]

    # Waiting …

    def entered(self, node: Node, order: int) -> None:
        """A URL is put into the queue of the branch, at a place in the order."""
        record = node.record
        record.queued += 1
        self.changed.add(record.number)
        self._wait(node, order)

    def moved(self, node: Node, order: int) -> None:
        """A URL that waits has a better place in the order."""
        node.first = min(node.first, order)
        if not node.aside:
            for above in node.above():
                above.front = min(above.front, order)

    def returned(self, node: Node, order: int) -> None:
        """A URL that was lent can be lent again."""
        self._wait(node, order)

    def taken(self, node: Node, first: int) -> None:
        """A URL cannot be lent any more: it is lent, or about to leave the queue; the next one is not before
        `first`."""
        before = node.first
        node.own -= 1
        node.first = first if node.own else NOWHERE
        above = None if node.aside else node
        while above is not None:
            above.waiting -= 1
            if above.front == before:
                front = above.first
                for child in above.live.values():
                    if child.front < front:
                        front = child.front
                above.front = front
            around = above.parent
            if not above.waiting and around is not None:
                del around.live[above.record.label]
            above = around

    def left(self, node: Node) -> None:
        """A URL that was taken leaves the queue."""
        node.record.queued -= 1
        self.changed.add(node.record.number)

    def _wait(self, node: Node, order: int) -> None:
        # Who was away has had no turns meanwhile, and is not owed them; but a chain of pages, which is away
        # whenever its one page is being fetched, keeps its place behind those that came first in the order.
        if not node.own:
            node.own_passed = max(node.own_passed, node.start() - _SLACK)
        node.own += 1
        if order < node.first:
            node.first = order
        above = None if node.aside else node
        while above is not None:
            around = above.parent
            if not above.waiting and around is not None:
                above.passed = max(above.passed, around.start() - _SLACK)
                around.live[above.record.label] = above
            above.waiting += 1
            if order < above.front:
                above.front = order
            above = around

    # Choosing …

    def can_lend(self, node: Node) -> bool:
        """Whether a branch has a URL to lend, and none of the whole site's own goes before it."""
        return node.own > 0 and not node.aside and (not self.root.own or node is self.root)

    def pick(self) -> Node | None:
        """The branch whose turn it is, if one has URLs to lend; that of the whole site has the first of all
        turns."""
        node = self.root
        if node.own or not node.waiting:
            return node if node.own else None
        while True:
            live = node.live
            if not live:
                return node
            if len(live) == 1 and not node.own:
                (node,) = live.values()
                continue
            latest = node.own_passed if node.own else math.inf
            best, front = node, node.first if node.own else NOWHERE
            for child in live.values():
                if child.passed < latest:
                    latest = child.passed
                if child.front < front:
                    best, front = child, child.front
            latest += _SLACK
            if (node.own_passed if best is node else best.passed) > latest:
                best, front = node, node.first if node.own and node.own_passed <= latest else NOWHERE
                for child in live.values():
                    if child.front < front and child.passed <= latest:
                        best, front = child, child.front
            if best is node:
                return node
            node = best

    def gave(self, node: Node) -> None:
        """A turn was given to a branch."""
        root = self.root
        way, above = [], node
        while above.parent is not None:
            way.append(above)
            above = above.parent
        promise = root.record.value
        turn = 1.0 / root.part(promise)
        root.passed += turn
        for above in reversed(way):
            record = above.record
            promise = (record.judged * record.value + _PRIOR * promise) / (record.judged + _PRIOR)
            turn = 1.0 if promise >= _ENOUGH and record.bred <= 1 else 1.0 / above.part(promise)
            above.passed += turn
        node.own_passed += turn
        node.doubtful = node.record.dry >= _GOES_DRY or promise < _GOES_WELL

    # Learning …

    def learn(self, node: Node, value: float | None) -> Node | None:
        """A visit of a branch is settled; the branch that is shown to be endless by it.

        `value`: how much it brought, 0 to 1; `None` where nobody has looked. What was placed since the last
        visit is taken for found by this one.
        """
        bred, changed = self._bred(node), self.changed
        grown, counted = 0, 0.0
        above: Node | None = node
        while above is not None:
            record = above.record
            record.visits = visits = record.visits + 1
            if above in bred:
                grown += bred[above]
                counted = grown if grown < _MOST_BRED else _MOST_BRED
            record.bred += (counted - record.bred) / (visits if visits < _MEMORY else _MEMORY)
            if visits < _STORED_EVERY or visits % _STORED_EVERY == 0:
                changed.add(record.number)
            if value is not None:
                record.judged = judged = record.judged + 1
                record.value += (value - record.value) / (judged if judged < _MEMORY else _MEMORY)
                if value >= _ALIVE:
                    record.brought += 1
                    record.dry = 0
                else:
                    record.dry += 1
            above = above.parent
        return self._endless(node) if value is not None and value < _ALIVE else None

    def _bred(self, node: Node) -> dict[Node, int]:
        """How many URLs that were found by a visit of a branch lie in it, and in those that hold it, each
        counted at the smallest of these."""
        if not self._found:
            return {}
        found: dict[Node, int] = {}
        for each in self._found:
            found[each] = found.get(each, 0) + 1
        self._found.clear()
        bred = dict.fromkeys(node.above(), 0)
        for each, urls in found.items():
            within = each
            while within not in bred:
                assert within.parent is not None, "the whole site holds both"
                within = within.parent
            bred[within] += urls
        return bred

    def _endless(self, node: Node) -> Node | None:
        """The largest branch around `node` that has no end and nothing new."""
        whole = self.root.record
        if not self._config.set_aside or whole.judged - whole.brought < max(
            self._config.patience, whole.brought
        ):
            return None
        endless = None
        for above in node.above():
            record = above.record
            if above is self.root or record.label == NEW:
                continue
            mixed = record.label in _GROUPS or above.parent is self.root  # of parts with nothing in common
            if record.state or record.dry < (_DRY_MIXED if mixed else _DRY):
                continue
            # Branches may breed each other: topics lead to new copies of an index, and that to new topics.
            if record.bred < _GROWS and (whole.bred < _GROWS or above.waiting < record.visits):
                continue
            # Parts that were tried to their end tell of the others as much as those do whose URLs wait; of
            # chains these alone.
            parts = [part for part in above.below() if part.own or (part.record.dry and not part.children)]
            waiting = [part for part in parts if part.own]
            untried = sum(part.is_chain and part.record.dry < _DRY for part in waiting)
            chance = sum(_MISSED**part.record.dry for part in waiting)
            if untried <= _DOUBT * (len(waiting) + 1) and chance <= _DOUBT * (len(parts) + 1):
                endless = above
        return endless

    def set_aside(self, node: Node) -> int:
        """Lend nothing of a branch any more; how many URLs cannot be lent now that could until now."""
        before = self.root.waiting
        node.record.state = ASIDE
        self.changed.add(node.record.number)
        self._count()
        return before - self.root.waiting

    def release(self, node: Node) -> int:
        """Lend URLs of a branch again, for good; how many can be lent now that could not."""
        before = self.root.waiting
        for each in node.above():
            each.record.state = HOLDS_RELEASED
        for each in node.below():
            each.record.state = RELEASED
        self.changed.update(each.record.number for each in (*node.above(), *node.below()))
        self._count()
        return self.root.waiting - before

    def _count(self) -> None:
        """Know anew what can be lent."""
        nodes = list(self.root.below())
        for node in nodes:
            node.aside = node.record.state == ASIDE or (node.parent is not None and node.parent.aside)
            node.waiting, node.front = (0, NOWHERE) if node.aside else (node.own, node.first)
            node.live.clear()
        for node in reversed(nodes):
            if node.parent is not None:
                node.parent.waiting += node.waiting
                node.parent.front = min(node.parent.front, node.front)
        for node in nodes:
            if node.waiting and node.parent is not None:
                node.parent.live[node.record.label] = node

    def path(self, node: Node) -> str:
        """What the addresses of a branch have in common, for people."""
        return branch_path([above.record.label for above in node.above()][-2::-1])


def branch_path(labels: list[str]) -> str:
    """What the addresses of a branch have in common, from its labels, the uppermost first.

    Folders and the file's name, or the names of parameters; in brackets what tells it from its siblings.
    """
    path, within = "/", labels[1:]
    told = [KNOWN] if labels[:1] == [KNOWN] else []
    if within[:1] == ["?"]:
        path += "".join(within[1:2]) or "?"
        told += [label for label in (*within[3:4], *within[2:3]) if label]
    else:
        while within[:1] == ["/"] and len(within) > 1:
            path += f"{within[1]}/"
            within = within[2:]
        path += "".join(within[2:3])
        told += [label for label in within[1:2] if label]
    return f"{path} [{', '.join(told)}]" if told else path


def _general(name: str) -> str:
    """A name without its numbers."""
    return name[:_LONGEST_LABEL] if name.isalpha() else _DIGITS.sub("0", name)[:_LONGEST_LABEL]
