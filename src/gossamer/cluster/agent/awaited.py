"""Finds a URL among the links that agents found and have not handed over, in folders where nothing runs."""

from collections.abc import Mapping

from gossamer.cluster.agent.messages import decode
from gossamer.cluster.agent.outbox import OURS
from gossamer.inspect.inspection import Inspection
from gossamer.state.environment import Family


def awaited(crawls: Mapping[str, Inspection], url: str) -> dict[str, str]:
    """Which agents found `url` and still owe it to its owner, in words, by name. Reads all outboxes."""
    found = {}
    for name, crawl in crawls.items():
        for _, data in crawl.environment.scan(Family.OUTBOX, prefix=OURS):
            link = decode(data).link
            if link is not None and link.url == url:
                found[name] = f"found it on {link.via or 'no page'} and is to hand it over to its owner"
                break
    return found
