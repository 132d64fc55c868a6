"""A small site of two pages with links of every verdict, audited once; what the cases of this folder look at."""

import http.server
import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from in_process import gossamer
from small_site import send

LINKED: Mapping[str, tuple[str, str]] = {
    "/fine": ("well", "all is well there"),
    "/gone": ("broken", "gone & <lost>"),
    "/gone-for-good": ("broken", "gone for good"),
    "/moved": ("moved", "moved"),
    "/moved-to-gone": ("broken", "moved to what is gone"),
    "/forbidden": ("refused", "forbidden"),
    "/unauthorized": ("refused", "log in"),
    "/too-many": ("refused", "too many"),
    "/legal": ("refused", "for legal reasons"),
    "/no-head": ("well", "HEAD is refused"),
    "/loop": ("broken", "round and round"),
    "/fine?a=1&b=2": ("well", "with a query"),
    "/anchors#here": ("well", "an anchor"),
}
"""What the foreign server has: target -> the verdict, and the text of the link."""

_STATUS = {
    "/gone": 404,
    "/gone-for-good": 410,
    "/forbidden": 403,
    "/unauthorized": 401,
    "/legal": 451,
    "/too-many": 429,
}
_TO = {"/moved": (301, "/fine"), "/moved-to-gone": (302, "/gone"), "/loop": (302, "/loop")}
_FIELDS = {"/too-many": {"Retry-After": "1"}, "/unauthorized": {"WWW-Authenticate": 'Basic realm="x"'}}


def page(title: str, inside: str = "") -> str:
    """A page that no rule has anything to say of, but for what is inside."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The {title} of this site</title>'
        f'<meta name="description" content="What is to be known about the {title}, and a little more than that.">'
        f"</head><body><h1>The {title}</h1><p>Here is the {title}.</p>{inside}</body></html>"
    )


class Foreign(http.server.BaseHTTPRequestHandler):
    """The foreign server; `asked` is the class's own."""

    protocol_version = "HTTP/1.1"
    asked: Counter[tuple[str, str]]

    def do_GET(self) -> None:
        self.asked[self.command, self.path] += 1
        path = self.path.partition("?")[0]
        fields = {"Content-Type": "text/html; charset=utf-8", **_FIELDS.get(path, {})}
        if path in _TO:
            status, fields["Location"] = _TO[path]
        elif path == "/robots.txt":
            status = 404
        elif path == "/no-head" and self.command == "HEAD":
            status = 405
        else:
            status = _STATUS.get(path, 200)
        inside = '<h2 id="here">Here</h2><a href="/never-crawled">on</a>'
        body = page(path.strip("/") or "front", inside if status == 200 else "")
        if self.command == "HEAD":
            self.send_response(status)
            for name, value in {**fields, "Content-Length": str(len(body.encode()))}.items():
                self.send_header(name, value)
            self.end_headers()
        else:
            send(self, status, fields, body)

    def do_HEAD(self) -> None:
        self.do_GET()


def links(origin: str, targets: Mapping[str, tuple[str, str]] = LINKED) -> str:
    """Anchors of all targets of a server."""
    escaped = {
        target.replace("&", "&amp;"): text.replace("&", "&amp;").replace("<", "&lt;")
        for target, (_, text) in targets.items()
    }
    return "".join(f'<p>See <a href="{origin}{target}">{text}</a>.</p>' for target, text in escaped.items())


class Audit:
    """Runs the command with what loopback needs."""

    def __init__(self, where: str | Path, folder: Path) -> None:
        """`where`: the site's address, or the folder of an audit before; files are written to `folder`."""
        self.where, self.folder = str(where), folder

    def __call__(self, *options: str) -> subprocess.CompletedProcess[str]:
        settings = ("--set", "politeness.min_delay=0", "--set", "fetch.allow_private=true")
        # The foreign server would rest for a second after each of forty requests.
        return gossamer("audit", self.where, *settings, "--outside-delay", "0", *options, cwd=self.folder)

    def json(self, *options: str, status: int | None = None) -> dict[str, Any]:
        """What `--json` tells."""
        ran = self("--json", *options)
        assert status is None or ran.returncode == status, ran.stderr
        told: dict[str, Any] = json.loads(ran.stdout)
        return told


def verdicts(told: Mapping[str, Any], origin: str) -> dict[str, str]:
    """Verdict by target, of the links to a server."""
    return {
        link["url"].removeprefix(origin): link["verdict"]
        for link in told["links"]
        if link["url"].startswith(origin)
    }
