"""Serve installed documentation packages by nginx, one tree per loopback address.

Run it to look around: `python -m benchmarks.docs_site` serves until interrupted,
`--install` installs Debian's packages first, `--list` only says what is there.
"""

import argparse
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from benchmarks import measure

FIRST_PORT = 8081
START_SECONDS = 10.0
STOP_SECONDS = 10.0

MEDIA_TYPES = {
    "text/html": "html htm",
    "application/xhtml+xml": "xhtml",
    "text/css": "css",
    "text/javascript": "js",
    "text/plain": "txt",
    "application/xml": "xml",
    "application/json": "json",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/gzip": "gz",
    "image/gif": "gif",
    "image/jpeg": "jpg jpeg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/x-icon": "ico",
    "font/woff2": "woff2",
}
"""Media type -> file extensions; the server's table and the truth's are this one."""

DEFAULT_MEDIA_TYPE = "application/octet-stream"

APACHE_ROBOTS = """User-agent: somebody-else
Disallow: /

User-agent: *
Disallow: /da/
Disallow: /*/rewrite/
Allow: /en/rewrite/
Disallow: /*/glossary.html$
"""
"""The manual has no rules of its own; these use a wildcard, an anchor and an exception."""


@dataclass(frozen=True)
class Tree:
    """A folder of documentation that is served as one host.

    Attributes:
        name: for the command line and for reports.
        package: the Debian package that brings it.
        root: the folder served as `/`.
        robots: what `/robots.txt` says, or `None` for the tree's own file, if it has one.
    """

    name: str
    package: str
    root: Path
    robots: str | None = None

    @property
    def installed(self) -> bool:
        """Whether there is a page to start from."""
        return (self.root / "index.html").is_file()


_DOC = Path("/usr/share/doc")

TREES = (
    Tree("python", "python3-doc", _DOC / "python3-doc/html"),
    Tree("postgresql", "postgresql-doc-15", _DOC / "postgresql-doc-15/html"),
    Tree("apache", "apache2-doc", _DOC / "apache2-doc/manual", APACHE_ROBOTS),
    Tree("rust", "rust-doc", _DOC / "rust-doc/html"),
    Tree("java", "openjdk-17-doc", _DOC / "openjdk-17-doc"),
    Tree("libstdc++", "libstdc++-12-doc", _DOC / "libstdc++-12-doc/libstdc++"),
    Tree("sqlite", "sqlite3-doc", _DOC / "sqlite3"),
    Tree("git", "git-doc", _DOC / "git-doc"),
    Tree("django", "python-django-doc", _DOC / "python-django-doc/html"),
    Tree("handbook", "debian-handbook", _DOC / "debian-handbook/html/en-US"),
    Tree("developers", "developers-reference", Path("/usr/share/developers-reference")),
    Tree("gtk", "libgtk-3-doc", Path("/usr/share/gtk-doc/html/gtk3")),
    Tree("gio", "libglib2.0-doc", Path("/usr/share/gtk-doc/html/gio")),
)
"""Every tree, in the order of the addresses 127.0.0.2, 127.0.0.3, ..."""

QUICK = ("apache", "sqlite", "git", "handbook")
"""Trees of a short run: wildcards in robots files, redirects, dead links, leaves of other types."""

MIXED = ("python", "postgresql", "sqlite", "git", "django", "handbook", "developers", "gtk", "gio")
"""Trees whose pages are 37 KB on average, 4,080 pages in all: the web of speed measurements."""


def chosen(names: Sequence[str] | None = None) -> list[Tree]:
    """The trees of these names (all if `None`) that are installed, in the order of `TREES`."""
    return [tree for tree in TREES if tree.installed and (names is None or tree.name in names)]


def address_of(tree: Tree) -> str:
    """The loopback address of a tree, the same whichever others are served."""
    return f"127.0.0.{TREES.index(tree) + 2}"


def install_command() -> list[str]:
    """How to install the server with every package."""
    packages = [tree.package for tree in TREES]
    options = ["-o", "DPkg::Lock::Timeout=300", "install", "-y", "--no-install-recommends"]
    return ["apt-get", *options, "nginx-light", *packages]


class DocsSite:
    """nginx as a process of ours, alive between `__enter__` and `__exit__`.

    Args:
        trees: what to serve.
        compressed: names of trees that are sent with `Content-Encoding: gzip`.
        core: the processor to pin the server to.

    Raises:
        RuntimeError: there is no nginx, or it does not start; the message holds what it said.
    """

    def __init__(
        self, trees: Sequence[Tree], *, compressed: Sequence[str] = (), core: int | None = None
    ) -> None:
        self.trees = list(trees)
        self.compressed = frozenset(compressed)
        self.core = core
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None

    @property
    def origins(self) -> dict[str, str]:
        """Name of each tree -> its origin, e.g. `http://127.0.0.2:8081`."""
        return {tree.name: f"http://{address_of(tree)}:{self.port}" for tree in self.trees}

    @property
    def pid(self) -> int:
        """The server's process; it has only one."""
        assert self._process is not None
        return self._process.pid

    @property
    def seeds(self) -> list[str]:
        """The front page of each tree."""
        return [f"{origin}/" for origin in self.origins.values()]

    def __enter__(self) -> "DocsSite":
        binary = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if binary is None:
            raise RuntimeError("nginx is not installed; run: python -m benchmarks.docs_site --install")
        self.port = _free_port([address_of(tree) for tree in self.trees])
        self._folder = Path(tempfile.mkdtemp(prefix="gossamer-docs-"))
        config = self._folder / "nginx.conf"
        config.write_text(self._config(self._folder), encoding="utf-8")
        log = self._folder / "error.log"
        with log.open("wb") as errors:
            command = [binary, "-p", str(self._folder), "-c", str(config), "-e", str(log)]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                preexec_fn=measure.end_with_parent,  # noqa: PLW1509  no threads here
            )
        try:
            self._wait_listening(log)
            if self.core is not None:
                os.sched_setaffinity(self._process.pid, {self.core})
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _wait_listening(self, log: Path) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            with (
                contextlib.suppress(OSError),
                socket.create_connection((address_of(self.trees[-1]), self.port), 1),
            ):
                return
            time.sleep(0.02)
        raise RuntimeError(f"nginx does not listen: {log.read_text(errors='replace')[-2000:]}")

    def _stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _config(self, folder: Path) -> str:
        types = "\n".join(f"    {kind} {extensions};" for kind, extensions in MEDIA_TYPES.items())
        temporary = "\n".join(
            f"  {module}_temp_path {folder}/{module};"
            for module in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        servers = "\n".join(self._server(tree) for tree in self.trees)
        return f"""daemon off;
master_process off;
pid {folder}/nginx.pid;
events {{ worker_connections 4096; }}
http {{
  types {{
{types}
  }}
  types_hash_max_size 4096;
  default_type {DEFAULT_MEDIA_TYPE};
{temporary}
  access_log off;
  log_not_found off;
  sendfile on;
  keepalive_requests 1000000;
  open_file_cache max=256 inactive=60s;
  gzip_types text/plain text/css;
{servers}
}}
"""

    def _server(self, tree: Tree) -> str:
        robots = ""
        if tree.robots is not None:
            (path := self._folder_of(tree)).mkdir()
            (path / "robots.txt").write_text(tree.robots, encoding="utf-8")
            robots = f"location = /robots.txt {{ root {path}; }}"
        gzip = "on" if tree.name in self.compressed else "off"
        return f"""  server {{
    listen {address_of(tree)}:{self.port};
    root {tree.root};
    gzip {gzip};
    location / {{ index index.html; }}
    {robots}
  }}"""

    def _folder_of(self, tree: Tree) -> Path:
        assert self._folder is not None
        return self._folder / tree.name


def _free_port(addresses: Sequence[str]) -> int:
    """The first port from `FIRST_PORT` on that is free on every address."""
    for port in range(FIRST_PORT, FIRST_PORT + 400):
        with contextlib.ExitStack() as stack:
            try:
                for address in addresses:
                    probe = stack.enter_context(socket.socket())
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind((address, port))
            except OSError:
                continue
        return port
    raise RuntimeError("no free port on the loopback addresses")


def _lines(trees: Sequence[Tree]) -> Iterator[str]:
    for tree in trees:
        state = str(tree.root) if tree.installed else f"not installed: apt-get install {tree.package}"
        yield f"{address_of(tree):12} {tree.name:12} {state}"


def main() -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.docs_site", description=__doc__)
    parser.add_argument("--install", action="store_true", help="install the packages with apt-get, then stop")
    parser.add_argument("--list", action="store_true", help="say which trees are installed, then stop")
    parser.add_argument("--tree", action="append", metavar="NAME", help="serve only this tree (repeatable)")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    if arguments.install:
        return subprocess.run(install_command(), check=False).returncode
    if arguments.list:
        print("\n".join(_lines(TREES)))
        return 0
    trees = chosen(arguments.tree)
    if not trees:
        print("no documentation tree is installed; --install installs them", file=sys.stderr)
        return 2
    with DocsSite(trees) as site, contextlib.suppress(KeyboardInterrupt):
        print("\n".join(f"{origin}/  {name}" for name, origin in site.origins.items()), flush=True)
        while True:
            time.sleep(3600)
    return 0


if __name__ == "__main__":
    sys.exit(main())
