"""What a robots file means for its origin, and what each lease is told (RFC 9309)."""

import pytest
from engine_world import SITE, exchange, fetched, page, parsed, rules, visit

from gossamer.engine.admission.robots_files import LONGEST_VALIDATOR, PENDING_SECONDS
from gossamer.model.disposition import Done
from gossamer.model.exchange import Truncation
from gossamer.model.lease import Validators
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.policy.robots.access import RobotsConfig

DAY = 86_400.0
OTHER = "http://other.example"


def learn(world, outcome, text="", **told):
    """Settle a robots file with this outcome."""
    lease = world.robots_lease(**told)
    with world.frontier.changes():
        return world.context.settle(visit(lease, outcome, robots=None if text is None else rules(text)))


def entry(world, origin=SITE):
    host, _ = world.frontier.host_key(parsed(f"{origin}/"))
    return world.frontier.robots.latest(host, origin)


def lease_of(world, url):
    return world.lease(url)


@pytest.mark.parametrize(
    ("outcome", "state", "lasts"),
    [
        (fetched(), "rules", DAY),
        (fetched(status=206), "rules", DAY),
        (fetched(truncated=Truncation.LENGTH), "rules", DAY),
        (fetched(truncated=Truncation.TIME), "hold", 60.0),
        (fetched(truncated=Truncation.DISCONNECT), "hold", 60.0),
        (fetched(status=304), "open", DAY),
        (fetched(status=300), "open", DAY),
        (fetched(status=404), "open", DAY),
        (fetched(status=401), "open", DAY),
        (fetched(status=429), "hold", 60.0),
        (fetched(status=429, retry_after="90"), "hold", 90.0),
        (fetched(status=503, retry_after="5"), "hold", 60.0),
        (fetched(status=500), "hold", 60.0),
        (Failed(Fault.TIMEOUT), "hold", 60.0),
        (Failed(Fault.CONNECT), "hold", 60.0),
        (Failed(Fault.UNSUPPORTED), "open", DAY),
        (Failed(Fault.ADDRESS_FORBIDDEN, "private"), "closed", DAY),
        (Refused(Rule.SCOPE), "open", DAY),
    ],
)
def test_what_an_answer_means(world, outcome, state, lasts):
    learn(world, outcome)
    found = entry(world)
    assert found.record.state == state
    assert found.record.until == world.micros + int(lasts * 1e6)
    assert (found.rules is not None) is (state == "rules")


def test_a_file_that_cannot_be_made_out_holds_its_origin(world):
    learn(world, fetched(), None)
    assert (entry(world).record.state, entry(world).record.failures) == ("hold", 1)
    learn(world, fetched(status=404), None)
    assert entry(world).record.state == "open"


def test_a_file_that_was_not_asked_for_as_no_proxy_was_left_is_asked_for_soon(world):
    for _ in range(5):
        learn(world, Failed(Fault.PROXY_DOWN, wait=7.0))
    record = entry(world).record
    assert (record.state, record.failures, record.until / 1e6 - world.now) == ("hold", 0, 7.0)
    learn(world, Failed(Fault.TIMEOUT))
    assert entry(world).record.until / 1e6 - world.now == 60.0


def test_holds_double_and_end_with_an_answer(world_of):
    world = world_of(robots=RobotsConfig(hold_first=10.0, hold_longest=35.0))
    waits = []
    for _ in range(4):
        learn(world, fetched(status=500))
        waits.append((entry(world).record.until - world.micros) / 1e6)
    assert waits == [10.0, 20.0, 35.0, 35.0]
    assert entry(world).record.failures == 4
    learn(world, fetched(status=404))
    assert entry(world).record.failures == 0


def test_unchanged_renews_the_rules(world_of):
    world = world_of(robots=RobotsConfig(max_age=100.0))
    learn(world, fetched(etag='"1"'), "User-agent: *\nDisallow: /x")
    world.pass_time(500)
    learn(world, fetched(status=500))
    # A hold forgets the rules.
    assert entry(world).rules is None
    learn(world, fetched(etag='"1"'), "User-agent: *\nDisallow: /x")
    world.pass_time(500)
    learn(world, fetched(status=304))
    found = entry(world)
    assert (found.record.state, found.record.etag, found.record.failures) == ("rules", '"1"', 0)
    assert found.record.until == world.micros + 100_000_000
    assert not found.rules.allows("/x")[0]


def test_what_is_forbidden_is_refused_and_the_rest_is_not(world):
    learn(world, fetched(), "User-agent: *\nDisallow: /private\nAllow: /private/open")
    verdicts = {
        target: world.context.refusal(lease_of(world, f"{SITE}{target}"))
        for target in ("/", "/private", "/private/x?y", "/private/open")
    }
    assert [target for target, refused in verdicts.items() if refused is not None] == [
        "/private",
        "/private/x?y",
    ]
    assert all(refused.rule is Rule.ROBOTS for refused in verdicts.values() if refused)


def test_rules_hold_after_they_have_expired_until_there_are_others(world):
    learn(world, fetched(), "User-agent: *\nDisallow: /x")
    world.pass_time(10 * DAY)
    assert world.context.refusal(lease_of(world, f"{SITE}/x")) is not None


@pytest.mark.parametrize(
    ("outcome", "refused"),
    [(fetched(status=404), None), (Failed(Fault.ADDRESS_FORBIDDEN, "private"), Fault.ADDRESS_FORBIDDEN)],
)
def test_an_origin_without_rules(world, outcome, refused):
    learn(world, outcome)
    found = world.context.refusal(lease_of(world, f"{SITE}/x"))
    assert (found and found.fault) == refused


def test_rules_of_one_origin_do_not_bind_another(world):
    learn(world, fetched(), "User-agent: *\nDisallow: /")
    assert world.context.refusal(lease_of(world, "http://site.example:8080/x")) is None
    assert world.context.refusal(lease_of(world, f"{OTHER}/x")) is None


def test_a_robots_file_is_asked_for_whatever_it_says(world):
    learn(world, fetched(), "User-agent: *\nDisallow: /")
    assert world.context.refusal(world.robots_lease()) is None


def test_whoever_does_not_obey_is_refused_nothing(world_of):
    world = world_of(robots=RobotsConfig(obey=False))
    learn(world, fetched(), "User-agent: *\nDisallow: /")
    assert world.context.refusal(lease_of(world, f"{SITE}/x")) is None


# Asking again …


def test_the_same_file_is_asked_for_conditionally(world):
    learn(world, fetched(etag='"a"', last_modified="Tue"), "User-agent: *", url=f"{SITE}/robots.txt")
    lease = world.robots_lease()
    assert world.context.with_validators(lease).validators == Validators('"a"', "Tue")


@pytest.mark.parametrize(
    "lease",
    [
        {"url": f"{SITE}/other.txt"},  # not where the rules came from
        {"origin": OTHER},  # of which nothing is known
        {"origin": ""},
        {"origin": "nonsense"},
    ],
)
def test_others_are_asked_for_without_conditions(world, lease):
    learn(world, fetched(etag='"a"'), "User-agent: *")
    asked = world.robots_lease(**lease)
    assert world.context.with_validators(asked) is asked


def test_an_origin_without_rules_is_asked_without_conditions(world):
    learn(world, fetched(status=404, etag='"a"'))
    assert world.context.with_validators(world.robots_lease()).validators is None


def test_a_condition_that_is_refused_leaves_the_rules_and_the_file_is_asked_for_without(world):
    learn(world, fetched(etag='"a"'), "User-agent: *\nDisallow: /x", url=f"{SITE}/robots.txt")
    for status, state in ((412, "rules"), (412, "open")):  # without a condition it means what it says
        lease = world.context.with_validators(world.robots_lease())
        assert lease.is_conditional == (state == "rules")
        with world.frontier.changes():
            world.context.settle(visit(lease, fetched(status=status)))
        assert entry(world).record.state == state
        assert (entry(world).record.until <= world.micros) == (state == "rules")


def test_validators_are_cut(world):
    learn(world, fetched(etag="e" * 5_000, last_modified="m" * 5_000), "User-agent: *")
    record = entry(world).record
    assert (len(record.etag), len(record.last_modified)) == (LONGEST_VALIDATOR, LONGEST_VALIDATOR)
    assert record.source == f"{SITE}/robots.txt"


# Redirects …


def redirected(world, to, hops="P", **lease):
    return learn(world, fetched(status=302, location=to), hops=hops, **lease)


@pytest.mark.parametrize(
    ("hops", "followed"), [("P", True), ("PRRRR", True), ("PRRRRR", False), ("LLLLLLP", True)]
)
def test_so_many_redirects_are_followed(world_of, hops, followed):
    world = world_of(guess_sitemap=False)
    redirected(world, "/elsewhere.txt", hops=hops)
    found = entry(world).record
    if followed:
        assert found.state == "pending"
        assert found.until == world.micros + int(PENDING_SECONDS * 1e6)
        lease = world.frontier.lend()
        assert (lease.candidate.url.text, lease.candidate.kind) == (f"{SITE}/elsewhere.txt", LinkKind.ROBOTS)
        assert (lease.candidate.origin, lease.candidate.hops) == (SITE, hops + "R")
    else:
        assert (found.state, found.until) == ("open", world.micros + int(DAY * 1e6))
        assert world.frontier.lend() is None


def test_more_redirects_where_that_is_set(world_of):
    world = world_of(robots=RobotsConfig(max_redirects=7))
    redirected(world, "/elsewhere.txt", hops="PRRRRRR")
    assert entry(world).record.state == "pending"
    redirected(world, "/elsewhere.txt", hops="PRRRRRRR")
    assert entry(world).record.state == "open"


@pytest.mark.parametrize("location", ["http://", "http://[::1"])
def test_a_redirect_that_leads_nowhere_is_no_file(world, location):
    redirected(world, location)
    assert entry(world).record.state == "open"


def test_where_a_file_ends_its_rules_hold_for_both(world):
    """Found at the other's own address, it is the other's robots file too."""
    learn(world, fetched(), "User-agent: *\nDisallow: /x", url=f"{OTHER}/robots.txt", origin=SITE)
    assert entry(world).record.state == entry(world, OTHER).record.state == "rules"
    assert not entry(world).rules.allows("/x")[0]
    learn(world, fetched(status=404), url="http://third.example/policy.txt", origin=SITE)
    assert entry(world).record.state == "open"
    assert entry(world, "http://third.example") is None


@pytest.mark.parametrize(
    ("known", "state"),
    [(fetched(), "rules"), (fetched(status=404), "open"), (fetched(status=500), "pending")],
)
def test_what_is_known_of_where_it_leads_is_not_asked_for_again(world, known, state):
    learn(world, known, "User-agent: *", url=f"{OTHER}/robots.txt", origin=OTHER)
    before = world.frontier.lent
    redirected(world, f"{OTHER}/robots.txt")
    assert entry(world).record.state == state
    lease = world.frontier.lend()
    assert (lease is not None) is (state == "pending")
    assert world.frontier.lent == before + 1 + (state == "pending")


def test_what_is_known_and_expired_is_asked_for(world):
    learn(world, fetched(), "User-agent: *", url=f"{OTHER}/robots.txt", origin=OTHER)
    world.pass_time(2 * DAY)
    redirected(world, f"{OTHER}/robots.txt")
    assert entry(world).record.state == "pending"


@pytest.mark.parametrize("location", ["/robots.txt", f"{OTHER}/rules.txt"])
def test_other_addresses_are_asked_whatever_is_known(world, location):
    learn(world, fetched(), "User-agent: *", url=f"{OTHER}/robots.txt", origin=OTHER)
    learn(world, fetched(), "User-agent: *")
    redirected(world, location)
    assert entry(world).record.state == "pending"


# Its host …


@pytest.mark.parametrize(("asked", "capped"), [(7, 7.0), (301, 300.0), (5_000, 300.0)])
def test_the_crawl_delay_is_kept_and_cut(world, asked, capped):
    learn(world, fetched(), f"User-agent: *\nCrawl-delay: {asked}")
    assert world.context.crawl_delay(parsed(f"{SITE}/x")) == capped
    assert world.host().crawl_delay == capped
    assert world.host().due == world.micros + int(capped * 1e6)
    assert world.frontier.longest_rest == int(capped * 1e6)


def test_the_longest_delay_of_a_hosts_origins_counts(world):
    origins = ((SITE, 20), ("https://site.example", 5))
    leases = [(world.robots_lease(f"{origin}/robots.txt", origin), delay) for origin, delay in origins]
    with world.frontier.changes():
        for lease, delay in leases:
            world.context.settle(
                visit(lease, fetched(), robots=rules(f"User-agent: *\nCrawl-delay: {delay}"))
            )
    assert world.host().crawl_delay == 20
    assert world.host().due == world.micros + 20_000_000
    assert world.frontier.longest_rest == 20_000_000
    assert world.context.crawl_delay(parsed("https://site.example/x")) == 5.0


def test_without_a_delay_nothing_rests(world):
    learn(world, fetched(), "User-agent: *\nDisallow: /x")
    assert world.context.crawl_delay(parsed(f"{SITE}/x")) is None
    assert (world.host().crawl_delay, world.host().due) == (-1.0, 0)
    learn(world, fetched(status=404))
    assert world.context.crawl_delay(parsed(f"{SITE}/x")) is None
    assert world.context.crawl_delay(parsed(f"{OTHER}/x")) is None


def test_hash_of_a_host(world):
    assert world.context.host_of(parsed(f"{SITE}/a?b")) == world.frontier.host_hash("site.example")


@pytest.mark.parametrize(
    ("outcome", "lent"),
    [
        (fetched(), True),
        (fetched(status=404), True),
        (Failed(Fault.ADDRESS_FORBIDDEN), True),
        (fetched(status=500), False),
        (fetched(status=302, location="/other.txt"), False),
    ],
)
def test_what_waits_for_the_file_is_released_by_what_it_says(world_of, outcome, lent):
    world = world_of(obey=True)
    assert world.admit(f"{SITE}/page")
    first = world.frontier.lend()
    assert first.candidate.kind is LinkKind.ROBOTS
    assert first.candidate.origin == SITE
    with world.frontier.changes():
        world.context.settle(visit(first, outcome))
        world.frontier.settle(first, Done(), world.judge.judge(visit(first, outcome), world.now).tally)
    world.pass_time(30)
    lease = world.frontier.lend()
    assert (lease is not None and lease.candidate.url.text == f"{SITE}/page") is lent


# Sitemaps …


@pytest.mark.parametrize(
    ("text", "told", "found"),
    [
        ("Sitemap: /a.xml\nSitemap: http://site.example/b.xml", {}, ["/a.xml", "/b.xml"]),
        ("Sitemap: http://", {}, []),
        ("User-agent: *", {}, ["/sitemap.xml"]),
        ("User-agent: *", {"guess_sitemap": False}, []),
        ("Sitemap: /a.xml", {"guess_sitemap": False}, ["/a.xml"]),
        ("Sitemap: /a.xml", {"sitemaps": False}, []),
        ("User-agent: *", {"sitemaps": False}, []),
    ],
)
def test_sitemaps_are_admitted(world_of, text, told, found):
    world = world_of(**told)
    learn(world, fetched(), text, hops="LP", via="x")
    assert world.queued()[1:] == [SITE + path for path in found]
    for path in found:
        lease = world.frontier.lend()
        assert lease.candidate.kind is LinkKind.SITEMAP
        assert (lease.candidate.hops, lease.candidate.via) == ("LPM", f"{SITE}/robots.txt")
        assert lease.candidate.url.text == SITE + path


@pytest.mark.parametrize(("status", "guessed"), [(404, True), (500, False)])
def test_without_a_file_the_usual_sitemap_is_tried(world, status, guessed):
    learn(world, fetched(status=status))
    assert (f"{SITE}/sitemap.xml" in world.queued()) is guessed


def test_no_sitemap_is_guessed_where_there_is_no_web(world):
    lease = world.robots_lease("ftp://site.example/robots.txt", origin="ftp://site.example")
    with world.frontier.changes():
        world.context.settle(visit(lease, fetched("ftp://site.example/robots.txt", status=404)))
    assert not any("sitemap" in url for url in world.queued())


def test_what_is_said_of_it(world):
    """A line for `why`: told apart by what it means."""
    said = {learn(world, outcome) for outcome in (fetched(), fetched(status=404), fetched(status=500))}
    said.add(redirected(world, "/x.txt"))
    assert len(said) == 4
    assert exchange().status == 200 and page().links == ()
