"""Content codings (RFC 9110 8.4) of the simulated web's answers, honest ones and bombs."""

import gzip
import struct
import zlib
from functools import lru_cache

import brotli
import zstandard
from isal import igzip

TOKENS = {"gzip": "gzip", "deflate": "deflate", "raw-deflate": "deflate", "br": "br", "zstd": "zstd"}
"""Coding -> what Content-Encoding calls it; `deflate` means zlib's format, which servers often get wrong."""

_ZEROS = bytes(1 << 20)


def encode(coding: str, content: bytes) -> bytes:
    """`content` in one of the codings of `TOKENS`; equal input gives equal bytes."""
    match coding:
        case "gzip":
            return bytes(igzip.compress(content, 1, mtime=0))
        case "deflate":
            return zlib.compress(content, 1)
        case "raw-deflate":
            return raw_deflate(content)
        case "br":
            return bytes(brotli.compress(content, quality=3))
        case "zstd":
            return zstandard.ZstdCompressor(level=3).compress(content)
    raise ValueError(f"no such coding: {coding}")


def raw_deflate(content: bytes) -> bytes:
    """A bare DEFLATE stream (RFC 1951) without zlib's wrapping."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


@lru_cache(maxsize=4)
def bomb(coding: str, size: int) -> bytes:
    """About `size` zero bytes (rounded up to 1 MiB; `br`: at most 256 MiB), packed very small."""
    blocks = max(1, -(-size // len(_ZEROS)))
    match coding:
        case "gzip":
            return _gzip_bomb(blocks)
        case "gzip-twice":
            return gzip.compress(_gzip_bomb(blocks), 9, mtime=0)
        case "br":
            brotli_packer = brotli.Compressor(quality=5)
            parts = [brotli_packer.process(_ZEROS) for _ in range(min(blocks, 256))]
            return b"".join([*parts, brotli_packer.finish()])
        case "zstd":
            zstd_packer = zstandard.ZstdCompressor(level=1).compressobj()
            return b"".join([*(zstd_packer.compress(_ZEROS) for _ in range(blocks)), zstd_packer.flush()])
    raise ValueError(f"no bomb in {coding}")


def _gzip_bomb(blocks: int) -> bytes:
    """One gzip member in which the same flushed block stands `blocks` times: packing is done only once."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(_ZEROS) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(blocks):
        checksum = zlib.crc32(_ZEROS, checksum)
    trailer = struct.pack("<II", checksum, blocks * len(_ZEROS) & 0xFFFFFFFF)
    return b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + block * blocks + packer.flush() + trailer
