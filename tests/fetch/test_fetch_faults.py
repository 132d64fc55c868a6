"""libcurl's result codes, provoked one by one, and what the one table makes of them."""

import asyncio
import ssl
from pathlib import Path

import pycurl
import pytest
from fetch_servers import OK, certificate, fetching, first_byte, lease, serving, tls_server_context

from gossamer.fetch.faults import FAULTS, PHRASES, UNKNOWN, fault_of
from gossamer.fetch.multi import Multi
from gossamer.model.errors import ConfigError
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome

SETTINGS = b"\0\0\0\4\0\0\0\0\0"
RESET_STREAM = b"\0\0\4\3\0\0\0\0\1\0\0\0\2"


ELSEWHERE = (
    *("FTP", "TFTP", "LDAP", "TELNET", "SSH", "RTSP", "MULTI", "QUOTE", "REMOTE", "CHUNK", "RANGE", "UPLOAD"),
    *("CONV", "FILE", "HTTP_POST", "HTTP_RETURNED", "HTTP_RANGE", "HTTP_NOT", "HTTP_PORT", "MALFORMAT_USER"),
    *("URL_MALFORMAT_USER", "PASSWORD", "LOGIN", "OK", "FAILED_INIT", "NOT_BUILT_IN", "FUNCTION", "ALREADY"),
    *("LIBRARY", "READ", "WRITE", "BAD_CALLING", "BAD_DOWNLOAD", "INTERFACE", "UNKNOWN", "AGAIN", "ABORTED"),
    *("NO_CONNECTION", "SHARE", "CALL", "BAD_PASSWORD", "SEND_FAIL", "FILESIZE"),
)
"""Codes of other protocols, of uses that we make none of, and of our own callbacks."""


@pytest.fixture
def codes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    seen: list[int] = []
    perform = Multi.perform

    async def spy(self: Multi, easy: pycurl.Curl) -> tuple[int, str]:
        result = await perform(self, easy)
        seen.append(result[0])
        return result

    monkeypatch.setattr(Multi, "perform", spy)
    return seen


def _visit(
    tmp_path: Path,
    reply: bytes,
    *,
    scheme: str = "http",
    tls: ssl.SSLContext | None = None,
    **settings: object,
) -> Outcome:
    """One visit to a server that answers with `reply` (in TLS and to it: after one byte) and hangs up."""

    async def main() -> Outcome:
        async with serving(reply, tls=tls) as server:
            if scheme == "https":
                server.wait = first_byte
            changed = {
                name: value.format(port=server.port) if isinstance(value, str) else value
                for name, value in settings.items()
            }
            async with fetching(tmp_path, table={"tls.example": ("127.0.0.1",)}, **changed) as module:
                return await module.fetch(lease(server.url("/", "tls.example", scheme)))

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("code", "fault", "reply"),
    [
        (1, Fault.PROTOCOL, b"hello\n"),
        (8, Fault.PROTOCOL, OK + b"Content-Length: -1\r\n\r\n"),
        (18, Fault.RESET, OK + b"Content-Length: 5\r\n\r\n"),
        (52, Fault.RESET, b""),
        (56, Fault.PROTOCOL, OK + b"Transfer-Encoding: chunked\r\n\r\nxx\r\n"),
        (61, Fault.PROTOCOL, OK + b"Transfer-Encoding: gzip\r\n\r\n"),
        (100, Fault.HEAD_TOO_LARGE, OK + b"X: " + b"a" * 150_000 + b"\r\n\r\n"),
    ],
)
def test_plain(code: int, fault: Fault, reply: bytes, codes: list[int], tmp_path: Path) -> None:
    outcome = _visit(tmp_path, reply)
    assert isinstance(outcome, Failed)
    assert (codes, outcome.fault) == ([code], fault)


@pytest.mark.parametrize(
    ("code", "fault", "settings"),
    [
        (35, Fault.TLS, {}),
        (77, Fault.TLS, {"ca_file": __file__}),
        (97, Fault.PROXY, {"proxy": "socks5h://127.0.0.1:{port}"}),
    ],
)
def test_handshakes(
    code: int, fault: Fault, settings: dict[str, object], codes: list[int], tmp_path: Path
) -> None:
    outcome = _visit(tmp_path, b"HTTP/1.1 400 What\r\n\r\n", scheme="https", **settings)
    assert isinstance(outcome, Failed)
    assert (codes, outcome.fault) == ([code], fault)


def test_untrusted_certificate(codes: list[int], tmp_path: Path) -> None:
    outcome = _visit(tmp_path, b"", scheme="https", tls=tls_server_context(*certificate(tmp_path)))
    assert isinstance(outcome, Failed)
    assert (codes, outcome.fault) == ([60], Fault.TLS)


@pytest.mark.parametrize(
    ("code", "fault", "reply"),
    [
        (92, Fault.PROTOCOL, SETTINGS + RESET_STREAM),
        (16, Fault.PROTOCOL, b"this is not a frame of HTTP/2 at all"),
        (16, Fault.PROTOCOL, SETTINGS),
    ],
)
def test_http2(code: int, fault: Fault, reply: bytes, codes: list[int], tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    context = tls_server_context(cert, key)
    context.set_alpn_protocols(["h2"])
    outcome = _visit(tmp_path, reply, scheme="https", tls=context, ca_file=str(cert))
    assert isinstance(outcome, Failed)
    assert (codes, outcome.fault) == ([code], fault)


def test_absent_certificates_are_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"fetch\.ca_file"):
        _visit(tmp_path, b"", ca_file=str(tmp_path / "absent.pem"))


def test_success_is_no_fault(codes: list[int], tmp_path: Path) -> None:
    outcome = _visit(tmp_path, OK + b"\r\nhi")
    assert isinstance(outcome, Fetched)
    assert codes == [0]


def test_every_network_code_of_libcurl_is_in_the_table() -> None:
    for name in dir(pycurl):
        if name.startswith("E_") and not name.removeprefix("E_").startswith(ELSEWHERE):
            assert getattr(pycurl, name) in FAULTS, name


def test_phrases_refine_and_the_unknown_has_a_place() -> None:
    for code, phrase, fault in PHRASES:
        assert fault_of(code, f"Some {phrase} here") is fault
        assert fault_of(code, "Something else") is FAULTS[code]
    assert fault_of(9999, "") is UNKNOWN
