"""A page in every encoding, declared in every way that can be read."""

from collections.abc import Callable, Mapping

from gossamer.simweb.cases.stage import Stage
from gossamer.simweb.world.dice import Dice, fingerprint
from gossamer.simweb.world.paper import Sheet, html_type
from gossamer.simweb.world.prose import charset as charset_of
from gossamer.simweb.world.prose import title
from gossamer.simweb.world.resource import Resource, Scene
from gossamer.simweb.world.spec import CHARSETS


def charsets(stage: Stage) -> Scene:
    """Each page alone leads to an end of its own, so a page misread shows."""
    pages: dict[str, Resource] = {}
    for charset in CHARSETS:
        marked = charset_of(charset).mark
        wide = charset.startswith("utf-16")  # without a mark nobody need understand it
        for declaration in ("bom",) if wide else ("header", "meta", "none", *(("bom",) if marked else ())):
            name = f"{charset}-{declaration}"
            pages[f"/{name}.html"] = _page(stage, charset, declaration, f"/from-{name}.html")
    ends = {link.to.target: stage.page("End") for page in pages.values() for link in page.links}
    return Scene(resources={**pages, **ends}, entries=tuple(pages))


def _page(stage: Stage, charset: str, declaration: str, end: str) -> Resource:
    key = fingerprint(stage.spec.seed, charset, declaration)
    heading = title(charset_of(charset).language, Dice(key))
    links = (stage.link(end),)
    sheet = Sheet(
        seed=stage.spec.seed,
        key=key,
        title=heading,
        charset=charset,
        declaration=declaration,
        links=links,
        size=2_000,
    )
    content_type = html_type(charset, declaration)
    return Resource(body=sheet.write, links=links, title=heading, content_type=content_type)


def lying_charset(stage: Stage) -> Scene:
    """The header names an encoding that the bytes are not in; the links are plain all the same."""
    pages = {}
    for claimed, real in (("utf-8", "shift_jis"), ("gb18030", "utf-8"), ("euc-kr", "windows-1251")):
        honest = _page(stage, real, "none", f"/from-{real}.html")
        kind = f"text/html; charset={claimed}"
        pages[f"/{claimed}.html"] = Resource(body=honest.body, links=honest.links, content_type=kind)
        pages[f"/from-{real}.html"] = stage.page("End")
    entries = tuple(target for target in pages if not target.startswith("/from"))
    return Scene(resources=pages, entries=entries)


CASES: Mapping[str, Callable[[Stage], Scene]] = {"charsets": charsets, "lying-charset": lying_charset}
