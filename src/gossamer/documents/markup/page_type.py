"""What sort of page it is, by what is known before its text is read: its address and its declarations."""

import re
from urllib.parse import urlsplit

__all__ = ["page_features"]

_TYPES: dict[str, frozenset[str]] = {
    "data_article": frozenset({"Article", "NewsArticle", "BlogPosting", "TechArticle", "Report"}),
    "data_product": frozenset({"Product", "Offer", "AggregateOffer"}),
    "data_forum": frozenset({"DiscussionForumPosting", "QAPage", "Question"}),
    "data_list": frozenset({"ItemList", "CollectionPage", "SearchResultsPage", "ProductGroup"}),
    "data_service": frozenset({"Service", "LocalBusiness", "ProfessionalService"}),
    "data_page": frozenset({"WebPage"}),
    "data_faq": frozenset({"FAQPage"}),
}
_PATHS = {
    "path_forum": r"forum|thread|topic|discuss|community|viewtopic|/t/|question",
    "path_docs": r"docs?[./]|documentation|/api/|manual|reference|guide",
    "path_product": r"product|/p/|shop|item",
    "path_list": r"categor|collection|/c/|tag/|blog/?$|news/?$|archive",
    "path_article": r"\d{4}/\d\d|blog/.|news/.|article",
}
_PATH_PATTERNS = {name: re.compile(pattern) for name, pattern in _PATHS.items()}
_LONGEST = 2_000


def page_features(url: str, types: set[str], shared_type: str) -> dict[str, float]:
    """Features of the page, always the same names in the same order.

    Args:
        url: of the page.
        types: of its JSON-LD items, without their vocabulary.
        shared_type: its `og:type`.
    """
    address = url[:_LONGEST].lower()
    try:
        path = urlsplit(address).path.strip("/")
    except ValueError:
        path = ""
    found = {name: float(bool(kinds & types)) for name, kinds in _TYPES.items()}
    found |= {
        f"shared_{kind}": float(kind in shared_type.lower()) for kind in ("article", "product", "website")
    }
    found |= {"path_root": float(not path), "path_depth": float(path.count("/"))}
    found |= {name: float(bool(pattern.search(address))) for name, pattern in _PATH_PATTERNS.items()}
    found["path_words"] = float(path.rpartition("/")[2].count("-") + path.rpartition("/")[2].count("_"))
    return found
