"""Takes long lists apart into pages."""

from collections.abc import Sequence
from typing import Annotated, Protocol, TypeVar

from fastapi import Query

MOST = 1000

Cursor = Annotated[str | None, Query(max_length=4096, description="from the page before")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="items of a page")]


class Named(Protocol):
    """Something that has a name."""

    @property
    def name(self) -> str:
        """By which it stands in its list."""


Item = TypeVar("Item", bound=Named)


def page_after(items: Sequence[Item], cursor: str | None, limit: int) -> tuple[list[Item], str | None]:
    """Items after a name, and the cursor of the next page; the list is sorted by name."""
    rest = [item for item in items if cursor is None or item.name > cursor]
    page = rest[:limit]
    return page, page[-1].name if len(rest) > limit else None
