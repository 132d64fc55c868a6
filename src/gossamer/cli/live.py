"""Changes a crawl that runs, from another terminal."""

import asyncio
import getpass
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gossamer.assembly.folder import CrawlFolder
from gossamer.cli.request import parse_settings
from gossamer.cli.terminal.printing import plural, safe, show, show_json
from gossamer.control.socket.client import ask
from gossamer.control.socket.protocol import LiveError, NotRunning
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError


def show_set(path: Path, settings: Sequence[str], *, json: bool) -> None:
    """Change settings, and print what they were and are."""
    changes, problems = parse_settings(settings)
    if problems:
        raise ConfigError(*problems)
    entries = _ask(path, "set", {"changes": changes})
    if json:
        show_json(entries)
        return
    for entry in entries:
        show(
            f"{safe(entry['path'])}: {_value(entry['old'])} -> {_value(entry['new'])} (change {entry['id']})"
        )
    if not entries:
        show("nothing changes: it is so already")


def show_undo(path: Path, number: int, *, json: bool) -> None:
    """Take the latest change of a running crawl back."""
    entries = _ask(path, "undo", {"id": number})
    if json:
        show_json(entries)
    else:
        show(f"change {number} is taken back" + (f" ({plural(len(entries), 'entry')})" if entries else ""))


def show_pause(path: Path, *, on: bool, json: bool) -> None:
    """Pause the crawl, or let it go on."""
    answer = _ask(path, "pause" if on else "unpause", {})
    if json:
        show_json(answer)
    elif on:
        show(f"{answer['state']}: nothing more is asked for; '{command_line('unpause', path)}' goes on")
    else:
        show(f"{answer['state']}")


def show_changed(path: Path, urls: Sequence[str], *, new: bool, json: bool) -> None:
    """Say that pages have changed, and print what became of them."""
    heard: dict[str, int] = {}
    for start in range(0, len(urls), _URLS_AT_ONCE):
        answer = _ask(path, "changed", {"urls": list(urls[start : start + _URLS_AT_ONCE]), "new": new})
        heard = {name: heard.get(name, 0) + number for name, number in answer.items()}
    if json:
        show_json(heard)
        return
    told = [f"{number:,} {_HEARD[name]}" for name, number in heard.items() if number]
    show("; ".join(told))


_URLS_AT_ONCE = 1_000
_HEARD = {
    "due": "due sooner than before",
    "known": "known, but due no sooner: nothing new is said of them, or who says so is not believed",
    "new": "new",
    "unknown": "not known to the crawl, or outside its scope",
    "held": "held until their key is proved",
    "wrong": "no URLs",
}


def _ask(path: Path, method: str, params: dict[str, Any]) -> Any:
    """The answer of the crawl in `path`.

    Raises:
        ConfigError: it does not run, or says no.
    """
    try:
        return asyncio.run(ask(path, method, params, who=who()))
    except NotRunning:
        raise ConfigError(_not_running(path, method)) from None
    except LiveError as error:
        raise ConfigError(*reasons_of(path, error)) from None


def reasons_of(path: Path, error: LiveError) -> list[str]:
    """What a crawl finds wrong, a line each."""
    problems = [f"{one.path}: {one.problem}" if one.path else one.problem for one in error.details]
    return problems or [f"{path}: {error.message}"]


def _not_running(path: Path, method: str) -> str:
    if not CrawlFolder(path).config.exists():
        return f"{path}: holds no crawl. Give the folder of one (the --dir of 'gossamer crawl')."
    if method == "set":
        way = command_line("resume", path, "--set", "NAME=VALUE")
        return f"{path}: no crawl runs there. '{way}' begins with a setting."
    return f"{path}: no crawl runs there. '{command_line('resume', path)}' goes on with it."


def who() -> str:
    """Who sits here, by the name of the system; noted with what is changed."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # the user has no name here
        return "someone"


def _value(value: Any) -> str:
    return "unset" if value is None else safe(str(value))
