"""Sizes a Bloom filter: bits, hash functions and the rate of false positives that follows from them."""

import math
import mmap
import operator

from rbloom import Bloom

from gossamer.model.errors import ConfigError
from gossamer.state.records import VisitedRecord


def false_positive_rate(bits_per_url: float, hashes: int) -> float:
    """Share of URLs never added that a filter takes for added: (1 - e^(-hashes / bits per URL))^hashes.

    Args:
        bits_per_url: bits of the filter by URLs in it; infinite for an empty one.
        hashes: bits that each URL sets.
    """
    return float((-math.expm1(-hashes / bits_per_url)) ** hashes)


def bits_needed(urls: int, error: float) -> tuple[int, int]:
    """(bits, hashes) of the smallest filter that holds `urls` with at most `error` false positives.

    The formula above solved for the bits, with the number of hashes that makes them fewest:
    log2(1 / error), upwards. 1e-6 takes 28.8 bits a URL, 2.12e-7 takes 32 (K9: 50 million in 200 MB).
    """
    hashes = max(1, math.ceil(math.log2(1 / error)))
    bits_per_url = -hashes / math.log1p(-(error ** (1 / hashes)))
    return math.ceil(urls * bits_per_url), hashes


def bloom_filter(bits: int, hashes: int) -> Bloom:
    """A filter of about so many bits, for hashes of our own.

    rbloom takes neither number, but derives them: bits = items * ln(1 / error) / ln(2)^2, and hashes =
    bits / items * ln 2, downwards. It is asked for the items and the error that lead to ours.

    Raises:
        ConfigError: the system does not give so much memory; rbloom would end the process.
    """
    try:
        mmap.mmap(-1, bits // 8 + 1, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, OverflowError):
        raise ConfigError(
            f"a filter of {bits // 8:,} bytes does not fit into memory: make state.seen_filter or "
            "frontier.bloom_urls smaller."
        ) from None
    items = max(1, int(bits * math.log(2) / (hashes + 0.5)))
    return Bloom(items, math.exp(-bits / items * math.log(2) ** 2), operator.index)


def expected_rate(figures: VisitedRecord) -> float:
    """False positives to expect of the table as full as it is; 0 for an exact one."""
    return (
        false_positive_rate(figures.bits / figures.urls, figures.hashes)
        if figures.urls and figures.bits
        else 0.0
    )
