"""What a snapshot consists of, as the store keeps it."""

from hashlib import blake2b

import msgspec

from gossamer.model.errors import StorageError

DIGEST_BYTES = 32
FORMAT = 1


class DamagedError(StorageError):
    """A snapshot is not what was put into the store; one before it may be whole."""


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """One object: a run of bytes of a file. `object` is their blake2b digest in hexadecimal (32 bytes)."""

    object: str
    size: int


class StoredFile(msgspec.Struct, frozen=True):
    """A file of the crawl folder by its path in it (`state/000012.sst`), as the pieces it is made of."""

    name: str
    size: int
    pieces: tuple[Piece, ...]


class Position(msgspec.Struct, frozen=True, array_like=True):
    """Messages of `sender` to `shard` are applied up to `sequence`."""

    shard: int
    sender: str
    sequence: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """One snapshot of an agent's crawl.

    Attributes:
        agent, incarnation: whose.
        id: counts up from 1 for each agent.
        checkpoint: name of the checkpoint it was made from.
        taken: wall time.
        files: all of it.
        inbox: messages that it covers.
        uploaded: bytes that had to travel for it.
        seconds: it took.
    """

    format: int = FORMAT
    agent: str
    incarnation: int
    id: int
    checkpoint: str
    taken: float
    files: tuple[StoredFile, ...]
    inbox: tuple[Position, ...] = ()
    uploaded: int = 0
    seconds: float = 0.0

    @property
    def objects(self) -> set[str]:
        """Names of all objects that it needs."""
        return {piece.object for file in self.files for piece in file.pieces}

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)


_decode = msgspec.json.Decoder(Manifest).decode


def agent_prefix(agent: str) -> str:
    """Where everything of an agent stands in the store."""
    return f"snapshots/{agent}"


def objects_prefix(agent: str) -> str:
    """Where an agent's objects stand in the store."""
    return f"snapshots/{agent}/objects"


def object_key(agent: str, name: str) -> str:
    """Key of one object of an agent."""
    return f"snapshots/{agent}/objects/{name}"


def manifest_key(agent: str, number: int) -> str:
    """Key of the manifest of one snapshot."""
    return f"snapshots/{agent}/{number:08d}.manifest"


def digest_of(data: bytes) -> str:
    """The digest that names an object."""
    return blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


def pack_manifest(manifest: Manifest) -> bytes:
    """JSON, and in a second line its digest."""
    body = msgspec.json.encode(manifest)
    return body + b"\n" + digest_of(body).encode() + b"\n"


def unpack_manifest(data: bytes, key: str) -> Manifest:
    """What `pack_manifest` made.

    Raises:
        DamagedError: it is something else.
    """
    body, _, rest = data.partition(b"\n")
    if rest != digest_of(body).encode() + b"\n":
        raise DamagedError(
            f"{key}: the manifest is damaged: its digest is another. An older snapshot may do."
        )
    try:
        return _decode(body)
    except msgspec.MsgspecError as error:
        raise DamagedError(f"{key}: the manifest cannot be understood ({error}).") from None
