"""A process of ours that answers each line it is sent with a line."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence

from gossamer.model.errors import GossamerError

_MOST_ERRORS = 8192
_LAST_SECONDS = 5.0
"""That a process has to end by itself, before it is killed."""


class NoAnswerError(GossamerError):
    """The process has ended, or does not answer; it is of no use any more. Says why, for operators."""


class LineProcess:
    """One process; one question at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._turn = asyncio.Lock()
        self._broken = False
        self._errors = b""
        self._hearing = asyncio.create_task(self._hear())

    @classmethod
    async def start(
        cls, command: Sequence[str], longest: int, surroundings: Mapping[str, str] | None = None
    ) -> "LineProcess":
        """Begin it.

        Args:
            command: program and arguments.
            longest: bytes of an answer.
            surroundings: its environment variables, if not those of this process.

        Raises:
            NoAnswerError: the system refuses.
        """
        pipe = asyncio.subprocess.PIPE
        try:
            # In a session of its own: Ctrl-C in the daemon's terminal is for the daemon.
            process = await asyncio.create_subprocess_exec(
                *command, stdin=pipe, stdout=pipe, stderr=pipe,
                limit=longest, start_new_session=True, env=surroundings,
            )  # fmt: skip
        except OSError as error:
            raise NoAnswerError(f"{command[0]} cannot be started ({error.strerror})") from None
        return cls(process)

    @property
    def ended(self) -> int | None:
        """With which status it has, less than nothing if by a signal; `None` if it has not."""
        return self._process.returncode

    async def ask(self, question: bytes, patience: float) -> bytes:
        """The answer to a question, both with their line ends.

        Args:
            question: one line.
            patience: seconds that it may take, the wait for questions before it included.

        Raises:
            NoAnswerError: there is none.
        """
        try:
            async with asyncio.timeout(patience), self._turn:
                line = await self._asked(question)
        except TimeoutError:
            raise NoAnswerError(f"nothing was answered for {patience:.0f} s") from None
        except (OSError, ValueError):  # ValueError: the line is longer than any of ours
            line = b""
        if not line.endswith(b"\n"):
            raise NoAnswerError(await self._last_words())
        return line

    async def _asked(self, question: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # One that went by itself has closed its end; how a write to it fails differs from loop to loop.
        if self._broken or self._process.stdin.is_closing():
            return b""
        self._broken = True  # who goes before the answer leaves it to the next one, who would take it for his
        self._process.stdin.write(question)
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        self._broken = False
        return line

    async def _last_words(self) -> str:
        """What it said of its end."""
        await self._wait()
        last = self._errors.decode(errors="replace").strip().rpartition("\n")[2]
        return last.removeprefix("gossamer: ")[-1000:] or "the process that asks it has ended"

    async def _hear(self) -> None:
        """Keep the end of what it says on standard error, and let nothing be in its way there."""
        assert self._process.stderr is not None
        while some := await self._process.stderr.read(4096):
            self._errors = (self._errors + some)[-_MOST_ERRORS:]

    async def _wait(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_SECONDS):
                await self._process.wait()
                await asyncio.shield(self._hearing)

    async def close(self) -> None:
        """End it: it does by itself when it is asked no more, or is killed some seconds later."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._wait()
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        self._hearing.cancel()
        await asyncio.gather(self._hearing, return_exceptions=True)
