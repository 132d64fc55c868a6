"""Code that was handed in and raises is named once as a warning, counted, and does not end the crawl."""

import asyncio
import json
import warnings

import pytest
from small_site import small_site

import gossamer
from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.cli.terminal.ending import say_end
from gossamer.cli.terminal.trouble import Troubles
from gossamer.config.settings import load
from gossamer.crawling.run import run, start
from gossamer.inspect.inspection import inspect

ALONE = {"engine": {"guess_sitemap": False}}
PAGES = {"": "<a href='/a'>a</a><a href='/b'>b</a>", "a": "a", "b": "b"}


def crawl(tmp_path, site, **extensions):
    async def pages():
        return [
            page.url
            async for page in gossamer.crawl(
                site, folder=tmp_path / "crawl", min_delay=0, config=ALONE, **extensions
            )
        ]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        urls = asyncio.run(pages())
    report = json.loads((tmp_path / "crawl" / "report.json").read_text())
    return urls, [warning for warning in caught if warning.category is gossamer.PluginWarning], report


def broken_rule(candidate):
    raise KeyError(candidate.url.host)


def picky_rule(candidate):
    if len(candidate.url.path) > 1:
        raise ValueError("no idea")


def extractor(result, kind="text/html"):
    class Broken:
        name = "broken"
        media_types = frozenset({kind})

        def extract(self, document):
            if isinstance(result, Exception):
                raise result
            return result

    return Broken()


def test_a_scope_rule_that_always_raises(tmp_path):
    with small_site(PAGES.get) as site:
        urls, warned, report = crawl(tmp_path, site, scope_rules=[broken_rule])
    assert urls == []
    assert [str(warning.message).partition(" (")[0] for warning in warned] == [
        "scope rule broken_rule raised KeyError: '127.0.0.1'"
    ]
    assert "test_plugins_that_raise.py, line" in str(warned[0].message)
    assert report["raised"]["scope rule broken_rule"] >= 1


def test_each_rule_is_named_once_and_every_failure_counted(tmp_path):
    with small_site(PAGES.get) as site:
        urls, warned, report = crawl(tmp_path, site, scope_rules=[picky_rule])
    assert urls == [site]
    assert len(warned) == 1 and "ValueError: no idea" in str(warned[0].message)
    assert report["raised"] == {"scope rule picky_rule": 2}


URL = gossamer.Url.parse("http://host.example/")
LINK = gossamer.Link(URL, gossamer.LinkKind.NAVIGATION, "a@href")


@pytest.mark.parametrize(
    "result",
    [
        RuntimeError("no idea"),
        RecursionError(),
        None,
        {"title": "x"},
        gossamer.Findings(title=None),
        gossamer.Findings(text_length="many"),
        gossamer.Findings(links=["http://host.example/"]),
        gossamer.Findings(links=None),
        gossamer.Findings(links=[gossamer.Link("http://host.example/", LINK.kind, LINK.element)]),
        gossamer.Findings(links=[gossamer.Link(URL, "nonsense", LINK.element)]),
        gossamer.Findings(links=[gossamer.Link(URL, LINK.kind, None)]),
        gossamer.Findings(robots=["noindex"]),
        gossamer.Findings(robots=[("robots", None)]),
        gossamer.Findings(fields=["x"]),
    ],
    ids=str,
)
def test_an_extractor_that_raises_or_returns_what_cannot_be_used(tmp_path, result):
    with small_site(PAGES.get) as site:
        urls, warned, report = crawl(tmp_path, site, extractors=[extractor(result)])
    assert sorted(urls) == [site, site + "a", site + "b"], "the other extractors are heard"
    assert len(warned) == 1 and str(warned[0].message).startswith("extractor broken raised ")
    assert report["raised"] == {"extractor broken": 3}


def test_an_observer_that_raises_is_a_warning_too(tmp_path):
    def broken(event):
        raise RuntimeError("no ears")

    with small_site(PAGES.get) as site:
        urls, warned, _ = crawl(tmp_path, site, observers=[broken])
    assert len(urls) == 3
    assert len(warned) == 1 and "no ears" in str(warned[0].message)


def test_warnings_may_be_errors(tmp_path):
    async def pages():
        async for _ in gossamer.crawl(site, min_delay=0, extractors=[extractor(None)]):
            pass

    with small_site(PAGES.get) as site, warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(gossamer.PluginWarning):
            asyncio.run(pages())


def test_what_works_says_nothing(tmp_path):
    found = gossamer.Findings(links=[LINK], robots=[("robots", "noindex")], fields={"words": 3})
    with small_site(PAGES.get) as site:
        urls, warned, report = crawl(tmp_path, site, extractors=[extractor(found)])
    assert (len(urls), warned, report["raised"]) == (3, [], {})


def test_the_command_line_warns_and_counts(tmp_path, capsys):
    folder, troubles = CrawlFolder(tmp_path / "crawl"), Troubles()
    with small_site(PAGES.get) as site:
        tree = {"seeds": [site], "politeness": {"min_delay": 0.0, "factor": 0.0}, **ALONE}
        config = start(folder, load(gossamer.CrawlConfig, tree))
        extensions = Extensions(observers=[troubles.hear], scope_rules=[picky_rule])
        reason = asyncio.run(run(folder, config, extensions, resumed=False))
    said = capsys.readouterr().err
    assert said.count("warning: scope rule picky_rule raised ValueError: no idea") == 1
    with inspect(folder.path) as inspection:
        say_end(reason, json.loads(folder.report.read_text()), inspection, troubles)
    assert "scope rule picky_rule raised 2 times" in capsys.readouterr().err
