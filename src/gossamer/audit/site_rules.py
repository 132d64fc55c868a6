"""What is wrong with a site as a whole: what its links, titles, translations and sitemaps say of each other."""

from collections.abc import Iterator

import msgspec

from gossamer.audit.rules import Rule, rule_of_link
from gossamer.audit.standing import Standing
from gossamer.audit.store import AuditStore
from gossamer.policy.linkcheck.verdicts import Code, LinkVerdict

__all__ = ["judge_site"]

_LISTED = 100
"""Pages that are told of one finding."""
LONGEST_CHAIN = 2
"""Addresses of a way that is no chain: the link's and that to which it leads."""


def judge_site(store: AuditStore, standing: Standing, *, changed: bool) -> None:
    """Note all that can be said once each link's end is known.

    Args:
        store: with settled targets.
        standing: what the crawl knows.
        changed: leave out what concerns only pages that say what they said before.
    """
    _of_links(store)
    for column, rule in (
        ("title", Rule.TITLE_DOUBLED),
        ("description", Rule.DESCRIPTION_DOUBLED),
        ("digest", Rule.DUPLICATE),
    ):
        _doubled(store, column, rule, changed=changed)
    _canonical(store)
    _translations(store)
    _sitemaps(store, standing)
    store.commit()


def _of_links(store: AuditStore) -> None:
    # Findings are written meanwhile: into another table, so that what is read stays as it is.
    rows = store.do(
        "select id, url, verdict, code, status, target, hops from targets where verdict<>'well' or hops<>''"
    )
    for _, url, verdict, code, status, target, hops in rows:
        rule = rule_of_link(LinkVerdict(verdict), Code(code))
        if rule is not None:
            detail = {"code": code, "status": status or None, "target": target or None}
            store.add_finding(
                rule.value, url, {name: value for name, value in detail.items() if value is not None}
            )
        told = msgspec.json.decode(hops, type=list[str]) if hops else []
        if len(told) > LONGEST_CHAIN and rule is not Rule.REDIRECT_LOOP:
            store.add_finding(Rule.REDIRECT_CHAIN.value, url, {"hops": told})


def _doubled(store: AuditStore, column: str, rule: Rule, *, changed: bool) -> None:
    """Pages that have a title, a description or a text in common; what names another as canonical is none of them."""
    own = "(canonical='' or canonical=url) and not noindex"
    having = "count(*)>1" + (" and max(changed)" if changed else "")
    groups = store.do(
        f"select {column}, count(*) from pages where {column}<>'' and {own} group by {column} having {having}"  # noqa: S608
    ).fetchall()
    for value, count in groups:
        rows = store.do(
            f"select url from pages where {column}=? and {own} order by id limit ?",  # noqa: S608
            (value, _LISTED),
        )
        pages = [row[0] for row in rows]
        detail = {"count": count} | ({"text": value} if isinstance(value, str) else {})
        store.add_finding(rule.value, pages[0], detail, pages)


def _canonical(store: AuditStore) -> None:
    rows = store.do(
        "select pages.url, canonical, verdict, code, targets.status, hops from pages join targets"
        " on targets.url=canonical where canonical<>'' and canonical<>pages.url"
    )
    for url, canonical, verdict, code, status, hops in rows:
        detail = {"canonical": canonical, "code": code, "status": status}
        if verdict == LinkVerdict.BROKEN:
            store.add_finding(Rule.CANONICAL_BROKEN.value, url, detail)
        elif hops:
            store.add_finding(Rule.CANONICAL_REDIRECTS.value, url, detail)


def _translations(store: AuditStore) -> None:
    """Translations name each other, or search engines believe neither (Google: hreflang)."""
    for url, told in store.do("select url, hreflang from pages where hreflang<>''"):
        for language, address in msgspec.json.decode(told, type=list[tuple[str, str]]):
            if address == url:
                continue
            row = store.do("select verdict, code from targets where url=?", (address,)).fetchone()
            if row is not None and row[0] == LinkVerdict.BROKEN:
                store.add_finding(
                    Rule.HREFLANG_BROKEN.value, url, {"language": language, "target": address, "code": row[1]}
                )
                continue
            other = store.do("select hreflang from pages where url=?", (address,)).fetchone()
            if other is None:
                continue
            back = msgspec.json.decode(other[0], type=list[tuple[str, str]]) if other[0] else []
            if all(target != url for _, target in back):
                store.add_finding(
                    Rule.HREFLANG_NO_RETURN.value, url, {"language": language, "target": address}
                )


def _sitemaps(store: AuditStore, standing: Standing) -> None:
    for url, sitemap in _listed(store):
        kept = standing.of(url)
        if kept is None or kept.code is Code.NOT_ASKED:
            continue
        page = store.do("select noindex, id from pages where url=?", (url,)).fetchone()
        code = "noindex" if page is not None and page[0] else kept.code.value
        if kept.verdict is not LinkVerdict.WELL or kept.hops or code == "noindex":
            store.add_finding(Rule.SITEMAP_NOT_WELL.value, url, {"code": code, "sitemap": sitemap})
        elif page is not None and not standing.is_seed(url) and not _is_linked(store, url, page[1]):
            store.add_finding(Rule.ORPHAN.value, url, {"sitemap": sitemap})
    if store.do("select 1 from listed limit 1").fetchone() is None:
        return
    rows = store.do(
        "select url from pages where not noindex and (canonical='' or canonical=url)"
        " and not exists (select 1 from listed where listed.url=pages.url)"
    )
    for (url,) in rows:
        store.add_finding(Rule.SITEMAP_MISSING.value, url, {})


def _listed(store: AuditStore) -> Iterator[tuple[str, str]]:
    """Entries of sitemaps, a few at a time, because others are written meanwhile."""
    last = ""
    while rows := store.do(
        "select url, sitemap from listed where url>? order by url limit 500", (last,)
    ).fetchall():
        yield from rows
        last = rows[-1][0]


def _is_linked(store: AuditStore, url: str, page: int) -> bool:
    """Whether another page has a link to it, by its address or by one that redirects there."""
    linked = store.do(
        "select 1 from targets join holders on holders.target=targets.id"
        " where (resource=? or targets.target=?) and holders.page<>? limit 1",
        (url, url, page),
    ).fetchone()
    return linked is not None
