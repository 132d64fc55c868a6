"""What hubs were asked to tell us of, and what they have promised: a table of the daemon's database.

Source: W3C WebSub. A subscription is `asked` for, and holds when the hub has asked back whether we meant it; until its
lease ends, before which it is asked for again at the same callback.
"""

import hashlib
import hmac
import secrets
from typing import Any

import msgspec

from gossamer.daemon.database import Database

MOST = 1_000
"""Subscriptions of one daemon."""
_FIRST_WAIT, _LONGEST_WAIT = 600.0, 86_400.0
"""Seconds until a hub that has not answered is asked again; doubles."""
_DENIED_WAIT = 7 * 86_400.0
_SHORTEST_LEASE, _LONGEST_LEASE, _UNSAID_LEASE = 300.0, 90 * 86_400.0, 86_400.0
_EARLY = 0.8
"""Part of a lease after which it is asked for again."""
_METHODS = frozenset({"sha1", "sha256", "sha384", "sha512"})

_TABLE = (
    "CREATE TABLE IF NOT EXISTS subscriptions (token TEXT PRIMARY KEY, job TEXT NOT NULL, topic TEXT NOT NULL,"
    " hub TEXT NOT NULL, secret TEXT NOT NULL, pending INTEGER NOT NULL, expires REAL NOT NULL, due REAL NOT NULL,"
    " tries INTEGER NOT NULL, note TEXT NOT NULL) STRICT"
)
_ALL = "SELECT token, job, topic, hub, secret, pending, expires, due, tries, note FROM subscriptions"


class Subscription(msgspec.Struct, frozen=True):
    """One topic of one job.

    Attributes:
        token: the end of the callback, which nobody can guess.
        job: that crawls the topic.
        topic: address of the feed, as the hub knows it.
        hub: whom to ask.
        secret: by which the hub signs what it sends.
        pending: 1 while the hub is to ask back whether we meant it.
        expires: wall time at which the lease ends; 0: there is none.
        due: wall time at which the hub is asked next.
        tries: times it was asked in vain.
        note: what it said last.
    """

    token: str
    job: str
    topic: str
    hub: str
    secret: str
    pending: int = 0
    expires: float = 0.0
    due: float = 0.0
    tries: int = 0
    note: str = ""

    def asked(self, now: float) -> "Subscription":
        """After the hub was asked, whatever it said."""
        wait = min(_FIRST_WAIT * 2.0**self.tries, _LONGEST_WAIT)
        return msgspec.structs.replace(
            self, pending=1, due=now + wait, tries=min(self.tries + 1, 30), note=""
        )

    def agreed(self, now: float, seconds: str) -> "Subscription":
        """After the hub has asked back, and promised to tell for `seconds`."""
        lease = (
            float(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 12 else _UNSAID_LEASE
        )
        lease = min(max(lease, _SHORTEST_LEASE), _LONGEST_LEASE)
        return msgspec.structs.replace(
            self, pending=0, expires=now + lease, due=now + lease * _EARLY, tries=0, note=""
        )

    def denied(self, now: float, reason: str) -> "Subscription":
        """After the hub has said no."""
        return msgspec.structs.replace(
            self, pending=0, expires=0.0, due=now + _DENIED_WAIT, note=f"denied: {reason[:200]}"
        )

    @property
    def shares_secret(self) -> bool:
        """Whether the hub is told the secret: by https only (5.1), for by http anybody would read it."""
        return self.hub.startswith("https:")

    def comes_from_hub(self, signature: str, body: bytes) -> bool:
        """Whether the hub has sent `body`; `signature` is the value of `X-Hub-Signature`.

        A hub that was told no secret cannot sign: that it knows the callback must do.
        """
        return not self.shares_secret or self._is_signed(signature, body)

    def _is_signed(self, signature: str, body: bytes) -> bool:
        method, _, digits = signature.strip().partition("=")
        method = method.lower()
        if method not in _METHODS:
            return False
        right = hmac.new(self.secret.encode(), body, getattr(hashlib, method)).hexdigest()
        return hmac.compare_digest(right.encode(), digits.strip().lower().encode())


class Subscriptions:
    """All of them; for the event loop."""

    def __init__(self, database: Database) -> None:
        """Raises:
        StorageError: the database is damaged.
        """
        self._database = database
        database.execute(_TABLE)

    def get(self, token: str) -> Subscription | None:
        """The one of a callback."""
        found = self._select(" WHERE token = ?", token)
        return found[0] if found else None

    def all(self) -> list[Subscription]:
        """Each subscription, in the order of jobs and topics."""
        return self._select(" ORDER BY job, topic LIMIT ?", MOST)

    def due(self, now: float) -> list[Subscription]:
        """Those whose hubs are to be asked now."""
        return self._select(" WHERE due <= ? ORDER BY due LIMIT ?", now, MOST)

    def add(self, job: str, topic: str, hub: str, now: float) -> None:
        """One that the job's feeds name, unless it is there or there are too many; of a new hub it is begun anew."""
        same = self._select(" WHERE job = ? AND topic = ?", job, topic)
        if same and same[0].hub == hub:
            return
        for each in same:
            self.remove(each.token)
        if self._database.query("SELECT count(*) FROM subscriptions")[0][0] < MOST:
            self.put(
                Subscription(secrets.token_urlsafe(24), job, topic, hub, secrets.token_urlsafe(32), due=now)
            )

    def put(self, one: Subscription) -> None:
        """Keep it as it is now."""
        values: Any = msgspec.structs.astuple(one)
        self._database.execute(
            "INSERT OR REPLACE INTO subscriptions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values
        )

    def remove(self, token: str) -> None:
        """Forget the subscription of a callback."""
        self._database.execute("DELETE FROM subscriptions WHERE token = ?", (token,))

    def _select(self, rest: str, *values: object) -> list[Subscription]:
        return [Subscription(*row) for row in self._database.query(_ALL + rest, values)]
