"""Cookies, fields of our own and proofs on the road: over kills, over redirects, and in no file."""

import os
import signal
import subprocess
import sys

import pytest
from small_site import Site
from test_robots_flow import html
from warcio.archiveiterator import ArchiveIterator

SECRETS = {"COOKIE": "cookie-5ecret", "KEY": "key-5ecret", "WORD": "word-5ecret"}
FILE = "127.0.0.1\tFALSE\t/\tFALSE\t0\tgiven\t{COOKIE}\n"
SETTINGS = """
[fetch]
allow_private = true
cookies_file = "{cookies}"
[scope]
mode = "any"
[politeness]
min_delay = 0
[place."{origin}".credentials]
username = "me"
password = "env:WORD"
headers = {{ "X-Api-Key" = "env:KEY" }}
"""


def gossamer(*words, die_at=""):
    environment = {
        **os.environ, **SECRETS, "PYTHONPATH": os.pathsep.join(sys.path), "GOSSAMER_DIE_AT": die_at,
    }  # fmt: skip
    command = [sys.executable, "-m", "gossamer", *map(str, words)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == (-signal.SIGKILL if die_at else 0), ended.stderr
    return ended.stdout + ended.stderr


@pytest.mark.slow
def test_a_session_outlives_kills_and_its_secrets_are_in_no_file(tmp_path):
    def member(host, path, asked):
        if path == "/":
            status, fields, body = html("/a", "/b", "/away")
            return status, fields | {"Set-Cookie": "k=1; HttpOnly"}, body
        if path == "/away":
            return 302, {"Location": f"{other.address}x"}, b""
        return html()

    with Site(lambda host, path, asked: html(), host="localhost") as other, Site(member) as site:
        (tmp_path / "cookies.txt").write_text(FILE.format(**SECRETS))
        (tmp_path / "own.toml").write_text(
            SETTINGS.format(cookies=tmp_path / "cookies.txt", origin=site.address.rstrip("/"))
        )
        folder = tmp_path / "crawl"
        said = gossamer(
            "crawl",
            site.address,
            "--config",
            tmp_path / "own.toml",
            "--dir",
            folder,
            die_at="settlement.committed:2",
        )
        said += gossamer("resume", folder, die_at="settlement.committed:1")
        said += gossamer("resume", folder)
    sent = {path: headers for (_, path), headers in zip(site.asked, site.headers, strict=True)}
    assert {"/", "/a", "/b", "/away"} <= set(sent)
    for path, headers in sent.items():
        wanted = {f"given={SECRETS['COOKIE']}"} | ({"k=1"} if path not in ("/", "/robots.txt") else set())
        assert set(headers["Cookie"].split("; ")) == wanted, path
        assert headers["X-Api-Key"] == SECRETS["KEY"]
        assert headers["Authorization"].startswith("Basic ")
    assert ("localhost" in other.address) and [path for _, path in other.asked if path == "/x"]
    for headers in other.headers:
        assert not {"Cookie", "X-Api-Key", "Authorization"} & set(headers)
    held = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    for archive in folder.rglob("*.warc.gz"):
        with archive.open("rb") as stream:
            for record in ArchiveIterator(stream):
                held += str(record.http_headers).encode() + record.content_stream().read()
    assert held.count(b"[redacted]") >= 3
    for secret in (*SECRETS.values(), "bWU6d29yZC01ZWNyZXQ="):
        assert secret.encode() not in held and secret not in said
