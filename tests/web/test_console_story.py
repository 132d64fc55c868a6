"""The story of a URL in the reader's language: all that `why` can say, and what crawls say of their URLs."""

import asyncio
import re
from pathlib import Path
from string import Formatter
from typing import Any

import msgspec
import pytest
from every import every
from live_world import PACED, running_with
from patience import PATIENCE
from small_site import Answer, small_site

from gossamer.control.views.context import view_context
from gossamer.control.views.views import answer_view
from gossamer.inspect.why.sentences import Clause, in_english
from gossamer.web.console.story import chapters, sentence
from gossamer.words.catalogue import words

EN, ZH = words("en"), words("zh")
STORY = {
    key.removeprefix("story."): text for key, text in words("en").table.items() if key.startswith("story.")
}
ENGLISH, CHINESE = re.compile("[A-Za-z]{3}"), re.compile("[\u4e00-\u9fff]")
OF_ALL = re.compile(
    "URL|UTC|robots|Lambda|mode host|opic|best|bfs|sha256|https?:|mailto:x|utf-8|windows-1252"
)
"""Words of every language."""
SAMPLES: dict[str, Any] = {
    "state": "resting",
    "robots": "hold",
    "fault": "timeout",
    "kind": "navigation",
    "reason": ["robots.unreachable", [["timeout", []]]],
    "detail": ["text.also", [["cut.length", []], ["note.nowhere", ["mailto:x"]]]],
    "about": "front page",
    "part": ["worth.eightfold", []],
    "seconds": 1.5,
    "rate": 0.25,
}
"""Values by their names where it matters which; the rest are numbers or names of others."""


def sample(key: str) -> dict[str, Any]:
    """A clause with values, as JSON has it."""
    values: dict[str, Any] = {}
    for text in (STORY[key], str(ZH.table[f"story.{key}"])):
        for _, name, spec, _ in Formatter().parse(text):
            if name is not None and (spec or name not in values):
                values[name] = SAMPLES.get(name, 7 if spec else "#")
    return {"key": key, "values": values}


@every("key", STORY)
def test_every_sentence_is_said_in_chinese(key: str) -> None:
    told = sample(key)
    english = in_english([msgspec.convert(told, Clause)])
    said = sentence([told], "", ZH)
    assert said
    assert not ENGLISH.search(OF_ALL.sub("", said)), said
    if ENGLISH.search(OF_ALL.sub("", english)):
        assert CHINESE.search(said), said
    assert sorted(re.findall(r"[#\d]+", said)) == sorted(re.findall(r"[#\d]+", english))


@every("key", STORY)
def test_the_console_knows_the_english_of_the_command_line(key: str) -> None:
    told = sample(key)
    words_of_values = {"state", "robots", "fault", "kind", "reason", "detail", "about", "part"}
    if not words_of_values & told["values"].keys():
        assert sentence([told], "", EN) == in_english([msgspec.convert(told, Clause)])


@pytest.mark.parametrize(
    "told",
    [
        [],
        [{"key": "of another version", "values": {}}],
        [{"key": "visit.took", "values": {}}],
        [{"key": "visit.took", "values": {"seconds": "soon"}}],
        [{"key": "visit.took", "values": None}],
        [{"key": "outcome.reason", "values": {"reason": 5}}],
        ["?"],
    ],
)
def test_what_a_crawl_of_another_version_says_stays_as_it_says_it(told: list[Any]) -> None:
    assert sentence(told, "its own words", ZH) == "its own words"


def test_what_others_have_said_is_never_read_as_words_of_ours() -> None:
    odd = {"key": "page.title", "values": {"title": "{title.__class__} {0} %s {{"}}
    assert "{title.__class__} {0} %s {{" in sentence([odd], "", ZH)


def test_facts_of_one_heading_stand_together() -> None:
    facts = [
        {"about": "queue", "text": "one", "clauses": [{"key": "queue.first", "values": {}}]},
        {"about": "queue", "text": "two"},
        {"about": "host", "text": "three", "clauses": [{"key": "host.unknown", "values": {}}]},
    ]
    assert chapters({"facts": facts}, ZH) == [
        ("queue", [ZH("story.queue.first"), "two"]),
        ("host", [ZH("story.host.unknown")]),
    ]


def site(path: str) -> Answer | None:
    """Pages with a fate each."""
    links = "".join(f"<a href={at}>x</a>" for at in ("/moved", "/gone", "/shut/x", "/twin", "/busy"))
    page = f"<title>A title</title>{links}<a href=http://elsewhere.test/>y</a>"
    return {
        "": (200, {}, page),
        "twin": (200, {}, page),
        "robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /shut/\n"),
        "moved": (301, {"Location": "/shut/x"}, ""),
        "busy": (500, {}, ""),
    }.get(path)


@pytest.fixture(scope="module", params=["bfs", "opic", "best"])
def crawled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(a folder in which one URL waits still, the address of its site)."""
    path: Path = tmp_path_factory.mktemp("story") / "crawl"

    async def crawl(seed: str) -> None:
        more = {
            "seeds": [seed],
            "scope.mode": "host",
            "retry.url_waits": [3_600],
            "engine.give_up_after": 600,
        }
        async with running_with(path, PACED | more | {"engine.order": request.param}) as live:
            # It ends of itself, as what is left waits for longer than it is willing to.
            await asyncio.wait_for(asyncio.shield(live.task), PATIENCE)

    with small_site(site) as seed:
        asyncio.run(crawl(seed))
        yield path, seed.rstrip("/")


def test_a_crawl_tells_its_stories_in_chinese(crawled: tuple[Path, str]) -> None:
    path, site = crawled
    fates = {"/": "done", "/moved": "done", "/gone": "dropped", "/shut/x": "dropped", "/busy": "waiting"}
    heard: set[str] = set()
    with view_context(path) as look:
        for at, state in {**fates, "/twin#x": "done", "/never": "unknown"}.items():
            story = answer_view(look, "why", {"url": site + at})
            assert story["state"] == state, story
            heard |= _only_chinese(story, site)
        for url in ("http://elsewhere.test/", "http://unheard.test/"):
            heard |= _only_chinese(answer_view(look, "why", {"url": url}), site)
    assert heard >= {
        "found.nowhere", "found.seed", "found.link", "admission.rejected", "visit.answer", "visit.took",
        "outcome.reason", "page.title", "digest.twin", "archive.place", "redirect.target", "queue.for",
        "scope.inside", "scope.outside", "robots.allowed", "robots.forbidden_by", "host.unknown",
        "host.counts",
    }  # fmt: skip


def _only_chinese(story: dict[str, Any], site: str) -> set[str]:
    """The keys of a story, of which no sentence has English words but those of names."""
    keys = set()
    names = re.compile(
        rf"{site}[\w/.]*|[\w-]+\.test|[\w.-]+\.warc\.gz|text/html|Disallow: /shut/|A title|:\w{{64}}"
    )
    for fact in story["facts"]:
        clauses = [msgspec.convert(one, Clause) for one in fact["clauses"]]
        assert in_english(clauses) == fact["text"]
        keys |= {one.key for one in clauses}
        said = sentence(fact["clauses"], "", ZH)
        assert CHINESE.search(said) or fact["about"] == "digest", said
        assert not ENGLISH.search(OF_ALL.sub("", names.sub("", said))), said
    return keys
