"""Settings of the daemon: `service.toml` in its folder."""

import os
import re
import resource
import shutil
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.private import private_folder
from gossamer.config.settings import commented_toml, load, read_toml
from gossamer.daemon.allocation.claims import Amounts, ClaimDefaults
from gossamer.daemon.pings.config import PingsConfig
from gossamer.daemon.security_config import SecurityConfig
from gossamer.inspect.clusters.cluster_questions import PLAN
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.model.quantity import Bytes, Count, Seconds
from gossamer.state.whole_files import write_whole

SHARE_OF_MEMORY = 0.5
SHARE_OF_DISK = 0.9
CONNECTIONS = 1024
BANDWIDTH = 1_250_000_000  # 10 Gbit/s: no limit, to most
FILES = 65_536
CLUSTER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
"""A cluster is called as its folder is, if that can stand in an address."""
_BOUNDLESS = 1 << 60
"""What the kernel says where memory has no limit, and all above."""


class ListenConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the interface and the console answer."""

    host: Annotated[
        str, Meta(description="address; anything but this machine's own (127.0.0.1, ::1) asks for log-ins")
    ] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535, description="0: any that is free")] = 8470


class LimitsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all jobs together may hold. 0: what this machine suggests."""

    connections: Annotated[Count, Meta(description="visits at once; 0: 1,024")] = 0
    bandwidth: Annotated[
        Bytes, Meta(description="bytes per second received; 0: 1.25 GB, as good as none")
    ] = 0
    memory: Annotated[Bytes, Meta(description="resident memory; 0: half of what the machine has")] = 0
    disk: Annotated[
        Bytes,
        Meta(description="size of all folders, also of jobs that have ended; 0: nine tenths of what is free"),
    ] = 0
    files: Annotated[Count, Meta(description="open files; 0: what the system allows, up to 65,536")] = 0
    browser_pages: Annotated[Count, Meta(description="pages open in browsers")] = 0


class RestartConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happens to a job whose process has died."""

    first_wait: Annotated[Seconds, Meta(description="before it is resumed; doubles with each crash")] = 1.0
    longest_wait: Annotated[Seconds, Meta(description="up to which that grows")] = 300.0
    give_up: Annotated[
        int,
        Meta(ge=1, description="after this many crashes without a single visit in between, it has failed"),
    ] = 8


class WatchConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How closely the processes of jobs are watched."""

    every: Annotated[
        Seconds,
        Meta(
            description="between two looks at a process and its memory; four times as long while that is less"
            " than half of what was granted"
        ),
    ] = 1.0
    disk_every: Annotated[Seconds, Meta(description="between two counts of what the folders take")] = 30.0
    stop_patience: Annotated[
        Seconds,
        Meta(
            description="a job that has not stopped is told to drop its visits; after twice this it is killed"
        ),
    ] = 120.0
    max_errors: Annotated[Bytes, Meta(description="kept of what a job's process says on standard error")] = (
        256 << 10
    )


class SqlConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Questions in SQL about a job's crawl."""

    seconds: Annotated[Seconds, Meta(description="the longest that a question may take")] = 30.0
    at_once: Annotated[int, Meta(ge=1, le=16, description="questions answered at the same time")] = 2


class ServiceConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The daemon's configuration, as `service.toml` has it."""

    listen: ListenConfig = ListenConfig()
    limits: LimitsConfig = LimitsConfig()
    claim: ClaimDefaults = ClaimDefaults()
    restart: RestartConfig = RestartConfig()
    watch: WatchConfig = WatchConfig()
    sql: SqlConfig = SqlConfig()
    security: SecurityConfig = SecurityConfig()
    pings: PingsConfig = PingsConfig()
    roots: Annotated[
        tuple[str, ...],
        Meta(
            description="folders below which crawls made by hand may be adopted, and files named by settings"
            " of jobs may lie"
        ),
    ] = ()

    clusters: Annotated[
        tuple[str, ...],
        Meta(
            description="folders of clusters (gossamer cluster crawl --dir) that the console shows, beside"
            " those below the daemon's jobs/; each is called by its folder's name"
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Check what one setting alone does not tell."""
        for setting, paths in (("roots", self.roots), ("clusters", self.clusters)):
            for path in paths:
                try:
                    Path(path).expanduser()
                except RuntimeError:
                    raise ValueError(
                        f"{setting}: {path!r} is in nobody's home: write the whole path"
                    ) from None

    @property
    def root_paths(self) -> tuple[Path, ...]:
        """The folders that jobs may lie in, resolved."""
        return tuple(Path(root).expanduser() for root in self.roots)

    @property
    def cluster_paths(self) -> dict[str, Path]:
        """Folders of clusters, whole, by the names by which they are shown.

        Raises:
            ConfigError: a folder's name cannot be one, or two are the same.
        """
        found: dict[str, Path] = {}
        problems = []
        for path in (Path(text).expanduser().resolve() for text in self.clusters):
            if not CLUSTER_NAME.fullmatch(path.name):
                problems.append(
                    f"clusters: {path}: the folder's name becomes part of an address: use at most 64 letters,"
                    " digits, points, hyphens and underscores, a letter or digit first"
                )
            elif found.setdefault(path.name, path) != path:
                problems.append(f"clusters: {path} and {found[path.name]} have the same name: rename one")
        if problems:
            raise ConfigError(*problems)
        return found


class ServiceFolder:
    """Paths of what one daemon keeps."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "service.toml"
        self.database = path / "service.db"
        self.jobs = path / "jobs"
        self.politeness = path / "politeness"
        self.files = path / "files"
        """What jobs may read: lists of seeds, certificates, secrets."""
        self.tmp = path / "tmp"

    def create(self) -> None:
        """Make what is missing, for nobody else's eyes, with the commented settings in it.

        Raises:
            ConfigError: it cannot be written, or is that of a crawl or a cluster, whose files a daemon would clear.
        """
        if not self.config.exists():
            self._prove_nobodys()
        try:
            for folder in (self.path, self.jobs, self.files, self.tmp):
                private_folder(folder)
        except OSError as error:
            raise ConfigError(
                f"{self.path}: cannot be written ({error.strerror}). Choose a --dir you may write to."
            ) from None
        if not self.config.exists():
            write_whole(self.config, commented_toml(ServiceConfig))

    def _prove_nobodys(self) -> None:
        if CrawlFolder(self.path).used:
            raise ConfigError(
                f"{self.path}: is the folder of a crawl. '{command_line('view', self.path)}' shows its pages,"
                f" '{command_line('status', self.path)}' how it stands; a daemon needs a folder of its own (--dir)."
            )
        if (self.path / PLAN).is_file():
            raise ConfigError(
                f"{self.path}: is the folder of a cluster. '{command_line('serve', '--cluster', self.path)}' shows it;"
                " a daemon needs a folder of its own (--dir)."
            )

    def read(self) -> ServiceConfig:
        """The settings.

        Raises:
            ConfigError: lists all that is wrong with them.
        """
        return load(ServiceConfig, read_toml(self.config)) if self.config.exists() else ServiceConfig()


def machine_limits(limits: LimitsConfig, folder: Path, used: int) -> Amounts:
    """How much there is of each resource.

    Args:
        folder: on the disk that the jobs share.
        used: bytes in it that are jobs' already.
    """
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    free = shutil.disk_usage(folder).free
    return {
        "connections": limits.connections or CONNECTIONS,
        "bandwidth": limits.bandwidth or BANDWIDTH,
        "memory": limits.memory or int(_memory() * SHARE_OF_MEMORY),
        "disk": limits.disk or int((free + used) * SHARE_OF_DISK),
        "files": limits.files or (FILES if files == resource.RLIM_INFINITY else min(FILES, files)),
        "browser_pages": limits.browser_pages,
    }


def _memory() -> int:
    """Bytes of the machine, or of the control group that this process is in."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdecimal() and int(text) < _BOUNDLESS:
            memory = min(memory, int(text))
    return memory
