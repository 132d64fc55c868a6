"""Crawls that visit again, from their beginning to their end: manners, intervals, changes while they run, stops."""

import json
import time
from itertools import pairwise

import archived
import pytest
from changing_web import ChangingWeb, Reply, at, honest, missing, page
from revisit_crawls import EVERY, gaps

pytestmark = pytest.mark.slow

SLACK = 0.005
"""Seconds by which clocks and timers may differ."""
NAMES = ("one", "two", "three", "four")


def section(request):
    """A front page with links to some pages, all honest."""
    if request.target == "/robots.txt":
        return missing()
    if request.target == "/":
        return honest(
            body=lambda _: page("Front.", [f"/news/{n}" for n in NAMES] + [f"/old/{n}" for n in NAMES])
        )(request)
    return honest(body=lambda _: page(request.target))(request)


def slow_robots(request):
    if request.target == "/robots.txt":
        return Reply(200, body=b"User-agent: *\nCrawl-delay: 1\n", kind="text/plain")
    return section(request)


def all_of(web, host):
    return [s for s in web.log if s.request.host == web.addresses[host]]


def test_manners_are_those_of_first_visits(crawl_of):
    """Always due: each host still rests after each visit, by its own delay."""
    crawl = crawl_of({EVERY: "1s", "politeness.min_delay": "250ms"})
    with ChangingWeb({"plain": section, "delay": slow_robots}) as web:
        process = crawl.begin_crawl(web.url("plain"), web.url("delay"))
        web.until(lambda: len(all_of(web, "plain")) >= 16 and len(all_of(web, "delay")) >= 6)
        assert crawl.stop(process).status == 130
    plain, delay = all_of(web, "plain"), all_of(web, "delay")
    assert max(s.request.number for s in plain) > 1, "nothing was visited again"
    assert min(gaps(plain)) >= 0.25 - SLACK and {s.open for s in plain} == {1}
    assert min(gaps(delay)[1:]) >= 1 - SLACK and {s.open for s in delay} == {1}
    # Fair within the host: what is due longest comes first, no page twice before all had a turn.
    numbers = [s.request.number for s in plain if s.request.target.startswith("/news/")]
    assert all(abs(a - b) <= 1 for a, b in pairwise(numbers)), numbers
    assert archived.wrong(crawl.folder) == []


def test_intervals_by_pattern(crawl_of):
    crawl = crawl_of({'revisit.every."/news/*"': "1s", 'revisit.every."/old/*"': "1h"})
    with ChangingWeb({"site": section}) as web:
        process = crawl.begin_crawl(web.url("site"))
        web.until(lambda: all(len(web.of("site", f"/news/{n}")) >= 4 for n in NAMES))
        assert crawl.stop(process).status == 130
    for name in NAMES:
        apart = [b.began - a.began for a, b in pairwise(web.of("site", f"/news/{name}"))]
        # A second, and not an hour, however slow the machine.
        assert len(apart) >= 3 and min(apart) >= 0.98 and max(apart) < 60, apart
        assert len(web.of("site", f"/old/{name}")) == 1


def test_it_can_be_switched_off_and_on_while_it_runs(crawl_of, tmp_path):
    seeds = tmp_path / "watched"
    seeds.write_text("")
    crawl = crawl_of({EVERY: "1s", "seeds_watch": str(seeds)})
    with ChangingWeb({"site": at("/", honest())}) as web:
        process = crawl.begin_crawl(web.url("site"))
        assert web.until(lambda: len(web.of("site")) >= 2), crawl.stop(process).err
        told = crawl.run("set", str(crawl.folder), "revisit.enabled=false")
        assert told.status == 0, told.err
        off = len(web.of("site"))
        time.sleep(2.2)
        assert len(web.of("site")) <= off + 1
        told = crawl.run("set", str(crawl.folder), "revisit.enabled=true")
        assert told.status == 0, told.err
        count = len(web.of("site"))
        assert web.until(lambda: len(web.of("site")) >= count + 1), "switched on again in vain"
        assert crawl.stop(process).status == 130
    assert archived.wrong(crawl.folder) == []


def test_without_it_nothing_is_visited_again(crawl_of):
    crawl = crawl_of({"engine.give_up_after": "300ms"}, revisit=False)
    with ChangingWeb({"site": section}) as web:
        ended = crawl.end(crawl.begin_crawl(web.url("site")))
        assert ended.status == 0
        again = crawl.end(crawl.begin_resume())
        assert again.status == 0
    assert {s.request.number for s in web.log if s.request.target != "/robots.txt"} == {1}
    assert not [s for s in web.log if s.request.conditional and s.request.target != "/robots.txt"]


def test_an_old_crawl_becomes_one_that_visits_again(crawl_of):
    """Begun and ended without: its pages are visited again, with the validators that were kept."""
    crawl = crawl_of({"engine.give_up_after": "300ms", EVERY: "1s"}, revisit=False)
    with ChangingWeb({"site": section}) as web:
        assert crawl.end(crawl.begin_crawl(web.url("site"))).status == 0
        crawl.revisit = True
        process = crawl.begin_resume()
        pages = ["/"] + [f"/{kind}/{n}" for kind in ("news", "old") for n in NAMES]
        assert web.until(lambda: all(len(web.of("site", each)) >= 3 for each in pages)), (
            crawl.stop(process).err,
            {each: len(web.of("site", each)) for each in pages},
        )
        assert crawl.stop(process).status == 130
    for each in pages:
        assert {s.request.get("If-None-Match") for s in web.of("site", each)[1:]} == {b'"v1"'}
    assert archived.wrong(crawl.folder) == []


def test_it_goes_on_after_a_stop_without_being_told_again(crawl_of):
    """`--revisit` is a setting of the crawl: `resume` knows it. What was due meanwhile is not visited in a storm."""
    crawl = crawl_of({EVERY: "1s"})
    with ChangingWeb({"site": at("/", honest(version=lambda r: r.number))}) as web:
        process = crawl.begin_crawl(web.url("site"))
        assert web.until(lambda: len(web.of("site")) >= 2)
        assert crawl.stop(process).status == 130
        count = len(web.of("site"))
        time.sleep(1.5)
        crawl.revisit = False
        process = crawl.begin_resume()
        begun = time.monotonic()
        assert web.until(lambda: len(web.of("site")) >= count + 3), "resume did not visit again"
        assert crawl.stop(process).status == 130
        later = [s.began for s in web.of("site") if s.began > begun]
        assert min(b - a for a, b in pairwise(later)) > 0.9
    assert archived.wrong(crawl.folder) == []


def test_a_kill_between_visits_costs_and_doubles_nothing(crawl_of):
    crawl = crawl_of({EVERY: "1s", "engine.checkpoint_every": "1s"})
    with ChangingWeb({"site": lambda r: missing() if r.target == "/robots.txt" else _moving(r)}) as web:
        process = crawl.begin_crawl(web.url("site"))
        assert web.until(lambda: len(web.of("site", "/a")) >= 3)
        crawl.kill(process)
        count = len(web.of("site", "/a"))
        process = crawl.begin_resume()
        assert web.until(lambda: len(web.of("site", "/a")) >= count + 2), crawl.stop(process).err
        assert crawl.stop(process).status == 130
    assert archived.wrong(crawl.folder) == []
    crawl.check()


def _moving(request):
    if request.target == "/":
        return honest(body=lambda _: page("Front.", ["/a", "/b"]))(request)
    return honest(version=lambda r: (r.number + 1) // 2)(request)


def test_a_limit_ends_it(crawl_of):
    """`--max-time` ends a crawl that would never end, with exit 0 and the command that goes on."""
    crawl = crawl_of({EVERY: "1s"})
    with ChangingWeb({"site": at("/", honest())}) as web:
        ended = crawl.end(crawl.begin_crawl(web.url("site"), options=("--max-time", "3s")))
    assert ended.status == 0, ended.err
    assert len(web.of("site")) >= 2
    assert "resume" in ended.err + ended.out


def test_closing_words_say_what_the_visits_brought(crawl_of):
    crawl = crawl_of({EVERY: "1s"})
    with ChangingWeb({"site": at("/", honest(version=lambda r: (r.number + 1) // 2))}) as web:
        process = crawl.begin_crawl(web.url("site"))
        assert web.until(lambda: len(web.of("site")) >= 4)
        ended = crawl.stop(process)
    words = ended.err + ended.out
    assert "again" in words or "revisit" in words, words
    assert "change" in words and "304" in words, words
    assert f"resume {crawl.folder}" in words or "gossamer resume" in words, words
    told = json.loads(crawl.run("status", str(crawl.folder), "--json").out)
    assert "revisit" in json.dumps(told) or "again" in json.dumps(told), told


# Asking for pages now …


def test_refetch_asks_for_a_page_now(crawl_of):
    """Live, and by no condition: whoever asks for it wants it whole."""
    crawl = crawl_of({EVERY: "1h"})
    with ChangingWeb({"site": section}) as web:
        process = crawl.begin_crawl(web.url("site"))
        assert web.until(lambda: all(web.of("site", f"/old/{n}") for n in NAMES))
        told = crawl.run("refetch", str(crawl.folder), web.url("site", "/old/one"))
        assert told.status == 0, told.err
        assert web.until(lambda: len(web.of("site", "/old/one")) >= 2), told.out + told.err
        told = crawl.run("refetch", str(crawl.folder), "--match", "/news/t*")
        assert told.status == 0, told.err
        assert web.until(lambda: all(len(web.of("site", f"/news/{n}")) >= 2 for n in ("two", "three")))
        assert crawl.stop(process).status == 130
    assert [s.request.conditional for s in web.of("site", "/old/one")] == [False, False]
    assert len(web.of("site", "/news/one")) == len(web.of("site", "/old/two")) == 1
    assert archived.wrong(crawl.folder) == []


def test_refetch_of_a_crawl_that_stands_waits_for_resume(crawl_of):
    crawl = crawl_of({"engine.give_up_after": "300ms"}, revisit=False)
    with ChangingWeb({"site": section}) as web:
        assert crawl.end(crawl.begin_crawl(web.url("site"))).status == 0
        told = crawl.run("refetch", str(crawl.folder), web.url("site", "/old/one"))
        assert told.status == 0, told.err
        assert "resume" in told.out + told.err
        assert len(web.of("site", "/old/one")) == 1
        assert crawl.end(crawl.begin_resume()).status == 0
    assert len(web.of("site", "/old/one")) == 2
    assert len(web.of("site", "/old/two")) == 1
    assert archived.wrong(crawl.folder) == []


def test_refetch_by_status(crawl_of):
    def sometimes(request):
        if request.target == "/robots.txt":
            return missing()
        if request.target == "/":
            return Reply(body=page("Front.", ["/bad", "/missing", "/good"]))
        if request.target == "/bad" and request.number <= 3:
            return Reply(500, body=b"broken")
        return missing() if request.target == "/missing" else Reply(body=page(request.target))

    crawl = crawl_of({"engine.give_up_after": "1s"}, revisit=False)
    with ChangingWeb({"site": sometimes}) as web:
        assert crawl.end(crawl.begin_crawl(web.url("site"))).status == 0
        assert len(web.of("site", "/bad")) == 3
        assert crawl.run("refetch", str(crawl.folder), "--status", "5xx").status == 0
        assert crawl.end(crawl.begin_resume()).status == 0
    assert [s.status for s in web.of("site", "/bad")] == [500, 500, 500, 200]
    assert len(web.of("site", "/missing")) == len(web.of("site", "/good")) == 1


def test_refetch_of_what_is_not_known_says_so(crawl_of):
    crawl = crawl_of({"engine.give_up_after": "300ms"}, revisit=False)
    with ChangingWeb({"site": section}) as web:
        assert crawl.end(crawl.begin_crawl(web.url("site"))).status == 0
    told = crawl.run("refetch", str(crawl.folder), web.url("site", "/never/heard/of"))
    assert told.status in (1, 2), told
    assert "/never/heard/of" in told.err + told.out and "Traceback" not in told.err
    for arguments in ([], ["--match", "re:("]):
        told = crawl.run("refetch", str(crawl.folder), *arguments)
        assert told.status == 2 and "Traceback" not in told.err, (arguments, told)
    told = crawl.run("refetch", str(crawl.folder.parent / "nothing"), "http://a.example/")
    assert told.status == 2 and "nothing" in told.err


# A stranger …


def test_help_knows_it(crawl_of):
    crawl = crawl_of()
    for command, words in {
        "crawl": ["--revisit"],
        "resume": ["--revisit"],
        "refetch": ["--match", "--status", "Example"],
    }.items():
        told = crawl.run(command, "--help")
        assert told.status == 0, (command, told.err)
        assert all(word in told.out for word in words), (command, told.out)
    config = crawl.run("config").out
    assert "[revisit]" in config
    section = config.split("[revisit]")[1].split("\n[")[0]
    for name in ("enabled", "share", "visits", "every"):
        assert f"{name} =" in section or f"{name}." in section or f"[revisit.{name}]" in config, name


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("revisit.share", 2.0),
        ("revisit.share", -0.1),
        ("revisit.visits", -1),
        ("revisit.enabled", "perhaps"),
        ('revisit.every."/*"', "now and then"),
        ('revisit.every."/*"', "-1s"),
        ('revisit.every."/*"', "0s"),
        ("revisit.evry", "1h"),
    ],
)
def test_a_bad_setting_is_named(crawl_of, setting, value):
    crawl = crawl_of({setting: value}, revisit=False)
    config = crawl.write_settings()
    ended = crawl.run("crawl", "http://127.0.0.1:9/", "--config", str(config), "--dir", str(crawl.folder))
    assert ended.status == 2, ended
    assert setting.split('"')[0].rstrip(".") in ended.err and "Traceback" not in ended.err, ended.err
    assert not (crawl.folder / "archive").exists()


def test_who_knows_of_a_change_can_say_so(crawl_of):
    """`gossamer changed`: the page is visited soon, with its condition, for it is the server who decides."""
    crawl = crawl_of({EVERY: "1h"})
    with ChangingWeb({"site": section}) as web:
        process = crawl.begin_crawl(web.url("site"))
        assert web.until(lambda: all(web.of("site", f"/old/{n}") for n in NAMES))
        told = crawl.run(
            "changed", str(crawl.folder), web.url("site", "/old/one"), web.url("site", "/never"), "--json"
        )
        assert told.status == 0, told.err
        assert web.until(lambda: len(web.of("site", "/old/one")) >= 2), told.out + told.err
        assert crawl.stop(process).status == 130
    assert web.of("site", "/old/one")[1].request.get("If-None-Match") == b'"v1"'
    assert not web.of("site", "/never")
    assert json.loads(told.out)["unknown"] == 1, told.out
    assert len(web.of("site", "/old/two")) == 1
