"""Sitemaps of ordinary hosts: an index that leads to a list, packed or not."""

from html import escape

from gossamer.simweb.servers.coding import encode
from gossamer.simweb.world.atlas import Atlas
from gossamer.simweb.world.dice import fingerprint
from gossamer.simweb.world.resource import Place, Resource

_SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_LISTED = 50


def find(atlas: Atlas, index: int, target: str) -> Resource | None:
    """The sitemap file of host `index` at `target`, or `None`.

    `/sitemap.xml` is an index of one list, `/sitemap-1.xml.gz` or, on every other host,
    `/sitemap-1.xml`. Lists hold the first pages and one page that nothing else leads to.
    """
    host = atlas.name(index)
    packed = fingerprint(atlas.spec.seed, "sitemap", index) % 2 == 0
    listing = Place(host, "/sitemap-1.xml.gz" if packed else "/sitemap-1.xml")
    if target == "/sitemap.xml":
        entries: tuple[Place, ...] = (listing,)
        written = _write(atlas, "sitemapindex", "sitemap", entries)
    elif target == listing.target:
        pages = (atlas.page(index, number) for number in range(min(_LISTED, atlas.pages(index))))
        entries = (*pages, Place(host, "/orphan/0.html"))
        written = _write(atlas, "urlset", "url", entries)
        written = encode("gzip", written) if packed else written
    else:
        return None
    media_type = "application/gzip" if target.endswith(".gz") else "application/xml"
    return Resource(content_type=media_type, body=lambda: written, entries=entries)


def _write(atlas: Atlas, root: str, item: str, places: tuple[Place, ...]) -> bytes:
    lines = [f"<{item}><loc>{escape(atlas.url(place))}</loc></{item}>" for place in places]
    return "\n".join(
        ('<?xml version="1.0" encoding="UTF-8"?>', f"<{root} {_SPACE}>", *lines, f"</{root}>")
    ).encode()
