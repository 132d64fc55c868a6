"""Name caches: memory, look-ups, wrong answers, the negative filter, sharing between processes.

`python -m benchmarks.names [--size N] [--only PART...] [--json]`; exit status 0 if within the limits, else 1.
At the full size, a million names, it takes about half an hour, a tenth of that at a tenth of the size.
"""

import argparse
import json
import subprocess
import sys
import time
from typing import Any

from benchmarks import measure
from benchmarks.name_sharing import share
from gossamer.dns.compact.key import KEY_BITS

SIZE = 1_000_000
CACHES = ("compact", "plain", "zoned", "dict")
PARTS = ("memory", "lookups", "wrong", "negative", "sharing")
KILLS = 50
ERROR = 1e-6
PROBES = 2
"""Probes for each name in the filter: at twice a hundred million, chance moves the rate by 7%."""

BYTES_PER_NAME = 56.0
GROWTH = 2.0
NEGATIVE_BYTES = 3.6
RATE_OFF = 0.20
FORGOTTEN = 1e-3
"""All names here begin with `www`, so 32 bits tell those of one top-level domain apart: of ten million names
some 1,500 push another out, which is then asked for again."""
STRING_KEY_BITS = 184
"""A key of 23 characters, the example of D2."""


def run(*part: str) -> dict[str, Any]:
    """One measurement in a process of its own; its figures."""
    command = [sys.executable, "-m", "benchmarks.name_caches", *part]
    started = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, preexec_fn=measure.end_with_parent)
    print(f"{' '.join(part)}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def measure_memory(size: int) -> dict[str, Any]:
    """Bytes a name and microseconds a put, by cache."""
    rows = {cache: run("memory", cache, str(size)) for cache in CACHES}
    rows = {cache: row for cache, row in rows.items() if row}
    return {
        "bytes_per_name": {cache: row["bytes_per_name"] for cache, row in rows.items()},
        "put_us": {cache: row["put_us"] for cache, row in rows.items()},
        "key_bits": KEY_BITS,
        "key_saving": round(1 - KEY_BITS / STRING_KEY_BITS, 3),
    }


def measure_lookups(size: int) -> dict[str, Any]:
    """Microseconds of a hit and of a miss, by cache and number of names, and how they grow."""
    numbers = (size // 100, size, size * 10)
    table: dict[str, dict[str, Any]] = {}
    for cache in CACHES:
        rows = {str(names): run("lookups", cache, str(names)) for names in numbers}
        if all(rows.values()):
            table[cache] = rows
    least, most = str(numbers[0]), str(numbers[-1])
    growth = {
        cache: {kind: round(rows[most][kind] / rows[least][kind], 2) for kind in ("hit", "miss")}
        for cache, rows in table.items()
    }
    return {"lookup_us": table, "lookup_growth": growth}


def measure_wrong(size: int) -> dict[str, Any]:
    """Wrong answers among ten times so many names, and among crafted ones."""
    row = run("wrong", str(size * 10))
    return {
        "wrong_answers": row["wrong"],
        "wrong_names": size * 10,
        "forgotten": row["forgotten"],
        "crafted_names": row["crafted"],
    }


def measure_negative(size: int) -> dict[str, Any]:
    """The negative filter at a hundred times so many names."""
    row = run("negative", str(size * 100), str(ERROR), str(size * 100 * PROBES))
    return {
        "negative_names": size * 100,
        "negative_mb": row["mb"],
        "negative_fp_rate": row["fp_rate"],
        "negative_probes": row["probes"],
        "negative_fill_seconds": row["fill_seconds"],
        "negative_seconds": row["seconds"],
    }


def measure_sharing(kills: int) -> dict[str, Any]:
    """Two processes share the cache; one is killed again and again."""
    row = share(kills)
    return {"kills": row["kills"], "sharing": row}


def misses(result: dict[str, Any], *, full: bool) -> list[str]:
    """The limits that do not hold; some can be told at the full size only."""
    found = []
    # What a process needs once, 1.5 MB, counts too: the limit is one for a million names.
    if full and result.get("bytes_per_name", {}).get("compact", 0) > BYTES_PER_NAME:
        found.append(f"compact takes more than {BYTES_PER_NAME:.0f} bytes a name")
    if max(result.get("lookup_growth", {}).get("compact", {"hit": 0}).values()) > GROWTH:
        found.append(f"look-ups grow more than {GROWTH:.0f} times")
    if result.get("wrong_answers"):
        found.append("a wrong answer")
    if result.get("forgotten", 0) > FORGOTTEN * result.get("wrong_names", 0):
        found.append("names are pushed out by others more often than 76 bits explain")
    if result.get("negative_mb", 0) * 1e6 > result.get("negative_names", 0) * NEGATIVE_BYTES:
        found.append(f"the filter takes more than {NEGATIVE_BYTES} bytes a name")
    if full and abs(result.get("negative_fp_rate", ERROR) / ERROR - 1) > RATE_OFF:
        found.append("the filter's rate of false alarms is off")
    sharing = result.get("sharing", {})
    if any(sharing.get(field) for field in ("wrong", "crashes", "hangs", "asked_again", "problems")):
        found.append("sharing went wrong")
    return found


def main() -> int:
    """Print the figures of the parts asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.names", description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="names in the memory test; others follow it")
    parser.add_argument("--kills", type=int, default=KILLS, help="processes killed in the sharing test")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output, in a line")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    size = arguments.size
    if size < 1_000:
        parser.error("--size must be at least 1,000")
    steps = {
        "memory": lambda: measure_memory(size),
        "lookups": lambda: measure_lookups(size),
        "wrong": lambda: measure_wrong(size),
        "negative": lambda: measure_negative(size),
        "sharing": lambda: measure_sharing(arguments.kills),
    }
    result: dict[str, Any] = {}
    for part in PARTS:
        if part in arguments.only:
            result |= steps[part]()
    if "wrong_answers" in result or "sharing" in result:
        result["wrong_answers"] = result.get("wrong_answers", 0) + result.get("sharing", {}).get("wrong", 0)
    result["misses"] = misses(result, full=size >= SIZE)
    result["ok"] = not result["misses"]
    print(json.dumps(result) if arguments.json else json.dumps(result, indent=2))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
