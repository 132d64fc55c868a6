"""Compute, from the files alone, which URLs of a documentation tree a correct crawl must archive.

Breadth-first search from each tree's front page under Gossamer's default rules: links that
lead on (not what a browser loads to show a page), redirects, the host's robots rules, `nofollow`.
URLs are mapped to files as nginx maps them. Nothing of Gossamer's is used.
"""

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

import msgspec

from benchmarks import page_links
from benchmarks.docs_site import DEFAULT_MEDIA_TYPE, MEDIA_TYPES, TREES, Tree, chosen

PROCESSES = 2
MAX_URL_BYTES = 4096
MAX_LINKS = 50_000
CHUNK = 16

_TYPE_OF = {extension: kind for kind, extensions in MEDIA_TYPES.items() for extension in extensions.split()}
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_ORIGIN = "http://tree.invalid"
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_ILLEGAL = re.compile(r"[\"<>\\^`{|}\[\]]")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Truth(msgspec.Struct, frozen=True):
    """What a crawl of one tree must find. URLs are targets: path with query.

    Attributes:
        pages: canonical target -> file, for each answer 200.
        redirects: canonical target -> target it leads to.
        missing: canonical targets answered 400, 403 or 404.
        forbidden: canonical targets that robots rules keep out.
        html_pages: how many of the pages are HTML.
        html_bytes: their bytes, in all.
    """

    pages: dict[str, str]
    redirects: dict[str, str]
    missing: list[str]
    forbidden: list[str]
    html_pages: int
    html_bytes: int


class Answer(msgspec.Struct, frozen=True):
    """What nginx says to one request: a file, a redirect, or neither (an error)."""

    file: str = ""
    location: str = ""


def canonical(target: str) -> str:
    """One spelling of a target, so that trivial differences in writing do not count as difference.

    Escapes of unreserved characters are decoded, other escapes are upper case (RFC 3986 6.2.2),
    characters that are not allowed are escaped, an empty query is dropped.
    """

    def spell(match: re.Match[str]) -> str:
        byte = int(match[1], 16)
        return chr(byte) if byte in _UNRESERVED else match[0].upper()

    escaped = _ILLEGAL.sub(lambda match: f"%{ord(match[0]):02X}", target)
    return _ESCAPE.sub(spell, escaped).removesuffix("?")


def media_type(file: str) -> str:
    """The type nginx gives a file, by its extension."""
    _, dot, extension = file.rpartition("/")[2].rpartition(".")
    return _TYPE_OF.get(extension.lower(), DEFAULT_MEDIA_TYPE) if dot else DEFAULT_MEDIA_TYPE


def answer(tree: Tree, target: str) -> Answer:
    """Map a target to a file as nginx does: decode, merge slashes, add `index.html`, redirect folders."""
    path, question, query = target.partition("?")
    raw = unquote_to_bytes(path)
    if b"\0" in raw:
        return Answer()
    parts: list[bytes] = []
    for part in raw.split(b"/"):
        if part == b"..":
            if not parts:
                return Answer()
            parts.pop()
        elif part not in (b"", b"."):
            parts.append(part)
    folder_wanted = raw.endswith((b"/", b"/.", b"/.."))
    local = os.path.join(os.fsencode(tree.root), *parts)  # noqa: PTH118  paths are bytes
    if os.path.isdir(local):  # noqa: PTH112
        if not folder_wanted:
            spelled = quote(b"/" + b"/".join(parts) + b"/", safe="/!$&'()*+,;=:@~")
            return Answer(location=f"{spelled}{question}{query}")
        local = os.path.join(local, b"index.html")  # noqa: PTH118
    elif folder_wanted:
        return Answer()
    readable = os.path.isfile(local) and os.access(local, os.R_OK)  # noqa: PTH113
    return Answer(file=os.fsdecode(local)) if readable else Answer()


# Robots rules (RFC 9309): the files are ours or the packages', so regular expressions are safe here.


class RobotsRules:
    """The rules of the groups for everybody."""

    def __init__(self, text: str) -> None:
        self._rules: list[tuple[int, bool, re.Pattern[str]]] = []
        agents: set[str] = set()
        rules_began = False
        for line in text.splitlines():
            key, _, value = line.partition("#")[0].partition(":")
            key, value = key.strip().lower(), value.strip()
            if key == "user-agent":
                agents = {value} if rules_began else agents | {value}
                rules_began = False
            elif key in ("allow", "disallow"):
                rules_began = True
                if value and "*" in agents:
                    self._rules.append((len(value), key == "allow", _pattern(value)))

    def allow(self, target: str) -> bool:
        """Whether a target may be visited: the longest rule decides, `allow` wins a tie."""
        hits = [(size, allow) for size, allow, pattern in self._rules if pattern.match(target)]
        return max(hits)[1] if hits else True


def _pattern(rule: str) -> re.Pattern[str]:
    anchored = rule.endswith("$")
    parts = map(re.escape, rule.removesuffix("$").split("*"))
    return re.compile(".*".join(parts) + ("$" if anchored else ""), re.DOTALL)


def robots_of(tree: Tree) -> RobotsRules:
    """The rules a tree is served with."""
    if tree.robots is not None:
        return RobotsRules(tree.robots)
    file = tree.root / "robots.txt"
    return RobotsRules(file.read_text(errors="replace") if file.is_file() else "")


# The search


def search(tree: Tree, pool: ProcessPoolExecutor) -> Truth:
    """Search one tree breadth first."""
    robots = robots_of(tree)
    pages: dict[str, str] = {}
    redirects: dict[str, str] = {}
    missing: list[str] = []
    forbidden: list[str] = []
    seen = {"/"}
    level = ["/"]
    counted = [0, 0]
    while level:
        reading: list[tuple[str, str]] = []
        found: list[str] = []
        for target in level:
            name = canonical(target)
            if not robots.allow(target):
                forbidden.append(name)
                continue
            said = answer(tree, target)
            if said.location:
                redirects[name] = said.location
                found.append(said.location)
            elif not said.file:
                missing.append(name)
            else:
                pages[name] = said.file
                if media_type(said.file) in _HTML:
                    reading.append((said.file, target))
                    counted[0] += 1
                    counted[1] += Path(said.file).stat().st_size
        for links in pool.map(_links, reading, chunksize=CHUNK):
            found += links
        level = list(_unseen(found, seen))
    return Truth(pages, redirects, missing, forbidden, *counted)


def _unseen(targets: Iterable[str], seen: set[str]) -> Iterable[str]:
    for target in targets:
        name = canonical(target)
        if name not in seen:
            seen.add(name)
            yield target


def _links(page: tuple[str, str]) -> list[str]:
    """Targets on the same host that a file, served at a target, links to (in a worker process)."""
    file, target = page
    links = page_links.read_page(Path(file).read_bytes(), _ORIGIN + target).links[:MAX_LINKS]
    prefix = _ORIGIN + "/"
    return [link[len(_ORIGIN) :] for link in links if link.startswith(prefix) and len(link) <= MAX_URL_BYTES]


# Results are kept, as parsing tens of thousands of pages takes minutes.


def truths(trees: Sequence[Tree]) -> dict[str, Truth]:
    """What a crawl of each tree must find, by the tree's name; from the cache if no file has changed."""
    folder = Path(tempfile.gettempdir()) / f"gossamer-truth-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise RuntimeError(f"{folder} belongs to somebody else; remove it")
    known: dict[str, Truth] = {}
    with ProcessPoolExecutor(PROCESSES) as pool:
        for tree in trees:
            kept = folder / f"{_fingerprint(tree)}.json"
            if kept.is_file():
                known[tree.name] = msgspec.json.decode(kept.read_bytes(), type=Truth)
                continue
            known[tree.name] = search(tree, pool)
            partial = kept.with_suffix(f".{os.getpid()}")
            partial.write_bytes(msgspec.json.encode(known[tree.name]))
            partial.replace(kept)
    return known


def _fingerprint(tree: Tree) -> str:
    """Changes with the tree's files, its rules and this program."""
    digest = hashlib.sha256(f"{tree}".encode())
    for source in (Path(__file__), Path(page_links.__file__)):
        digest.update(source.read_bytes())
    for folder, folders, files in os.walk(tree.root, followlinks=True):
        folders.sort()
        for file in sorted(files):
            path = os.path.join(folder, file)  # noqa: PTH118  a hundred thousand files
            status = os.stat(path) if os.path.exists(path) else os.lstat(path)  # noqa: PTH110, PTH116
            digest.update(
                f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogateescape")
            )
    return digest.hexdigest()[:32]


def main() -> int:
    """Print how much each tree holds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truth", description=__doc__)
    parser.add_argument("--tree", action="append", metavar="NAME", choices=[tree.name for tree in TREES])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    started = time.monotonic()
    table = {
        name: {
            "pages": len(truth.pages),
            "html_pages": truth.html_pages,
            "mean_html_bytes": truth.html_bytes // max(1, truth.html_pages),
            "redirects": len(truth.redirects),
            "missing": len(truth.missing),
            "forbidden": len(truth.forbidden),
        }
        for name, truth in truths(chosen(arguments.tree)).items()
    }
    if arguments.json:
        print(json.dumps(table))
        return 0
    for name, row in table.items():
        print(f"{name:12}", *(f"{key} {value}," for key, value in row.items()))
    total = sum(row["html_pages"] for row in table.values())
    print(f"{total} HTML pages in all; {time.monotonic() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
