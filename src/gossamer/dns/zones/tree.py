"""The tree of a registrable domain's names: two links a node, whatever hangs below."""

from collections.abc import Iterator

import msgspec

from gossamer.dns.zones.kept import Kept


class Node(msgspec.Struct, eq=False):
    """A name in its domain's tree.

    The tree is binary: the first sub-name of a name hangs left of it, and each further one right of the
    sibling before, in order of arrival. The domain is the root, its hosts the first layer, the names below
    hosts (however many labels they have) the second and last.

    `last` and `back` shorten ways that would lead along all siblings, so that hanging and unhanging take
    constant time where a hostile domain has a million names. For the same reason nothing recurses, and
    names are looked up in hash tables, never by a walk.

    Invariants: `left is None` if and only if `last is None`; `back is None` if and only if the node is the
    first below `above` (or the root, or hangs nowhere); else `back.right` is the node.

    Attributes:
        kept: the addresses; `None` for a name that only holds others together.
        accessed: wall time of the last access, for names of the third level (Z5).
    """

    name: str
    above: "Node | None" = None
    left: "Node | None" = None
    right: "Node | None" = None
    back: "Node | None" = None
    last: "Node | None" = None
    kept: Kept | None = None
    accessed: float = 0.0

    def __repr__(self) -> str:
        return f"<Node {self.name}{'' if self.kept else ', bare'}>"


def hang(node: Node, above: Node) -> None:
    """Make `node`, which hangs nowhere, the last sub-name of `above`."""
    assert node.above is None and node.right is None, node
    node.above = above
    if above.last is None:
        assert above.left is None, above
        above.left = node
    else:
        assert above.last.right is None, above
        above.last.right = node
        node.back = above.last
    above.last = node


def unhang(node: Node) -> None:
    """Take `node`, which has no sub-names, out of its tree; its siblings close up."""
    above = node.above
    assert above is not None and node.left is None, node
    if node.back is None:
        assert above.left is node, node
        above.left = node.right
    else:
        assert node.back.right is node, node
        node.back.right = node.right
    if node.right is None:
        assert above.last is node, node
        above.last = node.back
    else:
        node.right.back = node.back
    node.above = node.right = node.back = None


def walk(root: Node) -> Iterator[Node]:
    """Every node of a tree, a name before what is below it, siblings in order."""
    open_nodes = [root]
    while open_nodes:
        node = open_nodes.pop()
        yield node
        if node.right is not None:
            open_nodes.append(node.right)
        if node.left is not None:
            open_nodes.append(node.left)
