"""The error tree: what may be raised here is our bug, our disk or the operator's input, never the web."""


class GossamerError(Exception):
    """Root of every error of ours. Its text says what, where, and what to do about it."""


class ConfigError(GossamerError):
    """Bad configuration or arguments (exit 2).

    Args:
        problems: one sentence each, led by the path of the setting (`politeness.min_delay: ...`).
            All problems are listed at once, so that one run is enough to mend them.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class StorageError(GossamerError):
    """What was fetched or admitted cannot be kept: disk full, unwritable, damaged (exit 3)."""


class InternalError(GossamerError):
    """An invariant of ours is broken; please report it."""


class PluginWarning(UserWarning):
    """Code that was handed in, such as a scope rule, raised; said once for each, the crawl goes on."""


class UnreadableWarning(UserWarning):
    """A page cannot be parsed in the caller's process without taking very long, so that nothing is found in it."""


class UnreachableWarning(UserWarning):
    """No seed of a crawl could be reached: most likely a name is misspelt, or the network is down."""
