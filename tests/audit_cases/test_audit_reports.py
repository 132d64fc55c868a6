"""Reports for programs: CSV, JUnit, SARIF, annotations, HTML."""

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
from audited import LINKED, Audit, page
from lxml import etree
from shapes import JUNIT, SARIF
from small_site import small_site

BROKEN = [target for target, (verdict, _) in LINKED.items() if verdict == "broken"]
_SCHEMA = etree.XMLSchema(etree.XML(JUNIT))


def junit(path: Path) -> ET.Element:
    _SCHEMA.assertValid(etree.fromstring(path.read_bytes()))
    return ET.fromstring(path.read_text())


def sarif(path: Path) -> dict:
    told = json.loads(path.read_text())
    jsonschema.Draft202012Validator(SARIF).validate(told)
    return told


def test_csv_has_a_line_for_each_page_that_holds_what_is_broken(audit: Audit, site: str):
    ran = audit("--csv")
    rows = list(csv.reader(io.StringIO(ran.stdout)))
    assert ran.returncode == 1
    assert len({len(row) for row in rows}) == 1
    for target in BROKEN:
        held = {
            page
            for row in rows
            for page in (site, f"{site}second")
            if page in row and any(target in cell for cell in row)
        }
        assert held == {site, f"{site}second"}, target
    assert any("gone & <lost>" in row for row in rows)


def test_junit_fails_where_the_audit_does(audit: Audit):
    assert audit("--junit", "j.xml").returncode == 1
    root = junit(audit.folder / "j.xml")
    cases = list(root.iter("testcase"))
    failing = [case for case in cases if case.find("failure") is not None]
    assert failing
    suites = [root] if root.tag == "testsuite" else list(root.iter("testsuite"))
    assert sum(int(suite.get("tests", 0)) for suite in suites) == len(cases)
    assert sum(int(suite.get("failures", 0)) for suite in suites) == len(failing)
    whole = " ".join(" ".join((*case.attrib.values(), *case.itertext())) for case in failing)
    assert all(target in whole for target in (*BROKEN, "/missing"))
    assert not any(f"{target} " in whole for target in ("/forbidden", "/too-many"))


def test_sarif_is_valid_and_names_its_rules(audit: Audit):
    assert audit("--sarif", "s.json").returncode == 1
    run = sarif(audit.folder / "s.json")["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    for result in run["results"]:
        assert result["ruleId"] in rules
        assert rules[result.get("ruleIndex", rules.index(result["ruleId"]))] == result["ruleId"]
        assert result["locations"]
    errors = json.dumps([result for result in run["results"] if result.get("level") == "error"])
    assert all(target in errors for target in (*BROKEN, "/missing"))


def test_annotations_are_lines_that_the_runner_understands(audit: Audit):
    ran = audit("--annotations")
    lines = [line for line in ran.stdout.splitlines() if line.startswith("::")]
    assert ran.returncode == 1
    assert lines
    assert all(
        re.match(r"::(error|warning|notice)( [a-zA-Z]+=[^,:]*(,[a-zA-Z]+=[^,:]*)*)?::.+", line)
        for line in lines
    )
    errors = "\n".join(line for line in lines if line.startswith("::error"))
    assert all(target in errors for target in BROKEN)


def test_reports_of_several_kinds_come_from_one_run(audit: Audit):
    ran = audit("--json", "--junit", "j.xml", "--sarif", "s.json", "--html", "h.html")
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["links"]
    assert junit(audit.folder / "j.xml") is not None
    assert sarif(audit.folder / "s.json")["runs"]
    shown = (audit.folder / "h.html").read_text()
    assert "gone &amp; &lt;lost&gt;" in shown
    assert "<lost>" not in shown


def test_a_good_site_is_reported_too(tmp_path: Path):
    with small_site({"": page("front page"), "robots.txt": ""}.get) as address:
        ran = Audit(address, tmp_path)("--junit", "j.xml", "--sarif", "s.json")
    assert ran.returncode == 0
    assert not list(junit(tmp_path / "j.xml").iter("failure"))
    assert not [one for one in sarif(tmp_path / "s.json")["runs"][0]["results"] if one["level"] == "error"]


def test_no_text_of_a_page_breaks_a_report(tmp_path: Path):
    texts = (
        "a\x01\x0b\x1b[31mb",
        "]]>",
        "::error::100%\n\r::x",
        "\ud83d\ude00 \u202eabc",
        '"; DROP',
        "=1+1",
        "&#0;&#xFFFF;",
    )
    anchors = "".join(
        f'<a href="/gone-{number}#\x01">{text.encode("utf-16", "surrogatepass").decode("utf-16")}</a>'
        for number, text in enumerate(texts)
    )
    with small_site({"": page("front page", anchors), "robots.txt": ""}.get) as address:
        ran = Audit(address, tmp_path)(
            "--output", "d", "--json", "--junit", "j.xml", "--sarif", "s.json", "--html", "h.html"
        )
        assert ran.returncode == 1, ran.stderr
        assert len([link for link in json.loads(ran.stdout)["links"] if link["verdict"] == "broken"]) == len(
            texts
        )
        assert len(list(junit(tmp_path / "j.xml").iter("failure"))) >= len(texts)
        assert sarif(tmp_path / "s.json")["runs"][0]["results"]
        again = Audit("d", tmp_path)
        shown = again("--annotations").stdout
        assert not any(line.startswith(("::x", "::error::100")) for line in shown.splitlines())
        for out in (shown, again().stdout, again("--csv").stdout):
            assert "\x1b[31m" not in out
            assert "\x01" not in out
        assert "\u202e" not in again().stdout
