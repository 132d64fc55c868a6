"""The trap learner on a web whose truth is known: traps are left, good pages are not."""

import re
from collections import Counter, deque
from functools import cache

import pytest
import xxhash
from benchmarks.trap_web import TRAPS, TrapWeb, TrapWebSpec

from gossamer.model.url import Url
from gossamer.policy import trap_learner as learner
from gossamer.policy.text_sketch import Gists, HostText, gist, sketch
from gossamer.policy.trap_learner import Evidence, PatternRecord, TrapLearnerConfig, judge, learn
from gossamer.policy.trap_stems import Stems
from gossamer.policy.url_pattern import marches, url_pattern

CONFIG = TrapLearnerConfig()


class HostCrawl:
    """Crawls one host breadth first, as a crawl would that has nothing else to do."""

    def __init__(self, web: TrapWeb, host: str) -> None:
        self._web, self._host = web, host
        self.records: dict[str, PatternRecord] = {}
        self.fetched: Counter[str] = Counter()
        self.turned_away: Counter[str] = Counter()
        self._text, self._gists, self._stems = HostText(), Gists(), Stems()

    def run(self, most: int) -> None:
        start = self._web.url(self._host, "/")
        seen, queue = {start}, deque([start])
        while queue and self.fetched.total() < most:
            url = queue.popleft()
            pattern, now = self._judge(url)
            kind = self._web.kind(url)
            if now.action == "quarantine":
                self.turned_away[kind] += 1
                continue
            self.fetched[kind] += 1
            links = [link for link in self._web.links(url) if self._parse(link).host == self._host]
            new = [link for link in dict.fromkeys(links) if link not in seen]
            seen.update(new)
            queue.extend(new)
            self._learn(url, pattern.text, new)

    def _parse(self, url: str) -> Url:
        parsed = Url.parse(url)
        assert parsed is not None
        return parsed

    def _record(self, text: str) -> PatternRecord:
        return self.records.get(text) or PatternRecord(text)

    def _judge(self, url: str):
        pattern = url_pattern(self._parse(url).target)
        own, stem = self._record(pattern.text), self._record(pattern.stem)
        fingerprint = xxhash.xxh3_64_intdigest(url.encode())
        return pattern, judge(own, stem, pattern.doubts, fingerprint, self._stems.get(pattern.stem), CONFIG)

    def _learn(self, url: str, own: str, new: list[str]) -> None:
        pattern = url_pattern(self._parse(url).target)
        links = open_links = 0
        bred = {own: 0, pattern.stem: 0}
        for link in new:
            there = url_pattern(self._parse(link).target)
            text = there.text
            for one in {text, there.stem}:
                self.records[one] = learner.found(self._record(one))
            if there.stem == pattern.stem and marches(
                pattern, there, self._parse(url).target, self._parse(link).target
            ):
                bred[pattern.stem] += 1
                bred[own] += text == own != pattern.stem
            if text != own:
                links += learner.is_proven(self._record(text))
                open_links += learner.is_open(self._record(text), self._record(there.stem))
        body = self._web.body(url)
        shown = re.sub(rb"<[^>]*>", b"", body)
        copy = self._gists.met(b"", gist("", "", len(shown), body.count(b"<a ")))
        fingerprint = xxhash.xxh3_64_intdigest(url.encode())
        if not learner.wants_sketch(self._record(own), pattern.doubts, fingerprint):
            return
        new_text = 0 if copy else self._text.new_text(sketch(body))
        evidence = Evidence(url, new_text, links, open_links)
        start = learner.head_start(pattern.doubts, self._stems.get(pattern.stem), CONFIG)
        for text, more in bred.items():
            self.records[text] = learn(self._record(text), evidence, start, more, CONFIG)


@cache
def _web() -> TrapWeb:
    return TrapWeb(TrapWebSpec(hosts=len(TRAPS) + 3, pages=60 * (len(TRAPS) + 3), farm_hosts=2))


@pytest.mark.parametrize("number", range(len(TRAPS) + 3))
def test_traps_are_left_and_good_pages_are_not(number: int) -> None:
    crawl = HostCrawl(_web(), f"www.site{number}.test")
    crawl.run(most=1_500)
    traps = crawl.fetched.total() - crawl.fetched["good"]
    assert crawl.turned_away["good"] <= crawl.fetched["good"] // 50
    # Wherever URLs were left over, the crawl ended for want of any that it thought worth a visit.
    # Nothing is odd about endless folders before they are seven deep; until then a crawl only puts them last.
    assert traps <= (450 if "endless" in crawl.fetched else 300), crawl.fetched
    if number and number <= len(TRAPS):
        assert traps > 0
    else:
        assert not any(record.quarantined for record in crawl.records.values())
