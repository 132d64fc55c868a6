"""The folder of a crawl whose pages were visited again and again, made without a network."""

import time
from pathlib import Path

import msgspec

from gossamer.assembly.build import SECRET
from gossamer.model.disposition import PageState
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.freshness import Freshness
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import Spread
from gossamer.state.clock import CrawlClock
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.keys import HASH_BYTES, Fingerprints, again_key
from gossamer.state.records import CLOCK, REVISIT, HostRecord, PageRecord, RevisitRecord, VisitRecord, encode

HOUR = 3_600.0
_SECRET = b"k" * 16


class RevisitedState:
    """Pages of hosts with what is kept of their visits."""

    def __init__(self, folder: Path, ahead: float = 0.0) -> None:
        """`ahead`: seconds that the clock of the crawl is ahead of the machine's, which was set back since."""
        self.folder = folder
        folder.mkdir()
        (folder / "crawl.toml").write_text('seeds = ["http://a.test/"]\n')
        self._environment = Environment.open(folder / "state", StateConfig())
        self._prints = Fingerprints(_SECRET)
        self._batch = self._environment.batch()
        self._batch.put(Family.META, SECRET, _SECRET)
        self.figures(Freshness())
        self._pages: dict[str, int] = {}
        self._hosts: dict[str, dict[str, object]] = {}
        self._ahead = ahead
        self._now = time.time() + ahead
        clock = CrawlClock().record()
        self._batch.put(Family.META, CLOCK, encode(msgspec.structs.replace(clock, crawl=self._now)))

    def page(
        self,
        host: str,
        number: int,
        *,
        same: int = 0,
        changed: int = 0,
        age: float = HOUR,
        weight: float = 1.0,
        presence: Presence = Presence.HERE,
        history: bool = True,
        changed_at: int = 0,
        **fields: object,
    ) -> History:
        """A page that was found the same so often, and changed so often, in intervals of a day."""
        last = int(self._now - age)
        kept = History(last, last, 24.0 * same, 24.0 * changed, same=same, changed=changed, presence=presence)
        kept = msgspec.structs.replace(kept, place=classes.classify(Spread().believe(kept), weight))
        url = f"http://{host}/{number}"
        visits = (VisitRecord(float(last) - self._ahead, 0.1, 404 if presence else 200),)
        record = PageRecord(
            url, PageState.DONE, visits=visits, visits_made=1 + same + changed,
            history=kept.pack() if history else b"", changed=changed_at,
        )  # fmt: skip
        record = msgspec.structs.replace(record, **fields)
        key = self._prints.host(host) + self._prints.url(url)
        self._batch.put(Family.PAGES, key, encode(record))
        if history:
            entry = again_key(key[:HASH_BYTES], kept.place, kept.since, key[HASH_BYTES:])
            self._batch.put(Family.AGAIN, entry, b"")
        self._pages[host] = self._pages.get(host, 0) + 1
        return kept

    def host(self, name: str, **fields: object) -> None:
        """What else is known of a host."""
        self._hosts[name] = fields

    def figures(self, figures: Freshness, **sums: int) -> None:
        """What visits have shown."""
        self._batch.put(Family.META, REVISIT, encode(RevisitRecord(on=True, freshness=figures, **sums)))

    def close(self) -> None:
        """Write it down."""
        for host, pages in self._pages.items():
            record = HostRecord(host, pages=pages, enrolled=pages, **self._hosts.get(host, {}))  # type: ignore[arg-type]
            self._batch.put(Family.HOSTS, self._prints.host(host), encode(record))
        self._environment.commit(self._batch)
        self._environment.close()
