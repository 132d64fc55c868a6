"""The library of the extra 'search', and what to do without it."""

from importlib.util import find_spec
from typing import Any

from gossamer.config.search_config import SearchConfig
from gossamer.datasets.beside import prove_documents
from gossamer.documents.config import DocumentsConfig
from gossamer.model.errors import ConfigError

_NEEDED = ("tantivy",)


def is_installed() -> bool:
    """Whether an index can be made and asked."""
    return all(find_spec(name) is not None for name in _NEEDED)


def needed(asked: str = "search") -> Any:
    """The library `tantivy`; `asked`: what the user gave.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import tantivy
    except ImportError:
        raise ConfigError(
            f"{asked}: needs the extra 'search': pip install 'gossamer[search]' (from a checkout: pip install"
            " '.[search]'); missing: tantivy"
        ) from None
    return tantivy


def prove_search(config: SearchConfig, asked: str = "search.follow (--search)") -> None:
    """Refuse settings that need what is not installed; `asked`: what the user gave.

    Raises:
        ConfigError: the extra 'search' or 'documents' is not installed.
    """
    if config.follow:
        needed(asked)
        prove_documents(DocumentsConfig(follow=True), asked)
