"""Robots files on the road: redirects across hosts, holds, expiry, several origins of one host."""

import asyncio
import gzip
import time
from collections import Counter

import pytest
from small_site import Site
from warcio.archiveiterator import ArchiveIterator
from whole_crawl import QUICK

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge, read_toml
from gossamer.crawling.run import reopen, run, start
from gossamer.engine.settlement import settlement
from gossamer.inspect.inspection import inspect
from gossamer.inspect.why.story import Storyteller


def html(*links):
    body = "".join(f'<a href="{link}">x</a>' for link in links).encode()
    return 200, {"Content-Type": "text/html"}, body


def crawl(path, seeds, *, again=False, **changes):
    settings = {**QUICK, "fetch.allow_private": True, "scope.mode": "host"}
    settings |= {name.replace("__", "."): value for name, value in changes.items()}
    folder = CrawlFolder(path)
    if again:
        reopen(folder)
        config = load(CrawlConfig, merge(read_toml(folder.config), settings))
    else:
        config = start(folder, load(CrawlConfig, merge({"seeds": seeds}, settings)))
    return asyncio.run(run(folder, config, Extensions(), resumed=again))


def state_of(path, url):
    with inspect(path) as inspection:
        return Storyteller(inspection).tell(url)


def test_the_robots_file_is_asked_for_once_per_origin_whatever_the_workers(tmp_path):
    def answer(host, path, asked):
        if path == "/robots.txt":
            return 200, {}, b"User-agent: gossamer\nDisallow: /secret\n"
        return html(*(f"/{number}" for number in range(20)), "/secret/1")

    with Site(answer) as site:
        crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"], politeness__visits_per_host=8)
    paths = Counter(path for _, path in site.asked)
    assert paths["/robots.txt"] == 1
    assert paths["/secret/1"] == 0
    assert max(paths.values()) == 1
    story = state_of(tmp_path / "c", f"http://127.0.0.1:{site.port}/secret/1")
    assert story.state == "dropped"
    assert any("Disallow: /secret" in fact.text for fact in story.facts)


def test_rules_of_a_redirected_file_hold_for_the_first_origin(tmp_path):
    def answer(host, path, asked):
        if path == "/robots.txt" and host.startswith("127.0.0.1"):
            return 301, {"Location": f"http://127.0.0.2:{host.partition(':')[2]}/rules"}, b""
        if path == "/rules":
            return 200, {}, b"User-agent: *\nDisallow: /no\n"
        return html("/yes", "/no")

    # The same port on another loopback address is another host.
    with Site(answer) as first, Site(answer, "127.0.0.2", first.port) as second:
        crawl(tmp_path / "c", [first.address])
    assert [path for _, path in first.asked] == ["/robots.txt", "/", "/yes"]
    assert [path for _, path in second.asked] == ["/rules"]


def test_an_unreachable_robots_file_holds_and_drops_nothing(tmp_path):
    def answer(host, path, asked):
        if path == "/robots.txt":
            return (500, {}, b"") if asked[host, path] <= 2 else (404, {}, b"")
        return html("/a", "/b")

    with Site(answer) as site:
        reason = crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"])
    assert str(reason) == "finished"
    assert [path for _, path in site.asked] == ["/robots.txt"] * 3 + ["/", "/a", "/b"]


def test_a_robots_file_that_does_not_decode_holds_until_it_does(tmp_path):
    rules = b"User-agent: *\nDisallow: /b\n"

    def answer(host, path, asked):
        if path == "/robots.txt":
            packed = gzip.compress(rules)
            return 200, {"Content-Encoding": "gzip"}, packed[:-20] if asked[host, path] == 1 else packed
        return html("/a", "/b")

    with Site(answer) as site:
        crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"])
    assert [path for _, path in site.asked] == ["/robots.txt"] * 2 + ["/", "/a"]


def test_a_hold_survives_a_restart_and_resume_takes_it_up_in_the_end(tmp_path):
    state = {"up": False}

    def answer(host, path, asked):
        if path == "/robots.txt":
            return (404, {}, b"") if state["up"] else (500, {}, b"")
        return html("/a")

    with Site(answer) as site:
        seed = f"http://127.0.0.1:{site.port}/"
        crawl(tmp_path / "c", [seed], engine__give_up_after=0.1, robots__hold_first=3.0)
        assert [path for _, path in site.asked] == ["/robots.txt"]
        story = state_of(tmp_path / "c", seed)
        assert story.state == "waiting"
        assert any("unreachable" in fact.text for fact in story.facts)
        state["up"] = True
        crawl(tmp_path / "c", [seed], again=True, engine__give_up_after=0.1)
    assert [path for _, path in site.asked] == ["/robots.txt", "/robots.txt", "/", "/a"]


def test_a_dead_port_holds_its_own_origin_only(tmp_path):
    def answer(host, path, asked):
        return (404, {}, b"") if path == "/robots.txt" else html("http://127.0.0.1:1/dead", "/a", "/b")

    with Site(answer) as site:
        crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"], engine__give_up_after=0.1)
    assert [path for _, path in site.asked][-2:] == ["/a", "/b"]
    assert state_of(tmp_path / "c", "http://127.0.0.1:1/dead").state == "waiting"


def test_robots_may_be_ignored_by_name(tmp_path):
    def answer(host, path, asked):
        return (200, {}, b"User-agent: *\nDisallow: /\n") if path == "/robots.txt" else html("/a")

    with Site(answer) as site:
        crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"], robots__obey=False)
    assert [path for _, path in site.asked] == ["/", "/a"]


def test_retry_after_rests_the_host_and_does_not_use_up_the_url(tmp_path):
    moments = []

    def answer(host, path, asked):
        if path == "/robots.txt":
            return 404, {}, b""
        moments.append(time.monotonic())
        if asked[host, "/"] <= 5:
            return 429, {"Retry-After": "1" if asked[host, "/"] == 1 else "0"}, b""
        return html()

    with Site(answer) as site:
        crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"], retry__url_waits=[])
    assert [path for _, path in site.asked] == ["/robots.txt"] + ["/"] * 6
    assert moments[1] - moments[0] >= 1.0
    assert state_of(tmp_path / "c", f"http://127.0.0.1:{site.port}/").state == "done"


def test_not_modified_refers_to_a_record_with_a_body(tmp_path):
    """Two hosts have the same file, so that of the second there is but a reference to the first."""

    def answer(host, path, asked):
        if path == "/robots.txt":
            again = asked[host, path] > 1
            return 304 if again else 200, {"ETag": '"1"'}, b"" if again else b"User-agent: *\nDisallow: /no\n"
        if path == "/":
            time.sleep(1.1)  # the file is out of date by then
        return html("/a")

    with Site(answer) as site:
        seeds = [f"http://{name}:{site.port}/" for name in ("127.0.0.1", "localhost")]
        crawl(tmp_path / "c", seeds, robots__max_age=1.0)
    archived = []
    for path in (tmp_path / "c").rglob("*.warc.gz"):
        with path.open("rb") as file:
            archived += [record.rec_headers for record in ArchiveIterator(file)]
    bodies = {
        (fields.get_header("WARC-Target-URI"), fields.get_header("WARC-Date"))
        for fields in archived
        if fields.get_header("WARC-Type") == "response"
    }
    unmodified = [
        fields for fields in archived if "not-modified" in (fields.get_header("WARC-Profile") or "")
    ]
    assert {fields.get_header("WARC-Target-URI") for fields in unmodified} == {
        f"{seed}robots.txt" for seed in seeds
    }
    for fields in unmodified:
        names = ("WARC-Refers-To-Target-URI", "WARC-Refers-To-Date")
        assert tuple(map(fields.get_header, names)) in bodies


def moved(host, path, asked):
    """A site that leads from `localhost` to 127.0.0.1, which alone says where its sitemaps are."""
    name, _, port = host.partition(":")
    there = f"http://127.0.0.1:{port}"
    if path == "/start":
        return html(f"{there}/met")
    if name == "localhost":
        return 301, {"Location": there + path}, b""
    if path == "/robots.txt":
        return 200, {}, f"Sitemap: {there}/sitemap.xml".encode()
    if path == "/sitemap.xml":
        return 200, {"Content-Type": "text/xml"}, f"<urlset><loc>{there}/listed</loc></urlset>".encode()
    return html("/met")


def asked_there(site):
    return Counter(path for host, path in site.asked if host.startswith("127.0.0.1"))


@pytest.mark.parametrize("remembered", [True, False])
def test_what_was_turned_away_of_a_host_comes_in_once_a_seed_redirects_there(tmp_path, remembered):
    with Site(moved) as site:
        seeds = [f"http://localhost:{site.port}{path}" for path in ("/start", "/")]
        crawl(tmp_path / "c", seeds, engine__record_rejected=remembered)
    listed = ["/sitemap.xml", "/listed"] if remembered else []
    assert asked_there(site) == Counter(["/robots.txt", "/", "/met", *listed])


def test_it_comes_in_also_if_the_crawl_dies_as_soon_as_the_redirect_is_settled(tmp_path, monkeypatch):
    deaths = []

    def die(name):
        if name == "settlement.committed" and not deaths and (f"localhost:{site.port}", "/") in site.asked:
            deaths.append(name)
            raise RuntimeError("dead")

    monkeypatch.setattr(settlement, "fault_point", die)
    with Site(moved) as site:
        with pytest.raises(ExceptionGroup):
            crawl(tmp_path / "c", [f"http://localhost:{site.port}/"])
        assert deaths
        assert "/sitemap.xml" not in asked_there(site)
        crawl(tmp_path / "c", [], again=True)
    assert asked_there(site) == Counter(["/robots.txt", "/", "/met", "/sitemap.xml", "/listed"])


@pytest.mark.parametrize(
    ("robots", "asked"),
    [
        ((404, {}, b""), 1),
        ((200, {}, b"User-agent: *\nDisallow: /x\n"), 1),
        ((200, {}, b"Sitemap: /other.xml\n"), 0),
        ((200, {}, b"User-agent: *\nDisallow: /sitemap\n"), 0),
    ],
)
def test_the_usual_sitemap_is_asked_for_where_none_is_named(tmp_path, robots, asked):
    listed = b"<urlset><url><loc>/hidden.html</loc></url></urlset>"

    def answer(host, path, _):
        known = {
            "/robots.txt": robots,
            "/": html("/a"),
            "/sitemap.xml": (200, {"Content-Type": "text/xml"}, listed),
        }
        return known.get(path, html())

    for name, settings, times in (
        ("a", {}, asked),
        ("b", {"engine__guess_sitemap": False}, 0),
        ("c", {"engine__sitemaps": False}, 0),
        ("d", {"robots__obey": False}, 0),
    ):
        with Site(answer) as site:
            crawl(
                tmp_path / name,
                [f"http://127.0.0.1:{site.port}/"],
                **({"engine__guess_sitemap": True} | settings),
            )
            paths = Counter(path for _, path in site.asked)
        assert (paths["/sitemap.xml"], paths["/hidden.html"]) == (times, times), name
