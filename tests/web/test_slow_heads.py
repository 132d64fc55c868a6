"""Connections that bring no whole head cost those who wait on them, and nobody else."""

import contextlib
import socket

import httpx
import loopback
import pytest
from live_service import live_service

from gossamer.web.security import connections

HALF = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"


@pytest.fixture
def service(tmp_path):
    with live_service(tmp_path / "d") as service:
        yield service


def connect(service, address="127.0.0.1"):
    connection = socket.create_connection(("127.0.0.1", service.port), 10, source_address=(address, 0))
    connection.settimeout(20)
    return connection


def rest_of(connection):
    """What comes until the other side has closed it."""
    told = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(4096):
            told += part
    return told


@pytest.mark.parametrize("said", [HALF, b""])
def test_hundreds_of_halves_of_a_head_block_nobody(service, said, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 100.0)
    with contextlib.ExitStack() as stack:
        first = [stack.enter_context(connect(service)) for _ in range(20)]
        for number in range(600):
            connection = stack.enter_context(connect(service, f"127.0.0.{2 + number % 3}"))
            with contextlib.suppress(ConnectionError):
                connection.sendall(said)
        # From another address, and from one of theirs.
        for address in ("127.0.0.9", "127.0.0.2"):
            with connect(service, address) as other:
                other.sendall(WHOLE % service.port)
                assert other.recv(4096).startswith(b"HTTP/1.1 200 ")
        assert loopback.get(f"{service.url}/healthz").text == "ok\n"
        first[0].sendall(WHOLE % service.port)
        assert first[0].recv(4096).startswith(b"HTTP/1.1 200 ")


def test_a_head_must_be_whole_in_time(service, monkeypatch):
    with connect(service) as further:
        further.sendall(WHOLE % service.port)
        assert further.recv(4096).startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
        with connect(service) as half, connect(service) as silent:
            for connection in (half, further):
                with contextlib.suppress(ConnectionError):
                    connection.sendall(HALF)
            assert rest_of(half) == rest_of(silent) == b""
            assert b"HTTP/1.1 200" not in rest_of(further)
    monkeypatch.undo()  # whoever says all of it is heard, if a busy machine gives him the time
    assert loopback.get(f"{service.url}/healthz").text == "ok\n"


def test_a_slow_answer_is_not_cut(service, monkeypatch):
    """The time is for heads alone: streams of events last as long as they like."""
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    with contextlib.ExitStack() as stack:
        answer = None
        while answer is None:  # it has the time only for whoever is not kept from speaking himself
            with contextlib.suppress(httpx.TransportError):
                answer = stack.enter_context(loopback.stream("GET", f"{service.url}/api/v1/events"))
        assert answer.status_code == 200
        silent = stack.enter_context(connect(service))
        assert rest_of(silent) == b"", "who came later has had his time"
        assert len(service.app.state.streams) == 1


def test_keep_alive_and_pipelines_go_on(service):
    with connect(service) as connection:
        connection.sendall(WHOLE % service.port * 3)
        told = b""
        while told.count(b"ok\n") < 3:
            told += connection.recv(4096)
        connection.sendall((WHOLE % service.port)[:10])
        connection.sendall((WHOLE % service.port)[10:])
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
