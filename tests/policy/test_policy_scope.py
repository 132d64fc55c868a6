"""Scope: places, patterns, requisites, limits, own rules, and what `why` hears of them."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Rule
from gossamer.model.url import Url
from gossamer.policy.places.local import Local
from gossamer.policy.places.place import read_place
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.scope.url_traps import TrapConfig
from gossamer.policy.urls.registrable import is_address, registrable_domain


def url(text: str) -> Url:
    parsed = Url.parse(text)
    assert parsed is not None
    return parsed


def candidate(
    text: str, kind: LinkKind = LinkKind.NAVIGATION, depth: int = 1, hops: str = "L", **more: str
) -> Candidate:
    return Candidate(url(text), kind, depth, hops, **more)


def scope(*seeds: str, **settings: object) -> Scope:
    return Scope(
        msgspec.convert(settings, ScopeConfig), map(url, seeds or ("https://www.example.co.uk/docs/a.html",))
    )


def admits(judge: Scope, text: str) -> bool:
    return judge.judge(candidate(text)).admitted


# Places


def test_scope_and_traps_are_those_of_the_place() -> None:
    here = read_place("a.org/deep/")
    local = (
        Local(ScopeConfig(mode="any", max_depth=1), [(here, {"max_depth": 3})]),
        Local(TrapConfig(), [(here, {"max_segments": 2})]),
    )
    judge = Scope(local[0].base, [], places=local)
    for text, depth, admitted in (
        ("http://a.org/x/y/z", 1, True),
        ("http://a.org/x", 2, False),
        ("http://a.org/deep/x", 3, True),
        ("http://a.org/deep/x", 4, False),
        ("http://a.org/deep/x/y", 1, False),
        ("http://b.org/deep/x", 2, False),
    ):
        assert judge.judge(candidate(text, depth=depth)).admitted is admitted, (text, depth)


@pytest.mark.parametrize(
    ("mode", "inside", "outside"),
    [
        (
            "host",
            ["http://www.example.co.uk/", "https://www.example.co.uk:8443/x", "http://www.example.co.uk./"],
            ["https://example.co.uk/", "https://a.www.example.co.uk/", "https://evilwww.example.co.uk/"],
        ),
        (
            "domain",
            ["http://example.co.uk/", "https://a.b.example.co.uk/", "http://EXAMPLE.co.uk./"],
            ["https://other.co.uk/", "https://co.uk/", "https://badexample.co.uk/", "https://example.com/"],
        ),
        (
            "prefix",
            [
                "https://www.example.co.uk/docs/",
                "http://www.example.co.uk/docs/b/c?d",
                "http://www.example.co.uk:81/docs/",
            ],
            ["https://www.example.co.uk/", "https://www.example.co.uk/docs", "https://example.co.uk/docs/"],
        ),
        ("any", ["https://example.com/", "http://127.0.0.1/"], []),
    ],
)
def test_modes(mode: str, inside: list[str], outside: list[str]) -> None:
    judge = scope(mode=mode)
    for _ in range(2):  # the second time from memory
        assert [text for text in inside if not admits(judge, text)] == []
        assert [text for text in outside if admits(judge, text)] == []


@pytest.mark.parametrize("seed", ["~ann/caf%c3%a9/", "%7Eann/caf%C3%A9/"])
def test_a_directory_is_the_same_in_any_spelling(seed: str) -> None:
    judge = scope(f"http://a.test/{seed}", mode="prefix")
    assert all(
        admits(judge, f"http://a.test/{ann}/{place}/x")
        for ann in ("~ann", "%7eann")
        for place in ("café", "caf%c3%A9")
    )
    assert not admits(judge, "http://a.test/%257Eann/café/x")


def test_verdict_names_the_deciding_rule() -> None:
    verdict = scope().judge(candidate("https://example.org/"))
    assert (verdict.admitted, verdict.rule, str(verdict.why)) == (
        False,
        Rule.SCOPE,
        "not on the seeds' hosts (mode host)",
    )
    assert (
        str(scope().judge(candidate("https://www.example.co.uk/")).why) == "on the seeds' hosts (mode host)"
    )


def test_domain_of_an_address_is_the_address() -> None:
    judge = scope("http://10.0.0.1/", "http://[::1]/", "http://localhost/", mode="domain")
    assert (
        admits(judge, "http://10.0.0.1/x")
        and admits(judge, "http://[::1]/x")
        and admits(judge, "http://localhost/x")
    )
    assert not admits(judge, "http://10.9.0.1/x") and not admits(judge, "http://[::2]/")


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("example.co.uk.", "example.co.uk"),
        ("me.github.io", "me.github.io"),
        ("github.io", "github.io"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("a.b.unknowntld", "b.unknowntld"),
    ],
)
def test_registrable_domain(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


def test_is_address() -> None:
    assert is_address("1.2.3.4") and is_address("[::1]")
    assert not is_address("1.2.3.4.example.org") and not is_address("")


def test_extra_hosts_join_in_any_spelling() -> None:
    judge = scope(hosts=["Example.ORG", "bücher.de"])
    assert admits(judge, "http://example.org/") and admits(judge, "http://xn--bcher-kva.de/")
    judge = scope(mode="prefix", hosts=["example.org/docs/", "whole.org"])
    assert admits(judge, "http://example.org/docs/x") and not admits(judge, "http://example.org/x")
    assert admits(judge, "http://whole.org/x")
    assert scope(mode="domain", hosts=["a.example.org"]).judge(candidate("http://b.example.org/")).admitted


@pytest.mark.parametrize(
    ("seed", "inside", "outside"),
    [
        ("/docs", ["/docs", "/docs?a", "/docs/", "/docs/b/c.html"], ["/", "/docs2", "/doc", "/x/docs/"]),
        ("/docs?page=1", ["/docs?page=1", "/docs", "/docs/b"], ["/", "/b"]),
        ("/docs/", ["/docs/", "/docs/b"], ["/", "/docs"]),
        ("/docs/intro", ["/docs/", "/docs/b"], ["/", "/docs"]),
        ("/3.12", ["/3.12", "/3.12/b"], ["/", "/3.11/b", "/3.120/"]),
        ("/page.html", ["/", "/b/c"], []),
        ("/?a/b", ["/", "/b/c"], []),
    ],
)
def test_a_seed_at_the_root_is_a_directory_unless_it_looks_like_a_file(
    seed: str, inside: list[str], outside: list[str]
) -> None:
    judge = scope(f"http://a.test{seed}", mode="prefix")
    assert [path for path in inside if not admits(judge, f"http://a.test{path}")] == []
    assert [path for path in outside if admits(judge, f"http://a.test{path}")] == []


@pytest.mark.parametrize("place", ["b.test/a/docs", "b.test/a/docs/", "b.test/a/docs/index.html"])
def test_a_directory_among_the_hosts_needs_no_last_slash(place: str) -> None:
    judge = scope(hosts=[place])
    assert admits(judge, "http://b.test/a/docs/x")
    assert admits(judge, "http://b.test/a/docs") == place.endswith("docs")
    assert not admits(judge, "http://b.test/a/x") and not admits(judge, "http://b.test/a/docs2")


def test_where_a_seed_at_the_root_redirects_joins() -> None:
    judge = scope("http://a.test/docs", mode="prefix")
    assert judge.widen_for_seed_redirect(redirect("http://a.test/docs/")) is None
    place = judge.widen_for_seed_redirect(redirect("http://a.test/manual"))
    assert place == "a.test/manual"
    judge.add_host(place)
    assert admits(judge, "http://a.test/manual/x") and not admits(judge, "http://a.test/x")


def test_file_seed_stands_for_its_directory() -> None:
    for mode in ("host", "domain", "prefix"):
        judge = scope("file:///srv/docs/index.html", mode=mode)
        assert admits(judge, "file:///srv/docs/b/c.html")
        assert not admits(judge, "file:///etc/passwd")
        assert not admits(judge, "file:///srv/docs/../secret")


@pytest.mark.parametrize("mode", ["host", "domain", "prefix", "any"])
def test_schemes_of_seeds_join_the_listed_ones(mode: str) -> None:
    verdict = scope(mode=mode).judge(candidate("file:///etc/passwd"))
    assert not verdict.admitted
    assert str(verdict.why) == "scheme file is not among http, https"
    assert not admits(scope(mode=mode), "ftp://www.example.co.uk/docs/")
    assert admits(scope("ftp://e.org/d/", mode=mode), "ftp://e.org/d/x")


# Patterns


def test_exclude_beats_include_beats_places() -> None:
    judge = scope(include=[r"^https://cdn\.example\.com/", r"\.pdf$"], exclude=["private", r"(?i)\.EXE$"])
    assert admits(judge, "https://cdn.example.com/x")
    assert admits(judge, "https://elsewhere.org/a.pdf")
    assert not admits(judge, "https://elsewhere.org/a.pdfx")
    assert not admits(judge, "https://cdn.example.com/private/x")
    assert not admits(judge, "https://www.example.co.uk/docs/a.exe")
    assert str(judge.judge(candidate("https://x.org/a.pdf")).why) == r"matches include '\\.pdf$'"
    assert str(judge.judge(candidate("https://x.org/private")).why) == "matches exclude 'private'"


@pytest.mark.parametrize("bad", ["(", "a{2,1}", r"(?=x)", r"\1", "[z-a]"])
def test_bad_expressions_are_named(bad: str) -> None:
    with pytest.raises(ValueError, match=r"exclude: .* is not a regular expression of RE2"):
        ScopeConfig(exclude=(bad,))
    with pytest.raises(msgspec.ValidationError, match="include: "):
        msgspec.convert({"include": [bad]}, ScopeConfig)


def test_expressions_cannot_backtrack() -> None:
    judge = scope(exclude=[r"(a+)+$", r"(a|a)*b", r"(.*a){20}c"])
    assert admits(judge, "https://www.example.co.uk/" + "a" * 4_000 + "!")


# Requisites


def requisite(text: str, hops: str = "LE", depth: int = 2) -> Candidate:
    return candidate(text, LinkKind.REQUISITE, depth, hops)


def test_requisites_off_host_and_any() -> None:
    own, foreign = "https://www.example.co.uk/static/a.css", "https://cdn.example.com/a.css"
    for mode in ("host", "prefix"):
        verdicts = {
            (option, text): scope(mode=mode, requisites=option).judge(requisite(text)).admitted
            for option in ("off", "host", "any")
            for text in (own, foreign)
        }
        assert verdicts == {
            ("off", own): False,
            ("off", foreign): False,
            ("host", own): True,
            ("host", foreign): False,
            ("any", own): True,
            ("any", foreign): True,
        }
    verdict = scope().judge(requisite(own))
    assert str(verdict.why) == "page requisites are not followed (requisites off)"


def test_redirect_of_a_requisite_is_a_requisite() -> None:
    judge = scope(requisites="any")
    assert judge.judge(candidate("https://cdn.org/x", LinkKind.REDIRECT, 2, "LERR")).admitted
    assert not judge.judge(candidate("https://cdn.org/x", LinkKind.REDIRECT, 2, "LR")).admitted
    assert not judge.judge(candidate("https://cdn.org/x", LinkKind.NAVIGATION, 2, "LEL")).admitted


def test_exclude_holds_for_requisites() -> None:
    assert not scope(requisites="any", exclude=["ads"]).judge(requisite("https://ads.org/a.js")).admitted


@pytest.mark.parametrize(
    "kind", [LinkKind.CANONICAL, LinkKind.ALTERNATE, LinkKind.SITEMAP, LinkKind.REDIRECT]
)
def test_other_kinds_are_judged_like_navigation(kind: LinkKind) -> None:
    assert scope().judge(candidate("https://www.example.co.uk/x", kind)).admitted
    assert not scope().judge(candidate("https://example.org/x", kind)).admitted


# Limits


def test_long_urls() -> None:
    start = "https://www.example.co.uk/"
    assert admits(scope(), start + "a" * (4_096 - len(start)))
    verdict = scope().judge(candidate(start + "a" * (4_097 - len(start))))
    assert (verdict.admitted, verdict.rule) == (False, Rule.TOO_LONG)
    assert str(verdict.why) == "4097 bytes long, at most 4096 allowed"


def test_hops_and_redirects_in_a_row() -> None:
    def judged(hops: str, limit: int | None = None) -> tuple[bool, Rule]:
        verdict = scope(max_hops=limit).judge(candidate("https://www.example.co.uk/", hops=hops))
        return verdict.admitted, verdict.rule

    assert judged("70+" + "L" * 50) == (True, Rule.SCOPE)
    assert judged("50+" + "L" * 50, 100) == (True, Rule.SCOPE)
    assert judged("51+" + "L" * 50, 100) == (False, Rule.HOPS)
    assert judged("L" + "R" * 20) == (True, Rule.SCOPE)
    assert judged("R" * 21) == (False, Rule.HOPS)
    assert judged("R" * 15 + "L" + "R" * 15) == (True, Rule.SCOPE)


def test_depth() -> None:
    judge = scope(max_depth=2, requisites="host")
    page = "https://www.example.co.uk/x"
    assert judge.judge(candidate(page, depth=2, hops="LL")).admitted
    verdict = judge.judge(candidate(page, depth=3, hops="LLL"))
    assert (verdict.admitted, verdict.rule, str(verdict.why)) == (
        False,
        Rule.DEPTH,
        "depth 3, at most 2 allowed",
    )
    assert judge.judge(requisite(page, "LLE", 3)).admitted
    assert judge.judge(requisite(page, "LLEE", 4)).admitted
    assert judge.judge(candidate(page, LinkKind.REDIRECT, 3, "LLER")).admitted
    assert not judge.judge(requisite(page, "LLLE", 4)).admitted
    assert scope(max_depth=0).judge(candidate(page, LinkKind.SEED, 0, "")).admitted
    assert not scope(max_depth=0).judge(candidate(page)).admitted


def test_traps_are_told_apart() -> None:
    verdict = scope().judge(candidate("https://www.example.co.uk" + "/a" * 5))
    assert (verdict.admitted, verdict.rule) == (False, Rule.TRAP)
    assert str(verdict.why) == "the same path segment more than 3 times in a row"
    lenient = Scope(ScopeConfig(), [url("https://e.org/")], traps=TrapConfig(max_repeats=0))
    assert lenient.judge(candidate("https://e.org" + "/a" * 5)).admitted


def test_robots_files_pass_whatever_the_scope_says() -> None:
    judge = scope(exclude=["robots"], max_depth=0)
    assert judge.judge(candidate("https://elsewhere.org/robots.txt", LinkKind.ROBOTS, 5, "P")).admitted
    moved = candidate("https://cdn.org/r", LinkKind.REDIRECT, 0, "PR", origin="https://elsewhere.org")
    assert judge.judge(moved).admitted
    assert not judge.judge(
        candidate("ftp://elsewhere.org/r", LinkKind.REDIRECT, 0, "PR", origin="x")
    ).admitted


# Own rules


def test_own_rules_overrule_patterns_but_not_limits() -> None:
    def welcome(found: Candidate) -> bool | None:
        return True if "welcome" in found.url.text else None

    judge = Scope(ScopeConfig(exclude=("x",)), [url("https://e.org/")], rules=[welcome])
    verdict = judge.judge(candidate("https://x.org/welcome"))
    assert verdict.admitted
    assert str(verdict.why).startswith("admitted by rule ") and str(verdict.why).endswith("welcome")
    assert not judge.judge(candidate("https://x.org/other")).admitted
    assert not judge.judge(candidate("https://x.org/welcome" + "/a" * 9)).admitted


def test_the_last_own_rule_wins() -> None:
    judge = scope()
    judge.append(lambda _: False)
    assert not admits(judge, "https://www.example.co.uk/")
    judge.append(lambda _: True)
    assert admits(judge, "https://example.org/")


def test_a_rule_that_raises_says_no() -> None:
    def broken(_: Candidate) -> bool | None:
        raise KeyError("oops")

    judge = Scope(ScopeConfig(), [url("https://e.org/")], rules=[lambda _: True, broken])
    verdict = judge.judge(candidate("https://e.org/"))
    assert (verdict.admitted, verdict.rule) == (False, Rule.PLUGIN)
    assert "broken raised KeyError: 'oops'" in str(verdict.why)
    assert judge.explain(candidate("https://e.org/"))[2].admits is False
    # A later opinion still counts for more.
    judge.append(lambda _: True)
    assert admits(judge, "https://e.org/")


def test_explain_lists_every_rule_and_the_last_opinion_is_the_verdict() -> None:
    judge = scope(exclude=["b"], max_depth=3)
    opinions = judge.explain(candidate("https://www.example.co.uk/b"))
    assert [opinion.name for opinion in opinions] == [
        "mode host",
        "exclude",
        "traps",
        "hops",
        "requisites",
        "max_depth",
        "robots files",
        "schemes",
        "max_url_length",
    ]
    assert [opinion.admits for opinion in opinions[:3]] == [True, False, None]
    assert str(opinions[1].why) == "matches exclude 'b'"


@given(st.lists(st.sampled_from([True, False, None]), max_size=5), st.sampled_from(["e.org", "x.org"]))
def test_last_opinion_wins(opinions: list[bool | None], host: str) -> None:
    rules = [lambda _, opinion=opinion: opinion for opinion in opinions]
    judge = Scope(ScopeConfig(), [url("https://e.org/")], rules=rules)
    found = candidate(f"https://{host}/")
    given_ = [opinion for opinion in (host == "e.org", *opinions) if opinion is not None]
    assert judge.judge(found).admitted is given_[-1]
    explained = [opinion for opinion in judge.explain(found) if opinion.admits is not None]
    assert explained[-1].admits is given_[-1]
    assert str(explained[-1].why) == str(judge.judge(found).why)


# Seeds that redirect


def redirect(text: str, hops: str = "R", depth: int = 0) -> Candidate:
    return candidate(text, LinkKind.REDIRECT, depth, hops)


def test_host_that_a_seed_redirects_to_joins() -> None:
    judge = scope("https://example.com/")
    target = redirect("https://www.example.com/start?x")
    assert not judge.judge(target).admitted
    place = judge.widen_for_seed_redirect(target)
    assert place == "www.example.com"
    assert not judge.judge(target).admitted  # asking changes nothing
    judge.add_host(place)
    assert judge.judge(target).admitted
    assert judge.widen_for_seed_redirect(target) is None
    assert judge.widen_for_seed_redirect(redirect("https://m.example.com/", "RR")) == "m.example.com"


@pytest.mark.parametrize(
    "other",
    [
        redirect("https://other.org/", "LR", 1),
        redirect("https://other.org/", "MR"),
        redirect("https://other.org/", "PR"),
        redirect("file:///etc/passwd"),
        candidate("https://other.org/", LinkKind.NAVIGATION, 1, "L"),
        candidate("https://other.org/", LinkKind.SEED, 0, ""),
        candidate("https://other.org/", LinkKind.REDIRECT, 0, "R", origin="https://example.com"),
    ],
)
def test_nothing_else_widens_the_scope(other: Candidate) -> None:
    assert scope("https://example.com/").widen_for_seed_redirect(other) is None


def test_in_mode_prefix_the_directory_joins_and_in_mode_domain_the_domain() -> None:
    judge = scope("https://sho.rt/abc", mode="prefix")
    place = judge.widen_for_seed_redirect(redirect("https://example.org/docs/intro.html?a=/b/"))
    assert place == "example.org/docs/"
    judge.add_host(place)
    assert admits(judge, "https://example.org/docs/x") and not admits(judge, "https://example.org/")
    judge = scope("https://example.com/", mode="domain")
    place = judge.widen_for_seed_redirect(redirect("https://www.example.net/"))
    assert place == "www.example.net"
    judge.add_host(place)
    assert admits(judge, "https://a.example.net/")


@pytest.mark.parametrize("mode", ["host", "domain", "prefix"])
def test_places_are_kept_and_restored(mode: str) -> None:
    judge = scope("https://example.com/d/", mode=mode, hosts=["extra.org"])
    place = judge.widen_for_seed_redirect(redirect("https://www.example.net/e/"))
    assert place is not None
    judge.add_host(place)
    restored = Scope(
        ScopeConfig(mode=mode, hosts=("extra.org",)), [url("https://example.com/d/")], judge.hosts
    )
    assert restored.hosts == judge.hosts
    assert admits(restored, "https://www.example.net/e/x")


def test_memory_of_hosts_is_bounded() -> None:
    judge = scope()
    for number in range(20_000):
        judge.judge(candidate(f"http://h{number}.org/"))
    assert len(judge._places._known) <= 16_384
    assert admits(judge, "http://www.example.co.uk/")


@pytest.mark.parametrize(
    "bad",
    [
        {"mode": "site"},
        {"hosts": ["http://x.org/"]},
        {"hosts": ["a b"]},
        {"hosts": [""]},
        {"max_depth": -1},
        {"requisites": "all"},
        {"schemes": []},
        {"schemes": ["gopher"]},
        {"depth": 1},
    ],
)
def test_bad_configuration_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(bad, ScopeConfig)
