"""A server that never lets libssh2 return, and the watch that ends it."""

import asyncio
import contextlib
import socket
import threading
from types import SimpleNamespace

import pytest
from fetch_servers import lease
from test_remote_files import files

from gossamer.fetch import stuck
from gossamer.fetch.stuck import StuckWatch
from gossamer.model.outcome import Failed, Fault


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(stuck, "LOOK_AFTER", 0.01)


def test_a_loop_that_is_held_up_is_freed_as_often_as_there_is_something_to_watch():
    freed = threading.Event()
    watch = StuckWatch(freed.set)

    async def run():
        for _ in range(2):
            freed.clear()
            with watch.watching(), watch.watching():
                assert freed.wait(30)
            assert watch._over.is_set()

    asyncio.run(run())


@pytest.mark.parametrize(("answers", "cuts"), [(True, 0), (False, 2)])
def test_who_gives_a_sign_of_life_is_left_alone(answers, cuts):
    looks, cut = iter([False] * (2 * stuck.MOST_SILENT + 1) + [True]), []
    loop = SimpleNamespace(call_soon_threadsafe=lambda sign: sign() if answers else None)
    over = SimpleNamespace(wait=lambda _: next(looks))
    StuckWatch(lambda: cut.append(1))._look(loop, over)
    assert len(cut) == cuts


def test_a_banner_without_end_does_not_hold_up_the_crawl(tmp_path):
    taken = []

    def flood(server):
        connection, _ = server.accept()
        taken.append(connection)
        with contextlib.suppress(OSError):
            while True:
                connection.sendall(b"not yet\r\n" * 10_000)

    async def visit(port):
        async with files(tmp_path) as module:
            return await module.fetch(lease(f"sftp://127.0.0.1:{port}/"))

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=flood, args=[server], daemon=True)
        thread.start()
        outcome = asyncio.run(visit(server.getsockname()[1]))
        with taken[0] as connection, contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert isinstance(outcome, Failed) and outcome.fault is Fault.PROTOCOL
