"""What brings seeds into a running crawl, and takes them out again."""

import asyncio
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gossamer.control.changes.change_log import Change
from gossamer.control.changes.seeding import SeedFile, complain, sorted_out
from gossamer.control.live_crawl import LiveCrawl, kept
from gossamer.control.socket.protocol import LiveError, invalid
from gossamer.model.url import Url

SEEDS = "seeds"
"""Path in the log of changes."""
MOST_PROBLEMS = 100
UNDOABLE = 1_000
"""Seeds that are noted one by one, so that they can be taken out again."""
LOOK_SECONDS = 1.0
"""How often a watched file is looked at."""


class NewSeeds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """URLs or bare host names."""

    urls: Annotated[list[Annotated[str, Meta(max_length=8_192)]], Meta(min_length=1, max_length=10_000)]


async def add_seeds(live: LiveCrawl, params: NewSeeds, who: str) -> dict[str, Any]:
    """Add seeds; how many were given, and how many of those the crawl did not know."""
    urls, problems = sorted_out(params.urls)
    if problems:
        raise invalid(tuple(problems[:MOST_PROBLEMS]))
    async with live.changing:
        live.refuse_if_ending()
        entries, new = await _add(live, urls, who)
        return {"given": len(urls), "new": new, "changes": entries}


async def _add(live: LiveCrawl, urls: list[Url], who: str) -> tuple[list[Change], int]:
    texts = [url.text for url in urls]
    few = len(texts) <= UNDOABLE
    new: Any = texts if few else f"{len(texts)} seeds"
    entries = await live.note({"path": SEEDS, "new": new, "final": not few}, who=who)
    await kept(live.seeding.keep, texts)
    if not live.config.seeds_file:
        config = msgspec.structs.replace(live.config, seeds_file=live.folder.seeds.name)
        await live.write_down(config)
    return entries, await live.seeding.admit(urls)


async def undo_seeds(live: LiveCrawl, change: Change, who: str) -> list[Change]:
    """Take seeds out again; what they have brought into the scope is dropped when its turn comes."""
    entries = await live.note({"path": SEEDS, "old": change.new, "undoes": change.id, "final": True}, who=who)
    await kept(live.seeding.drop, frozenset(change.new))
    scope = await asyncio.to_thread(live.built.scope_of, live.config)
    live.applier.rejudge(scope, live.built.effective.config, widens=False)
    return entries


async def watch(live: LiveCrawl) -> None:
    """Take in what comes into the watched file, for ever; what cannot be read is told of once."""
    file = SeedFile(live.folder.path, live.built)
    dispatch = live.crawl.parts.dispatch
    told = ""
    while True:
        path = live.config.seeds_watch
        if path:
            dispatch.expect("seeds")
            trouble = await _read(live, file, path)
            if trouble and trouble != told:
                complain(live.built, path, trouble)
            told = trouble
        else:
            dispatch.expect_no_more("seeds")
        await asyncio.sleep(LOOK_SECONDS)


async def _read(live: LiveCrawl, file: SeedFile, path: str) -> str:
    """Take in all lines that are there; what is wrong with the file."""
    more = True
    while more and not live.crawl.parts.dispatch.ended:
        try:
            texts, place = await asyncio.to_thread(file.lines, path)
        except OSError as error:
            return f"cannot be read ({error.strerror}); it is looked for again"
        urls, problems = sorted_out(texts)
        for problem in problems[:MOST_PROBLEMS]:
            complain(live.built, path, problem)
        try:
            async with live.changing:
                if urls:
                    await _add(live, urls, f"the file {path}")
                file.moved(place)
        except LiveError as error:
            return error.message
        more = bool(texts)
    return ""
