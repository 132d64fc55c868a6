import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_run import Gossamer

from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import ENDED


@pytest.mark.usefixtures("crawled")
def test_status_counts(gossamer: Gossamer) -> None:
    lines = gossamer("status", "d").out.splitlines()
    assert lines[0] == "d"
    assert lines[2].startswith("pages     4 (0 duplicates)")
    status = json.loads(gossamer("status", "d", "--json").out)
    assert status["sums"]["pages"] == 4
    assert status["hosts_by_state"] == {"empty": 1}


@pytest.mark.parametrize("order", ["bfs", "opic"])
def test_status_and_why_tell_what_is_left(gossamer: Gossamer, site: str, order: str) -> None:
    options = ("--min-delay", "0", "--max-pages", "1", "--order", order, "--workers", "1", "-q")
    assert gossamer("crawl", site, "--dir", "d", *options).code == 0
    lines = gossamer("status", "d").out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("levels"))
    assert lines[at] == f"levels    of 5 queued URLs under the order {order}, counted:"
    assert lines[at + 1].startswith("  depth 0: 1 (20.0%)" if order == "bfs" else "  importance step ")
    assert "domains   with the most URLs left, of 1 host:" in lines
    assert "  127.0.0.1: 5 queued, 0 waiting on 1 host" in lines
    status = json.loads(gossamer("status", "d", "--json").out)
    assert status["levels"]["keys_read"] == sum(row["urls"] for row in status["levels"]["levels"]) == 5
    assert status["domains"]["domains"][0]["queued"] == 5
    url = f"http://{site}/b.html"
    told = gossamer("why", "d", url).out
    assert told.startswith(f"{url}: queued\n")
    assert f"under the order {order}" in told
    priority = json.loads(gossamer("why", "d", url, "--json").out)["priority"]
    assert priority["order"] == order
    assert bool(priority["parts"]) == (order == "opic")


def test_why_tells_each_fate(gossamer: Gossamer, crawled: str) -> None:
    fates = {
        "/a.html": ("done", "status 200"),
        "/gone.html": ("dropped", "status 404"),
        "/private/x.html": ("dropped", "forbidden by 'Disallow: /private/'"),
        "/never.html": ("unknown", "no page that was read mentions it"),
    }
    for path, (state, words) in fates.items():
        ran = gossamer("why", "d", crawled + path)
        assert ran.code == 0
        assert ran.out.startswith(f"{crawled}{path}: {state}\n")
        assert words in ran.out
    ran = gossamer("why", "d", "http://elsewhere.example/", "--json")
    story = json.loads(ran.out)
    assert story["state"] == "rejected"
    assert any("turned away: scope" in fact["text"] for fact in story["facts"])
    assert {"about", "text"} == set().union(*story["facts"]), "the words alone, as ever"


def test_why_tells_where_a_redirect_leads(gossamer: Gossamer, site: str, tmp_path: Path) -> None:
    ran = gossamer("crawl", f"{site}/private", "--min-delay", "0", "--dir", "r")
    assert f"redirect  leads to http://{site}/private/: dropped" in ran.err, "no page, so the end tells"
    assert "leads to" in gossamer("why", "r", f"http://{site}/private").out
    for file in (tmp_path / "r" / "archive").iterdir():
        file.unlink()
    ran = gossamer("why", "r", f"http://{site}/private")
    assert (ran.code, "leads to" in ran.out, "status 301" in ran.out) == (0, False, True)


def test_list_names_the_nearest_if_nothing_begins_so(gossamer: Gossamer, crawled: str) -> None:
    ran = gossamer("list", "d", "--under", f"{crawled}/aa.html")
    assert (ran.code, ran.out) == (0, "")
    assert f"did you mean {crawled}/a.html?" in ran.err
    assert "did you mean" in gossamer("list", "d", "--under", "/aa.html").err, "completed by the seed's host"
    for options in (
        ("--under", f"{crawled}/a"),
        ("--under", crawled, "--status", "500"),
        ("--status", "500"),
    ):
        assert gossamer("list", "d", *options).err == ""
    ran = gossamer("list", "d", "--under", "ht tp://")
    assert (ran.code, ran.out) == (0, "")


def test_what_the_network_says_cannot_steer_the_terminal(gossamer: Gossamer, crawled: str) -> None:
    ran = gossamer("why", "d", crawled + "/c.html")
    assert "red" in ran.out
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out


def test_why_wants_a_url(gossamer: Gossamer, crawled: str) -> None:
    ran = gossamer("why", "d", "gopher://x/")
    assert ran.code == 2
    assert "Write it like https://example.org/page" in ran.err


@pytest.mark.usefixtures("crawled")
def test_check_finds_a_flipped_byte(gossamer: Gossamer) -> None:
    ran = gossamer("check", "d")
    assert (ran.code, ran.out.rstrip().rpartition(": ")[2]) == (0, "all is well")
    [archive] = Path("d/archive").iterdir()
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    archive.write_bytes(content)
    ran = gossamer("check", "d", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["problems"]


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytes], bytes]:
    return lambda content: b"".join(change(content.splitlines(keepends=True)))


@pytest.mark.parametrize(
    "change",
    [
        _lines(lambda lines: lines[:1] + lines[2:]),
        _lines(lambda lines: [lines[0], *lines]),
        _lines(lambda lines: lines[1:] + lines[:1]),
        _lines(lambda lines: []),
        _lines(lambda lines: [*lines, b"zzz\n"]),
        lambda content: content[:-9],
        lambda content: content.replace(b'"offset":"', b'"offset":"1', 1),
        lambda content: content.replace(b'"digest":"sha256:', b'"digest":"sha256:0', 1),
    ],
)
@pytest.mark.usefixtures("crawled")
def test_check_finds_damage_of_the_index(gossamer: Gossamer, change: Callable[[bytes], bytes]) -> None:
    index = Path("d/index.cdxj")
    index.write_bytes(change(index.read_bytes()))
    ran = gossamer("check", "d")
    assert ran.code == 1 and "index.cdxj: " in ran.out and "1 problem" in ran.out


@pytest.mark.usefixtures("crawled")
def test_check_misses_an_index_and_nothing_else(gossamer: Gossamer) -> None:
    assert gossamer("check", "d").code == 0
    Path("d/index.cdxj").unlink()
    assert "index.cdxj: is not there" in gossamer("check", "d").out


@pytest.mark.usefixtures("crawled")
def test_check_finds_damage_of_any_table_of_the_state(gossamer: Gossamer) -> None:
    tables = sorted(Path("d/state").glob("*.sst"))
    assert len(tables) > 5
    for table in tables:
        content = table.read_bytes()
        # Not a block of data but what says where those are: a reader beside a writer skips such a table.
        table.write_bytes(content[:-60] + bytes([content[-60] ^ 1]) + content[-59:])
        ran = gossamer("check", "d")
        assert ran.code == 1 and "If it is damaged, go back to a checkpoint" in ran.out, table
        table.write_bytes(content)
    assert gossamer("check", "d").code == 0


@pytest.mark.parametrize("command", ["status", "check", "why"])
def test_a_folder_without_a_crawl_is_named(gossamer: Gossamer, command: str) -> None:
    ran = gossamer(command, "nowhere", *(["http://a.example/"] if command == "why" else []))
    assert ran.code == 2
    assert ran.err.startswith("gossamer: nowhere: holds no crawl.")


def test_robots_by_hand(gossamer: Gossamer, site: str) -> None:
    ran = gossamer("robots", f"{site}/private/x.html")
    assert ran.code == 0
    assert "forbidden by 'Disallow: /private/'" in ran.out
    assert json.loads(gossamer("robots", site, "--json").out)["allowed"] is True
    assert gossamer("robots", "ftp://x/").code == 2


def test_names_by_hand(gossamer: Gossamer, nameserver: str) -> None:
    ran = gossamer("dns", "h0.sim.test", "no-such-host.example", "127.0.0.1", "--nameserver", nameserver)
    first, second, third = ran.out.splitlines()
    assert first.startswith("h0.sim.test: 127.")
    assert second.startswith("no-such-host.example: name_not_found (NXDOMAIN)")
    assert third.startswith("127.0.0.1: 127.0.0.1;")
    assert ran.code == 1, "one has no address"
    ran = gossamer("dns", "h0.sim.test", "--nameserver", nameserver, "--json")
    assert (ran.code, json.loads(ran.out)[0]["name"]) == (0, "h0.sim.test")
    assert gossamer("dns", "no-such-host.example", "--nameserver", nameserver, "--json").code == 1


def test_one_setting_is_told_by_its_name_or_a_word(gossamer: Gossamer) -> None:
    ran = gossamer("config", "max_pages")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "budget.max_pages")
    assert "max_pages = 0" in ran.out
    ran = gossamer("config", "politeness", "--find", "sitemap")
    assert "politeness.min_delay" in ran.out and "engine.guess_sitemap" in ran.out
    assert "budget.max_pages" not in ran.out
    told = json.loads(gossamer("config", "fetch.max_head", "--json").out)
    assert [one["path"] for one in told] == ["fetch.max_head"]
    ran = gossamer("config", "max_page")
    assert (ran.code, "did you mean budget.max_pages" in ran.err) == (2, True)
    assert "did you mean politeness?" in gossamer("config", "politness").err
    assert gossamer("config", "--find", "xyzzy").code == 1
    whole = gossamer("config").out
    assert whole.startswith("# where the crawl begins") and whole.endswith("\n") and whole[-2:] != "\n\n"
    assert len(json.loads(gossamer("config", "--json").out)) > 100


def test_why_takes_a_path_and_names_what_is_near(gossamer: Gossamer, crawled: str, site: str) -> None:
    assert gossamer("why", "d", "/a.html").out.startswith(f"http://{site}/a.html: done\n")
    ran = gossamer("why", "d", "/aa.html")
    assert ran.out.startswith(f"http://{site}/aa.html: unknown\n  did you mean    http://{site}/a.html\n")
    assert json.loads(gossamer("why", "d", "/aa.html", "--json").out)["nearest"][0].endswith("/a.html")


def test_status_says_whether_the_crawl_goes_on(gossamer: Gossamer, crawled: str, site: str) -> None:
    assert "state     ended: finished, 20" in gossamer("status", "d").out
    gossamer("crawl", site, "--min-delay", "0", "--max-pages", "1", "--dir", "e", "-q")
    assert "state     ended: max_pages 1, 20" in gossamer("status", "e").out
    assert json.loads(gossamer("status", "e", "--json").out)["state"] == "ended"


def test_broken_links_are_counted_and_listed(gossamer: Gossamer, site: str) -> None:
    ran = gossamer("crawl", site, "--min-delay", "0", "--dir", "d")
    assert "  broken: 1 link; which: gossamer list d --broken\n" in ran.err
    ran = gossamer("list", "d", "--broken")
    assert ran.out == f"404      http://{site}/gone.html  found on http://{site}/\n"
    ran = gossamer("list", "d", "--under", f"http://{site}/b", "--json")
    assert [json.loads(line)["status"] for line in ran.out.splitlines()] == [200]
    assert gossamer("list", "d", "--status", "500").out == ""
    told = gossamer("list", "d", "--state", "rejected").out
    assert told.startswith("rejected http://elsewhere.example/  (scope: not on the seeds' hosts")
    assert gossamer("list", "d", "--state", "odd").code == 2
    assert "private/x.html" in gossamer("list", "d", "--state", "dropped").out


def test_seeds_that_gave_nothing_are_named_with_the_reason(gossamer: Gossamer, site: str) -> None:
    pages = [f"http://{site}/{name}" for name in ("a.html", "gone.html", "no-1", "no-2", "no-3")]
    few = ("--min-delay", "0", "--max-depth", "0")
    said = gossamer("crawl", *pages[:2], "--dir", "few", *few).err
    assert f"  1 seed not fetched: {pages[1]} (404)\n" in said
    said = gossamer("crawl", *pages, "--dir", "many", *few).err
    assert f"  4 seeds not fetched: {pages[1]} (404), {pages[2]} (404), {pages[3]} (404); which: " in said
    told = gossamer("list", "many", "--state", "dropped", "--columns", "url").out
    assert all(url in told for url in pages[1:]) and "gossamer list many --state dropped\n" in said
    assert "not fetched" not in gossamer("crawl", pages[0], "--dir", "all", *few).err
    assert "not fetched" not in gossamer("crawl", pages[1], "--dir", "none", *few).err, (
        "why is told at length"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("crawled")
def test_one_wrong_byte_in_an_archive_is_one_problem(gossamer: Gossamer) -> None:
    [archive] = Path("d/archive").glob("*.warc.gz")
    whole = archive.read_bytes()
    places = [match.start() for match in re.finditer(rb"\x1f\x8b\x08", whole)]
    assert len(places) > 10
    for place in places[1:]:  # without the first there is no warcinfo to refer to
        archive.write_bytes(whole[: place + 40] + bytes((whole[place + 40] ^ 0x55,)) + whole[place + 41 :])
        ran = gossamer("check", "d")
        problems = ran.out.splitlines()[:-1]
        assert (ran.code, len(problems)) == (1, 1), problems
        assert "bytes were passed over" in problems[0]
    archive.write_bytes(whole)
    assert gossamer("check", "d").code == 0
    assert list(Path("d/tmp").iterdir()) == []


@pytest.mark.usefixtures("crawled")
def test_the_index_of_a_crawl_that_runs_may_be_newer_than_the_state_that_was_opened(
    gossamer: Gossamer,
) -> None:
    folder = Path("d")
    environment = Environment.open(folder / "state", StateConfig())
    batch = environment.batch()
    batch.delete(Family.META, ENDED)
    environment.commit(batch)
    environment.close()
    with (folder / "index.cdxj").open("ab") as index:
        index.write(b"zzz\n")
    ran = gossamer("check", "d")
    assert ran.code == 1 and "lines for" in ran.out
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert gossamer("check", "d").code == 0
    finally:
        os.close(descriptor)


@pytest.mark.usefixtures("crawled")
def test_check_reports_what_resume_would_refuse(gossamer: Gossamer) -> None:
    folder = Path("d")
    for name in ("MANIFEST-*", "CURRENT", "*.sst"):
        [path, *_] = sorted((folder / "state").glob(name), key=lambda path: -path.stat().st_size)
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 3])
        ran = gossamer("check", "d")
        assert ran.code != 0, name
        assert gossamer("resume", "d", "-q").code == 3, name
        assert "--from-checkpoint" in ran.out + ran.err, (name, ran)
        path.write_bytes(whole)
    assert gossamer("check", "d").code == 0
    shutil.rmtree(folder / "state")
    ran = gossamer("check", "d")
    assert ran.code == 3 and "is not there, though something was crawled" in ran.err
    assert gossamer("resume", "d", "--from-checkpoint", "-q").code == 0
    assert gossamer("check", "d").code == 0


@pytest.mark.usefixtures("crawled")
def test_status_of_a_crawl_that_was_killed_before_its_first_visit(gossamer: Gossamer) -> None:
    (killed := Path("killed")).mkdir()
    shutil.copy("d/crawl.toml", killed)
    Environment.open(killed / "state", StateConfig()).close()
    assert "state     broken off; 'gossamer resume killed' goes on" in gossamer("status", "killed").out
