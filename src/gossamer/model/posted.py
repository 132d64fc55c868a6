"""A request with a body, and the address by which a crawl knows it."""

import msgspec

from gossamer.model.url import Url

METHOD = "__wb_method="
"""Stands in the address of a request with a body, and in no other."""


class Posted(msgspec.Struct, frozen=True):
    """What is sent for a URL that stands for more than itself.

    A crawl knows everything by its URL. So a POST has one of its own, which no server sees: the URL asked, with
    `__wb_method=POST` (`METHOD`) and what the body says behind it, as pywb looks such captures up.

    Attributes:
        url: that is asked.
        body: that is sent.
        media_type: of the body.
    """

    url: Url
    body: bytes
    media_type: str
