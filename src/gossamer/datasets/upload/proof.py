"""Refuses a store that cannot be used, before a crawl begins."""

import re
import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.datasets.upload.ledger import known_store
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, of

if TYPE_CHECKING:  # fsspec comes with it, which hardly any crawl needs
    from gossamer.state.object_store import Store

OWNER = "of-crawl"
"""Object that names the crawl whose files lie beside it."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^?#]+", re.ASCII)
_PASSWORD = re.compile(r"://[^@]*:[^@]*@")
_SETTING = "storage.upload"


def prove_upload(address: str, folder: Path) -> None:
    """Refuse an address at which a crawl in `folder` could keep nothing; an empty one is none.

    A store is tried before the first upload; later it may be away for a while.

    Raises:
        ConfigError: it is no address, holds a password, needs a package, or cannot be written; or another crawl's
            files lie there.
    """
    if not address:
        return
    if _PASSWORD.search(address):
        raise _refused(because(ProblemCode.UPLOAD_PASSWORD))
    if not _ADDRESS.fullmatch(address):
        raise _refused(because(ProblemCode.UPLOAD_ADDRESS, address))
    store = opened(address)
    if known_store(folder) != address:
        _try_out(store, address)


def opened(address: str) -> "Store":
    """The store at an address.

    Raises:
        ConfigError: a package is not installed, or it cannot be used at all.
    """
    if find_spec("fsspec") is None:
        raise _refused(because(ProblemCode.UPLOAD_PACKAGE, address, "fsspec"))
    from gossamer.state.object_store import Patience, Store

    try:
        return Store(address, Patience(tries=3, first=0.5))
    except ConfigError as error:
        raise _refused(
            because(ProblemCode.UPLOAD_PACKAGE, address, str(error.__context__ or error))
        ) from None
    except StorageError as error:
        raise _refused(because(ProblemCode.UPLOAD_UNUSABLE, address, str(error))) from None


def prove_owner(store: "Store", address: str, crawl: str) -> None:
    """Refuse a store in which another crawl's files lie; `crawl`: the name of this one, empty if it has none yet.

    Raises:
        ConfigError: they do.
        StorageError: the store refuses.
    """
    owner = store.get(OWNER)
    if owner is not None and owner.decode(errors="replace") != crawl:
        raise _refused(because(ProblemCode.UPLOAD_OF_ANOTHER, address))


def _try_out(store: "Store", address: str) -> None:
    from gossamer.state.object_store import RefusedError

    name, content = f".tried-{secrets.token_hex(8)}", secrets.token_bytes(64)
    try:
        store.put(name, content)
        came = store.get(name)
        store.delete(name)
        prove_owner(store, address, "")
    except RefusedError as error:
        raise _refused(because(ProblemCode.UPLOAD_UNUSABLE, address, error.said)) from None
    if came != content:
        raise _refused(
            because(ProblemCode.UPLOAD_UNUSABLE, address, "what comes back is not what was written")
        )


def _refused(reason: Reason) -> ConfigError:
    return ConfigError(of(_SETTING, reason))
