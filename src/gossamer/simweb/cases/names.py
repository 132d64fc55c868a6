"""Names that do not resolve, or resolve in roundabout ways (RFC 1034, 1035)."""

from collections.abc import Callable, Mapping
from functools import partial

from gossamer.simweb.cases.stage import Stage
from gossamer.simweb.world.atlas import DEAD_ADDRESS
from gossamer.simweb.world.resource import Naming, Reach, Scene, Speech

_HOME = ("127.0.0.1",)


def _mute(speech: Speech, _: Stage) -> Scene:
    return Scene(naming=Naming(speech=speech, reach=Reach.UNRESOLVABLE))


def _named(naming: Naming, _: Stage) -> Scene:
    return Scene(naming=naming)


def cname(stage: Stage) -> Scene:
    """A chain of three aliases."""
    aliases = tuple(f"alias-{n}.{stage.host}" for n in (1, 2, 3))
    names = {alias: Naming(addresses=_HOME, aliases=aliases[n + 1 :]) for n, alias in enumerate(aliases)}
    return Scene(naming=Naming(addresses=_HOME, aliases=aliases), names=names)


def cname_loop(stage: Stage) -> Scene:
    """Aliases that lead to each other."""
    other = f"other.{stage.host}"
    naming = Naming(aliases=(other, stage.host), reach=Reach.UNRESOLVABLE)
    return Scene(naming=naming, names={other: Naming(aliases=(stage.host, other), reach=Reach.UNRESOLVABLE)})


CASES: Mapping[str, Callable[[Stage], Scene]] = {
    "dns-nxdomain": partial(_mute, Speech.NXDOMAIN),
    "dns-servfail": partial(_mute, Speech.SERVFAIL),
    "dns-refused": partial(_mute, Speech.REFUSED),
    "dns-silent": partial(_mute, Speech.SILENT),
    "dns-garbage": partial(_mute, Speech.GARBAGE),
    "dns-no-data": partial(_named, Naming(reach=Reach.UNRESOLVABLE)),
    "dns-cname": cname,
    "dns-cname-loop": cname_loop,
    "dns-truncated": partial(_named, Naming(addresses=_HOME, speech=Speech.TRUNCATED)),
    "dns-many": partial(_named, Naming(addresses=(*_HOME, *(f"127.0.0.{n}" for n in range(2, 62))))),
    "dns-first-dead": partial(_named, Naming(addresses=(DEAD_ADDRESS, *_HOME))),
    "dns-slow": partial(_named, Naming(addresses=_HOME, delay=0.3)),
    "dns-lossy": partial(_named, Naming(addresses=_HOME, lost=1)),
    "dns-ttl-0": partial(_named, Naming(addresses=_HOME, ttl=0)),
    "dns-ttl-huge": partial(_named, Naming(addresses=_HOME, ttl=2**32 - 1)),
    "dns-wrong-id": partial(_named, Naming(addresses=_HOME, speech=Speech.WRONG_ID)),
    "dns-wrong-question": partial(_named, Naming(addresses=_HOME, speech=Speech.WRONG_QUESTION)),
    "dns-strangers": partial(_named, Naming(addresses=_HOME, speech=Speech.STRANGERS)),
    "dns-crowd": partial(_named, Naming(addresses=_HOME, speech=Speech.CROWD)),
    "dns-v6": partial(_named, Naming(addresses=("::1", *_HOME), reach=Reach.UNCERTAIN)),
}
