"""The ground truth of worlds small enough to be checked by hand."""

from dataclasses import replace

import pytest

from gossamer.simweb import CrawlRules, Truth, WorldSpec, truth
from gossamer.simweb.world.resource import Group
from gossamer.simweb.world.robots import allows
from gossamer.simweb.world.world import World

ANY = CrawlRules(scope="any")
PLAIN = WorldSpec(hosts=3, pages=9, exponent=0.0, links=3, cross_links=0.0)


def of_case(name: str, rules: CrawlRules = ANY, **changes: object) -> Truth:
    return truth(WorldSpec.hostile(name, **changes), [f"http://{name}.sim.test:8080/"], rules)


def targets(urls: object, name: str) -> set[str]:
    prefix = f"http://{name}.sim.test:8080"
    return {url.removeprefix(prefix) for url in urls if url.startswith(prefix)}  # type: ignore[attr-defined]


def test_a_plain_host_is_fetched_whole_and_others_are_out_of_scope() -> None:
    found = truth(PLAIN, ["http://h0.sim.test:8080/"])
    assert targets(found.fetched, "h0") == {"/", "/s1/p1.html", "/s2/p2.html"}
    assert set(found.fetched.values()) == {200}
    assert found.refused == {f"http://h{n}.sim.test:8080/": "scope" for n in (1, 2)}
    assert found.robots == {"http://h0.sim.test:8080/robots.txt": 404}
    assert not found.uncertain


def test_any_scope_reaches_every_page_of_every_host() -> None:
    found = truth(PLAIN, ["http://h0.sim.test:8080/"], ANY)
    assert len(found.fetched) == 9
    assert not found.refused


def test_domain_scope_takes_in_sister_hosts_only() -> None:
    spec = replace(PLAIN, domains=2)
    found = truth(spec, ["http://h0.sim.test:8080/"], CrawlRules(scope="domain"))
    assert targets(found.fetched, "h2") == {"/", "/s1/p1.html", "/s2/p2.html"}
    assert found.refused == {"http://h1.sim1.test:8080/": "scope"}


def test_depth_is_counted_in_links_and_limits() -> None:
    spec = WorldSpec(hosts=1, pages=30, links=2, cross_links=0.0)
    all_of_it = truth(spec, ["http://h0.sim.test/"])
    assert len(all_of_it.fetched) == 30
    shallow = truth(spec, ["http://h0.sim.test/"], CrawlRules(max_depth=1))
    assert set(shallow.fetched) == {url for url, depth in all_of_it.depths.items() if depth <= 1}
    assert set(shallow.refused.values()) == {"depth"}
    assert all(all_of_it.depths[url] == 2 for url in shallow.refused)


def test_every_page_of_a_large_world_is_reachable() -> None:
    spec = WorldSpec(hosts=300, pages=2_000)
    assert len(truth(spec, ["http://h0.sim.test:8080/"], ANY).fetched) == 2_000


def test_robots_rules_forbid_and_allow() -> None:
    found = of_case("robots-redirect")
    assert targets(found.fetched, "robots-redirect") >= {"/", "/bad", "/private/open/1.html", "/good-1.html"}
    assert found.refused["http://robots-redirect.sim.test:8080/private/1.html"] == "robots"
    names = ["/robots.txt", *(f"/robots-{n}" for n in range(1, 6))]
    assert targets(found.robots, "robots-redirect") == set(names)
    assert list(found.robots.values()) == [301] * 5 + [200]


def test_rules_from_a_redirected_file_count_for_the_host_that_redirects() -> None:
    found = of_case("robots-redirect-far")
    assert found.refused["http://robots-redirect-far.sim.test:8080/private/1.html"] == "robots"
    assert found.robots["http://h0.sim.test:8080/rules/robots.txt"] == 200


def test_beyond_five_redirects_a_robots_file_may_be_read_either_way() -> None:
    found = of_case("robots-redirect-six")
    assert found.uncertain["http://robots-redirect-six.sim.test:8080/"] == "robots"
    assert len(found.robots) == 6


@pytest.mark.parametrize("name", ["robots-500", "robots-503", "robots-429", "robots-drop", "robots-silent"])
def test_a_robots_file_that_cannot_be_had_holds_the_host(name: str) -> None:
    found = of_case(name)
    assert found.refused == {f"http://{name}.sim.test:8080/": "held"}
    assert not found.fetched


@pytest.mark.parametrize("name", ["robots-401", "robots-403", "robots-410", "robots-html"])
def test_a_robots_file_that_is_none_allows_everything(name: str) -> None:
    found = of_case(name)
    assert "/private/1.html" in targets(found.fetched, name)
    assert not found.refused


@pytest.mark.parametrize(
    "name", ["robots-503-first", "robots-500-first", "robots-429-first", "robots-drop-first"]
)
def test_a_robots_file_that_comes_late_counts(name: str) -> None:
    found = of_case(name)
    assert found.robots == {f"http://{name}.sim.test:8080/robots.txt": 200}
    assert targets(found.refused, name) == {"/private/1.html"}


def test_wildcards_anchors_and_escapes() -> None:
    found = of_case("robots-wild")
    assert targets(found.refused, "robots-wild") == {
        "/x.pdf", "/fish", "/fishing", "/~user/", "/a%2Fb", "/caf%C3%A9", "/1/deep/2/end", "/exact",
    }  # fmt: skip


def test_only_our_own_groups_count_all_of_them() -> None:
    found = of_case("robots-groups")
    assert targets(found.refused, "robots-groups") == {"/one/1.html", "/two/2.html"}
    others = of_case("robots-groups", replace(ANY, product="stranger"))
    assert targets(others.refused, "robots-groups") == {"/"}


@pytest.mark.parametrize(
    ("rules", "target", "allowed"),
    [
        ((("disallow", "/a"), ("disallow", "/ab/x")), "/ab/y", False),
        ((("disallow", "/"), ("allow", "/$")), "/", True),
        ((("disallow", "/"), ("allow", "/$")), "/x", False),
        ((("disallow", "/*a*a$"),), "/xa", True),
        ((("disallow", "/*a*a$"),), "/xaa", False),
        ((("disallow", "/a*"), ("allow", "/a")), "/abc", False),
        ((("disallow", "/"),), "/robots.txt", False),
    ],
)
def test_longest_match_wins(rules: tuple[tuple[str, str], ...], target: str, allowed: bool) -> None:
    expected = allowed or target == "/robots.txt"
    assert allows((Group(("*",), rules),), "gossamer", target) == expected


def test_nofollow_in_all_its_places() -> None:
    found = of_case("directives")
    hidden = {t for t in targets(found.refused, "directives") if t.startswith("/hidden")}
    assert hidden == {
        f"/hidden-{n}.html"
        for n in ("meta", "meta-none", "meta-ours", "header", "header-two", "header-ours", "rel")
    }
    assert set(found.refused.values()) == {"nofollow"}
    assert "/good-1.html" in targets(found.fetched, "directives")  # another link has no nofollow
    heedless = of_case("directives", replace(ANY, nofollow=False))
    assert hidden <= targets(heedless.fetched, "directives")


def test_requisites_are_followed_by_choice() -> None:
    leaves = {"/leaf.css", "/leaf-1.png", "/leaf-2.png", "/leaf.js"}
    assert not leaves & targets(of_case("markup").fetched, "markup")
    assert leaves <= targets(of_case("markup", replace(ANY, requisites=True)).fetched, "markup")


def test_redirect_loops_are_fetched_once_each() -> None:
    found = of_case("redirect-loop")
    loop = {target: status for target in ("/bad", "/bad-2", "/bad-3") for status in (302,)}
    assert {t: found.fetched[f"http://redirect-loop.sim.test:8080{t}"] for t in loop} == loop


def test_long_chains_of_redirects_are_cut() -> None:
    found = of_case("redirect-chain")
    reached = targets(found.fetched, "redirect-chain")
    assert {"/short-10", "/long-0", "/long-20"} <= reached
    assert targets(found.refused, "redirect-chain") == {"/long-21"}
    assert found.refused["http://redirect-chain.sim.test:8080/long-21"] == "hops"
    assert found.depths["http://redirect-chain.sim.test:8080/short-10"] == 1


def test_seeds_that_redirect_widen_the_scope() -> None:
    spec = WorldSpec.hostile("redirect-far")
    found = truth(spec, ["http://redirect-far.sim.test:8080/bad"], CrawlRules(scope="host"))
    assert "http://h0.sim.test:8080/s1/p1.html" in found.fetched
    narrow = truth(spec, ["http://redirect-far.sim.test:8080/"], CrawlRules(scope="host"))
    assert narrow.refused["http://h0.sim.test:8080/"] == "scope"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("dns-nxdomain", "name"),
        ("dns-silent", "name"),
        ("dns-cname-loop", "name"),
        ("refused", "unreachable"),
    ],
)
def test_hosts_that_cannot_be_had(name: str, reason: str) -> None:
    found = of_case(name)
    assert found.refused == {f"http://{name}.sim.test:8080/": reason}


def test_private_addresses_are_out_of_bounds() -> None:
    found = of_case("redirect-private")
    assert found.refused["http://metadata.redirect-private.sim.test:8080/secret"] == "address"
    assert len(found.refused) == 9
    literal = of_case("redirect-literal")
    assert literal.refused["http://127.99.99.99:8080/secret-1"] == "address"
    assert set(literal.refused.values()) == {"address"}
    free = of_case("redirect-private", replace(ANY, allow_private=True))
    assert not free.refused
    assert "address" in free.uncertain.values()


def test_traps_are_entered_and_not_walked() -> None:
    found = of_case("trap-calendar")
    assert found.uncertain == {"http://trap-calendar.sim.test:8080/calendar/2024/01/": "trap"}
    deep = {**found.fetched, "http://trap-calendar.sim.test:8080/calendar/1999/03/": 200}
    assert not found.compare(deep)


def test_sitemaps_add_what_nothing_else_mentions() -> None:
    orphan = "http://robots-sitemap.sim.test:8080/orphan.html"
    assert orphan not in of_case("robots-sitemap").fetched
    found = of_case("robots-sitemap", replace(ANY, sitemaps=True))
    assert found.fetched[orphan] == 200
    assert found.depths[orphan] == 0


def test_long_urls_are_refused() -> None:
    assert sorted(of_case("long-url").refused.values()) == ["too-long", "too-long"]


def test_doubtful_answers_lead_nowhere_else() -> None:
    world = World(WorldSpec.hostile(), 8080)
    found = truth(world.spec, world.seeds_of_cases(), ANY)
    doubtful = {url for url, why in found.uncertain.items() if why == "doubtful"}
    assert len(doubtful) > 40
    for url in doubtful:
        place = world.atlas.place(url)
        assert not world.find(*place).links
        if place.target == "/bad":
            assert f"http://{place.host}:8080/good-2.html" in found.fetched


def test_a_hostile_world_is_reachable_from_its_seed() -> None:
    spec = WorldSpec.hostile()
    world = World(spec, 8080)
    assert truth(spec, world.seeds(), ANY).fetched == truth(spec, world.seeds_of_cases(), ANY).fetched


def test_verdicts_do_not_overlap() -> None:
    found = truth(WorldSpec.friendly(), ["http://h0.sim.test:8080/"], replace(ANY, sitemaps=True))
    sets = (set(found.fetched), set(found.refused), set(found.uncertain))
    assert sum(map(len, sets)) == len(set().union(*sets))
    assert len(found.fetched) > 300
    assert {"robots", "nofollow", "too-long", "hops"} <= set(found.refused.values())


def test_comparison_names_every_kind_of_mistake() -> None:
    found = truth(PLAIN, ["http://h0.sim.test:8080/"])
    assert not found.compare(found.fetched | found.robots)
    crawled = {
        "http://h0.sim.test:8080/": 500,
        "http://h1.sim.test:8080/": 200,
        "http://h0.sim.test:8080/nowhere": 404,
        "http://h0.sim.test:8080/s1/p1.html": 200,
    }
    wrong = found.compare(crawled)
    assert wrong.missing == {"http://h0.sim.test:8080/s2/p2.html": 200}
    assert wrong.forbidden == {"http://h1.sim.test:8080/": "scope"}
    assert wrong.wrong == {"http://h0.sim.test:8080/": (200, 500)}
    assert wrong.unknown == ("http://h0.sim.test:8080/nowhere",)


def test_seeds_must_share_a_port() -> None:
    with pytest.raises(ValueError, match="share one port"):
        truth(PLAIN, ["http://h0.sim.test:1/", "http://h1.sim.test:2/"])
    with pytest.raises(ValueError, match="not a URL of a simulated web"):
        truth(PLAIN, ["https://h0.sim.test/"])
