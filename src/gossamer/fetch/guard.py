"""The address guard: says whether we may connect to an address.

A name that anyone can put into a link may lead anywhere, also into the operator's own network. So
every address is judged twice: in the resolver's answer, and again when a socket is opened for it.
IPv6 addresses that carry an IPv4 address are judged by both. With a proxy only our own answer can
be judged: what the proxy connects to is its business.
"""

import ipaddress
import socket
from collections.abc import Iterable, Sequence

from gossamer.fetch.config import FetchConfig
from gossamer.ports import AddressRule

_MAX_VERDICTS = 20_000

_EMBEDDED_LOW = (
    ipaddress.IPv6Network("::ffff:0:0/96"),  # mapped (RFC 4291 2.5.5.2)
    ipaddress.IPv6Network("::/96"),  # compatible (RFC 4291 2.5.5.1)
    ipaddress.IPv6Network("::ffff:0:0:0/96"),  # translated (RFC 2765 2.1)
    ipaddress.IPv6Network("64:ff9b::/96"),  # NAT64 (RFC 6052 2.1)
)
_SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")  # RFC 3056 2
_TEREDO = ipaddress.IPv6Network("2001::/32")  # RFC 4380 4
_ISATAP = (0x00005EFE, 0x02005EFE)  # RFC 5214 6.1
_UNSPECIFIED_AND_LOOPBACK = (0, 1)

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressGuard:
    """Judges addresses by the table of forbidden networks.

    Invariant: an address in a closed network is never allowed. Another forbidden one is allowed if and only
    if the configuration allows all, or the host is a seed whose first answer held forbidden addresses only.
    A seed that was public when first resolved gains nothing, so its name cannot be turned inwards later.
    """

    def __init__(self, config: FetchConfig, rules: Sequence[AddressRule] = ()) -> None:
        """`rules`: each may forbid what would be allowed."""
        self._rules = rules
        self._allow_all = config.allow_private
        self._networks = _table(config.forbidden_networks)
        self._closed = _table(config.closed_networks)
        self._has_closed = bool(config.closed_networks)
        self._verdicts: dict[str, bool] = {}
        self._closed_verdicts: dict[str, bool] = {}
        self._seeds: set[str] = set()
        self._inside: set[str] = set()

    def allow_host(self, host: str) -> None:
        """Let a seed's own host lie in a forbidden network, if that is where it first resolves."""
        name = _name(host)
        address = parse_address(name)
        if address is None:
            self._seeds.add(name)
        elif self._forbids(address):
            self._inside.add(name)

    def allows(self, host: str, address: str) -> bool:
        """May a visit to `host` connect to the numeric `address`? What cannot be read is forbidden."""
        if self._has_closed and self._is_closed(address):
            return False
        return self._allows(host, address) and all(rule(host, address) for rule in self._rules)

    def _allows(self, host: str, address: str) -> bool:
        if self._allow_all:
            return True
        verdict = self._verdicts.get(address)
        if verdict is None:
            verdict = self._judge(address)
        return verdict or _name(host) in self._inside

    def admit(self, host: str, addresses: Sequence[str]) -> list[str]:
        """The allowed addresses of an answer about `host`, in order."""
        if self._seeds:
            self._decide_seed(_name(host), addresses)
        return [address for address in addresses if self.allows(host, address)]

    def _decide_seed(self, name: str, addresses: Iterable[str]) -> None:
        if name not in self._seeds or not addresses:
            return
        self._seeds.discard(name)
        if not any(self._judge(address) for address in addresses):
            self._inside.add(name)

    def _judge(self, text: str) -> bool:
        address = parse_address(text)
        verdict = address is not None and not self._forbids(address)
        if len(self._verdicts) >= _MAX_VERDICTS:
            self._verdicts.clear()
        self._verdicts[text] = verdict
        return verdict

    def _forbids(self, address: _Address) -> bool:
        return _lies_in(self._networks, address)

    def _is_closed(self, text: str) -> bool:
        verdict = self._closed_verdicts.get(text)
        if verdict is None:
            address = parse_address(text)
            verdict = address is None or _lies_in(self._closed, address)
            if len(self._closed_verdicts) >= _MAX_VERDICTS:
                self._closed_verdicts.clear()
            self._closed_verdicts[text] = verdict
        return verdict


_Table = dict[int, list[tuple[int, int]]]
"""By IP version: networks and their masks."""


def _table(networks: Iterable[str]) -> _Table:
    table: _Table = {4: [], 6: []}
    for text in networks:
        network = ipaddress.ip_network(text)
        table[network.version].append((int(network.network_address), int(network.netmask)))
    return table


def _lies_in(table: _Table, address: _Address) -> bool:
    number = int(address)
    if any(number & mask == network for network, mask in table[address.version]):
        return True
    return isinstance(address, ipaddress.IPv6Address) and any(
        _lies_in(table, carried) for carried in embedded(address)
    )


def parse_address(text: str) -> _Address | None:
    """Read a numeric address in any spelling that a connect() might accept; `None` if it is none."""
    text = text.strip("[]").partition("%")[0]
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        pass
    # `0x7f.1`, `2130706433`, `0177.0.0.1`: the C library reads them, so an attacker may write them.
    if not text or text[0] not in "0123456789" or not text.isascii() or " " in text:
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(text))
    except (OSError, ValueError):
        return None


def embedded(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """IPv4 addresses that packets to `address` may end up at."""
    number = int(address)
    if number in _UNSPECIFIED_AND_LOOPBACK:
        return []
    carried = []
    if any(address in network for network in _EMBEDDED_LOW):
        carried.append(number & 0xFFFFFFFF)
    if address in _SIX_TO_FOUR:
        carried.append(number >> 80 & 0xFFFFFFFF)
    if address in _TEREDO:
        carried.append(~number & 0xFFFFFFFF)
    if number >> 32 & 0xFFFFFFFF in _ISATAP:
        carried.append(number & 0xFFFFFFFF)
    return [ipaddress.IPv4Address(value) for value in carried]


def _name(host: str) -> str:
    return host.strip("[]").removesuffix(".").lower()
