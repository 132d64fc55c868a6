"""The files of audits: what pages hold, what links lead to, and what was answered, on disk so that memory stays small.

Answers and the digests of pages outlive an audit, for the next one, in a file of their own. All else is made anew each
time, in a file that takes the place of the last audit's once it is whole: whoever reads has the one or the other.
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
from gossamer.state.whole_files import PARTIAL, sync_file

__all__ = ["FOUND", "LASTING", "MOST_HOLDERS", "AuditStore", "FoundStore", "Holder", "Kept", "Target"]

FOUND = "found.sqlite"
"""What the last audit has found that came to its end."""
LASTING = "audit.sqlite"
"""What lasts from one audit to the next."""

MOST_HOLDERS = 100
"""Pages that are listed for one link; of a link on each page of a site that is enough, and all are counted."""

_FORMAT = 2
_LASTING = {
    "answers": """(
        url text primary key, asked real, verdict text, code text, status int, target text, hops text, body int
    )""",
    "fragments": "(url text, fragment text, verdict text, code text, primary key(url, fragment))",
    "origins": "(origin text primary key, asked real, certificate text, ends real, missing text)",
    "before": "(url text primary key, digest blob)",
}
_MADE_ANEW = """
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


class FoundStore:
    """One connection to what an audit has found; every method may raise `StorageError`, if the disk refuses."""

    def __init__(self, path: Path) -> None:
        """Read it as it is now, from any thread, whatever the next audit does meanwhile."""
        self._path = path
        with self._named():
            address = f"{path.absolute().as_uri()}?mode=ro"
            self._db = sqlite3.connect(address, isolation_level=None, uri=True, check_same_thread=False)
            self._db.execute("begin")

    def close(self) -> None:
        """Let go of the file."""
        with self._named():
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


class AuditStore(FoundStore):
    """One connection to the files while an audit is made; one at a time in a folder."""

    def __init__(self, folder: Path) -> None:
        """Begin an audit: with what earlier ones have left to it, and with nothing found."""
        self._path, self._found = folder / LASTING, folder / FOUND
        self._new = folder / f"{FOUND}{PARTIAL}"
        with self._named():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._discard()
            self._db = sqlite3.connect(self._new, isolation_level=None)
            self._db.execute("attach ? as lasting", (str(self._path),))
            for pragma in (
                "lasting.journal_mode = wal",
                "synchronous = off",
                "lasting.synchronous = off",
                "cache_size = -16000",
                "lasting.cache_size = -16000",
                "temp_store = file",
            ):
                self._db.execute(f"pragma {pragma}")
            self._make_lasting()
            self._db.executescript(_MADE_ANEW)
            self._db.execute("begin")

    def _make_lasting(self) -> None:
        version = self._db.execute("pragma lasting.user_version").fetchone()[0]
        if version != _FORMAT:
            for (table,) in self._db.execute(
                "select name from lasting.sqlite_master where type='table'"
            ).fetchall():
                if version != 1 or table not in _LASTING:  # of format 1 these are as they are now
                    self._db.execute(f"drop table lasting.{table}")
        for table, columns in _LASTING.items():
            self._db.execute(f"create table if not exists lasting.{table}{columns} without rowid")
        self._db.execute(f"pragma lasting.user_version = {_FORMAT}")

    def _discard(self) -> None:
        for path in (self._new, self._new.with_name(f"{self._new.name}-journal")):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Keep what lasts, and let go of the files; what was found is lost, if it was not published."""
        with self._named():
            self._db.execute("commit")
            self._db.close()
            self._discard()

    def commit(self) -> None:
        """Keep what was learned so far, also if we are killed."""
        with self._named():
            self._db.execute("commit")
            self._db.execute("begin")

    def publish(self) -> None:
        """Let what was found take the place of what the last audit has found."""
        with self._named():
            self._db.execute("commit")
            sync_file(self._new)
            self._new.replace(self._found)
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
