"""The file of an audit: what pages hold, what links lead to, and what was answered, on disk so that memory stays small.

Answers and the digests of pages outlive an audit, for the next one; all else is made anew each time.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from gossamer.audit.page import PageLink
from gossamer.model.errors import StorageError
from gossamer.policy.linkcheck.verdicts import Code, LinkVerdict

__all__ = ["MOST_HOLDERS", "AuditStore", "Holder", "Kept", "Target"]

MOST_HOLDERS = 100
"""Pages that are listed for one link; of a link on each page of a site that is enough, and all are counted."""

_FORMAT = 1
_LASTING = """
create table if not exists answers(
    url text primary key, asked real, verdict text, code text, status int, target text, hops text, body int
) without rowid;
create table if not exists fragments(
    url text, fragment text, verdict text, code text, primary key(url, fragment)
) without rowid;
create table if not exists origins(
    origin text primary key, asked real, certificate text, ends real, missing text
) without rowid;
create table if not exists before(url text primary key, digest blob) without rowid;
"""
_MADE_ANEW = """
drop table if exists pages; drop table if exists targets; drop table if exists holders; drop table if exists findings;
drop table if exists visited; drop table if exists listed; drop table if exists here; drop table if exists made;
create table pages(
    id integer primary key, url text unique, title text, description text, digest blob, noindex int, canonical text,
    hreflang text, words int, changed int, whole blob
);
create table visited(url text primary key, status int, location text) without rowid;
create table here(url text, fragment text, verdict text, code text, primary key(url, fragment)) without rowid;
create table listed(url text primary key, sitemap text) without rowid;
create table targets(
    id integer primary key, url text unique, resource text, fragment text, host text, valid int, kinds text,
    found_on int, verdict text, code text, status int, target text, hops text, cached int
);
create table holders(target int, page int, text text);
create table made(what text);
create table findings(
    id integer primary key, rule text, url text, detail text, pages text, unique(rule, url, detail)
);
"""
_INDEXES = """
create index targets_resource on targets(resource);
create index holders_target on holders(target);
"""


class Target(msgspec.Struct, frozen=True):
    """One address that pages link to.

    Attributes:
        number: its own.
        url: with its fragment.
        resource: without.
        valid: it is a URL at all.
        found_on: how many pages hold it.
        verdict, code, status, target: what it leads to; `target` is where it moved to, empty if it did not.
        hops: addresses on the way, where it redirects.
        cached: the answer is of an earlier audit.
    """

    number: int
    url: str
    resource: str
    fragment: str
    valid: bool
    found_on: int
    verdict: str = ""
    code: str = ""
    status: int = 0
    target: str = ""
    hops: tuple[str, ...] = ()
    cached: bool = False


class Holder(msgspec.Struct, frozen=True):
    """A page that holds a link, and the words of it."""

    url: str
    text: str


class Kept(msgspec.Struct, frozen=True):
    """What is known of an address without its fragment.

    Attributes:
        asked: wall time of the answer.
        target: where it ends, if it redirects.
        hops: addresses on the way, its own first.
        body: the content was looked at, for places.
    """

    asked: float
    verdict: LinkVerdict
    code: Code
    status: int = 0
    target: str = ""
    hops: tuple[str, ...] = ()
    body: bool = False


_TARGET = "id, url, resource, fragment, valid, found_on, verdict, code, status, target, hops, cached"


class AuditStore:
    """One connection to the file; every method may raise `StorageError`, if the disk refuses."""

    def __init__(self, path: Path, *, kept: bool = False) -> None:
        """Open it, for an audit anew; or `kept`, to read what the last one has left, from any thread."""
        self._path = path
        with self._named():
            if kept:
                address = f"{path.absolute().as_uri()}?mode=ro"
                self._db = sqlite3.connect(address, isolation_level=None, uri=True, check_same_thread=False)
                self._db.execute("begin")
                return
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = sqlite3.connect(path, isolation_level=None)
            for pragma in (
                "journal_mode = wal",
                "synchronous = off",
                "cache_size = -16000",
                "temp_store = file",
            ):
                self._db.execute(f"pragma {pragma}")
            version = self._db.execute("pragma user_version").fetchone()[0]
            if version not in (0, _FORMAT):
                for table in ("answers", "fragments", "origins", "before"):
                    self._db.execute(f"drop table if exists {table}")
            self._db.executescript(f"{_LASTING}{_MADE_ANEW}{_INDEXES}pragma user_version = {_FORMAT};")
            self._db.execute("begin")

    def close(self) -> None:
        """Commit and let go of the file."""
        with self._named():
            self._db.execute("commit")
            self._db.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            why = getattr(error, "strerror", None) or error
            raise StorageError(
                f"{self._path}: cannot be read or written ({why}). Free some space, or remove it: the next audit"
                " makes it anew."
            ) from None

    def do(self, statement: str, values: Iterable[Any] = ()) -> sqlite3.Cursor:
        """Run one statement of SQL."""
        with self._named():
            return self._db.execute(statement, tuple(values))

    def commit(self) -> None:
        """Keep what was learned so far, also if we are killed."""
        with self._named():
            self._db.execute("commit")
            self._db.execute("begin")

    def add_links(self, page: int, links: Iterable[PageLink], host_of: Any) -> None:
        """Take in the links of a page."""
        with self._named():
            for link in links:
                number, count = self._db.execute(
                    "insert into targets(url, resource, fragment, host, valid, kinds, found_on) values(?,?,?,?,?,?,1)"
                    " on conflict(url) do update set found_on = found_on + 1,"
                    " kinds = case when kinds like '%navigation%' then kinds else excluded.kinds end"
                    " returning id, found_on",
                    (link.address, link.url, link.fragment, host_of(link.url), link.valid, link.kind.value),
                ).fetchone()
                if count <= MOST_HOLDERS:
                    self._db.execute("insert into holders values(?,?,?)", (number, page, link.text))

    def add_finding(self, rule: str, url: str, detail: dict[str, Any], pages: Iterable[str] = ()) -> None:
        """Note a finding; the same one is noted once."""
        encoded = msgspec.json.encode(detail, order="deterministic").decode()
        listed = msgspec.json.encode(list(pages)).decode()
        self.do(
            "insert or ignore into findings(rule, url, detail, pages) values(?,?,?,?)",
            (rule, url, encoded, listed),
        )

    def targets(self, where: str = "1", order: str = "id") -> Iterator[Target]:
        """Targets, one after the other; others may be written meanwhile."""
        with self._named():
            for row in self._db.execute(f"select {_TARGET} from targets where {where} order by {order}"):  # noqa: S608
                yield _target(row)

    def holders(self, target: int) -> list[Holder]:
        """The pages that hold a link, at most `MOST_HOLDERS`, in the order of the crawl."""
        rows = self.do(
            "select pages.url, holders.text from holders join pages on pages.id = holders.page"
            " where holders.target = ? order by holders.rowid",
            (target,),
        )
        return [Holder(*row) for row in rows]

    def settle(self, number: int, kept: Kept, *, cached: bool) -> None:
        """Write down what a target leads to."""
        hops = msgspec.json.encode(kept.hops).decode() if kept.hops else ""
        self.do(
            "update targets set verdict=?, code=?, status=?, target=?, hops=?, cached=? where id=?",
            (kept.verdict.value, kept.code.value, kept.status, kept.target, hops, cached, number),
        )

    def answer(self, url: str, since: float) -> Kept | None:
        """What was answered to an address after `since`, if anything was."""
        row = self.do(
            "select asked, verdict, code, status, target, hops, body from answers where url=? and asked>=?",
            (url, since),
        ).fetchone()
        if row is None:
            return None
        asked, verdict, code, status, target, hops, body = row
        told = tuple(msgspec.json.decode(hops, type=list[str])) if hops else ()
        return Kept(asked, LinkVerdict(verdict), Code(code), status, target, told, bool(body))

    def keep(self, url: str, kept: Kept) -> None:
        """Remember an answer for later audits."""
        hops = msgspec.json.encode(kept.hops).decode() if kept.hops else ""
        self.do(
            "insert or replace into answers values(?,?,?,?,?,?,?,?)",
            (url, kept.asked, kept.verdict.value, kept.code.value, kept.status, kept.target, hops, kept.body),
        )


def _target(row: tuple[Any, ...]) -> Target:
    number, url, resource, fragment, valid, found_on, verdict, code, status, target, hops, cached = row
    told = tuple(msgspec.json.decode(hops, type=list[str])) if hops else ()
    return Target(
        number, url, resource, fragment, bool(valid), found_on, verdict or "", code or "", status or 0, target or "",
        told, bool(cached),
    )  # fmt: skip
