"""Slows down whoever guesses passwords."""

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address, ip_network

from gossamer.daemon.security_config import SecurityConfig

_MOST_KEYS = 10_000
_NAME_FACTOR = 4
"""Wrong log-ins of an account from anywhere, in those of one address, from which it counts as attacked."""


class LoginThrottle:
    """Counts wrong log-ins by address, by address and account together, and by account.

    Each has a bucket of attempts that fills by one each `failure_rest`; it says no while the address's, or
    that of address and account, is empty. Nobody can lock an account: where it is attacked from many
    addresses, each has one attempt instead of several, and those from which it was used before have theirs
    as ever, whoever else tries from there. At most `_MOST_KEYS` are kept; whoever has been quiet longest is
    forgotten, which only helps those who guess from thousands of networks.
    """

    def __init__(self, config: SecurityConfig) -> None:
        self._rest = config.failure_rest
        self._attempts = config.failures
        self._full_at: OrderedDict[_Key, float] = OrderedDict()
        self._known: OrderedDict[_Key, None] = OrderedDict()

    def wait(self, address: str, account: str, now: float) -> float:
        """Seconds until this address may try this account; 0: at once."""
        of_address, of_both, of_account = _keys(address, account)
        if of_both in self._known:
            return max(0.0, self._empty(of_both, now, self._attempts))
        attacked = self._empty(of_account, now, self._attempts * _NAME_FACTOR) > 0
        return max(
            0.0,
            self._empty(of_address, now, self._attempts),
            self._empty(of_both, now, 1 if attacked else self._attempts),
        )

    def _empty(self, key: "_Key", now: float, attempts: int) -> float:
        """Seconds for which a bucket of so many attempts is empty; negative if it is not."""
        return self._full_at.get(key, now) - now - self._rest * (attempts - 1)

    def tried(self, address: str, account: str, now: float) -> None:
        """Count an attempt as wrong before it is looked at, so that many at once are all counted."""
        for key in _keys(address, account):
            self._full_at[key] = max(self._full_at.get(key, now), now) + self._rest
            self._full_at.move_to_end(key)
        while len(self._full_at) > _MOST_KEYS:
            self._full_at.popitem(last=False)

    def succeeded(self, address: str, account: str) -> None:
        """It was right: this address owes nothing. What others did to the account still counts."""
        of_address, of_both, of_account = _keys(address, account)
        self._full_at.pop(of_address, None)
        self._full_at.pop(of_both, None)
        if of_account in self._full_at:
            self._full_at[of_account] -= self._rest
        self._known[of_both] = None
        self._known.move_to_end(of_both)
        while len(self._known) > _MOST_KEYS:
            self._known.popitem(last=False)


_Key = tuple[str, str]


def _keys(address: str, account: str) -> tuple[_Key, _Key, _Key]:
    """Of the address, of both, of the account."""
    network, name = _network(address), account[:64]
    return (network, ""), (network, name), ("", name)


def _network(address: str) -> str:
    """Who has one IPv6 address has 2^64 of them."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ip_network((int(parsed) & ~((1 << 64) - 1), 64)))
    return address
