"""Files of this machine: what may be read, and what becomes of the rest."""

import asyncio
import os
from functools import partial

import pytest
from fetch_servers import lease

from gossamer.fetch import local_files
from gossamer.fetch.body import BodyMemory, BodyWriter
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.listing import Entry
from gossamer.fetch.local_files import LocalFiles
from gossamer.model.exchange import StatusAction, Truncation
from gossamer.model.lease import Validators


@pytest.fixture
def visit(tmp_path):
    """Visits a path below the folder that was named."""
    root, spool = tmp_path / "root", tmp_path / "spool"
    for folder in (root / "sub", spool):
        folder.mkdir(parents=True)
    (root / "page.html").write_bytes(b"<a href=x>x</a>")

    def go(path, validators=None, **settings):
        config = FetchConfig(**{"folders": (str(root),), **settings})
        module = LocalFiles(config, partial(BodyWriter, spool, 1 << 16, BodyMemory(0)))
        return asyncio.run(module.fetch(lease(path.replace("ROOT", root.as_uri()), validators))).exchange

    go.root = root
    return go


def test_files_and_folders(visit):
    page = visit("ROOT/page.html")
    assert (page.said, page.body.read()) == ("file file", b"<a href=x>x</a>")
    assert page.headers.get("content-type") == "text/html"
    again = visit("ROOT/page.html", Validators("", page.headers.get("last-modified")))
    assert again.result.asks is StatusAction.UNCHANGED
    assert visit("ROOT/page.html", max_body=3).truncated is Truncation.LENGTH
    assert b'<a href="sub/">' in visit("ROOT/").body.read()
    assert b'<a href="sub/">' in visit("ROOT/sub").body.read()
    assert visit("ROOT/page.html/").said == visit("ROOT/nothing").said == "file missing"


@pytest.mark.parametrize("path", ["file:///etc/passwd", "ROOT/../secret", "ROOT/%2e%2e/secret", "ROOT/..%2fsecret", "ROOT/out", "file://other/etc/passwd", "ROOT-not/x"])  # fmt: skip # noqa: E501
def test_nothing_is_read_outside(visit, path):
    secret = visit.root.parent / "secret"
    secret.write_text("secret")
    (visit.root / "out").symlink_to(secret)
    outside = visit(path)
    assert (outside.said, outside.body.size) == ("file elsewhere", 0)


def test_times_that_no_date_can_say(visit, monkeypatch):
    page = visit.root / "page.html"
    said = os.stat_result((*page.stat()[:7], *[10**12] * 3))  # not every disk takes it
    monkeypatch.setattr(local_files.os, "fstat", lambda _: said)
    exchange = visit("ROOT/page.html")
    assert (exchange.said, exchange.headers.get("last-modified")) == ("file file", "")
    assert exchange.body.read() == b"<a href=x>x</a>"
    entry = Entry(b"page.html", folder=False, size=1, modified=10.0**12)
    monkeypatch.undo()
    monkeypatch.setattr(local_files, "_entries", lambda _: [entry])
    assert b'<a href="page.html">page.html</a></td><td>1</td><td></td>' in visit("ROOT/").body.read()


def test_what_is_no_file(visit):
    os.mkfifo(visit.root / "pipe")
    (visit.root / "ring").symlink_to(visit.root / "ring")
    (visit.root / "loop").symlink_to(visit.root)
    (visit.root / os.fsdecode(b"lat\xe9 %2f")).write_bytes(b"")
    assert visit("ROOT/pipe").said == "file special"
    assert visit("ROOT/ring").body.size == 0
    page = visit("ROOT/").body.read().decode()
    links = [part.partition('"')[0] for part in page.split('href="')[1:]]
    assert links == ["lat%E9%20%252f", "page.html", "sub/"]
