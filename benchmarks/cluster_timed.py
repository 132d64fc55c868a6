"""`gossamer` with clocks around what agents do only because there are several of them.

`python -m benchmarks.cluster_timed cluster crawl ...`, with a folder in GOSSAMER_TIMES: each agent's process
writes there, every second, what its parts have taken of the processor. For `benchmarks.cluster`.
"""

import functools
import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

TIMES = "GOSSAMER_TIMES"
WRITE_SECONDS = 1.0
EXCHANGE, ADMISSION, CHECKS = "exchange", "admission", "checks"
"""What only the exchange does; the admission of what came in; the question whose a link is."""
DIGESTS, QUESTIONS = "digests", "questions"
"""What only the sharing of digests does; its messages, of which only the calls count."""


class Clocks:
    """Seconds of thread time by part; of a part within another only the inner one's is counted."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        self._inner: list[float] = []
        self._once = self._cost()

    def _cost(self) -> float:
        """Seconds that one clock adds to itself."""
        timed = self.around("calibration", lambda: None, 0.0)
        for _ in range(2_000):
            timed()
        return self.seconds.pop("calibration") / self.calls.pop("calibration")

    def around(self, part: str, work: Callable[..., Any], less: float | None = None) -> Callable[..., Any]:
        """`work` with a clock; `less`: seconds to take off each call."""
        inner, seconds, calls, clock = self._inner, self.seconds, self.calls, time.thread_time
        off = self._once if less is None else less

        @functools.wraps(work)
        def timed(*arguments: Any, **named: Any) -> Any:
            inner.append(0.0)
            started = clock()
            try:
                return work(*arguments, **named)
            finally:
                spent = clock() - started
                seconds[part] += max(0.0, spent - inner.pop() - off)
                calls[part] += 1
                if inner:
                    inner[-1] += spent

        return timed

    def install(self) -> None:
        """Put clocks around the parts of this process."""
        from gossamer.cluster.agent import (
            agent,
            consulting,
            digest_exchange,
            digest_table,
            link_exchange,
            outbox,
            router,
        )
        from gossamer.engine.admission.admission import Admission
        from gossamer.engine.admission.robots_files import RobotsFiles

        places: list[tuple[Any, str, str]] = [
            (link_exchange.LinkExchange, "_by_owner", EXCHANGE),
            (link_exchange.LinkExchange, "_next_entries", EXCHANGE),
            (link_exchange.LinkExchange, "_apply_some", EXCHANGE),
            (link_exchange, "pack", EXCHANGE),
            (link_exchange, "unpacked", EXCHANGE),
            (outbox.Outbox, "put", EXCHANGE),
            (outbox.Outbox, "answered", EXCHANGE),
            (outbox.Outbox, "trim", EXCHANGE),
            (router.Router, "takes", CHECKS),
            (router.Router, "takes_robots", EXCHANGE),
            (router, "encode", EXCHANGE),
            (Admission, "receive", ADMISSION),
            (RobotsFiles, "keep", ADMISSION),
            (digest_exchange.DigestExchange, "_say", QUESTIONS),
            (digest_exchange, "encode", DIGESTS),
            (digest_exchange, "_decode", DIGESTS),
            (consulting, "encode", DIGESTS),
            (agent, "question_in", DIGESTS),
            (digest_table.DigestTable, "get", DIGESTS),
            (digest_table.DigestTable, "enter", DIGESTS),
            (digest_table.Announcements, "note", DIGESTS),
            (digest_table.Announcements, "take", DIGESTS),
            (digest_table.Marks, "of", DIGESTS),
        ]
        for owner, name, part in places:
            setattr(owner, name, self.around(part, getattr(owner, name)))

    def write(self, path: Path) -> None:
        """Keep `path` up to date for as long as the process lives."""
        while True:
            whole = {"cpu": time.process_time(), "seconds": self.seconds, "calls": self.calls}
            beside = path.with_suffix(".new")
            beside.write_text(json.dumps(whole), encoding="utf-8")
            beside.replace(path)
            time.sleep(WRITE_SECONDS)


def watch() -> None:
    """Have this process keep account of itself, if anybody asked for it."""
    if folder := os.environ.get(TIMES):
        clocks = Clocks()
        clocks.install()
        path = Path(folder, f"{os.getpid()}.json")
        threading.Thread(target=clocks.write, args=[path], name="clocks", daemon=True).start()


def main() -> None:
    """The command line, with agents and coordinator of our own."""
    from gossamer.cluster.ray_settings import settle

    settle("")  # before Ray is imported
    from benchmarks.cluster_timed_actors import TimedCoordinator
    from gossamer.cli import main as command
    from gossamer.cluster import launch

    launch.CoordinatorActor = TimedCoordinator  # type: ignore[misc]
    command()


if __name__ == "__main__":
    main()
