"""Writes a crawl to files that are read without a network."""

import sys
from contextlib import closing
from pathlib import Path

import msgspec

from gossamer.assembly.private import keep_private
from gossamer.cli.exits import EXIT_NOTHING
from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, say, show, show_json, size
from gossamer.mirror.making import Asked, Mirrored, make_mirror
from gossamer.mirror.places import FolderPlace, Place, ZipPlace
from gossamer.model.command_line import command_line


def run_mirror(path: Path, out: Path, asked: Asked, *, packed: bool, json: bool) -> None:
    """Mirror; exit 1 if something could not be read.

    Args:
        path: folder of the crawl.
        out: folder of the mirror, or its ZIP file.
        asked: what it is to be.
        packed: it is to be a ZIP file.
        json: for programs.

    Raises:
        ConfigError: no crawl lives in `path`, what is asked makes no sense, or something else lies at `out`.
        StorageError: it cannot be written; what is there is whole.
    """
    keep_private()
    with looked_into(path) as inspection:
        place: Place = ZipPlace(out) if packed else FolderPlace(out)
        with closing(place):
            done = make_mirror(inspection, place, asked)
    if json:
        show_json({"out": str(out), **msgspec.to_builtins(done)})
    else:
        _tell(done, path, out, packed=packed)
    if done.unread:
        sys.exit(EXIT_NOTHING)


def _tell(done: Mirrored, path: Path, out: Path, *, packed: bool) -> None:
    for problem in done.problems:
        say(safe(problem))
    removed = f", {done.removed:,} removed" if done.removed else ""
    unread = f", {done.unread:,} could not be read" if done.unread else ""
    show(
        f"{safe(str(out))}: {plural(done.files, 'file')}, {size(done.bytes)}; {done.written:,} written{removed}{unread}"
    )
    links = done.links
    show(
        f"links: {links.within:,} within, {links.outside:,} to other sites, {links.missing:,} to pages not crawled"
    )
    if done.cut:
        say(f"{plural(done.cut, 'document')} in part: the archive has no more of them")
    if links.requisites:
        say(
            f"{plural(links.requisites, 'link')} to pictures, styles and scripts that were not crawled; they come with"
            f" '{command_line('resume', path, '--set', 'scope.requisites=any')}', then the same command again"
        )
    if packed:
        say(f"unpack it, then open {done.start} in a browser")
    else:
        say(
            f"open {safe(str(out.absolute() / done.start))} in a browser, or let any server of files serve the folder"
        )
