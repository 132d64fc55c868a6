import asyncio
import gzip
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_site import small_site

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.crawling.run import run, start
from gossamer.inspect.archive import link_graph
from gossamer.inspect.archive.big_sort import MOST_RUNS, BigSort, LineFile, read_lines
from gossamer.inspect.archive.link_graph import LinkGraph, export_links
from gossamer.inspect.inspection import inspect
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.events import Event, Visited
from gossamer.simweb import CrawlRules, SimulatedWeb, WorldSpec, truth
from gossamer.simweb.world.resource import NAVIGATION
from gossamer.simweb.world.world import World
from gossamer.state.whole_files import version_of

SPEC = WorldSpec(
    hosts=6,
    pages=90,
    page_bytes=2_000,
    cross_links=0.2,
    robots=("rules", "redirect", "absent"),
    codings=("identity", "gzip", "br"),
    charsets=("utf-8/header", "shift_jis/meta", "utf-16le/bom"),
    sitemaps=0.5,
    redirects=0.1,
    far_redirects=0.05,
    copies=0.2,
    leaves=0.1,
    missing=0.05,
    nofollow=0.1,
)


def crawl(path: Path, settings: dict[str, object], extensions: Extensions | None = None) -> None:
    folder = CrawlFolder(path)
    tree = {"politeness": {"min_delay": 0, "factor": 0}, "fetch": {"allow_private": True}, **settings}
    tree["engine"] = {"guess_sitemap": False}
    config = start(folder, load(CrawlConfig, tree))
    asyncio.run(run(folder, config, extensions or Extensions(), resumed=False))


def export(path: Path, **options: object) -> LinkGraph:
    with inspect(path) as inspection:
        return export_links(inspection, **options)  # type: ignore[arg-type]


class Files:
    """The exported files, numbers replaced by what they stand for."""

    def __init__(self, folder: Path) -> None:
        def table(name: str) -> list[list[str]]:
            with gzip.open(folder / f"{name}.tsv.gz", "rt") as lines:
                return [line.removesuffix("\n").split("\t") for line in lines]

        urls, hosts = table("urls"), table("hosts")
        assert [int(row[0]) for row in urls] == list(range(1, len(urls) + 1))
        assert [int(row[0]) for row in hosts] == list(range(1, len(hosts) + 1))
        self.url = {number: url for number, url, _ in urls}
        self.host = {number: name for number, name, _, _ in hosts}
        self.hosts = {name: (int(known), int(pages)) for _, name, known, pages in hosts}
        self.host_of = {url: self.host[host] for _, url, host in urls}
        self.pages = {self.url[number]: int(status) for number, _, status in table("pages")}
        self.requested = {self.url[number]: url for number, url, _ in table("pages")}
        edges = table("page_edges")
        assert edges == sorted(edges, key=lambda row: (int(row[0]), int(row[1]), row[2:]))
        self.edges = {(self.url[one], self.url[other], kind, mark) for one, other, kind, mark in edges}
        assert len(self.edges) == len(edges)
        self.host_edges = {(self.host[a], self.host[b]): int(count) for a, b, count in table("host_edges")}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World, list[str]]:
    path = tmp_path_factory.mktemp("graph") / "crawl"
    with SimulatedWeb(SPEC) as web:
        settings = {
            "seeds": list(web.seeds),
            "scope": {"mode": "any"},
            "documents": {"links": False},  # the truth knows those of markup
            "dns": {"nameservers": [web.nameserver]},
        }
        crawl(path, settings)
        return path, World(SPEC, web.http_port), list(web.seeds)


def expected_edges(world: World, urls: Iterable[str]) -> set[tuple[str, str]]:
    """By the world's own word: navigation, redirects, and what sitemaps list."""
    edges = set()
    for url in urls:
        resource = world.find(*world.atlas.place(url))
        if resource.redirect is not None:
            edges.add((url, world.atlas.url(resource.redirect)))
        elif resource.status == 200:
            led = [link.to for link in resource.links if link.element in NAVIGATION]
            edges |= {(url, world.atlas.url(place)) for place in (*led, *resource.entries)}
    return edges


@pytest.mark.slow
def test_the_graph_is_that_of_the_web_that_was_crawled(crawled: tuple[Path, World, list[str]]) -> None:
    path, world, seeds = crawled
    graph = export(path)
    files = Files(path / "links")
    assert graph.problems == []
    assert not truth(SPEC, seeds, CrawlRules(scope="any", sitemaps=True)).compare(files.pages)
    followed = {(one, other) for one, other, kind, _ in files.edges if kind != "requisite"}
    assert followed == expected_edges(world, files.pages)
    assert {(one, other) for one, other, kind, _ in files.edges if kind == "redirect"} == {
        edge for edge in followed if world.find(*world.atlas.place(edge[0])).redirect is not None
    }
    with inspect(path) as inspection:
        assert inspection.counters.duplicates > 3, "the web has copies, archived as revisits"
    for name in ("urls", "pages", "hosts", "page_edges", "host_edges"):
        with gzip.open(path / "links" / f"{name}.tsv.gz") as lines:
            assert sum(1 for _ in lines) == getattr(graph, name)


@pytest.mark.slow
def test_hosts_sum_up_their_pages(crawled: tuple[Path, World, list[str]]) -> None:
    path, _, _ = crawled
    export(path)
    files = Files(path / "links")
    pairs = Counter((files.host_of[one], files.host_of[other]) for one, other, _, _ in files.edges)
    assert files.host_edges == pairs
    known, pages = Counter(files.host_of.values()), Counter(files.host_of[url] for url in files.pages)
    assert files.hosts == {name: (known[name], pages[name]) for name in known}
    assert all(f"//{host}:" in url for url, host in files.host_of.items())


def test_little_memory_gives_the_same_files(
    crawled: tuple[Path, World, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _, _ = crawled
    export(path)
    monkeypatch.setattr("gossamer.inspect.archive.link_graph.LEAST_MEMORY", 5_000)
    monkeypatch.setattr("gossamer.inspect.archive.link_graph.PAIRS_HELD", 3)
    export(path, target=tmp_path / "small", memory=5_000)
    for file in (path / "links").iterdir():
        assert file.read_bytes() == (tmp_path / "small" / file.name).read_bytes()
    assert [entry.name for entry in tmp_path.iterdir()] == ["small"]


def test_links_of_a_twin_resolve_against_its_own_url_and_marks_are_kept(
    tmp_path: Path,
) -> None:
    twin = '<title>twin</title><a href="leaf.html">same words</a> <img src="i.png">'
    pages = {
        "": '<a href="a/page.html">a</a><a href="b/page.html">b</a><a href="no.html" rel="nofollow">n</a>',
        "a/page.html": twin,
        "b/page.html": twin,
        "a/leaf.html": '<meta name="robots" content="nofollow"><a href="/gone.html">g</a>',
        "b/leaf.html": "<p>leaf",
    }
    with small_site(pages.get) as base:
        crawl(tmp_path / "crawl", {"seeds": [base]})
    export(tmp_path / "crawl")
    files = Files(tmp_path / "crawl" / "links")
    short = {tuple(part.removeprefix(base) for part in edge) for edge in files.edges}
    assert short == {
        ("", "a/page.html", "navigation", ""),
        ("", "b/page.html", "navigation", ""),
        ("", "no.html", "navigation", "nofollow"),
        ("a/page.html", "a/leaf.html", "navigation", ""),
        ("b/page.html", "b/leaf.html", "navigation", ""),
        ("a/page.html", "a/i.png", "requisite", ""),
        ("b/page.html", "b/i.png", "requisite", ""),
        ("a/leaf.html", "gone.html", "navigation", "nofollow"),
    }
    assert files.pages.keys() == {
        base + name for name in ("", *(f"{d}/{p}.html" for d in "ab" for p in ("page", "leaf")))
    }


def test_a_running_crawl_is_exported_as_far_as_it_is_committed(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    found: list[LinkGraph] = []
    visits = 0

    def hear(event: Event) -> None:
        nonlocal visits
        if isinstance(event, Visited) and event.page is not None:
            visits += 1
            if visits == 5:
                found.append(export(path))

    chain = {f"p{n}.html": f'<a href="p{n + 1}.html">next</a>' for n in range(12)}
    with small_site(chain.get) as base:
        crawl(path, {"seeds": [base + "p0.html"]}, Extensions(observers=(hear,)))
    (graph,) = found
    assert graph.problems == []
    assert (graph.pages, graph.page_edges) == (5, 5)
    assert export(path).page_edges == 12


def test_what_is_in_the_way_stays(crawled: tuple[Path, World, list[str]], tmp_path: Path) -> None:
    path, _, _ = crawled
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all my work")
    with pytest.raises(ConfigError, match="--out"):
        export(path, target=tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_the_last_graph_is_there_until_the_next_is_whole(
    crawled: tuple[Path, World, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "links"
    export(crawled[0], target=target)
    table = target / "urls.tsv.gz"
    before = version_of(table)
    count = link_graph._Export._count

    def made(self: link_graph._Export, pairs: Iterable[bytes]) -> None:
        assert version_of(table) == before
        count(self, pairs)
        raise StorageError("no more")

    monkeypatch.setattr(link_graph._Export, "_count", made)
    with pytest.raises(StorageError):
        export(crawled[0], target=target)
    assert version_of(table) == before
    monkeypatch.setattr(link_graph._Export, "_count", count)
    with table.open("rb") as reading:
        export(crawled[0], target=target)
        assert version_of(table) != before
        assert reading.read() == table.read_bytes(), "who has begun to read goes on to the end"
    assert [*tmp_path.iterdir()] == [target]


def test_a_damaged_archive_is_named_and_the_rest_is_written(
    crawled: tuple[Path, World, list[str]], tmp_path: Path
) -> None:
    path, _, _ = crawled
    (file,) = (path / "archive").glob("*.warc.gz")
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[: len(whole) // 2] + bytes(200) + whole[len(whole) // 2 + 200 :])
        graph = export(path, target=tmp_path / "damaged")
    finally:
        file.write_bytes(whole)
    assert any(file.name in problem for problem in graph.problems)
    assert 0 < graph.pages < export(path).pages


# The sort


@given(st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line)), st.integers(50, 2_000))
def test_sorts_any_lines_each_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], memory: int
) -> None:
    folder = tmp_path_factory.mktemp("sort")
    sort = BigSort(folder, "x", memory)
    for line in lines:
        sort.add(line)
    assert list(sort) == sorted(set(lines))
    assert list(folder.iterdir()) == []


def test_runs_are_merged_before_they_are_too_many(tmp_path: Path) -> None:
    sort = BigSort(tmp_path, "x", 200)
    lines = [b"%06d" % random.Random(n).randrange(10**6) for n in range(6_000)]
    for line in lines:
        sort.add(line)
        assert len(list(tmp_path.iterdir())) <= 3 * MOST_RUNS
    assert list(sort) == sorted(set(lines))


def test_a_line_file_reads_back(tmp_path: Path) -> None:
    lines = [b"", b"a\tb", b"x" * 100_000]
    with LineFile(tmp_path / "f") as out:
        for line in lines:
            out.write(line)
    assert list(read_lines(tmp_path / "f")) == lines
    assert out.lines == 3
