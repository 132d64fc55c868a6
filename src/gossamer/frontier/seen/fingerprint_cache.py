"""Remembers fingerprints in a table of fixed size, eight bytes each."""

import struct

from gossamer.state.hash_table import hash_table

_split = struct.Struct("=QQ").unpack


class FingerprintCache:
    """A bounded memory of fingerprints; what is pushed out is forgotten.

    A fingerprint has two places, which the hashes of host and URL together name; there stands the hash of the
    URL alone. So what is found agrees in more bits than stand there, and the odds that a fingerprint is taken
    for another are 2 in 2^64. The one met later stands first, and pushes out the second.
    """

    def __init__(self, entries: int) -> None:
        """Keeps the largest power of two that is at most `entries`, from 2 on."""
        places = 1 << max(2, entries).bit_length() - 1
        self._pairs = places - 2  # mask: the first place of a pair is even
        self._hashes = hash_table(places).cast("Q")

    def __contains__(self, fingerprint: bytes) -> bool:
        host, url = _split(fingerprint)
        place = (host ^ url) & self._pairs
        hashes = self._hashes
        if hashes[place] == url:
            return True
        if hashes[place + 1] != url:
            return False
        hashes[place + 1], hashes[place] = hashes[place], url
        return True

    def __len__(self) -> int:
        """Fingerprints remembered. Reads the whole table."""
        return sum(map(bool, self._hashes))

    def add(self, fingerprint: bytes) -> None:
        """Remember one that is not known."""
        host, url = _split(fingerprint)
        place = (host ^ url) & self._pairs
        self._hashes[place + 1] = self._hashes[place]
        self._hashes[place] = url
