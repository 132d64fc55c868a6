"""What settings mean, in each language: all of them, with the same figures."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from every import every

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.config.shape import Kind, settings_of
from gossamer.datasets.tables import TABLES
from gossamer.policy.ordering.orders import ORDERS
from gossamer.web.console.jobs.live_settings import effective
from gossamer.words.amounts import LANGUAGES
from gossamer.words.catalogue import words

FIGURE = re.compile(r"\d[\d.,:]*\d|\d")


def described(struct: msgspec.Struct, above: str = "") -> Iterator[tuple[str, str]]:
    """Path and English meaning of each setting, as the view `settings` lists them."""
    for setting in settings_of(type(struct)):
        value = getattr(struct, setting.name)
        if setting.shape.kind is Kind.TABLE and isinstance(value, msgspec.Struct):
            yield from described(value, f"{above}{setting.key}.")
        else:
            yield f"{above}{setting.key}", setting.description


def of_tables() -> Iterator[tuple[str, str]]:
    """Path and English meaning of each column of the tables for SQL, and what a row is."""
    for table in TABLES:
        yield f"tables.{table.name}.a_row", table.row
        for column in table.columns:
            yield f"tables.{table.name}.{column.name}", column.meaning


ENGLISH = dict(described(load(CrawlConfig, {"seeds": ["http://a.test/"]}))) | dict(of_tables())
OTHERS = [code for code in LANGUAGES if code != "en"]


@pytest.mark.parametrize("language", OTHERS)
def test_every_setting_has_its_meaning_in_every_language(language: str) -> None:
    meanings = words(language).meanings
    assert meanings.keys() == ENGLISH.keys()
    assert [path for path, said in meanings.items() if not re.search("[\u4e00-\u9fff]", str(said))] == []


@pytest.mark.parametrize("language", OTHERS)
@every("path", ENGLISH)
def test_a_meaning_names_the_same_figures(language: str, path: str) -> None:
    english = FIGURE.findall(ENGLISH[path])
    assert sorted(FIGURE.findall(words(language).meaning(path, ""))) == sorted(english)


def test_what_a_plugin_adds_is_told_in_its_own_words() -> None:
    about = {"scope.mode": {"description": "old words"}, "order.plugin.x": {"description": "its words"}}
    lines = effective(about, {}, words("zh"))
    assert [line.description == "its words" for line in lines] == [False, True]
    assert [line.description for line in effective(about, {}, words("en"))] == ["old words", "its words"]


@every("order", ORDERS)
def test_an_ordering_is_named_wherever_orders_are_told(order: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "order.md"
    assert f"\n| `{order}` |" in page.read_text(encoding="utf-8")
    for language in LANGUAGES:
        assert words(language).has(f"order.{order}")
        assert order in words(language).meaning("engine.order", ENGLISH["engine.order"])
