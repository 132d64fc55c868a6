import io
import json
import os
import shlex
import shutil
import socket
import sys
from pathlib import Path

import pytest
from cli_run import Gossamer
from file_servers import HostileFtp

from gossamer.frontier.standings import ORDER_NAME
from gossamer.state.environment import Environment, Family, StateConfig


def test_without_seeds_it_says_how_to_name_one(gossamer: Gossamer) -> None:
    ran = gossamer("crawl")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("gossamer: seeds: there are none. Name at least one URL")


def test_all_problems_are_listed_at_once_by_the_names_of_the_options(gossamer: Gossamer) -> None:
    ran = gossamer(
        *("crawl", "gopher://example.org/", "http://[::1"),
        *("--scope", "foo", "--max-pages", "many", "--max-depth", "-1", "--workers", "0", "--order", "zzz"),
        *("--set", "foo.bar=1", "--set", "fetch.cookies=perhaps", "--set", "bare", "--seeds", "nowhere"),
    )
    assert ran.code == 2
    problems = [line.removeprefix("gossamer: ").partition(":")[0] for line in ran.err.splitlines()]
    settings = ["--scope", "--max-pages", "--max-depth", "--workers", "--order", "foo", "fetch.cookies"]
    assert sorted(problems) == sorted([*settings, "--set 'bare'", "--seeds nowhere", "seeds", "seeds"])
    assert list(Path().iterdir()) == []


def test_numbers_too_long_for_python_are_problems_like_others(gossamer: Gossamer) -> None:
    long = "1" * 5_000
    ran = gossamer("crawl", "a.example", "--max-pages", long, "--set", f"engine.workers={long}")
    assert ran.code == 2
    told = [line.removeprefix("gossamer: ").partition(":")[0] for line in ran.err.splitlines()]
    assert sorted(told) == ["--max-pages", "engine.workers"]


def test_a_file_whose_name_is_not_utf_8_is_refused_before_there_is_a_folder(gossamer: Gossamer) -> None:
    name = os.fsdecode(b"ca\xff.pem")
    Path(name).touch()
    ran = gossamer("crawl", "http://127.0.0.1:1/", "--dir", "made", "--set", f"fetch.ca_file={name}")
    assert (ran.code, ran.err) == (2, "gossamer: fetch.ca_file: is not UTF-8\n")
    assert not Path("made").exists()


def test_problems_of_one_section_are_listed_at_once_too(gossamer: Gossamer) -> None:
    block = 'scope.block=["a/b", "*.[::1]"]'
    ran = gossamer("crawl", "a.example", "--exclude", "(", "--exclude", "[", "--set", block)
    assert ran.code == 2
    other = gossamer(
        *("crawl", "a.example", "--contact", "é", "--user-agent", "é", "--nameserver", "x", "--set"),
        *("fetch.max_head=1", "--set", "fetch.ca_file=/nowhere", "--order", "zzz"),
    )
    told = [line.removeprefix("gossamer: ").partition(":")[0] for line in other.err.splitlines()]
    assert sorted(told) == ["--contact", "--nameserver", "--order", "--user-agent", "fetch.max_head"]
    assert (
        "fetch.ca_file: /nowhere is not a file"
        in gossamer("crawl", "a", "--set", "fetch.ca_file=/nowhere").err
    )
    assert list(Path().iterdir()) == []
    problems = [line.removeprefix("gossamer: ").partition(":")[0] for line in ran.err.splitlines()]
    assert problems == ["scope.block", "scope.block", "--exclude", "--exclude"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("example.org/docs/", "asks for the URL"),
        ("type:image/*", "asks for the head of the answer"),
        ("*", "is not a place"),
        ("a b", "twice"),
    ],
)
def test_a_place_that_would_never_hold_is_refused(gossamer: Gossamer, name: str, says: str) -> None:
    ran = gossamer("crawl", "example.org", "--set", f'place."{name}".politeness.visits_per_host=2')
    assert ran.code == 2
    assert says in ran.err
    assert list(Path().iterdir()) == []


def test_a_setting_that_stops_the_start_leaves_no_folder_behind(gossamer: Gossamer, site: str) -> None:
    ran = gossamer("crawl", site, "--set", 'place."a.example".credentials.token="env:GOSSAMER_TEST_NOT_SET"')
    assert ran.code == 2
    assert "GOSSAMER_TEST_NOT_SET" in ran.err
    assert list(Path().iterdir()) == []


def test_a_folder_that_rocksdb_cannot_name_is_refused_before_it_is_made(
    gossamer: Gossamer, site: str, tmp_path: Path
) -> None:
    odd = os.fsdecode(b"odd-\xff")
    ran = gossamer("crawl", site, "--dir", odd, "-q")
    assert ran.code == 2 and "its name is not UTF-8. Choose another --dir." in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_bare_host_is_crawled_into_a_folder_of_its_name(gossamer: Gossamer, site: str) -> None:
    ran = gossamer("crawl", site, "--min-delay", "0")
    assert (ran.code, ran.out) == (0, "")
    folder = Path(f"crawl-{site.replace(':', '-')}")
    assert "finished: 4 pages" in ran.err
    assert "left out: 1 link by scope, 1 URL by robots files" in ran.err
    assert {path.name for path in folder.iterdir()} >= {
        *("archive", "state", "crawl.toml", "crawl.log", "index.cdxj", "report.json")
    }
    again = gossamer("crawl", site)
    assert again.code == 2
    assert f"gossamer resume {folder}" in again.err


def test_json_leaves_standard_output_to_the_report(gossamer: Gossamer, site: str) -> None:
    ran = gossamer("crawl", f"http://{site}/", "--min-delay", "0", "--dir", "d", "--json")
    report = json.loads(ran.out)
    assert (ran.code, report["ended"], report["pages"]) == (0, "finished", 4)
    assert report["statuses"] == {"200": 5, "404": 2}
    assert json.loads(Path("d/report.json").read_text()) == report


def test_quiet_says_nothing(gossamer: Gossamer, site: str) -> None:
    assert gossamer("crawl", site, "--min-delay", "0", "--dir", "d", "-q") == (0, "", "")


def test_a_limit_ends_well_and_resume_takes_up_the_rest(gossamer: Gossamer, site: str) -> None:
    ran = gossamer("crawl", site, "--min-delay", "0", "--dir", "d", "--max-pages", "2")
    assert ran.code == 0
    assert "limit reached (max_pages 2): 2 pages" in ran.err
    assert "go on with: gossamer resume d" in ran.err
    ran = gossamer("resume", "d", "--set", "budget.max_pages=0", "--json")
    assert (ran.code, json.loads(ran.out)["pages"]) == (0, 4)


@pytest.mark.parametrize("setting", ["seeds=[]", "seeds_file=nowhere", "engine.order=zzz"])
def test_a_setting_with_which_no_crawl_can_begin_is_not_kept(
    gossamer: Gossamer, site: str, setting: str
) -> None:
    gossamer("crawl", site, "--min-delay", "0", "--max-pages", "1", "--dir", "d")
    before = Path("d/crawl.toml").read_text("utf-8")
    ran = gossamer("resume", "d", "--set", setting, "--set", "budget.max_pages=2")
    assert ran.code == 2 and ran.err.startswith(f"gossamer: {setting.partition('=')[0]}: ")
    assert Path("d/crawl.toml").read_text("utf-8") == before


FEW = {("bfs", "dfs"), ("best", "opic"), ("opic", "focused"), ("focused", "best")}
"""Each order once before and once after; the other pairs, half a second each, are slow."""


@pytest.mark.parametrize("is_old", [False, True], ids=["names its order", "of an older version"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(before, after, marks=[] if (before, after) in FEW else [pytest.mark.slow])
        for before in ("bfs", "best", "opic", "focused")
        for after in ("dfs", "best", "opic", "focused")
    ],
)
def test_resume_may_change_the_order(
    gossamer: Gossamer, site: str, before: str, after: str, is_old: bool
) -> None:
    query = ("--set", "order.focus.query=page")
    limits = ("--min-delay", "0", "--max-pages", "2")
    assert gossamer("crawl", site, *limits, "--dir", "d", "--order", before, *query).code == 0
    if is_old:
        state = Environment.open(Path("d/state"), StateConfig())
        batch = state.batch()
        batch.delete(Family.META, ORDER_NAME)
        state.commit(batch)
        state.close()
    settings = Path("d/crawl.toml").read_text("utf-8")
    Path("d/crawl.toml").write_text(settings.replace(f'order = "{before}"', f'order = "{after}"'), "utf-8")
    assert gossamer("status", "d").code == 0
    assert gossamer("why", "d", site).code == 0
    ran = gossamer("resume", "d", "--set", f"engine.order={after}", "--set", "budget.max_pages=0", "--json")
    told = json.loads(ran.out)
    assert (ran.code, told["pages"], told["order"]["name"]) == (0, 4, after)
    assert gossamer("status", "d").code == 0


def test_resume_takes_up_parked_hosts(gossamer: Gossamer, site: str) -> None:
    options = ("--min-delay", "0", "--dir", "d", "--json")
    parked = json.loads(gossamer("crawl", site, *options, "--set", "budget.pages_per_host=2").out)
    assert (parked["pages"], parked["hosts_parked"]) == (2, 1)
    ran = gossamer("resume", "d", "--set", "budget.pages_per_host=0", "--json")
    report = json.loads(ran.out)
    assert (report["pages"], report["hosts_parked"], report["queued"]) == (4, 0, 0)


def test_a_misspelt_name_ends_at_once_and_is_named(gossamer: Gossamer, nameserver: str) -> None:
    ran = gossamer("crawl", "no-such-host.example", "--nameserver", nameserver, "--json")
    assert ran.code == 2
    assert "no seed could be reached" in ran.err
    assert "no-such-host.example: name_not_found (NXDOMAIN): there is no such name" in ran.err
    report = json.loads(ran.out)
    assert (report["ended"], report["visits"]) == ("unreachable", 1)


def test_a_port_where_nobody_listens_ends_at_once_and_is_named(gossamer: Gossamer) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        ran = gossamer("crawl", f"127.0.0.1:{taken.getsockname()[1]}", "--dir", "d")
    assert ran.code == 2
    assert "Is the server running" in ran.err


def test_one_dead_seed_does_not_end_the_crawl_of_others(
    gossamer: Gossamer, site: str, nameserver: str
) -> None:
    ran = gossamer(
        *("crawl", "no-such-host.example", site, "--nameserver", nameserver, "--min-delay", "0"),
        *("--dir", "d", "--set", "engine.give_up_after=1"),
    )
    assert ran.code == 0
    assert "finished for now: 4 pages" in ran.err
    assert "no-such-host.example: 1 URL, resting for" in ran.err


def test_a_crawl_of_which_all_waits_for_a_password_says_so_even_if_it_is_to_be_quiet(
    gossamer: Gossamer,
) -> None:
    with HostileFtp({"PASS": b"530 no\r\n"}) as server:
        ran = gossamer("crawl", f"ftp://127.0.0.1:{server.port}/", "--quiet", "--dir", "d")
    assert ran.code == 2
    assert "finished for now: 0 pages" in ran.err and "ftp 530" in ran.err


def test_a_crawl_without_pages_says_why(gossamer: Gossamer, site: str) -> None:
    ran = gossamer("crawl", f"{site}/private/x.html", "--min-delay", "0", "--dir", "d")
    assert ran.code == 2
    assert "finished: 0 pages" in ran.err
    assert "forbidden by 'Disallow: /private/'" in ran.err
    ran = gossamer("crawl", f"{site}/a.html", "--exclude", "html", "--dir", "e")
    assert "turned away: scope: matches exclude 'html'" in ran.err


def test_seeds_come_from_a_file_or_standard_input(
    gossamer: Gossamer, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"# two pages\n\nhttp://{site}/b.html\nhttp://{site}/c.html\n"
    options = ("--min-delay", "0", "--max-depth", "0", "--json")
    Path("seeds.txt").write_text(text)
    ran = gossamer("crawl", "--seeds", "seeds.txt", "--dir", "one", *options)
    assert json.loads(ran.out)["pages"] == 2
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    ran = gossamer("crawl", "--seeds", "-", "--dir", "two", *options)
    assert json.loads(ran.out)["pages"] == 2
    stream = io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n"), encoding="utf-8", errors="surrogateescape")
    monkeypatch.setattr("sys.stdin", stream)  # as where the locale is C
    ran = gossamer("crawl", "--seeds", "-", "--dir", "three")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "not UTF-8" in ran.err


def test_a_configuration_file_counts_and_options_beat_it(gossamer: Gossamer, site: str) -> None:
    Path("c.toml").write_text(
        f'seeds = ["http://{site}/"]\n[budget]\nmax_pages = 1\n[politeness]\nmin_delay = "0s"\n'
    )
    assert json.loads(gossamer("crawl", "--config", "c.toml", "--dir", "one", "--json").out)["pages"] == 1
    ran = gossamer("crawl", "--config", "c.toml", "--dir", "two", "--max-pages", "3", "--json")
    assert json.loads(ran.out)["pages"] == 3


def test_hints_are_for_those_who_need_them(gossamer: Gossamer, site: str, nameserver: str) -> None:
    own = gossamer("crawl", site, "--max-pages", "1", "--dir", "one")
    assert "--min-delay 0 is for sites of your own" in own.err
    assert "--contact" not in own.err
    foreign = ("crawl", "no-such-host.example", "--nameserver", nameserver)
    assert "hint: give --contact" in gossamer(*foreign, "--dir", "two").err
    assert "hint" not in gossamer(*foreign, "--contact", "me@example.org", "--dir", "three").err


def test_resume_needs_a_crawl(gossamer: Gossamer) -> None:
    ran = gossamer("resume", "nowhere")
    assert ran.code == 2
    assert "nowhere: holds no crawl. Start one with" in ran.err


def test_a_demonstration_that_is_interrupted_says_that_it_is_removed(
    gossamer: Gossamer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        sys.exit(130)

    monkeypatch.setattr("gossamer.cli.demo.conduct", interrupted)
    ran = gossamer("demo")
    assert ran.code == 130
    assert "a temporary folder, which is removed" in ran.err


@pytest.mark.slow
def test_the_demonstration_crawls_checks_and_explains(gossamer: Gossamer) -> None:
    ran = gossamer("demo", "--dir", "d")
    assert ran.code == 0
    assert "all is well" in ran.out
    assert "it is a seed" in ran.out


def test_limits_of_a_resumed_crawl_count_from_now(gossamer: Gossamer, site: str) -> None:
    ran = gossamer("crawl", site, "--min-delay", "0", "--max-pages", "1", "--workers", "1", "--dir", "d")
    assert "limit reached (max_pages 1): 1 page" in ran.err
    assert ran.err.rstrip().endswith("go on with: gossamer resume d --max-pages 1")
    ran = gossamer("resume", "d", "--max-pages", "2")
    assert "limit reached (max_pages 3): 3 pages" in ran.err
    assert ran.err.rstrip().endswith("go on with: gossamer resume d --max-pages 2")
    ran = gossamer("resume", "d")
    assert ran.err.rstrip().endswith("go on with: gossamer resume d --max-pages 3"), "it was reached before"
    ran = gossamer("resume", "d", "--max-time", "1h", "--max-pages", "0")
    assert (ran.code, "finished: 4 pages" in ran.err) == (0, True)
    assert gossamer("resume", "d", "--max-bytes", "much").code == 2


def test_what_was_left_out_is_told_by_its_reason(gossamer: Gossamer, site: str) -> None:
    ran = gossamer("crawl", site, "--min-delay", "0", "--max-depth", "0", "--dir", "a")
    assert "left out: 5 links beyond scope.max_depth\n" in ran.err
    assert "finished: 1 page" in ran.err
    length = len(f"http://{site}/b.html") - 1
    ran = gossamer("crawl", site, "--min-delay", "0", "--set", f"scope.max_url_length={length}", "--dir", "b")
    assert "finished, but for what is left out: 1 page" in ran.err
    assert "with addresses longer than scope.max_url_length" in ran.err
    report = json.loads(Path("b/report.json").read_text())
    assert report["turned_away"]["too_long"] >= 4
    assert sum(report["turned_away"].values()) == report["rejected"]


def test_without_a_page_it_is_told_what_became_of_where_the_seed_was_sent(
    gossamer: Gossamer, site: str
) -> None:
    ran = gossamer("crawl", f"{site}/private", "--min-delay", "0", "--dir", "d")
    assert f"redirect  leads to http://{site}/private/: dropped" in ran.err
    assert ran.err.count("forbidden by 'Disallow: /private/'") == 1


@pytest.mark.parametrize("path", ["gone.html", "private/x.html"])
def test_a_seed_that_is_no_page_and_nothing_else_is_a_failure(
    gossamer: Gossamer, site: str, path: str
) -> None:
    ran = gossamer("crawl", f"{site}/{path}", "--min-delay", "0", "--dir", "d", "-q")
    assert ran.code == 2
    assert f"http://{site}/{path}: dropped" in ran.err, "a failure is told, however quiet it shall be"
    ran = gossamer("crawl", f"{site}/{path}", f"{site}/a.html", "--min-delay", "0", "--dir", "e", "-q")
    assert ran.code == 0


def test_a_misspelt_host_leaves_nothing_behind(gossamer: Gossamer, nameserver: str) -> None:
    ran = gossamer("crawl", "no-such-host.example", "--nameserver", nameserver)
    assert (ran.code, list(Path().iterdir())) == (2, [])
    assert "nothing was kept: crawl-no-such-host.example is removed" in ran.err
    assert "go on with" not in ran.err
    Path("mine").mkdir()
    assert gossamer("crawl", "no-such-host.example", "--nameserver", nameserver, "--dir", "mine").code == 2
    assert Path("mine/crawl.toml").exists()


def test_commands_that_are_named_at_the_end_can_be_given_as_they_stand(gossamer: Gossamer, site: str) -> None:
    ran = gossamer("crawl", site, "--min-delay", "0", "--max-pages", "1", "--dir", "my crawl")
    further = ran.err.splitlines()[-1].removeprefix("go on with: gossamer ")
    assert gossamer(*shlex.split(further)).code == 0, further
    assert 'look at it: gossamer view "my crawl"' in ran.err


def test_a_copy_that_cannot_be_resumed_takes_no_requests_either(
    gossamer: Gossamer, site: str, tmp_path: Path
) -> None:
    (tmp_path / "disk").mkdir()
    at = f"storage.archive={tmp_path / 'disk'}"
    gossamer("crawl", site, "--min-delay", "0", "--max-pages", "1", "--dir", "mine", "--set", at, "-q")
    shutil.copytree("mine", "copy", symlinks=True)
    ran = gossamer("refetch", "copy", "--status", "200")
    assert ran.code == 2 and "of which this folder is a copy" in ran.err
    assert not Path("copy/refetch.json").exists()
    assert gossamer("traps", "copy", "--release", "/a").err == ran.err
    assert gossamer("refetch", "copy", "--status", "200", "--dry-run").code == 0, "who only looks may"
    assert gossamer("refetch", "mine", "--status", "200").code == 0


def test_the_name_of_a_crawls_folder_is_hardly_a_seed(gossamer: Gossamer, site: str) -> None:
    gossamer("crawl", site, "--min-delay", "0", "--dir", "mine", "-q")
    for name in ("mine", "mine/"):
        ran = gossamer("crawl", name)
        assert ran.code == 2
        assert (
            f"'gossamer resume {name}' goes on with it; to crawl a host of that name write http://mine/"
            in ran.err
        )


def test_a_path_of_this_machine_is_no_host(gossamer: Gossamer) -> None:
    site = Path("a site")
    site.mkdir()
    for given in ("./a site", f"{site.absolute()}/"):
        ran = gossamer("crawl", given)
        assert (ran.code, ran.err.endswith(f"write {site.resolve().as_uri()}/\n")) == (2, True)
