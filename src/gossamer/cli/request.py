"""Turns the command line of `gossamer crawl` into a configuration, or into all that is wrong with it."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from gossamer.assembly.file_limit import raise_file_limit
from gossamer.assembly.plugins import ordering, prove_plugins
from gossamer.assembly.seeds import NO_SEEDS, Seeds, crawl_name, with_own_folders
from gossamer.config.config import CrawlConfig
from gossamer.config.dotted import join_path, setting_keys
from gossamer.config.older_hosts import renewed_keys
from gossamer.config.options import OPTIONS, overrides
from gossamer.config.presets import with_preset
from gossamer.config.settings import Tree, load, merge, parse_toml, read_toml, resolve_secrets
from gossamer.fetch.config import prove_ca_file
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.reason import Reason, of, placed, text

_FLAGS = {
    "revisit_every": "--every",
    "obey_robots": "--ignore-robots",
    "preset": "--for",
    "fields": "--field",
}
_NUMBERS = frozenset({"max_pages", "max_depth", "workers"})


class Request(msgspec.Struct, frozen=True):
    """What the command line says of a new crawl.

    Attributes:
        options: values by the short names of `gossamer.config.options`, as typed; `None` if not given.
        settings: `NAME=VALUE`, as typed.
    """

    seeds: Sequence[str]
    seeds_file: str | None = None
    config: Path | None = None
    folder: Path | None = None
    options: Mapping[str, object] = {}
    settings: Sequence[str] = ()


def compose(request: Request) -> CrawlConfig:
    """Defaults, then the preset, then the file, then the options.

    Raises:
        ConfigError: lists every problem there is, those of options by the names of the options.
    """
    problems: list[Reason] = []
    tree: Tree = {}
    with _noting(problems):
        tree = read_toml(request.config) if request.config else {}
    settings, unread = parse_settings(request.settings)
    problems += unread
    given = option_settings(request.options)
    seeds_file = request.seeds_file or ""
    if request.seeds or seeds_file:
        given |= {"seeds": list(request.seeds), "seeds_file": seeds_file}
    config = CrawlConfig(seeds=tuple(request.seeds), seeds_file=seeds_file)
    with _noting(problems):
        tree = with_preset(merge(CrawlConfig.renewed(tree), {**given, **settings}))
        config = with_own_folders(load(CrawlConfig, tree))
    with _noting(problems):
        Seeds(config).prove()
    order = str(settings.get("engine.order") or given.get("engine.order") or config.engine.order)
    problems += start_problems(config, order)
    if problems:
        if len(problems) > 1 and NO_SEEDS in problems:
            problems.remove(NO_SEEDS)  # they may stand in what could not be read
        raise ConfigError(
            *(by_option(problem, request.options, from_file=bool(seeds_file)) for problem in problems)
        )
    return config


def option_settings(options: Mapping[str, object]) -> dict[str, object]:
    """Options by their short names as settings by their paths, numbers as such."""
    return overrides({name: _number(name, value) for name, value in options.items()})


def start_problems(config: CrawlConfig, order: str) -> list[Reason]:
    """What would stop a crawl at its start, told before a folder is made or its settings are changed."""
    problems: list[Reason] = []
    for prove in (
        partial(ordering, order, config.order),
        partial(raise_file_limit, config),
        partial(prove_ca_file, config.fetch),
        partial(prove_plugins, config.plugins),
        partial(resolve_secrets, config),
    ):
        with _noting(problems):
            prove()
    return problems


@contextlib.contextmanager
def _noting(problems: list[Reason]) -> Iterator[None]:
    """Note what is wrong with one step, and go on to the next, which may find more."""
    try:
        yield
    except ConfigError as error:
        problems += error.reasons


def parse_settings(settings: Sequence[str]) -> tuple[Tree, list[Reason]]:
    """`NAME=VALUE` as dotted path and TOML value (what is none is text), and what is wrong with others."""
    parsed: Tree = {}
    problems: list[Reason] = []
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            problems.append(text(f"--set {setting!r}: write it as NAME=VALUE, e.g. --set fetch.cookies=true"))
            continue
        try:
            parsed[_path(name.strip())] = parse_toml(f"value = {value}")["value"]
        except ConfigError:
            parsed[_path(name.strip())] = value
    return parsed, problems


def _path(name: str) -> str:
    """As settings are written now; what is no path is told of later, with all else that is wrong."""
    try:
        return join_path(renewed_keys(setting_keys(name)))
    except ValueError:
        return name


def default_folder(config: CrawlConfig) -> Path:
    """`./crawl-<host of the first seed>`.

    Raises:
        ConfigError: there is none yet.
    """
    seed = next(iter(Seeds(config)), None)
    if seed is None:
        raise ConfigError("--dir: a crawl that has no seeds yet needs the name of a folder.")
    return Path(crawl_name(seed))


def _number(name: str, value: object) -> object:
    """Whole numbers come as text, so that a wrong one is listed with all other problems."""
    if name in _NUMBERS and isinstance(value, str) and value.removeprefix("-").isdecimal():
        with contextlib.suppress(ValueError):  # Python reads no more than 4,300 digits
            return int(value)
    return value


def by_option(problem: Reason, given: Mapping[str, object], *, from_file: bool = False) -> Reason:
    """A problem that begins with the path of a setting, told of the option that set it."""
    at, wrong = placed(problem)
    if from_file and at == "seeds_file":
        return text(f"--seeds {wrong}")
    for name, path in OPTIONS.items():
        rest = at.removeprefix(path)
        if given.get(name) is not None and at.startswith(path) and rest[:1] in ("", "[", "."):
            flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
            return of(flag + re.sub(r"^\.", " ", rest), wrong)
    return problem
