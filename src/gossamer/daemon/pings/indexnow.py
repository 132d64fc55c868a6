"""Reads submissions by IndexNow.

Source: indexnow.org/documentation. Whoever submits proves that the host is theirs by a file on it that holds the key.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from gossamer.engine.signals.key_files import speaks_for
from gossamer.model.url import Url

MOST_URLS = 10_000
"""Of one submission, by the protocol."""
_KEY = re.compile(r"[A-Za-z0-9-]{8,128}", re.ASCII)
_NO_HOST = re.compile(r"[/?#@\\\s]")
_LONGEST = 8_192


class BadSubmissionError(Exception):
    """A submission that cannot be taken: answer with `status`."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Submission(msgspec.Struct, frozen=True):
    """Pages of one host.

    Attributes:
        urls: whole URLs, each below the folder of the key's file.
        key: what that file holds.
        location: its URL.
    """

    urls: tuple[str, ...]
    key: str
    location: str


def read_query(query: Mapping[str, str]) -> Submission:
    """The submission of one URL by GET.

    Raises:
        BadSubmissionError: it is none.
    """
    url = Url.parse(query.get("url", "")[: _LONGEST + 1])
    if url is None:
        raise BadSubmissionError(400, "url: is no URL")
    return _submission(url.host, [url.text], query.get("key", ""), query.get("keyLocation", ""))


def read_json(body: bytes) -> Submission:
    """The submission of a list by POST.

    Raises:
        BadSubmissionError: it is none.
    """
    try:
        asked: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        asked = None
    if not isinstance(asked, dict):
        raise BadSubmissionError(400, "the body is no JSON object")
    texts = [asked.get(name, "") for name in ("host", "key", "keyLocation")]
    urls = asked.get("urlList")
    if not isinstance(urls, list) or not all(isinstance(each, str) for each in (*texts, *urls)):
        raise BadSubmissionError(400, "host, key, keyLocation are texts, and urlList is a list of them")
    if not 0 < len(urls) <= MOST_URLS:
        raise BadSubmissionError(422, f"urlList: one to {MOST_URLS:,} URLs are taken at a time")
    return _submission(texts[0], urls, texts[1], texts[2])


def _submission(host: str, texts: list[str], key: str, location: str) -> Submission:
    if not _KEY.fullmatch(key):
        raise BadSubmissionError(422, "key: 8 to 128 letters, digits and hyphens are needed")
    first = Url.parse(texts[0])
    home = Url.parse(f"{first.scheme}://{host}/") if first is not None else None
    if first is None or home is None or _NO_HOST.search(host) or home.scheme not in ("http", "https"):
        raise BadSubmissionError(400, "host: is no name of a host")
    where = Url.parse(location or f"/{key}.txt", first.origin + "/")
    if where is None or where.host != home.host or not speaks_for(where, where):
        raise BadSubmissionError(422, "keyLocation: is no file on the host")
    urls = [Url.parse(text) for text in texts]
    kept = [url.text for url in urls if url is not None and speaks_for(where, url)]
    if len(kept) < len(texts) or max(map(len, kept)) > _LONGEST:
        raise BadSubmissionError(
            422, "urlList: all URLs must be of the host and port of the key's file, and below its folder"
        )
    return Submission(tuple(dict.fromkeys(kept)), key, where.text)
