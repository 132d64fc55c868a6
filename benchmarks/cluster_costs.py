"""What a page, a link between agents and a byte of snapshot cost: the figures that `cluster_sim` is fed with.

`python -m benchmarks.cluster_costs [--quick] [--ray] [--json]` measures those that `MEASURED_HERE` names with
the crawler's own records, state and links; `--ray` also what a call from one Ray process to another costs.
The others stand in docs/performance-log.md with the command that makes each.
"""

import argparse
import json
import os
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import xxhash
import zstandard

from benchmarks.frontier import Bench, How
from benchmarks.url_stream import LINKS, NEW, UrlStream
from gossamer.frontier.seen.fingerprint_cache import FingerprintCache
from gossamer.model.link import LinkKind
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import QueueRecord, decode, encode

BATCH = 1_000
"""Links in a batch between agents."""
LEVEL = 1
"""Of zstd."""
PAGES, QUICK_PAGES = 20_000, 1_500
AGENTS = (2, 4, 8, 16, 32, 64)
SENT = 1 << 18
"""Links to others that an agent remembers, as `cluster.agent.router` does."""
URLS, QUICK_URLS = 400_000, 60_000
SNAPSHOTS = 8
MEASURED_HERE = (
    "link_bytes",
    "outbox_bytes",
    "send_us",
    "receive_us",
    "sent_links",
    "snapshot_factor",
    "import_us",
    "call_us",
)
_MESSAGE = tuple[QueueRecord, bytes, None]
"""As `cluster.agent.messages.Message` is laid out: a link, its gift, nothing about robots."""
_unpack = msgspec.msgpack.Decoder(list[tuple[int, int, bytes]]).decode
_FAMILIES = (Family.QUEUE, Family.SEEN, Family.HOSTS)


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's costs; each is a measurement, `sent_links` a table over the number of agents.

    Attributes:
        page_cpu_ms: of a page of `page_bytes` with its links' admission (benchmarks.crawl: 1.24, 1.22, 1.24).
        page_bytes: mean body.
        stored_bytes: of archive a page, 20.8% of its body: request, response and metadata record, gzip (4,000
            pages of Java's documentation).
        links: of a page, none twice.
        known: share of them that were met before.
        link_bytes: a link in a compressed batch of 1,000.
        outbox_bytes: a link in the sender's outbox, key and value, before RocksDB compresses it.
        send_us: CPU to put a link into the outbox, read it back, pack and compress it, and delete it.
        receive_us: CPU to decompress and unpack a link.
        admit_us: CPU of a link's admission by its owner (benchmarks.frontier, at a million URLs).
        spared_us: of it, what the finder of a foreign link does not do: the seen test
            (docs/performance-log.md).
        call_us: CPU of a call with a batch, both sides and Ray's own threads in them.
        sent_links: of 100 links of a page, those that leave for another agent, by number of agents; for more
            agents than the last as for the last. Of the web measured 58 lead to other hosts, which is many.
        state_bytes: of disk a known URL (benchmarks.frontier, 10 million).
        page_state_bytes: of disk a fetched page, beyond that: life, capture, digests (the same crawl).
        snapshot_factor: bytes of new files a byte by which the state grew, because merging rewrites.
        import_us: CPU to bring a URL from a snapshot into the state: queue, seen test, its part of the host.
    """

    page_cpu_ms: float = 1.2
    page_bytes: float = 38_000
    stored_bytes: float = 7_900
    links: float = 50
    known: float = 0.85
    link_bytes: float = 39.6
    outbox_bytes: float = 174
    send_us: float = 5.1
    receive_us: float = 2.7
    admit_us: float = 6.0
    spared_us: float = 2.0
    call_us: float = 1_100
    sent_links: tuple[tuple[int, float], ...] = (
        (1, 0.0),
        (2, 8.5),
        (4, 16.8),
        (8, 23.8),
        (16, 29.5),
        (32, 34.4),
        (64, 38.4),
    )
    state_bytes: float = 87
    page_state_bytes: float = 500
    snapshot_factor: float = 1.2
    import_us: float = 7.4

    def sent(self, agents: int) -> float:
        """Links of a page that leave for another agent: between two measured numbers of agents, a line."""
        before = self.sent_links[0]
        for after in self.sent_links:
            if agents <= after[0]:
                width = after[0] - before[0]
                part = (agents - before[0]) / width if width else 0.0
                return (before[1] + part * (after[1] - before[1])) * self.links / 100
            before = after
        return before[1] * self.links / 100

    def exchange_us(self, agents: int) -> float:
        """CPU a page that there is only because there are several agents, both sides."""
        return self.sent(agents) * (self.sender_us() + self.receiver_us())

    def sender_us(self) -> float:
        """CPU of a link that leaves, half of the call in it."""
        return self.send_us - self.spared_us + self.call_us / 2 / BATCH

    def receiver_us(self) -> float:
        """CPU of a link that comes in, half of the call in it."""
        return self.receive_us + self.admit_us + self.call_us / 2 / BATCH


def foreign_records(pages: int, agents: int) -> list[QueueRecord]:
    """What one agent of so many owes to others, each URL once, in the order it was found."""
    records, met = [], set[str]()
    for page, (own, *links) in enumerate(map(str.split, UrlStream().lines(pages))):
        if _owner(own, agents):
            continue
        depth = page % 7 + 1
        for link in links:
            if _owner(link, agents) and link not in met:
                met.add(link)
                records.append(QueueRecord(link, LinkKind.NAVIGATION, depth, "L" * depth, own))
    return records


def _owner(url: str, agents: int) -> int:
    return xxhash.xxh64_intdigest(url.split("/", 3)[2].encode()) % agents


def _fingerprint(url: str) -> bytes:
    return _owner(url, 1 << 64).to_bytes(8, "big") + xxhash.xxh64_digest(url.encode())


def measure_batches(pages: int) -> dict[str, float]:
    """Bytes and CPU of a link on its way, by the records that the queue holds."""
    records = foreign_records(pages, 4)
    batches = [records[at : at + BATCH] for at in range(0, len(records) - BATCH + 1, BATCH)]
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment.open(Path(folder) / "state", StateConfig())
        try:
            started = time.thread_time()
            kept = [_keep(environment, number, batch) for number, batch in enumerate(batches)]
            packed = [_pack(environment, keys) for keys in kept]
            for keys in kept:
                batch = environment.batch()
                for key in keys:
                    batch.delete(Family.OUTBOX, key)
                environment.commit(batch)
            sent = time.thread_time() - started
        finally:
            environment.close()
    started = time.thread_time()
    for data in packed:
        for _, _, value in _unpack(zstandard.ZstdDecompressor().decompress(data)):
            decode(value, _MESSAGE)
    received = time.thread_time() - started
    links = len(batches) * BATCH
    return {
        "links": links,
        "link_bytes": round(sum(map(len, packed)) / links, 1),
        "outbox_bytes": round(sum(10 + len(encode(record)) for record in records) / len(records), 1),
        "send_us": round(sent / links * 1e6, 2),
        "receive_us": round(received / links * 1e6, 2),
    }


def _keep(environment: Environment, number: int, records: Sequence[QueueRecord]) -> list[bytes]:
    """Enter a batch into the outbox; the keys."""
    keys, batch = [], environment.batch()
    for place, record in enumerate(records):
        key = (number % 1024).to_bytes(2, "big") + (number * BATCH + place).to_bytes(8, "big")
        batch.put(Family.OUTBOX, key, encode((record, b"", None)))
        keys.append(key)
    environment.commit(batch)
    return keys


def _pack(environment: Environment, keys: Sequence[bytes]) -> bytes:
    """The batch as it travels: shard, sequence and message of each."""
    entries = []
    for key in keys:
        value = environment.get(Family.OUTBOX, key)
        entries.append((int.from_bytes(key[:2], "big"), int.from_bytes(key[2:], "big"), value))
    return zstandard.ZstdCompressor(level=LEVEL).compress(msgspec.msgpack.encode(entries))


def measure_sent(pages: int) -> dict[str, list[list[float]]]:
    """Of 100 links of a page those that leave, by number of agents, each of which remembers what it sent.

    Then how far the agent that receives most is above the mean.
    """
    received = {agents: [0] * agents for agents in AGENTS}
    met = {agents: [FingerprintCache(SENT) for _ in range(agents)] for agents in AGENTS}
    total = 0
    for own, *links in map(str.split, UrlStream().lines(pages)):
        total += len(links)
        prints = [_fingerprint(link) for link in links]
        home = _owner(own, 1 << 64)
        for agents in AGENTS:
            here = home % agents
            for link in prints:
                owner = int.from_bytes(link[:8], "big") % agents
                if owner != here and link not in (memory := met[agents][here]):
                    memory.add(link)
                    received[agents][owner] += 1
    return {
        "sent_links": [[agents, round(100 * sum(counts) / total, 2)] for agents, counts in received.items()],
        "received_spread": [
            [agents, round(max(c) * agents / sum(c) - 1, 3)] for agents, c in received.items()
        ],
    }


def measure_snapshots(urls: int) -> dict[str, float]:
    """New bytes a byte of growth over some snapshots of a growing frontier; then the cost of importing it."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), How(urls, seed=1))
        try:
            stored: dict[str, int] = {}
            for number in range(1, SNAPSHOTS + 1):
                bench.fill(urls * number // SNAPSHOTS // NEW * NEW, 1)
                place = Path(folder) / f"snapshot-{number}"
                bench.environment.checkpoint(place)
                files = {file.name: file.stat().st_size for file in place.iterdir() if file.suffix == ".sst"}
                stored.update(files)
            imported = _import(bench.environment, Path(folder) / "other")
        finally:
            bench.close()
        growth = sum(files.values())
    return {
        "snapshot_bytes": growth,
        "uploaded_bytes": sum(stored.values()),
        "snapshot_factor": round(sum(stored.values()) / growth, 2),
        "import_us": round(imported / urls * 1e6, 2),
    }


def _import(source: Environment, path: Path) -> float:
    """CPU to copy the families that move, in batches of a thousand."""
    target = Environment.open(path, StateConfig())
    started = time.process_time()
    try:
        for family in _FAMILIES:
            batch = target.batch()
            for entries, (key, value) in enumerate(source.scan(family), start=1):
                batch.put(family, key, value)
                if not entries % BATCH:
                    target.commit(batch)
                    batch = target.batch()
            target.commit(batch)
        return time.process_time() - started
    finally:
        target.close()


def measure_call(batch_bytes: int, calls: int) -> dict[str, float]:
    """CPU of a call with a batch from one Ray process to another, in both of them."""
    import ray  # only here: everything else runs without the extra

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:

        class Receiver:
            def take(self, batch: bytes) -> int:
                return len(batch)

            def cpu(self) -> float:
                return time.process_time()

        receiver = ray.remote(num_cpus=0)(Receiver).remote()
        batch = random.Random(1).randbytes(batch_bytes)
        ray.get([receiver.take.remote(batch) for _ in range(10)])
        there, here = ray.get(receiver.cpu.remote()), time.process_time()
        for _ in range(calls):
            ray.get(receiver.take.remote(batch))
        spent = time.process_time() - here + ray.get(receiver.cpu.remote()) - there
        return {"call_us": round(spent / calls * 1e6)}
    finally:
        ray.shutdown()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="smaller")
    parser.add_argument("--ray", action="store_true", help="a call over Ray as well")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(arguments)
    pages, urls = (QUICK_PAGES, QUICK_URLS) if options.quick else (PAGES, URLS)
    found: dict[str, Any] = measure_batches(pages)
    found |= measure_sent(pages) | measure_snapshots(urls)
    if options.ray:
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        found |= measure_call(round(found["link_bytes"] * BATCH), 100 if options.quick else 1_000)
    found["links_of_a_page"] = LINKS
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:>20}  {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
