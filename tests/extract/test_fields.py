"""Selectors, and the values that they make of what pages write."""

import pytest

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.extract.fields.extractor import FieldsExtractor, read_groups
from gossamer.extract.fields.selector import Parsed, read_selector
from gossamer.extract.fields.values import moment, number
from gossamer.model.document import Document
from gossamer.model.errors import ConfigError
from gossamer.model.exchange import Headers
from gossamer.model.url import Url

PAGE = b"""<base href="/shop/"><title>Tea</title><h1> Green
 tea </h1><p class=price>EUR&nbsp;1.299,50</p><p class=price>7</p><a class=next href="p2?x=1">more</a>
<time datetime="2026-01-31T12:00:00Z">yesterday</time><ul><li>a<li>b<li></ul>"""
URL = Url.parse("https://example.org/p/1")


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        ("h1", "Green tea"),
        ("h1::text", "Green tea"),
        (".price | number", 1299.5),
        (".price | number | all", [1299.5, 7]),
        (".price | all | number", [1299.5, 7]),
        ("a.next::attr(href)", "p2?x=1"),
        ("a.next::attr(href) | url", "https://example.org/shop/p2?x=1"),
        ("time::attr(datetime) | date", "2026-01-31T12:00:00+00:00"),
        ("time | date", None),
        ("li | all", ["a", "b"]),
        ("title | html", "<title>Tea</title>"),
        (".none", None),
        (".none | all", None),
        ("//h1/text()", "Green tea"),
        ("xpath:string(//title)", "Tea"),
        ("//li | all", ["a", "b"]),
        ("//h1 | //title | all", ["Tea", "Green tea"]),
        ("count(//li)", None),
        ("(//li)[2]", "b"),
    ],
)
def test_what_selectors_find(selector: str, value: object) -> None:
    if selector == "count(//li)":
        with pytest.raises(ConfigError):
            read_selector(selector)  # CSS, as nothing says otherwise
        return
    if selector.startswith(("/", "(", "xpath")):
        pytest.importorskip("lxml")
    found = Parsed(PAGE, "utf-8", URL).value(read_selector(selector))
    if isinstance(value, str):
        assert isinstance(found, str)
        assert " ".join(found.split()) == value
    else:
        assert found == value


@pytest.mark.parametrize("wrong", ["", "  ", "..a", "a[", "| number", "::text", "//a[", "a ::attr(x) b("])
def test_what_is_no_selector_is_told(wrong: str) -> None:
    if wrong.startswith("/"):
        pytest.importorskip("lxml")
    with pytest.raises(ConfigError):
        read_selector(wrong)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.299,50 EUR", 1299.5), ("$1,299.50", 1299.5), ("1,299", 1299), ("1.299", 1299), ("12.99", 12.99),
        ("0,5", 0.5), ("0.125", 0.125), ("1'299.50", 1299.5), ("1 299,50", 1299.5), ("1 299 000", 1299000),
        ("-3", -3), ("\u22123,5", -3.5), ("from 7 to 9", 7), ("1.000.000", 1000000),
        ("1,000,000.5", 1000000.5), ("none", None), ("", None), ("12,", 12), ("1299.5", 1299.5),
        ("4.5 of 5", 4.5), ("1" * 5000, int("1" * 200)),
    ],
)  # fmt: skip
def test_numbers(text: str, value: float | None) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-31", "2026-01-31"), ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00+00:00"),
        ("Sat, 31 Jan 2026 12:00:00 GMT", "2026-01-31T12:00:00+00:00"), ("31.1.2026", "2026-01-31"),
        ("2026/1/31", "2026-01-31"), ("2026年1月31日", "2026-01-31"), ("January 31, 2026", "2026-01-31"),
        ("on 31 Jan. 2026 at noon", "2026-01-31"), ("31st January 2026", "2026-01-31"), ("31.13.2026", None),
        ("yesterday", None), ("", None), ("1" * 100_000, None), ("May 2026", None),
    ],
)  # fmt: skip
def test_dates(text: str, value: str | None) -> None:
    assert moment(text) == value


def _found(address: str, sections: dict[str, dict[str, str]]) -> dict[str, object]:
    url = Url.parse(address)
    assert url is not None
    document = Document(url, "text/html", "utf-8", Headers([]), PAGE)
    return FieldsExtractor(read_groups(sections)).extract(document).fields


def test_groups_are_for_pages_whose_address_matches() -> None:
    sections = {"product": {"match": "/p/*", "name": "h1"}, "all": {"title": "title", "none": ".none"}}
    assert _found("https://example.org/p/1?x=2", sections) == {"name": "Green tea", "title": "Tea"}
    assert _found("https://example.org/q/p/1", sections) == {"title": "Tea"}
    host = {"one": {"match": "https://*.example.org/*", "name": "h1"}}
    assert _found("https://www.example.org/", host) == {"name": "Green tea"}
    assert _found("https://example.com/", host) == {}


def test_every_wrong_selector_of_a_configuration_is_listed() -> None:
    with pytest.raises(ConfigError) as caught:
        load(CrawlConfig, {"seeds": ["example.org"], "fields": {"a": {"x": "..b", "y": "h1", "z": "["}}})
    assert "fields.a.x" in str(caught.value)
    assert "fields.a.z" in str(caught.value)
    assert "fields.a.y" not in str(caught.value)
