"""Best first: back-links by domain, features of the URL's text."""

import msgspec
import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.policy.ordering.best import BUCKETS, SEEDS_LINK, UNIT, BestConfig, BestFirst, BestWorth
from gossamer.policy.ordering.features import FEATURES, Feature, FeatureTable
from gossamer.policy.ordering.ordering import LAST_LEVEL, ROBOTS_LEVEL


def at(text: str, depth: int = 1, kind: LinkKind = LinkKind.NAVIGATION) -> Candidate:
    url = Url.parse(text)
    assert url is not None
    return Candidate(url, kind, depth)


PAGE = at("http://target.example/a")


def linked_from(policy: BestFirst, *finders: str) -> BestWorth:
    worth = policy.admitted(PAGE, None)
    for finder in finders:
        source = at(finder)
        _, gift = policy.spread(source, policy.admitted(source, None), 1, 1)
        worth = policy.give(worth, gift)
    return worth


def level(policy: BestFirst, *finders: str) -> int:
    return policy.waiting_level(PAGE, linked_from(policy, *finders))


def test_more_links_are_better() -> None:
    policy = BestFirst(BestConfig())
    assert level(policy, "http://a.example/", "http://b.example/") < level(policy, "http://a.example/")


def test_a_farm_in_one_domain_gains_little() -> None:
    policy = BestFirst(BestConfig())
    farm = [f"http://s{number}.farm.example/" for number in range(30)]
    few = [f"http://{name}.example/" for name in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")]
    assert level(policy, *few) < level(policy, *farm) < level(policy, farm[0])
    assert len(linked_from(policy, *farm).weights) == 1


def test_a_link_from_a_page_with_back_links_weighs_more() -> None:
    policy = BestFirst(BestConfig())
    known = linked_from(policy, "http://a.example/", "http://b.example/")
    _, strong = policy.spread(PAGE, known, 5, 5)
    _, weak = policy.spread(PAGE, policy.admitted(PAGE, None), 5, 5)
    assert sum(strong.weights.values()) > sum(weak.weights.values()) > UNIT


def test_a_link_among_many_weighs_less() -> None:
    policy = BestFirst(BestConfig())
    worth = linked_from(policy, "http://a.example/", "http://b.example/")
    weights = [
        sum(policy.spread(PAGE, worth, 1, links)[1].weights.values()) for links in (1, 10, 1_000, 10**7)
    ]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > 2 * weights[1] > 4 * weights[2]
    assert weights[-1] == 1


def test_links_of_a_seed_weigh_most() -> None:
    policy = BestFirst(BestConfig())
    seed = msgspec.structs.replace(PAGE, depth=0)
    _, gift = policy.spread(seed, policy.admitted(seed, None), 500, 500)
    assert sum(gift.weights.values()) == SEEDS_LINK


def test_a_chain_does_not_outrank_what_was_found_first() -> None:
    policy = BestFirst(BestConfig())
    place = msgspec.structs.replace(PAGE, depth=0)
    levels = []
    worth = policy.admitted(place, None)
    for depth in range(6):
        finder = msgspec.structs.replace(PAGE, depth=depth)
        _, gift = policy.spread(finder, worth, 1, 1)
        worth = policy.admitted(PAGE, gift)
        levels.append(policy.waiting_level(msgspec.structs.replace(PAGE, depth=depth + 1), worth))
    assert levels == sorted(levels)


@given(st.lists(st.dictionaries(st.integers(0, BUCKETS - 1), st.integers(1, 10**6)), min_size=1))
def test_gifts_merged_or_one_by_one_are_the_same(bags: list[dict[int, int]]) -> None:
    policy = BestFirst(BestConfig())
    one = policy.admitted(PAGE, None)
    gifts = [msgspec.convert([bag], type(policy.spread(PAGE, one, 1, 1)[1])) for bag in bags]
    merged = gifts[0]
    for gift in gifts[1:]:
        merged = policy.merge(merged, gift)
    single = one
    before = policy.waiting_level(PAGE, single)
    for gift in gifts:
        single = policy.give(single, gift)
        assert policy.waiting_level(PAGE, single) <= before
        before = policy.waiting_level(PAGE, single)
    assert policy.give(one, merged) == single


def test_depth_breaks_ties_only() -> None:
    policy = BestFirst(BestConfig(features=[]))
    worth = policy.admitted(PAGE, None)
    deep = at("http://target.example/a", 10**6)
    assert policy.waiting_level(PAGE, worth) < policy.waiting_level(deep, worth)
    richer = linked_from(policy, "http://a.example/")
    assert policy.waiting_level(deep, richer) < policy.waiting_level(PAGE, worth)


def test_weights_of_both_parts() -> None:
    worth = BestWorth(2.0, {3: UNIT})
    assert BestFirst(BestConfig()).explain(PAGE, worth)["importance"] == "3.00"
    assert BestFirst(BestConfig(x=0)).explain(PAGE, worth)["importance"] == "2.00"
    assert BestFirst(BestConfig(x=2, y=0)).explain(PAGE, worth)["importance"] == "2.00"


def test_levels_fit_and_robots_files_come_first() -> None:
    policy = BestFirst(BestConfig(x=64, y=64))
    everything = BestWorth(10**6, dict.fromkeys(range(BUCKETS), 1 << 40))
    nothing = BestWorth(-(10.0**6), {})
    assert ROBOTS_LEVEL < policy.waiting_level(PAGE, everything) < policy.waiting_level(PAGE, nothing)
    assert policy.waiting_level(at("http://e.example/", 10**9), nothing) <= LAST_LEVEL
    assert policy.level(at("http://e.example/robots.txt", kind=LinkKind.ROBOTS)) == ROBOTS_LEVEL


def test_worths_survive_the_disk() -> None:
    policy = BestFirst(BestConfig())
    worth = linked_from(policy, "http://a.example/", "http://b.example/")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(worth), type=policy.worth) == worth
    policy.restore(policy.state())


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("http://e.com/a", "http://e.cc/a"),
        ("http://e.com/home.html", "http://e.com/map.html"),
        ("http://e.com/", "http://e.com/a"),
        ("http://e.com/a", "http://e.com/a?x=1"),
        ("http://e.com/a?x=1", "http://e.com/a?PHPSESSID=1"),
        ("http://e.com/a.html", "http://e.com/a.zip"),
        ("http://e.com/mapping", "http://e.com/map"),
    ],
)
def test_the_table_prefers(better: str, worse: str) -> None:
    table = FeatureTable(list(FEATURES))
    assert table.value(at(better).url) > table.value(at(worse).url)


@every(
    "case",
    [
        ("http://e.net/a", 0.5),
        ("http://e.de/a", 0),
        ("http://e.tk/a", -1),
        ("http://e.de/", 3),
        ("http://e.de/welcome", 1),
        ("http://e.de/cart", -1),
        ("http://e.de/archives/a", -0.5),
        ("http://e.de/a.iso", -1),
        ("http://e.de/a?b=1", -0.5),
        ("http://e.de/a?replytocom=1", -1.5),
        ("http://e.com/tag/map.zip?sid=1&x=2", -3.5),
    ],
)
def test_what_the_table_adds(case: tuple[str, float]) -> None:
    address, value = case
    assert FeatureTable(list(FEATURES)).value(at(address).url) == value


@pytest.mark.parametrize(
    ("feature", "fits", "not_so"),
    [
        (Feature(where="front", value=1), "http://e.com/", "http://e.com/?a=1"),
        (Feature(where="tld", words=["org"], value=1), "http://e.org/", "http://org.com/"),
        (Feature(where="host", words=["docs"], value=1), "http://docs.e.com/", "http://mydocs.com/docs"),
        (Feature(where="path", words=["a1"], value=1), "http://e.com/x-A1.html", "http://e.com/a11"),
        (Feature(where="ending", words=["pdf"], value=1), "http://e.com/x.PDF?a", "http://e.com/pdf"),
        (Feature(where="query", words=["sid"], value=1), "http://e.com/?x=1&SID=2", "http://e.com/?x=sid"),
        (Feature(where="query", value=1), "http://e.com/?x", "http://e.com/x"),
    ],
)
def test_features_fit_where_they_say(feature: Feature, fits: str, not_so: str) -> None:
    table = FeatureTable([feature])
    assert table.value(at(fits).url) == 1
    assert table.value(at(not_so).url) == 0


def test_the_table_is_replaced_by_the_user() -> None:
    text = b'{"features": [{"where": "path", "words": ["news"], "value": 5}]}'
    policy = BestFirst(msgspec.json.decode(text, type=BestConfig))
    assert policy.level(at("http://e.cc/news")) < policy.level(at("http://e.com/"))
