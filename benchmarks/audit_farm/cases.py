"""The table's cases, each with its host and its link, and the pages that hold the links."""

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from benchmarks.audit_farm.behaviours import TABLE, Behaviour, Home
from benchmarks.audit_farm.conversation import page

DOMAIN = "farm.test"
SITE = f"site.{DOMAIN}"
NGINX = f"nginx.{DOMAIN}"
SHARED = [f"w{number}.{DOMAIN}" for number in range(24)]
_A_PAGE = 24  # links


class Ports(NamedTuple):
    """Where the farm listens.

    Attributes:
        plain, tls: of all hosts.
        nginx: of the real web server; 0: there is none.
        dead: nobody listens.
        mute: somebody accepts, and says nothing.
    """

    plain: int
    tls: int
    nginx: int
    dead: int
    mute: int


class Case(NamedTuple):
    """One link, and what is behind it.

    Attributes:
        name: also the text of the link.
        host: that is asked; empty: none of ours.
        href: as pages write it, before entities are escaped.
        target: where it has moved to, if that is checked.
    """

    name: str
    behaviour: Behaviour
    host: str
    href: str
    target: str

    @property
    def must_be_broken(self) -> bool:
        return self.behaviour.truth == {"broken"}

    @property
    def must_not_be_broken(self) -> bool:
        return "broken" not in self.behaviour.truth


def cases(ports: Ports, share: float = 1.0, table: Sequence[Behaviour] = TABLE) -> Iterator[Case]:
    """All of them; with a smaller `share`, fewer of each behaviour, at least one."""
    dealt = 0
    for behaviour in table:
        if behaviour.home is Home.NGINX and not ports.nginx:
            continue
        for number in range(max(1, round(behaviour.instances * share))):
            dealt += 1
            yield _case(behaviour, f"{behaviour.name}-{number}", SHARED[dealt % len(SHARED)], number, ports)


def _case(behaviour: Behaviour, name: str, shared: str, number: int, ports: Ports) -> Case:
    own = f"{(behaviour.label or behaviour.name).lower()}-{number}.{DOMAIN}"
    host = {Home.SHARED: shared, Home.OWN: own, Home.SITE: SITE, Home.NGINX: NGINX, Home.NOWHERE: ""}[
        behaviour.home
    ]
    port = {"http": ports.plain, "https": ports.tls}[behaviour.scheme]
    port = ports.nginx if behaviour.home is Home.NGINX else port
    words = {
        "base": f"{behaviour.scheme}://{host}:{port}/{name}", "case": name, "upper": name.upper(), "host": host,
        "ascii": ascii_host(host),
        "port": port, "dead": ports.dead, "mute": ports.mute,
    }  # fmt: skip
    href = html.unescape(behaviour.href).format_map(words)
    return Case(name, behaviour, ascii_host(host), href, behaviour.target.format_map(words))


def ascii_host(host: str) -> str:
    """As it is asked for (RFC 3490)."""
    return host.encode("idna").decode() if host else host


def site(ports: Ports, all_cases: Sequence[Case]) -> Mapping[str, str]:
    """Pages by path; each link is on two of them, some in markup and with a text of more than one word."""
    count = -(-len(all_cases) // _A_PAGE)
    held: list[list[Case]] = [[] for _ in range(count)]
    for number, case in enumerate(all_cases):
        held[number % count].append(case)
        held[(number * 7 + 1 + number % count) % count].append(case)
    for links in held:
        links.sort(key=lambda case: case.name)
    around = "".join(f'<li><a href="/page/{number}">Page {number}</a></li>' for number in range(count))
    pages = {"/": page("The farm", f"<ul>{around}</ul>")}
    for number, links in enumerate(held):
        title = f"Page number {number} of the farm's site"
        unique = dict.fromkeys(links)  # a case that met itself is linked once here
        pages[f"/page/{number}"] = page(title, "".join(_link(case, number) for case in unique))
    pages["/robots.txt"] = f"User-agent: *\nAllow: /\nSitemap: http://{SITE}:{ports.plain}/sitemap.xml\n"
    places = "".join(
        f"<url><loc>http://{SITE}:{ports.plain}{path}</loc></url>" for path in pages if path[-1] != "t"
    )
    pages["/sitemap.xml"] = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
    return pages


def _link(case: Case, number: int) -> str:
    href = html.escape(case.href)
    match case.behaviour.element:
        case "img":
            return f'<p>A picture: <img src="{href}" alt="{case.name}" width="9" height="9">.</p>'
        case "link":
            return f'<p>And a style.</p><link rel="stylesheet" href="{href}">'
        case "script":
            return f'<script src="{href}"></script>'
    text = f"<b>{case.name}</b> on {number}" if number % 2 else f"{case.name} on {number}"
    return f'<p>More is said elsewhere: <a href="{href}">{text}</a>.</p>'


def escaped(path: str) -> str:
    """A path as servers see it."""
    return quote(path, safe="/%-._~!$&'()*+,;=:@")
