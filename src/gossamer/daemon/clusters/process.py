"""A process of `gossamer cluster answer`, which is in a cluster's Ray in place of the daemon."""

import sys
from pathlib import Path

import msgspec

from gossamer.daemon.line_process import LineProcess, NoAnswerError
from gossamer.inspect.clusters.cluster_questions import ClusterAnswer, Question

_MOST_LINE = 32 << 20
"""Bytes of an answer: 10,000 agents are some 6 MB."""

_decode = msgspec.json.Decoder(ClusterAnswer).decode


def command_for(folder: Path) -> list[str]:
    """What answers questions about the cluster in a folder."""
    return [sys.executable, "-m", "gossamer", "cluster", "answer", str(folder)]


class ClusterProcess:
    """One process; one question at a time. It reads what it is asked once it is in Ray, some seconds later."""

    def __init__(self, lines: LineProcess) -> None:
        self._lines = lines

    @classmethod
    async def start(cls, command: list[str]) -> "ClusterProcess":
        """Begin it.

        Raises:
            NoAnswerError: the system refuses.
        """
        return cls(await LineProcess.start(command, _MOST_LINE))

    async def ask(self, question: Question, patience: float) -> ClusterAnswer:
        """The answer to a question.

        Args:
            question: to be encoded as JSON.
            patience: seconds that it may take, the wait for questions before it included.

        Raises:
            NoAnswerError: there is none.
        """
        line = await self._lines.ask(msgspec.json.encode(question) + b"\n", patience)
        try:
            return _decode(line)
        except msgspec.DecodeError as error:
            raise NoAnswerError(f"its answer makes no sense ({error}): is it another version?") from None

    async def close(self) -> None:
        """End it: it does by itself when it is asked no more, unless it waits for Ray."""
        await self._lines.close()
