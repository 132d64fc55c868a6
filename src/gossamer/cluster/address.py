"""Where the Ray cluster of a crawl was last reached."""

from pathlib import Path

from gossamer.model.errors import ConfigError

ADDRESS = "address"
"""File in the cluster's folder."""


def address_of(folder: Path) -> str:
    """Where the Ray cluster of the crawl in `folder` was last reached.

    Raises:
        ConfigError: it was never started.
    """
    try:
        return (folder / ADDRESS).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise ConfigError(
            f"{folder}: nothing runs there. 'gossamer cluster resume {folder}' goes on."
        ) from None
