"""What a link's `rel` makes of it.

Source: WHATWG HTML 4.6.7 and the IANA registry of link relations, as far as browsers and publishers use them.
"""

from gossamer.model.link import LinkKind

__all__ = ["kind_of_relation", "nofollow"]

_KINDS = (
    (LinkKind.REQUISITE, "stylesheet"),
    (LinkKind.CANONICAL, "canonical"),
    (
        LinkKind.REQUISITE,
        "icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon "
        "preload modulepreload prefetch prerender manifest image_src",
    ),
    (LinkKind.ALTERNATE, "alternate amphtml shortlink"),
    (
        LinkKind.NAVIGATION,
        "next prev previous up first last start top begin end index contents toc help search author license "
        "copyright glossary chapter section subsection appendix bookmark home archives tag child parent "
        "related privacy-policy terms-of-service sitemap",
    ),
)
_BY_RELATION = {word: (rank, kind) for rank, (kind, words) in enumerate(_KINDS) for word in words.split()}


def kind_of_relation(rel: str) -> LinkKind | None:
    """The kind of a `link` element or `Link` header; `None` if nothing is to be fetched (`preconnect`, ...).

    Of several relations the one that browsers heed first counts: `alternate stylesheet` is a style sheet.
    """
    known = [_BY_RELATION[word] for word in rel.lower().split() if word in _BY_RELATION]
    return min(known)[1] if known else None


def nofollow(rel: str) -> bool:
    """Whether the link asks robots not to follow it."""
    return bool(rel) and "nofollow" in rel.lower().split()
