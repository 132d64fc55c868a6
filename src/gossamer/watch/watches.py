"""The watches of a crawl, read from its settings."""

import msgspec

from gossamer.assembly.seeds import parse_seed
from gossamer.config.config import CrawlConfig
from gossamer.config.watch_config import WatchConfig, name_of
from gossamer.extract.fields.selector import Selector, read_selector
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url
from gossamer.policy.scope.address_pattern import AddressPattern, address_pattern
from gossamer.policy.watching.conditions import Condition, read_condition
from gossamer.policy.watching.quiet import Quiet, read_quiet
from gossamer.search.extra import is_installed
from gossamer.search.query.asked import Asked
from gossamer.search.query.parser import Unreadable
from gossamer.search.text.asking import read
from gossamer.watch.channels import problem_of
from gossamer.watch.receivers import key_of
from gossamer.watch.seen import Part

__all__ = ["Watch", "page_of", "prove_watches", "watch_of", "watches_of"]


class Watch(msgspec.Struct, frozen=True):
    """One watch, ready to be used.

    Attributes:
        name: unique among those of the crawl.
        pages: texts of the addresses that are watched.
        match: of further ones; `None` for none.
        query: of further ones, by what they say; `None` for none.
        selector: of the part that is looked at; `None` for all the text.
        conditions: one of which must begin to hold; none: any change is told.
        receivers: keys of who is told (`receivers.key_of`).
        quiet: time of day in which nobody is told.
        config: as written.
    """

    name: str
    pages: frozenset[str]
    match: AddressPattern | None
    query: Asked | None
    selector: Selector | None
    conditions: tuple[Condition, ...]
    receivers: tuple[str, ...]
    quiet: Quiet | None
    config: WatchConfig

    @property
    def looks_at(self) -> str:
        """What decides what is seen of a page; where it changes, pages are seen anew."""
        return msgspec.json.encode((self.config.select, self.config.query, *self.config.ignore)).decode()

    @property
    def part(self) -> Part | None:
        """The part of the page that it looks at; `None` for all its text."""
        part = Part(self.config.select, self.config.ignore)
        return part if part != Part() else None

    def is_of(self, url: Url) -> bool:
        """Whether it watches this page, by its address."""
        if url.text in self.pages:
            return True
        return self.match is not None and self.match.matches(url.text)


def watches_of(config: CrawlConfig) -> list[Watch]:
    """All watches of a crawl.

    Raises:
        ConfigError: a query is refused; nothing else, for settings are checked when they are read.
    """
    return [watch_of(one) for one in config.watch]


def watch_of(config: WatchConfig) -> Watch:
    """One watch.

    Raises:
        ConfigError: its query is refused.
    """
    query = None
    if config.query:
        try:
            query = read(config.query)
        except Unreadable as refused:
            raise ConfigError(f"watch {name_of(config)}: query: {refused.why}") from None
    return Watch(
        name_of(config),
        frozenset(page_of(url) for url in config.urls),
        address_pattern(config.match) if config.match else None,
        query,
        read_selector(config.select) if config.select else None,
        tuple(read_condition(words) for words in config.when),
        tuple(dict.fromkeys(map(key_of, config.notify))),
        read_quiet(config.quiet),
        config,
    )


def page_of(text: str) -> str:
    """An address as records have it; a bare host name is one, as it is for seeds."""
    url = parse_seed(text)
    return url.text if isinstance(url, Url) else text


def prove_watches(config: CrawlConfig) -> None:
    """Refuse watches that cannot be followed.

    Raises:
        ConfigError: an extra is not installed, a query is refused, or nobody can be told at an address.
    """
    if any(one.query for one in config.watch) and not is_installed():
        raise ConfigError("watch.query: needs the extra 'search': pip install 'gossamer[search]'")
    named = (to for one in config.watch for to in one.notify if to not in config.notify)
    for to in dict.fromkeys([*named, *(one.to for one in config.notify.values())]):
        if problem := problem_of(to):
            raise ConfigError(f"notify {key_of(to)}: {problem}")
    watches_of(config)
