"""Tells pages that are gone though the server says 200: they answer what it answers where there is nothing (soft 404).

Only what is certain: such a page said something else before, and its body is now, byte for byte, that of an address of
its host at which the server has said 404 or 410 (often the sitemap that crawls ask for). Servers that write the
address into that page are not seen through.
"""

from hashlib import sha256

from gossamer.policy.revisit.gone import GONE_STATUSES
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import HASH_BYTES
from gossamer.state.records import PageRecord, decode_page

MOST = 10_000
"""Answers of one host that are compared with."""
_DIGEST = 8
_NOTHING = sha256(b"").digest()


class SoftMissing:
    """Compares pages with what their hosts answer where there is nothing; one host is in memory."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._host = b""
        self._missing: frozenset[bytes] = frozenset()

    def __call__(self, fingerprint: bytes, record: PageRecord) -> bool:
        """Whether a page, by its key in `pages`, is one."""
        status = record.visits[-1].status if record.visits else 0
        if not (record.changed and status in (200, 304) and record.payload):
            return False
        host = fingerprint[:HASH_BYTES]
        if host != self._host:
            self._host, self._missing = host, self._answers(host)
        return record.payload[:_DIGEST] in self._missing

    def _answers(self, host: bytes) -> frozenset[bytes]:
        found: set[bytes] = set()
        for _, data in self._environment.scan(Family.PAGES, host, host):
            record = decode_page(data)
            status = record.visits[-1].status if record.visits else 0
            if status in GONE_STATUSES and record.payload and record.payload != _NOTHING:
                found.add(record.payload[:_DIGEST])
                if len(found) >= MOST:
                    break
        return frozenset(found)
