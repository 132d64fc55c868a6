"""Finds documents by what they say."""

import contextlib
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from rich.text import Text

from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.private import keep_private
from gossamer.cli.exits import EXIT_NOTHING
from gossamer.cli.request import option_settings, parse_settings
from gossamer.cli.terminal.printing import duration, plural, safe, say, show
from gossamer.cli.terminal.tables import Printer
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.search.searching import Hit, Piece, Results, Searching
from gossamer.search.text.kinds import names_of
from gossamer.search.text.snippets import marked_places, plain
from gossamer.words.amounts import machine_time

_TITLES = 3
"""That are told where nothing is found."""
SOME = "no document has all of these words; these have some"


class Wanted(msgspec.Struct, frozen=True):
    """What the user asks for: options of the command."""

    query: str
    url: str = ""
    limit: int = 10
    offset: int = 0
    facets: bool = False


def run_search(folders: Sequence[Path], wanted: Wanted, *, json: bool) -> None:
    """Print what answers a query; exit 1 if nothing does.

    Raises:
        ConfigError: no crawl lives in a folder, there is no index, or the query is refused.
        StorageError: an index is damaged.
    """
    keep_private()
    with Searching(folders) as searching:
        for folder in searching.without:
            say(f"{folder}: has no search index; '{command_line('index', folder)}' makes it")
        results = searching.search(
            _query(wanted), limit=wanted.limit, offset=wanted.offset, facets=wanted.facets
        )
        if not results.total and results.problem is None and not json:
            titles = [one.title for one in searching.suggest(wanted.query, limit=_TITLES)]
            _say_nothing(folders[0], results.documents, titles)
    if results.problem is not None:
        raise ConfigError(f"query: {safe(str(results.problem))}")
    if json:
        for hit in results.hits:
            show(msgspec.json.encode(_told(hit)).decode())
        if wanted.facets:
            show(
                msgspec.json.encode(
                    {"facets": results.facets, "total": results.total, "estimated": results.estimated}
                ).decode()
            )
    else:
        _print(results, wanted.offset, many=len(folders) > 1)
    if results.some:
        say(SOME)
    if results.behind:
        say(
            f"{plural(results.behind, 'page')} of the archive not in the index yet, the first of them for"
            f" {duration(results.behind_seconds)}"
        )
    if not results.total:
        sys.exit(EXIT_NOTHING)


def _say_nothing(folder: Path, documents: int, titles: Sequence[str]) -> None:
    """And what may help."""
    say(f"nothing found among {plural(documents, 'document')}")
    if titles:
        say(f"  titles like it: {'; '.join(map(safe, titles))}")
    if documents:
        say(
            "  fewer words or filters find more; which sites, types, languages and years there are:"
            f" {command_line('search', folder, '--facets', '--limit', 1)}"
        )


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """How a crawl that looks for an answer goes: options of the command."""

    max_pages: str
    dir: Path | None
    contact: str | None
    min_delay: str | None
    nameserver: tuple[str, ...]
    set: tuple[str, ...]


def run_live(seeds: Sequence[str], wanted: Wanted, live: Live, *, json: bool) -> None:
    """Crawl until a query is answered, and print each hit as it comes; exit 1 if there is none.

    Raises:
        ConfigError: there are no seeds, the query is refused, a setting is wrong, or an extra is missing.
        StorageError: what was fetched cannot be kept.
    """
    import uvloop

    from gossamer.cli.index import How, run_index

    keep_private()
    parsed, problems = parse_settings(live.set)
    if problems:
        raise ConfigError(*problems)
    if not seeds:
        raise ConfigError(
            "--live: name a seed after the query: gossamer search --live 'WORDS' https://example.org/"
        )
    options = {
        "max_pages": live.max_pages,
        "contact": live.contact,
        "min_delay": live.min_delay,
        "nameserver": list(live.nameserver) or None,
    }
    settings = {**option_settings(options), **parsed}
    kept_before = live.dir is not None and CrawlFolder(live.dir).config.exists()
    with warnings.catch_warnings():  # what a crawl warns of is said as all else is
        found = uvloop.run(_show_live(seeds, wanted, live.dir, settings, json=json))
    if live.dir is not None:
        run_index(live.dir, How(once=True), json=False, quiet=True)
        say(
            f"the crawl is kept in {live.dir}; '{command_line('search', live.dir, 'WORD...')}' searches all of it"
        )
    if not found:
        say("nothing found on pages that are new" if kept_before else "nothing found")
        sys.exit(EXIT_NOTHING)


async def _show_live(
    seeds: Sequence[str], wanted: Wanted, folder: Path | None, settings: Mapping[str, object], *, json: bool
) -> int:
    from gossamer.crawling.live_search import search_live

    found = 0
    warnings.showwarning = lambda message, *_, **__: say(safe(str(message)))
    hits = search_live(_query(wanted), seeds, limit=wanted.limit, folder=folder, settings=settings)
    async with contextlib.aclosing(hits):
        async for hit in hits:
            if hit.some and not found:
                say(SOME)
            found += 1
            if json:
                show(msgspec.json.encode(_told(hit)).decode())
            else:
                _print_hit(Printer(highlight=False, soft_wrap=not sys.stdout.isatty()), hit)
    return found


def _query(wanted: Wanted) -> str:
    query, url = wanted.query, wanted.url
    if url:
        query = f"{query} url:{url if '*' in url or '?' in url else f'*{url}*'}"
    return query.strip()


def _told(hit: Hit) -> dict[str, object]:
    """A hit for programs: plain texts, and the places of what was asked for."""
    return {
        "url": hit.url,
        "title": plain(hit.title),
        "snippet": plain(hit.snippet),
        "marked": marked_places(hit.snippet),
        "type": hit.type,
        "language": hit.language,
        "date": machine_time(hit.dated)[:10],
        "captured": machine_time(hit.captured),
        "bytes": hit.size,
        "score": round(hit.score, 3),
        "similar": hit.similar,
        "crawl": hit.crawl,
        "also": hit.also,
    }


def _print(results: Results, offset: int, *, many: bool) -> None:
    console = Printer(highlight=False, soft_wrap=not sys.stdout.isatty())
    for hit in results.hits:
        _print_hit(console, hit, ", ".join((hit.crawl, *hit.also)) if many else "")
    for name, values in results.facets.items():
        counts = ", ".join(f"{safe(one.value)} {one.count:,}" for one in values)
        console.print(Text(f"{name}: {counts}"))
    total = f"{'about ' if results.estimated else ''}{results.total:,}"
    if results.hits:
        last = offset + len(results.hits)
        counted = " (near-duplicates counted each)" if any(hit.similar for hit in results.hits) else ""
        say(f"{offset + 1:,}-{last:,} of {total}{counted}, in {results.seconds * 1_000:,.0f} ms")
    elif results.total and offset:
        say(f"no hits behind the first {offset:,}: {total} answer, near-duplicates counted each")


def _print_hit(console: Printer, hit: Hit, crawl: str = "") -> None:
    title = _shown(hit.title) if hit.title else Text(safe(hit.url))
    title.stylize("bold")
    console.print(title)
    console.print(Text(safe(hit.url), style="cyan"), overflow="fold")
    if hit.snippet:
        console.print(_shown(hit.snippet))
    alike = f"and {plural(hit.similar, 'page')} like it" if hit.similar else ""
    facts = (machine_time(hit.dated)[:10], _called(hit.type), hit.language, alike, crawl)
    console.print(Text("  ".join(safe(fact) for fact in facts if fact), style="dim"))
    console.print()


def _called(media_type: str) -> str:
    """What a media type is called among the facets; its own name, if that says no more than `other`."""
    name = names_of(media_type)[0]
    return media_type.rpartition("/")[2] if name in ("other", "image", "audio", "video") else name


def _shown(pieces: Sequence[Piece]) -> Text:
    text = Text()
    for piece in pieces:
        text.append(safe(piece.text), style="bold yellow" if piece.marked else "")
    return text
