"""A mirror of a crawl: its files, their links, another run, and what it leaves alone."""

import csv
import json
import os
import shutil
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import in_process
from mirrored_site import PAGES, PNG, Crawled
from small_disk import MIB, Disk

from gossamer.inspect.inspection import inspect
from gossamer.mirror.making import Asked, make_mirror
from gossamer.mirror.places import FolderPlace
from gossamer.mirror.table import MANIFEST, NOTE, TABLE


def mirror(crawled: Crawled, *arguments: str, out: str = "out", code: int = 0) -> Path:
    ran = in_process.gossamer("mirror", "c", out, *arguments, cwd=crawled.folder.parent)
    assert ran.returncode == code, ran.stderr
    return crawled.folder.parent / out


def said(crawled: Crawled, *arguments: str) -> str:
    return in_process.gossamer("mirror", "c", *arguments, cwd=crawled.folder.parent).stderr


def files(root: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return {name: content for name, content in found.items() if not name.startswith(TABLE)}


def by_url(root: Path) -> dict[str, str]:
    with (root / MANIFEST).open(encoding="utf-8", newline="") as lines:
        return {
            urlsplit(row["url"])._replace(scheme="", netloc="").geturl(): row["file"]
            for row in csv.DictReader(lines)
        }


class Links(HTMLParser):
    """What a page leads to, by the library's parser and not by ours."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.base = ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if tag == "base" and name == "href":
                self.base = self.base or value or ""
            elif name in ("href", "src") and value is not None:
                self.found.append(value)
            elif name == "srcset" and value:
                self.found += [part.split()[0] for part in value.split(",")]


def broken(root: Path) -> list[tuple[str, str]]:
    """(file, link) of each link that leads to no file, as a browser resolves it on a disk."""
    wrong = []
    for path in root.rglob("*.html"):
        links = Links(path.read_text(encoding="utf-8-sig", errors="replace"))
        base = urljoin(path.as_uri(), links.base)
        for link in links.found:
            there = urlsplit(urljoin(base, link))
            if there.scheme == "file" and not Path(unquote(there.path)).is_file():
                wrong.append((path.name, link))
    return wrong


def test_links_lead_from_file_to_file(crawled: Crawled) -> None:
    root = mirror(crawled)
    names = by_url(root)
    home = (root / names["/"]).read_text()
    host = f"http://{crawled.host}"
    assert broken(root) == []
    assert home == (
        PAGES[""]
        .replace("href='s.css?1' integrity=sha384-x crossorigin", "href='s@1.css'")  # type: ignore[union-attr]
        .replace("default-src 'none'", "")
        .replace("<a href=a>", '<a href="a~' + names["/a"].partition("~")[2] + '">')
        .replace("'a/b?x=1&amp;y=2#s'", "'a/b@x=1%26y=2.html#s'")
        .replace("href=/r1", 'href="a/b@x=1%26y=2.html"')
        .replace("href=gone", f'href="{host}/gone"')
        .replace("href=never", f'href="{host}/never"')
        .replace('href="A"', 'href="A.html"')
        .replace("href=a.html>", f'href="{names["/a.html"].rpartition("/")[2]}">')
        .replace('href="a.html/b"', f'href="{names["/a.html/b"].partition("/")[2]}"')
        .replace('"p.php 1x, /q.png?2 2x" src=p.php', '"p_php.png 1x, q@2.png 2x" src="p_php.png"')
        .replace("href=%E4%B8%AD", 'href="%E4%B8%AD.html"')
        .replace('"..%2f..%2fx"', '"_._.._x.html"')
        .replace("href=twin", 'href="twin.html"')
        .replace("href=same", 'href="same.html"')
        .replace("href=feed", 'href="feed.xml"')
        .replace('"lost.png"', f'"{host}/lost.png"')
        .replace("href=latin", 'href="latin.html"')
    )
    assert len(set(names.values())) == len(names) == 18
    assert (root / names["/s.css?1"]).read_bytes() == b"@import 't.css';body{background:url( \"q@2.png\" )}"
    assert (root / names["/p.php"]).read_bytes() == PNG + b"1"
    assert (root / names["/same"]).read_bytes() == (root / names["/twin"]).read_bytes()
    assert b'charset="windows-1252"><p>caf\xe9 <a' in (root / names["/latin"]).read_bytes()
    assert (root / names["/feed"]).read_text() == PAGES["feed"][2]
    assert 'href="p_php.png"/><a href="A.html">' in (root / names["/x.svg"]).read_text()
    assert f"0;url={names['/']}".replace(":", "_") in (root / "index.html").read_text()


def test_pages_that_are_not_here_have_a_note(crawled: Crawled) -> None:
    root = mirror(crawled, "--outside", "note")
    home = (root / by_url(root)["/"]).read_text()
    assert broken(root) == []
    assert f'<a href="../{NOTE}#http://{crawled.host}/gone">' in home
    assert f"../{NOTE}#http://other.invalid/?a=1&amp;b=2" in home
    assert '<img src="data:,">' in home
    assert "http" not in home.replace("#http", "").replace("http-equiv", "")
    mirror(crawled)
    assert not (root / NOTE).exists()


def test_another_run_writes_nothing_and_mends_what_was_spoiled(crawled: Crawled) -> None:
    def written() -> int:
        ran = in_process.gossamer("mirror", "c", "out", "--json", cwd=crawled.folder.parent)
        count: int = json.loads(ran.stdout)["written"]
        return count

    root = mirror(crawled)
    before, spoiled = files(root), by_url(root)["/A"]
    times = {name: (root / name).stat().st_mtime_ns for name in before}
    assert written() == 0
    assert {name: (root / name).stat().st_mtime_ns for name in before} == times
    (root / spoiled).unlink()
    assert written() == 1
    (root / spoiled).write_bytes(b"other")
    assert written() == 1
    assert files(root) == before == files(mirror(crawled, out="fresh"))


def test_what_cannot_be_read_is_not_linked_to(crawled: Crawled) -> None:
    whole = mirror(crawled, out="whole")
    line = next(
        line
        for line in (crawled.folder / "index.cdxj").read_text().splitlines()
        if f'{crawled.host}/A"' in line
    )
    place = json.loads(line.split(" ", 2)[2])
    archive = crawled.folder / "archive" / place["filename"]
    content = bytearray(archive.read_bytes())
    content[int(place["offset"]) + 12] ^= 0xFF
    archive.write_bytes(content)
    root = mirror(crawled, code=1)
    assert "/A" not in by_url(root)
    assert broken(root) == []
    assert f'<a href="http://{crawled.host}/A">' in (root / by_url(root)["/"]).read_text()
    kept = files(whole)
    mirror(crawled, out="whole", code=1)
    assert files(whole) == kept, "what was read once stays"


class Killed(FolderPlace):
    """A folder at whose `left`th file the process dies, which has written it but not told anybody."""

    left = 7

    def put(self, file: str, content: bytes, time: str, *, ours: bool) -> bool:
        put = super().put(file, content, time, ours=ours)
        self.left -= 1
        if not self.left:
            os._exit(9)
        return put


def test_a_run_that_was_killed_is_taken_up(crawled: Crawled) -> None:
    root = crawled.folder.parent / "out"
    child = os.fork()
    if not child:
        with inspect(crawled.folder) as inspection:
            make_mirror(inspection, Killed(root), Asked())
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert not (root / MANIFEST).exists()
    assert len(files(root)) == 7
    mirror(crawled)
    assert files(root) == files(mirror(crawled, out="fresh"))


def test_what_is_gone_goes_and_what_is_not_ours_stays(crawled: Crawled) -> None:
    root = mirror(crawled)
    ours = by_url(root)
    (root / "mine.txt").write_text("mine")
    mirror(crawled, "--match", "/A")
    left = files(root)
    assert left.pop("mine.txt") == b"mine"
    assert set(left) == {ours["/A"], MANIFEST, "index.html"}
    mirror(crawled, "--match", "/")
    needed = {"/", "/s.css?1", "/t.css", "/p.php", "/q.png?2", "/feed", "/x.svg"}
    assert set(files(root)) == {ours[url] for url in needed} | {MANIFEST, "index.html", "mine.txt"}
    taken = root / ours["/A"]
    taken.write_text("mine too")
    assert "not from this mirror" in said(crawled, "out")
    assert taken.read_text() == "mine too"


def test_nothing_is_written_outside(crawled: Crawled, tmp_path: Path) -> None:
    root, elsewhere = mirror(crawled), tmp_path / "elsewhere"
    elsewhere.mkdir()
    host = root / by_url(root)["/"].partition("/")[0]
    shutil.rmtree(host)
    host.symlink_to(elsewhere)
    assert "Move it away" in said(crawled, "out")
    host.unlink()
    mirror(crawled)
    victim = tmp_path / "victim"
    victim.write_text("kept")
    page = root / by_url(root)["/A"]
    page.unlink()
    page.symlink_to(victim)
    assert "not from this mirror" in said(crawled, "out")
    (root / ".mirror.partial").symlink_to(victim)
    page.unlink()
    mirror(crawled)
    assert victim.read_text() == "kept"
    assert list(elsewhere.iterdir()) == []
    page.unlink()
    page.parent.joinpath("A.html").symlink_to(victim)
    assert "not from" in said(crawled, "out")


def test_where_something_else_lies_is_refused(crawled: Crawled, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    assert "is no mirror" in said(crawled, "full")
    assert "is no folder" in said(crawled, "full/x")
    assert "no ZIP file of a mirror" in said(crawled, "full/x", "--zip")
    assert "must end in .{ext}" in said(crawled, "out", "--names", "{host}/{stem}")
    assert "is no time" in said(crawled, "out", "--at", "yesterday")
    assert "RE2" in said(crawled, "out", "--match", "re:(")
    assert "holds no crawl" in in_process.gossamer("mirror", "full", "out", cwd=tmp_path).stderr


def test_a_zip_file_is_the_same_mirror(crawled: Crawled) -> None:
    folder = files(mirror(crawled))
    path = mirror(crawled, "--zip", out="m.zip")
    with zipfile.ZipFile(path) as packed:
        assert packed.testzip() is None
        assert {name: packed.read(name) for name in packed.namelist()} == folder
    before = path.stat()
    mirror(crawled, "--zip", out="m.zip")
    assert path.stat() == before
    assert not [name for name in path.parent.iterdir() if "partial" in name.name]


def test_it_says_what_it_came_to(crawled: Crawled) -> None:
    ran = in_process.gossamer("mirror", "c", "out", cwd=crawled.folder.parent)
    assert ran.stdout.startswith("out: 18 files, ")
    assert "1 to other sites, 2 to pages not crawled" in ran.stdout
    assert "1 link to pictures, styles and scripts that were not crawled" in ran.stderr
    assert "gossamer resume c --set scope.requisites=any" in ran.stderr
    assert str(crawled.folder.parent / "out" / "index.html") in ran.stderr


def test_a_full_disk_is_one_error_and_the_same_goes_on(crawled: Crawled, tmp_path: Path) -> None:
    disk = Disk(tmp_path / "disk", 2 * MIB)
    try:
        disk.leave(40 << 10)
        ran = in_process.gossamer("mirror", "c", "disk/out", cwd=tmp_path)
        assert ran.returncode == 3
        assert "Free some space" in ran.stderr
        assert len(ran.stderr.splitlines()) == 1
        disk.give_back()
        root = mirror(crawled, out="disk/out")
        assert broken(root) == []
        assert not (root / ".mirror.partial").exists()
    finally:
        disk.close()
