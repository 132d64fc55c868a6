"""Name servers that others wrote, unbound and dnsmasq, on loopback: before our resolver, and asking our service."""

import asyncio
import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fetch_servers import certificate
from free_ports import free_port
from loopback_names import NXDOMAIN, A, Query, a, loopback_names, respond
from msgspec import structs
from patience import PATIENCE
from resolving import config_for

from gossamer.dns.cache import PlainCache
from gossamer.dns.config import DnsConfig
from gossamer.dns.resolver import CaresResolver
from gossamer.dns.serving.name_service import NameService
from gossamer.dns.serving.sockets import serving
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.names_by_https import NamesByHttps
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault
from gossamer.simweb import Hosting, Speech, WorldSpec
from gossamer.simweb.world.dice import fingerprint

START_SECONDS = 20.0
_QUESTION = b"\x12\x34\x01\0\0\1\0\0\0\0\0\0\x05ready\x05check\0\0\1\0\1"

ZONE = """$ORIGIN z.test.
@ 300 IN SOA ns.z.test. root.z.test. 1 3600 600 86400 300
@ 300 IN NS ns.z.test.
ns 300 IN A 127.0.0.1
plain 300 IN A 192.0.2.1
plain 200 IN AAAA 2001:db8::1
six 400 IN AAAA 2001:db8::6
text 400 IN TXT "no address here"
short 0 IN A 192.0.2.2
long 2000000 IN A 192.0.2.3
one 900 IN CNAME two
two 120 IN CNAME three
three 600 IN A 192.0.2.4
dangling 300 IN CNAME nowhere
ring 300 IN CNAME rong
rong 300 IN CNAME ring
xn--bcher-kva 300 IN A 192.0.2.5
{medium}
{large}
"""

UNBOUND = """server:
  interface: 127.0.0.1@{port}
  interface: 127.0.0.1@{https}
  port: {port}
  https-port: {https}
  tls-service-pem: "{folder}/cert.pem"
  tls-service-key: "{folder}/key.pem"
  do-daemonize: no
  username: ""
  chroot: ""
  directory: "{folder}"
  pidfile: ""
  use-syslog: no
  logfile: ""
  num-threads: 1
  module-config: "iterator"
  do-not-query-localhost: no
  outbound-msg-retry: 1
  local-zone: "test." nodefault
  local-zone: "refused.test." refuse
  local-zone: "deny.test." deny
  local-zone: "check." static
auth-zone:
  name: "z.test."
  zonefile: "{folder}/zone"
  for-downstream: yes
forward-zone:
  name: "broken.test."
  forward-addr: 127.0.0.1@{dead}
remote-control:
  control-enable: no
"""


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed; on Debian: apt-get install unbound dnsmasq-base")
    return found


@contextlib.contextmanager
def running(command: list[str], port: int, log: Path) -> Iterator[str]:
    """A server that answers on `port`, until the end of the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        wait_for(process, port, log)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    with socket.socket(type=socket.SOCK_DGRAM) as asking:
        asking.settimeout(0.1)
        asking.connect(("127.0.0.1", port))
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError):
                asking.send(_QUESTION)
                if asking.recv(512):
                    return
    raise AssertionError(f"{process.args} does not answer:\n{log.read_text()}")


@pytest.fixture(scope="module")
def both_ways(tmp_path_factory) -> Iterator[dict[str, str]]:
    """One server that is asked by UDP and over HTTPS."""
    path = program("unbound")
    folder = tmp_path_factory.mktemp("unbound")
    port, https = free_port(), free_port()
    cert, _ = certificate(folder)
    medium = "\n".join(f"medium 300 IN A 10.0.0.{n}" for n in range(60))  # 1,000 bytes
    large = "\n".join(f"large 300 IN A 10.{n >> 8}.{n & 255}.1" for n in range(3_000))  # 48,000 bytes
    (folder / "zone").write_text(ZONE.format(medium=medium, large=large))
    config = folder / "unbound.conf"
    config.write_text(UNBOUND.format(port=port, https=https, folder=folder, dead=free_port()))
    with running([path, "-d", "-c", str(config)], port, folder / "log") as server:
        yield {"udp": server, "https": f"https://127.0.0.1:{https}/dns-query", "trusted": str(cert)}


@pytest.fixture(params=["udp", "https"])
def unbound(both_ways, request, monkeypatch) -> str:
    monkeypatch.setitem(TRUSTED, "ca_file", both_ways["trusted"])
    return both_ways[request.param]


TRUSTED: dict[str, str] = {}


def ask(server: str, *names: str, queries: int = 0, **settings) -> list[Answer]:
    """Resolve the names one after the other, with so many queries if that is said."""
    settings = {"first_wait": 10.0, "hosts_file": False, "failure_attempts": 1} | settings

    async def body() -> list[Answer]:
        carrier = NamesByHttps(FetchConfig(**TRUSTED))
        resolver = CaresResolver(
            DnsConfig(nameservers=(server,), **settings), PlainCache(100), carrier=carrier
        )
        try:
            return [await resolver.resolve(name) for name in names]
        finally:
            await resolver.close()
            assert queries in (0, resolver.statistics.queries)

    return asyncio.run(body())


def test_both_families(unbound):
    (answer,) = ask(unbound, "plain.z.test", queries=2)
    assert answer.addresses == ("192.0.2.1", "2001:db8::1")
    assert (answer.ttl, answer.server) == (200, "127.0.0.1")


def test_names_with_ipv6_only(unbound):
    (answer,) = ask(unbound, "six.z.test")
    assert (answer.addresses, answer.ttl) == (("2001:db8::6",), 400)


def test_internationalised_names(unbound):
    ascii_spelling, unicode_spelling = ask(unbound, "xn--bcher-kva.z.test", "Bücher.z.test.")
    assert ascii_spelling.addresses == unicode_spelling.addresses == ("192.0.2.5",)
    assert unicode_spelling.name == "xn--bcher-kva.z.test"


@pytest.mark.parametrize(
    ("name", "fault", "detail"),
    [
        ("none.z.test", Fault.NAME_NOT_FOUND, "NXDOMAIN"),
        ("text.z.test", Fault.NAME_NOT_FOUND, "no address"),
        ("x.broken.test", Fault.NAME_FAILED, "SERVFAIL"),
        ("x.refused.test", Fault.NAME_FAILED, "refused"),
    ],
)
def test_failures_are_kept_apart(unbound, name, fault, detail):
    (answer,) = ask(unbound, name)
    assert (answer.fault, answer.detail, answer.addresses) == (fault, detail, ())


def test_silence_is_a_time_out(both_ways):
    (answer,) = ask(both_ways["udp"], "x.deny.test", first_wait=0.05, attempts=2, ipv6=False, queries=2)
    assert (answer.fault, answer.detail) == (Fault.NAME_FAILED, "time-out")


def test_times_to_live_are_clamped(unbound):
    assert [answer.ttl for answer in ask(unbound, "short.z.test", "long.z.test")] == [60, 86_400]


def test_chains_of_aliases(unbound):
    chain, dangling, ring = ask(unbound, "one.z.test", "dangling.z.test", "ring.z.test")
    assert (chain.addresses, chain.ttl) == (("192.0.2.4",), 120)
    assert dangling.fault is Fault.NAME_NOT_FOUND
    assert ring.fault is not None
    assert ring.addresses == ()


def test_edns_spares_the_way_over_tcp(unbound):
    (answer,) = ask(unbound, "medium.z.test", ipv6=False, queries=1, max_addresses=256)
    assert len(answer.addresses) == 60


def test_what_is_truncated_comes_over_tcp_and_is_cut(unbound):
    (answer,) = ask(unbound, "large.z.test", ipv6=False, queries=1 if "https" in unbound else 2)
    assert len(answer.addresses) == 16


def dnsmasq(port: int, upstream: str) -> list[str]:
    """The command of one that asks `upstream`."""
    return [
        program("dnsmasq"), "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
        f"--port={port}", "--listen-address=127.0.0.1", "--bind-interfaces", "--pid-file=",
        f"--server={upstream.replace(':', '#')}", "--local=/check/", "--log-facility=-",
        "--user=", "--max-ttl=3600", "--edns-packet-max=1232",
    ]  # fmt: skip


def behind_dnsmasq(spec: WorldSpec, folder: Path, body, **settings) -> None:
    """Run `body(resolver, web)` with dnsmasq as a forwarder between the resolver and the simulated web."""
    program("dnsmasq")

    async def whole() -> None:
        async with asyncio.timeout(PATIENCE), Hosting(spec, log=folder / "log") as web:
            port = free_port()
            command = dnsmasq(port, web.nameserver)
            with running(command, port, folder / "dnsmasq.log") as server:
                config = DnsConfig(nameservers=(server,), hosts_file=False, **settings)
                resolver = CaresResolver(config, PlainCache(1_000))
                try:
                    await body(resolver, web)
                finally:
                    await resolver.close()

    asyncio.run(whole())


def test_a_forwarder_before_a_slow_server_that_loses_questions(tmp_path):
    """Dnsmasq asks again when we do, unless that is within two seconds from another port."""
    names = [f"h{n}.sim.test" for n in range(40)]
    spec = WorldSpec.plain(hosts=40, pages=40, name_delay=0.05, name_loss=0.05)
    # With this seed some of the first 40 are lost, but none of the next.
    spec = replace(
        spec, seed=next(seed for seed in range(1_000) if lost(seed, 40, 90) == 0 < lost(seed, 0, 40))
    )

    async def body(resolver: CaresResolver, web: Hosting) -> None:
        answers = await asyncio.gather(*map(resolver.resolve, names))
        assert {answer.addresses for answer in answers} == {("127.0.0.1",)}
        unanswered = sum(not question.answered for question in web.questions())
        assert unanswered == lost(spec.seed, 0, 40)
        assert len(web.questions()) == 40 + unanswered

    behind_dnsmasq(spec, tmp_path, body, first_wait=1.0, ipv6=False)


def lost(seed: int, first: int, last: int) -> int:
    """How many of the name server's questions number `first` to `last - 1` get no answer."""
    return sum(fingerprint(seed, "loss", number) < 0.05 * 2**64 for number in range(first, last))


@pytest.mark.parametrize(
    ("speech", "detail"),
    [
        (Speech.NXDOMAIN, "NXDOMAIN"),
        (Speech.SERVFAIL, "SERVFAIL"),
        (Speech.REFUSED, "refused"),
        (Speech.TRUNCATED, ""),
        (Speech.WRONG_ID, ""),
        (Speech.WRONG_QUESTION, ""),
        (Speech.STRANGERS, ""),
        (Speech.CROWD, ""),
    ],
)
def test_a_forwarder_before_a_server_that_misbehaves(tmp_path, speech, detail):
    async def body(resolver: CaresResolver, web: Hosting) -> None:
        answer = await resolver.resolve("h0.sim.test")
        assert answer.detail == detail
        if not detail:
            assert answer.addresses[0] == "127.0.0.1"
            assert len(answer.addresses) <= 16
        assert "127.99.99.99" not in answer.addresses

    spec = WorldSpec.plain(hosts=2, pages=2, name_speech=speech)
    # Once is enough for a failure to be told; what resolves may need a second time on a busy machine.
    behind_dnsmasq(spec, tmp_path, body, first_wait=5.0, failure_attempts=1 if detail else 2, ipv6=False)


FORWARDING = """server:
  interface: 127.0.0.1@{port}
  port: {port}
  do-daemonize: no
  username: ""
  chroot: ""
  directory: "{folder}"
  pidfile: ""
  use-syslog: no
  logfile: ""
  num-threads: 1
  module-config: "iterator"
  do-not-query-localhost: no
  local-zone: "test." nodefault
  local-zone: "check." static
  tcp-upstream: {tcp}
forward-zone:
  name: "."
  forward-addr: {upstream}
remote-control:
  control-enable: no
"""


def forwarding(front: str, port: int, upstream: str, folder: Path) -> list[str]:
    """The command of a forwarder that asks `upstream`, which is ours."""
    if front == "dnsmasq":
        return dnsmasq(port, upstream)
    config = folder / "unbound.conf"
    tcp = "yes" if front == "unbound over TCP" else "no"
    config.write_text(
        FORWARDING.format(port=port, folder=folder, tcp=tcp, upstream=upstream.replace(":", "@"))
    )
    return [program("unbound"), "-d", "-c", str(config)]


def behind_tcp(query: Query) -> bytes:
    """200 addresses of each name but `none.test`: more than a datagram holds."""
    if query.name == "none.test":
        return respond(query, rcode=NXDOMAIN)
    if query.transport == "udp":
        return respond(query, truncated=True)
    return respond(query, a(query.name, *(f"192.0.2.{n}" for n in range(200))) if query.kind == A else ())


@pytest.mark.parametrize("front", ["dnsmasq", "unbound", "unbound over TCP"])
def test_forwarders_ask_our_own_service(tmp_path, front):
    names = [f"h{n}.test" for n in range(10)]

    async def whole() -> None:
        async with asyncio.timeout(PATIENCE), loopback_names(behind_tcp) as upstream:
            ours = config_for(upstream, max_addresses=200)
            service = NameService(ours, PlainCache(1_000))
            async with serving(service, "127.0.0.1", free_port()) as at:
                port = free_port()
                command = forwarding(front, port, f"127.0.0.1:{at}", tmp_path)
                with running(command, port, tmp_path / "front.log") as server:
                    theirs = structs.replace(ours, nameservers=(server,), ipv6=False, failure_attempts=3)
                    resolver = CaresResolver(theirs, PlainCache(1_000))
                    answers = await asyncio.gather(*map(resolver.resolve, [*names, "none.test"]))
                    await resolver.close()
            assert [len(answer.addresses) for answer in answers] == [200] * 10 + [0]
            assert (answers[-1].fault, answers[-1].detail) == (Fault.NAME_NOT_FOUND, "NXDOMAIN")
            assert {query.name for query in upstream.queries} == {*names, "none.test"}

    asyncio.run(whole())
