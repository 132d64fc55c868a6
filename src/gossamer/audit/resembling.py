"""Notes pages that resemble each other, where an index of that was made (`gossamer index`, extra `documents`)."""

from importlib.util import find_spec

from gossamer.audit.rules import Rule
from gossamer.audit.store import AuditStore
from gossamer.inspect.inspection import Inspection

__all__ = ["note_near_duplicates"]

MOST = 1_000
"""Groups of pages that are told of."""
MEMBERS = 100
_INDEX = "similar"


def note_near_duplicates(inspection: Inspection, store: AuditStore) -> None:
    """Note groups of pages whose main text is nearly the same; nothing without an index.

    Raises:
        StorageError: the index is damaged.
    """
    crawls = [part.folder.path for part in inspection.each.values()]
    if find_spec("numpy") is None or not any((crawl / _INDEX).is_dir() for crawl in crawls):
        return
    from gossamer.search.similar.answers import SimilarPages

    for cluster in SimilarPages(crawls).clusters(MOST, MEMBERS):
        pages = [page.url for page in cluster.pages]
        if len(pages) > 1:
            store.add_finding(Rule.NEAR_DUPLICATE.value, cluster.cluster, {"count": cluster.size}, pages)
