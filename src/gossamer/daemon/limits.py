"""How much there is of each resource: by the machine, by `service.toml`, and as changed while it runs."""

from collections.abc import Mapping
from typing import Any

from gossamer.config.settings import load
from gossamer.daemon.allocation.claims import Amounts
from gossamer.daemon.config import LimitsConfig, ServiceFolder, machine_limits
from gossamer.daemon.jobs.process import folder_size
from gossamer.daemon.store import Store
from gossamer.model.errors import ConfigError


class Limits:
    """The limits in force, and where each comes from."""

    def __init__(self, config: LimitsConfig, folder: ServiceFolder, store: Store) -> None:
        self._store = store
        changed = store.limits()
        # What the disk has room for is asked once: what jobs put there later counts as theirs.
        used = 0 if config.disk or "disk" in changed else folder_size(folder.jobs)
        self._of_machine = machine_limits(config, folder.path, used)
        self._changed = changed

    def now(self) -> Amounts:
        """The limits by resource, as they are now."""
        return {**self._of_machine, **self._changed}

    def change(self, limits: Mapping[str, Any]) -> Amounts:
        """Set some of them; they hold for later daemons, too. 0 takes a change back.

        Returns:
            All limits as they are now.

        Raises:
            ConfigError: lists what is wrong.
        """
        try:
            checked = load(LimitsConfig, dict(limits))
        except ConfigError as error:
            raise ConfigError(*(f"limits.{problem}" for problem in error.problems)) from None
        for name in limits:
            amount = getattr(checked, name)
            if amount:
                self._changed[name] = amount
            else:
                self._changed.pop(name, None)
        self._store.keep_limits(self._changed)
        return self.now()
