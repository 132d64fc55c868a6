"""Tells the life of one URL, by the agent of a cluster that knows it best if agents crawled."""

from difflib import get_close_matches

import msgspec

from gossamer.inspect.inspection import Inspection
from gossamer.inspect.why.story import MOST_NEAR, Story, Storyteller


class Whole(msgspec.Struct, frozen=True):
    """The answer.

    Attributes:
        story: of the URL.
        nearest: known URLs that are spelt almost like it, if it is unknown.
        agent: whose story it is; empty if one process crawled.
        others: what else agents have to do with it, in words, by their names.
    """

    story: Story
    nearest: list[str]
    agent: str = ""
    others: dict[str, str] = {}


def tell_whole(inspection: Inspection, url: str) -> Whole:
    """Ask everybody; who visited it knows best, then he with whom it waits, then who turned it away.

    Raises:
        ConfigError: it is no URL, or nothing has been crawled.
    """
    tellers = {name: Storyteller(part) for name, part in inspection.each.items()}
    stories = {name: teller.tell(url) for name, teller in tellers.items()}
    agent = max(stories, key=lambda name: _knowledge(stories[name]))
    story = stories[agent]
    if story.state == "unknown":
        found = dict.fromkeys(near for teller in tellers.values() for near in teller.nearest(story.url))
        return Whole(story, get_close_matches(story.url, found, MOST_NEAR), agent)
    others = {
        name: f"knows it too: {other.state}"
        for name, other in stories.items()
        if name != agent and other.state != "unknown"
    }
    return Whole(story, [], agent, others | _forwarded(tellers, agent, story))


def _knowledge(story: Story) -> tuple[bool, bool, bool, bool]:
    """In what order agents are believed; of a URL that is unknown, the one that knows the host."""
    visited = story.record is not None and bool(story.record.visits)
    host = all(one.key != "host.unknown" for fact in story.facts for one in fact.told)
    return visited, story.state in ("queued", "waiting"), story.state != "unknown", host


def _forwarded(tellers: dict[str, Storyteller], agent: str, story: Story) -> dict[str, str]:
    """Who else crawled the page on which it was found, and so forwarded it."""
    vias = (one.values["via"] for fact in story.facts for one in fact.told if one.key == "found.link")
    via = str(next(vias, ""))
    if not via:
        return {}
    visitors = {name for name, teller in tellers.items() if _knowledge(teller.tell(via))[0]}
    if agent in visitors:
        return {}
    return dict.fromkeys(visitors, f"crawled {via} and forwarded it to {agent}")
