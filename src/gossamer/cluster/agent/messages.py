"""What one agent tells the owner of a shard: a link that was found, or what a robots file says."""

import msgspec

from gossamer.state.records import QueueRecord, RobotsRecord


class RobotsNews(msgspec.Struct, frozen=True, array_like=True):
    """What the robots file of an origin says that redirects to a host of the sender.

    Attributes:
        origin: scheme, host and port.
        record: as the sender would keep it, `until` in microseconds from the sending.
    """

    origin: str
    record: RobotsRecord


class Message(msgspec.Struct, frozen=True, array_like=True):
    """A link or news of a robots file: one of the two.

    Attributes:
        link: a candidate, judged to be in scope by its finder.
        gift: what the finder gives it, if the ordering has such; packed.
        robots: news of a robots file.
    """

    link: QueueRecord | None = None
    gift: bytes = b""
    robots: RobotsNews | None = None


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Message).decode
