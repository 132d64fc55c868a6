"""The error tree: what may be raised here is our bug, our disk or the operator's input, never the web."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `gossamer --help` has errors, and need not wait for what reads reasons
    from gossamer.model.reasons.reason import Reason


class GossamerError(Exception):
    """Root of every error of ours. Its text says what, where, and what to do about it.

    Args:
        problems: all that is wrong, as sentences, or as reasons where they are shown in several languages.
    """

    def __init__(self, *problems: "Reason | str") -> None:
        super().__init__("\n".join(map(str, problems)))
        self._told = problems

    @property
    def reasons(self) -> "tuple[Reason, ...]":
        """All that is wrong, as values, in order."""
        from gossamer.model.reasons.reason import text

        return tuple(text(one) if isinstance(one, str) else one for one in self._told)

    @property
    def why(self) -> "Reason":
        """What is wrong, or the first of several things."""
        from gossamer.model.reasons.reason import text

        return self.reasons[0] if self._told else text(str(self))


class ConfigError(GossamerError):
    """Bad configuration or arguments (exit 2).

    Its problems are led by the path of the setting (`politeness.min_delay: ...`). All are listed at once, so
    that one run is enough to mend them.
    """

    @property
    def problems(self) -> tuple[str, ...]:
        """All that is wrong, in words, one sentence each."""
        return tuple(map(str, self._told))


class SecretError(ValueError):
    """What is wrong with a setting that holds a secret, in lines that show nothing of it: `NAME: ...`."""


class StorageError(GossamerError):
    """What was fetched or admitted cannot be kept: disk full, unwritable, damaged (exit 3)."""


class UnreadableError(GossamerError):
    """What is archived cannot be read as what it was sent as: the web's fault, not the disk's (exit 1)."""


class InternalError(GossamerError):
    """An invariant of ours is broken; please report it."""


class PluginWarning(UserWarning):
    """Code that was handed in, such as a scope rule, raised; said once for each, the crawl goes on."""


class UnreadableWarning(UserWarning):
    """A page cannot be parsed in the caller's process without taking very long, so that nothing is found in it."""


class UnreachableWarning(UserWarning):
    """No seed of a crawl could be reached: most likely a name is misspelt, or the network is down."""
