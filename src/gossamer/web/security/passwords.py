"""Hashes passwords with Argon2id (RFC 9106, section 4)."""

import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from gossamer.daemon.security_config import SecurityConfig

MAX_PASSWORD = 1024
"""Characters; a longer one is refused before it is hashed."""
_LANES = 4


class Passwords:
    """Makes and compares hashes; each takes some 50 ms and `hash_memory`: never on the event loop."""

    def __init__(self, config: SecurityConfig) -> None:
        self._least = config.password_length
        self._hasher = PasswordHasher(
            time_cost=config.hash_rounds, memory_cost=config.hash_memory >> 10, parallelism=_LANES
        )
        self._nobody: str | None = None

    def problem(self, name: str, password: str) -> str | None:
        """Why a new password will not do (NIST SP 800-63B: long, not composed)."""
        if len(password) < self._least:
            return f"the password needs at least {self._least} characters"
        if len(password) > MAX_PASSWORD:
            return f"the password has more than {MAX_PASSWORD:,} characters"
        if name.lower() in password.lower() or len(set(password)) < 5:
            return "the password holds the name, or hardly differs within itself: choose another"
        return None

    def hash(self, password: str) -> str:
        """What is kept of a password, with salt and cost."""
        return self._hasher.hash(password)

    def matches(self, kept: str | None, password: str) -> bool:
        """The password is that one. `None` (no such account) takes as long and is never right."""
        if len(password) > MAX_PASSWORD:
            return False
        if kept is None:
            if self._nobody is None:
                self._nobody = self.hash(secrets.token_urlsafe())
            kept, known = self._nobody, False
        else:
            known = True
        try:
            return self._hasher.verify(kept, password) and known
        except (VerificationError, InvalidHashError):
            return False
