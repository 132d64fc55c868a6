"""Cookies: the rules of RFC 6265bis through libcurl, bounds, files, what is kept and what never leaves a site."""

import asyncio
from pathlib import Path

import pytest
from fetch_servers import OK, Cookies, certificate, fetched, fetching, serving, tls_server_context
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.fetch.cookies import MOST_BYTES, CookieJar, read_cookies, understood
from gossamer.fetch.http import LocalFetch
from gossamer.model.errors import ConfigError

HOSTS = ("a.site.example", "b.site.example", "site.example", "x.co.uk", "y.co.uk", "other.example")
A, B, SITE, X, Y, OTHER = HOSTS

# (asked and answered with this Set-Cookie, asked next, is it sent) - https unless it says otherwise
RULES = [
    (f"https://{A}/", "c=1", f"https://{A}/x", True),
    (f"https://{A}/", "c=1", f"https://{B}/", False),
    (f"https://{A}/", "c=1", f"https://{SITE}/", False),
    (f"https://{A}/", f"c=1; Domain={SITE}", f"https://{B}/", True),
    (f"https://{A}/", f"c=1; Domain={B}", f"https://{B}/", False),
    (f"https://{A}/", f"c=1; Domain={OTHER}", f"https://{OTHER}/", False),
    (f"https://{A}/", "c=1; Domain=example", f"https://{B}/", False),
    (f"https://{X}/", "c=1; Domain=co.uk", f"https://{Y}/", False),
    (f"https://{A}/", "c=1; Secure", f"https://{A}/", True),
    (f"https://{A}/", "c=1; Secure", f"http://{A}/", False),
    (f"http://{A}/", "c=1; Secure", f"https://{A}/", False),
    (f"https://{A}/", "c=1", f"http://{A}/", True),
    (f"https://{A}/", "c=1; HttpOnly", f"https://{A}/", True),
    (f"https://{A}/", "__Host-c=1; Secure; Path=/", f"https://{A}/", True),
    (f"https://{A}/", f"__Host-c=1; Secure; Path=/; Domain={A}", f"https://{A}/", False),
    (f"https://{A}/", "__Host-c=1; Path=/", f"https://{A}/", False),
    (f"https://{A}/", "__Host-c=1; Secure; Path=/x", f"https://{A}/x", False),
    (f"https://{A}/", "__Secure-c=1", f"https://{A}/", False),
    (f"https://{A}/", "c=1; Path=/x", f"https://{A}/x/y", True),
    (f"https://{A}/", "c=1; Path=/x", f"https://{A}/xy", False),
    (f"https://{A}/d/e", "c=1", f"https://{A}/d/f", True),
    (f"https://{A}/d/e", "c=1", f"https://{A}/", False),
    (f"https://{A}/", "c=1; Max-Age=0", f"https://{A}/", False),
    (f"https://{A}/", "c=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", f"https://{A}/", False),
    (f"https://{A}/", "c=1; Max-Age=99; Expires=Thu, 01 Jan 1970 00:00:00 GMT", f"https://{A}/", True),
    (f"https://{A}/", "c=1\x01", f"https://{A}/", False),
    (f"https://{A}/", "c=" + "x" * 4_100, f"https://{A}/", False),
    (f"https://{A}/", "=1; c", f"https://{OTHER}/", False),
    ("https://127.0.0.1/", "c=1; Domain=0.0.1", "https://127.0.0.1/", False),
    ("https://127.0.0.1/", "c=1", "https://127.0.0.1/", True),
]


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


def test_the_rules(identity: tuple[Path, Path], tmp_path: Path) -> None:
    """Each rule by itself, over the same two servers and handles."""

    async def main() -> None:
        table = dict.fromkeys(HOSTS, ("127.0.0.1",))
        setting = b""  # is read by `reply`

        async def reply(writer: asyncio.StreamWriter) -> None:
            writer.write(OK + setting + b"Content-Length: 0\r\n\r\n")

        async with (
            serving(reply, keep_alive=True) as plain,
            serving(reply, keep_alive=True, tls=tls_server_context(*identity)) as tls,
        ):
            store = Cookies()
            jar = LocalFetch(cookies=CookieJar(store))
            async with fetching(tmp_path, table=table, local=jar, cookies=True, verify_tls=False) as module:
                for first, cookie, then, sent in RULES:
                    store.clear()
                    for url, said in ((first, b"Set-Cookie: %b\r\n" % cookie.encode()), (then, b"")):
                        setting = said
                        server = tls if url.startswith("https") else plain
                        scheme, _, rest = url.partition("://")
                        host, slash, path = rest.partition("/")
                        exchange = await fetched(module, f"{scheme}://{host}:{server.port}{slash}{path}")
                        assert exchange.request_head == server.requests[-1]
                    assert (b"\r\nCookie:" in server.requests[-1]) is sent, (first, cookie, then)

    asyncio.run(main())


def test_an_answer_without_tls_does_not_replace_what_tls_has_set(
    identity: tuple[Path, Path], tmp_path: Path
) -> None:
    async def main() -> None:
        def reply(value: bytes) -> bytes:
            return OK + b"Set-Cookie: c=" + value + b"\r\nContent-Length: 0\r\n\r\n"

        async with (
            serving(reply(b"forged"), keep_alive=True) as plain,
            serving(reply(b"true; Secure"), keep_alive=True, tls=tls_server_context(*identity)) as tls,
            fetching(tmp_path, table={A: ("127.0.0.1",)}, cookies=True, verify_tls=False) as module,
        ):
            await fetched(module, tls.url("/", A, "https"))
            await fetched(module, plain.url("/", A))
            await fetched(module, tls.url("/", A, "https"))
            assert b"c=true" in tls.requests[-1] and b"forged" not in tls.requests[-1]

    asyncio.run(main())


def test_a_bomb_is_bounded_and_told_once(tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    number = 0

    async def reply(writer: asyncio.StreamWriter) -> None:
        nonlocal number
        many = []
        for _ in range(40):
            number += 1
            many.append(b"Set-Cookie: c%d=%b\r\n" % (number, b"x" * 900))
        writer.write(OK + b"".join(many) + b"Content-Length: 0\r\n\r\n")

    async def main() -> None:
        store = Cookies()
        jar = CookieJar(store, tell=lambda *what: told.append(what))
        async with (
            serving(reply, keep_alive=True) as server,
            fetching(
                tmp_path, table={A: ("127.0.0.1",)}, local=LocalFetch(cookies=jar), cookies=True
            ) as module,
        ):
            for _ in range(6):
                await fetched(module, server.url("/", A))
            assert max(map(len, server.requests)) < 9_000
            assert len(store["site.example"]) < MOST_BYTES + 1_000
            assert jar.of(A)[-1].endswith(b"c240\t" + b"x" * 900)

    asyncio.run(main())
    assert len(told) == 1 and told[0][0] == "site.example" and told[0][1] > 0


def line(name: str, value: str = "v", domain: str = A, *, below: bool = False) -> bytes:
    return f"{domain}\t{str(below).upper()}\t/\tFALSE\t0\t{name}\t{value}".encode()


cookies = st.lists(
    st.builds(line, st.sampled_from("abcdef"), st.sampled_from(("x", "y", "")), st.sampled_from((A, SITE))),
    max_size=8,
    unique_by=lambda one: tuple(one.split(b"\t")[:6]),
)


@settings(max_examples=25)
@given(given_=cookies, changes=st.lists(st.tuples(cookies, st.booleans()), max_size=4))
def test_what_is_kept_is_what_the_site_said_last(
    given_: list[bytes], changes: list[tuple[list[bytes], bool]]
) -> None:
    """Also when it is taken up again, with the file or with another one."""
    store = Cookies()
    jar = CookieJar(store, given_)
    assert set(jar.of(B)) == set(given_) and not jar.of(OTHER)
    for after, again in changes:
        jar.learn(A, jar.of(A), after, len(after))
        assert set(jar.of(A)) == set(after)
        if again:
            jar = CookieJar(store, given_)
            assert set(jar.of(A)) == set(after)
    fresh = line("a", "fresh")
    assert fresh in CookieJar(store, [fresh]).of(A)


def test_two_visits_at_once_do_not_undo_each_other() -> None:
    jar = CookieJar(Cookies(), [line("old")])
    one = two = jar.of(A)
    jar.learn(A, one, [*one, line("one")], 1)
    jar.learn(B, two, [line("two")], 1)
    assert set(jar.of(A)) == {line("one"), line("two")}


def test_a_file_of_a_browser(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    whole = [line("a"), b"#HttpOnly_" + line("b", "", f".{SITE}", below=True)]
    file.write_bytes(b"\xef\xbb\xbf# Netscape HTTP Cookie File\r\n\r\n" + b"\r\n".join(whole))
    assert read_cookies(file) == sorted(whole)
    over = line("over").replace(b"\t0\t", b"\t1\t")
    assert understood([over]) == []
    file.write_bytes(b"\n".join([*whole, b"a=secret", b"x\ty\tz"]))
    with pytest.raises(ConfigError, match=r"line 3, 4\. Export") as told:
        read_cookies(file)
    assert "secret" not in str(told.value)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_cookies(tmp_path / "none")
