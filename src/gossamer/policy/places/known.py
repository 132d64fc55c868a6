"""Says of settings that they may differ by place, and what is known when each of them is asked for."""

from enum import IntEnum
from typing import Final

from msgspec import Meta


class Known(IntEnum):
    """What is known when a setting is asked for; each includes those before it."""

    HOST = 0  # whose turn it is
    URL = 1  # what is visited
    ADDRESS = 2  # where the request goes
    ANSWER = 3  # the head of the response, with its media type


MARK: Final = "by_place"
"""What a setting that may differ is marked with, in the `extra` of its type."""

BY_HOST = Meta(extra={MARK: Known.HOST})
BY_URL = Meta(extra={MARK: Known.URL})
BY_ADDRESS = Meta(extra={MARK: Known.ADDRESS})
BY_ANSWER = Meta(extra={MARK: Known.ANSWER})
