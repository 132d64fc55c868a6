"""`gossamer audit` says whether a site is well, by words, files and its exit status."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_run import Gossamer
from link_farm import Behaviour, Farm, link_farm, page

HEAD = '<html lang=en><meta name=description content="{0}."><title>{0}</title><h1>{0}</h1>'
SITE: dict[str, Behaviour] = {
    "": page(HEAD.format("Home") + '<a href="a">A</a> <a href="gone">the old page</a>'),
    "a": page(HEAD.format("A") + '<a href="/">home</a>'),
}
QUICK = "--min-delay", "0", "--outside-delay", "0s", "-q"


@pytest.fixture
def site() -> Iterator[Farm]:
    with link_farm(dict(SITE)) as farm:
        yield farm


def test_a_site_is_crawled_and_told_of_by_table_and_status(
    gossamer: Gossamer, site: Farm, tmp_path: Path
) -> None:
    (tmp_path / "disk").mkdir()
    ran = gossamer("audit", site.address, "--min-delay", "0", "--set", "storage.archive=disk")
    assert ran.code == 1
    assert "[link-broken]" in ran.out
    assert "“the old page”" in ran.out
    assert "findings: 1 error" in ran.err
    assert list(tmp_path.rglob("*")) == [tmp_path / "disk"], "a crawl of its own is removed, on all disks"


def test_what_is_known_fails_nothing_and_what_is_mended_is_seen(gossamer: Gossamer, tmp_path: Path) -> None:
    behaviours = dict(SITE)
    with link_farm(behaviours) as site:
        again = "audit", site.address, "--output", "d", *QUICK
        files = "--html", "r.html", "--junit", "r.xml", "--sarif", "r.sarif"
        told = gossamer(*again, "--json", *files)
        assert told.code == 1
        assert json.loads(told.out)["verdicts"]["broken"] == 1
        assert all((tmp_path / name).stat().st_size for name in files[1::2])
        assert gossamer("audit", "d", "-q", "--write-baseline", "known.json").code == 0
        assert gossamer("audit", "d", "-q", "--baseline", "known.json").code == 0
        behaviours[""] = page(HEAD.format("Home") + '<a href="a">A</a> <a href="also-gone">x</a>')
        ran = gossamer(*again, "--baseline", "known.json", "--json", "--changed")
        told_again = json.loads(ran.out)
        assert ran.code == 1
        assert [link["url"] for link in told_again["links"]] == [
            f"{site.address}also-gone",
            f"{site.address}a",
        ]
        behaviours[""] = page(HEAD.format("Home") + '<a href="a">A</a>')
        assert gossamer(*again).code == 0
        assert json.loads(gossamer("audit", "d", "-q", "--json", "--changed").out)["links"] == []


def test_a_crawl_that_is_interrupted_is_said_to_be_removed_too(
    gossamer: Gossamer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        sys.exit(130)

    monkeypatch.setattr("gossamer.cli.crawl.conduct", interrupted)
    ran = gossamer("audit", "http://127.0.0.1:1/")
    assert ran.code == 130
    assert ran.err.splitlines()[-1] == "this crawl is removed after the audit; --output DIR keeps it"


def test_what_cannot_be_read_is_not_said_to_be_well(gossamer: Gossamer, site: Farm, tmp_path: Path) -> None:
    assert gossamer("audit", site.address, "--output", "d", *QUICK).code == 1
    for file in (tmp_path / "d" / "archive").iterdir():
        file.unlink()
    ran = gossamer("audit", "d", "--no-outside", "--json", "-q")
    assert json.loads(ran.out)["levels"]["error"] == 0
    assert "was not read" in ran.err
    assert ran.code == 1


def test_what_is_ignored_has_a_reason_and_an_end(gossamer: Gossamer, site: Farm, tmp_path: Path) -> None:
    assert gossamer("audit", site.address, "--output", "d", *QUICK).code == 1
    ignore = tmp_path / "ignore.toml"
    entry = '[[ignore]]\nrule = "link-broken"\nurl = "/gone"\nreason = "It comes back."\n'
    ignore.write_text(entry + "until = 2999-12-31\n")
    ran = gossamer("audit", "d", "--ignore", "ignore.toml")
    assert ran.code == 0
    assert "1 ignored" in ran.err
    ignore.write_text(entry + "until = 2001-01-01\n")
    ran = gossamer("audit", "d", "--ignore", "ignore.toml")
    assert ran.code == 1
    assert "since 2001-01-01 it counts again: link-broken /gone (It comes back.)" in ran.err


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('[[ignore]]\nurl = "*"\n', "entry 1: needs a reason"),
        ('[[ignore]]\nreason = "x"\n', "entry 1: needs a rule, a url, or both"),
        ('[[ignore]]\nrule = "nonsense"\nreason = "x"\n', "entry 1: rule nonsense: is none of link-broken"),
        ('[[ignore]]\nrule = "orphan"\nreason = "x"\nuntil = "soon"\n', "entry 1: until: must be a day"),
        ('[[ignore]]\nurl = "re:("\nreason = "x"\n', "is no regular expression"),
        ('[[ignore]]\nurl = "*"\nreason = "x"\nbecause = 1\n', "because: there are rule, url, reason, until"),
        ("[other]\n", "write a table [[ignore]]"),
        ("nonsense", "is no TOML"),
    ],
)
def test_a_wrong_ignore_list_is_refused(gossamer: Gossamer, tmp_path: Path, entry: str, said: str) -> None:
    (tmp_path / "ignore.toml").write_text(entry)
    ran = gossamer("audit", "d", "--ignore", "ignore.toml")
    assert ran.code == 2
    assert said in ran.err


def test_wrong_usage_is_told(gossamer: Gossamer, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "no.json").write_text("{}")
    for arguments, said in (
        (("audit",), "Missing argument"),
        (("audit", "empty"), "holds no crawl"),
        (("audit", "empty", "http://e.net/"), "one folder and nothing else"),
        (("audit", "empty", "--output", "d"), "--output: is where the crawl of URLs is kept"),
        (("audit", "http://e.net/", "--json", "--csv"), "exclude each other"),
        (("audit", "http://e.net/", "--max-age", "soon"), "--max-age soon"),
        (("audit", "http://e.net/", "--html", "no/where.html"), "is no file that can be written"),
        (("audit", "http://e.net/", "--baseline", "no.json"), "is no baseline"),
        (("audit", "http://e.net/", "--baseline", "absent.json"), "cannot be read"),
    ):
        ran = gossamer(*arguments)
        assert (ran.code, said in ran.err) == (2, True), (arguments, ran.err)
