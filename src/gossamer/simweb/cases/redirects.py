"""Redirects that go round, go on, go nowhere or go where they must not."""

from collections.abc import Callable, Mapping

from gossamer.simweb.cases.stage import HTML, Stage
from gossamer.simweb.servers.replies import message
from gossamer.simweb.world.atlas import FORBIDDEN_ADDRESS
from gossamer.simweb.world.resource import Link, Naming, Place, Reach, Reply, Request, Resource, Scene

_CHAIN = 30
_SHORT = 10


def to(place: Place | None, location: str | None, status: int = 302) -> Resource:
    """A redirect whose field reads `location` (`None`: there is none) and leads to `place`."""
    fields = () if location is None else (("Location", location),)
    return Resource(status=status, content_type="", redirect=place, fields=fields)


def _here(stage: Stage, target: str, status: int = 302) -> Resource:
    return to(stage.place(target), target, status)


def loop(stage: Stage) -> Scene:
    """Three redirects in a circle."""
    circle = ("/bad", "/bad-2", "/bad-3")
    return Scene(resources={here: _here(stage, circle[n - 2]) for n, here in enumerate(circle)})


def itself(stage: Stage) -> Scene:
    """A redirect to its own address."""
    return Scene(resources={"/bad": _here(stage, "/bad", 301)})


def cookie(stage: Stage) -> Scene:
    """A redirect to its own address until a cookie comes back."""
    page = stage.harmless()

    def speak(request: Request) -> Reply:
        if "seen=1" in request.fields.get("cookie", ""):
            return Reply(200, message(200, HTML, page))
        return Reply(302, message(302, (("Location", "/bad"), ("Set-Cookie", "seen=1; Path=/"))))

    return stage.doubtful(speak, 302)


def chain(stage: Stage) -> Scene:
    """A chain longer than visitors follow, and one that they do."""
    hops = {f"/long-{n}": _here(stage, f"/long-{n + 1}") for n in range(_CHAIN)}
    short = {f"/short-{n}": _here(stage, f"/short-{n + 1}", 301) for n in range(_SHORT)}
    ends = {f"/long-{_CHAIN}": stage.page("Far end"), f"/short-{_SHORT}": stage.page("Near end")}
    return Scene(resources={**hops, **short, **ends}, entries=("/long-0", "/short-0"))


def statuses(stage: Stage) -> Scene:
    """Redirects by every status that redirects."""
    every = (301, 302, 303, 307, 308)
    resources = {f"/by-{status}": _here(stage, f"/from-{status}.html", status) for status in every}
    ends = {f"/from-{status}.html": stage.page(f"From {status}") for status in every}
    return Scene(resources={**resources, **ends}, entries=tuple(resources))


def bad_location(_: Stage) -> Scene:
    """A Location that leads nowhere in the web."""
    nowhere = (
        None, "http://", "http://[::1", "http://a b/", "javascript:alert(1)", "file:///etc/passwd",
        "ftp://127.99.99.99/", "gopher://127.99.99.99:70/", "data:text/html,x", "http://host:99999/",
    )  # fmt: skip
    resources = {f"/nowhere-{n}": to(None, location) for n, location in enumerate(nowhere)}
    return Scene(resources=resources, entries=tuple(resources))


def odd_location(stage: Stage) -> Scene:
    """A Location in odd spelling, as the URL Standard reads it."""
    readings = (
        ("end-1.html", "/odd/end-1.html"),
        ("?end=2", "/odd/go-1?end=2"),
        ("../end-3.html#part", "/end-3.html"),
        ("\\end-4.html", "/end-4.html"),
        ("/end 5.html", "/end%205.html"),
        (f"//{stage.host}:{stage.atlas.port}/end-6.html", "/end-6.html"),
        (f"HTTP://{stage.host.upper()}:{stage.atlas.port}/end-7.html", "/end-7.html"),
    )
    resources = {f"/odd/go-{n}": to(stage.place(target), href) for n, (href, target) in enumerate(readings)}
    ends = {target: stage.page(f"End {target}") for _, target in readings}
    return Scene(resources={**resources, **ends}, entries=tuple(resources))


def far(stage: Stage) -> Scene:
    """A redirect to another host."""
    place = stage.atlas.page(0, 0)
    return Scene(resources={"/bad": to(place, stage.atlas.url(place), 301)})


def private(stage: Stage) -> Scene:
    """Redirects and links to public names that lead into private networks."""
    answers = {
        "ten": ("10.1.2.3",),
        "metadata": ("169.254.169.254",),
        "loopback": (FORBIDDEN_ADDRESS,),
        "zero": ("0.0.0.0",),  # noqa: S104 - an answer, nothing is bound
        "home": ("192.168.1.1",),
        "multicast": ("224.0.0.251",),
        "mapped": ("::ffff:127.99.99.99",),
        "unique-local": ("fd00::1",),
        "link-local": ("fe80::1",),
    }
    names = {
        f"{label}.{stage.host}": Naming(addresses=addresses, ttl=60, reach=Reach.FORBIDDEN)
        for label, addresses in answers.items()
    }
    secrets = [Place(name, "/secret") for name in names]
    gates = {f"/to-{place.host.partition('.')[0]}": to(place, stage.atlas.url(place)) for place in secrets}
    page = stage.page("Straight links", *(Link(place, stage.atlas.url(place)) for place in secrets))
    return Scene(resources={"/bad": page, **gates}, entries=("/bad", *gates), names=names)


def literal(stage: Stage) -> Scene:
    """Redirects and links to private addresses, in every spelling."""
    spellings = (
        (FORBIDDEN_ADDRESS, FORBIDDEN_ADDRESS),
        ("0x7f.0x63.0x63.0x63", FORBIDDEN_ADDRESS),
        ("2137219939", FORBIDDEN_ADDRESS),
        ("0177.0143.0143.0143", FORBIDDEN_ADDRESS),
        ("127.99.25443", FORBIDDEN_ADDRESS),
        ("[::ffff:127.99.99.99]", "[::ffff:7f63:6363]"),
        ("[0:0:0:0:0:ffff:7f63:6363]", "[::ffff:7f63:6363]"),
        ("169.254.169.254", "169.254.169.254"),
        ("[fd00:ec2::254]", "[fd00:ec2::254]"),
    )
    gates, links = {}, []
    for number, (written, host) in enumerate(spellings):
        place = Place(host, f"/secret-{number}")
        href = stage.atlas.url(Place(written, place.target))
        gates[f"/to-{number}"] = to(place, href)
        links.append(Link(place, href))
    return Scene(resources={"/bad": stage.page("Literals", *links), **gates}, entries=("/bad", *gates))


CASES: Mapping[str, Callable[[Stage], Scene]] = {
    "redirect-loop": loop,
    "redirect-self": itself,
    "redirect-cookie": cookie,
    "redirect-chain": chain,
    "redirect-statuses": statuses,
    "redirect-bad-location": bad_location,
    "redirect-odd-location": odd_location,
    "redirect-far": far,
    "redirect-private": private,
    "redirect-literal": literal,
}
