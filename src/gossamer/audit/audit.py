"""Audits a crawl's folder, from its archive to a result."""

import asyncio
import hashlib
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from gossamer.assembly.folder_lock import Busy, lock_folder
from gossamer.assembly.name_resolution import NameRoom
from gossamer.assembly.seeds import Seeds
from gossamer.audit.answering import Answering
from gossamer.audit.asking import Asker, asking_config
from gossamer.audit.config import AuditAsked
from gossamer.audit.excused import Baseline, IgnoreList
from gossamer.audit.gathering import Gathering
from gossamer.audit.manners import Manners
from gossamer.audit.resembling import note_near_duplicates
from gossamer.audit.result import AuditResult, Made, Requests
from gossamer.audit.rules import Rule
from gossamer.audit.site_rules import judge_site
from gossamer.audit.soft import invented
from gossamer.audit.standing import Standing
from gossamer.audit.store import AuditStore
from gossamer.config.effective import Effective
from gossamer.config.settings import resolve_secrets
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.http import HttpModule, LocalFetch
from gossamer.frontier.gates.shared_rests import SharedRests
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import ConfigError, StorageError
from gossamer.policy.linkcheck.verdicts import Code, LinkVerdict
from gossamer.policy.urls.registrable import registrable_domain
from gossamer.state.scratch import Scratch

__all__ = ["FOLDER", "Told", "audited"]

FOLDER = "audit"
"""Of a crawl's folder, where answers and what was found are kept."""
_ENDS_SOON = 21 * 86_400.0
"""Seconds: certificates are made anew a month before they end, so later something has failed."""
_MOST_ORIGINS = 100
_LONGEST_MISSING = 20_000


class Told(msgspec.Struct, frozen=True):
    """Hears how far an audit is: (what is done, how much of it)."""

    hear: Callable[[str, int], None] = lambda _, __: None


@contextmanager
def audited(
    inspection: Inspection,
    asked: AuditAsked,
    baseline: Baseline,
    ignore: IgnoreList,
    told: Told = Told(),  # noqa: B008 - frozen
) -> Iterator[AuditResult]:
    """Audit a crawl; the result can be read while the context is open.

    Answers and digests of pages are kept in the folder, or nowhere where it may not be written.

    Raises:
        ConfigError: a setting of the crawl makes no sense here, or another audit of it is under way.
        StorageError: the disk refuses.
    """
    with _kept(inspection.folder.path) as own:
        store = AuditStore(own)
        try:
            yield asyncio.run(_Audit(inspection, store, asked, told).run(baseline, ignore))
        finally:
            store.close()


@contextmanager
def _kept(folder: Path) -> Iterator[Path]:
    own = folder / FOLDER
    with ExitStack() as stack:
        try:
            stack.callback(os.close, lock_folder(own, "audits this crawl"))
            with tempfile.TemporaryFile(dir=own):
                pass
        except Busy:
            raise
        except (ConfigError, StorageError, OSError):
            own = Path(stack.enter_context(Scratch()))
        yield own


def _shared(folder: str) -> SharedRests | None:
    """The table of rests that crawls of the machine share, if they do."""
    return SharedRests(Path(folder).expanduser()) if folder else None


class _Audit:
    """One audit, step by step."""

    def __init__(self, inspection: Inspection, store: AuditStore, asked: AuditAsked, told: Told) -> None:
        self._inspection, self._store, self._asked, self._told = inspection, store, asked, told
        self._config = resolve_secrets(inspection.config)
        seeds = list(Seeds(inspection.config, inspection.folder.path))
        self._origins = list(dict.fromkeys(seed.origin for seed in seeds if seed.scheme in ("http", "https")))
        self._hosts = frozenset(seed.host for seed in seeds)
        self._domains = frozenset(map(registrable_domain, self._hosts))
        self._by_domain = self._config.scope.mode == "domain"

    def _is_own(self, host: str) -> bool:
        return host in self._hosts or (self._by_domain and registrable_domain(host) in self._domains)

    async def run(self, baseline: Baseline, ignore: IgnoreList) -> AuditResult:
        """Look at the origins, the pages, the links, and the whole."""
        store, asked = self._store, self._asked
        async with self._asker() as asker:
            missing = await self._look_at_origins(asker, self._origins) if asked.outside else {}
            gathering = Gathering(
                self._inspection,
                store,
                missing=missing,
                changed=asked.changed,
                tell=lambda pages: self._told.hear("pages", pages),
            )
            gathering.run()
            self._forget_shells(missing)
            if asked.outside:
                await self._look_at_origins(asker, self._found_origins())
            standing = Standing(self._inspection, store, self._is_own)
            answering = Answering(self._inspection, store, standing, asked)
            answering.prepare()
            self._told.hear("to_ask", answering.waiting)
            if answering.waiting:
                await answering.ask(asker, lambda done: self._told.hear("links", done))
            answering.settle()
            judge_site(store, standing, changed=asked.changed)
            note_near_duplicates(self._inspection, store)
            requests = Requests(asker.requests, answering.cached)
        if gathering.pages:
            store.do("delete from before")
            store.do("insert into before select url, whole from pages")
        made = Made(time.time(), gathering.pages, requests, gathering.problems)
        store.do("insert into made values(?)", (msgspec.json.encode(made).decode(),))
        store.publish()
        return AuditResult(store, baseline, ignore, made)

    @asynccontextmanager
    async def _asker(self) -> AsyncIterator[Asker]:
        config = self._config
        fetch = asking_config(config.fetch)
        guard = AddressGuard(fetch)
        for host in self._hosts if not fetch.allow_private else ():
            guard.allow_host(host)
        dns = msgspec.structs.replace(config.dns, prefetch=False)
        folder = self._inspection.folder
        names = NameRoom(dns, fetch, folder.names)
        local = LocalFetch(Effective(config).credentials, certificates=True)
        shared = _shared(config.politeness.shared)
        outside = config.politeness
        if outside.min_delay < self._asked.outside_delay:
            outside = msgspec.structs.replace(outside, min_delay=self._asked.outside_delay)
        until = time.monotonic() + self._asked.max_time if self._asked.max_time else float("inf")
        with Scratch() as spool:
            http = HttpModule(fetch, names.resolver, guard, Path(spool), local)
            try:
                manners = Manners(config.politeness, self._is_own, outside, shared)
                yield Asker(
                    http,
                    fetch,
                    config.robots,
                    manners,
                    self._asked.patience,
                    lambda: time.monotonic() > until,
                )
            finally:
                await http.close()
                await names.close()
                if shared is not None:
                    shared.close()

    def _found_origins(self) -> list[str]:
        """Of our own pages that are encrypted; seeds without encryption often lead there."""
        found = self._store.do(
            "select distinct substr(url, 1, 7 + instr(substr(url, 9), '/')) from pages where url like 'https://%'"
        )
        origins = [origin for (origin,) in found if self._is_own(urlsplit(origin).hostname or "")]
        return sorted(set(origins).difference(self._origins))

    async def _look_at_origins(self, asker: Asker, origins: Sequence[str]) -> dict[str, str]:
        """Certificates of our own sites, and what these say where there is nothing."""
        missing = {}
        for origin in origins[:_MOST_ORIGINS]:
            row = self._store.do(
                "select certificate, ends, missing from origins where origin=? and asked>=?",
                (origin, time.time() - self._asked.max_age),
            ).fetchone()
            if row is None:
                row = await self._look_at(asker, origin)
            certificate, ends, text = row
            if certificate:
                self._store.add_finding(Rule.CERTIFICATE_BAD, f"{origin}/", {"code": certificate})
            elif ends and ends - time.time() < _ENDS_SOON:
                day = time.strftime("%Y-%m-%d", time.gmtime(ends))
                self._store.add_finding(Rule.CERTIFICATE_ENDS, f"{origin}/", {"ends": day})
            if text:
                missing[origin] = text
        return missing

    async def _look_at(self, asker: Asker, origin: str) -> tuple[str, float, str]:
        certificate, ends = "", 0.0
        if origin.startswith("https://"):
            seen = await asker.ask(f"{origin}/")
            certificate = seen.kept.code.value if seen.kept.code in (Code.CERTIFICATE, Code.TLS) else ""
            ends = seen.certificate_ends
        key = hashlib.sha256(str(self._inspection.folder.name).encode()).hexdigest()[:12]
        found = await asker.ask(invented(origin, key), body=True)
        is_soft = found.kept.verdict is LinkVerdict.WELL and found.page is not None and not found.kept.hops
        text = found.page.text[:_LONGEST_MISSING] if is_soft and found.page is not None else ""
        self._store.do(
            "insert or replace into origins values(?,?,?,?,?)", (origin, time.time(), certificate, ends, text)
        )
        return certificate, ends, text

    def _forget_shells(self, missing: dict[str, str]) -> None:
        """A site that says at its entrance what it says where nothing is fills one page by script."""
        for seed in Seeds(self._inspection.config, self._inspection.folder.path) if missing else ():
            like = msgspec.json.encode({"like": seed.origin}, order="deterministic").decode()
            found = self._store.do(
                "select 1 from findings where rule=? and url=? and detail=?",
                (Rule.SOFT_404.value, seed.text, like),
            ).fetchone()
            if found is not None:
                self._store.do("delete from findings where rule=? and detail=?", (Rule.SOFT_404.value, like))
