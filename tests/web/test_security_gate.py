"""What the gate lets through, and what every answer carries."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from api_client import CHEAP, HERE, PASSWORD, client_of
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from gossamer.daemon.database import Database
from gossamer.daemon.security_config import SecurityConfig
from gossamer.model.errors import ConfigError
from gossamer.web.security import listening
from gossamer.web.security.body import form_of
from gossamer.web.security.door import Door, TryLater, Wrong, safe_next
from gossamer.web.security.gate import Gate
from gossamer.web.security.headers import POLICY
from gossamer.web.security.listening import check_listening
from gossamer.web.security.own_name import OwnName, is_loopback, same_origin
from gossamer.web.security.visitor import Role, visitor_of

JSON = {"Content-Type": "application/json"}


async def echo(request: Request) -> JSONResponse:
    visitor = visitor_of(request)
    body = await request.body()
    said = {"who": visitor and visitor.name, "body": body.decode("latin-1"), "form": form_of(request)}
    return JSONResponse(said)


async def own_policy(request: Request) -> PlainTextResponse:
    return PlainTextResponse("", headers={"Content-Security-Policy": "sandbox"})


METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]
PATHS = [
    "/",
    "/login",
    "/page",
    "/api/v1/jobs",
    "/api/v1/session",
    "/metrics",
    "/static/x.css",
    "/preferences",
]


class House:
    """An application behind a gate."""

    def __init__(self, database, listen="127.0.0.1", **settings) -> None:
        self.config = SecurityConfig(**CHEAP, **settings)
        self.noted: list[tuple[str, ...]] = []
        self.door = Door(database, self.config, listen, note=lambda *line: self.noted.append(line))
        routes = [Route(path, echo, methods=METHODS) for path in PATHS]
        inside = Starlette(routes=[*routes, Route("/own", own_policy)])
        self.app = Gate(inside, self.door, OwnName(self.config, listen), self.config)

    def add(self, name, role=Role.OPERATOR):
        self.door.accounts.add(name, role, PASSWORD)

    def headers(self, name, scheme="http", port=8470):
        """Of a page of somebody who is logged in."""
        session = self.door.sessions.begin(name)
        return {"Cookie": f"gossamer-{port}={session.cookie}", "X-CSRF-Token": session.visitor.csrf}

    @asynccontextmanager
    async def client(self, **more):
        async with client_of(self.app, **more) as client:
            yield client


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    database = Database(tmp_path_factory.mktemp("gate") / "service.db")
    yield database
    database.close()


@pytest.fixture
def database(file):
    House(file)
    for table in ("accounts", "tokens", "sessions"):
        file.execute(f"DELETE FROM {table}")
    return file


@pytest.fixture
def house(database):
    return House(database)


@pytest.fixture
def locked(house):
    house.add("ada")
    house.add("vic", Role.VIEWER)
    return house


def run(house, method, path, base=HERE, **request):
    async def once():
        async with house.client(base=base) as client:
            return await client.request(method, path, **request)

    return asyncio.run(once())


# Who


def test_without_accounts_this_machine_is_an_operator(house):
    assert run(house, "GET", "/page").json()["who"] == "local"
    assert run(house, "POST", "/api/v1/jobs", json={}).status_code == 200


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host"])
def test_what_came_through_a_proxy_is_not_this_machine(house, name):
    assert run(house, "GET", "/page", headers={name: "1"}).status_code == 401


@pytest.mark.parametrize(
    ("listen", "settings"), [("0.0.0.0", {}), ("::", {}), ("127.0.0.1", {"allowed_hosts": ("c.example",)})]
)
def test_where_others_may_come_nobody_is_local(database, listen, settings):
    house = House(database, listen, **settings)
    assert run(house, "GET", "/page").status_code == 401
    assert run(house, "GET", "/login").status_code == 200


@pytest.mark.parametrize(
    "path", [path for path in PATHS if path not in ("/login", "/api/v1/session", "/static/x.css")]
)
@pytest.mark.parametrize("method", METHODS[:5])
def test_strangers_see_nothing(locked, path, method):
    assert run(locked, method, path).status_code == 401


@pytest.mark.parametrize(
    "path", ["/static/../page", "/static/..%2fpage", "/staticx", "/login/", "/Login", "//login"]
)
def test_what_is_near_an_open_page_is_not_open(locked, path):
    assert asgi(locked, [], "GET", path)[0]["status"] == 401


def test_strangers_are_shown_the_log_in(locked):
    answer = run(locked, "GET", "/page?a=b&c=%22", headers={"Accept": "text/html,*/*"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=/page%3Fa%3Db%26c%3D%2522"
    assert run(locked, "GET", "/api/v1/jobs", headers={"Accept": "text/html"}).status_code == 401
    assert run(locked, "POST", "/page", headers={"Accept": "text/html"}).status_code == 401


def test_a_session_lets_in(locked):
    assert run(locked, "GET", "/page", headers=locked.headers("ada")).json()["who"] == "ada"


@pytest.mark.parametrize(
    "cookie", ["gossamer-8470=", "gossamer-8470=x", "gossamer-8470=\xff", "other=1", ";;=;"]
)
def test_other_cookies_do_not(locked, cookie):
    assert run(locked, "GET", "/page", headers={"Cookie": cookie.encode("latin-1")}).status_code == 401


def test_a_cookie_of_another_daemon_does_not(locked):
    assert run(locked, "GET", "/page", headers=locked.headers("ada", port=8471)).status_code == 401


def test_two_cookies_of_the_name_let_nobody_in(locked):
    headers = locked.headers("ada")
    headers["Cookie"] += "; gossamer-8470=planted"
    assert run(locked, "GET", "/page", headers=headers).status_code == 401


def test_over_tls_only_the_cookie_counts_that_nobody_else_can_set(locked):
    headers = locked.headers("ada")
    assert run(locked, "GET", "/page", base="https://127.0.0.1:8470", headers=headers).status_code == 401
    headers["Cookie"] = "__Host-" + headers["Cookie"]
    assert run(locked, "GET", "/page", base="https://127.0.0.1:8470", headers=headers).status_code == 200


def test_a_token_lets_in(locked):
    token = locked.door.accounts.new_token("ada", Role.OPERATOR, "")
    headers = {"Authorization": f"Bearer {token}"}
    assert run(locked, "GET", "/metrics", headers=headers).json()["who"] == "ada"
    assert run(locked, "POST", "/api/v1/jobs", headers=headers).status_code == 200
    assert run(locked, "GET", "/page", headers={"Authorization": f"Basic {token}"}).status_code == 401


def test_a_wrong_token_does_not_even_with_a_session(locked):
    headers = {**locked.headers("ada"), "Authorization": "Bearer x"}
    assert run(locked, "GET", "/page", headers=headers).status_code == 401


# What their role may


def test_viewers_look_and_do_not_touch(locked):
    headers = locked.headers("vic")
    assert run(locked, "GET", "/page", headers=headers).status_code == 200
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert run(locked, method, "/api/v1/jobs", headers=headers).status_code == 403
    assert run(locked, "POST", "/preferences", headers=headers).status_code == 200
    assert run(locked, "DELETE", "/api/v1/session", headers=headers).status_code == 200


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_other_methods_are_refused(house, method):
    assert run(house, method, "/page").status_code == 405


# Meant for us


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example:8470",
        "192.0.2.1",
        "localhost.evil.example",
        "",
        "a b",
        "[::1",
        "::1",
        "127.0.0.1:8470:1",
        "127.0.0.1@evil.example",
        "2130706433",
        "localhost\x00",
        "localhost.",
        "0.0.0.0",
        "[127.0.0.1]",
    ],
)
def test_another_name_is_not_ours(house, host):
    assert run(house, "GET", "/page", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8470", "LOCALHOST", "[::1]:8470", "127.1.2.3:1"])
def test_names_of_loopback_are_ours(house, host):
    assert run(house, "GET", "/page", headers={"Host": host}).status_code == 200


def test_one_host_header(house):
    headers = [("Host", "127.0.0.1"), ("Host", "evil.example")]
    assert run(house, "GET", "/page", headers=headers).status_code == 400


def test_names_that_are_configured():
    own = OwnName(SecurityConfig(allowed_hosts=("Console.example",)), "0.0.0.0")
    assert own.is_own("console.example:443")
    assert own.is_own("192.0.2.1:8470"), "no page can have an address of ours"
    assert not own.is_own("example")
    assert OwnName(SecurityConfig(), "crawler.lan").is_own("crawler.lan:8470")


def test_addresses_of_this_machine():
    assert all(map(is_loopback, ["127.0.0.1", "::1", "localhost", "127.9.9.9"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "192.0.2.1", "", "localhost.example", "host"]))


# Cross-site


@pytest.mark.parametrize(
    ("origin", "same"),
    [
        ("http://127.0.0.1:8470", True),
        ("http://127.0.0.1", False),
        ("https://127.0.0.1:8470", False),
        ("http://127.0.0.1:8471", False),
        ("http://evil.example", False),
        ("null", False),
        ("", False),
        ("http://127.0.0.1:8470/", False),
    ],
)
def test_origins(house, origin, same):
    assert same_origin(origin, "http", "127.0.0.1:8470") is same
    headers = {"Origin": origin}
    answer = run(house, "POST", "/api/v1/jobs", json={}, headers=headers)
    assert answer.status_code == (200 if same else 403)


def test_default_ports_are_the_same_origin():
    assert same_origin("http://c.example", "http", "c.example:80")
    assert same_origin("https://c.example:443", "https", "C.example")
    assert not same_origin("http://c.example", "https", "c.example:80")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/page"), ("GET", "/api/v1/jobs"), ("GET", "/static/x.css")]
)
def test_other_pages_requests_are_refused(house, site, method, path):
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}
    assert run(house, method, path, headers=headers).status_code == 403


def test_links_from_elsewhere_lead_to_pages_only(house):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert run(house, "GET", "/page", headers=headers).status_code == 200
    assert run(house, "GET", "/api/v1/jobs", headers=headers).status_code == 403
    assert run(house, "GET", "/metrics", headers=headers).status_code == 403
    assert run(house, "POST", "/page", headers=headers).status_code == 403
    framed = {**headers, "Sec-Fetch-Dest": "iframe"}
    assert run(house, "GET", "/page", headers=framed).status_code == 403


@pytest.mark.parametrize("csrf", [None, "", "x", "é"])
def test_a_session_alone_changes_nothing(locked, csrf):
    headers = locked.headers("ada")
    del headers["X-CSRF-Token"]
    if csrf is not None:
        headers["X-CSRF-Token"] = csrf.encode()
    for body in ({"json": {}}, {"data": {"a": "b"}}, {}):
        path = "/page" if "data" in body else "/api/v1/jobs"
        answer = run(locked, "POST", path, headers=headers, **body)
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf")


def test_the_secret_of_another_session_will_not_do(locked):
    headers = {**locked.headers("ada"), "X-CSRF-Token": locked.headers("ada")["X-CSRF-Token"]}
    assert run(locked, "POST", "/api/v1/jobs", headers=headers).status_code == 403


def test_a_form_brings_the_secret_in_a_field(locked):
    headers = locked.headers("ada")
    csrf = headers.pop("X-CSRF-Token")
    answer = run(locked, "POST", "/page", headers=headers, data={"csrf": csrf, "toml": "a = 1\r\n<b>"})
    assert answer.json()["form"]["toml"] == "a = 1\r\n<b>"
    assert answer.json()["body"], "the handler may read it, too"


def test_a_foreign_form_moves_nothing_on_a_daemon_without_accounts(house):
    for body in ({"data": {"name": "x"}}, {"content": "{}", "headers": {"Content-Type": "text/plain"}}, {}):
        assert run(house, "POST", "/page", **body).status_code in (403, 415)
        assert run(house, "POST", "/api/v1/jobs", **body).status_code in (403, 415)


def test_pages_of_a_daemon_without_accounts_bring_its_secret(house):
    csrf = house.door.knows([], "http", 8470).csrf
    assert run(house, "POST", "/page", data={"csrf": csrf}).status_code == 200
    assert run(house, "POST", "/api/v1/jobs", headers={"X-CSRF-Token": csrf}).status_code == 200


# Bodies


def test_large_bodies_are_refused_whatever_they_say(house):
    large = b"[" + b"1," * house.config.max_body + b"1]"
    assert run(house, "POST", "/api/v1/jobs", content=large, headers=JSON).status_code == 413

    async def chunks():
        for _ in range(100):
            yield large[:100_000]

    assert run(house, "POST", "/api/v1/jobs", content=chunks(), headers=JSON).status_code == 413


@pytest.mark.parametrize("length", ["-1", "1e3", "٣", "9" * 40, "", "1, 1"])
def test_lengths_that_are_none(house, length):
    headers = {**JSON, "Content-Length": length.encode()}
    assert run(house, "POST", "/api/v1/jobs", content=b"{}", headers=headers).status_code in (400, 413)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"NaN",
        b'"\\ud800"',
        b"\xff",
        b'{"a": 1e',
        b"[" * 100_000,
        b'"\xed\xa0\x80"',
        b"{}x",
        b'{"a":Infinity}',
    ],
)
def test_what_is_not_json(house, body):
    answer = run(house, "POST", "/api/v1/jobs", content=body, headers=JSON)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "application/xml", ""])
def test_other_kinds_of_body(house, kind):
    headers = {"Content-Type": kind}
    assert run(house, "POST", "/page", content=b"x", headers=headers).status_code == 415


def test_forms_are_not_for_programs(locked):
    answer = run(locked, "POST", "/api/v1/jobs", headers=locked.headers("ada"), data={"a": "b"})
    assert answer.status_code == 415


@pytest.mark.parametrize("body", ["a=1&a=2", "&".join(f"a{n}=1" for n in range(501)), "a=é"])
def test_forms_that_are_none(locked, body):
    headers = {**locked.headers("ada"), "Content-Type": "application/x-www-form-urlencoded"}
    assert run(locked, "POST", "/page", headers=headers, content=body.encode()).status_code == 400


def test_long_targets_are_refused(house):
    assert run(house, "GET", "/page?" + "a" * 9000).status_code == 414


def asgi(house, messages, method="POST", path="/api/v1/jobs", headers=(), kind="http"):
    """Talk to the application without a client; the status and what was sent."""
    scope = {
        "type": kind,
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"), *headers],
        "server": ("127.0.0.1", 8470),
        "client": ("127.0.0.1", 1),
    }
    sent = []

    async def talk():
        left = list(messages)

        async def receive():
            if left:
                return left.pop(0)
            return await asyncio.Event().wait()

        async def send(message):
            sent.append(message)

        await house.app(scope, receive, send)

    asyncio.run(talk())
    return sent


def test_a_slow_body_is_given_up(database):
    house = House(database, body_time=0.02)
    sent = asgi(house, [{"type": "http.request", "body": b"{", "more_body": True}])
    assert sent[0]["status"] == 408


def test_a_body_that_breaks_off(house):
    sent = asgi(
        house, [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    )
    assert sent[0]["status"] == 400


def test_web_sockets_are_closed(house):
    assert asgi(house, [{"type": "websocket.connect"}], kind="websocket")[0]["type"] == "websocket.close"


# Headers


@pytest.mark.parametrize("path", ["/page", "/nowhere", "/api/v1/jobs"])
@pytest.mark.parametrize("host", ["127.0.0.1", "evil.example"])
def test_every_answer_is_safe(house, path, host):
    headers = run(house, "GET", path, headers={"Host": host}).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "strict-transport-security" not in headers
    assert "access-control-allow-origin" not in headers


def test_the_policy_lets_nothing_run_but_our_files():
    rules = dict(rule.partition(" ")[::2] for rule in POLICY.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert "*" not in POLICY


def test_an_answer_may_be_stricter(house):
    found = run(house, "GET", "/own").headers.get_list("content-security-policy")
    assert found == ["sandbox"]


def test_over_tls_it_stays_so(house):
    found = run(house, "GET", "/page", base="https://127.0.0.1:8470").headers
    assert found["strict-transport-security"] == "max-age=31536000"


# Log-in


def test_right_and_wrong_passwords(locked):
    async def tries():
        right = await locked.door.log_in("ada", PASSWORD, "192.0.2.1")
        assert right.visitor.name == "ada"
        assert await locked.door.log_in("ada", "wrong", "192.0.2.1") == Wrong()
        assert await locked.door.log_in("nobody", PASSWORD, "192.0.2.1") == Wrong()

    asyncio.run(tries())
    assert [line[1] for line in locked.noted] == ["log-in", "log-in refused", "log-in refused"]
    assert PASSWORD not in json.dumps(locked.noted)


def test_many_at_once_are_all_counted(locked):
    async def tries():
        return await asyncio.gather(
            *(locked.door.log_in("ada", f"wrong {n}", "192.0.2.1") for n in range(50))
        )

    found = asyncio.run(tries())
    assert sum(isinstance(one, Wrong) for one in found) <= locked.config.failures
    assert sum(isinstance(one, TryLater) for one in found) >= 50 - locked.config.failures


def test_with_the_address_used_up_the_right_password_waits_too(locked):
    async def tries():
        for _ in range(locked.config.failures):
            await locked.door.log_in("ada", "wrong", "192.0.2.1")
        assert isinstance(await locked.door.log_in("ada", PASSWORD, "192.0.2.1"), TryLater)
        assert not isinstance(await locked.door.log_in("ada", PASSWORD, "192.0.2.2"), TryLater | Wrong)

    asyncio.run(tries())


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("/jobs/a?x=1#y", "/jobs/a?x=1#y"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
        ("/a\r\nSet-Cookie: x=1", "/"),
        ("/é", "/"),
    ],
)
def test_where_to_after_the_log_in(asked, given):
    assert safe_next(asked) == given


# Listening


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "crawler.lan"])
def test_no_listening_elsewhere_without_accounts(house, host, monkeypatch):
    warnings = []  # by itself, as a library that another test imports may have set up logging its own way
    monkeypatch.setattr(listening._LOG, "warning", lambda text, *values: warnings.append(text % values))
    with pytest.raises(ConfigError, match="serve-user add"):
        check_listening(house.door.accounts, house.config, host)
    house.add("ada")
    check_listening(house.door.accounts, house.config, host)
    [warning] = warnings
    assert "security.certificate" in warning, "passwords would go over the network as they are"
    check_listening(house.door.accounts, SecurityConfig(certificate="c", private_key="k"), host)
    assert len(warnings) == 1


def test_accounts_that_were_lost_are_missed(house):
    accounts = house.door.accounts
    accounts.add("ada", Role.OPERATOR, PASSWORD)
    check_listening(accounts, house.config, "127.0.0.1")
    accounts._database.execute("DELETE FROM accounts")  # as if the file had been lost
    with pytest.raises(ConfigError, match=r"were accounts here.*serve-user add NAME"):
        check_listening(accounts, house.config, "127.0.0.1")
    accounts.add("grace", Role.OPERATOR, PASSWORD)
    check_listening(accounts, house.config, "127.0.0.1")
    accounts.remove("grace")
    check_listening(accounts, house.config, "127.0.0.1")


def test_listening_here_needs_no_accounts(house):
    house.door.accounts.note()
    check_listening(house.door.accounts, house.config, "127.0.0.1")
    with pytest.raises(ConfigError, match="allowed_hosts"):
        check_listening(house.door.accounts, SecurityConfig(allowed_hosts=("c.example",)), "127.0.0.1")


@pytest.mark.parametrize(
    "settings",
    [
        {"certificate": "x"},
        {"allowed_hosts": ("http://c.example",)},
        {"allowed_hosts": ("",)},
        {"trusted_proxies": ("proxy",)},
    ],
)
def test_settings_that_will_not_do(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        SecurityConfig(**settings)


@pytest.mark.parametrize(
    ("fields", "heard"),
    [
        ([], 2),
        ([(b"content-length", b"2")], 2),
        ([(b"content-length", b"100000")], 0),
        ([(b"expect", b"100-continue")], 0),
    ],
)
def test_who_is_refused_has_said_what_he_had_to_say_if_it_is_short(locked, fields, heard):
    """Else the connection is closed on him, and with it goes the answer (RFC 9112 section 9.6)."""
    parts = iter([(b"{", True), (b"}", False)])
    happened = []

    async def receive():
        body, more = next(parts)
        happened.append("heard")
        return {"type": "http.request", "body": body, "more_body": more}

    async def send(message):
        happened.append(message["type"])

    scope = {
        "type": "http", "method": "POST", "scheme": "http", "path": "/api/v1/jobs", "raw_path": b"/api/v1/jobs",
        "query_string": b"",
        "headers": [(b"host", HERE.partition("//")[2].encode()), (b"origin", b"http://elsewhere.example"), *fields],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8470), "state": {},
    }  # fmt: skip
    asyncio.run(locked.app(scope, receive, send))
    assert happened == ["heard"] * heard + ["http.response.start", "http.response.body"]
