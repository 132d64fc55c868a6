"""Each form of output is what its format says, whatever the pages hold."""

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import jsonschema
import pytest
from farm_site import QUICK, crawl
from link_farm import link_farm, page, to
from lxml import etree

from gossamer.audit.audit import audited
from gossamer.audit.excused import Baseline, Ignored, IgnoreList
from gossamer.audit.outputs.as_annotations import MOST, as_annotations
from gossamer.audit.outputs.as_csv import as_csv
from gossamer.audit.outputs.as_html import as_html
from gossamer.audit.outputs.as_json import as_json
from gossamer.audit.outputs.as_junit import as_junit
from gossamer.audit.outputs.as_sarif import as_sarif
from gossamer.audit.result import AuditResult
from gossamer.inspect.inspection import inspect
from gossamer.words.catalogue import words

SCHEMAS = Path(__file__).parent / "data"
ENGLISH = words("en")
HOSTILE = (
    "<title>&lt;script>alert(1)</title>"
    '<a href="/no?%1b[31m&lt;x>&quot;">=cmd()\x07 ]]> &lt;/failure> \u202e::error::x</a>'
    '<a href="/x#\x01\x02">%0A::warning::</a><a href="http://exa mple/<b>">b</a><a href="/moved">m</a>'
)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuditResult]:
    """Of a site whose words and addresses mean no good."""
    folder = tmp_path_factory.mktemp("outputs")
    with link_farm({"": page(HOSTILE), "moved": to("/x"), "x": page("<p id=a>x")}) as site:
        path = crawl(site.address, folder)
        known = Baseline([("link-broken", "http://exa mple/<b>")])
        with inspect(path) as inspection, audited(inspection, QUICK, known, IgnoreList()) as told:
            yield told


def test_json(result: AuditResult) -> None:
    told = json.loads(b"".join(as_json(result)))
    assert set(told["verdicts"]) == {"broken", "refused", "unknown", "moved", "well"}
    assert {"url", "verdict", "code", "status", "target", "pages"} <= set(told["links"][0])
    assert {"rule", "level", "url", "detail", "pages"} <= set(told["findings"][0])
    assert set(told["requests"]) == {"outside", "cached"}
    known = {finding["url"] for finding in told["findings"] if finding["known"]}
    assert known == {"http://exa mple/<b>"}
    assert told["levels"]["error"] == result.levels(new=True)["error"] + 1


def test_sarif_is_valid_by_its_schema(result: AuditResult) -> None:
    log = json.loads(b"".join(as_sarif(result, ENGLISH)))
    schema = json.loads((SCHEMAS / "sarif-2.1.0-reduced.json").read_text("utf-8"))
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).validate(log)
    run = log["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    assert {one["baselineState"] for one in run["results"]} == {"new", "unchanged"}
    uris = [
        place["physicalLocation"]["artifactLocation"]["uri"]
        for one in run["results"]
        for place in one["locations"]
    ]
    assert all(re.fullmatch(r"[!-~]+", uri) and not set(uri) & set('<>"\\^`{|} ') for uri in uris)


def test_junit_is_valid_by_its_schema(result: AuditResult) -> None:
    document = etree.fromstring("".join(as_junit(result, ENGLISH)).encode())
    etree.XMLSchema(etree.parse(SCHEMAS / "junit-reduced.xsd")).assertValid(document)
    for suite in document:
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
    failures = sum(int(suite.get("failures")) for suite in document)
    assert failures == int(document.get("failures")) == result.levels(new=True)["error"]


def test_csv_runs_in_no_spreadsheet(result: AuditResult) -> None:
    rows = list(csv.reader(io.StringIO("".join(as_csv(result)), newline="")))
    assert {len(row) for row in rows} == {9}
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_html_holds_nothing_of_a_page_as_markup(result: AuditResult, language: str) -> None:
    told = "".join(as_html(result, "<b>name", words(language)))
    assert "<script" not in told
    assert "<b>name" not in told
    assert "http" not in re.sub(r"<bdi.*?</bdi>", "", told).replace("http-equiv", "")
    assert told.startswith("<!DOCTYPE html>")
    assert told.count("<section") == told.count("</section>")


def test_annotations_are_one_line_each_and_say_nothing_known(result: AuditResult) -> None:
    lines = list(as_annotations(result, ENGLISH))
    assert len(lines) <= MOST
    assert lines[0].startswith("::error title=")
    assert not [line for line in lines if "\n" in line or "exa mple" in line]
    assert all(line.count("::") >= 2 and line.startswith("::") for line in lines)


def test_an_ignore_list_leaves_out_until_its_day(result: AuditResult) -> None:
    entry = Ignored("link-moved", "*/moved", "they know", date(2026, 1, 31))
    assert IgnoreList([entry], date(2026, 1, 31)).reason("link-moved", "http://x/moved") == "they know"
    late = IgnoreList([entry], date(2026, 2, 1))
    assert late.reason("link-moved", "http://x/moved") is None
    assert late.expired == [entry]
