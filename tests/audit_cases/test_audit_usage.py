"""Exit statuses, what was known before, what is to be left alone."""

import datetime
from pathlib import Path

import pytest
from audited import Audit, page
from in_process import gossamer
from small_site import small_site

GOOD = {
    "": page("front page", '<a href="/second">On</a>'),
    "second": page("second page", '<a href="/">Back</a>'),
    "robots.txt": "",
}


def test_a_site_that_is_well_ends_with_0(tmp_path: Path):
    with small_site(GOOD.get) as address:
        ran = Audit(address, tmp_path)()
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_broken_link_ends_with_1_and_says_where(audit: Audit, site: str):
    ran = audit()
    assert ran.returncode == 1
    assert f"{site}missing" in ran.stdout.replace("\n", "")
    assert "What is missing" in ran.stdout


NO_NAMES = "--nameserver", "127.0.0.1:1", "--set", "engine.give_up_after=0.1s"


@pytest.mark.parametrize(
    "words", [[], ["no-such-folder", *NO_NAMES], ["d", "--no-such-option"], ["http://["]]
)
def test_what_cannot_be_asked_ends_with_2_and_says_what(tmp_path: Path, words: list[str]):
    ran = gossamer("audit", *words, cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr.strip()


def test_what_was_known_fails_no_more(audit: Audit):
    assert audit("--write-baseline", "known.json").returncode in (0, 1)
    assert (audit.folder / "known.json").stat().st_size
    assert audit("--baseline", "known.json").returncode == 0


def test_only_what_is_new_fails(tmp_path: Path):
    pages = {**GOOD, "": page("front page", '<a href="/old">Old</a><a href="/second">On</a>')}
    with small_site(pages.get) as address:
        audit = Audit(address, tmp_path)
        audit("--write-baseline", "known.json")
        assert audit("--baseline", "known.json").returncode == 0
        pages["second"] = page("second page", '<a href="/old">Old</a><a href="/new">New</a>')
        assert audit("--baseline", "known.json").returncode == 1
        pages["new"] = page("new page")
        del pages["second"]  # what was there is gone: that is new, too
        assert audit("--baseline", "known.json").returncode == 1


def test_what_is_known_is_known_after_other_things_were_mended(tmp_path: Path):
    pages = {**GOOD, "": page("front page", '<a href="/a">A</a><a href="/b">B</a><a href="/second">On</a>')}
    with small_site(pages.get) as address:
        audit = Audit(address, tmp_path)
        audit("--write-baseline", "known.json")
        pages["a"] = page("page called a")
        assert audit("--baseline", "known.json").returncode == 0


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"a": 1}'])
def test_a_file_that_is_no_baseline_ends_with_2(audit: Audit, text: str):
    (audit.folder / "bad.json").write_text(text)
    ran = audit("--baseline", "bad.json")
    assert ran.returncode == 2
    assert "bad.json" in ran.stderr


def test_a_baseline_that_is_not_there_ends_with_2(audit: Audit):
    ran = audit("--baseline", "none.json")
    assert ran.returncode == 2
    assert "none.json" in ran.stderr


def ignoring(audit: Audit, url: str = "*", **more: str) -> tuple[int, str]:
    fields = {"url": f'"{url}"', "reason": '"they know"', **more}
    lines = [f"{name} = {value}" for name, value in fields.items() if value]
    (audit.folder / "ignore.toml").write_text("[[ignore]]\n" + "\n".join(lines) + "\n")
    ran = audit("--ignore", "ignore.toml")
    return ran.returncode, ran.stdout + ran.stderr


def day(ahead: int) -> str:
    return (datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=ahead)).isoformat()


def test_what_is_ignored_fails_nobody(audit: Audit):
    assert ignoring(audit)[0] == 0
    assert ignoring(audit, until=day(3))[0] == 0


def test_the_rest_fails_still(audit: Audit, site: str):
    assert ignoring(audit, url="http://127.0.0.2*")[0] == 1
    assert ignoring(audit, url=f"{site}*")[0] == 1


def test_what_was_ignored_until_yesterday_counts_again_and_is_told(audit: Audit):
    status, told = ignoring(audit, until=day(-1))
    assert status == 1
    assert "they know" in told or day(-1) in told


@pytest.mark.parametrize("more", [{"reason": ""}, {"reason": '""'}, {"until": '"soon"'}, {"rules": '"x"'}])
def test_an_ignore_without_a_reason_or_with_nonsense_ends_with_2(audit: Audit, more: dict[str, str]):
    status, told = ignoring(audit, **more)
    assert status == 2
    assert "ignore.toml" in told
