"""What is said before a first crawl, by its seeds."""

import pytest

from gossamer.cli.terminal.hints import hints
from gossamer.config.config import CrawlConfig
from gossamer.fetch.config import FetchConfig
from gossamer.model.url import Url


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        ("", ["--contact"]),
        ("http://a.example/", ["--contact"]),
        ("ftp://a.example/", ["--contact"]),
        ("file:///srv/a http://a.example/", ["--contact"]),
        ("http://127.0.0.1/ http://a.example/", ["--contact"]),
        ("http://127.0.0.1/ http://a.localhost/", ["--min-delay"]),
        ("http://127.0.0.1/ file:///srv/a", ["--min-delay"]),
        ("file:///srv/a", []),
        ("sftp://a.example/a", []),
    ],
)
def test_only_those_are_given_that_somebody_reads(seeds: str, told: list[str]) -> None:
    urls = [url for seed in seeds.split() if (url := Url.parse(seed)) is not None]
    assert len(urls) == len(seeds.split())
    lines = list(hints(CrawlConfig(), urls))
    assert [part for line in lines for part in ("--contact", "--min-delay") if part in line] == told
    known = CrawlConfig(fetch=FetchConfig(contact="me@example.org"))
    assert "--contact" not in "".join(hints(known, urls))
