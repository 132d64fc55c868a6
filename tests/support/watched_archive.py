"""A crawl's folder whose archive is written visit by visit, for those who follow it; no crawl, no network."""

import os

import msgspec
from archive_samples import exchange, open_writer

from gossamer.archive.committed import archive_key
from gossamer.archive.placement import Original
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, to_toml
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import encode

START = 1_800_000_000.0
SITE = "https://shop.example"


class WatchedArchive:
    """Visits are written with a time of their own, `now`, which is the clock of whoever follows, too."""

    def __init__(self, path, **settings):
        self.path = path
        self.now = START
        path.mkdir(parents=True, exist_ok=True)
        self.set(**settings)
        self._environment = Environment.open(path / "state", StateConfig())
        self._writer = open_writer(path / "archive")

    def set(self, **settings):
        config = load(CrawlConfig, {"seeds": [SITE], "engine": {}, **settings})
        written = CrawlFolder(self.path).config
        written.write_text(to_toml(config))
        os.utime(written, (self.now, self.now))

    def clock(self):
        return self.now

    def visit(self, name, html="", *, status=200, at=None, headers=(), kind="text/html", unmodified=False):
        """One visit, committed."""
        self.now = at if at is not None else self.now + 60
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n"
        head += "".join(f"{field}: {value}\r\n" for field, value in headers)
        body = html if isinstance(html, bytes) else html.encode()
        visited = exchange(
            body, url=f"{SITE}/{name}", status=status, started=self.now, head=f"{head}\r\n".encode()
        )
        original = (
            Original(f"{SITE}/{name}", "2027-01-01T00:00:00Z", b"\0" * 32, "urn:uuid:0")
            if unmodified
            else None
        )
        self._writer.append(visited, (), original)
        batch = self._environment.batch()
        for file in self._writer.positions():
            batch.put(Family.META, archive_key(file.name), encode(file))
        self._environment.commit(batch)
        self._writer.committed()

    def close(self):
        self._writer.close()
        self._environment.close()


def page(*lines, title="A page"):
    return f"<title>{title}</title>" + "".join(f"<p>{line}</p>" for line in lines)


def watch(**fields):
    return [{"name": "w", "urls": [f"{SITE}/a"], "gather": 0, **fields}]


def builtins(value):
    return msgspec.to_builtins(value)
