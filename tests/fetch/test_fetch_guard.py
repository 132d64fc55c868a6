"""No link leads into networks where links may not lead, however the address is written."""

import asyncio
import ipaddress
from pathlib import Path

import pytest
from fetch_servers import OK, WITHOUT_LOOPBACK, StaticResolver, failed, fetched, fetching, lease, serving
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard, embedded, parse_address
from gossamer.fetch.http import HttpModule
from gossamer.model.outcome import Failed, Fault

FORBIDDEN = [
    "127.0.0.1", "127.255.255.255", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "100.64.0.1", "100.127.255.255", "169.254.169.254", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "192.0.2.1", "198.18.0.1",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "fec0::1",
    "::ffff:127.0.0.1", "[::ffff:127.0.0.1]", "::ffff:7f00:1", "::127.0.0.1", "::ffff:0:10.0.0.1",
    "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1",
    "2001:0:1::1", "2a00:1450::5efe:10.0.0.1", "2a00:1450::200:5efe:192.168.0.1",
    "0x7f.1", "2130706433", "0177.0.0.1", "127.1", "0x7f000001", "10.1",
    "", "localhost", "example.org", "1.2.3.4.5", "999.1.1.1", "12 34", "1.1.1.1 x", "\u0661.1.1.1", ":::",
]  # fmt: skip

ALLOWED = [
    "93.184.215.14", "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0", "11.0.0.0",
    "223.255.255.255", "2606:4700::1111", "[2606:4700::1111]", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1",
    "2002:101:101::1", "2a00:1450::5efe:1.1.1.1",
]  # fmt: skip


@pytest.mark.parametrize("address", FORBIDDEN)
def test_forbidden(address: str) -> None:
    guard = AddressGuard(FetchConfig())
    assert not guard.allows("public.example", address)
    assert not guard.allows("public.example", address), "the remembered verdict differs"


@pytest.mark.parametrize("address", ALLOWED)
def test_allowed(address: str) -> None:
    assert AddressGuard(FetchConfig()).allows("public.example", address)


@given(st.ip_addresses(v=4))
def test_ipv4_agrees_with_the_registry(address: ipaddress.IPv4Address) -> None:
    allowed = AddressGuard(FetchConfig()).allows("h.example", str(address))
    if allowed:
        assert address.is_global and not address.is_multicast


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:{}", "::{}", "64:ff9b::{}", "::ffff:0:{}"]))
def test_carried_addresses_are_judged(carried: ipaddress.IPv4Address, form: str) -> None:
    guard = AddressGuard(FetchConfig())
    if not guard.allows("h.example", str(carried)):
        assert not guard.allows("h.example", form.format(carried))


@given(st.text())
def test_anything_that_is_no_address_is_forbidden(text: str) -> None:
    if parse_address(text) is None:
        assert not AddressGuard(FetchConfig()).allows("h.example", text)


@given(st.ip_addresses(v=6))
def test_embedded_never_raises(address: ipaddress.IPv6Address) -> None:
    assert len(embedded(address)) <= 3


def test_a_seed_inside_allows_its_own_host_only() -> None:
    guard = AddressGuard(FetchConfig())
    guard.allow_host("Intranet.example.")
    guard.allow_host("127.0.0.1")
    guard.allow_host("[::1]")
    assert guard.admit("intranet.example", ["10.0.0.1"]) == ["10.0.0.1"]
    assert guard.allows("intranet.example", "10.0.0.2")
    assert guard.allows("127.0.0.1", "127.0.0.1")
    assert guard.allows("[::1]", "::1")
    assert guard.admit("other.example", ["10.0.0.1"]) == []
    assert not guard.allows("127.0.0.2", "127.0.0.2")


def test_a_seed_outside_cannot_be_turned_inwards() -> None:
    guard = AddressGuard(FetchConfig())
    guard.allow_host("public.example")
    assert guard.admit("public.example", ["1.1.1.1", "10.0.0.1"]) == ["1.1.1.1"]
    assert guard.admit("public.example", ["10.0.0.1"]) == []


def test_an_empty_answer_decides_nothing() -> None:
    guard = AddressGuard(FetchConfig())
    guard.allow_host("intranet.example")
    assert guard.admit("intranet.example", []) == []
    assert guard.admit("intranet.example", ["10.0.0.1"]) == ["10.0.0.1"]


def test_allow_private_allows_all() -> None:
    assert AddressGuard(FetchConfig(allow_private=True)).allows("h.example", "127.0.0.1")


def test_the_table_is_configuration() -> None:
    guard = AddressGuard(FetchConfig(forbidden_networks=("127.0.9.0/24",)))
    assert guard.allows("h.example", "127.0.0.1")
    assert not guard.allows("h.example", "127.0.9.1")
    with pytest.raises(ValueError, match="forbidden_networks"):
        FetchConfig(forbidden_networks=("127.0.0.1/8",))


def test_verdicts_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.fetch.guard._MAX_VERDICTS", 10)
    guard = AddressGuard(FetchConfig())
    for number in range(100):
        assert guard.allows("h.example", f"1.1.1.{number}")
    assert len(guard._verdicts) <= 10


def test_a_name_that_leads_inside_is_not_visited(tmp_path: Path) -> None:
    async def main() -> None:
        table = {"rebind.example": ("127.0.0.1",), "mixed.example": ("10.0.0.1", "127.0.0.1")}
        async with serving(OK + b"\r\n") as server:
            async with fetching(tmp_path, table=table, allow_private=False) as module:
                for host in ("rebind.example", "mixed.example", "127.0.0.1"):
                    assert (await failed(module, server.url("/", host))).fault is Fault.ADDRESS_FORBIDDEN
                assert server.connections == 0
            # Where loopback stands for the public web, only the private address is left out.
            async with fetching(
                tmp_path, table=table, allow_private=False, forbidden_networks=WITHOUT_LOOPBACK
            ) as module:
                assert (await fetched(module, server.url("/", "mixed.example"))).address == "127.0.0.1"

    asyncio.run(main())


def test_the_socket_is_guarded_too(tmp_path: Path) -> None:
    """Whatever slips past the first look (here: a guard that admits all) is refused a socket."""

    class Blind(AddressGuard):
        def admit(self, host: str, addresses: object) -> list[str]:
            return list(addresses)  # type: ignore[call-overload]

    async def main() -> None:
        config = FetchConfig()
        module = HttpModule(
            config, StaticResolver({"rebind.example": ("127.0.0.1",)}), Blind(config), tmp_path
        )
        async with serving(OK + b"\r\n") as server:
            for host in ("rebind.example", "127.0.0.1"):
                outcome = await module.fetch(lease(server.url("/", host)))
                assert isinstance(outcome, Failed)
                assert (outcome.fault, outcome.detail) == (Fault.ADDRESS_FORBIDDEN, "127.0.0.1")
            assert server.connections == 0
        await module.close()

    asyncio.run(main())
