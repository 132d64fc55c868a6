"""Hosts that are slow, failing or throttling as a whole."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from gossamer.simweb.cases.stage import HTML, Stage
from gossamer.simweb.servers.replies import dropped, error, message, said, throttle
from gossamer.simweb.world.atlas import DEAD_ADDRESS, DROP_ADDRESS
from gossamer.simweb.world.resource import Answer, Ending, Naming, Reach, Reply, Resource, Scene


def slow_host(stage: Stage) -> Scene:
    """Every page takes its time."""

    def slowly(page: Resource) -> Resource:
        def steps(answer: bytes) -> Iterator[bytes | float]:
            yield stage.spec.slow_seconds
            yield answer

        answer = message(200, HTML, page.body())
        return replace(page, speak=lambda _: Reply(200, steps=partial(steps, answer)))

    names = ("/bad", "/good-1.html", "/good-2.html")
    pages = {target: slowly(stage.page(f"Slow {target}", *names)) for target in names}
    return Scene(resources={**pages, "/": slowly(stage.page("Slow", *names))})


def refused(_: Stage) -> Scene:
    """A host at whose port nobody listens."""
    return Scene(naming=Naming(addresses=(DEAD_ADDRESS,), reach=Reach.UNREACHABLE))


def dropped_connection(_: Stage) -> Scene:
    """Connections are taken and reset at once."""
    return Scene(naming=Naming(addresses=(DROP_ADDRESS,), reach=Reach.UNREACHABLE))


def _at_first(answer: Answer, stage: Stage) -> Scene:
    """A page that fails at first."""
    page = replace(stage.beyond(), early=(answer,) * stage.spec.failures)
    return Scene(resources={"/bad": page})


def _always(status: int, stage: Stage) -> Scene:
    """A page that only ever answers with this status."""
    fields = (("WWW-Authenticate", 'Basic realm="sim"'),) if status == 401 else ()
    body = stage.harmless()
    return Scene(resources={"/bad": Resource(status=status, fields=fields, body=lambda: body)})


def _throttling(status: int, style: str, stage: Stage) -> Scene:
    """The host's first visits are turned away, whatever they ask for."""
    if style == "garbage":
        later = message(status, (("Retry-After", "soon, perhaps"),), b"later\n")
        answer = said(later, status, Ending.KEEP)
    else:
        answer = throttle(status, stage.spec.retry_after, as_date=style == "date")
    return Scene(resources={"/bad": stage.page("Patience")}, gate=(answer,) * stage.spec.failures)


CASES: Mapping[str, Callable[[Stage], Scene]] = {
    "slow-host": slow_host,
    "refused": refused,
    "dropped-connection": dropped_connection,
    "500-first": partial(_at_first, error(500)),
    "502-first": partial(_at_first, error(502)),
    "reset-first": partial(_at_first, dropped),
    "empty-first": partial(_at_first, said(b"", status=0)),
    "always-500": partial(_always, 500),
    "always-401": partial(_always, 401),
    "always-403": partial(_always, 403),
    "always-410": partial(_always, 410),
    "always-451": partial(_always, 451),
    "throttle-seconds": partial(_throttling, 429, "seconds"),
    "throttle-date": partial(_throttling, 429, "date"),
    "throttle-503": partial(_throttling, 503, "seconds"),
    "throttle-garbage": partial(_throttling, 429, "garbage"),
}
