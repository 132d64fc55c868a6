"""The simulated name server: delay, loss, silence and lies, as the world says or the test of the moment."""

import asyncio
import struct
import time
from collections import Counter
from pathlib import Path

import pytest
from simweb_client import query

from gossamer.simweb import Hosting, SimulatedWeb, Speech, WorldSpec
from gossamer.simweb.servers.names import NameService, Said
from gossamer.simweb.world.world import World

HOST = "h0.sim.test"


def service(control: Path | None = None, **spec) -> NameService:
    return NameService(World(WorldSpec.plain(hosts=5, pages=5, **spec)), None, control)


def answers(message: bytes) -> int:
    return struct.unpack_from("!H", message, 6)[0]


def code(said: Said | None) -> int | None:
    return None if said is None else said.message[3] & 15


def test_delay():
    said = service(name_delay=0.3).answer(query(HOST), "udp")
    assert said is not None
    assert said.delay == 0.3
    unknown = service(name_delay=0.3).answer(query("nobody.test"), "tcp")
    assert unknown is not None
    assert unknown.delay == 0.3


def test_loss_is_a_matter_of_seed_and_number():
    def fates(seed: int) -> list[bool]:
        asked = service(seed=seed, name_loss=0.2)
        return [asked.answer(query(f"h{n % 5}.sim.test"), "udp") is None for n in range(1_000)]

    first = fates(7)
    assert first == fates(7)
    assert first != fates(8)
    assert 150 < sum(first) < 250


def test_time_to_live():
    said = service(name_ttl=5).answer(query(HOST), "udp")
    assert said is not None
    assert struct.unpack_from("!I", said.message, len(said.message) - 10)[0] == 5


def test_names_on_one_backend_lead_to_it_and_each_question_gets_another_address():
    asked = service(addresses=3, backends=1)
    said = [asked.answer(query(f"h{n % 5}.sim.test"), "udp") for n in range(6)]
    assert [answers(each.message) for each in said if each is not None] == [2] * 6
    assert all(b"\x08backend0" in each.message for each in said if each is not None)
    assert [each.message[-4:] for each in said if each is not None] == [
        bytes((127, 0, n % 3, 1)) for n in range(6)
    ]
    with pytest.raises(ValueError, match="backends"):
        WorldSpec(backends=-1)


@pytest.mark.parametrize(
    ("speech", "expected"),
    [
        (Speech.SERVFAIL, 2),
        (Speech.NXDOMAIN, 3),
        (Speech.REFUSED, 5),
        (Speech.SILENT, None),
        (Speech.ANSWER, 0),
    ],
)
def test_all_names_are_treated_alike(speech, expected):
    assert code(service(name_speech=speech).answer(query(HOST), "udp")) == expected


def test_lies_come_before_the_answer():
    for speech, at in ((Speech.WRONG_ID, 0), (Speech.WRONG_QUESTION, 13)):
        said = service(name_speech=speech).answer(query(HOST), "udp")
        assert said is not None
        assert said.message[:2] == b"\x12\x34"
        assert said.message.endswith(b"\x7f\0\0\1")
        assert said.lie.endswith(b"\x7f\x63\x63\x63")
        assert [n for n in range(28) if said.lie[n] != said.message[n]] == [at]
        assert code(service(name_speech=speech).answer(query("nobody.test"), "udp")) == 3


def test_strangers_loops_and_crowds():
    strangers = service(name_speech=Speech.STRANGERS).answer(query(HOST), "udp")
    assert strangers is not None
    assert answers(strangers.message) == 4
    assert strangers.message.count(b"\x7f\x63\x63\x63") == 3
    loop = service(name_speech=Speech.LOOP).answer(query(HOST), "udp")
    assert loop is not None
    assert answers(loop.message) == 2
    crowd = service(name_speech=Speech.CROWD)
    assert answers(crowd.answer(query(HOST), "udp").message) == 0
    whole = crowd.answer(query(HOST), "tcp").message
    assert answers(whole) == 4_001
    assert len(whole) < 65_536


def test_an_outage_counts_from_the_first_question(monkeypatch):
    clock = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    asked = service(name_outage=(10.0, 60.0))
    for seconds, expected in ((0, 0), (9, 0), (10, None), (69, None), (70, 0)):
        clock[0] = 1_000.0 + seconds
        assert code(asked.answer(query(HOST), "udp")) == expected, seconds


def test_a_spec_that_cannot_be():
    for changes in ({"name_loss": 2}, {"name_delay": -1}, {"name_outage": (1,)}, {"name_speech": "shout"}):
        with pytest.raises(ValueError):
            WorldSpec.plain(**changes)
    spec = WorldSpec.plain(name_outage=(1.0, 2.0), name_speech=Speech.CROWD)
    assert WorldSpec.from_json(spec.to_json()) == spec


def test_the_control_file_goes_first(tmp_path):
    control = tmp_path / "names"
    asked = service(control, name_speech=Speech.SERVFAIL)
    assert code(asked.answer(query(HOST), "udp")) == 2
    control.write_text("silent")
    assert asked.answer(query(HOST), "udp") is None
    control.write_text("answer")
    assert code(asked.answer(query(HOST), "udp")) == 0
    control.unlink()
    assert code(asked.answer(query(HOST), "udp")) == 2


async def heard(server: str, name: str, seconds: float) -> bytes | None:
    """The first datagram that comes back within the time."""
    host, _, port = server.partition(":")
    loop = asyncio.get_running_loop()
    received: asyncio.Future[bytes] = loop.create_future()

    class Asking(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
            if not received.done():
                received.set_result(data)

    transport, _ = await loop.create_datagram_endpoint(Asking, remote_addr=(host, int(port)))
    try:
        transport.sendto(query(name))
        return await asyncio.wait_for(received, seconds)
    except TimeoutError:
        return None
    finally:
        transport.close()


def test_a_web_that_falls_silent_and_returns():
    with SimulatedWeb(WorldSpec.plain(hosts=2, pages=2)) as web:
        assert asyncio.run(heard(web.nameserver, HOST, 5.0)) is not None
        web.treat_names(Speech.SILENT)
        assert asyncio.run(heard(web.nameserver, HOST, 0.1)) is None
        web.treat_names(None)
        assert asyncio.run(heard(web.nameserver, HOST, 5.0)) is not None
        questions = web.questions()
        assert [question.answered for question in questions] == [True, False, True]
        assert Counter((question.name, question.kind) for question in questions) == {(HOST, "A"): 3}


def test_answers_over_tcp_are_delayed_too():
    async def test() -> None:
        async with Hosting(WorldSpec.plain(hosts=1, pages=1, name_delay=0.1)) as web:
            reader, writer = await asyncio.open_connection("127.0.0.1", web.dns_port)
            before = time.monotonic()
            asked = query(HOST)
            writer.write(struct.pack("!H", len(asked)) + asked)
            length = struct.unpack("!H", await reader.readexactly(2))[0]
            assert answers(await reader.readexactly(length)) == 1
            assert time.monotonic() - before >= 0.09
            writer.transport.abort()
            await asyncio.sleep(0)

    asyncio.run(test())
