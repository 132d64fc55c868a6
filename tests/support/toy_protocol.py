"""A toy of a protocol, `ftp://`, with words of its own: folders, files, absences, a server that is busy."""

import asyncio
import time

from gossamer.fetch.body import SpooledBody
from gossamer.model.exchange import Exchange, FurtherRecord, Headers, Result, StatusAction
from gossamer.model.outcome import Fetched

TABLE = {
    "directory": StatusAction.PROCESS,
    "226": StatusAction.PROCESS,
    "550": StatusAction.DROP,
    "421": StatusAction.THROTTLED,
    "450": StatusAction.RETRY,
    "nothing": StatusAction.NOTHING,
}


class ToyModule:
    """Serves a tree: names that end in a slash are folders, the others hold what they say."""

    schemes = frozenset({"ftp"})

    def __init__(self, files, answers=None):
        self.files = files
        self.answers = answers or {}
        self.asked = []

    async def fetch(self, lease):
        await asyncio.sleep(0)
        url = lease.candidate.url
        self.asked.append(url.path)
        waiting = self.answers.get(url.path)
        if waiting:
            return self.answer(url, waiting.pop(0))
        if url.path.endswith("/"):
            below = sorted({name[len(url.path) :].partition("/")[0] + "/" * ("/" in name[len(url.path) :]) for name in self.files if name.startswith(url.path)})  # fmt: skip # noqa: E501
            if not below:
                return self.answer(url, "550")
            listing = "".join(f"<a href='{name}'>{name}</a>" for name in below)
            dialogue = FurtherRecord(
                "metadata", "text/x-toy-control-conversation", b"LIST " + url.path.encode()
            )
            return self.answer(url, "directory", listing.encode(), "text/html", (dialogue,))
        if url.path not in self.files:
            return self.answer(url, "550")
        content = self.files[url.path]
        return self.answer(
            url, "226" if content else "nothing", content, "text/plain", self.beside(url, content)
        )

    def beside(self, url, content):
        if not content.startswith(b"picture"):
            return ()
        return (
            FurtherRecord("resource", "image/png", b"thumb of " + content, url.text + "?thumb"),
            FurtherRecord("conversion", "text/plain", content.upper(), fields=(("WARC-X-Made-By", "toy 1"),)),
            FurtherRecord("metadata", "text/x-toy-control-conversation", b"RETR"),
            FurtherRecord("resource", "text/plain", b"no address", "urn:toy:1"),
        )

    def answer(self, url, word, content=b"", kind="", further=()):
        return Fetched(
            Exchange(
                url,
                time.time(),
                b"",
                0,
                b"",
                Headers([("Content-Type", kind)] if kind else []),
                SpooledBody(content),
                protocol="ftp",
                result=Result(word, TABLE[word]),
                further=further,
            )
        )

    async def close(self):
        pass
