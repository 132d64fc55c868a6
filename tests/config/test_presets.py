"""What a crawl is for, as a word, and that what is set anyway beats it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cli.request import Request, compose
from gossamer.config.config import CrawlConfig
from gossamer.config.presets import PRESETS, with_preset
from gossamer.config.settings import load, merge, parse_toml, to_toml
from gossamer.model.errors import ConfigError

SETTINGS: dict[str, Any] = {
    "scope.requisites": "host",
    "speculation.follow": False,
    "documents.follow": False,
    "extract.anchor_text": False,
    "engine.order": "dfs",
}


def value_of(tree: dict[str, Any], path: str) -> Any:
    for name in path.split("."):
        tree = tree[name]
    return tree


@given(st.sampled_from(sorted(PRESETS)), st.sets(st.sampled_from(sorted(SETTINGS))))
def test_what_is_set_beats_the_word_and_the_word_what_is_not(word: str, said: set[str]) -> None:
    tree = merge({"for": word}, {path: SETTINGS[path] for path in said})
    made = with_preset(tree)
    assert "for" not in made
    assert {path: value_of(made, path) for path in said} == {path: SETTINGS[path] for path in said}
    for path, value in PRESETS[word].items():
        assert path in said or value_of(made, path) == value
    load(CrawlConfig, made)
    assert with_preset(made) == made


def composed(
    options: dict[str, object], settings: tuple[str, ...] = (), config: Path | None = None
) -> CrawlConfig:
    return compose(Request(["example.org"], options=options, settings=settings, config=config))


def test_the_command_line_beats_the_file_and_each_setting_the_word(tmp_path: Path) -> None:
    file = tmp_path / "gossamer.toml"
    file.write_text('for = "archive"\n[extract]\nanchor_text = false\n')
    archive = composed({}, config=file)
    assert (archive.scope.requisites, archive.speculation.follow) == ("any", True)
    links = composed({"preset": "links"}, config=file)  # the word of the file is not heard at all
    assert (links.scope.requisites, links.speculation.follow, links.extract.anchor_text) == (
        "off",
        False,
        False,
    )
    assert composed({"preset": "archive", "requisites": "host"}).scope.requisites == "host"
    assert composed({"preset": "archive"}, ("scope.requisites=off",)).scope.requisites == "off"


def test_the_folder_keeps_settings_and_no_word() -> None:
    written = to_toml(composed({"preset": "archive"}))
    kept = parse_toml(written)
    assert "for" not in kept
    assert kept["scope"]["requisites"] == "any"
    with pytest.raises(ConfigError, match="for"):  # of a crawl that is there all is settled
        load(CrawlConfig, {**kept, "for": "text"})


@pytest.mark.parametrize("word", ["keep", "", 3, ["archive"]])
def test_another_word_is_refused(word: object) -> None:
    with pytest.raises(ConfigError, match="is none of archive, text, links, mirror"):
        with_preset({"for": word})


def test_nonsense_where_a_section_should_be_is_left_for_the_check() -> None:
    assert with_preset({"for": "archive", "scope": 1, "speculation": []})["scope"] == 1


def test_the_documentation_has_what_each_word_sets() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/settings.md").read_text()
    for word, settings in PRESETS.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{word}` |"))
        assert all(f"`{path} = {str(value).lower()}`" in row for path, value in settings.items()), row
