"""The pages of the mirror's own: where to begin, and what to say of pages that are not in it."""

import re
from collections.abc import Sequence
from html import escape

from gossamer.mirror.names import address_of
from gossamer.model.url import WITH_HOSTS
from gossamer.words.visible import visible

__all__ = ["NOTE_PAGE", "start_page"]

_HEAD = (
    '<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content="width=device-width">'
    "<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:50rem;padding:0 1rem;color:#1c2430;"
    "background:#fff}li{overflow-wrap:anywhere}a{color:#0b57d0}"
    "@media(prefers-color-scheme:dark){body{color:#dfe4ec;background:#14181f}a{color:#8ab4f8}}</style>"
)

_ONWARD = "|".join(map(re.escape, WITH_HOSTS))
NOTE_PAGE = (
    f"{_HEAD}<title>Not in this mirror</title></head><body><h1>Not in this mirror</h1>"
    "<p>The page was not crawled. On the web it is at</p><p id=address>the address behind the # in the address bar</p>"
    f"<script>var a=location.hash.slice(1);if(/^({_ONWARD}):/.test(a))"
    "{var l=document.createElement('a');"
    "l.href=a;l.rel='noreferrer';l.textContent=a;document.getElementById('address').replaceChildren(l)}</script>"
    "</body></html>\n"
).encode()
"""Names the address behind its `#`, which it takes for text."""


def start_page(pages: Sequence[tuple[str, str]], at: str) -> bytes:
    """Leads to the only page to begin at, or lists them.

    Args:
        pages: (URL, file) of each.
        at: time of the newest capture in the mirror, empty if there is none.
    """
    items = "".join(
        f'<li><a href="{address_of(file)}">{escape(visible(url))}</a></li>' for url, file in pages
    )
    onward = f'<meta http-equiv=refresh content="0;url={address_of(pages[0][1])}">' if len(pages) == 1 else ""
    return (
        f"{_HEAD}{onward}<title>Mirror</title></head><body><h1>Mirror</h1><ul>{items}</ul><p>As of {at or 'never'}."
        " Which file is of which address says <a href=manifest.csv>manifest.csv</a>.</p></body></html>\n"
    ).encode()
