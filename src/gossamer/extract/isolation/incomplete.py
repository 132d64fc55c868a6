"""The one thing that a reader has to know of isolated extractors where it has none."""

from gossamer.model.raised import Raised

__all__ = ["IncompleteError"]


class IncompleteError(Exception):
    """An isolated extractor gave nothing.

    Attributes:
        raised: for whoever counts what extractors raise; `None` where the document is to blame.
    """

    def __init__(self, why: str, raised: Raised | None) -> None:
        super().__init__(why)
        self.raised = raised
