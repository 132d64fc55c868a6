"""Reads the seeds of a crawl: few from its configuration, any number from a file, one a line."""

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, of
from gossamer.model.url import Url
from gossamer.policy.scope.rules import seed_directory
from gossamer.state.whole_files import write_pieces

_WITH_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:[/\\]+([^/\\?#]*)", re.IGNORECASE)
"""An address that begins with a scheme, unlike `localhost:8080`; group 1 may hold user and password."""

STANDARD_INPUT = "-"
MOST_PROBLEMS = 100
NO_SEEDS = of("seeds", Reason(ProblemCode.NO_SEEDS))


class Seeds:
    """The seeds of one crawl, read anew each time they are gone through, so that none is held in memory.

    Args:
        config: holds seeds, or the name of the file that does, or both.
        folder: what the name of the file is relative to.
    """

    def __init__(self, config: CrawlConfig, folder: Path = Path()) -> None:
        self._texts = (*config.seeds, *(seed.known_as.text for seed in config.seed))
        self._more_to_come = bool(config.seeds_watch) or config.demand.stay
        self._file = folder / config.seeds_file if config.seeds_file else None

    def __iter__(self) -> Iterator[Url]:
        """Those that are URLs; `prove` tells of the others.

        Raises:
            ConfigError: the file cannot be read.
        """
        return (url for text in self.texts() if isinstance(url := parse_seed(text), Url))

    def texts(self) -> Iterator[str]:
        """As they were written.

        Raises:
            ConfigError: the file cannot be read.
        """
        yield from self._texts
        if self._file is not None:
            yield from _lines(self._file)

    def prove(self) -> None:
        """Check that there are seeds, and that each is one.

        Raises:
            ConfigError: there are none, the file cannot be read, or some (all are listed, up to a
                hundred) cannot be used.
        """
        problems: list[Reason] = []
        seeds = wrong = 0
        try:
            for seed in (parse_seed(text) for text in self.texts()):
                seeds += 1
                if isinstance(seed, Reason):
                    wrong += 1
                    if wrong <= MOST_PROBLEMS:
                        problems.append(seed)
        except ConfigError as error:
            seeds += 1
            problems += error.reasons
        if wrong > MOST_PROBLEMS:
            problems.append(of("seeds", because(ProblemCode.MORE_SEEDS, wrong - MOST_PROBLEMS)))
        if not seeds and not self._more_to_come:
            problems.append(NO_SEEDS)
        if problems:
            raise ConfigError(*problems)

    def keep(self, folder: CrawlFolder) -> str:
        """Copy the file, if there is one, into the crawl's folder; the name of the copy, or empty.

        Raises:
            ConfigError: it cannot be read.
            StorageError: the copy cannot be written.
        """
        if self._file is None:
            return ""
        write_pieces(folder.seeds, (f"{text}\n".encode() for text in _lines(self._file)))
        return folder.seeds.name


def parse_seed(text: str) -> Url | Reason:
    """A seed as URL, a bare host name standing for its http address; or what is wrong with it."""
    whole = text.strip()
    if _WITH_SCHEME.match(whole) is None:
        whole = f"http://{whole}"
    url = Url.parse(whole)
    authority = _WITH_SCHEME.match(whole)
    login = authority[1].rpartition("@")[0] if authority is not None else ""
    if url is not None and login:
        # The text would end up in crawl.toml and in shell histories; it is not repeated here either.
        return of("seeds", because(ProblemCode.SEED_PASSWORD, url.text, url.origin.removeprefix("https://")))
    if url is None:
        shown = text.replace(login, "...", 1) if login else text
        return of("seeds", because(ProblemCode.SEED, shown))
    return url


def crawl_name(url: Url) -> str:
    """What a crawl is called that begins there, if nobody calls it otherwise: `crawl-example.org`."""
    place = url.host or url.path.strip("/").rpartition("/")[2] or url.scheme
    host = "".join(char if char.isalnum() or char in ".-" else "-" for char in place)
    port = "" if url.origin.endswith(url.host) else f"-{url.port}"
    return f"crawl-{host}{port}"


def with_own_folders(config: CrawlConfig) -> CrawlConfig:
    """The same where files of this machine may be fetched from the folders of the seeds, too.

    For whoever owns the machine; of the jobs of a daemon the folders must be named, and are looked at.
    """
    seeds = (url for text in config.seeds if isinstance(url := parse_seed(text), Url) and not url.host)
    named = (os.fsdecode(unquote_to_bytes(seed_directory(url))) for url in seeds)
    folders = tuple(dict.fromkeys((*config.fetch.folders, *named)))
    if folders == config.fetch.folders:
        return config
    return msgspec.structs.replace(config, fetch=msgspec.structs.replace(config.fetch, folders=folders))


def parse_seeds(texts: Iterable[str]) -> list[Url]:
    """Seeds as URLs.

    Raises:
        ConfigError: lists every seed that is no URL we can fetch.
    """
    seeds = [parse_seed(text) for text in texts]
    if problems := [seed for seed in seeds if isinstance(seed, Reason)]:
        raise ConfigError(*problems)
    return [seed for seed in seeds if isinstance(seed, Url)]


@contextlib.contextmanager
def rereadable(source: str | None) -> Iterator[str | None]:
    """The name of a file that can be read more than once; what comes on standard input is set down in one.

    Raises:
        ConfigError: standard input is not text.
    """
    if source != STANDARD_INPUT:
        yield source
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="gossamer-seeds-") as file:
        try:
            file.writelines(sys.stdin)
        except UnicodeError:  # where the locale is C, bytes that are no text come as surrogates
            raise _unreadable(STANDARD_INPUT, "not UTF-8") from None
        file.flush()
        yield file.name


def _lines(file: Path) -> Iterator[str]:
    """One seed a line; empty lines and lines that begin with # are left out."""
    try:
        with file.open(encoding="utf-8-sig") as lines:  # editors on Windows begin a file with a mark
            for line in lines:
                if (text := line.strip()) and not text.startswith("#"):
                    yield text
    except UnicodeDecodeError:
        raise _unreadable(str(file), "not UTF-8") from None
    except OSError as error:
        raise _unreadable(str(file), error.strerror or str(error)) from None


def _unreadable(source: str, reason: str) -> ConfigError:
    return ConfigError(f"seeds_file: {source}: cannot be read ({reason}). Give a UTF-8 file or '-'.")
