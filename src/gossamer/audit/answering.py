"""Finds out what all links of an audit lead to: from the crawl, from earlier answers, and by asking the rest."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from itertools import groupby

from gossamer.audit.asking import Asker, Found
from gossamer.audit.config import AuditAsked
from gossamer.audit.gathering import archived_page
from gossamer.audit.page import LONGEST_URL
from gossamer.audit.standing import Standing
from gossamer.audit.store import AuditStore, Kept, Target
from gossamer.datasets.tables import host_of
from gossamer.inspect.inspection import Inspection
from gossamer.model.url import Url
from gossamer.policy.linkcheck.fragments import PagePlaces, judge_fragment, names_a_place
from gossamer.policy.linkcheck.verdicts import Code, Judged, LinkVerdict

__all__ = ["Answering"]

_AT_ONCE = 3
"""Links of one host that are being found out; one of them is asked, others wait for another turn."""
_SHORT = 3_600.0
"""Seconds for which what may soon be otherwise is remembered: broken and unknown links."""
_WEB = ("http", "https")
_ALIVE = (LinkVerdict.WELL, LinkVerdict.MOVED)
_NOT_ASKED = Kept(0.0, LinkVerdict.UNKNOWN, Code.NOT_ASKED)


class Answering:
    """Settles the targets of one audit, in three steps: `prepare`, `ask`, `settle`.

    Attributes:
        cached: addresses whose answers were known from an earlier audit.
        waiting: addresses that have to be asked.
    """

    def __init__(
        self, inspection: Inspection, store: AuditStore, standing: Standing, asked: AuditAsked
    ) -> None:
        self._inspection, self._store, self._standing, self._asked = inspection, store, standing, asked
        self._now = time.time()
        self.cached = self.waiting = 0
        store.do("create temp table asking(url text primary key, host text, body int) without rowid")

    def prepare(self) -> None:
        """Sort out which addresses must be asked."""
        for resource, targets in self._by_resource():
            if _unaskable(targets[0]) is not None or self._standing.of(resource) is not None:
                continue
            body = any(names_a_place(target.fragment) for target in targets)
            kept = self._remembered(resource)
            if kept is not None and self._suffices(kept, targets, body=body):
                self.cached += 1
                continue
            if self._asked.outside:
                self._store.do("insert into asking values(?,?,?)", (resource, host_of(resource), body))
                self.waiting += 1
        self._store.do("create index temp.asking_host on asking(host, url)")

    async def ask(self, asker: Asker, tell: Callable[[int], None] = lambda _: None) -> None:
        """Ask what must be asked, several hosts at once.

        Raises:
            StorageError: the disk refuses.
        """
        hosts = iter(
            [row[0] for row in self._store.do("select host from asking group by host order by count(*) desc")]
        )
        done = 0

        async def work() -> None:
            nonlocal done
            for host in hosts:
                async for _ in self._of_host(asker, host):
                    done += 1
                    tell(done)
                self._store.commit()

        async with asyncio.TaskGroup() as group:
            for _ in range(self._asked.hosts):
                group.create_task(work())

    async def _of_host(self, asker: Asker, host: str) -> AsyncIterator[None]:
        running: set[asyncio.Task[None]] = set()
        try:
            for url, body in self._of(host):
                running.add(asyncio.create_task(self._one(asker, url, body=bool(body))))
                while len(running) >= _AT_ONCE:
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        task.result()
                        yield
            for task in running:
                await task
                yield
        finally:
            for task in running:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def _of(self, host: str) -> Iterator[tuple[str, int]]:
        """What is to be asked of a host, some at a time."""
        last = ""
        some = "select url, body from asking where host is ? and url>? order by url limit 500"
        while rows := self._store.do(some, (host, last)).fetchall():
            yield from rows
            last = rows[-1][0]

    async def _one(self, asker: Asker, url: str, *, body: bool) -> None:
        found = await asker.ask(url, body=body)
        if found.kept.code is Code.NOT_ASKED:
            return
        self._store.keep(url, found.kept)
        self._judge_places(url, found)

    def _judge_places(self, url: str, found: Found) -> None:
        if found.kept.verdict not in _ALIVE:
            return
        rows = self._store.do(
            "select fragment from targets where resource=? and fragment<>''", (url,)
        ).fetchall()
        for (fragment,) in rows:
            judged = _of_fragment(fragment, found.places)
            verdict, code = (judged.verdict.value, judged.code.value) if judged is not None else ("", "")
            self._store.do("insert or replace into fragments values(?,?,?,?)", (url, fragment, verdict, code))

    def settle(self) -> None:
        """Write down what each target leads to."""
        for resource, targets in self._by_resource():
            unaskable = _unaskable(targets[0])
            if unaskable is not None:
                kept, cached, places = Kept(0.0, unaskable.verdict, unaskable.code), False, None
            else:
                kept, cached, places = self._answered(resource, targets)
            for target in targets:
                judged = self._judge(target, kept, places)
                told = (
                    kept
                    if judged is None
                    else Kept(0.0, judged.verdict, judged.code, kept.status, "", kept.hops)
                )
                self._store.settle(target.number, told, cached=cached)
        self._store.commit()

    def _answered(self, resource: str, targets: list[Target]) -> tuple[Kept, bool, PagePlaces | None]:
        """What an address is, whether that is of an earlier audit, and its places if the crawl has them."""
        kept = self._standing.of(resource)
        if kept is not None:
            places = None
            if kept.verdict in _ALIVE and any(self._elsewhere(target) for target in targets):
                record = self._standing.record(kept.hops[-1] if kept.hops else resource)
                page = archived_page(self._inspection, record) if record is not None else None
                html = record is not None and "html" in record.media_type
                places = page.places if page is not None else None if html else PagePlaces(html=False)
            return kept, False, places
        kept = self._remembered(resource)
        if kept is None:
            return _NOT_ASKED, False, None
        return kept, kept.asked < self._now, None

    def _judge(self, target: Target, kept: Kept, places: PagePlaces | None) -> Judged | None:
        """What is wrong with the fragment of a target, if its page is well."""
        if kept.verdict not in _ALIVE or not names_a_place(target.fragment):
            return None
        if places is not None:
            return judge_fragment(target.fragment, places)
        table = "fragments" if kept.asked else "here"
        row = self._store.do(
            f"select verdict, code from {table} where url=? and fragment=?",  # noqa: S608 - one of two names
            (target.resource, target.fragment),
        ).fetchone()
        if row is None:
            return Judged(LinkVerdict.UNKNOWN, Code.FRAGMENT_UNREAD)
        return Judged(LinkVerdict(row[0]), Code(row[1])) if row[0] else None

    def _elsewhere(self, target: Target) -> bool:
        """The fragment was not judged on its own page."""
        if not names_a_place(target.fragment):
            return False
        known = self._store.do(
            "select 1 from here where url=? and fragment=?", (target.resource, target.fragment)
        ).fetchone()
        return known is None

    def _suffices(self, kept: Kept, targets: list[Target], *, body: bool) -> bool:
        """Whether an answer of before tells all that is wanted, places included."""
        if kept.verdict not in _ALIVE or not body:
            return True
        return kept.body and all(map(self._knows, targets))

    def _knows(self, target: Target) -> bool:
        if not names_a_place(target.fragment):
            return True
        known = self._store.do(
            "select 1 from fragments where url=? and fragment=?", (target.resource, target.fragment)
        ).fetchone()
        return known is not None

    def _remembered(self, resource: str) -> Kept | None:
        """An answer that counts still: what is well, moved or refused for long, what is not for an hour."""
        kept = self._store.answer(resource, self._now - self._asked.max_age)
        if kept is None or kept.verdict in (*_ALIVE, LinkVerdict.REFUSED) or kept.asked >= self._now - _SHORT:
            return kept
        return None

    def _by_resource(self) -> Iterator[tuple[str, list[Target]]]:
        """Targets with the same address but for their fragments."""
        ordered = self._store.targets(order="resource")
        for resource, targets in groupby(ordered, key=lambda target: target.resource):
            yield resource, list(targets)


def _of_fragment(fragment: str, places: PagePlaces | None) -> Judged | None:
    if not names_a_place(fragment):
        return None
    if places is None:
        return Judged(LinkVerdict.UNKNOWN, Code.FRAGMENT_UNREAD)
    return judge_fragment(fragment, places)


def _unaskable(target: Target) -> Judged | None:
    """What an address amounts to by itself."""
    if not target.valid:
        return Judged(LinkVerdict.BROKEN, Code.INVALID_URL)
    if len(target.resource) >= LONGEST_URL:
        return Judged(LinkVerdict.UNKNOWN, Code.TOO_LONG)
    url = Url.from_serialised(target.resource)
    if url is None or url.scheme not in _WEB:
        return Judged(LinkVerdict.UNKNOWN, Code.SCHEME)
    return None
