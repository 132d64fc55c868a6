"""The figures behind branches: means, weights, turns, and when a branch is shown to be endless."""

import pytest

from gossamer.policy.branches import tree as tree_module
from gossamer.policy.branches.tree import (
    ASIDE,
    HOLDS_RELEASED,
    KNOWN,
    MOST_BRANCHES,
    MOST_CHILDREN,
    NEW,
    NOWHERE,
    OTHERS,
    RELEASED,
    Branch,
    BranchConfig,
    BranchTree,
    Node,
    branch_path,
)


def tree_of(*records, order=lambda head: 5, **config):
    return BranchTree(BranchConfig(**config), [Branch(0, -1, ""), *records], order)


def label_path(node):
    return [above.record.label for above in node.above()][-2::-1]


# Where a URL belongs …


@pytest.mark.parametrize(
    ("target", "labels"),
    [
        ("/", [NEW, ".", ""]),
        ("/page", [NEW, ".", ""]),
        ("/page12", [NEW, ".", "", "page0"]),
        ("/a/b/page.html", [NEW, "/", "a", "/", "b", ".", ""]),
        ("/a1/b22/", [NEW, "/", "a0", "/", "b0", ".", ""]),
        ("/1/2/3/4/5/6/7/x", [NEW, *["/", "0"] * 5, ".", ""]),
        ("/page.php?b=1&a2=2", [NEW, "?", "*.php?a0&b", "", "page.php"]),
        ("/a/list?x=word&y=1", [NEW, "?", "?x&y", "", "list&x=word"]),
        ("/a/page;v=1", [NEW, "?", "?v", "", "page"]),
        ("/a/;v=1", [NEW, "?", "?v", "", "a"]),
        ("/a?", [NEW, ".", ""]),
        ("", [NEW, ".", ""]),
    ],
)
def test_the_branch_of_an_address(target, labels):
    tree = tree_of()
    node = tree.place(target)
    assert label_path(node) == labels
    assert node.record.found == 1


@pytest.mark.parametrize(
    ("first", "then", "known", "renewed"),
    [
        ("/a/x", "/b/x", True, "/0"),
        ("/a/x", "/a/y", False, "."),
        ("/a/b/x", "/a/c/x", True, "/1"),
        ("/x?a=1&b=2", "/x?a=1&b=3", False, "b"),
        ("/x?a=1&b=2", "/x?a=9&b=2", False, "a"),
        ("/x?a=1&b=2", "/y?a=1&b=2", False, "."),
        ("/a/x", "/b/y", False, ""),
        ("/a/x?q=1", "/b/x?q=1", True, "/0"),
    ],
)
def test_what_of_an_address_is_new(first, then, known, renewed):
    tree = tree_of()
    tree.place(first)
    labels = label_path(tree.place(then))
    assert labels[0] == (KNOWN if known else NEW)
    at = labels.index("?") + 2 if "?" in labels else labels.index(".") + 1
    assert labels[at] == renewed


def test_children_beyond_a_number_share_a_branch():
    tree = tree_of()
    nodes = [tree.place(f"/{chr(97 + at // 26)}{chr(97 + at % 26)}/") for at in range(MOST_CHILDREN + 3)]
    folders = next(child for child in tree.root.children[NEW].children.values() if child.record.label == "/")
    assert len(folders.children) == MOST_CHILDREN + 1 == 25
    assert OTHERS in folders.children
    assert len({node.record.number for node in nodes}) == MOST_CHILDREN + 1


def test_branches_of_a_host_are_bounded():
    tree = tree_of()
    for at in range(30):
        for other in range(30):
            tree.place(f"/{chr(97 + at)}/{chr(97 + other)}/")
    assert len(tree.nodes) == MOST_BRANCHES == 500
    assert sorted(tree.nodes) == list(range(MOST_BRANCHES))
    assert tree.size == 700 * 500 + tree.known.size + tree.novelty.size


def test_a_new_branch_takes_after_the_one_around_it():
    tree = tree_of()
    tree.learn(tree.root, 0.0)
    node = tree.place("/a/x")
    assert node.record.value == tree.root.children[NEW].record.value
    tree.release(tree.root.children[NEW])
    assert tree.place("/b/w").record.state == RELEASED
    assert tree.place("/a/y?z=1").record.state == RELEASED


# What is learned …


def learned(values, **made):
    """The record of a branch after visits that brought `values`."""
    tree = tree_of()
    node = tree.place("/a/x")
    tree._found.clear()
    for value in values:
        tree.learn(node, value)
    return node.record, tree


@pytest.mark.parametrize(
    ("values", "judged", "brought", "dry", "mean"),
    [
        ([0.5], 1, 1, 0, 0.5),
        ([0.5, 0.1], 2, 2, 0, 0.3),
        ([0.5, 0.0], 2, 1, 1, 0.25),
        ([0.0, 0.0, 0.08], 3, 1, 0, 0.08 / 3),
        ([0.0, 0.079], 2, 0, 2, 0.0395),
        ([None, None], 0, 0, 0, 1.0),
        ([1.0, None, 0.0], 2, 1, 1, 0.5),
    ],
)
def test_means_of_what_visits_brought(values, judged, brought, dry, mean):
    record, tree = learned(values)
    assert (record.visits, record.judged, record.brought, record.dry) == (len(values), judged, brought, dry)
    assert record.value == pytest.approx(mean)
    assert tree.root.record.visits == len(values), "with those of the branches below"
    assert tree.root.record.value == pytest.approx(mean)


def test_means_fade_over_thirty_two_visits():
    record, _ = learned([1.0] * 32 + [0.0])
    assert record.value == pytest.approx(31 / 32)
    record, _ = learned([1.0] * 100 + [0.0])
    assert record.value == pytest.approx(31 / 32)
    record, _ = learned([1.0] * 30 + [0.0])
    assert record.value == pytest.approx(30 / 31)


@pytest.mark.parametrize(("found", "bred"), [(0, 0.0), (1, 1.0), (3, 3.0), (4, 4.0), (9, 4.0)])
def test_new_urls_that_a_visit_led_to(found, bred):
    tree = tree_of()
    node = tree.place("/a/x")
    tree._found.clear()
    for number in range(found):
        tree.place(f"/a/{'bcdefghij'[number]}")
    other_agents = tree.place("/z/")
    tree.learn(node, 1.0)
    folder = node.parent.parent
    assert folder.record.label == "a"
    assert folder.record.bred == pytest.approx(bred)
    assert other_agents.record.visits == 0
    assert tree.root.record.bred == pytest.approx(min(found + 1, 4.0))
    tree.learn(node, 1.0)
    assert folder.record.bred == pytest.approx(bred / 2), "each is found once"


def test_what_was_learned_is_stored_now_and_then():
    tree = tree_of()
    node = tree.place("/a/x")
    stored = []
    for visit in range(1, 26):
        tree.changed.clear()
        tree.learn(node, 1.0)
        if tree.changed:
            stored.append(visit)
            assert tree.changed == {above.record.number for above in node.above()}
    assert stored == [1, 2, 3, 4, 5, 6, 7, 8, 16, 24]


# Weights …


@pytest.mark.parametrize(
    ("promise", "bred", "weight"),
    [
        (1.0, 0.0, 1.0),
        (0.5, 0.0, 1.0),
        (0.25, 0.0, 0.25),
        (0.2, 0.0, 0.16),
        (0.1, 0.0, 0.05),
        (0.0, 0.0, 0.05),
        (1.0, 1.0, 1.0),
        (1.0, 2.0, 0.5),
        (1.0, 4.0, 0.25),
        (0.25, 2.0, 0.125),
        (0.2, 4.0, 0.05),
    ],
)
def test_the_part_of_the_turns(promise, bred, weight):
    whole = Node(Branch(0, -1, "", bred=9.0), None)
    node = Node(Branch(1, 0, "x", bred=bred), whole)
    assert node.part(promise) == pytest.approx(weight)
    assert whole.part(1.0) == 1.0, "a front page breeds all"


@pytest.mark.parametrize(
    ("judged", "value", "around", "promise"),
    [(0, 0.0, 0.6, 0.6), (2, 0.0, 0.6, 0.3), (8, 0.5, 1.0, 0.6), (2, 1.0, 0.5, 0.75)],
)
def test_few_visits_count_as_the_whole_around(judged, value, around, promise):
    whole = Node(Branch(0, -1, "", value=around), None)
    node = Node(Branch(1, 0, "x", judged=judged, value=value), whole)
    assert node.promise == pytest.approx(promise)
    assert node.weight == pytest.approx(node.part(promise))


@pytest.mark.parametrize(
    ("own", "visits", "bred", "chain"),
    [
        (1, 4, 1.0, True),
        (3, 4, 0.75, True),
        (4, 4, 1.0, False),
        (1, 3, 1.0, False),
        (1, 4, 0.74, False),
        (1, 4, 1.5, True),
        (1, 4, 1.51, False),
    ],
)
def test_chains(own, visits, bred, chain):
    node = Node(Branch(1, 0, "x", visits=visits, bred=bred), None)
    node.own = own
    assert node.is_chain is chain


# Turns …


def entered(tree, target, order, times=1):
    node = tree.place(target)
    for _ in range(times):
        tree.entered(node, order)
    return node


def test_counts_of_what_waits():
    tree = tree_of()
    a = entered(tree, "/a/x", 7, times=2)
    b = entered(tree, "/b/x1", 9)
    root = tree.root
    assert (root.waiting, root.front, a.own, a.first, a.record.queued) == (3, 7, 2, 7, 2)
    tree.taken(a, 8)
    assert (root.waiting, root.front, a.own, a.first) == (2, 8, 1, 8)
    tree.taken(a, 99)
    assert (root.waiting, root.front, a.own, a.first, a.front) == (1, 9, 0, NOWHERE, NOWHERE)
    tree.returned(a, 3)
    assert (root.waiting, root.front, a.record.queued) == (2, 3, 2)
    tree.left(a)
    assert a.record.queued == 1
    tree.moved(b, 1)
    assert (root.front, b.first, b.front) == (1, 1, 1)
    tree.moved(b, 5)
    assert (root.front, b.first) == (1, 1)
    tree.entered(b, 0)
    assert (b.first, b.record.queued, root.front) == (0, 2, 0)


def test_the_order_decides_within_thirty_two_turns():
    tree = tree_of()
    a = entered(tree, "/a/x", 1, times=200)
    entered(tree, "/b/y", 2, times=200)
    turns = []
    for _ in range(100):
        node = tree.pick()
        turns.append("a" if node is a else "b")
        tree.taken(node, 1 if node is a else 2)
        tree.gave(node)
    assert "".join(turns) == "a" * 33 + "ba" * 33 + "b"


def test_turns_go_by_weight():
    tree = tree_of()
    a, b = entered(tree, "/a/x", 1, times=400), entered(tree, "/b/y", 2, times=400)
    folder = b.parent.parent
    folder.record.judged, folder.record.value = 1_000, 0.25
    turns = []
    for _ in range(300):
        node = tree.pick()
        turns.append(node is a)
        tree.taken(node, 1 if node is a else 2)
        tree.gave(node)
    # A quarter of the weight has a quarter of the turns of the other.
    assert sum(turns[100:200]) == pytest.approx(80, abs=2)
    assert folder.passed == pytest.approx(sum(not turn for turn in turns) / folder.weight, rel=0.02)


def test_who_was_away_is_owed_nothing():
    tree = tree_of()
    a = entered(tree, "/a/x", 1, times=200)
    for _ in range(100):
        tree.taken(a, 1)
        tree.gave(a)
    folder = a.parent.parent
    assert folder.passed == 100
    b = entered(tree, "/b/y", 2)
    late = tree.root.children[NEW].children["/"].children["b"]
    assert late.passed == 100, "a new one begins where the others are"
    tree.taken(b, 0)
    for _ in range(100):
        tree.taken(a, 1) if a.own > 1 else tree.entered(a, 1)
        tree.gave(a)
    tree.returned(b, 2)
    assert late.passed == folder.passed - 32, "and who comes back, as far ahead as one may be"


def test_a_branch_whose_own_pages_were_away_is_owed_nothing_for_them():
    tree = tree_of()
    tree.place("/a/w")
    own, numbered = entered(tree, "/a/x", 1), entered(tree, "/a/x1", 2, times=200)
    assert numbered.parent is own
    tree.taken(own, 0)
    for _ in range(100):
        tree.taken(numbered, 2)
        tree.gave(numbered)
    tree.returned(own, 1)
    assert (numbered.passed, own.own_passed) == (100, 68)
    alone = entered(tree, "/b/y", 3)
    assert alone.own_passed == 0, "beside nobody one is never late"


@pytest.mark.parametrize(
    ("own_first", "child_first", "own_passed", "child_passed", "own"),
    [
        (1, 2, 0.0, 0.0, True),
        (2, 1, 0.0, 0.0, False),
        (1, 2, 32.0, 0.0, True),
        (1, 2, 32.5, 0.0, False),
        (2, 1, 0.0, 32.0, False),
        (2, 1, 0.0, 32.5, True),
    ],
)
def test_own_pages_and_those_below_take_turns_as_branches_do(
    own_first, child_first, own_passed, child_passed, own
):
    tree = tree_of()
    tree.place("/a/w")
    pages, numbered = entered(tree, "/a/x", own_first), entered(tree, "/a/x1", child_first)
    assert numbered.parent is pages
    pages.own_passed, numbered.passed = own_passed, child_passed
    assert tree.pick() is (pages if own else numbered)


@pytest.mark.parametrize("ahead", [32.0, 32.5])
def test_who_is_ahead_by_more_than_the_slack_waits(ahead):
    tree = tree_of()
    a, b = entered(tree, "/a/x", 1), entered(tree, "/b/y", 2)
    a.parent.parent.passed, b.parent.parent.passed = 50.0 + ahead, 50.0
    assert tree.pick() is (a if ahead == 32.0 else b)


@pytest.mark.parametrize(
    ("own", "aside", "of_the_site", "lends"),
    [
        (1, False, 0, True),
        (2, False, 0, True),
        (0, False, 0, False),
        (1, True, 0, False),
        (1, False, 1, False),
    ],
)
def test_what_can_be_lent(own, aside, of_the_site, lends):
    tree = tree_of()
    node = entered(tree, "/a/x", 1, times=own)
    tree.root.own, node.aside = of_the_site, aside
    assert tree.can_lend(node) is lends
    assert tree.can_lend(tree.root) is bool(of_the_site)


def test_folders_at_hand_are_bounded():
    tree = tree_of()
    for number in range(100):
        tree.place(f"/{chr(97 + number // 26)}{chr(97 + number % 26)}/x")
    assert len(tree._folders) <= 32


def test_the_whole_sites_own_urls_come_first():
    tree = BranchTree(BranchConfig(), [Branch(0, -1, "", queued=2, head=b"h")], lambda head: 4)
    assert (tree.root.own, tree.root.first, tree.root.waiting) == (2, 4, 2)
    entered(tree, "/a/x", 1)
    assert tree.pick() is tree.root
    tree.taken(tree.root, 9)
    tree.taken(tree.root, 9)
    assert tree.pick().record.label == ""


def test_nothing_waits():
    tree = tree_of()
    assert tree.pick() is None
    node = entered(tree, "/a/x", 1)
    assert tree.pick() is node
    tree.taken(node, 0)
    assert tree.pick() is None


@pytest.mark.parametrize(
    ("dry", "value", "doubtful"),
    [(0, 1.0, False), (3, 1.0, False), (4, 1.0, True), (0, 0.31, False), (0, 0.29, True)],
)
def test_a_turn_tells_whether_a_branch_is_doubtful(dry, value, doubtful):
    tree = tree_of()
    node = entered(tree, "/a/x", 1)
    node.record.dry = dry
    for above in node.above():
        above.record.judged, above.record.value = 10**9, value
    tree.gave(node)
    assert node.doubtful is doubtful


# Endless …


def endless(
    *,
    label="x",
    dry=80,
    judged=800,
    brought=399,
    bred=1.0,
    whole_bred=0.0,
    state="",
    own=5,
    visits=90,
    patience=400,
    on=True,
    rest_dry=80,
    waiting_more=0,
):
    """Whether a branch of such figures is shown to be endless by another visit that brings nothing."""
    tree = BranchTree(BranchConfig(set_aside=on, patience=patience))
    node = tree.place("/x/")
    folder = node.parent.parent
    assert folder.record.label == "x"
    whole = tree.root.record
    whole.judged, whole.brought, whole.bred, whole.visits = judged, brought, whole_bred, 10_000
    target = folder if label == "x" else folder.parent
    for each in node.above():
        each.record.dry = 0
    for each in target.below():
        each.record.dry, each.record.bred, each.record.visits = rest_dry, bred, visits
    target.record.dry, target.record.state = dry, state
    for _ in range(own):
        tree.entered(node, 1)
    target.waiting += waiting_more
    found = tree._endless(node)
    return None if found is None else found.record.label


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({}, "x"),
        ({"dry": 79, "rest_dry": 79}, None),
        ({"on": False}, None),
        ({"judged": 798}, None),  # 399 brought nothing: fewer than the patience
        ({"judged": 799}, "x"),
        ({"judged": 1_599, "brought": 800}, None),  # fewer than brought something
        ({"judged": 1_600, "brought": 800}, "x"),
        ({"patience": 401}, "x"),
        ({"patience": 402}, None),
        ({"state": ASIDE}, "."),  # what is within may still be shown to be
        ({"state": RELEASED}, "."),
        ({"label": "/", "dry": 199}, "x"),  # parts with nothing in common must be dry for longer
        ({"label": "/", "dry": 200}, "/"),
        ({"bred": 0.74}, None),
        ({"bred": 0.75, "own": 9}, "x"),
        ({"bred": 0.0, "whole_bred": 0.75, "own": 90}, "x"),
        ({"bred": 0.0, "whole_bred": 0.74, "own": 90}, None),
        ({"bred": 0.0, "whole_bred": 0.75, "own": 89}, None),
        ({"own": 3, "bred": 1.0}, "x"),
    ],
)
def test_a_branch_is_shown_to_be_endless(told, found):
    assert endless(**told) == found


def test_a_chain_that_may_lead_on_keeps_its_branch():
    tree = BranchTree(BranchConfig())
    node, other = tree.place("/x/a"), tree.place("/x/?y=1")
    del other
    folder = node.parent.parent
    whole = tree.root.record
    whole.judged, whole.visits = 800, 10_000
    for each in folder.below():
        each.record.dry, each.record.bred, each.record.visits = 80, 2.0, 90
    assert tree._endless(node) is folder
    deep = tree.place("/x/deep/1")
    tree.entered(deep, 1)
    deep.record.dry, deep.record.visits, deep.record.bred = 79, 9, 1.0
    assert deep.is_chain and tree._endless(node) is not folder
    deep.record.dry = 80
    assert tree._endless(node) is folder


@pytest.mark.parametrize(("chains", "shown"), [(3, True), (4, False)])
def test_a_third_of_what_waits_may_be_chains_that_were_not_tried_to_the_end(chains, shown):
    """Of eight parts and one more, by the rule of succession, 0.35 are three."""
    tree = BranchTree(BranchConfig())
    node = tree.place("/x/a")
    folder = node.parent.parent
    tree.root.record.judged = 800
    for name in "bcdefghi":
        part = tree.place(f"/x/{name}/in-{name}")
        tree.entered(part, 1)
        part.record.dry, part.record.visits, part.record.bred = 20, 20, 1.0 if chains > 0 else 2.0
        chains -= 1
    folder.record.dry, folder.record.bred = 80, 2.0
    assert (tree._endless(node) is folder) is shown


@pytest.mark.parametrize(("dry", "shown"), [(0, False), (1, True), (9, True)])
def test_branches_that_may_bring_something_are_given_a_chance(dry, shown):
    """Each may be mistaken by 0.35, on average; a visit that brings nothing leaves 0.3 of its chance."""
    tree = BranchTree(BranchConfig())
    node = tree.place("/x/a")
    folder = node.parent.parent
    tree.root.record.judged = 800
    for each in folder.below():
        each.record.dry, each.record.bred = 80, 2.0
    for inner in (tree.place("/x/deep/one"), tree.place("/x/other/two")):
        tree.entered(inner, 1)
        inner.record.dry = dry
    assert (tree._endless(node) is folder) is shown


def test_parts_that_were_tried_to_their_end_tell_of_the_others():
    tree = BranchTree(BranchConfig())
    node = tree.place("/x/a")
    folder = node.parent.parent
    tree.root.record.judged = 800
    tried = [tree.place(f"/x/{name}/in-{name}") for name in ("b", "c", "d")]
    tree.entered(tree.place("/x/e/one"), 1)
    tree.entered(tree.place("/x/f/two"), 1)
    for each in (*folder.above(), node):
        each.record.dry, each.record.bred = 80, 2.0
    node.record.dry = 0
    assert tree._endless(node) is None, "two of two parts were not tried at all"
    for each in tried:
        each.record.dry = 1
    assert tree._endless(node) is folder, "two of five"


def test_setting_aside_and_releasing():
    tree = tree_of()
    a, b = entered(tree, "/a/x", 1, times=3), entered(tree, "/b/y", 2, times=2)
    folder = a.parent.parent
    tree.changed.clear()
    assert tree.set_aside(folder) == 3
    assert (folder.record.state, a.aside, b.aside, tree.changed) == (
        ASIDE,
        True,
        False,
        {folder.record.number},
    )
    assert (tree.root.waiting, tree.root.front, folder.waiting, folder.front) == (2, 2, 0, NOWHERE)
    assert tree.pick() is b
    tree.entered(a, 0)
    tree.moved(a, 0)
    assert (tree.root.waiting, tree.root.front, a.own) == (2, 2, 4)
    tree.taken(a, 1)
    assert (tree.root.waiting, a.own) == (2, 3)
    inner = tree.place("/a/deep/")
    assert inner.aside
    assert tree.set_aside(folder) == 0
    tree.changed.clear()
    assert tree.release(folder) == 3
    assert (folder.record.state, a.record.state, a.aside) == (RELEASED, RELEASED, False)
    assert (folder.parent.record.state, tree.root.record.state) == (HOLDS_RELEASED, HOLDS_RELEASED)
    assert b.record.state == ""
    assert {folder.record.number, a.record.number, 0} <= tree.changed
    assert (tree.root.waiting, tree.root.front) == (5, 1)


@pytest.mark.parametrize(
    ("labels", "path"),
    [
        ([NEW], "/"),
        ([NEW, "/", "a", "/", "b", ".", ""], "/a/b/"),
        ([NEW, "/", "a", ".", "/0", "page0"], "/a/page0 [/0]"),
        ([KNOWN, "/", "a"], "/a/ [known]"),
        ([NEW, "/"], "/"),
        ([NEW, "?"], "/?"),
        ([NEW, "?", "*.php?a&b", "b", "page.php"], "/*.php?a&b [page.php, b]"),
        ([KNOWN, "?", "?a", "", "x"], "/?a [known, x]"),
    ],
)
def test_what_addresses_have_in_common(labels, path):
    assert branch_path(labels) == path


def test_branches_come_back_as_they_were_stored():
    tree = tree_of()
    a, b = entered(tree, "/a/x", 3, times=2), entered(tree, "/b/y1", 4)
    tree.set_aside(b.parent.parent.parent)
    records = [node.record for node in tree.nodes.values()]
    again = BranchTree(BranchConfig(), reversed(records), lambda head: 6)
    assert {number: node.record for number, node in again.nodes.items()} == {
        number: node.record for number, node in tree.nodes.items()
    }
    twin = again.node(a.record.number)
    assert (twin.own, twin.first, twin.waiting) == (2, 6, 2)
    assert again.root.waiting == 2 and again.path(again.node(b.record.number)) == tree.path(b)
    assert again.node(b.record.number).aside


def test_defaults():
    config = BranchConfig()
    assert (config.share, config.set_aside, config.begin, config.patience) == (True, True, 64, 400)
    assert (tree_module.MOST_KINDS, tree_module.DEEPEST_FOLDER) == (8, 5)
