"""A generated web with subjects: pages link to pages of their own subject more than chance would have it.

Davison (Topical Locality in the Web, 2000) found that linked pages resemble each other far more than pages
picked at random, and anchor texts the pages they lead to; the constants say how much so here.
"""

import random
from functools import lru_cache

TOPICS = 10
"""Subjects, equally large; the first is the one asked for."""
PAGES_TO_A_HOST = 25
OF_ITS_HOST = 0.7
"""Share of pages that are on their host's subject; the others are on any."""
LINKS = 12
"""Links of a page to others."""
LOCAL = 0.5
"""Share of links that stay with the page's subject; the others lead anywhere."""
SPEAKING_ANCHORS = 0.4
"""Share of links whose text has a word of the subject of the page they lead to; others are `read more`."""
SPEAKING_URLS = 0.2
"""Share of pages whose address has a word of their subject."""
WORDS = 300
TOPICAL_WORDS = 0.05
"""Share of a page's words that belong to its subject."""
STRAY_WORDS = 0.004
"""Share of a page's words that belong to some other subject."""
TOPIC_VOCABULARY = 6
COMMON_VOCABULARY = 4_000
SEEDS = 3
"""Pages on the subject from which a crawl begins."""


def _word(number: int) -> str:
    """A word of its own for each number, of consonants and vowels in turn."""
    syllables = []
    number += 400
    while number:
        number, low = divmod(number, 80)
        syllables.append("bcdfghjklmnprtvz"[low // 5] + "aeiou"[low % 5])
    return "".join(syllables) + "n"


class TopicalWeb:
    """Pages by number; each is made anew, and the same, whenever it is asked for."""

    def __init__(self, pages: int, seed: int = 1) -> None:
        chance = random.Random(seed)
        self.pages = pages
        self._seed = seed
        self.topics = [self._topic(number, chance) for number in range(pages)]
        self._of_topic: list[list[int]] = [[] for _ in range(TOPICS)]
        for number, topic in enumerate(self.topics):
            self._of_topic[topic].append(number)
        self._speaking = [chance.random() < SPEAKING_URLS for _ in range(pages)]
        self.query = " ".join(self._vocabulary(0)[:3])
        self._numbers = {self.url(number): number for number in range(pages)}

    def _topic(self, number: int, chance: random.Random) -> int:
        own = (number // PAGES_TO_A_HOST) * 7 % TOPICS
        return own if chance.random() < OF_ITS_HOST else chance.randrange(TOPICS)

    def _vocabulary(self, topic: int) -> list[str]:
        return [_word(topic * TOPIC_VOCABULARY + at) for at in range(TOPIC_VOCABULARY)]

    def seeds(self) -> list[int]:
        """Where a crawl begins."""
        return self._of_topic[0][:SEEDS]

    def wanted(self, number: int) -> bool:
        """Whether a page is on the subject asked for."""
        return self.topics[number] == 0

    def url(self, number: int) -> str:
        """The page's address."""
        word = self._vocabulary(self.topics[number])[number % TOPIC_VOCABULARY]
        slug = word if self._speaking[number] else "page"
        return f"http://h{number // PAGES_TO_A_HOST}.test/{slug}-{number}.html"

    def number(self, url: str) -> int:
        """The page at an address."""
        return self._numbers[url]

    @lru_cache(maxsize=1)  # noqa: B019 (two orders seldom ask for the same page in a row)
    def page(self, number: int) -> bytes:
        """The page as HTML."""
        chance = random.Random(self._seed * 1_000_003 + number)
        own = self._vocabulary(self.topics[number])
        words = [self._text_word(own, chance) for _ in range(WORDS)]
        links = [self._link(number, chance) for _ in range(LINKS)]
        # The neighbour on the same host, so that every page can be reached.
        after = (number + 1) % self.pages
        links.append(f'<a href="{self.url(after)}">next</a>')
        title = " ".join([chance.choice(own), *words[:3]])
        return (
            f"<!DOCTYPE html><html><head><title>{title}</title></head><body><p>{' '.join(words)}</p>"
            f"<ul>{''.join(f'<li>{link}</li>' for link in links)}</ul></body></html>"
        ).encode()

    def _text_word(self, own: list[str], chance: random.Random) -> str:
        share = chance.random()
        if share < TOPICAL_WORDS:
            return chance.choice(own)
        if share < TOPICAL_WORDS + STRAY_WORDS:
            return chance.choice(self._vocabulary(chance.randrange(TOPICS)))
        return _word(TOPICS * TOPIC_VOCABULARY + int(COMMON_VOCABULARY * chance.random() ** 2))

    def _link(self, number: int, chance: random.Random) -> str:
        local = chance.random() < LOCAL
        target = chance.choice(self._of_topic[self.topics[number]]) if local else chance.randrange(self.pages)
        text = "read more"
        if chance.random() < SPEAKING_ANCHORS:
            text = f"about {chance.choice(self._vocabulary(self.topics[target]))}"
        return f'<a href="{self.url(target)}">{text}</a>'
