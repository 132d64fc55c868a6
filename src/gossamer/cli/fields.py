"""Tries selectors on one page, live or as archived, and shows what they find."""

import asyncio
import json as json_text
import warnings
from pathlib import Path

import msgspec

from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, say, show, show_json
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge, read_toml
from gossamer.crawling.interface import crawl
from gossamer.extract.encodings.charset import charset_of
from gossamer.extract.fields.extractor import Group, read_groups
from gossamer.extract.fields.selector import Parsed
from gossamer.extract.media_type import declared_type, media_type
from gossamer.inspect.archive.lookup import captures_of, content_of, read_back
from gossamer.inspect.why.story import url_of
from gossamer.model.errors import ConfigError, UnreachableWarning
from gossamer.model.events import Event, Visited
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fetched, Outcome, Refused, Rule
from gossamer.model.url import Url

_SHOWN = 10


class Tried(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the selectors of one group find on a page; `matches`: whether the group is for its address;
    `cut`: fields of which there are more values."""

    group: str
    matches: bool
    found: dict[str, list[object]]
    cut: tuple[str, ...] = ()


def try_fields(
    text: str, fields: dict[str, str], config: Path | None, folder: Path | None, *, json: bool
) -> None:
    """Print what selectors find on a page.

    Args:
        text: address of the page.
        fields: selectors by name.
        config: file with sections `[fields.*]`, used too.
        folder: of a crawl; the page is taken from its archive, with the fields of its configuration.

    Raises:
        ConfigError: a selector cannot be read, there are none, or there is no such page.
    """
    path = config
    if folder is not None:
        with looked_into(folder) as inspection:
            path = config or inspection.each[next(iter(inspection.each))].folder.config
    tree = merge(read_toml(path) if path else {}, {"fields.page": fields} if fields else {})
    groups = read_groups(
        load(CrawlConfig, {"fields": tree.get("fields", {}), "seeds": ["example.org"]}).fields
    )
    if not any(group.selectors for group in groups):
        raise ConfigError("no fields: give --field 'NAME=SELECTOR', or --config FILE with [fields.NAME]")
    page, url = _archived(folder, text) if folder else _live(text)
    tried = [_try(group, page, url) for group in groups]
    if json:
        show_json({"url": url.text, "fields": tried})
        return
    show(safe(url.text))
    for one in tried:
        if not one.matches:
            show(f"[{safe(one.group)}] is not for this address; on it, it would find:")
        for name, values in one.found.items():
            if not values:
                show(f"  {safe(name)}: nothing")
                continue
            count = f"more than {len(values):,} values" if name in one.cut else plural(len(values), "value")
            more = f" (the first of {count})" if len(values) > 1 else ""
            show(f"  {safe(name)}: {_value(values[0])}{more}")
            for value in values[1:_SHOWN]:
                show(f"  {' ' * len(name)}  {_value(value)}")


def _value(value: object) -> str:
    return safe(json_text.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value))


def _try(group: Group, page: Parsed, url: Url) -> Tried:
    found: dict[str, list[object]] = {}
    cut = []
    for name, selector in group.selectors.items():
        page.cut = False
        found[name] = page.values(msgspec.structs.replace(selector, all=True))
        if page.cut:
            cut.append(name)
    return Tried(group.name, group.is_of(url), found, tuple(cut))


def _live(text: str) -> tuple[Parsed, Url]:
    """Ask for it as a crawl does: politely, and not if the robots file forbids it."""
    ended = _Ended()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UnreachableWarning)
        found = asyncio.run(_asked(text, ended))
    if found is None:
        said = next((str(one.message) for one in told), "")
        raise ConfigError(f"{text}: {said or ended.words(text)}")
    return found


class _Ended:
    """How the last visit but those of robots files ended."""

    def __init__(self) -> None:
        self._outcome: Outcome | None = None

    def hear(self, event: Event) -> None:
        """Take note of a visit."""
        if isinstance(event, Visited) and event.lease.candidate.kind is not LinkKind.ROBOTS:
            self._outcome = event.outcome

    def words(self, text: str) -> str:
        """Why there is no page."""
        match self._outcome:
            case Fetched(exchange=exchange):
                return f"status {exchange.said}" if exchange.result is None else exchange.said
            case Refused(rule=Rule.ROBOTS):
                return f"forbidden by the robots file; see 'gossamer robots {text}'"
            case Failed(fault=fault, detail=detail):
                return f"{fault} ({detail})" if detail else str(fault)
        return "no page was got"


async def _asked(text: str, ended: _Ended) -> tuple[Parsed, Url] | None:
    async for page in crawl(text, max_pages=1, follow=False, observers=(ended.hear,)):
        url = Url.from_serialised(page.url)
        assert url is not None
        if 300 <= page.status < 400:
            continue  # what it leads to comes next
        if page.status != 200:
            say(f"status {page.status}")
        return Parsed(page.content, page.page.charset, url), url
    return None


def _archived(folder: Path, text: str) -> tuple[Parsed, Url]:
    with looked_into(folder) as inspection:
        url = url_of(inspection, text)
        found = captures_of(inspection, url)
        if not found:
            raise ConfigError(f"{url.text}: nothing of it is archived in {folder}")
        capture = read_back(inspection, found[-1])
        content = content_of(inspection, capture).content
    declared = declared_type(capture.exchange.headers)
    kind = media_type(declared, content)
    charset = charset_of(content, declared, kind, url.host.rpartition(".")[2])
    return Parsed(content, charset, url), url
