"""Accounts from the command line."""

import io
import json
import sys

import pytest
from api_client import CHEAP, PASSWORD

from gossamer.cli import main
from gossamer.cli.exits import EXIT_CONFIG
from gossamer.daemon.config import ServiceFolder
from gossamer.daemon.database import Database
from gossamer.daemon.security_config import SecurityConfig
from gossamer.web.security.accounts import Accounts
from gossamer.web.security.passwords import Passwords
from gossamer.web.security.visitor import Role


@pytest.fixture
def serve_user(tmp_path, monkeypatch, capsys):
    """Run `gossamer serve-user ...`; its status, standard output and error."""
    folder = tmp_path / "jobs"
    folder.mkdir()
    settings = "\n".join(f"{name} = {value}" for name, value in CHEAP.items())
    (folder / "service.toml").write_text(f"[security]\n{settings}\n")

    def run(*words, said=""):
        monkeypatch.setattr(sys, "argv", ["gossamer", "serve-user", *words, "--dir", str(folder)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return (code, *capsys.readouterr())

    run.folder = folder
    return run


@pytest.fixture
def accounts(serve_user):
    """What the daemon sees of it."""
    database = Database(ServiceFolder(serve_user.folder).database)
    yield Accounts(database, Passwords(SecurityConfig(**CHEAP)))
    database.close()


def test_an_account_and_its_token(serve_user, accounts):
    assert "Nobody has an account" in serve_user("list")[2]
    assert serve_user("add", "ada", "--role", "operator", said=PASSWORD + "\n")[0] == 0
    code, token, told = serve_user("token", "ada", "--label", "grafana\x1b[31m", "--days", "30")
    assert (code, "cannot be shown again" in told) == (0, True)
    assert accounts.bearer(token.strip()) == ("ada", Role.VIEWER)
    listed = serve_user("list")[1]
    assert "ada" in listed and "grafana" in listed
    assert "\x1b[31m" not in listed, "a label does not steer the terminal"
    assert token.strip() not in listed
    kept = json.loads(serve_user("list", "--json")[1])
    assert [user["name"] for user in kept["accounts"]] == ["ada"]
    assert serve_user("revoke", kept["tokens"][0]["id"])[0] == 0
    assert accounts.bearer(token.strip()) is None
    assert serve_user("role", "ada", "viewer")[0] == 0
    assert accounts.role_of("ada") is Role.VIEWER
    assert serve_user("password", "ada", said="another password\n")[0] == 0
    assert Passwords(SecurityConfig(**CHEAP)).matches(accounts.password_hash("ada"), "another password")
    code, _, told = serve_user("remove", "ada")
    assert (code, "Nobody has an account now" in told) == (0, True)
    assert not accounts.any()


def test_it_is_said_when_nobody_may_change_anything(serve_user):
    nobody = "Nobody may change anything now"
    assert nobody in serve_user("add", "reader", said=PASSWORD + "\n")[2]
    assert nobody not in serve_user("add", "ada", "--role", "operator", said=PASSWORD + "\n")[2]
    assert nobody not in serve_user("add", "ben", said=PASSWORD + "\n")[2]
    assert nobody in serve_user("role", "ada", "viewer")[2]
    assert nobody not in serve_user("role", "ada", "operator")[2]
    assert nobody in serve_user("remove", "ada")[2]


@pytest.mark.parametrize(
    ("words", "said", "word"),
    [
        (["add", "../x"], PASSWORD, "name"),
        (["add", "ada"], "short", "at least 12"),
        (["add", "ada"], "", "at least 12"),
        (["remove", "nobody"], "", "no such account"),
        (["role", "nobody", "viewer"], "", "no such account"),
        (["token", "nobody"], "", "no such account"),
        (["revoke", "nothing"], "", "no such token"),
    ],
)
def test_what_cannot_be(serve_user, words, said, word):
    code, out, told = serve_user(*words, said=said + "\n")
    assert (code, out) == (EXIT_CONFIG, "")
    assert word in told


def test_the_store_is_for_its_owner(serve_user):
    serve_user("add", "ada", said=PASSWORD + "\n")
    assert ServiceFolder(serve_user.folder).database.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_the_daemon_does_not_start_elsewhere_without_accounts(serve_user, monkeypatch, capsys, host):
    words = ["gossamer", "serve", "--host", host, "--port", "0", "--dir", str(serve_user.folder)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == EXIT_CONFIG
    assert "serve-user add" in capsys.readouterr().err
