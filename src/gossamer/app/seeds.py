"""Reads the seeds of a crawl: few from its configuration, any number from a file, one a line."""

import contextlib
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from gossamer.app.config import CrawlConfig
from gossamer.app.folder import copy_whole
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url

STANDARD_INPUT = "-"
KEPT_AS = "seeds.txt"
"""Name of the copy in the crawl's folder."""
MOST_PROBLEMS = 100
NO_SEEDS = (
    "seeds: there are none. Name at least one URL, like 'gossamer crawl https://example.org/', "
    "or give --seeds FILE."
)


class Seeds:
    """The seeds of one crawl, read anew each time they are gone through, so that none is held in memory.

    Args:
        config: holds seeds, or the name of the file that does, or both.
        folder: what the name of the file is relative to.
    """

    def __init__(self, config: CrawlConfig, folder: Path = Path()) -> None:
        self._texts = config.seeds
        self._file = folder / config.seeds_file if config.seeds_file else None

    def __iter__(self) -> Iterator[Url]:
        """Those that are URLs; `prove` tells of the others.

        Raises:
            ConfigError: the file cannot be read.
        """
        return (url for text in self.texts() if (url := parse_seed(text)) is not None)

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
                hundred) are no URLs that we can fetch.
        """
        number, problems, more = 0, [], 0
        for number, text in enumerate(self.texts(), 1):  # noqa: B007
            if parse_seed(text) is None:
                if len(problems) < MOST_PROBLEMS:
                    problems.append(_problem(text))
                else:
                    more += 1
        if more:
            problems.append(f"seeds: {more} more are not http or https URLs")
        if not number:
            problems.append(NO_SEEDS)
        if problems:
            raise ConfigError(*problems)

    def keep(self, folder: Path) -> None:
        """Copy the file, if there is one, into the crawl's folder.

        Raises:
            ConfigError: it cannot be read.
            StorageError: the copy cannot be written.
        """
        if self._file is not None:
            copy_whole(folder / KEPT_AS, (f"{text}\n" for text in _lines(self._file)))


def parse_seed(text: str) -> Url | None:
    """A seed as URL, a bare host name standing for its http address; `None` if it is none we can fetch."""
    text = text.strip()
    url = Url.parse(text if "://" in text else f"http://{text}")
    return url if url is not None and url.scheme in ("http", "https") else None


def parse_seeds(texts: Iterable[str]) -> list[Url]:
    """Seeds as URLs.

    Raises:
        ConfigError: lists every seed that is no URL we can fetch.
    """
    urls = [(text, parse_seed(text)) for text in texts]
    if problems := [_problem(text) for text, url in urls if url is None]:
        raise ConfigError(*problems)
    return [url for _, url in urls if url is not None]


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
        except UnicodeDecodeError:
            raise _unreadable(STANDARD_INPUT, "not UTF-8") from None
        file.flush()
        yield file.name


def _lines(file: Path) -> Iterator[str]:
    """One seed a line; empty lines and lines that begin with # are left out."""
    try:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                if (text := line.strip()) and not line.startswith("#"):
                    yield text
    except UnicodeDecodeError:
        raise _unreadable(str(file), "not UTF-8") from None
    except OSError as error:
        raise _unreadable(str(file), error.strerror) from None


def _unreadable(source: str, reason: str) -> ConfigError:
    return ConfigError(f"seeds_file: {source}: cannot be read ({reason}). Give a UTF-8 file or '-'.")


def _problem(text: str) -> str:
    return f"seeds: {text!r} is not an http or https URL. Write it like https://example.org/"
