"""One site under two names, on the road: noticed, told, and on wish not crawled twice."""

import json

import pytest
from test_robots_flow import crawl
from two_names import FIRST, NEITHER, PAGES, SECOND, TwoNames, number_of, page, tree

from gossamer.inspect.inspection import inspect
from gossamer.inspect.why.story import Storyteller
from gossamer.model.reasons.codes import TwinCode

WHOLE = {"/", *(f"/{number}" for number in range(PAGES))}


def crawled(folder, site, *seeds, again=False, **changes):
    settings = {"scope.hosts": [FIRST, SECOND], "engine.workers": 2, "engine.guess_sitemap": False}
    settings |= {name.replace("__", "."): value for name, value in changes.items()}
    crawl(folder, list(seeds) or [site.url(FIRST)], again=again, **settings)
    return json.loads((folder / "report.json").read_bytes())


def test_two_names_of_one_site_are_told_of_and_both_crawled(tmp_path):
    with TwoNames() as site:
        report = crawled(tmp_path / "c", site)
    (told,) = report["twins"]
    assert (told["goes"], told["stays"]) == (site.url(SECOND)[:-1], site.url(FIRST)[:-1])
    assert told["alike"] == told["compared"] >= 8
    assert report["pages"] == 2 * len(WHOLE)


def test_off_does_not_look(tmp_path):
    with TwoNames() as site:
        report = crawled(tmp_path / "c", site, engine__twins="off")
    assert (report["twins"], report["pages"]) == ([], 2 * len(WHOLE))


@pytest.mark.parametrize("seed", [FIRST, SECOND])
def test_what_the_seeds_name_shows_is_not_fetched_from_the_other(tmp_path, seed):
    other = SECOND if seed == FIRST else FIRST
    with TwoNames() as site:
        report = crawled(tmp_path / "c", site, site.url(seed), engine__twins="skip")
    assert set(site.asked(seed)) == WHOLE
    left_out = report["faults"]["refused: twin"]
    assert 0 < left_out <= len(WHOLE) - len(site.asked(other))
    with inspect(tmp_path / "c") as inspection:
        teller = Storyteller(inspection)
        stories = [teller.tell(site.url(other, path)) for path in WHOLE]
    told = [story for story in stories if story.state == "dropped"]
    assert len(told) == left_out
    for story in told:
        assert story.record.reason.has(TwinCode.SHOWN, story.url.replace(other, seed)), "with the evidence"


def test_another_setting_brings_back_what_was_left_out_and_the_same_does_not(tmp_path):
    with TwoNames() as site:
        crawled(tmp_path / "c", site, engine__twins="skip")
        before = site.asked(SECOND)
        crawled(tmp_path / "c", site, again=True, engine__twins="skip")
        assert site.asked(SECOND) == before
        report = crawled(tmp_path / "c", site, again=True, engine__twins="tell")
    for name in (FIRST, SECOND):
        assert set(site.asked(name)) == WHOLE
        assert max(site.asked(name).values()) == 1
    assert report["pages"] == 2 * len(WHOLE)
    assert (report["faults"], report["refused"], report["dropped"]) == ({}, 0, 0), "nothing is left out now"


def test_off_tells_of_nothing_that_was_found_before(tmp_path):
    with TwoNames() as site:
        crawled(tmp_path / "c", site, engine__twins="skip")
        report = crawled(tmp_path / "c", site, again=True, engine__twins="off")
    assert report["twins"] == []


def test_what_only_the_other_name_has_is_fetched(tmp_path):
    """Pages at the ends of the tree that the first name does not have, mentioned by pages that are left out."""

    def answer(name, path):
        if path.startswith("/only/"):
            return page(path) if name == SECOND else NEITHER
        number = number_of(path) or 0
        return page(path, f"only/{PAGES - number}") if number >= PAGES - 6 else None

    with TwoNames(answer) as site:
        report = crawled(tmp_path / "c", site, engine__twins="skip")
    assert {f"/only/{number}" for number in range(1, 7)} <= set(site.asked(SECOND))
    assert report["faults"]["refused: twin"]
    assert len(report["twins"]) == 1, "nobody loses a page by it"


def test_what_the_name_that_stays_fails_to_show_is_fetched_from_the_other(tmp_path):
    """Also if that turns out after it was left out."""
    lost = {f"/{number}" for number in range(30, PAGES)}

    with TwoNames(lambda name, path: (500, {}, "") if name == FIRST and path in lost else None) as site:
        report = crawled(tmp_path / "c", site, engine__twins="skip", retry__url_waits=[0.2])
    assert report["faults"]["refused: twin"]
    assert lost <= set(site.asked(SECOND))
    assert len(report["twins"]) == 1, "a failure speaks neither for it nor against it"


@pytest.mark.parametrize(
    "differ",
    [
        lambda name, path: page(path + name, "/0", "/1") if number_of(path) in range(6) else tree(path),
        lambda name, path: page("/1", *sorted(WHOLE)),
        lambda name, path: tree(path) if number_of(path) in range(5) else page(f"{name}{path}"),
        lambda name, path: page(path, f"/{name}", *sorted(WHOLE)),
    ],
    ids=["some pages differ", "one text for everything", "a farm with five common pages", "two languages"],
)
def test_who_is_no_twin_is_crawled_whole(tmp_path, differ):
    def answer(name, path):
        home = path == "/"
        return (
            page(f"/{name}", *sorted(WHOLE), *map(site.url, (FIRST, SECOND))) if home else differ(name, path)
        )

    with TwoNames(answer) as site:
        report = crawled(tmp_path / "c", site, engine__twins="skip")
    assert report["twins"] == []
    assert "refused: twin" not in report["faults"]
    for name in (FIRST, SECOND):
        assert set(site.asked(name)) >= WHOLE


@pytest.mark.slow
def test_a_mistake_is_noticed_and_what_was_left_out_for_it_is_fetched(tmp_path):
    """The second name becomes another site: what is looked at all the same tells."""
    every = [f"/{number}" for number in range(400)]

    def answer(name, path):
        if path == "/":
            return page("/", site.url(FIRST), site.url(SECOND), *every)
        return page(path if int(path[1:]) < 40 else f"{name}{path}")

    with TwoNames(answer) as site:
        report = crawled(tmp_path / "c", site, engine__twins="skip")
    assert b'"refused":"twin"' in (tmp_path / "c" / "crawl.log").read_bytes(), "it was taken for a twin"
    assert report["twins"] == []
    assert "refused: twin" not in report["faults"], "it came back"
    assert set(site.asked(SECOND)) == {"/", *every}
