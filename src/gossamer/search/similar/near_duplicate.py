"""A row of the table of near-duplicates."""

import msgspec

__all__ = ["NearDuplicate"]


class NearDuplicate(msgspec.Struct, frozen=True):
    """A page in a cluster, by the capture that stands for its URL.

    Attributes:
        url: of the page.
        time: of the capture, seconds since 1970.
        serial, offset: place of the capture in the archive.
        cluster: URL of the first page of the cluster.
        size: pages of the cluster.
        resemblance: to the page that it resembles most, 0 to 1.
    """

    url: str
    time: float
    serial: int
    offset: int
    cluster: str
    size: int
    resemblance: float
