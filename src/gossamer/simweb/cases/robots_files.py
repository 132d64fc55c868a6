"""Robots files that are late, lost, moved, huge or subtle (RFC 9309)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise

from gossamer.simweb.cases.redirects import to
from gossamer.simweb.cases.stage import Stage
from gossamer.simweb.servers.coding import encode
from gossamer.simweb.servers.replies import dropped, error, failing, message, said, silent, throttle
from gossamer.simweb.world.resource import Answer, Ending, Group, Place, Resource, Scene
from gossamer.simweb.world.robots import file_of, write

_RULES = (("disallow", "/private/"), ("allow", "/private/open/"))
_GROUPS = (Group(("*",), _RULES),)
_TEXT = "text/plain; charset=utf-8"


def _set(stage: Stage, robots: Resource, *targets: str, **more: Resource) -> Scene:
    """A host with this robots file, and pages at `targets` for its rules to decide about."""
    targets = targets or ("/private/1.html", "/private/open/1.html", "/bad")
    pages = {target: stage.page(f"Page {target[:80]}") for target in targets}
    return Scene(resources={"/robots.txt": robots, **pages, **more}, entries=targets)


def _written(text: bytes, groups: tuple[Group, ...]) -> Resource:
    return Resource(content_type=_TEXT, body=lambda: text, groups=groups)


def _status(status: int, stage: Stage) -> Scene:
    """Always this status; its body holds rules that count for nothing."""
    rules = write((Group(("*",), (("disallow", "/"),)),))
    return _set(stage, Resource(status=status, content_type=_TEXT, body=lambda: rules))


def _at_first(answer: Callable[[Stage], Answer], stage: Stage) -> Scene:
    """Fails at first, then has rules."""
    return _set(stage, replace(file_of(_GROUPS), early=(answer(stage),) * stage.spec.failures))


def _mute(answer: Answer, stage: Stage) -> Scene:
    """Never answers: the host must be left alone, its URLs not dropped."""
    return _set(stage, Resource(status=0, certain=False, speak=answer))


def throttled(stage: Stage) -> Scene:
    """503 with Retry-After at first."""
    return _set(stage, failing(file_of(_GROUPS), stage.spec))


def _moved(hops: int, stage: Stage) -> Scene:
    """Moved `hops` times on this host, then there are rules."""
    names = ["/robots.txt", *(f"/robots-{n}" for n in range(1, hops + 1))]
    moves = {a: to(stage.place(b), b, 301) for a, b in pairwise(names)}
    return _set(stage, moves["/robots.txt"], **moves, **{names[-1]: file_of(_GROUPS)})


def moved_far(stage: Stage) -> Scene:
    """Moved to another host; its rules count for this one."""
    place = Place(stage.atlas.name(0), "/rules/robots.txt")
    return _set(stage, to(place, stage.atlas.url(place), 302))


def moved_round(stage: Stage) -> Scene:
    """A robots file moved in a circle."""
    return _set(stage, to(stage.place("/robots.txt"), "/robots.txt"))


def huge(stage: Stage) -> Scene:
    """600 KB: rules within the first 500 KiB count, those behind need not."""
    filler = b"# filler filler filler filler filler filler filler filler filler\n"
    first = (
        write(_GROUPS) + b"Disallow: /early/\n" + filler * (505_000 // len(filler)) + b"Disallow: /late/\n"
    )
    text = first + filler * (100_000 // len(filler)) + b"Disallow: /beyond/\n"
    rules = (*_RULES, ("disallow", "/early/"), ("disallow", "/late/"))
    scene = _set(
        stage, _written(text, (Group(("*",), rules),)), "/early/1.html", "/late/1.html", "/bad", "/beyond/"
    )
    scene.resources["/beyond/"] = replace(scene.resources["/beyond/"], certain=False)
    return scene


def html(stage: Stage) -> Scene:
    """A page in place of rules: no rules."""
    return _set(stage, stage.page("Welcome", "/never-there.html"))


def binary(stage: Stage) -> Scene:
    """Garbage around one good group."""
    text = (
        bytes(range(256)) * 8
        + b"\r\n"
        + write(_GROUPS).replace(b"\n", b"\r\n")
        + b"\xff\xfe: \x00\r\n: :\r\nDisallow"
    )
    return _set(stage, _written(text, _GROUPS))


def marked(stage: Stage) -> Scene:
    """A byte-order mark and old Macintosh line ends."""
    text = b"\xef\xbb\xbfUser-agent: *\rDisallow: /private/\rAllow: /private/open/\r"
    return _set(stage, _written(text, _GROUPS))


def packed(stage: Stage) -> Scene:
    """A robots file that is sent in gzip."""
    fields = (("Content-Type", _TEXT), ("Content-Encoding", "gzip"))
    answer = said(message(200, fields, encode("gzip", write(_GROUPS))), ending=Ending.KEEP)
    return _set(stage, Resource(groups=_GROUPS, speak=answer))


def wild(stage: Stage) -> Scene:
    """Wildcards, anchors, escapes and ties."""
    rules = (
        ("disallow", "/*.pdf$"), ("allow", "/*.pdf?"), ("disallow", "/fish*"), ("allow", "/fish/fresh"),
        ("disallow", "/tie"), ("allow", "/tie"), ("disallow", "/%7Euser/"), ("disallow", "/a%2Fb"),
        ("disallow", "/caf\u00e9"), ("disallow", "/*/deep/*/end$"), ("disallow", ""), ("disallow", "/exact$"),
        ("allow", "/"),
    )  # fmt: skip
    targets = (
        "/x.pdf", "/x.pdf?y", "/x.pdfs", "/fish", "/fishing", "/fish/fresh", "/tie/1", "/~user/", "/a/b",
        "/a%2Fb", "/caf%C3%A9", "/1/deep/2/end", "/1/deep/2/end/3", "/exact", "/exactly", "/bad",
    )  # fmt: skip
    return _set(stage, file_of((Group(("*",), rules),)), *targets)


def groups(stage: Stage) -> Scene:
    """Groups that end where they should not, names that nearly match, a group in two halves."""
    text = (
        b"user-AGENT : goss\nDisallow: /\n\nUser-agent: gossamer-images\nDisallow: /\n\n"
        b"User-agent: Gossamer # that is us\nCrawl-delay: 0.1\nSitemap: /none.xml\n\n"
        b"User-agent: friend\nDisallow: /one/\nnonsense\n\nUser-agent: *\nDisallow: /\n\n"
        b"User-agent:gossamer/7\nDisallow:/two/#comment\nDisallow:\n"
    )
    ours = Group(("gossamer", "friend"), (("disallow", "/one/"),), "0.1")
    merged = (ours, Group(("*",), (("disallow", "/"),)), Group(("gossamer",), (("disallow", "/two/"),)))
    return _set(stage, _written(text, merged), "/one/1.html", "/two/2.html", "/three/3.html", "/bad")


def pathological(stage: Stage) -> Scene:
    """Patterns on which a backtracking matcher never ends."""
    rules = (
        ("disallow", "/" + "*a" * 1_000 + "b$"),
        ("disallow", "/" + "a*" * 500 + "c"),
        ("disallow", "/private/"),
    )
    target = "/" + "a" * 2_000
    return _set(stage, file_of((Group(("*",), rules),)), target, target + "c", "/private/1.html", "/bad")


def delayed(stage: Stage) -> Scene:
    """A Crawl-delay in fractions, and one that no clock can hold."""
    groups_ = (Group(("*",), _RULES, "0.5"), Group(("slowbot",), (("disallow", "/"),), "1e99"))
    return _set(stage, file_of(groups_))


def sitemap(stage: Stage) -> Scene:
    """A robots file that names a sitemap, which lists a page that nothing else leads to."""
    listed, listing = stage.place("/orphan.html"), stage.place("/map.xml")
    xml = f"\ufeff\n<urlset><url><loc>\n{stage.atlas.url(listed)} </loc></url><url><loc>no url</loc></url>"
    found = Resource(content_type="text/xml", body=xml.encode, entries=(listed,))
    robots = file_of(_GROUPS, (listing,), (stage.atlas.url(listing),))
    return _set(stage, robots, **{listing.target: found, listed.target: stage.page("Orphan")})


CASES: Mapping[str, Callable[[Stage], Scene]] = {
    "robots-401": partial(_status, 401),
    "robots-403": partial(_status, 403),
    "robots-410": partial(_status, 410),
    "robots-500": partial(_status, 500),
    "robots-503": partial(_status, 503),
    "robots-429": partial(_status, 429),
    "robots-500-first": partial(_at_first, lambda _: error(500)),
    "robots-429-first": partial(_at_first, lambda stage: throttle(429, stage.spec.retry_after)),
    "robots-drop-first": partial(_at_first, lambda _: dropped),
    "robots-503-first": throttled,
    "robots-drop": partial(_mute, dropped),
    "robots-silent": partial(_mute, silent),
    "robots-redirect": partial(_moved, 5),
    "robots-redirect-six": partial(_moved, 6),
    "robots-redirect-far": moved_far,
    "robots-redirect-loop": moved_round,
    "robots-huge": huge,
    "robots-html": html,
    "robots-binary": binary,
    "robots-marked": marked,
    "robots-gzip": packed,
    "robots-wild": wild,
    "robots-groups": groups,
    "robots-pathological": pathological,
    "robots-delay": delayed,
    "robots-sitemap": sitemap,
}
