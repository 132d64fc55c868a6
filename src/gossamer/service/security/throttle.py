"""Slows down whoever guesses passwords."""

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address, ip_network

from gossamer.service.security.config import SecurityConfig

_MOST_KEYS = 10_000
_NAME_FACTOR = 4
"""An account may be tried from many places: more at once than one place, so that one guesser with one address
does not lock its owner out."""


class LoginThrottle:
    """Counts wrong log-ins by address and by account.

    Each key has a bucket of attempts that fills by one each `failure_rest`. It says no if and only if the
    address's or the account's bucket is empty. At most `_MOST_KEYS` are kept; whoever has been quiet longest
    is forgotten, which only helps those who guess from ten thousand networks.
    """

    def __init__(self, config: SecurityConfig) -> None:
        self._rest = config.failure_rest
        self._sizes = {"address": config.failures, "account": config.failures * _NAME_FACTOR}
        self._full_at: OrderedDict[tuple[str, str], float] = OrderedDict()

    def wait(self, address: str, account: str, now: float) -> float:
        """Seconds until this address may try this account; 0: at once."""
        return max(
            0.0,
            *(
                self._full_at.get(key, now) - now - self._rest * (self._sizes[key[0]] - 1)
                for key in _keys(address, account)
            ),
        )

    def tried(self, address: str, account: str, now: float) -> None:
        """Count an attempt as wrong before it is looked at, so that many at once are all counted."""
        for key in _keys(address, account):
            self._full_at[key] = max(self._full_at.get(key, now), now) + self._rest
            self._full_at.move_to_end(key)
        while len(self._full_at) > _MOST_KEYS:
            self._full_at.popitem(last=False)

    def succeeded(self, address: str, account: str) -> None:
        """It was right: this address owes nothing. What others did to the account still counts."""
        of_address, of_account = _keys(address, account)
        self._full_at.pop(of_address, None)
        if of_account in self._full_at:
            self._full_at[of_account] -= self._rest


def _keys(address: str, account: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("address", _network(address)), ("account", account[:64])


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
