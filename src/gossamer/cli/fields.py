"""Tries selectors on one page, live or as archived, and shows what they find."""

import json as json_text
from pathlib import Path

import msgspec

from gossamer.cli.looked_into import looked_into
from gossamer.cli.one_page import one_page
from gossamer.cli.request import by_option
from gossamer.cli.terminal.printing import plural, safe, say, show, show_json
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge, read_toml
from gossamer.extract.encodings.charset import charset_of
from gossamer.extract.fields.extractor import Group, read_groups
from gossamer.extract.fields.selector import Parsed
from gossamer.extract.media_type import declared_type, media_type
from gossamer.inspect.archive.lookup import captures_of, content_of, read_back
from gossamer.inspect.why.story import url_of
from gossamer.model.errors import ConfigError
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
    try:
        read = load(CrawlConfig, {"fields": tree.get("fields", {}), "seeds": ["example.org"]}).fields
    except ConfigError as error:
        raise ConfigError(*(by_option(problem, {"fields": fields}) for problem in error.reasons)) from None
    groups = read_groups(read)
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
    page = one_page(text)
    url = Url.from_serialised(page.url)
    assert url is not None
    if page.status not in (
        0,
        200,
    ):  # 0: of a protocol without statuses, where what came is what was asked for
        say(f"status {page.status}")
    return Parsed(page.content, page.page.charset, url), url


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
