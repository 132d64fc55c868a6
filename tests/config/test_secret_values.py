"""References to secrets, resolved late."""

from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from gossamer.config.settings import resolve_secrets, to_toml
from gossamer.fetch.config import FetchConfig
from gossamer.model.errors import ConfigError

Secret = Annotated[str, Meta(extra={"secret": True})]


class Login(msgspec.Struct, frozen=True, kw_only=True):
    user: str = "env:USER"  # not secret, so no reference
    password: Annotated[str, Meta(extra={"secret": True}, max_length=20)] = ""
    proxy: Secret | None = None

    def __post_init__(self) -> None:
        if self.password == "weak":
            raise ValueError(f"{self.password} is too weak")


class Root(msgspec.Struct, frozen=True, kw_only=True):
    login: Login = Login()
    host: dict[str, Login] = {}
    keys: tuple[Secret, ...] = ()


def test_references_are_replaced_wherever_they_stand(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes("pässword\r\n".encode())
    root = Root(
        login=Login(password="env:PW"),
        host={"a.org": Login(proxy=f"file:{path}"), "b.org": Login(password="plain")},
        keys=("one", "env:KEY"),
    )
    resolved = resolve_secrets(root, {"PW": "p:w", "KEY": ""})
    assert resolved == Root(
        login=Login(password="p:w"),
        host={"a.org": Login(proxy="pässword"), "b.org": Login(password="plain")},
        keys=("one", ""),
    )
    assert root.login.password == "env:PW"  # what is written keeps the reference
    assert 'password = "env:PW"' in to_toml(root)


def test_nothing_to_resolve_gives_the_same_struct():
    root = Root(host={"a": Login(password="x")})
    assert resolve_secrets(root) is root


def test_the_process_environment_is_the_default(monkeypatch):
    monkeypatch.setenv("GOSSAMER_TEST_SECRET", "s")
    assert resolve_secrets(Login(password="env:GOSSAMER_TEST_SECRET")).password == "s"


def test_every_dead_reference_is_listed(tmp_path):
    (tmp_path / "large").write_bytes(b"x" * 70_000)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    references = [
        "env:NONE",
        f"file:{tmp_path}/none",
        f"file:{tmp_path}/large",
        f"file:{tmp_path}/binary",
        "file:~nobody-x/y",
    ]
    root = Root(host={"a.org": Login(password="env:GONE")}, keys=tuple(references))
    with pytest.raises(ConfigError) as caught:
        resolve_secrets(root, {})
    problems = caught.value.problems
    assert problems[0] == 'host."a.org".password: the environment variable GONE is not set'
    assert problems[1] == "keys[0]: the environment variable NONE is not set"
    assert [problem.split(":")[0] for problem in problems] == [
        'host."a.org".password',
        *(f"keys[{n}]" for n in range(5)),
    ]
    assert "cannot be read" in problems[2]
    assert "larger than 64 KiB" in problems[3]
    assert "is not UTF-8" in problems[4]


def test_an_impossible_secret_is_refused_without_being_shown():
    root = Root(login=Login(password="env:WEAK"), host={"a": Login(password="env:LONG")})
    with pytest.raises(ConfigError) as caught:
        resolve_secrets(root, {"WEAK": "weak", "LONG": "l" * 30})
    assert caught.value.problems == (
        "login: is impossible once its secrets (password) are put in",
        "host.a.password: what env:LONG holds is not a possible value",
    )


def test_which_of_several_proxies_is_impossible_is_said_and_none_is_shown():
    config = FetchConfig(proxy="env:POOL", names_by_proxy=True)
    with pytest.raises(ConfigError) as caught:
        resolve_secrets(config, {"POOL": "http://u:s3cret@a:1\nhttp://u:s3cret@b\nsocks5://u:s3cret@c:3"})
    assert caught.value.problems == (
        "proxy: what env:POOL holds: number 2 of 3 must be http, https, socks5 or socks5h://[user:password@]host:port",
        "proxy: what env:POOL holds: number 3 of 3 resolves no names, as names_by_proxy needs: use socks5h instead of"
        " socks5",
    )
    with pytest.raises(ConfigError, match=r"^names_by_proxy: needs a proxy$"):
        resolve_secrets(config, {"POOL": ""})
