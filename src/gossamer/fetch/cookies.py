"""The cookies of a crawl: read from a file, kept on disk by site, given to libcurl for one visit at a time.

What a cookie may be and where it goes (RFC 6265bis: domains, paths, `Secure`, `HttpOnly`, `__Host-`, public
suffixes) libcurl decides. What is kept, for how long and how much of it is decided here. A visit is given the
cookies of its own site only, so nothing that libcurl or a list of public suffixes gets wrong takes a cookie
from one site to another.

A line is a cookie as `cookies.txt` has it, seven fields with tabs between them: domain (with `#HttpOnly_`
before it if no script may read it), whether it goes to hosts below, path, whether it wants TLS, end of its
life (seconds since 1970; 0: of the session, which for a crawl is the crawl), name, value.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

import msgspec
import pycurl

from gossamer.model.errors import ConfigError
from gossamer.policy.urls.registrable import registrable_domain

MOST_COOKIES = 100
MOST_BYTES = 32 << 10
"""Of the cookies of one site together. Browsers keep 180 and more of each domain; a request head takes 8 KiB."""
MOST_SET = 50
"""Cookies of one response that libcurl looks at."""

_MOST_FILE = 16 << 20
_HTTP_ONLY = b"#HttpOnly_"
_FIELDS = 7

Lines = tuple[bytes, ...]
Key = tuple[bytes, bytes, bytes]


class CookieStore(Protocol):
    """Where cookies are kept, by site; what was written survives `kill -9`."""

    def get(self, site: str) -> bytes | None:
        """What was written last for a site."""

    def put(self, site: str, data: bytes) -> None:
        """Keep `data` for a site."""


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """What a site has said.

    Attributes:
        lines: its cookies, the oldest first; those of the file are not copied.
        gone: cookies of the file that it took back or gave anew.
        given: what its lines in the file were then (a digest).
    """

    lines: Lines = ()
    gone: frozenset[Key] = frozenset()
    given: bytes = b""


class CookieJar:
    """Cookies by site, the registrable domain.

    Invariant: beside those of the file a site has at most `MOST_COOKIES` cookies of `MOST_BYTES` together;
    those set longest ago go. What the site said last holds, until the file says something else than it did then.

    Args:
        store: of the crawl.
        given: lines of a file, see `read_cookies`.
        tell: called with (site, cookies dropped) at most once for each site and run.
    """

    def __init__(
        self,
        store: CookieStore,
        given: Iterable[bytes] = (),
        tell: Callable[[str, int], None] = lambda *_: None,
    ) -> None:
        self._store = store
        self._tell = tell
        self._told: set[str] = set()
        self._given: dict[str, list[bytes]] = {}
        for line in given:
            self._given.setdefault(registrable_domain(_host(line)), []).append(line)

    def of(self, host: str) -> Lines:
        """The cookies of the site of a host; libcurl chooses among them."""
        site = registrable_domain(host)
        kept = self._kept(site)
        return (*(line for line in self._given.get(site, ()) if _key(line) not in kept.gone), *kept.lines)

    def learn(self, host: str, before: Lines, after: Sequence[bytes], offered: int) -> None:
        """Keep what a visit changed. Other visits to the site may have done so meanwhile.

        Args:
            host: that was visited.
            before: what the visit was given.
            after: what libcurl has now.
            offered: cookies that the response set.
        """
        site = registrable_domain(host)
        had = set(before)
        new = [line for line in after if line not in had]
        over = {_key(line) for line in before} - {_key(line) for line in after} | {_key(line) for line in new}
        dropped = max(0, offered - MOST_SET)
        if over:
            kept = self._kept(site)
            lines = [*(line for line in kept.lines if _key(line) not in over), *new]
            bounded = _bounded(lines)
            dropped += len(lines) - len(bounded)
            mine = {_key(line) for line in self._given.get(site, ())}
            kept = _Kept(bounded, kept.gone | over & mine, kept.given)
            self._store.put(site, msgspec.msgpack.encode(kept))
        if dropped and site not in self._told:
            self._told.add(site)
            self._tell(site, dropped)

    def _kept(self, site: str) -> _Kept:
        given = self._given.get(site, [])
        mark = blake2b(b"\n".join(given), digest_size=8).digest() if given else b""
        data = self._store.get(site)
        kept = _Kept() if data is None else msgspec.msgpack.decode(data, type=_Kept)
        if kept.given == mark:
            return kept
        mine = {_key(line) for line in given}
        return _Kept(tuple(line for line in kept.lines if _key(line) not in mine), given=mark)


def read_cookies(file: Path) -> list[bytes]:
    """The cookies of a file as browsers' extensions, curl and wget write it (Netscape's `cookies.txt`).

    What is over already is left out.

    Raises:
        ConfigError: it cannot be read, or lists the lines that are no cookies. Never shows a value.
    """
    try:
        with file.expanduser().open("rb") as opened:
            content = opened.read(_MOST_FILE + 1)
    except (OSError, RuntimeError) as error:  # RuntimeError: `~` of nobody
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"fetch.cookies_file: {file} cannot be read ({why})") from None
    if len(content) > _MOST_FILE:
        raise ConfigError(f"fetch.cookies_file: {file} is larger than 16 MiB; keep the sites you crawl")
    content = content.removeprefix(b"\xef\xbb\xbf")
    lines = [line.rstrip(b"\r") for line in content.split(b"\n")]
    numbered = [(number, line) for number, line in enumerate(lines, 1) if _is_entry(line)]
    if wrong := [str(number) for number, line in numbered if not _is_whole(line)]:
        listed = ", ".join(wrong[:10]) + (", ..." if len(wrong) > 10 else "")
        raise ConfigError(
            f"fetch.cookies_file: {file}: no cookie of seven fields with tabs between them in line {listed}."
            " Export it anew as cookies.txt (Netscape format)"
        )
    return understood(line for _, line in numbered)


def understood(lines: Iterable[bytes]) -> list[bytes]:
    """The lines as libcurl writes them, without those that it does not take."""
    easy = pycurl.Curl()
    easy.setopt(pycurl.COOKIEFILE, "")
    for line in lines:
        easy.setopt(pycurl.COOKIELIST, line)
    taken = list(cookies_of(easy))
    easy.close()
    return sorted(taken)


def cookies_of(easy: pycurl.Curl) -> Iterator[bytes]:
    """All cookies of a handle."""
    yield from easy.getinfo_raw(pycurl.INFO_COOKIELIST)


def _is_entry(line: bytes) -> bool:
    return bool(line.strip()) and (not line.startswith(b"#") or line.startswith(_HTTP_ONLY))


def _is_whole(line: bytes) -> bool:
    fields = line.split(b"\t")
    return (
        len(fields) == _FIELDS
        and bool(_host(line))
        and fields[1] in (b"TRUE", b"FALSE")
        and fields[3] in (b"TRUE", b"FALSE")
        and fields[4].isdigit()
    )


def _host(line: bytes) -> str:
    domain = line.removeprefix(_HTTP_ONLY).partition(b"\t")[0]
    return domain.decode("latin-1").lower().removeprefix(".")


def _key(line: bytes) -> Key:
    """(domain, path, name): two cookies that agree in it are one (RFC 6265bis 5.7)."""
    domain, _, path, _, _, name, *_ = line.removeprefix(_HTTP_ONLY).split(b"\t")
    return domain, path, name


def _bounded(lines: Sequence[bytes]) -> Lines:
    """The last of them that are not too many."""
    left = MOST_BYTES
    kept: list[bytes] = []
    for line in reversed(lines[-MOST_COOKIES:]):
        left -= len(line)
        if left < 0:
            break
        kept.append(line)
    return tuple(reversed(kept))
