"""One measurement of one name cache, in a process of its own; `benchmarks.names` runs them."""

import contextlib
import gc
import json
import operator
import os
import random
import shutil
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

from rbloom import Bloom

from benchmarks.collisions import crafted
from gossamer.dns.cache import PlainCache
from gossamer.dns.compact.cache import CompactCache
from gossamer.dns.compact.config import CompactConfig
from gossamer.model.name import Answer
from gossamer.ports import NameCache

NOW = 1_800_000_000.0
TTL = 86_400.0
TLDS = ("com", "com", "com", "com", "net", "org", "de", "co.uk", "fr", "nl", "com.br", "io", "info", "ru")
SAMPLE = 100_000
ROUNDS = 3
BYTES_OF_A_NAME = 64
"""Room given to the compact cache's file, a little more than it needs."""
_ODD = 0x9E3779B1


def name_of(number: int) -> str:
    """A name like `www.1f3a9c04.com`; another for each number below 2^32."""
    mixed = number * _ODD & 0xFFFF_FFFF
    return f"www.{mixed:08x}.{TLDS[mixed % len(TLDS)]}"


def address_of(number: int) -> str:
    """The address of `name_of(number)`, not that of any other below 2^32."""
    return socket.inet_ntoa(struct.pack(">I", number * _ODD + 12_345 & 0xFFFF_FFFF))


class Dictionary:
    """What a few lines of Python would do: name -> (addresses, expiry)."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[tuple[str, ...], float]] = {}

    def get(self, name: str, now: float) -> Answer | None:
        kept = self._kept.get(name)
        return Answer(name, kept[0]) if kept is not None and now < kept[1] else None

    def put(self, answer: Answer, now: float) -> None:
        self._kept[answer.name] = (answer.addresses, now + answer.ttl)

    def close(self) -> None:
        self._kept.clear()


def make(cache: str, folder: Path, names: int) -> Any:
    """The cache called so, with room for so many names; `None` if it is not there."""
    if cache == "compact":
        return CompactCache(folder, CompactConfig(max_bytes=max(4 << 20, names * BYTES_OF_A_NAME * 8 // 7)))
    if cache == "plain":
        return PlainCache(names)
    if cache == "dict":
        return Dictionary()
    return _zoned(names)


def _zoned(names: int) -> Any:
    try:
        zones = import_module("gossamer.dns.zones")
    except ImportError:
        return None
    fields = {"forward_names", "third_level_names", "backward_names"}
    room = {field: names for field in zones.ZonesConfig.__struct_fields__ if field in fields}
    return zones.ZonedCache(zones.ZonesConfig(**room))


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="gossamer-names-"))
    try:
        yield folder / "cache"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fill(cache: NameCache, names: int) -> float:
    """Put so many names; seconds it took, with the making of the names."""
    started = time.perf_counter()
    for number in range(names):
        cache.put(Answer(name_of(number), (address_of(number),), TTL, asked=NOW), NOW)
    return time.perf_counter() - started


def _own_bytes() -> int:
    """Memory of this process alone; pages of a mapped file are counted with the file."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("RssAnon:")[2].split(None, 1)[0]) * 1024


def _disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.iterdir()) if folder.is_dir() else 0


def memory(cache: str, names: int) -> dict[str, Any]:
    """Bytes a name: growth of the process, and the folder on disk."""
    with _folder() as folder:
        gc.collect()
        before = _own_bytes()
        kept = make(cache, folder, names)
        if kept is None:
            return {}
        seconds = _fill(kept, names)
        gc.collect()
        grown, disk = _own_bytes() - before, _disk_bytes(folder)
        kept.close()
    return {
        "bytes_per_name": round((grown + disk) / names, 1),
        "file_bytes_per_name": round(disk / names, 1),
        "put_us": round(seconds / names * 1e6, 2),
    }


def lookups(cache: str, names: int) -> dict[str, Any]:
    """Microseconds of a hit and of a miss among so many names, the best of some rounds in random order."""
    with _folder() as folder:
        kept = make(cache, folder, names)
        if kept is None:
            return {}
        _fill(kept, names)
        dice = random.Random(names)
        hits, misses = [], []
        for _ in range(ROUNDS):
            known = [name_of(dice.randrange(names)) for _ in range(SAMPLE)]
            unknown = [name_of(names + dice.randrange(names)) for _ in range(SAMPLE)]
            hits.append(_timed(kept, known))
            misses.append(_timed(kept, unknown))
        kept.close()
    return {"hit": round(min(hits), 2), "miss": round(min(misses), 2)}


def _timed(cache: NameCache, names: list[str]) -> float:
    get, now = cache.get, NOW + 1
    started = time.process_time()
    for name in names:
        get(name, now)
    return (time.process_time() - started) / len(names) * 1e6


def wrong(names: int) -> dict[str, Any]:
    """Wrong answers among so many known names, as many unknown, and names crafted to share a key."""
    with _folder() as folder:
        cache = make("compact", folder, names)
        _fill(cache, names)
        mistakes = forgotten = 0
        for number in range(names):
            answer = cache.get(name_of(number), NOW + 1)
            if answer is None:
                forgotten += 1
            elif answer.addresses != (address_of(number),):
                mistakes += 1
        mistakes += sum(cache.get(name_of(number), NOW + 1) is not None for number in range(names, 2 * names))
        tried, crafted_mistakes = _try_crafted(cache)
        cache.close()
    return {"wrong": mistakes + crafted_mistakes, "forgotten": forgotten, "crafted": tried}


def _try_crafted(cache: NameCache, victims: int = 20, each: int = 500) -> tuple[int, int]:
    """(names tried, wrong answers): a name is asked for while another with its key is kept."""
    tried = mistakes = 0
    for number in range(victims):
        victim = f"www.bank{number}.com"
        names = [victim, *crafted(victim, each)]
        for at, name in enumerate(names):
            cache.put(Answer(name, (address_of(at),), TTL, asked=NOW), NOW)
            others = (victim, names[at - 1], names[(at + 1) % len(names)])
            for other in others:
                answer = cache.get(other, NOW + 1)
                right = address_of(names.index(other))
                mistakes += answer is not None and answer.addresses != (right,)
            tried += 1
    return tried, mistakes


def negative(names: int, error: float, probes: int) -> dict[str, Any]:
    """Room and rate of false alarms of a full filter, made and asked as the compact cache does."""
    started = time.perf_counter()
    before = _own_bytes()
    bloom = Bloom(names, error, operator.index)
    keyed = blake2b(digest_size=16, key=os.urandom(32))
    bloom.update(_digests(keyed, 0, names))
    filled = time.perf_counter() - started
    grown = _own_bytes() - before
    found = sum(map(bloom.__contains__, _digests(keyed, names, probes)))
    return {
        "mb": round(max(grown, bloom.size_in_bits / 8) / 1e6, 1),
        "fp_rate": found / probes,
        "probes": probes,
        "fill_seconds": round(filled, 1),
        "seconds": round(time.perf_counter() - started, 1),
    }


def _digests(keyed: Any, first: int, number: int) -> Iterator[int]:
    for at in range(first, first + number):
        digest = keyed.copy()
        digest.update(b"%x.example" % at)
        yield int.from_bytes(digest.digest(), "little", signed=True)


def main() -> None:
    """Run the measurement named on the command line; print its figures as JSON."""
    what, *arguments = sys.argv[1:]
    parts: dict[str, Callable[..., dict[str, Any]]] = {
        "memory": lambda cache, names: memory(cache, int(names)),
        "lookups": lambda cache, names: lookups(cache, int(names)),
        "wrong": lambda names: wrong(int(names)),
        "negative": lambda names, error, probes: negative(int(names), float(error), int(probes)),
    }
    print(json.dumps(parts[what](*arguments)))


if __name__ == "__main__":
    main()
