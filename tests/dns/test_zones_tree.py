"""The domain tree: its links against lists of children, and a domain with very many names."""

import gc

from hypothesis import given
from hypothesis import strategies as st

from gossamer.dns.zones.tree import Node, hang, unhang, walk


def children(node: Node) -> list[Node]:
    found, child = [], node.left
    while child is not None:
        found.append(child)
        child = child.right
    return found


def check_links(root: Node) -> None:
    for node in walk(root):
        below = children(node)
        assert (node.left is None) == (node.last is None)
        assert all(child.above is node for child in below)
        assert [child.back for child in below] == [None, *below[:-1]][: len(below)]
        assert node.last is (below[-1] if below else None)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 20)), max_size=60))
def test_like_lists_of_children(steps):
    root = Node("example.org")
    model: dict[str, list[str]] = {"example.org": []}
    nodes = {"example.org": root}
    for number, (grows, choice) in enumerate(steps):
        name = sorted(nodes)[choice % len(nodes)]
        if grows:
            node = nodes[f"n{number}"] = Node(f"n{number}")
            hang(node, nodes[name])
            model[name].append(node.name)
            model[node.name] = []
        elif name != "example.org" and not model[name]:
            unhang(nodes.pop(name))
            del model[name]
            for below in model.values():
                if name in below:
                    below.remove(name)
        check_links(root)
        assert {name: [child.name for child in children(node)] for name, node in nodes.items()} == model
    assert {node.name for node in walk(root)} == set(nodes)


def test_the_first_hangs_left_and_further_ones_right_in_order():
    host = Node("www.example.org")
    names = [Node(name) for name in ("c", "a", "b")]
    for node in names:
        hang(node, host)
    c, a, b = names
    assert (host.left, c.right, a.right, b.right) == (c, a, b, None)
    assert c.left is None
    unhang(c)
    assert (host.left, a.back) == (a, None)


def test_a_name_comes_before_those_below_it():
    root, one, two, three = (Node(name) for name in ("example.org", "1", "2", "1.1"))
    hang(one, root)
    hang(two, root)
    hang(three, one)
    assert [node.name for node in walk(root)] == ["example.org", "1", "1.1", "2"]
    assert repr(one) == "<Node 1, bare>"


def test_very_many_siblings_are_walked_and_let_go_without_recursion():
    root = Node("example.org")
    for number in range(100_000):
        hang(Node(str(number)), root)
    assert sum(1 for _ in walk(root)) == 100_001
    del root
    gc.collect()
