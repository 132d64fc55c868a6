"""Answers questions about a cluster, line by line, for a program that cannot be in Ray itself."""

from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from gossamer.inspect.clusters.cluster_questions import (
    AskFigures,
    ClusterAnswer,
    Drain,
    Question,
    Scale,
    Stop,
)
from gossamer.inspect.clusters.cluster_view import ClusterFigures
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.reason import Reason

STOPPED = Reason(EndCode.INTERRUPTED)
"""Reason to stop that an operator gives: `gossamer cluster resume` goes on."""


class Ordered(Protocol):
    """Who carries out what was asked: `launch.Control`."""

    def stop(self, reason: Reason) -> None:
        """Have all agents end their crawls."""

    def scale_to(self, agents: int) -> None:
        """Have more agents, or fewer."""

    def drain(self, name: str) -> int:
        """Move everything off an agent or a node; how many agents that are."""


def answer_lines(
    control: Ordered, now: Callable[[], ClusterFigures], lines: Iterable[str], tell: Callable[[bytes], None]
) -> None:
    """Answer each question with one line, in order, until there are no more.

    Args:
        control: told what to do.
        now: the figures.
        lines: `cluster_questions.Question`s as JSON.
        tell: takes a `ClusterAnswer` as JSON, with a line end.
    """
    for line in lines:
        try:
            answer = _answer(control, now, msgspec.json.decode(line, type=Question))
        except (ConnectionError, msgspec.DecodeError) as error:
            answer = ClusterAnswer(problem=str(error) or type(error).__name__)
        tell(msgspec.json.encode(answer) + b"\n")


def _answer(control: Ordered, now: Callable[[], ClusterFigures], question: Question) -> ClusterAnswer:
    match question:
        case AskFigures():
            return ClusterAnswer(figures=now())
        case Stop():
            control.stop(STOPPED)
        case Scale(agents=agents):
            control.scale_to(agents)
        case Drain(node=node):
            return ClusterAnswer(concerned=control.drain(node))
    return ClusterAnswer()
