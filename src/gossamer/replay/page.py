"""The frame of our own pages beside the archive: no script, nothing from anywhere, light and dark."""

from urllib.parse import quote

from gossamer.report.charts import escaped
from gossamer.report.markup import Html, element, foreign, join, text
from gossamer.words.catalogue import Words

__all__ = ["HEAD_FIELDS", "code", "led", "link", "named", "page"]

HEAD_FIELDS = (
    ("Content-Type", "text/html; charset=utf-8"),
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
)
"""Of pages at the list's own address: nobody frames, reads or opens them, and what they show runs nothing."""

_STYLE = """
:root{color-scheme:light dark;--line:light-dark(#d5d9de,#3b4148);--dim:light-dark(#5a6470,#9aa4b0)}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.1rem}
a{color:light-dark(#0b57b0,#8ab8f5);text-decoration:none}a:hover{text-decoration:underline}
.dim,td.dim{color:var(--dim)}bdi{overflow-wrap:anywhere}ul{padding:0;list-style:none}
li{padding:.45rem 0;border-top:1px solid var(--line)}
form{display:flex;gap:.5rem;margin:1rem 0}input{flex:1;font:inherit;padding:.4rem .6rem;min-width:0}
button{font:inherit;padding:.4rem 1rem}
code{background:light-dark(#f1f3f5,#24292f);padding:.1rem .35rem;border-radius:.2rem;overflow-wrap:anywhere}
.months{display:flex;flex-wrap:wrap;gap:1.5rem}table{border-collapse:collapse}
td{text-align:center;padding:.15rem .4rem;color:var(--dim)}td a{font-weight:600}caption{text-align:left}
"""


def page(words: Words, title: str, *content: Html) -> bytes:
    """A whole page of ours.

    Args:
        words: of its language.
        title: in the head; escaped here.
        content: of the body.
    """
    head = (
        f'<!doctype html><html lang="{escaped(words.tag)}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escaped(title)}</title>'
        f"<style>{_STYLE}</style></head>"
    )
    return f"{head}<body>{join(content)}</body></html>\n".encode("utf-8", "replace")


def link(target: str, *content: Html) -> Html:
    """A link to a page of ours; `target` is ours, with what came from elsewhere in it percent-encoded."""
    return Html(f'<a href="{escaped(target)}">{join(content)}</a>')


def led(home: str, way: str, url: str, time: str = "") -> str:
    """An address of ours that asks about an archived URL: `way` is `view` or `captures`."""
    when = f"&at={quote(time, safe='')}" if time else ""
    return f"{home}/{way}?url={quote(url, safe='')}{when}"


def code(command: str) -> Html:
    """A command to be copied; whoever reads it sees all of it."""
    return element("code", "", text(command))


def named(title: str, url: str) -> Html:
    """The title of an archived page as a stranger wrote it; its URL if it has none."""
    return foreign(title or url)
