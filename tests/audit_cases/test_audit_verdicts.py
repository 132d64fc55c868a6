"""What is told of links, and what is asked for it."""

from collections import Counter
from pathlib import Path

import pytest
from audited import LINKED, Audit, links, page, verdicts
from small_site import small_site

VERDICTS = {"broken", "refused", "unknown", "moved", "well"}
Foreign = tuple[str, Counter[tuple[str, str]]]


def test_each_link_has_the_verdict_of_its_server(audit: Audit, foreign: Foreign):
    assert verdicts(audit.json(status=1), foreign[0]) == {
        target: verdict for target, (verdict, _) in LINKED.items()
    }


def test_json_is_as_agreed(audit: Audit, site: str, foreign: Foreign):
    told = audit.json()
    assert set(told) >= {"verdicts", "links", "findings", "requests"}
    assert set(told["verdicts"]) <= VERDICTS
    assert told["verdicts"] == {**told["verdicts"], **Counter(link["verdict"] for link in told["links"])}
    assert set(told["requests"]) >= {"outside", "cached"}
    for link in told["links"]:
        assert set(link) >= {"url", "verdict", "code", "status", "target", "pages"}
        assert link["code"]
    for finding in told["findings"]:
        assert set(finding) >= {"rule", "level", "url", "detail", "pages"}
        assert finding["level"] in ("error", "warning", "note")
    by_url = {link["url"]: link for link in told["links"]}
    assert by_url[f"{foreign[0]}/moved"]["target"] == f"{foreign[0]}/fine"
    assert by_url[f"{foreign[0]}/gone"]["status"] == 404
    assert by_url[f"{site}missing"]["verdict"] == "broken"


def test_every_page_that_holds_a_link_is_told_with_its_text(audit: Audit, site: str, foreign: Foreign):
    by_url = {link["url"]: link for link in audit.json()["links"]}
    for target, (_, text) in LINKED.items():
        held = {(held["url"], held["text"]) for held in by_url[foreign[0] + target]["pages"]}
        assert held == {(site, text), (f"{site}second", text)}
    assert by_url[f"{site}missing"]["pages"] == [{"url": f"{site}second", "text": "What is missing"}]


def test_foreign_pages_are_asked_once_and_never_crawled(audited: Path, foreign: Foreign):
    asked = foreign[1]
    assert not any(path == "/never-crawled" for _, path in asked)
    assert all(
        times == 1
        for (_, path), times in asked.items()
        if path in ("/gone-for-good", "/forbidden", "/no-head")
    )
    assert asked["HEAD", "/no-head"] == asked["GET", "/no-head"] == 1
    assert asked["GET", "/forbidden"] + asked["HEAD", "/forbidden"] <= 2


def test_a_second_audit_asks_nobody(audit: Audit, foreign: Foreign):
    before = foreign[1].total()
    told = audit.json()
    assert foreign[1].total() == before
    assert told["requests"]["outside"] == 0
    assert told["requests"]["cached"] > 0


@pytest.mark.parametrize(
    ("fragment", "broken"),
    [
        ("here", False),
        ("top", False),
        ("", False),
        (":~:text=anything", False),
        ("absent", True),
        ("Here", True),
    ],
)
def test_a_fragment_must_be_there(tmp_path: Path, fragment: str, broken: bool):
    inside = f'<h2 id="here">Here</h2><a href="#{fragment}">Within</a>'
    with small_site({"": page("front page", inside), "robots.txt": ""}.get) as address:
        told = Audit(address, tmp_path).json()
    found = [link["verdict"] for link in told["links"] if link["url"].endswith(f"#{fragment}") and fragment]
    faults = [
        finding
        for finding in told["findings"]
        if "fragment" in finding["rule"] or "anchor" in finding["rule"]
    ]
    assert ("broken" in found or bool(faults)) == broken


def test_what_is_no_address_of_the_web_is_left_alone(tmp_path: Path):
    inside = "".join(
        f'<a href="{href}">it</a>'
        for href in ("mailto:a@b.test", "tel:+491234", "javascript:void(0)", "data:text/plain,x", "#", "")
    )
    with small_site({"": page("front page", inside), "robots.txt": ""}.get) as address:
        told = Audit(address, tmp_path).json(status=0)
    assert not told["verdicts"].get("broken")


def test_what_cannot_be_an_address_is_broken(tmp_path: Path):
    with small_site(
        {"": page("front page", '<a href="http://no host/">it</a>'), "robots.txt": ""}.get
    ) as address:
        told = Audit(address, tmp_path).json(status=1)
    assert told["verdicts"]["broken"] == 1


def test_refused_and_unknown_alone_fail_nobody(tmp_path: Path, foreign: Foreign):
    refused = {target: told for target, told in LINKED.items() if told[0] == "refused"}
    with small_site({"": page("front page", links(foreign[0], refused)), "robots.txt": ""}.get) as address:
        told = Audit(address, tmp_path).json(status=0)
    assert told["verdicts"]["refused"] == len(refused)
