"""Decides the answer to a request: the world's, unless this visitor came too early."""

from collections import Counter

from gossamer.simweb.servers.replies import error, ordinary
from gossamer.simweb.world.resource import Ending, Place, Reply, Request
from gossamer.simweb.world.world import World

ANSWERS = 64 << 20
"""Bytes of finished answers that are kept, unless more is asked for."""
_OVERHEAD = 500  # bytes for key and entry


class Service:
    """A world with a memory: it alone knows who was here before.

    It counts visits only where an answer depends on them, and keeps finished answers up to a bound,
    so a long crawl of a large world does not make it grow.
    """

    def __init__(self, world: World, answers: int = ANSWERS) -> None:
        """`answers`: bytes of them that are kept."""
        self._world = world
        self._most = answers
        self._counts: Counter[tuple[str, str]] = Counter()
        self._remembered: dict[tuple[str, str, str], Reply] = {}
        self._size = 0

    def answer(self, request: Request) -> Reply:
        """The next answer to this request."""
        key = (request.host, request.target, request.fields.get("accept-encoding", ""))
        known = self._remembered.get(key)
        plain = request.method == "GET" and not (
            "if-none-match" in request.fields or "if-modified-since" in request.fields
        )
        if known is not None and plain:
            return known
        if request.method not in ("GET", "HEAD"):
            return error(405)(request)
        reply, lasting = self._decide(request)
        if request.method == "HEAD":
            return Reply(reply.status, _head_of(reply.data), ending=reply.ending)
        if plain and lasting:
            self._remember(key, reply)
        return reply

    def _decide(self, request: Request) -> tuple[Reply, bool]:
        """The answer, and whether it will always be the same."""
        host, target = request.host, request.target
        gate = self._world.gate(host)
        if gate and target != "/robots.txt":
            turn = self._turn(host, "")
            if turn < len(gate):
                return gate[turn](request), False
        resource = self._world.find(host, target)
        if resource.early:
            turn = self._turn(host, target)
            if turn < len(resource.early):
                return resource.early[turn](request), False
        if resource.speak is not None:
            return resource.speak(request), False
        reply = ordinary(self._world.spec.seed, Place(host, target), resource, request)
        return reply, not (gate or resource.early)

    def _turn(self, host: str, target: str) -> int:
        turn = self._counts[host, target]
        self._counts[host, target] += 1
        return turn

    def _remember(self, key: tuple[str, str, str], reply: Reply) -> None:
        self._remembered[key] = reply
        self._size += len(reply.data) + _OVERHEAD
        while self._size > self._most:
            oldest = self._remembered.pop(next(iter(self._remembered)))
            self._size -= len(oldest.data) + _OVERHEAD


def _head_of(answer: bytes) -> bytes:
    end = answer.find(b"\r\n\r\n")
    return answer[: end + 4] if end >= 0 else answer


REFUSAL = Reply(431, error(431)(Request("GET", "", "/", {})).data, ending=Ending.CLOSE)
"""For request heads beyond all measure."""
