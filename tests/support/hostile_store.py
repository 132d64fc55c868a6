"""Stores of objects that break: at any call, midway through an object, for good, or by lying about what they have."""

import contextlib
import hashlib
import io
from collections import Counter
from collections.abc import Callable

import fsspec
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem


class KilledError(BaseException):
    """Stands for `kill -9`: the store hears nothing more of who got it."""


class _Parts(AbstractBufferedFile):
    """An object that is sent in parts: there once it is completed, as S3 does it."""

    def _initiate_upload(self) -> None:
        self._parts = io.BytesIO()
        Bucket.call("begin", self.path)
        Bucket.unfinished.add(self.path)

    def _upload_chunk(self, final: bool = False) -> bool:
        Bucket.call("part", self.path)
        self._parts.write(self.buffer.getvalue())
        if final:
            Bucket.call("complete", self.path)
            Bucket.place(self.path, self._parts.getvalue())
            Bucket.unfinished.discard(self.path)
        return True

    def discard(self) -> None:
        Bucket.call("abort", self.path)
        Bucket.unfinished.discard(self.path)


class Bucket(AbstractFileSystem):
    """An object store in memory: an object is put at once, or in parts that are completed."""

    protocol = "bucket"
    cachable = False
    objects: dict[str, bytes] = {}
    unfinished: set[str] = set()
    calls: list[tuple[str, str]] = []
    breaks: Callable[[str, str], BaseException | None] = staticmethod(lambda *_: None)
    """What a call (its kind, the path) raises, and after which kind of damage."""
    kept: Callable[[bytes], bytes] = staticmethod(lambda content: content)
    """What it keeps of what it is given."""
    etag: Callable[[bytes], str] = staticmethod(lambda content: hashlib.md5(content).hexdigest())
    dead = False

    @classmethod
    def call(cls, kind: str, path: str) -> None:
        """Note a call; whoever was killed makes none."""
        if Bucket.dead:
            raise KilledError
        Bucket.calls.append((kind, path.partition("/")[2]))
        if (error := Bucket.breaks(kind, path)) is not None:
            Bucket.dead = isinstance(error, KilledError)
            raise error

    @classmethod
    def place(cls, path: str, content: bytes) -> None:
        """Keep an object."""
        Bucket.objects[path] = Bucket.kept(content)

    @classmethod
    def whole_again(cls) -> None:
        """Mend it, and let somebody else call; what it holds stays."""
        Bucket.dead = False
        Bucket.breaks = staticmethod(lambda *_: None)
        Bucket.kept = staticmethod(lambda content: content)
        Bucket.etag = staticmethod(lambda content: hashlib.md5(content).hexdigest())
        Bucket.calls.clear()

    @classmethod
    def count(cls) -> Counter[str]:
        """Calls by their kind."""
        return Counter(kind for kind, _ in Bucket.calls)

    def pipe_file(self, path, value, mode="overwrite", **kwargs):
        path = self._strip_protocol(path)
        self.call("put", path)
        self.place(path, bytes(value))

    def cat_file(self, path, version_id=None, start=None, end=None, **kwargs):
        """As s3fs has it, which is not the order of fsspec; S3 refuses a range that begins behind the end."""
        assert version_id is None
        path = self._strip_protocol(path)
        self.call("get", path)
        if path not in self.objects:
            raise FileNotFoundError(path)
        content = self.objects[path]
        if start is not None and start >= len(content):
            raise OSError(22, "The requested range is not satisfiable")
        return content[start:end]

    def info(self, path, **kwargs):
        path = self._strip_protocol(path)
        self.call("head", path)
        with contextlib.suppress(KeyError):
            content = self.objects[path]
            return {"name": path, "size": len(content), "type": "file", "ETag": f'"{self.etag(content)}"'}
        raise FileNotFoundError(path)

    def ls(self, path, detail=True, **kwargs):
        path = self._strip_protocol(path)
        self.call("list", path)
        return [
            {"name": name, "size": 1, "type": "file"}
            for name in self.objects
            if name.rpartition("/")[0] == path
        ]

    def rm_file(self, path):
        path = self._strip_protocol(path)
        self.call("delete", path)
        if self.objects.pop(path, None) is None:
            raise FileNotFoundError(path)

    def _open(self, path, mode="rb", block_size=None, **kwargs):
        return _Parts(self, path, mode, block_size=block_size)


class _Shown(io.BytesIO):
    """A file of a server that shows it as it grows, and keeps what there is of it when it is closed."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def write(self, data) -> int:
        Bucket.call("part", self._path)
        count = super().write(data)
        Bucket.objects[self._path] = self.getvalue()
        return count


class Server(Bucket):
    """A file server, as by SFTP: what is written shows at once, but it can rename, though not over another name."""

    protocol = "server"

    def pipe_file(self, path, value, mode="overwrite", **kwargs):
        path = self._strip_protocol(path)
        self.call("begin", path)
        self.objects[path] = bytes(value)[: len(value) // 2]
        self.call("put", path)
        self.place(path, bytes(value))

    def _open(self, path, mode="rb", block_size=None, **kwargs):
        self.call("begin", path)
        return _Shown(path)

    def mv(self, path1, path2, **kwargs):
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        self.call("move", path2)
        if path2 in self.objects:
            raise FileExistsError(path2)
        self.objects[path2] = self.objects.pop(path1)


for _kind in (Bucket, Server):
    fsspec.register_implementation(_kind.protocol, _kind, clobber=True)
