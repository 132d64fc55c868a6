"""One site under two names, on the road: noticed, told, and on wish not crawled twice."""

import json
from collections import Counter

import pytest
from small_site import Site
from test_robots_flow import crawl, state_of

from gossamer.model.reasons.codes import TwinCode

PAGES = 40
FIRST, SECOND = "127.0.0.1", "127.0.0.2"
NEITHER = 404, {"Content-Type": "text/html"}, b"not here"


def page(path, *links):
    """A page with a text of its own, long enough to count."""
    mentioned = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return 200, {"Content-Type": "text/html"}, f"<h1>{path}</h1>{mentioned}{path * 90}".encode()


def number_of(path):
    return int(path[1:]) if path[1:].isdigit() and int(path[1:]) < PAGES else None


def tree(path):
    """Pages 0 to 39 in a tree, each of which two more hang from."""
    if path == "/":
        return page("/", "/0")
    number = number_of(path)
    if number is None:
        return NEITHER
    return page(path, *(f"/{child}" for child in (2 * number + 1, 2 * number + 2) if child < PAGES))


class TwoNames:
    """A server under two names of one port; `answer` has the name as well, else both show `tree`."""

    def __init__(self, answer=lambda name, path: tree(path)):
        def reply(host, path, _):
            return NEITHER if path == "/robots.txt" else answer(host.partition(":")[0], path)

        self._site = Site(reply, "0.0.0.0")

    def __enter__(self):
        self._site.__enter__()
        self.port = self._site.port
        return self

    def __exit__(self, *raised):
        self._site.__exit__()

    def url(self, name, path="/"):
        return f"http://{name}:{self.port}{path}"

    def asked(self, name):
        """Pages that were asked for, with how often."""
        paths = Counter(path for host, path in self._site.asked if host == f"{name}:{self.port}")
        return Counter({path: n for path, n in paths.items() if not path.endswith((".txt", ".xml"))})


def both(site, name, path):
    """The tree, whose home page links to the other name's."""
    if path != "/":
        return tree(path)
    return page("/", "/0", site.url(FIRST), site.url(SECOND))


def crawled(folder, site, *seeds, again=False, **changes):
    settings = {"scope.hosts": [FIRST, SECOND], "engine.workers": 2, "engine.guess_sitemap": False, **changes}
    crawl(folder, list(seeds) or [site.url(FIRST)], again=again, **settings)
    return json.loads((folder / "report.json").read_bytes())


@pytest.fixture
def linked():
    """The tree under two names that link to each other."""
    holder = []
    with TwoNames(lambda name, path: both(holder[0], name, path)) as site:
        holder.append(site)
        yield site


def test_two_names_of_one_site_are_told_of_and_both_crawled(tmp_path, linked):
    report = crawled(tmp_path / "c", linked)
    (told,) = report["twins"]
    assert (told["goes"], told["stays"]) == (linked.url(SECOND)[:-1], linked.url(FIRST)[:-1])
    assert told["alike"] == told["compared"] >= 8
    assert report["pages"] == 2 * (PAGES + 1)


def test_off_does_not_look(tmp_path, linked):
    report = crawled(tmp_path / "c", linked, **{"engine.twins": "off"})
    assert report["twins"] == []
    assert report["pages"] == 2 * (PAGES + 1)


def test_what_the_seeds_name_shows_is_not_fetched_from_the_other(tmp_path, linked):
    report = crawled(tmp_path / "c", linked, **{"engine.twins": "skip"})
    assert len(linked.asked(FIRST)) == PAGES + 1
    assert len(linked.asked(SECOND)) < PAGES
    left_out = report["faults"]["refused: twin"]
    assert left_out and len(linked.asked(SECOND)) + left_out <= PAGES + 1
    stories = [state_of(tmp_path / "c", linked.url(SECOND, f"/{number}")) for number in range(PAGES)]
    told = [story for story in stories if story.state == "dropped"]
    assert len(told) == left_out
    for story in told:
        other = story.url.replace(SECOND, FIRST)
        assert story.record.reason.has(TwinCode.SHOWN, other), "with the evidence"


def test_another_setting_brings_back_what_was_left_out(tmp_path, linked):
    crawled(tmp_path / "c", linked, **{"engine.twins": "skip"})
    report = crawled(tmp_path / "c", linked, again=True, **{"engine.twins": "tell"})
    assert set(linked.asked(SECOND)) == set(linked.asked(FIRST))
    assert max(linked.asked(SECOND).values()) == max(linked.asked(FIRST).values()) == 1
    assert report["pages"] == 2 * (PAGES + 1)


def test_going_on_with_the_same_setting_fetches_nothing_more(tmp_path, linked):
    crawled(tmp_path / "c", linked, **{"engine.twins": "skip"})
    before = linked.asked(SECOND)
    crawled(tmp_path / "c", linked, again=True, **{"engine.twins": "skip"})
    assert linked.asked(SECOND) == before


def test_what_only_the_other_name_has_is_fetched(tmp_path):
    """Pages at the ends of the tree that the first name does not know, mentioned by pages that are left out."""
    extra = {f"/only/{number}" for number in range(6)}

    def answer(name, path):
        if path in extra:
            return page(path) if name == SECOND else NEITHER
        if path == "/":
            return both(site, name, path)
        number = number_of(path)
        if number is not None and number >= PAGES - 6:
            return page(path, f"only/{number - (PAGES - 6)}")
        return tree(path)

    with TwoNames(answer) as site:
        crawled(tmp_path / "c", site, **{"engine.twins": "skip"})
    assert extra <= set(site.asked(SECOND))
    assert len(site.asked(SECOND)) < PAGES


def test_what_the_name_that_stays_fails_to_show_is_fetched_from_the_other(tmp_path):
    """Also if that turns out after it was left out: here the other name's host is much quicker."""
    lost = {f"/{number}" for number in range(30, PAGES)}

    def answer(name, path):
        if name == FIRST and path in lost:
            return 500, {}, b""
        return both(site, name, path)

    with TwoNames(answer) as site:
        report = crawled(tmp_path / "c", site, **{"engine.twins": "skip", "retry.url_waits": [0.2]})
    assert report["faults"]["refused: twin"]
    assert lost <= set(site.asked(SECOND))
    assert len(report["twins"]) == 1, "a failure speaks neither for it nor against it"


@pytest.mark.parametrize(
    "differ",
    [
        lambda name, path: page(path + name, "/0", "/1") if number_of(path) in range(6) else tree(path),
        lambda name, path: page("/1" if path != "/" else "/", *(f"/{n}" for n in range(PAGES))),
        lambda name, path: tree(path) if number_of(path) in (None, *range(5)) else page(f"{name}{path}"),
        lambda name, path: (*tree(path)[:2], tree(path)[2] + name.encode()),
    ],
    ids=["some pages differ", "one text for everything", "a farm with five common pages", "two languages"],
)
def test_who_is_no_twin_is_crawled_whole(tmp_path, differ):
    every = {"/", *(f"/{number}" for number in range(PAGES))}

    def answer(name, path):
        if path == "/":
            return page(f"/{name}", *sorted(every), site.url(FIRST), site.url(SECOND))
        return differ(name, path)

    with TwoNames(answer) as site:
        report = crawled(tmp_path / "c", site, **{"engine.twins": "skip"})
    assert report["twins"] == []
    assert "refused: twin" not in report["faults"]
    assert set(site.asked(FIRST)) == set(site.asked(SECOND)) == every


def test_a_mistake_is_noticed_and_what_was_left_out_for_it_is_fetched(tmp_path):
    """The second name becomes another site: what is looked at all the same tells."""
    every = [f"/{number}" for number in range(400)]

    def answer(name, path):
        if path == "/":
            return page("/", site.url(FIRST), site.url(SECOND), *every)
        return page(path if int(path[1:]) < 40 else f"{name}{path}")

    with TwoNames(answer) as site:
        report = crawled(tmp_path / "c", site, **{"engine.twins": "skip"})
    assert report["faults"]["refused: twin"], "it was taken for a twin"
    assert report["twins"] == []
    assert set(site.asked(SECOND)) == {"/", *every}
