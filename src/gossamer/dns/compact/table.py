"""The global table of top-level domains that gives each a 12-bit code (D2).

The table is a file of the package, so that every process means the same by a code; its digest stands in
the cache's file, which is started anew where it differs. `scripts/tlds [IANA]` writes it again, from the
last labels of the installed public suffix list and, where a copy of IANA's list
(https://data.iana.org/TLD/tlds-alpha-by-domain.txt) is given, from that too. The public suffix list means
to name every domain of the root, so it suffices without IANA's; what neither names is not lost (`ESCAPE`).
"""

from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from gossamer.dns.compact.suffixes import rule_lines

ESCAPE = 0
"""Code of every top-level domain that is not in the table."""
MAX_NAMES = 4_095
FILE = Path(__file__).with_name("tlds.txt")


class TldTable(msgspec.Struct, frozen=True):
    """Codes 1 to 4,095 of the known top-level domains.

    Attributes:
        codes: by name in lower-case ASCII.
        names: by code; the first is the empty name, for `ESCAPE`.
        digest: of the names in their order, 16 hexadecimal digits.
    """

    codes: dict[str, int]
    names: tuple[str, ...]
    digest: str


@cache
def tld_table() -> TldTable:
    """The table of this version of the program."""
    return make_table(FILE.read_text(encoding="ascii").split())


def make_table(names: list[str]) -> TldTable:
    """A table whose codes are the places in the list, from 1.

    Raises:
        ValueError: there are more names than codes, or one stands there twice.
    """
    if len(names) > MAX_NAMES:
        raise ValueError(f"{len(names)} top-level domains; the codes suffice for {MAX_NAMES}")
    codes = {name: code for code, name in enumerate(names, 1)}
    if len(codes) != len(names):
        raise ValueError("a top-level domain stands in the table twice")
    digest = blake2b("\n".join(names).encode(), digest_size=8).hexdigest()
    return TldTable(codes, ("", *names), digest)


def table_text(names: list[str]) -> str:
    """The content of `FILE`.

    Raises:
        ValueError: as `make_table`.
    """
    return "".join(f"{name}\n" for name in make_table(names).names[1:])


def last_labels(suffixes: Path, iana: str = "") -> list[str]:
    """The table's names in their order: last labels of the public suffix list and of IANA's.

    Args:
        suffixes: file of the public suffix list.
        iana: text of IANA's list, in capitals, its comment line led by `#`.
    """
    found = {line.rpartition(".")[2].lstrip("!") for line in rule_lines(suffixes)}
    found |= {line.strip().lower() for line in iana.splitlines() if line.strip() and line[0] != "#"}
    return sorted(found)
