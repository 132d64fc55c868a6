"""The simulated web in a process of its own, its visit log, its name server, its command line."""

import asyncio
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import PATIENCE
from simweb_client import get, query, request, talk

from gossamer.simweb import CrawlRules, Hosting, SimulatedWeb, WorldSpec, truth
from gossamer.simweb.__main__ import main
from gossamer.simweb.servers.names import NameService
from gossamer.simweb.world.world import World

HOSTILE = World(WorldSpec.hostile())
TINY = WorldSpec(hosts=2, pages=4)


def fetch(port: int, host: str, target: str) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request(host, target, "Connection: close", "User-Agent: t/1"))
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


# A process of its own …


def test_serves_in_a_process_of_its_own_and_ends() -> None:
    with SimulatedWeb(TINY) as web:
        pid = web.pid
        assert pid != os.getpid()
        assert web.seeds == [f"http://h0.sim.test:{web.http_port}/"]
        before = time.monotonic()
        answer = fetch(web.http_port, "h0.sim.test", "/")
        world = World(TINY, web.http_port)
        assert answer.endswith(world.find("h0.sim.test", "/").body())
        (visit,) = web.log()
        assert (visit.host, visit.target, visit.status, visit.sent) == ("h0.sim.test", "/", 200, len(answer))
        assert before <= visit.started <= visit.ended <= time.monotonic()
        assert (visit.open, visit.whole, visit.fields["user-agent"]) == (1, True, "t/1")
        host, _, port = web.nameserver.partition(":")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            asker.settimeout(10)
            asker.sendto(query("h1.sim.test"), (host, int(port)))
            assert asker.recv(512).endswith(socket.inet_aton("127.0.0.1"))
        assert [(q.name, q.kind, q.transport) for q in web.questions()] == [("h1.sim.test", "A", "udp")]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(ConnectionRefusedError):
        fetch(web.http_port, "h0.sim.test", "/")


def test_two_worlds_live_side_by_side_on_given_ports() -> None:
    with SimulatedWeb(TINY, log=False) as one, SimulatedWeb(TINY, log=False) as two:
        assert one.http_port != two.http_port
        assert one.log() == []
    with SimulatedWeb(TINY, http_port=one.http_port) as again:
        assert again.http_port == one.http_port


def test_a_taken_port_is_told() -> None:
    with SimulatedWeb(TINY) as one, pytest.raises(RuntimeError, match="did not start"):
        SimulatedWeb(TINY, http_port=one.http_port).start()


def test_the_command_line_serves_until_interrupted() -> None:
    command = [sys.executable, "-m", "gossamer.simweb", "--preset", "plain", "--hosts", "2", "--pages", "4"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("nameserver 127.0.0.1:")
        seeds = process.stdout.readline().split()
        assert len(seeds) == 3
        port = int(seeds[1].rstrip("/").rpartition(":")[2])
        assert fetch(port, "h1.sim.test", "/").startswith(b"HTTP/1.1 200 OK")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("arguments", [["--hosts", "0"], ["--spec", "/nowhere"]])
def test_the_command_line_refuses_impossible_worlds(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("gossamer.simweb: ")


# The visit log …


def test_visits_at_once_are_counted_by_host(tmp_path: Path) -> None:
    async def test() -> None:
        spec = WorldSpec.hostile("slow-host", slow_seconds=0.2)
        async with Hosting(spec, log=tmp_path / "log") as web:
            slow = (get(web, "slow-host.sim.test", "/bad") for _ in range(3))
            await asyncio.gather(*slow, get(web, "h0.sim.test", "/"))
            visits = web.log()
            assert sorted(v.open for v in visits if v.host == "slow-host.sim.test") == [1, 2, 3]
            assert [v.open for v in visits if v.host == "h0.sim.test"] == [1]
            assert all(v.ended - v.started >= 0.2 for v in visits if v.host != "h0.sim.test")

    asyncio.run(test())


def test_a_visit_ends_when_the_kernel_has_its_last_byte(tmp_path: Path) -> None:
    async def test() -> None:
        async with Hosting(WorldSpec.hostile("big-body"), log=tmp_path / "log") as web:
            reader, writer = await asyncio.open_connection("127.0.0.1", web.http_port)
            writer.write(request("big-body.sim.test", "/bad"))
            await reader.readexactly(1_000_000)
            assert web.log() == []
            writer.transport.abort()
            while not web.log():  # noqa: ASYNC110 - a file has no event
                await asyncio.sleep(0.01)
            (visit,) = web.log()
            assert not visit.whole
            assert 1_000_000 <= visit.sent < 100_000_000

    asyncio.run(test())


def test_a_large_page_to_a_slow_reader_is_whole(tmp_path: Path) -> None:
    async def test() -> None:
        spec = WorldSpec(hosts=1, pages=1, page_bytes=20_000_000)
        async with Hosting(spec, log=tmp_path / "log") as web:
            heard = await talk(
                web.http_port, request("h0.sim.test", "/", "Connection: close"), quiet=5, limit=1 << 30
            )
            assert heard.end == "closed"
            (visit,) = web.log()
            assert (visit.whole, visit.sent) == (True, len(heard.data))

    asyncio.run(test())


def test_a_whole_friendly_world_answers_as_its_truth_says(tmp_path: Path) -> None:
    spec = WorldSpec.friendly(pages=150, slow_seconds=0.01)

    async def test() -> None:
        async with Hosting(spec, log=tmp_path / "log") as web:
            found = truth(spec, web.seeds, CrawlRules(scope="any"))
            for url, status in (*found.robots.items(), *found.fetched.items()):
                place = web.world.atlas.place(url)
                heard = await get(web, *place)
                while heard.status in (429, 503):
                    heard = await get(web, *place)
                final = (
                    heard.data.rpartition(b"HTTP/1.")[2]
                    if b" 103 " in heard.head + heard.body[:200]
                    else heard.data[7:]
                )
                assert int(final[2:5]) == status, url

    asyncio.run(test())


def test_hosts_can_be_spread_over_addresses() -> None:
    async def test() -> None:
        async with Hosting(WorldSpec(hosts=40, pages=40, addresses=3)) as web:
            used = {web.world.atlas.naming(f"h{n}.sim.test").addresses[0] for n in range(40)}
            assert used == {"127.0.0.1", "127.0.1.1", "127.0.2.1"}
            for address in used:
                heard = await talk(web.http_port, request("h0.sim.test", "/"), address=address)
                assert heard.status == 200

    asyncio.run(test())


# Names …


class Asked:
    """An answer, taken apart as far as the tests need."""

    def __init__(self, raw: bytes) -> None:
        self.id, self.flags, self.questions, self.answers = struct.unpack_from("!HHHH", raw)
        self.code = self.flags & 15
        self.truncated = bool(self.flags & 0x200)
        self.raw = raw


def ask(
    name: str, kind: int = 1, transport: str = "udp", edns: int = 0, service: NameService | None = None
) -> Asked | None:
    service = service or NameService(HOSTILE, None)
    answer = service.answer(query(name, kind, edns=edns), transport)
    return Asked(answer[0]) if answer else None


def test_names_of_the_world_resolve_and_others_do_not() -> None:
    good = ask("h0.sim.test")
    assert good is not None
    assert (good.id, good.code, good.answers) == (0x1234, 0, 1)
    assert good.raw.endswith(b"\0\x04\x7f\0\0\1")
    upper = ask("H0.Sim.TEST")
    assert upper is not None
    assert upper.answers == 1
    assert b"\x02H0\x03Sim\x04TEST\0" in upper.raw  # the question comes back byte by byte
    for stranger in ("h1.sim.test", "example.org", "sim.test", "x.h0.sim.test", "h00.sim.test"):
        answer = ask(stranger)
        assert answer is not None
        assert (answer.code, answer.answers) == (3, 0), stranger
    v6 = ask("h0.sim.test", 28)
    assert v6 is not None
    assert (v6.code, v6.answers) == (0, 0)


@pytest.mark.parametrize(
    ("label", "code"), [("nxdomain", 3), ("servfail", 2), ("refused", 5), ("no-data", 0)]
)
def test_names_that_fail(label: str, code: int) -> None:
    answer = ask(f"dns-{label}.sim.test")
    assert answer is not None
    assert (answer.code, answer.answers) == (code, 0)


def test_odd_names() -> None:
    assert ask("dns-silent.sim.test") is None
    chain = ask("dns-cname.sim.test")
    assert chain is not None
    assert chain.answers == 4
    loop = ask("dns-cname-loop.sim.test")
    assert loop is not None
    assert loop.answers == 2
    v6 = ask("dns-v6.sim.test", 28)
    assert v6 is not None
    assert v6.raw.endswith(bytes(15) + b"\1")
    service = NameService(HOSTILE, None)
    assert ask("dns-lossy.sim.test", service=service) is None
    assert ask("dns-lossy.sim.test", service=service) is not None
    assert service.answer(query("dns-slow.sim.test"), "udp") is not None
    assert service.answer(query("dns-slow.sim.test"), "udp")[1] == 0.3  # type: ignore[index]


def test_truncation() -> None:
    for name in ("dns-truncated.sim.test", "dns-many.sim.test"):
        cut, whole = ask(name), ask(name, transport="tcp")
        assert cut is not None
        assert whole is not None
        assert cut.truncated
        assert cut.answers == 0
        assert not whole.truncated
        assert whole.answers >= 1
    roomy = ask("dns-many.sim.test", edns=8_192)
    assert roomy is not None
    assert (roomy.truncated, roomy.answers) == (False, 61)


@pytest.mark.parametrize(
    "junk", [b"", b"\0" * 11, b"\0" * 12, query("h0.sim.test")[:20], b"\x12\x34\x80" + bytes(20)]
)
def test_junk_for_questions_is_harmless(junk: bytes) -> None:
    answer = NameService(World(TINY), None).answer(junk, "udp")
    assert answer is None or answer[0][3] & 15 == 1


def test_names_over_tcp() -> None:
    async def test() -> None:
        async with Hosting(TINY) as web:
            reader, writer = await asyncio.open_connection("127.0.0.1", web.dns_port)
            asked = query("h0.sim.test")
            writer.write((struct.pack("!H", len(asked)) + asked) * 2)
            for _ in range(2):
                (length,) = struct.unpack("!H", await reader.readexactly(2))
                assert (await reader.readexactly(length)).endswith(b"\x7f\0\0\1")
            writer.close()
            await writer.wait_closed()

    asyncio.run(test())


def test_names_stay_the_same_and_are_spread() -> None:
    world = World(WorldSpec(hosts=50, pages=50, addresses=4))
    namings = [world.naming(f"h{n}.sim.test") for n in range(50)]
    assert namings == [World(world.spec).naming(f"h{n}.sim.test") for n in range(50)]
    assert len({naming.addresses for naming in namings if naming}) == 4


def test_a_spec_survives_its_json() -> None:
    for spec in (WorldSpec.friendly(), WorldSpec.plain(), WorldSpec.hostile("gzip"), WorldSpec.wide(1_000)):
        assert WorldSpec.from_json(spec.to_json()) == spec
        assert json.loads(spec.to_json())["seed"] == 1
