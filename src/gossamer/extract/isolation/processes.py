"""Processes that answer questions about hostile documents, each under limits of time, memory and length."""

import contextlib
import os
import pickle
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import Any, Generic, TypeVar

import msgspec

from gossamer.extract.isolation.frames import ClosedError, Frame, receive, send
from gossamer.extract.isolation.sleep import sleep_of
from gossamer.extract.isolation.worker import Orders

__all__ = ["GuardedProcesses", "Limits", "Unanswered", "Why"]

Q = TypeVar("Q")
A = TypeVar("A")

_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
"""What a worker is given of the environment, in which secrets may stand."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one answer may cost.

    Attributes:
        processes: questions answered at a time; each of them may take as much as the others say.
        seconds: until an answer must have come whole.
        memory: bytes of a worker's address space (`RLIMIT_AS`; macOS knows no such limit).
        answer: bytes of an answer as encoded.
        calls: questions after which a worker is replaced, because libraries leak.
        start: seconds until a worker must have loaded its function.
        nice: added to a worker's niceness.
        patience: where a worker has to wait for a processor, its `start` and `seconds` are of CPU time, and so many
            times as many may pass by the clock. One that sleeps for as long as it may work is hanging; this is seen
            after at most twice that time, where there is a `/proc`.
    """

    processes: int = 2
    seconds: float = 10.0
    memory: int = 1 << 30
    answer: int = 64 << 20
    calls: int = 500
    start: float = 60.0
    nice: int = 0
    patience: float = 1.0


class Why(StrEnum):
    """Why there is no answer, a closed list."""

    TIME = "time"  # it took too long, and its process was killed
    MEMORY = "memory"  # it wanted more than the limit
    DIED = "died"  # its process ended by itself: a crash in a library
    TOO_LONG = "too_long"  # the answer was longer than the limit
    RAISED = "raised"  # the function raised, or could not be loaded
    MALFORMED = "malformed"  # what came is no answer of the type wanted
    CLOSED = "closed"  # the processes were closed while it was being answered


class Unanswered(msgspec.Struct, frozen=True):
    """A question without an answer.

    Attributes:
        why: the kind.
        detail: one line for people; nothing is decided from it.
    """

    why: Why
    detail: str = ""


class GuardedProcesses(Generic[Q, A]):
    """Answers questions by a function that is called in worker processes.

    Nothing is started before the first question; an idle worker waits and costs its memory. Questions may be
    asked by several threads at once. A worker that fails after it has served others is replaced and the
    question asked once more, so that what is marked is the document and not what another left behind.
    """

    def __init__(
        self, task: Callable[[Q], A], question: type[Q], answer: type[A], limits: Limits | None = None
    ) -> None:
        """Args:
        task: can be pickled, which for a function means that a module holds it by its name.
        question, answer: types that msgspec encodes. Content goes as a field of bytes, or as the path of a
            file that the worker opens.

        Raises:
            TypeError: `task` or `question` cannot be found by another process.
        """
        self.limits = limits or Limits()
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder: msgspec.msgpack.Decoder[A] = msgspec.msgpack.Decoder(answer)
        self._orders = self._encoder.encode(
            Orders(
                _pickled(task, question),
                self.limits.start,
                self.limits.seconds,
                self.limits.memory,
                self.limits.answer,
                self.limits.nice,
                self.limits.patience,
            )
        )
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(self.limits.processes):
            self._idle.put(None)
        self._lock = threading.Lock()
        self._workers: set[_Worker] = set()
        self._threads: ThreadPoolExecutor | None = None
        self._closed = False

    @property
    def threads(self) -> ThreadPoolExecutor:
        """As many threads as processes, for whoever waits for answers on an event loop."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.limits.processes, "guarded")
        return self._threads

    def ask(self, question: Q) -> A | Unanswered:
        """The answer, or why there is none. Blocks until a worker is free, then at most `limits.seconds`.

        A worker's start comes on top, and where it fails with work of others behind it, all of this again.
        """
        body = self._encoder.encode(question)
        worker: _Worker | None = self._idle.get()
        try:
            while True:
                if worker is None:
                    worker = self._start()
                elif worker.served >= self.limits.calls:
                    worker = self._replaced(worker)
                if worker is None:
                    return Unanswered(Why.CLOSED)
                tried_before = worker.served > 0
                answer = self._asked(worker, body)
                if worker.gone:
                    self._forget(worker)
                    worker = None
                if not (
                    tried_before and isinstance(answer, Unanswered) and answer.why in (Why.MEMORY, Why.DIED)
                ):
                    return answer
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """End all workers, at once; questions being answered end as `Why.CLOSED`."""
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.kill()
        if self._threads is not None:
            self._threads.shutdown()
        for _ in range(self.limits.processes):
            idle = self._idle.get()
            if idle is not None:
                self._forget(idle)
        for _ in range(self.limits.processes):
            self._idle.put(None)

    def _asked(self, worker: "_Worker", body: bytes) -> A | Unanswered:
        raw = worker.ask(body, self.limits)
        if self._closed:
            return Unanswered(Why.CLOSED)
        if isinstance(raw, Unanswered):
            return raw
        try:
            return self._decoder.decode(raw)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            worker.kill()
            return Unanswered(Why.MALFORMED, str(error)[:300])

    def _start(self) -> "_Worker | None":
        with self._lock:
            if self._closed:
                return None
            worker = _Worker(self._orders)
            self._workers.add(worker)
            return worker

    def _replaced(self, worker: "_Worker") -> "_Worker | None":
        self._forget(worker)
        return self._start()

    def _forget(self, worker: "_Worker") -> None:
        worker.kill()
        worker.wait()
        with self._lock:
            self._workers.discard(worker)


class _Worker:
    """One process and the socket to it. Used by one thread at a time, but for `kill`."""

    def __init__(self, orders: bytes) -> None:
        self._channel, theirs = socket.socketpair()
        path = os.pathsep.join(part or str(os.getcwd()) for part in sys.path)  # noqa: PTH109
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-m", "gossamer.extract.isolation.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={**environment, "PYTHONPATH": path},
                start_new_session=True,  # so that what it starts ends with it
            )
        self._orders: bytes | None = orders
        self.served = 0
        self.gone = False

    def ask(self, body: bytes, limits: Limits) -> bytes | Unanswered:
        """The answer, encoded; what ends in a failure of the process ends the process."""
        answer = self._greet(limits) or self._exchange(body, limits)
        self.served += 1
        if isinstance(answer, Unanswered) and answer.why not in (Why.RAISED, Why.TOO_LONG):
            self.kill()
        return answer

    def _greet(self, limits: Limits) -> Unanswered | None:
        if self._orders is None:
            return None
        until = time.monotonic() + limits.start * limits.patience
        reply = self._conversation(self._orders, limits.start, until, 10_000)
        if isinstance(reply, Unanswered):
            return reply
        kind, body = reply
        if kind is not Frame.READY:
            self.kill()
            return Unanswered(Why.RAISED, _line(body))
        self._orders = None
        return None

    def _exchange(self, body: bytes, limits: Limits) -> bytes | Unanswered:
        until = time.monotonic() + limits.seconds * limits.patience
        reply = self._conversation(body, limits.seconds, until, max(limits.answer, 10_000))
        match reply:
            case Unanswered(why=Why.TIME):
                return Unanswered(Why.TIME, f"gave no answer in {limits.seconds:g} s")
            case Unanswered():
                return reply
            case Frame.ANSWER, answer:
                return answer
            case Frame.RAISED, said:
                return Unanswered(Why.RAISED, _line(said))
            case Frame.MEMORY, _:
                return Unanswered(Why.MEMORY, f"wanted more than {limits.memory >> 20} MiB of memory")
            case Frame.TOO_LONG, said:
                return Unanswered(
                    Why.TOO_LONG, f"an answer of {_line(said)} bytes, of {limits.answer} at most"
                )
        return Unanswered(Why.MALFORMED, "said what nobody asked")

    def _conversation(
        self, body: bytes, seconds: float, until: float, longest: int
    ) -> tuple[Frame, bytes] | Unanswered:
        try:
            send(self._channel, Frame.QUESTION, body, until)
            self._await_reply(seconds, until)
            return receive(self._channel, longest, until)
        except TimeoutError:
            return Unanswered(Why.TIME, "did not start in time")
        except ValueError as error:
            return Unanswered(Why.MALFORMED, str(error))
        except ClosedError:
            return self._ended()

    def _await_reply(self, seconds: float, until: float) -> None:
        """Wait until the process begins to speak.

        Raises:
            TimeoutError: it has slept for `seconds`, or did not before `until`, by the monotonic clock.
        """
        before: list[str] | None = None
        answers = select.poll()  # not `select.select`, which ends at 1,024 open files
        answers.register(self._channel, select.POLLIN)
        while not answers.poll(max(0.0, min(seconds, until - time.monotonic())) * 1_000):
            now = sleep_of(self._process.pid)
            if time.monotonic() >= until or (now is not None and now == before):
                raise TimeoutError
            before = now

    def _ended(self) -> Unanswered:
        self.kill()  # which changes nothing of how one ended that is ending already
        code = self._process.wait()
        if code == -signal.SIGPROF:
            return Unanswered(Why.TIME)
        if code < 0:
            return Unanswered(Why.DIED, f"its process was ended by {signal.Signals(-code).name}")
        return Unanswered(Why.DIED, f"its process ended with exit status {code}")

    def kill(self) -> None:
        """End the process, and what it has started."""
        self.gone = True
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Until it has gone; it is not asked afterwards."""
        self._process.wait()
        self._channel.close()


def _pickled(task: Callable[[Any], Any], question: type) -> bytes:
    if getattr(task, "__module__", "") == "__main__":
        raise TypeError(
            f"{task!r} stands in the program that was started, where another process does not find it; "
            "put it into a module that can be imported"
        )
    try:
        return pickle.dumps((task, question))
    except Exception as error:  # pickle raises whatever objects raise
        raise TypeError(f"{task!r} cannot be handed to another process: {error}") from error


def _line(said: bytes) -> str:
    return said[:1_000].decode("utf-8", "replace")
