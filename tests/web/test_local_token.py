"""The token of a daemon without accounts, where others can log in to its machine."""

import asyncio
import contextlib
import os
import pty
import pwd
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import loopback
import pytest
from api_client import CHEAP, PASSWORD, client_of
from patience import PATIENCE
from service_world import open_daemon

from gossamer.daemon.daemon import Daemon
from gossamer.model.errors import ConfigError
from gossamer.web.api.app import make_app
from gossamer.web.security.local_token import LocalToken, is_shared, read_token, token_file
from gossamer.web.security.visitor import Role

TOKEN = "t" * 43
PAGE = {"Accept": "text/html"}


def user(number: int, shell: str = "/bin/bash") -> pwd.struct_passwd:
    return pwd.struct_passwd(("name", "x", number, number, "", "/home/name", shell))


@pytest.mark.parametrize(
    ("users", "own", "shared"),
    [
        ([], 0, False),
        ([user(0), user(33), user(999), user(1000)], 1000, False),
        ([user(1000), user(1001)], 1000, True),
        ([user(0), user(1000)], 0, True),
        ([user(1000), user(1001, "/usr/sbin/nologin"), user(1002, "/bin/false")], 1000, False),
        ([user(1000), user(65534)], 1000, False),
        ([user(1000), user(1001, "")], 1000, True),  # an empty shell is /bin/sh (passwd(5))
    ],
)
def test_a_machine_is_shared_where_another_person_can_log_in(
    users: list[pwd.struct_passwd], own: int, shared: bool
) -> None:
    assert is_shared(users, own) is shared


def test_where_the_token_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [user(os.geteuid() + 1001)]
    monkeypatch.setattr(pwd, "getpwall", lambda: others)
    assert token_file("auto", tmp_path) == tmp_path / "token"
    assert token_file("none", tmp_path) is None
    assert token_file("/else/where", tmp_path) == Path("/else/where")
    others.clear()
    assert token_file("auto", tmp_path) is None


def test_a_token_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = read_token(path)
    assert len(token) == 43 and path.stat().st_mode & 0o777 == 0o600
    assert read_token(path) == token
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]
    path.unlink()
    assert read_token(path) != token


def test_a_file_that_others_may_know_or_that_is_none_is_refused(tmp_path: Path) -> None:
    def refused(path: Path, why: str) -> None:
        with pytest.raises(ConfigError, match=why):
            read_token(path)

    good = tmp_path / "good"
    read_token(good)
    (tmp_path / "link").symlink_to(good)
    refused(tmp_path / "link", "cannot be had")
    (tmp_path / "nowhere").symlink_to(tmp_path / "not there")
    refused(tmp_path / "nowhere", "cannot be had")
    assert not (tmp_path / "not there").exists()
    good.chmod(0o640)
    refused(good, "others may have read")
    refused(tmp_path / "no folder" / "token", "cannot be had")
    os.mkfifo(tmp_path / "pipe", 0o600)
    refused(tmp_path / "pipe", "others may have")
    for text in ("", "short", "spaces in a token that is long enough", "ö" * 40, "x" * 300):
        bad = tmp_path / "bad"
        bad.write_text(text)
        bad.chmod(0o600)
        refused(bad, "too short")


def test_a_cookie_ends_with_its_time_and_with_the_token() -> None:
    now = [1_000_000.0]
    door = LocalToken(TOKEN, 100.0, lambda: now[0])
    assert door.begin("x") is None and door.begin("") is None and door.begin("é") is None
    session = door.begin(TOKEN)
    assert session is not None
    assert door.find(session.cookie) == session.visitor
    assert LocalToken(TOKEN, 100.0, lambda: now[0]).find(session.cookie) == session.visitor
    assert LocalToken("u" * 43, 100.0, lambda: now[0]).find(session.cookie) is None
    since, _, mark = session.cookie.partition(".")
    for forged in ("", ".", since, f"{since}.", f"{int(since) + 1}.{mark}", f"-1.{mark}", f"{since}.{mark}é"):
        assert door.find(forged) is None
    now[0] += 100.0
    assert door.find(session.cookie) is None
    now[0] -= 200.0
    assert door.find(session.cookie) is None


@contextlib.asynccontextmanager
async def guarded(home: Path) -> AsyncIterator[tuple[Daemon, httpx.AsyncClient]]:
    async with open_daemon(home, security=CHEAP) as daemon:
        app = make_app(daemon, daemon.config, token=TOKEN)
        async with client_of(app) as client:
            client.app = app  # type: ignore[attr-defined]
            yield daemon, client


def test_the_address_is_changed_for_a_cookie(home: Path) -> None:
    async def story() -> None:
        async with guarded(home) as (daemon, client):
            assert (await client.get("/api/v1/jobs")).status_code == 401
            assert (await client.get("/metrics")).status_code == 401
            assert (await client.get("/healthz")).status_code == 200
            turned = await client.get("/jobs/new?way=toml", headers=PAGE)
            assert turned.headers["location"] == "/login?next=/jobs/new%3Fway%3Dtoml"
            opened = await client.get(f"/jobs/new?way=toml&token={TOKEN}", headers=PAGE)
            assert (opened.status_code, opened.headers["location"]) == (303, "/jobs/new?way=toml")
            cookie = opened.headers["set-cookie"]
            assert "HttpOnly" in cookie and "SameSite=strict" in cookie and TOKEN not in cookie
            assert opened.headers["cache-control"] == "no-store"
            shown = await client.get("/jobs/new", headers=PAGE)
            assert shown.status_code == 200 and TOKEN not in shown.text
            # The cookie alone changes nothing: a page of ours must have sent the form.
            form = {"way": "form", "seeds": "https://a.test/", "do": "create"}
            assert (await client.post("/jobs/new", data=form)).status_code == 403
            assert (await client.post("/api/v1/jobs", json={"seeds": ["a.test"]})).status_code == 403
            csrf = re.search(r'name="csrf" value="([^"]+)"', shown.text)
            assert csrf is not None
            made = await client.post("/jobs/new", data={**form, "csrf": csrf[1]})
            assert made.headers["location"] == "/jobs/crawl-a.test?said=created"
            foreign = {"Origin": "https://evil.test", "X-CSRF-Token": csrf[1]}
            assert (await client.post("/jobs/new", data=form, headers=foreign)).status_code == 403
            lines = daemon.audit()["items"]
            assert [(line.who, line.action) for line in lines] == [("local", "create"), ("local", "log-in")]
            await client.post("/logout", data={"csrf": csrf[1]})
            assert (await client.get("/api/v1/jobs")).status_code == 401

    asyncio.run(story())


def test_a_wrong_token_opens_nothing_and_leaves_the_address_too(home: Path) -> None:
    async def story() -> None:
        async with guarded(home) as (daemon, client):
            for number in range(40):
                turned = await client.get(f"/audit?token={TOKEN}{number}", headers=PAGE)
                assert (turned.status_code, turned.headers["location"]) == (303, "/audit")
                assert "set-cookie" not in turned.headers
            assert len(daemon.audit()["items"]) < 10, "whoever guesses could wash the record away"
            # Nobody keeps the right one out by guessing.
            assert "set-cookie" in (await client.get(f"/?token={TOKEN}", headers=PAGE)).headers

    asyncio.run(story())


@pytest.mark.parametrize("path", ["//evil.test/", "/\\evil.test/", "/%5Cevil.test", "/%2F%2Fevil.test/"])
def test_it_leads_nowhere_else(home: Path, path: str) -> None:
    async def story() -> None:
        async with guarded(home) as (_, client):
            address = httpx.URL(f"http://127.0.0.1:8470{path}?token={TOKEN}")
            location = (await client.get(address, headers=PAGE)).headers.get("location", "/")
            assert location.startswith("/") and not location.startswith(("//", "/\\"))

    asyncio.run(story())


def test_programs_send_the_token_itself(home: Path) -> None:
    async def story() -> None:
        async with guarded(home) as (_, client):
            right = {"Authorization": f"Bearer {TOKEN}"}
            assert (await client.get("/api/v1/jobs", headers=right)).status_code == 200
            assert (await client.get("/metrics", headers=right)).status_code == 200
            body = {"seeds": ["https://a.test/"]}
            assert (await client.post("/api/v1/jobs", json=body, headers=right)).status_code == 201
            for wrong in ("x", "", f"{TOKEN} ", f"é{TOKEN}"):
                given = {"Authorization": f"Bearer {wrong}".encode()}
                expected = 200 if wrong.strip() == TOKEN else 401
                assert (await client.get("/api/v1/jobs", headers=given)).status_code == expected
            assert (await client.get(f"/api/v1/jobs?token={TOKEN}")).status_code == 401
            proxied = {**right, "X-Forwarded-For": "192.0.2.1"}
            assert (await client.get("/api/v1/jobs", headers=proxied)).status_code == 401

    asyncio.run(story())


@pytest.mark.parametrize(("language", "label"), [("en", "Token"), ("zh", "令牌")])
def test_the_log_in_page_takes_the_token(home: Path, language: str, label: str) -> None:
    async def story() -> None:
        async with guarded(home) as (_, client):
            headers = {**PAGE, "Accept-Language": language}
            form = (await client.get("/login", headers=headers)).text
            assert f">{label}</label>" in form and 'autocomplete="username"' not in form
            given = {"name": "local", "next": "/audit"}
            wrong = await client.post("/login", data={**given, "password": "x"}, headers=headers)
            assert wrong.status_code == 401 and 'role="alert"' in wrong.text
            right = await client.post("/login", data={**given, "password": TOKEN}, headers=headers)
            assert (right.status_code, right.headers["location"]) == (303, "/audit")
            assert (await client.get("/api/v1/jobs")).status_code == 200

    asyncio.run(story())


def test_with_accounts_the_token_opens_nothing(home: Path) -> None:
    async def story() -> None:
        async with guarded(home) as (_, client):
            await client.get(f"/?token={TOKEN}", headers=PAGE)
            assert (await client.get("/api/v1/jobs")).status_code == 200
            accounts = client.app.state.door.accounts  # type: ignore[attr-defined]
            accounts.add("alice", Role.OPERATOR, PASSWORD)
            assert (await client.get("/api/v1/jobs")).status_code == 401
            bearer = {"Authorization": f"Bearer {TOKEN}"}
            assert (await client.get("/api/v1/jobs", headers=bearer)).status_code == 401
            turned = await client.get(f"/?token={TOKEN}", headers=PAGE)
            assert turned.headers["location"].startswith("/login") and "set-cookie" not in turned.headers
            form = (await client.get("/login", headers=PAGE)).text
            assert 'autocomplete="username"' in form
            accounts.remove("alice")
            client.cookies.clear()
            assert (await client.get("/api/v1/jobs")).status_code == 401

    asyncio.run(story())


def serve(home: Path, *options: str, errors: int = subprocess.PIPE) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gossamer", "serve", "--dir", str(home), "--port", "0", *options]
    return subprocess.Popen(command, stderr=errors, text=True)


@pytest.mark.slow
def test_what_serve_says_opens_the_console(home: Path) -> None:
    """The whole address stands on a terminal only: other output may be a file that others read."""
    screen, terminal = pty.openpty()
    process = serve(home, "--token-file", str(home / "token"), errors=terminal)
    os.close(terminal)
    try:
        with os.fdopen(screen, "r", encoding="utf-8") as lines:
            assert "gossamer serves" in lines.readline()
            said = lines.readline()
            address = said.split()[-1]
            assert (home / "token").read_text().strip() in address
            with loopback.Client(follow_redirects=True) as client:
                shown = client.get(address, headers=PAGE)
                assert shown.status_code == 200 and not urlsplit(str(shown.url)).query
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["none", "file"])
def test_what_serve_says_into_a_file(home: Path, choice: str) -> None:
    file = home / "token"
    process = serve(home, "--token-file", "none" if choice == "none" else str(file))
    assert process.stderr is not None
    try:
        said = [process.stderr.readline() for _ in range(3)]
        if choice == "none":
            assert "every user of this machine is its operator" in said[1] and not file.exists()
        else:
            assert f"?token=$(cat {file})" in said[1]
            assert file.read_text().strip() not in "".join(said)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
