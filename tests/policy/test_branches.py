"""Visits are shared out among the branches of a site: fairly, by what they bring, and nobody starves."""

import random

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.policy.branches.tree import ASIDE, RELEASED, Branch, BranchConfig, BranchTree, branch_path

CONFIG = BranchConfig()


class Site:
    """A host's branches with its queue, as a frontier keeps them."""

    def __init__(self, config=CONFIG):
        self.tree = BranchTree(config)
        self.queues: dict[int, list[tuple[int, str]]] = {}
        self.number = 0

    def add(self, target, depth=1):
        node = self.tree.place(target)
        self.number += 1
        order = depth << 40 | self.number
        queue = self.queues.setdefault(node.record.number, [])
        queue.append((order, target))
        queue.sort()
        self.tree.entered(node, order)
        return node

    def visit(self, value, links=()):
        """The next target, which brings `value` and leads to `links`; the branch that it shows endless."""
        node = self.tree.pick()
        queue = self.queues[node.record.number]
        order, target = queue.pop(0)
        self.tree.taken(node, queue[0][0] if queue else 0)
        self.tree.gave(node)
        self.tree.left(node)
        for link in links(target) if callable(links) else links:
            self.add(link, (order >> 40) + 1)
        return target, self.tree.learn(node, value(target) if callable(value) else value)


def test_a_maze_under_one_folder_leaves_the_articles_their_turns():
    site = Site()
    for number in range(300):
        site.add(f"/articles/{chr(97 + number % 26)}{chr(97 + number // 26)}-story", depth=9)
    site.add("/maze/1x")

    def doors(target):
        return [f"{target}/{n}x" if len(target) < 40 else f"/maze/{random.random()}" for n in (1, 2, 3)]

    visited = [
        site.visit(1.0, lambda target: doors(target) if "maze" in target else ())[0] for _ in range(450)
    ]
    assert sum("articles" in target for target in visited) == 300, (
        "deeper, and yet all within half as many again"
    )


def test_what_brings_nothing_has_the_least_share_and_that_for_ever():
    site = Site()
    for number in range(1_000):
        site.add(f"/good/a-{number}")
        site.add(f"/copies/b-{number}")
    visited = [site.visit(lambda target: float("good" in target))[0] for _ in range(1_000)]
    shares = [sum("copies" in target for target in visited[at : at + 250]) for at in range(250, 1_000, 250)]
    assert all(5 <= share <= 30 for share in shares), shares


def test_within_a_branch_and_where_shares_allow_it_the_order_decides():
    site = Site()
    for number in range(20):
        site.add("/b/b" + chr(97 + number), depth=2)
        site.add("/a/a" + chr(97 + number), depth=1)
    site.tree.learn(site.tree.root, 1.0)  # the front page has led to them
    visited = [site.visit(1.0)[0] for _ in range(40)]
    assert [target[1] for target in visited] == ["a"] * 20 + ["b"] * 20
    assert visited[:20] == sorted(visited[:20])


def test_all_queries_of_a_folder_weigh_as_much_as_its_pages():
    site = Site()
    for number in range(500):
        site.add(f"/list?a{number % 60}=x&b{number % 7}={chr(97 + number % 26)}")
    for number in range(150):
        site.add("/page-" + chr(97 + number % 26) + chr(97 + number // 26), depth=3)
    visited = [site.visit(1.0)[0] for _ in range(400)]
    assert sum(target.startswith("/page-") for target in visited) == 150


def test_a_chain_of_pages_has_its_turns_though_it_is_away_whenever_one_is_fetched():
    site = Site()
    site.tree.learn(site.tree.root, 1.0)
    for number in range(900):
        site.add(f"/riddles/{number}", depth=2)
        site.add(f"/games/{number}", depth=2)
    site.add("/notes/1.html", depth=2)

    def next_note(target):
        return [f"/notes/{int(target[7:-5]) + 1}.html"] if "notes" in target else ()

    visited = [site.visit(1.0, next_note)[0] for _ in range(600)]
    assert sum("notes" in target for target in visited) >= 120, "the deepest, with a third of the turns"


def test_scripts_files_and_folders_with_a_query_are_told_apart():
    tree = BranchTree(CONFIG)
    files = [tree.place(f"/tree/file-{chr(97 + n % 26)}{chr(97 + n // 26)}.c?id=7") for n in range(100)]
    commits = {tree.place(f"/commit/?id={n}") for n in range(9)}
    assert not commits & set(files)
    assert tree.path(files[0]).startswith("/*.c?id [file-")


def test_copies_under_other_sessions_are_a_branch_of_their_own():
    tree = BranchTree(CONFIG)
    first = [tree.place(f"/s/ab{n}c/page-{chr(97 + n)}") for n in range(20)]
    again = [tree.place(f"/s/xy{n}z/page-{chr(97 + n)}") for n in range(20)]
    tops = [{[*node.above()][-2] for node in nodes} for nodes in (first, again)]
    assert len(tops[0]) == len(tops[1]) == 1 and tops[0] != tops[1]


def endless():
    """A calendar beside some articles."""
    site = Site()
    for number in range(80):
        site.add("/article/" + chr(97 + number % 26) + chr(97 + number // 26))
    site.add("/calendar/1")
    return site


def next_day(target):
    if "calendar" not in target:
        return ()
    day = int(target.rpartition("/")[2])
    return [f"/calendar/{day + 1}", f"/calendar/{day + 2}"]


def test_what_has_no_end_and_nothing_new_is_set_aside_with_all_that_it_finds_later():
    site = endless()
    visits, aside = 0, []
    while site.tree.pick() is not None:
        visits += 1
        _, found = site.visit(lambda target: float("article" in target), next_day)
        if found is not None:
            assert site.tree.set_aside(found) > 0
            aside.append(found)
    assert CONFIG.patience <= visits - 80 < CONFIG.patience + 200
    later = site.add("/calendar/99999")
    assert later.aside and site.tree.pick() is None
    assert all(node.record.state == ASIDE for node in aside)
    assert all(site.tree.release(node) > 0 for node in aside) and site.tree.pick() is not None
    assert all(node.record.state == RELEASED for node in aside)
    again = [site.visit(0.0, next_day)[1] for _ in range(300)]
    lost = [node for node in again if node is not None and any(above in aside for above in node.above())]
    assert not lost, "what was let out is not set aside again"


@pytest.mark.parametrize("brings", [1])
def test_nothing_is_set_aside_that_brings_something_now_and_then(brings):
    site = endless()
    for visit in range(3_000):
        assert site.visit(lambda _, visit=visit: float(not visit % (10 * brings)), next_day)[1] is None


def test_nothing_is_set_aside_that_comes_to_its_end():
    """Thin pages that all say the same, in a tree of 600."""
    site = Site()
    site.add("/n/1")

    def below(target):
        number = int(target.rpartition("/")[2])
        return [f"/n/{child}" for child in (2 * number, 2 * number + 1) if child <= 600]

    visits = 0
    while site.tree.pick() is not None:
        assert site.visit(0.0, below)[1] is None
        visits += 1
    assert visits == 600


def test_without_setting_aside_an_endless_part_goes_on():
    site = Site(BranchConfig(set_aside=False))
    site.add("/calendar/1")
    assert all(site.visit(0.0, next_day)[1] is None for _ in range(1_500))


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_counts_hold_through_any_history_and_a_restart(data):
    site = Site()
    out: list = []
    for _ in range(data.draw(st.integers(1, 60))):
        action = data.draw(st.sampled_from("aaaatlrsx"))
        if action == "a":
            path = data.draw(st.text("ab1/", max_size=8))
            query = data.draw(st.text("x=1&y", max_size=6))
            site.add(f"/{path}" + (f"?{query}" if query else ""), data.draw(st.integers(0, 5)))
        elif action == "t" and (node := site.tree.pick()) is not None:
            order, _ = site.queues[node.record.number].pop(0)
            site.tree.taken(node, order)
            site.tree.gave(node)
            out.append((node, order))
        elif action == "l" and out:
            node, _ = out.pop()
            site.tree.left(node)
            site.tree.learn(node, data.draw(st.sampled_from([None, 0.0, 1.0])))
        elif action == "r" and out:
            node, order = out.pop()
            site.queues[node.record.number].insert(0, (order, ""))
            site.tree.returned(node, order)
        elif action == "s":
            nodes = [node for node in site.tree.nodes.values() if node.parent is not None]
            if nodes:
                site.tree.set_aside(data.draw(st.sampled_from(nodes)))
        elif action == "x":
            for node in list(site.tree.nodes.values()):
                if node.record.state == ASIDE:
                    site.tree.release(node)
        check(site.tree, out)
    while out:
        node, order = out.pop()
        site.tree.returned(node, order)
    again = BranchTree(CONFIG, [node.record for node in site.tree.nodes.values()])
    check(again, [])
    assert again.root.waiting == site.tree.root.waiting


def check(tree, out):
    for node in tree.nodes.values():
        lent = sum(1 for other, _ in out if other is node)
        assert node.own == node.record.queued - lent
        below = sum(child.waiting for child in node.children.values())
        assert node.waiting == (0 if node.aside else node.own + below)
        fronts = [child.front for child in node.children.values()]
        assert node.aside or node.front == min([node.first, *fronts])
        assert node.aside == any(above.record.state == ASIDE for above in node.above())
    picked = tree.pick()
    assert (picked is None) == (tree.root.waiting == 0)
    assert picked is None or (picked.own and not picked.aside)


def test_a_site_of_any_shape_has_a_bounded_number_of_branches():
    tree = BranchTree(CONFIG)
    dice = random.Random(5)
    for _ in range(20_000):
        path = "/".join(dice.choice("abcdefghij") * dice.randint(1, 3) for _ in range(dice.randint(1, 9)))
        tree.place(f"/{path}?{dice.choice('pqrs')}={dice.random()}")
    assert len(tree.nodes) <= 500
    assert sum(node.record.found for node in tree.nodes.values()) == 20_000


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/2024/05/17/story", "/0/0/0/"),
        ("/day-2024-05.html", "/day-0-0.html"),
        ("/shop/list?page=3&sort=x", "/?page&sort [list&sort=x"),
    ],
)
def test_branches_are_told_by_what_their_addresses_have_in_common(target, path):
    tree = BranchTree(CONFIG)
    node = tree.place(target)
    assert tree.path(node).startswith(path)


def test_a_branch_as_stored_can_be_read_again():
    labels = ["new", "/", "docs", ".", ""]
    assert branch_path(labels) == "/docs/"
    records = [Branch(0, -1, ""), Branch(1, 0, "new", queued=2, head=b"\0" * 10)]
    tree = BranchTree(CONFIG, records)
    assert tree.pick() is tree.nodes[1] and tree.root.waiting == 2
