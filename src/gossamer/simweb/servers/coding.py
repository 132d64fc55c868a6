"""Content codings (RFC 9110 8.4) of the simulated web's answers, honest ones and bombs."""

import gzip
import struct
import zlib
from functools import lru_cache

import brotli
import zstandard
from isal import igzip, isal_zlib

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
    """About `size` zero bytes (rounded up to 1 MiB): one block is packed, then repeated."""
    blocks = max(1, -(-size // len(_ZEROS)))
    match coding:
        case "gzip":
            return _gzip_bomb(blocks)
        case "gzip-twice":
            return gzip.compress(_gzip_bomb(blocks), 9, mtime=0)
        case "br":
            return _brotli_bomb(blocks)
        case "zstd":
            return _zstd_bomb(blocks)
    raise ValueError(f"no bomb in {coding}")


def _gzip_bomb(blocks: int) -> bytes:
    """One member; a full flush makes its blocks independent of each other."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(_ZEROS) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(blocks):
        checksum = isal_zlib.crc32(_ZEROS, checksum)
    trailer = struct.pack("<II", checksum, blocks * len(_ZEROS) & 0xFFFFFFFF)
    return b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + block * blocks + packer.flush() + trailer


def _brotli_bomb(blocks: int) -> bytes:
    """From the second on, flushed blocks of zeros are equal: all they refer to are the zeros before."""
    packer = brotli.Compressor(quality=5)
    first, second = (packer.process(_ZEROS) + packer.flush() for _ in range(2))
    return bytes(first + second * (blocks - 1) + packer.finish())


def _zstd_bomb(blocks: int) -> bytes:
    """A frame of run-length blocks, four bytes for 128 KiB each (RFC 8878 3.1.1.2)."""
    window, length, run = b"\0\x38", 1 << 17, 1 << 1
    header = (run | length << 3).to_bytes(3, "little") + b"\0"
    last = (run | 1 | length << 3).to_bytes(3, "little") + b"\0"
    return b"\x28\xb5\x2f\xfd" + window + header * (blocks * 8 - 1) + last
