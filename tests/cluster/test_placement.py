"""Where new agents begin."""

from collections import Counter

from ray_there import needs_ray

pytestmark = needs_ray


def node(name, cores=2.0, *, alive=True):
    return {
        "NodeID": f"id-{name}",
        "NodeManagerHostname": name,
        "Alive": alive,
        "Resources": {"CPU": cores} if cores else {},
    }


def placed(nodes, agents, cores=0.5, have=None):
    """The machines of so many agents more, one after the other."""
    from gossamer.cluster.coordination.placement import emptiest  # a second, for Ray

    counts, found = Counter(have), []
    for _ in range(agents):
        chosen = emptiest(nodes, counts, cores)
        found.append(chosen and chosen["NodeManagerHostname"])
        counts[found[-1]] += 1
    return found


def test_each_machine_gets_one_before_any_gets_two():
    assert placed([node("a"), node("b"), node("c")], 6) == ["a", "b", "c"] * 2


def test_a_machine_that_joined_is_used_first():
    assert placed([node("a"), node("b"), node("c")], 1, have={"a": 1, "b": 1}) == ["c"]


def test_machines_that_are_gone_or_have_no_room_get_none():
    nodes = [node("head", 0.0), node("dead", alive=False), node("small", 0.5), node("large", 1.5)]
    assert placed(nodes, 5) == ["large", "small", "large", "large", None]
