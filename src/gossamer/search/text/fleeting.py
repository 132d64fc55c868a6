"""Answers whether one document fits a query, by the rules of the index, keeping nothing."""

from typing import Any

from gossamer.search.extra import needed
from gossamer.search.query.asked import Asked
from gossamer.search.text.asking import Asking
from gossamer.search.text.schema import document_of, schema

_MEMORY = 20 << 20


class FleetingIndex:
    """An index in memory of one document at a time."""

    def __init__(self) -> None:
        """Raises:
        ConfigError: the extra is not installed.
        """
        self._schema = schema()
        self._index = needed().Index(self._schema)
        self._index.config_reader("manual")
        self._writer = self._index.writer(_MEMORY, 1)
        self._asking = Asking(self._schema, {})

    def put(self, row: dict[str, Any]) -> None:
        """Take a row of the table `documents` (`COLUMNS`) in place of the last."""
        self._writer.delete_all_documents()
        self._writer.add_document(document_of(row))
        self._writer.commit()
        self._index.reload()
        self._asking = Asking(self._schema, {row["language"] or "": 1})

    def fits(self, asked: Asked, *, some: bool = False) -> bool:
        """Whether the document answers a query; `some`: not all of its words must be there, but one."""
        query = self._asking.query(asked, some=some)
        return int(self._index.searcher().search(query, 1).count) > 0
