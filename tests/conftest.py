"""What holds for every test."""

import fcntl
import gc
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from patience import SLOW_SECONDS
from xdist.scheduler import LoadFileScheduling

# The same examples everywhere, and no time limit on one: a busy machine is not a failure. A third of them in a run
# of the tests; `--hypothesis-profile=deep`, as `scripts/check` has it, tries all, and `default` looks for new ones.
settings.register_profile(
    "deep", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], max_examples=100
)
settings.register_profile("gossamer", settings.get_profile("deep"), max_examples=33)
settings.load_profile("gossamer")

# A run starts hundreds of processes. What they import is compiled once, whatever the user's own programs do,
# and the tests, too: without that collecting them takes each of three workers 30 s of CPU instead of 8.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Tests sync thousands of small states: in memory, where there is room, they do not wait for a disk.
MEMORY, ROOM = Path("/dev/shm"), 6 << 30
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


RAY = {"tests/cluster/test_nodes.py", "tests/cluster/test_ray.py", "tests/web/test_cluster_console.py"}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Ten thousand tests are made and stay: looking for cycles among them is a tenth of collecting them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Each worker begins elsewhere: what one has compiled the others read, where all three would compile it at once."""
    report = yield
    if isinstance(collector, pytest.Directory):
        worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
        found = report.result
        cut = len(found) * worker // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        report.result = [*found[cut:], *found[:cut]]
    return report


def file_of(item: pytest.Item) -> str:
    """From the root on; `location` says it, too, and looks at the file for it."""
    return item.nodeid.partition("::")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One order in all workers. What takes longest comes first, so that nothing is waited for at the end."""
    items.sort(key=lambda item: (file_of(item) not in RAY, file_of(item)))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Slow tests have a time-out of their own."""
    if item.get_closest_marker("slow"):
        item.add_marker(pytest.mark.timeout(SLOW_SECONDS))


class ByFile(LoadFileScheduling):
    """With `--dist loadfile`: a file's tests share a worker, and so do the files of which each test starts Ray.

    Two workers would wait for each other's turn (`ray_turn`), and do nothing meanwhile.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "ray" if file in RAY else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    """The scheduler above in place of xdist's; `None` for its own of that name."""
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(autouse=True, scope="session")
def _own_cache_folder(tmp_path_factory):
    """Names are not kept in the user's cache folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def ray_turn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Of the tests that start Ray, whichever worker has them, only one at a time."""
    with (tmp_path_factory.getbasetemp().parent / "ray.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Where a daemon may put what it keeps; the jobs' processes end with the test."""
    from service_world import no_survivors  # only tests of the daemon pay for it

    path = tmp_path / "service"
    with no_survivors(path):
        yield path
