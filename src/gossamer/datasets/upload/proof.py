"""Refuses a store that cannot be used, before a crawl begins."""

import re
from importlib.util import find_spec
from pathlib import Path

from gossamer.datasets.upload.ledger import known_store
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, of

_ADDRESS = re.compile(
    # What is in memory ends with the process that put it there; a folder must be the same from everywhere.
    r"(?!memory:|(file|local)://(?!/+[^/]))[a-z][a-z0-9+.-]*://[^?#]+",
    re.ASCII,
)
_HERE = re.compile(r"(?:file|local)://(.*)")
_PASSWORD = re.compile(r"://[^@]*:[^@]*@")


def prove_upload(address: str, folder: Path) -> None:
    """Refuse an address at which a crawl in `folder` could keep nothing; an empty one is none.

    A store is tried before the first upload; later it may be away for a while.

    Raises:
        ConfigError: it is no address, holds a password, needs a package, lies in the folder, or cannot be written;
            or files lie there that are not of this crawl.
    """
    if address and (reason := _problem(address, folder)) is not None:
        raise ConfigError(of("storage.upload", reason))


def _problem(address: str, folder: Path) -> Reason | None:
    if _PASSWORD.search(address):
        return because(ProblemCode.UPLOAD_PASSWORD)
    if not _ADDRESS.fullmatch(address):
        return because(ProblemCode.UPLOAD_ADDRESS, address)
    if (here := _HERE.fullmatch(address)) and Path(here[1]).resolve().is_relative_to(folder.resolve()):
        return because(ProblemCode.UPLOAD_INSIDE, address)
    if find_spec("fsspec") is None:
        return because(ProblemCode.UPLOAD_PACKAGE, address, "fsspec")
    if known_store(folder) == address:
        return None
    from gossamer.datasets.upload.trying import tried_apart  # which needs fsspec

    return tried_apart(address)
