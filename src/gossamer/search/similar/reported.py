"""What a report tells of near-duplicates."""

from msgspec.structs import replace

from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import StorageError
from gossamer.report.figures import Figures, NearDuplicates, Repeated
from gossamer.search.similar.state import FOLDER, state_of

__all__ = ["with_near_duplicates"]

_LARGEST = 10


def with_near_duplicates(figures: Figures, inspection: Inspection) -> Figures:
    """The figures with those of the index, if there is one that can be read; seconds for a million pages."""
    crawls = [part.folder.path for part in inspection.each.values()]
    if all(state_of(crawl / FOLDER) is None for crawl in crawls):
        return figures
    try:
        from gossamer.search.similar.answers import SimilarPages

        pages = SimilarPages(crawls)
        counts = pages.counts()
        largest = [Repeated(one.cluster, one.size) for one in pages.clusters(_LARGEST, 1)]
    except (ImportError, StorageError):  # the report has enough to tell without
        return figures
    found = NearDuplicates(counts.captures, counts.near_duplicates, counts.clusters, largest)
    return replace(figures, near_duplicates=found)
