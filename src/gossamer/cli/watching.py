"""Watches pages, and tells what has changed."""

import asyncio
import contextlib
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.folder_lock import Busy
from gossamer.assembly.private import keep_private
from gossamer.cli.crawl import conduct, run_new, taken_up
from gossamer.cli.exits import EXIT_INTERRUPTED, EXIT_NOTHING
from gossamer.cli.request import Request, compose
from gossamer.cli.terminal.printing import plural, safe, say, show, show_json
from gossamer.config.config import CrawlConfig
from gossamer.config.presets import with_preset
from gossamer.config.secret_values import is_reference
from gossamer.config.settings import load, merge, read_toml, to_toml
from gossamer.config.watch_config import WatchConfig, name_of
from gossamer.control.socket.client import ask
from gossamer.control.socket.protocol import LiveError, NotRunning
from gossamer.engine.config import EngineConfig
from gossamer.engine.crawl import Crawl
from gossamer.inspect.clusters.cluster_folder import crawl_folders
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.url import Url
from gossamer.state.environment import Family
from gossamer.state.records import decode_page
from gossamer.state.whole_files import write_whole
from gossamer.watch.following import Following, settings_of
from gossamer.watch.outbox import order_test, retry_failed
from gossamer.watch.shown import ShownNotice, WatchView, last_notices, summed, watch_views
from gossamer.watch.store import beside
from gossamer.watch.watches import Watch, page_of, watches_of
from gossamer.watch.wording import lines_of, notices_as_json, time_text

_AT_ONCE = 1_000
_LOOK = 1.0
"""Seconds between two looks for new notices."""
EVERY = "1h"
"""Time between two visits of a page, if nothing else is said."""


class WatchAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What is watched, as typed."""

    selector: str = ""
    xpath: str = ""
    ignore: tuple[str, ...] = ()
    match: str = ""
    query: str = ""
    when: tuple[str, ...] = ()
    notify: tuple[str, ...] = ()
    quiet: str = ""
    name: str = ""

    def watch(self, urls: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The table `[[watch]]`, and sections `[notify.NAME]` for what must not stand there.

        Raises:
            ConfigError: both kinds of selectors are given.
        """
        if self.selector and self.xpath:
            raise ConfigError("--selector and --xpath exclude each other: give one of them")
        sections: dict[str, Any] = {}
        told = []
        for to in self.notify:
            if is_reference(to):
                name = re.sub(r"[^A-Za-z0-9]+", "-", to.partition(":")[2]).strip("-").lower() or "secret"
                sections[name] = {"to": to}
                told.append(name)
            else:
                told.append(to)
        table = {
            "name": self.name, "urls": list(urls), "match": self.match, "query": self.query,
            "select": self.selector or (f"xpath:{self.xpath}" if self.xpath else ""), "when": list(self.when),
            "ignore": list(self.ignore),
            "notify": told, "quiet": self.quiet,
        }  # fmt: skip
        return {key: value for key, value in table.items() if value}, sections


def run_watch(
    request: Request, asked: WatchAsked, every: str | None, *, once: bool, quiet: bool, json: bool
) -> None:
    """Watch the pages of the request, by a crawl of them alone, until interrupted; or `once`.

    In a folder that has such a crawl already, what is given changes it, and what is not stays as it is.

    Raises:
        ConfigError: lists all that is wrong.
    """
    keep_private()
    folder = request.folder or Path(f"watch-{_host(request.seeds[0])}")
    if CrawlFolder(folder).used:
        config = settings_of(folder)
        _same_pages(folder, config, request.seeds)
        changes = {**request.options, **_changed(folder, config, asked, request.seeds)}
        if every is not None or not (once or config.revisit.enabled):  # it was watched by `once` alone so far
            changes["revisit_every"] = {"*": every or EVERY}
        if not once:
            changes["revisit"] = True
        if request.config is not None and not quiet:
            say(f"--config is for a new folder: {CrawlFolder(folder).config} holds what is in force")
        resume_watch(folder, once=once, quiet=quiet, json=json, settings=request.settings, options=changes)
        return
    further = bool(asked.match or asked.query)
    table, sections = asked.watch([] if further else list(map(page_of, request.seeds)))
    base = load(CrawlConfig, with_preset(read_toml(request.config) if request.config else {}))
    watches = [*map(_table, base.watch), table]
    options: dict[str, object] = {**request.options, "watch": watches}
    if sections:
        options["notify"] = {**msgspec.to_builtins(base.notify), **sections}
    if not further and request.options.get("max_depth") is None:
        options["max_depth"] = 0  # these pages, and nothing that they link to
    options |= {"revisit": None if once else True, "revisit_every": {"*": every or EVERY}}
    settings = request.settings if further else ["engine.guess_sitemap=false", *request.settings]
    request = msgspec.structs.replace(request, options=options, settings=settings, folder=folder)
    config = compose(request)
    watches_of(config)
    if not once and not quiet:
        _say_watching(folder, len(request.seeds))
    with _telling(folder, json=json) as told:
        run_new(request, quiet=True, json=False)
    _end(folder, told, once=once, quiet=quiet)


def resume_watch(
    folder: Path,
    *,
    once: bool,
    quiet: bool,
    json: bool,
    settings: Sequence[str] = (),
    options: Mapping[str, object] = {},
) -> None:
    """Go on with a folder that is watched, by other settings if there are some, as in `Request`."""
    with _telling(folder, json=json) as told:
        crawl, config = taken_up(folder, settings, options, from_checkpoint=False)
        if not once and not quiet:
            _say_watching(folder, len(config.seeds))
        if once:  # for this session alone: crawl.toml stays as it is
            config = msgspec.structs.replace(
                config,
                revisit=msgspec.structs.replace(config.revisit, enabled=False),
                engine=msgspec.structs.replace(config.engine, give_up_after=EngineConfig().give_up_after),
            )
        begin = partial(_visit_all, watches_of(config)) if once else _nothing
        conduct(crawl, config, resumed=True, quiet=True, json=False, begin=begin)
    _end(folder, told, once=once, quiet=quiet)


def _say_watching(folder: Path, pages: int) -> None:
    say(f"watching {plural(pages, 'page')}; Ctrl-C ends it")
    say(f"'{command_line('watch', folder)}' tells how it stands")


def _nothing(_: Crawl) -> None:
    pass


def _visit_all(watches: Sequence[Watch], crawl: Crawl) -> None:
    """Have every page that is watched visited now; of a query every page that was found."""
    frontier = crawl.parts.frontier
    pages: list[bytes] = []
    for key, data in frontier.environment.scan(Family.PAGES):
        url = Url.from_serialised(decode_page(data).url)
        if url is None or url.target == "/robots.txt":
            continue
        if any(watch.query is not None or watch.is_of(url) for watch in watches):
            pages.append(key)
    for at in range(0, len(pages), _AT_ONCE):
        frontier.refetch(pages[at : at + _AT_ONCE])


class _Telling:
    """Prints notices as they come."""

    def __init__(self, folder: Path, *, json: bool) -> None:
        self.count = 0
        self._folder, self._json = folder, json
        self._last = _last_number(folder)

    def tell(self) -> None:
        """Those that have come since."""
        with contextlib.suppress(StorageError):
            notices = last_notices(self._folder, limit=1_000)
            for one in reversed([one for one in notices if one.number > self._last]):
                self.count += 1
                self._last = one.number
                if self._json:
                    show(msgspec.json.encode(notices_as_json([one.notice])[0]).decode())
                else:
                    _show_notice(one)


@contextlib.contextmanager
def _telling(folder: Path, *, json: bool) -> Iterator[_Telling]:
    """While the crawl runs in this thread, print from another what its follower notes."""
    telling, ended = _Telling(folder, json=json), threading.Event()

    def tell() -> None:
        while not ended.wait(_LOOK):
            telling.tell()

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield telling
    finally:
        ended.set()
        thread.join()
        telling.tell()


def _end(folder: Path, told: _Telling, *, once: bool, quiet: bool) -> None:
    if not quiet:
        _say_undelivered(folder, watch_views(folder, settings_of(folder)))
        if once and not told.count:
            say("nothing has changed")
    if once and told.count:
        sys.exit(EXIT_NOTHING)


def run_send(folder: Path, *, once: bool, quiet: bool, json: bool) -> None:
    """Follow the archive and tell, while the crawl runs and until all is read; interrupted, exit 130."""
    keep_private()
    stopped: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        stopped.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    crawl = CrawlFolder(folder)
    while True:
        try:
            following = Following(folder)
            break
        except Busy:  # whoever was started by a crawl that was killed since
            if once or stopped or not crawl.in_use():
                raise
            time.sleep(_LOOK)
    try:
        following.run(lambda: not once and crawl.in_use(), lambda: bool(stopped))
    finally:
        following.close()
    if json:
        show_json({"notices": following.notices, "interrupted": bool(stopped)})
    elif not quiet:
        say(plural(following.notices, "notice"))
        _say_undelivered(folder, watch_views(folder, settings_of(folder)))
    if stopped:
        sys.exit(EXIT_INTERRUPTED)


def show_watches(folder: Path, *, notices: int, json: bool) -> None:
    """How the watches of a crawl, or of a cluster's agents together, stand, and the last notices."""
    folders = _folders(folder)
    views = summed(view for one in folders for view in watch_views(one, settings_of(one)))
    told_last = [one for each in folders for one in last_notices(each, limit=notices)] if notices else []
    last = sorted(told_last, key=lambda one: (one.notice.at, one.number), reverse=True)[:notices]
    if json:
        told = notices_as_json([one.notice for one in last])
        show_json({"watches": msgspec.to_builtins(views), "notices": told})
        return
    for view in views:
        for line in _lines(view):
            show(line)
    if not views:
        show(
            f"nothing is watched in {folder}; '[[watch]]' in {CrawlFolder(folder).config} or 'gossamer watch --help'"
        )
    for one in reversed(last):
        _show_notice(one)
    _say_undelivered(folder, views)


def _folders(folder: Path) -> list[Path]:
    """Those of the crawls in a folder: itself, or those of a cluster's agents.

    Raises:
        ConfigError: it is that of a cluster, and no agent's is on this machine.
    """
    folders = crawl_folders(folder)
    if not folders:
        raise ConfigError(
            f"{folder}: no agent of this cluster has its folder here; ask on a machine that has one"
        )
    return folders


def send_test(folder: Path, *, quiet: bool) -> None:
    """Have a test sent to everybody that watches name."""
    config = settings_of(folder)
    with beside(folder) as database:
        count = order_test(database, watches_of(config), time.time())
    if not count:
        raise ConfigError(f"{folder}: nobody is to be told; give a watch notify = [...]")
    _deliver(folder)
    if not quiet:
        _say_undelivered(folder, watch_views(folder, config))
        say(f"{plural(count, 'test')} sent, or waiting as said above")


def retry(folder: Path) -> None:
    """Have what was given up sent again."""
    with beside(folder) as database:
        count = retry_failed(database, time.time())
    _deliver(folder)
    say(f"{plural(count, 'message')} tried again")
    _say_undelivered(folder, watch_views(folder, settings_of(folder)))


def change_watch(folder: Path, name: str, what: str) -> None:
    """`pause`, `unpause` or `remove` one watch, of a crawl that runs or not."""
    config = settings_of(folder)
    if name not in map(name_of, config.watch):
        known = ", ".join(map(name_of, config.watch)) or "none"
        raise ConfigError(f"{folder}: there is no watch {name}; there are: {known}")
    watches = []
    for watch in config.watch:
        if name_of(watch) != name:
            watches.append(_table(watch))
        elif what != "remove":
            watches.append({**_table(watch), "paused": what == "pause"})
    _set(folder, watches)
    show(f"{safe(name)}: {what}d")


def _set(folder: Path, watches: list[dict[str, Any]]) -> None:
    try:
        asyncio.run(ask(folder, "set", {"changes": {"watch": watches}}, who="watch"))
    except LiveError as error:
        raise ConfigError(f"{folder}: {error.message}") from None
    except NotRunning:
        crawl = CrawlFolder(folder)
        crawl.reopen()
        try:
            config = load(CrawlConfig, merge(read_toml(crawl.config), {"watch": watches}))
            write_whole(crawl.config, to_toml(config))
        finally:
            crawl.release()


def _table(watch: WatchConfig) -> dict[str, Any]:
    defaults = msgspec.to_builtins(WatchConfig())
    return {key: value for key, value in msgspec.to_builtins(watch).items() if value != defaults[key]}


def _deliver(folder: Path) -> None:
    """Send what is due, unless somebody does."""
    try:
        following = Following(folder)
    except ConfigError:
        return
    try:
        following.catch_up(lambda: True)
        following.step()
        until = time.monotonic() + 35
        while following.step() and time.monotonic() < until:
            time.sleep(0.05)
    finally:
        following.close()


def _changed(folder: Path, config: CrawlConfig, asked: WatchAsked, seeds: Sequence[str]) -> dict[str, object]:
    """Options under which the one watch that is asked for is as asked; none if nothing is asked of it.

    Raises:
        ConfigError: there is no such watch, or several.
    """
    table, sections = asked.watch([])
    pages = set(map(page_of, seeds))
    if asked.name:
        meant = [watch for watch in config.watch if name_of(watch) == asked.name]
    elif asked.match or asked.query:
        meant = [watch for watch in config.watch if (watch.match, watch.query) == (asked.match, asked.query)]
    else:
        meant = [watch for watch in config.watch if pages <= set(map(page_of, watch.urls))] or [
            watch for watch in config.watch if watch.match or watch.query
        ]
    changed = [load(WatchConfig, _table(watch) | table) for watch in meant]
    if not table or (meant and changed == meant):
        return {}
    if len(meant) != 1:
        names = ", ".join(map(name_of, meant or config.watch))
        raise ConfigError(
            f"{folder}: {'several watches are' if meant else 'no watch is'} meant: give the --name of one ({names})"
        )
    options: dict[str, object] = {
        "watch": [_table(watch) | (table if watch is meant[0] else {}) for watch in config.watch]
    }
    return options | ({"notify": sections} if sections else {})


def _same_pages(folder: Path, config: CrawlConfig, seeds: Sequence[str]) -> None:
    known = {page for watch in config.watch for page in watch.urls}
    if any(watch.match or watch.query for watch in config.watch):  # what it names is of the crawl's sites
        known |= set(map(page_of, config.seeds))
    if not set(map(page_of, seeds)) <= known:
        raise ConfigError(
            f"{folder}: other pages are watched there. Name another folder with --dir, or add a watch to this one"
        )


def _last_number(folder: Path) -> int:
    last = last_notices(folder, limit=1)
    return last[0].number if last else 0


def _host(seed: str) -> str:
    from gossamer.model.url import Url

    url = Url.parse(page_of(seed))
    return re.sub(r"[^A-Za-z0-9.-]", "_", url.host if url is not None else seed)[:100]


def _lines(view: WatchView) -> list[str]:
    what = view.query or view.match or ", ".join(view.urls[:3])
    lines = [f"{safe(view.name)}" + (f"  {safe(what)}" if what != view.name else "")]
    if view.select:
        lines[0] += f"  {safe(view.select)}"
    lines += [f"  when {safe(words)}" for words in view.when]
    seen = time_text(view.seen) if view.seen else "never"
    changed = time_text(view.changed) if view.changed else "never"
    lines.append(
        f"  {plural(view.pages, 'page')}"
        + (f" ({view.gone:,} gone)" if view.gone else "")
        + f", seen {seen}, changed {changed}, {plural(view.notices, 'notice')}"
        + (f", {view.pending:,} not sent yet" if view.pending else "")
        + (f", {view.failed:,} given up" if view.failed else "")
        + (", paused" if view.paused else "")
    )
    if view.receivers:
        lines.append(f"  tells {', '.join(map(safe, view.receivers))}")
    return lines


def _show_notice(one: ShownNotice) -> None:
    head, *rest = lines_of(one.notice)
    show(f"{time_text(one.notice.at)}  {head}")
    for line in rest:
        show(f"  {line}")


def _say_undelivered(folder: Path, views: Sequence[WatchView]) -> None:
    for view in views:
        for message in view.undelivered:
            what = "a test" if message.test else plural(message.notices, "notice")
            again = (
                f"tried again at {time_text(message.due)}"
                if message.state == "pending"
                else f"given up after {plural(message.attempts, 'attempt')};"
                f" '{command_line('watch', folder, '--retry')}'"
            )
            say(f"  {safe(message.receiver)} was not told of {what}: {safe(message.problem)}; {again}")


def run_on_folder(folder: Path, given: Mapping[str, Any]) -> None:
    """What `gossamer watch FOLDER` does by its options."""
    quiet, json, folders = given["quiet"], given["json"], _folders(folder)
    for what in ("pause", "unpause", "remove"):
        if given[what]:
            for one in folders:
                change_watch(one, given[what], what)
            return
    if given["test"]:
        send_test(folders[0], quiet=quiet)  # all agents tell the same receivers
    elif given["retry"]:
        for one in folders:
            retry(one)
    elif given["send"] or given["once"]:
        if len(folders) > 1 or folders[0] != folder:
            what = "--send" if given["send"] else "--once"
            raise ConfigError(
                f"{folder}: is a cluster, whose agents watch each for themselves:"
                f" {command_line('watch', folders[0], what)}, and so for each of them"
            )
        if given["send"]:
            run_send(folder, once=given["once"], quiet=quiet, json=json)
        else:
            resume_watch(folder, once=True, quiet=quiet, json=json)
    else:
        show_watches(folder, notices=given["notices"], json=json)


def run_on_pages(urls: Sequence[str], folder: Path | None, given: Mapping[str, Any]) -> None:
    """What `gossamer watch URL...` does by its options."""
    for what in ("test", "retry", "send", "pause", "unpause", "remove"):
        if given[what]:
            raise ConfigError(f"--{what}: is for a folder: gossamer watch FOLDER --{what}")
    asked = WatchAsked(
        selector=given["selector"], xpath=given["xpath"], ignore=given["ignore"], match=given["match"],
        query=given["query"], when=given["when"], notify=given["notify"], quiet=given["quiet_time"], name=given["name"],
    )  # fmt: skip
    options = {
        "contact": given["contact"],
        "min_delay": given["min_delay"],
        "nameserver": list(given["nameserver"]) or None,
    }
    request = Request(urls, None, given["config"], folder, options, given["set"])
    run_watch(request, asked, given["every"], once=given["once"], quiet=given["quiet"], json=given["json"])
