"""What a capture takes on disk: the one thing in the state that grows with each visit."""

import hashlib

from gossamer.archive.cdxj import index_entry, read_capture
from gossamer.archive.placement import Placed
from gossamer.model.url import Url
from gossamer.state.environment import Environment, Family, StateConfig

PAGES, ROUNDS = 100, 40


def entry(page, round_):
    url = Url.parse(f"http://www.example.org/documents/page-{page}.html")
    digest = hashlib.sha256(url.text.encode()).digest()
    at = round_ * PAGES + page
    length, offset = 580 + at * 7 % 23, at * 1_187
    placed = Placed(
        "crawl-20260101000000000-00000-host.warc.gz", offset, length, 0, "revisit", "urn:uuid:0", "", digest
    )
    return index_entry(url, 1_800_000_000 + at * 7.0, placed, 304, "")


def test_a_capture_of_a_page_that_is_visited_again_takes_few_bytes(tmp_path):
    environment = Environment.open(tmp_path / "state", StateConfig())
    for round_ in range(ROUNDS):
        batch = environment.batch()
        for page in range(PAGES):
            batch.put(Family.CAPTURES, *entry(page, round_))
        environment.commit(batch)
    environment.close()
    environment = Environment.open_read_only(tmp_path / "state", StateConfig())
    try:
        assert 10 < environment.disk_bytes(Family.CAPTURES) / (PAGES * ROUNDS) < 40
        assert environment.disk_bytes(Family.OUTBOX) == 0
        key, line = entry(7, 3)
        assert read_capture(environment.get(Family.CAPTURES, key)) == read_capture(line)
    finally:
        environment.close()
