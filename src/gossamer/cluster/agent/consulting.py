"""One agent's question to another whose answer may go missing: packed, in time, and the answer read."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from gossamer.cluster.agent.between import Gossip, Inquiry
from gossamer.model.errors import GossamerError

Consult = Callable[[str, bytes], Awaitable[bytes]]
"""(name of an agent, packed question) -> packed answer; `ConnectionError` if it cannot be reached."""
Answer = TypeVar("Answer")

encode = msgspec.msgpack.Encoder().encode


async def answer_of(
    consult: Consult,
    name: str,
    question: Inquiry | Gossip,
    decode: Callable[[bytes], Answer],
    seconds: float,
) -> Answer | None:
    """What the agent `name` answers.

    Args:
        consult: delivers the question.
        name: of the agent.
        question: as it is.
        decode: reads the answer; raises `msgspec.MsgspecError`.
        seconds: to wait for it.

    Returns:
        `None` if the agent cannot be reached, is late, or answers what cannot be read.
    """
    try:
        async with asyncio.timeout(seconds):
            return decode(await consult(name, encode(question)))
    except (ConnectionError, TimeoutError, GossamerError, msgspec.MsgspecError):
        return None
