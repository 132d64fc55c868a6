"""Content codings are undone within bounds, and forgivingly where servers are sloppy."""

import gzip
import random
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.body import SpooledBody
from gossamer.fetch.codings import DECODERS
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.decoding import Decoded, content_codings, decode_content
from gossamer.model.exchange import Headers
from gossamer.model.outcome import Failed, Fault

CONFIG = FetchConfig()
PAGE = b"".join(b"<p>paragraph %d of a page</p>\n" % number for number in range(2000))


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=5),
    "zstd": zstandard.ZstdCompressor().compress,
}


def decode(
    data: bytes, *codings: str, limit: int | None = None, config: FetchConfig = CONFIG
) -> Decoded | Failed:
    headers = Headers([("Content-Encoding", coding) for coding in codings])
    return decode_content(SpooledBody(data), headers, config, limit)


@pytest.mark.parametrize("name", ENCODERS)
def test_each_coding(name: str) -> None:
    assert decode(ENCODERS[name](PAGE), name) == Decoded(PAGE)
    assert decode(ENCODERS[name](PAGE), name.upper()) == Decoded(PAGE)
    assert decode(ENCODERS[name](b""), name) == Decoded(b"")


@pytest.mark.parametrize("name", ENCODERS)
def test_the_wanted_part_only(name: str) -> None:
    encoded = ENCODERS[name](PAGE)
    assert decode(encoded, name, limit=1000) == Decoded(PAGE[:1000], truncated=True)
    assert decode(encoded, name, limit=len(PAGE)) == Decoded(PAGE)
    assert decode(PAGE, limit=1000) == Decoded(PAGE[:1000], truncated=True)
    assert decode(PAGE, limit=len(PAGE)) == Decoded(PAGE)


@given(st.binary(max_size=3000), st.lists(st.sampled_from(sorted(ENCODERS)), max_size=4))
def test_any_stack_of_codings(data: bytes, names: list[str]) -> None:
    encoded = data
    for name in names:
        encoded = ENCODERS[name](encoded)
    assert decode(encoded, *names) == Decoded(data)
    assert decode(encoded, ", ".join(names)) == Decoded(data)


@given(st.binary(max_size=300), st.sampled_from(sorted(DECODERS)), st.binary(max_size=30), st.integers(0, 60))
def test_nothing_raises(data: bytes, name: str, junk: bytes, position: int) -> None:
    encoded = ENCODERS[name](data)
    for broken in (
        junk,
        encoded[:position] + junk + encoded[position:],
        encoded[position:],
        encoded[:position],
    ):
        outcome = decode(broken, name)
        assert isinstance(outcome, Decoded) or outcome.fault is Fault.DECODING


@pytest.mark.parametrize("name", ["gzip", "deflate", "br"])
def test_a_truncated_stream_gives_what_there_is(name: str) -> None:
    encoded = ENCODERS[name](PAGE)
    outcome = decode(encoded[: len(encoded) // 2], name)
    assert isinstance(outcome, Decoded)
    assert outcome.truncated
    assert len(outcome.content) > len(PAGE) // 4
    assert PAGE.startswith(outcome.content)


def test_a_truncated_zstd_stream_of_many_blocks_gives_its_whole_blocks() -> None:
    page = random.Random(1).randbytes(600_000)
    encoded = ENCODERS["zstd"](page)
    outcome = decode(encoded[: len(encoded) // 2], "zstd")
    assert isinstance(outcome, Decoded)
    assert outcome.content and page.startswith(outcome.content)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("junk", [b"\n", b"trailing garbage", b"\0" * 5000])
def test_what_follows_the_stream_is_ignored(name: str, junk: bytes) -> None:
    outcome = decode(ENCODERS[name](PAGE) + junk, name)
    assert isinstance(outcome, Decoded)
    assert outcome.content == PAGE


def test_deflate_of_both_kinds_and_gzip_under_its_name() -> None:
    assert decode(raw_deflate(PAGE), "deflate") == Decoded(PAGE)
    assert decode(gzip.compress(PAGE), "deflate") == Decoded(PAGE)


def test_many_members_and_long_headers() -> None:
    assert decode(gzip.compress(PAGE[:100]) + gzip.compress(PAGE[100:]), "gzip") == Decoded(PAGE)
    header = b"\x1f\x8b\x08\x1e" + b"\0" * 6 + b"\x05\0extra" + b"name\0" + b"comment\0" + b"\0\0"
    assert decode(header + raw_deflate(PAGE) + b"\0" * 8, "gzip") == Decoded(PAGE)
    outcome = decode(b"\x1f\x8b\x08\x08" + b"\0" * 6 + b"n" * 200_000, "gzip")
    assert outcome == Failed(Fault.DECODING, "gzip header too long")


def test_a_wrong_checksum_is_forgiven() -> None:
    encoded = gzip.compress(PAGE)
    assert decode(encoded[:-8] + b"\xff" * 8, "gzip") == Decoded(PAGE)
    assert decode(encoded[:-8], "gzip") == Decoded(PAGE)


def test_a_label_without_the_thing() -> None:
    assert decode(PAGE, "gzip") == Decoded(PAGE)
    assert decode(PAGE, "utf-8") == Decoded(PAGE)
    assert decode(PAGE, "identity") == Decoded(PAGE)
    assert decode(PAGE, "none, ") == Decoded(PAGE)
    # Not labelled, not decoded.
    assert decode(gzip.compress(PAGE)) == Decoded(gzip.compress(PAGE))


def test_what_cannot_be_undone() -> None:
    for outcome in (
        decode(b"\xff" * 100, "br"),
        decode(b"\xff" * 100, "zstd"),
        decode(b"\xff" * 100, "deflate"),
        decode(b"\x1f\x8b\x09" + b"\xff" * 100, "gzip"),
        decode(b"\x1f\x8b\x08\x00" + b"\0" * 6 + b"\xff" * 100, "gzip"),
        decode(PAGE, "compress"),
        decode(PAGE, "gzip", "dcb"),
        decode(PAGE, *["gzip"] * 5),
    ):
        assert isinstance(outcome, Failed)
        assert outcome.fault is Fault.DECODING


def _bombs() -> dict[str, tuple[bytes, list[str]]]:
    size = 200 << 20
    zeros = bytes(1 << 20)
    compressor, zipped = zlib.compressobj(9, wbits=31), []
    brotler, brotled = brotli.Compressor(quality=5), []
    stander = zstandard.ZstdCompressor(level=3).compressobj()
    standed = []
    for _ in range(size >> 20):
        zipped.append(compressor.compress(zeros))
        brotled.append(brotler.process(zeros))
        standed.append(stander.compress(zeros))
    bombs = {
        "gzip": b"".join([*zipped, compressor.flush()]),
        "br": b"".join([*brotled, brotler.finish()]),
        "zstd": b"".join([*standed, stander.flush()]),
    }
    named = {name: (bomb, [name]) for name, bomb in bombs.items()}
    named["gzip of gzip"] = (gzip.compress(bombs["gzip"]), ["gzip", "gzip"])
    named["zstd of gzip"] = (ENCODERS["zstd"](bombs["gzip"]), ["gzip", "zstd"])
    return named


@pytest.fixture(scope="module")
def bombs() -> dict[str, tuple[bytes, list[str]]]:
    return _bombs()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "gzip of gzip", "zstd of gzip"])
def test_bombs_allocate_little(name: str, bombs: dict[str, tuple[bytes, list[str]]]) -> None:
    bomb, codings = bombs[name]
    tracemalloc.start()
    outcome = decode(bomb, *codings, limit=2 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(outcome, Failed) or len(outcome.content) == 2 << 20
    assert peak < 12 << 20
    outcome = decode(bomb, *codings)
    assert isinstance(outcome, Failed)
    assert "expands" in outcome.detail


def test_bombs_allocate_little_outside_python_too(
    bombs: dict[str, tuple[bytes, list[str]]], tmp_path: Path
) -> None:
    for name, (bomb, codings) in bombs.items():
        (tmp_path / (name.replace(" ", "-") + "." + "+".join(codings))).write_bytes(bomb)
    script = (
        "import pathlib, resource, sys, zstandard\n"
        "from test_fetch_decoding import decode\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "for path in pathlib.Path(sys.argv[1]).iterdir():\n"
        "    decode(path.read_bytes(), *path.suffix[1:].split('+'), limit=16 << 20)\n"
        "print(peak() - before)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=Path(__file__).parent,
        check=True,
        capture_output=True,
        text=True,
    )
    assert int(result.stdout) < 80 << 10  # KiB: content twice (pieces, joined), windows, input


def test_expansion_is_judged_against_the_body() -> None:
    data = bytes(4 << 20)
    encoded = gzip.compress(data)
    assert len(data) / len(encoded) > 900
    assert isinstance(decode(encoded, "gzip"), Failed)
    assert decode(encoded, "gzip", config=FetchConfig(max_expansion_ratio=2000)) == Decoded(data)
    assert isinstance(
        decode(encoded, "gzip", config=FetchConfig(max_expansion_ratio=2000, max_content=2 << 20)), Failed
    )
    # Short content may expand as it likes.
    assert decode(gzip.compress(bytes(900_000)), "gzip") == Decoded(bytes(900_000))


def test_a_window_beyond_the_webs_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=26)
    noise = bytes(range(256)) * 40
    frame = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    outcome = decode(frame.compress(noise) + frame.flush(), "zstd")
    assert isinstance(outcome, Failed)


def test_empty_members_end(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = decode(gzip.compress(b"") * 20_000, "gzip")
    assert outcome == Failed(Fault.DECODING, "more than 10000 gzip members")


def test_codings_in_order() -> None:
    headers = Headers([("content-encoding", "br, identity"), ("Content-Encoding", " GZIP ")])
    assert content_codings(headers) == ["br", "gzip"]
