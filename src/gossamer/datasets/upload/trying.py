"""Tries a store out: for a crawl that begins in a process of its own, as its packages take 50 MiB and a second."""

import secrets
import subprocess
import sys

import msgspec

from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.state.object_store import Patience, RefusedError, Store

OWNER = "of-crawl"
"""Object that names the crawl whose files lie beside it."""
_TRIED = ".tried-"
"""Begins the names of objects that are there while a store is tried."""
_LONGEST = 60.0
"""Seconds until a store that gives no answer is none: its package may ask it for many minutes."""


def opened(address: str) -> Store:
    """The store at an address.

    Raises:
        ConfigError: a package is not installed.
        StorageError: it cannot be used.
    """
    try:
        return Store(address, Patience(tries=3, first=0.5))
    except ConfigError as error:
        why = str(error.__context__ or error)
        raise ConfigError(because(ProblemCode.UPLOAD_PACKAGE, address, why)) from None


def prove_owner(store: Store, address: str, crawl: str, ledger: str = "") -> None:
    """Refuse a store that is another crawl's, or not the one in which this crawl's files lie.

    Args:
        store: at `address`.
        address: its address.
        crawl: the name of this one, empty if it has none yet.
        ledger: folder of what is remembered of the store, if that is that files lie there.

    Raises:
        ConfigError: it is.
        StorageError: the store refuses.
    """
    owner = store.get(OWNER)
    if owner is not None and owner.decode(errors="replace") != crawl:
        raise ConfigError(because(ProblemCode.UPLOAD_OF_ANOTHER, address))
    if owner is None and ledger:
        raise ConfigError(because(ProblemCode.UPLOAD_GONE, address, ledger))


def tried(address: str) -> Reason | None:
    """Write, read back and delete a small object where nothing lies yet; what is wrong."""
    name, content = f"{_TRIED}{secrets.token_hex(8)}", secrets.token_bytes(64)
    try:
        store = opened(address)
        store.put(name, content)
        came = store.get(name)
        store.delete(name)
        there = [other for other in store.names("") if not other.startswith(_TRIED)]
    except ConfigError as error:
        return error.why
    except RefusedError as error:
        return because(ProblemCode.UPLOAD_UNUSABLE, address, error.said)
    except StorageError as error:
        return because(ProblemCode.UPLOAD_UNUSABLE, address, str(error))
    if came != content:
        return because(ProblemCode.UPLOAD_UNUSABLE, address, "what comes back is not what was written")
    return because(ProblemCode.UPLOAD_OF_ANOTHER, address) if there else None


def tried_apart(address: str) -> Reason | None:
    """As `tried`, by another process."""
    line = (sys.executable, "-m", __name__, address)
    try:
        ended = subprocess.run(  # noqa: S603
            line, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_LONGEST
        )
    except subprocess.TimeoutExpired:
        return because(ProblemCode.UPLOAD_UNUSABLE, address, f"no answer within {_LONGEST:g} s")
    try:
        return msgspec.json.decode(ended.stdout, type=Reason | None)
    except msgspec.MsgspecError:
        said = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return because(ProblemCode.UPLOAD_UNUSABLE, address, said or f"status {ended.returncode}")


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(tried(sys.argv[1])))
