"""Limits of the policies, each at its edge: what just passes, and what just does not."""

import msgspec
import pytest
from every import every

from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Blame, Retry
from gossamer.model.exchange import Headers
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.branches.met import Met
from gossamer.policy.branches.novelty import Novelty, Said, likeness, pieces, shown
from gossamer.policy.ordering.focus_config import FocusConfig
from gossamer.policy.ordering.opic import OpicConfig
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.robots.access import AllowAll, Hold, RobotsConfig, UseBody, access_for
from gossamer.policy.robots.file import LONGEST_SITEMAP, MOST_SITEMAPS, parse_robots
from gossamer.policy.robots.match import TOO_COSTLY, RuleIndex
from gossamer.policy.scope.ascending import MOST_FOLDERS, ascending, folders_above
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.scope.url_traps import TrapConfig, trap_reason
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.speculation.forms_config import FormsConfig
from gossamer.policy.urls.canonical import CanonicalConfig
from gossamer.policy.urls.parameters import (
    DropTest,
    ParameterConfig,
    Relevance,
    Seen,
    conclude,
    learn_sample,
    parameters,
    wants_sample,
    without,
)
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.policy.visits.freshness import fresh_until
from gossamer.policy.visits.politeness import PolitenessConfig, rest_after, retry_after
from gossamer.policy.visits.retry import HostFailures, RetryConfig, decide

# Defaults that the documentation states: a change of one is a change of behaviour.


DEFAULTS = {
    BudgetConfig: {
        "max_pages": 0, "max_bytes": 0, "max_time": 0.0, "pages_per_host": 0, "bytes_per_host": 0,
        "pages_per_domain": 0, "bytes_per_domain": 0, "star": False, "star_seed": 1_000, "star_slope": 10.0,
    },
    CanonicalConfig: {"also": (), "drop_parameters": (), "without": ()},
    FocusConfig: {
        "query": "", "threshold": 0.5, "passed_on": 0.5, "title_weight": 3.0, "description_weight": 2.0,
        "anchor_weight": 2.0, "page_weight": 1.0, "url_weight": 1.0,
    },
    OpicConfig: {"credit": 10**12, "tax": 10, "window": 1.0},
    ParameterConfig: {"test": False, "apply": False, "samples": 5, "alike": 0.95},
    PolitenessConfig: {
        "min_delay": 1.0, "factor": 5.0, "max_delay": 30.0, "visits_per_host": 1, "address_delay": 0.0,
        "visits_per_address": 0, "server": "", "server_by": (), "max_retry_after": 86_400.0, "shared": "",
    },
    RetryConfig: {
        "url_waits": (30.0, 300.0, 1_800.0), "host_first": 60.0, "not_found_first": 3_600.0,
        "host_longest": 86_400.0, "host_attempts": 5, "park_after": 86_400.0,
    },
    RevisitConfig: {"enabled": False, "share": 0.5, "visits": 0.0, "every": {}, "weight": {}},
    RobotsConfig: {
        "obey": True, "max_age": 86_400.0, "max_size": 512_000, "max_redirects": 5, "max_crawl_delay": 300.0,
        "hold_first": 60.0, "hold_longest": 86_400.0, "honour_nofollow": True, "honour_meta": True,
    },
    ScopeConfig: {
        "mode": "host", "hosts": (), "include": (), "exclude": (), "block": (), "demands": "scope",
        "max_depth": None, "max_hops": None, "max_redirects": 20, "max_url_length": 4_096, "requisites": "off",
        "path_ascending": False, "schemes": ("http", "https"),
    },
    FormsConfig: {"words": (), "fields": (), "min_yield": 0.2},
    SpeculationConfig: {"follow": False, "first_missing": 3, "max_missing": 0.05, "min_belief": 0.3},
    TrapConfig: {
        "max_segments": 30, "max_embedded": 2, "max_repeats": 3, "max_parameters": 30, "max_same_parameter": 8,
        "max_escapes": 2,
    },
}  # fmt: skip


@every("config", DEFAULTS)
def test_defaults(config):
    assert msgspec.to_builtins(config()) == DEFAULTS[config]


# Politeness and retries …


@pytest.mark.parametrize(
    ("config", "elapsed", "delay", "rest"),
    [
        ({}, 0.2, None, 1.0),
        ({}, 0.21, None, 1.05),
        ({}, 6.0, None, 30.0),
        ({}, 6.1, None, 30.0),
        ({}, -9.0, None, 1.0),
        ({}, 0.0, 0.5, 1.0),
        ({}, 0.0, 45.0, 45.0),
        ({"min_delay": 0.0}, 9.0, None, 0.0),
        ({"min_delay": 0.0}, 9.0, 2.0, 2.0),
        ({"min_delay": 0.1}, 9.0, None, 30.0),
        ({"min_delay": 40.0}, 9.0, None, 40.0),
    ],
)
def test_rests(config, elapsed, delay, rest):
    assert rest_after(PolitenessConfig(**config), elapsed, delay) == pytest.approx(rest)


@pytest.mark.parametrize(
    ("fields", "wait"),
    [
        ({"Retry-After": "86401"}, 86_400.0),
        ({"Retry-After": " 2.5 "}, 2.5),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
        ({"Retry-After": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"Retry-After": "Thu, 01 Jan 1970 00:01:40 GMT", "Date": "Thu, 01 Jan 1970 00:00:30 GMT"}, 70.0),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:05 GMT"}, 0.0),
    ],
)
def test_what_a_response_asks_for(fields, wait):
    assert retry_after(Headers(list(fields.items())), 10.0) == wait


@pytest.mark.parametrize(
    ("fault", "row", "wait"),
    [
        (Fault.CONNECT, 0, 60.0),
        (Fault.CONNECT, 1, 120.0),
        (Fault.CONNECT, 3, 480.0),
        (Fault.CONNECT, 10, 61_440.0),
        (Fault.CONNECT, 11, 86_400.0),
        (Fault.CONNECT, 500, 86_400.0),
        (Fault.NAME_NOT_FOUND, 0, 3_600.0),
        (Fault.NAME_NOT_FOUND, 4, 57_600.0),
        (Fault.NAME_NOT_FOUND, 5, 86_400.0),
    ],
)
def test_rests_of_hosts_double(fault, row, wait):
    assert decide(Failed(fault), 0, HostFailures(row, 1_000.0), 1_001.0, RetryConfig()) == Retry(
        wait, Blame.HOST, Reason(fault)
    )


def test_rows_of_failures():
    assert HostFailures().another(7.0) == HostFailures(1, 7.0)
    assert HostFailures(1, 7.0).another(9.0) == HostFailures(2, 7.0)


@pytest.mark.parametrize(
    ("fields", "until"),
    [
        ({}, 0.0),
        ({"Cache-Control": "max-age=60"}, 1_060.0),
        ({"Expires": "Thu, 01 Jan 1970 00:20:00 GMT"}, 1_200.0),
        ({"Expires": "Thu, 01 Jan 1970 00:20:00 GMT", "Date": "Thu, 01 Jan 1970 00:10:00 GMT"}, 1_600.0),
    ],
)
def test_freshness(fields, until):
    assert fresh_until(Headers(list(fields.items())), 1_000.0) == pytest.approx(until)


# Robots files …


@pytest.mark.parametrize(
    ("status", "means"),
    [
        (199, Hold), (200, UseBody), (299, UseBody), (300, AllowAll), (399, AllowAll), (400, AllowAll),
        (428, AllowAll), (429, Hold), (430, AllowAll), (499, AllowAll), (500, Hold), (600, Hold),
    ],
)  # fmt: skip
def test_statuses_of_robots_files(status, means):
    assert type(access_for(status, None, 0, RobotsConfig())) is means


@pytest.mark.parametrize(
    ("failures", "asked", "wait"),
    [(0, None, 60.0), (0, 0.5, 60.0), (0, 90.0, 90.0), (2, None, 240.0), (99, None, 86_400.0)],
)
def test_holds(failures, asked, wait):
    assert access_for(500, None, failures, RobotsConfig(), asked).wait == wait


def test_a_first_hold_may_be_short():
    config = RobotsConfig(hold_first=0.25, hold_longest=10.0)
    assert access_for(500, None, 0, config, None).wait == 0.25


def test_bad_robots_settings():
    assert RobotsConfig(hold_first=5.0, hold_longest=5.0, max_size=512_000)
    for bad in ({"hold_first": 6.0, "hold_longest": 5.0}, {"max_size": 511_999}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            RobotsConfig(**bad)


@pytest.mark.parametrize(
    ("body", "size", "rules"),
    [
        (b"User-agent: *\nDisallow: /a\nDisallow: /b", 39, 1),  # as long as is read: its last line may be cut
        (b"User-agent: *\nDisallow: /a\nDisallow: /b", 40, 2),
        (b"User-agent: *\rDisallow: /a\rDisallow: /b", 39, 1),
        (b"User-agent: *\nDisallow: /a\nDisallow: /b\n", 40, 2),
        (b"User-agent: *", 5, 0),
    ],
)
def test_as_much_as_is_read(body, size, rules):
    assert len(parse_robots(body, "x", size).rules) == rules


@pytest.mark.parametrize(
    ("text", "rules", "delay"),
    [
        ("User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b", ["/b"], None),
        ("User-agent: x\nDisallow: /b\nUser-agent: *\nDisallow: /a", ["/b"], None),
        ("User-agent: y\nDisallow: /b\nUser-agent: *\nDisallow: /a", ["/a"], None),
        ("User-agent: *\nUser-agent: x\nDisallow: /a", ["/a"], None),
        (
            "User-agent: x\nDisallow: /a\nUser-agent: y\nDisallow: /b\nUser-agent: x\nDisallow: /c",
            ["/a", "/c"],
            None,
        ),
        ("Disallow: /a\nUser-agent: x\nDisallow: /b", ["/b"], None),
        ("User-agent: *x\nDisallow: /a", [], None),
        ("User-agent: * x\nDisallow: /a", ["/a"], None),
        ("User-agent: X/1.0\nDisallow: /a", ["/a"], None),
        ("User-agent: xy\nDisallow: /a", [], None),
        ("User-agent: x\nDisallow: a\nDisallow:\nDisallow: *b", ["*b"], None),
        ("User-agent: x\nCrawl-delay: 3\nUser-agent: y\nDisallow: /a", ["/a"], 3.0),
        ("User-agent: x\nUser-agent: y\nCrawl-delay: 3", [], 3.0),
        ("User-agent: x\nCrawl-delay: 3\nUser-agent: y\nCrawl-delay: 9", [], 3.0),
        ("User-agent: x\nCrawl-delay: 3\nCrawl-delay: 2", [], 3.0),
        ("User-agent: *\nCrawl-delay: 9\n\nUser-agent: x\nDisallow: /", ["/"], None),
        ("User-agent: x\nCrawl-delay: soon", [], None),
        ("User-agent: x\nCrawl-delay: 1.5 s", [], 1.5),
        ("User-agent: x\nSitemap: /s\nUser-agent: y\nDisallow: /a", ["/a"], None),
    ],
)
def test_groups(text, rules, delay):
    found = parse_robots(text.encode(), "x")
    assert [pattern for _, pattern in found.rules] == rules
    assert found.crawl_delay == delay


def test_sitemaps_are_bounded():
    lines = "".join(f"Sitemap: /{number}\n" for number in range(MOST_SITEMAPS + 5))
    found = parse_robots(lines.encode(), "x").sitemaps
    assert len(found) == MOST_SITEMAPS == 1_000 and found[-1] == "/999"
    for length, kept in ((LONGEST_SITEMAP, 1), (LONGEST_SITEMAP + 1, 0)):
        assert len(parse_robots(f"Sitemap: {'x' * length}".encode(), "x").sitemaps) == kept
    assert LONGEST_SITEMAP == 4_096
    assert parse_robots("Sitemap: /ä b\nSitemap:".encode(), "x").sitemaps == ("/%C3%A4%20b",)


@pytest.mark.parametrize(
    ("rules", "target", "allowed"),
    [
        ([(False, "/a"), (True, "/a")], "/a", True),
        ([(False, "/a"), (True, "/ab")], "/abc", True),
        ([(False, "/abc"), (True, "/ab")], "/abc", False),
        ([(False, "/a$")], "/a", False),
        ([(False, "/a$")], "/ab", True),
        ([(False, "/a*$")], "/ab", False),
        ([(False, "/*b$")], "/ab", False),
        ([(False, "/*b$")], "/abc", True),
        ([(False, "/a*b*c")], "/axbxc", False),
        ([(False, "/a*b*c")], "/axcxb", True),
        ([(False, "/ab*b")], "/ab", True),
        ([(False, "/ab*b")], "/abb", False),
        ([(False, "/ab*b$")], "/ab", True),
        ([(False, "/ab*b$")], "/abb", False),
        ([(False, "*x")], "/x", False),
        ([(False, "*xyz"), (True, "/aaaaaaa")], "/aaaaaaaxyz", True),
        ([(True, "*x"), (False, "/")], "/x", True),
        ([(False, "/a*long-piece")], "/a/long-piece", False),
        ([(False, "/a*long-piece")], "/a/long-pie", True),
        ([(True, "/1*"), (False, "/2*x"), (False, "/")], "/1", True),
        ([(False, "/a$b")], "/a%24b", False),
        ([(False, "/abc"), (False, "/abcdefgh")], "/abc", False),
        ([], "/", True),
    ],
)
def test_which_rule_decides(rules, target, allowed):
    assert RuleIndex(rules).decide(target)[0] is allowed
    # Many others that do not match change nothing, whichever way the suspects are found.
    others = [(not allowed, f"/zz{number}*never{number}") for number in range(60)]
    assert RuleIndex([*rules, *others]).decide(target)[0] is allowed


def test_what_would_take_too_long_is_refused():
    rules = [(True, f"/*{'a' * 400}{number}*x") for number in range(200)]
    target = "/" + "".join(f"{'a' * 400}{number}" for number in range(200))
    assert RuleIndex(rules[:1]).decide(target)[0] is True
    assert RuleIndex(rules).decide(target) == (False, TOO_COSTLY)


# Scope …


def judged(text, kind=LinkKind.NAVIGATION, depth=1, hops="L", **config):
    scope = Scope(ScopeConfig(**{"mode": "any", **config}), [Url.parse("http://a.example/")])
    return scope.judge(Candidate(Url.parse(text), kind, depth, hops)).admitted


@pytest.mark.parametrize(
    ("block", "host", "admitted"),
    [
        ("b.example", "b.example", False),
        ("b.example", "b.example.", False),
        ("b.example", "c.b.example", True),
        ("*.b.example", "b.example", True),
        ("*.b.example", "c.b.example", False),
        ("*.b.example", "d.c.b.example", False),
        ("*.b.example", "cb.example", True),
    ],
)
def test_blocked_hosts(block, host, admitted):
    assert judged(f"http://{host}/x", block=(block,)) is admitted
    assert judged(f"http://{host}/robots.txt", LinkKind.ROBOTS, block=(block,)) is admitted


@pytest.mark.parametrize(
    ("depth", "kind", "hops", "admitted"),
    [
        (2, LinkKind.NAVIGATION, "LL", True),
        (3, LinkKind.NAVIGATION, "LLL", False),
        (3, LinkKind.REQUISITE, "LLE", True),
        (4, LinkKind.REQUISITE, "LLEE", True),
        (4, LinkKind.REQUISITE, "LLLE", False),
        (3, LinkKind.REDIRECT, "LLER", True),
        (3, LinkKind.REDIRECT, "LLLR", False),
        (9, LinkKind.ROBOTS, "LLLLLLLLLP", True),
    ],
)
def test_depth(depth, kind, hops, admitted):
    assert judged("http://a.example/x", kind, depth, hops, max_depth=2, requisites="any") is admitted


@pytest.mark.parametrize(
    ("hops", "config", "admitted"),
    [
        ("L" * 9, {}, True),
        ("R" * 20, {}, True),
        ("R" * 21, {}, False),
        ("L" + "R" * 21, {}, False),
        ("R" * 21 + "L", {}, True),
        ("LLL", {"max_hops": 3}, True),
        ("LLLL", {"max_hops": 3}, False),
        ("7+" + "L" * 50, {"max_hops": 57}, True),
        ("8+" + "L" * 50, {"max_hops": 57}, False),
        ("R", {"max_redirects": 0}, False),
        ("3+" + "R" * 50, {"max_redirects": 60}, False),
    ],
)
def test_hops(hops, config, admitted):
    assert judged("http://a.example/x", hops=hops, **config) is admitted


@pytest.mark.parametrize(("length", "admitted"), [(100, True), (101, False)])
def test_length(length, admitted):
    url = "http://a.example/"
    assert judged(url + "x" * (length - len(url)), max_url_length=100) is admitted


TRAPS = TrapConfig(
    max_segments=6, max_embedded=2, max_repeats=2, max_parameters=5, max_same_parameter=3, max_escapes=2
)


@pytest.mark.parametrize(
    ("target", "trapped"),
    [
        ("/1/2/3/4/5/6", False),
        ("/1/2/3/4/5/6/7", True),
        ("/http://b/https://", False),
        ("/http:/ftp:/https:/", True),
        ("/a/a", False),
        ("/a/a/b/a", False),
        ("/a/a/a", True),
        ("/x/a/a/a", True),
        ("/a/b/a/b", False),
        ("/a/b/a/b/a/b", True),
        ("/?1&2&3&4&5", False),
        ("/?1&2&3&4&5&6", True),
        ("/?a=1&a=2&a=3&b=1", False),
        ("/?a=1&a=2&a=3&a=4", True),
        ("/?b=1&a=1&a=2&a=3&a=4", True),
        ("/%252F", False),
        ("/%25252F", True),
        ("/%252F%25252F", True),
        ("/%2525", False),
        ("/?a&amp;amp;b", False),
        ("/?a&amp;amp;amp;b", True),
        ("/amp;amp;amp;?a&b", False),
    ],
)
def test_traps(target, trapped):
    url = Url.parse(f"http://a.example{target}")
    assert url.target == target
    assert (trap_reason(url, TRAPS) is not None) is trapped
    off = TrapConfig(
        max_segments=0, max_embedded=0, max_repeats=0, max_parameters=0, max_same_parameter=0, max_escapes=0
    )
    assert trap_reason(url, off) is None


@pytest.mark.parametrize("period", [1, 2, 3, 4, 5])
def test_repeated_blocks_of_segments(period):
    config = TrapConfig(max_segments=0, max_repeats=3)
    block = [f"s{number}" for number in range(period)]
    for times, trapped in ((3, False), (4, period < 5)):
        url = Url.parse("http://a.example/x/" + "/".join(block * times))
        assert (trap_reason(url, config) is not None) is trapped


@pytest.mark.parametrize(
    ("target", "above"),
    [
        ("/a/b/c", ["/a/b/", "/a/", "/"]),
        ("/a/b/", ["/a/", "/"]),
        ("/a/?q", ["/a/", "/"]),
        ("/a", ["/"]),
        ("/?q", ["/"]),
        ("/", []),
    ],
)
def test_folders_above(target, above):
    assert [url.target for url in folders_above(Url.parse(f"http://a.example:81{target}"))] == above
    assert {url.port for url in folders_above(Url.parse(f"http://a.example:81{target}"))} <= {81}


def test_as_many_folders_as_real_paths_have():
    deep = Url.parse("http://a.example/" + "d/" * 60 + "page")
    found = [url.target for url in folders_above(deep)]
    assert len(found) == MOST_FOLDERS == 30
    assert found[0] == "/" + "d/" * 60 and found[-2:] == ["/" + "d/" * 32, "/"]


@pytest.mark.parametrize("kind", list(LinkKind))
def test_nothing_is_above_what_is_no_page(kind):
    candidate = Candidate(Url.parse("http://a.example/a/b"), kind, 2, "LL")
    found = list(ascending(candidate))
    assert bool(found) is (kind not in (LinkKind.ROBOTS, LinkKind.FOLDER, LinkKind.REQUISITE))
    assert all(
        (one.depth, one.hops, one.via, one.kind) == (3, "LLI", "http://a.example/a/b", LinkKind.FOLDER)
        for one in found
    )


# What pages say …


def test_what_was_met_is_kept_by_generations():
    met = Met(first=4, growths=1, most=2, error=1e-9)
    assert met.new([1, 2]) == [1, 2]
    assert met.new([2, 3]) == [3]
    assert met.new([4, 5, 6]) == [4, 5, 6]
    generations = [met.generation]
    for start in range(10, 100, 10):
        assert met.new(range(start, start + 8)) == list(range(start, start + 8))
        assert met.new(range(start, start + 8)) == []
        generations.append(met.generation)
    assert generations[0] == 0 and generations == sorted(generations) and generations[-1] > 3
    assert met.new([1]) == [1], "of the oldest nothing is left"


@pytest.mark.parametrize(("unsaved", "stored"), [(1, False), (2, False), (3, True), (9, True)])
def test_filters_are_stored_when_it_is_worth_it(unsaved, stored):
    met = Met(first=16, growths=0, most=2, error=1e-6)
    met.new([1])
    assert met.to_store() is not None
    assert met.to_store() is None and not met.worth_storing
    met.new(range(100, 100 + unsaved))
    assert met.worth_storing is stored
    slot, kept = met.to_store()
    assert (slot, met.to_store(), met.worth_storing) == (0, None, False), "nothing has come since"
    again = Met(first=16, growths=0, most=2, error=1e-6, stored=[kept])
    assert again.new([1, 100, 200]) == [200] and not again.worth_storing


@pytest.mark.parametrize(("new", "value"), [(0, 0.0), (1, 1 / 3), (2, 0.5), (6, 0.75)])
def test_the_worth_of_new_pieces(new, value):
    novelty = Novelty()
    novelty.value(Said((1, 2, 3)))
    assert novelty.value(Said((1, 2, 3, *range(10, 10 + new)))) == pytest.approx(value)


@pytest.mark.parametrize(("pictures", "value"), [(1, 0.5), (3, 0.75)])
def test_pictures_count_twice(pictures, value):
    assert Novelty().value(Said((), tuple(range(pictures)))) == pytest.approx(value)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [((), (), 0.0), ((1,), (), 0.0), ((1,), (1,), 1.0), ((1, 2), (2, 3), 1 / 3), ((1, 2, 3), (3,), 1 / 3)],
)
def test_likeness(one, other, alike):
    assert likeness(one, other) == pytest.approx(alike)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b"<p>One two</p><p>three four</p>", b"<p>three four</p><p>One two</p>", True),
        (b"<p>One two</p><script>x<y</script>", b"<p>One two</p>", True),
        (b"<p>One two</p><style>a</style><p>three four five", b"<p>One two</p><p>three four five", True),
        (b"<p>One two</p><SCRIPT>never ended, one two", b"<p>One two</p>", True),
        (b"<scripture>One two</scripture>", b"", False),
        (b"<p>Words <b>in</b> bold</p>", b"<p>Words in bold</p>", True),
        (b"<td>1</td><td>2</td><td>3</td>", b"", False),
        (b"<p>12</p>", b"", True),
    ],
)
def test_what_of_a_page_counts(one, other, same):
    assert (set(pieces(one, "/", ())) == set(pieces(other, "/", ()))) is same


def test_names_of_pictures():
    assert len(shown(["a.png", "a.png", "", "b.png"])) == 2


# Parameters …


@pytest.mark.parametrize(
    ("alike", "different", "lost", "values", "says"),
    [
        (5, 0, 0, (1, 2), Relevance.IRRELEVANT),
        (4, 0, 0, (1, 2), Relevance.UNKNOWN),
        (5, 0, 0, (1,), Relevance.UNKNOWN),
        (5, 0, 1, (1, 2), Relevance.UNKNOWN),
        (9, 1, 0, (1, 2), Relevance.RELEVANT),
        (0, 0, 2, (1,), Relevance.REQUIRED),
        (0, 0, 1, (1,), Relevance.UNKNOWN),
        (0, 2, 2, (1,), Relevance.RELEVANT),
        (0, 2, 3, (1,), Relevance.REQUIRED),
    ],
)
def test_conclusions(alike, different, lost, values, says):
    assert conclude(DropTest("x", alike, different, lost, values), ParameterConfig()) is says


@pytest.mark.parametrize(
    ("test", "mark", "wanted"),
    [
        (DropTest("x"), 1, True),
        (DropTest("x", 3, values=(1,)), 1, True),
        (DropTest("x", 4, values=(1,)), 1, False),
        (DropTest("x", 3, lost=1, values=(1,)), 1, False),
        (DropTest("x", 9, values=(1,)), 2, True),
        (DropTest("x", 5, values=(1, 2)), 3, False),
    ],
)
def test_samples_that_are_wanted(test, mark, wanted):
    assert wants_sample(test, mark, ParameterConfig()) is wanted


@pytest.mark.parametrize(
    ("whole", "dropped", "counts"),
    [
        (Seen(200, 1), Seen(200, 1), (1, 0, 0)),
        (Seen(200, 1), Seen(200, 2), (0, 1, 0)),
        (Seen(200), Seen(200), (0, 1, 0)),
        (Seen(200, 1, (1,) * 1), Seen(200, 2, (1,)), (1, 0, 0)),
        (Seen(200, 1), Seen(404), (0, 0, 1)),
        (Seen(200, 1), Seen(499), (0, 0, 1)),
        (Seen(200, 1), Seen(500), None),
        (Seen(200, 1), Seen(429), None),
        (Seen(200, 1), Seen(0), None),
        (Seen(404, 1), Seen(200, 1), None),
    ],
)
def test_samples(whole, dropped, counts):
    test = DropTest("x", values=(1, 2, 3, 4, 5))
    found = learn_sample(test, "u", 9, (whole, dropped), ParameterConfig())
    if counts is None:
        assert found is test
    else:
        assert (found.alike, found.different, found.lost) == counts
        assert (found.values, found.example, found.name) == ((2, 3, 4, 5, 9), "u", "x")
        assert learn_sample(test, "u", 3, (whole, dropped), ParameterConfig()).values == test.values


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/p?a=1&b=2&a=3", [("a", "1"), ("b", "2")]),
        ("/p;s=1/q;t=2?a", [(";s", "1"), (";t", "2"), ("a", "")]),
        ("/p;x/q", []),
        ("/p;x", []),
        ("/p;x/q=1", []),
        ("/p?=1&&a=", [("a", "")]),
        ("/p?" + "&".join(f"{number}=" for number in range(15)), [(str(number), "") for number in range(12)]),
        ("/p" + "".join(f";{number}=" for number in range(15)), [(f";{number}", "") for number in range(12)]),
    ],
)
def test_parameters_of_an_address(target, found):
    assert parameters(Url.parse(f"http://a.example{target}")) == found


@pytest.mark.parametrize(
    ("target", "name", "rest"),
    [
        ("/p?a=1&b=2", "a", "/p?b=2"),
        ("/p?a=1", "a", "/p"),
        ("/p?a=1&a=2&b", "a", "/p?b"),
        ("/p?ab=1", "a", None),
        ("/p;s=1/q;s=2;t=3?a", ";s", "/p/q;t=3?a"),
        ("/p;s=1", ";t", None),
    ],
)
def test_addresses_without_one(target, name, rest):
    found = without(Url.parse(f"http://a.example{target}"), name)
    assert (found and found.target) == rest
