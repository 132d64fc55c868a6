"""Seeds from a file, on the command line."""

import json
from pathlib import Path

from cli_run import Gossamer


def test_a_crawl_from_a_file_goes_on_and_is_explained_without_it(gossamer: Gossamer, site: str) -> None:
    Path("given.txt").write_text(f"http://{site}/b.html\nhttp://{site}/private/x.html\n")
    options = ("--min-delay", "0", "--max-depth", "0", "--json")
    ran = gossamer("crawl", "--seeds", "given.txt", "--dir", "d", *options)
    assert json.loads(ran.out)["pages"] == 1
    Path("given.txt").unlink()
    assert 'seeds_file = "seeds.txt"' in Path("d/crawl.toml").read_text()
    assert gossamer("resume", "d", "--quiet").code == 0
    assert "on the seeds' hosts" in gossamer("why", "d", f"http://{site}/a.html").out
    Path("d/seeds.txt").unlink()
    ran = gossamer("resume", "d")
    assert ran.code == 2
    assert "seeds.txt: cannot be read" in ran.err


def test_seeds_on_the_command_line_are_added_to_the_file(gossamer: Gossamer, site: str) -> None:
    Path("given.txt").write_text(f"http://{site}/b.html\n")
    options = ("--min-delay", "0", "--max-depth", "0", "--json")
    ran = gossamer("crawl", f"http://{site}/a.html", "--seeds", "given.txt", *options)
    assert json.loads(ran.out)["pages"] == 2


def test_a_file_without_seeds_says_how_to_name_one(gossamer: Gossamer) -> None:
    Path("given.txt").write_text("# none yet\n")
    ran = gossamer("crawl", "--seeds", "given.txt")
    assert ran.code == 2
    assert ran.err.startswith("gossamer: seeds: there are none.")


def test_a_file_given_as_a_seed_is_met_with_the_option_for_it(gossamer: Gossamer) -> None:
    Path("given.txt").write_text("http://a.example/\n")
    ran = gossamer("crawl", "given.txt")
    assert ran.code == 2
    assert "'gossamer crawl --seeds given.txt'" in ran.err
    assert not Path("crawl-given.txt").exists()
