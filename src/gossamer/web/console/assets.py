"""The console's own style sheet, scripts and pictures, served from memory."""

import functools
import hashlib
from importlib import resources
from pathlib import PurePath

from starlette.responses import Response

from gossamer.report import REPORT_CSS

_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class Assets:
    """Every file under `static/`, and the style sheet of charts and report, held once.

    The address has a digest over all files in it, so that browsers may keep them for ever and one module
    finds the others beside it. Names are looked up in a table: no path from outside reaches the disk.
    """

    def __init__(self) -> None:
        self._files: dict[str, tuple[bytes, str]] = {}
        whole = hashlib.sha256()
        self._add("charts.css", REPORT_CSS.encode(), whole)
        folder = resources.files("gossamer.web.console") / "static"
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            self._add(entry.name, entry.read_bytes(), whole)
        self.version = whole.hexdigest()[:12]

    def _add(self, name: str, data: bytes, whole: "hashlib._Hash") -> None:
        whole.update(name.encode() + b"\0" + data)
        self._files[name] = (data, _TYPES[PurePath(name).suffix])

    def address(self, name: str) -> str:
        """Where a file is found.

        Raises:
            KeyError: there is no such file.
        """
        self._files[name]
        return f"/static/{self.version}/{name}"

    def answer(self, version: str, name: str) -> Response | None:
        """The file with its headers, or `None`."""
        found = self._files.get(name)
        if found is None:
            return None
        data, kind = found
        # A page that was open while the program was replaced still gets its files, but does not keep them.
        keep = "public, max-age=31536000, immutable" if version == self.version else "no-cache"
        return Response(data, media_type=kind, headers={"Cache-Control": keep})


@functools.cache
def own_assets() -> Assets:
    """Those of this process, read once."""
    return Assets()
