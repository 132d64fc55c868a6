"""Runs work that blocks in a thread, to its end."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`work(...)`, called in a thread.

    A thread cannot be stopped. Where the caller is cancelled, this waits for the thread all the same, so
    that whatever it works on (a file, the state) is not closed under it, nor worked on by another.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # nobody is left to hear of it
        raise
