"""The traps command: what it lists, what it refuses."""

from cli_run import Gossamer


def test_patterns_are_listed_and_released(gossamer: Gossamer, site: str) -> None:
    learning = ("--set", "trap_learner.learn=true")
    assert gossamer("crawl", site, "--dir", "c", "--min-delay", "0", "--quiet", *learning).code == 0
    shown = gossamer("traps", "c")
    assert shown.code == 0
    assert shown.out.startswith("0 patterns taken for traps")
    assert "/*.html" in shown.out
    listed = gossamer("traps", "c", "--json")
    assert '"pattern":"/*.html"' in listed.out.replace(": ", ":")

    released = gossamer("traps", "c", "--release", "/*.html")
    assert (released.code, released.err) == (0, "")
    assert "released" in gossamer("traps", "c").out
    assert gossamer("traps", "c", "--host", "nobody.example").out.startswith("0 patterns")


def test_a_pattern_that_is_not_known_is_refused(gossamer: Gossamer, site: str) -> None:
    gossamer("crawl", site, "--dir", "c", "--min-delay", "0", "--quiet")
    refused = gossamer("traps", "c", "--release", "/nothing/#")
    assert refused.code == 2
    assert "no pattern '/nothing/#'" in refused.err


def test_a_running_crawl_must_be_stopped_first(gossamer: Gossamer, site: str) -> None:
    from pathlib import Path

    from gossamer.app.folder import CrawlFolder

    gossamer("crawl", site, "--dir", "c", "--min-delay", "0", "--quiet")
    running = CrawlFolder(Path("c"))
    running.reopen()
    try:
        refused = gossamer("traps", "c", "--release", "/*.html")
    finally:
        running.release()
    assert refused.code == 2
    assert "the crawl is running. Stop it" in refused.err
