"""One name asked for one kind of address, attempt after attempt (K12)."""

import asyncio
from collections.abc import Callable
from functools import partial

import msgspec
import pycares
from pycares import errno

from gossamer.dns.config import DnsConfig
from gossamer.dns.queries.channel import PATIENCE, NameServer, Query
from gossamer.dns.queries.reply import TIME_OUT, Reply, Verdict, read_reply
from gossamer.dns.queries.servers import NameServers

A = pycares.QUERY_TYPE_A
AAAA = pycares.QUERY_TYPE_AAAA


class Question:
    """Puts one question until it has a reply or has run out of attempts or time.

    | what comes | what follows |
    |---|---|
    | addresses, NXDOMAIN, no address | the reply, also to an attempt that is up to `PATIENCE` (5 s) old |
    | nothing within the wait | the next server, the wait doubled, `attempts` times in all |
    | SERVFAIL, refused, ... | at once a server not asked yet, or after the wait the next one again |
    | the same from all, `failure_attempts` times | the reply |
    | no turn, as too much is open at the server | the wait begins when its turn comes; the deadline stays |
    | a response that c-ares cannot read | at once the same server, once, on a channel of its own |

    The last row: c-ares drops the whole connection for one unreadable packet, with every question on it.
    Asked apart, the one with the poisonous answer harms no other.

    Of a server that needs longer than `PATIENCE`, attempts with longer waits hear (by default the third,
    10 s, to the fifth, 40 s): these are put apart, too.
    """

    def __init__(
        self,
        name: str,
        kind: int,
        config: DnsConfig,
        servers: NameServers,
        replied: Callable[[int, Reply], None],
        deadline: float,
    ) -> None:
        """`replied(kind, reply)` is called once, from the event loop, unless the question is dropped.

        `deadline` in time of the event loop ends the attempts.
        """
        self._name = name
        self._kind = kind
        self._config = config
        self._preference = servers
        self._servers = servers.order(1)
        self._replied = replied
        self._attempt = 0
        self._failures = 0
        self._failed: Reply | None = None
        self._alone = False
        self._last = False
        self._put_to: tuple[NameServer, Query] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._over = False
        self._loop = asyncio.get_running_loop()
        self._deadline = deadline

    def ask(self) -> None:
        """Make the next attempt, at the next server in turn."""
        server = self._servers[self._attempt % len(self._servers)]
        self._attempt += 1
        if not self._put(server, partial(self._departs, self._attempt)):
            self._last = True
            self._wait(self._deadline - self._loop.time())

    def drop(self) -> None:
        """Be no longer interested, and take up no more room."""
        self._over = True
        self._stop_timer()
        if self._put_to is not None:
            server, query = self._put_to
            self._put_to = None  # it refers to us: whoever is done leaves no cycle for the collector
            server.release(query)

    def _waited(self) -> None:
        given_up = self._put_to
        if self._last:
            self._reply(self._failed or Reply(Verdict.FAILED, detail=TIME_OUT))
        else:
            self.ask()
        if given_up is not None:  # its room goes to whoever has stood in line longest
            server, query = given_up
            server.release(query)

    def _put(self, server: NameServer, departs: Callable[[], bool]) -> bool:
        patience = max(PATIENCE, min(self._longest_wait, self._deadline - self._loop.time()))
        query = Query(self._name, self._kind, departs, partial(self._heard, server), self._alone, patience)
        self._put_to = server, query
        return server.ask(query)

    @property
    def _longest_wait(self) -> float:
        """Seconds that the current attempt may take if the deadline lets it."""
        return self._config.first_wait * float(1 << (self._attempt - 1))

    def _departs(self, attempt: int) -> bool:
        """An attempt goes out: from now on its wait counts."""
        if self._over:
            return False
        if attempt == self._attempt:
            wait = self._longest_wait
            left = self._deadline - self._loop.time()
            self._last = wait >= left or attempt >= self._config.attempts
            self._wait(min(wait, left))
        return True

    def _wait(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self._loop.call_later(seconds, self._waited)

    def _heard(self, server: NameServer, result: pycares.DNSResult | None, status: int | None) -> None:
        if self._over or status == errno.ARES_ETIMEOUT:  # our own timer tells the time
            return
        reply = read_reply(self._name, self._kind, result, status, server.address)
        if reply.verdict is not Verdict.FAILED:
            if self._attempt > 1:
                self._preference.prefer(server)
            self._reply(reply)
            return
        reply = msgspec.structs.replace(reply, detail=server.trouble() or reply.detail)
        if status == errno.ARES_EBADRESP and not self._alone:
            self._alone = True
            self._put(server, lambda: not self._over)
            return
        self._failed = reply
        self._failures += 1
        if self._attempt < min(len(self._servers), self._config.attempts):
            self.ask()
        elif self._failures >= self._config.failure_attempts * len(self._servers):
            self._reply(reply)
        elif self._last and self._failures >= self._attempt:
            self._reply(reply)  # every attempt has failed: nothing is left to wait for

    def _reply(self, reply: Reply) -> None:
        self.drop()
        self._replied(self._kind, reply)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
