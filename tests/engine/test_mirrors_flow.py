"""A site at several addresses, on the road: each page from one, and from another if that does not give it."""

import hashlib
import json
from collections import Counter

import pytest
from engine_world import parsed
from mirror_site import MISSING, MirrorSite
from test_robots_flow import crawl, state_of
from warcio.archiveiterator import ArchiveIterator

from gossamer.config.config import CrawlConfig
from gossamer.inspect.inspection import inspect
from gossamer.inspect.url_list import Wanted, listed
from gossamer.model.errors import ConfigError
from gossamer.policy.urls.mirrors import MirrorsConfig

PAGES = 40
WHOLE = {"", *map(str, range(1, PAGES))}


def crawled(folder, site, *seeds, again=False, **changes):
    settings = {"mirrors": [{"addresses": site.addresses}], "politeness.min_delay": 0.002}
    settings |= {name.replace("__", "."): value for name, value in changes.items()}
    crawl(folder, list(seeds) or [site.addresses[0]], again=again, **settings)
    return json.loads((folder / "report.json").read_bytes())


def archived(folder):
    found = Counter()
    for file in (folder / "archive").glob("*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                    found[record.rec_headers.get_header("WARC-Target-URI").rpartition("/")[2]] += 1
    return found


def test_each_page_is_fetched_from_one_mirror_and_all_have_their_part(tmp_path):
    with MirrorSite(PAGES) as site:
        report = crawled(tmp_path / "c", site)
        asked = [site.asked(name) for name in site.names]
    assert site.every == Counter(WHOLE)
    assert all(asked)
    assert (report["pages"], report["dropped"], report["twins"]) == (PAGES, 0, [])
    assert archived(tmp_path / "c") == Counter(WHOLE), "under the URL that was asked"


def test_what_one_mirror_lacks_is_asked_of_the_next_until_one_has_it(tmp_path):
    lagging = set(map(str, range(1, 38, 4)))

    def answer(name, path):
        page = path.rpartition("/")[2]
        if page in lagging and name != "127.0.0.3":
            return MISSING
        return MISSING if page == "38" else None

    with MirrorSite(PAGES, answer) as site:
        report = crawled(tmp_path / "c", site)
        asked = site.every
        parts = {name: site.asked(name) for name in site.names}
    assert set(asked) == WHOLE
    assert asked["38"] == 4, "nobody has it"
    assert max(max(part.values()) for part in parts.values()) == 1
    assert {page for page, times in asked.items() if times > 1} <= lagging | {"38"}
    assert archived(tmp_path / "c") == Counter(WHOLE - {"38"})
    assert (report["pages"], report["dropped"], report["broken"]) == (PAGES - 1, 1, 1), "only what nobody has"
    with inspect(tmp_path / "c") as inspection:
        broken = [one.url.rpartition("/")[2] for one in listed(inspection, Wanted(broken=True))]
    assert broken == ["38"]


def test_a_mirror_whose_robots_file_forbids_gives_nothing_and_nothing_is_lost(tmp_path):
    def answer(name, path):
        if path == "/robots.txt":
            return 200, {}, "User-agent: *\nDisallow: /" if name == "127.0.0.2" else ""
        return None

    with MirrorSite(PAGES, answer) as site:
        report = crawled(tmp_path / "c", site)
        assert site.every == Counter(WHOLE)
        assert not site.asked("127.0.0.2")
    assert report["pages"] == PAGES


@pytest.mark.parametrize("obey", [True, False])
@pytest.mark.parametrize("status", [429, 503, None])
def test_a_mirror_that_is_down_is_left_alone_and_the_others_give_its_part(tmp_path, status, obey):
    """Down from the beginning, or after some pages; `None`: its server breaks off."""
    answered = Counter()

    def answer(name, path):
        answered[name] += 1
        if name != "127.0.0.2" or answered[name] < 4:
            return None
        return (200, {"Transfer-Encoding": "chunked"}, "none") if status is None else (status, {}, "")

    with MirrorSite(PAGES, answer) as site:
        report = crawled(
            tmp_path / "c", site, robots__obey=obey, retry__host_first=0.05, robots__hold_first=0.05
        )
        down = site.asked("127.0.0.2")
        asked = site.every
    assert archived(tmp_path / "c") == Counter(WHOLE)
    assert set(asked) == WHOLE and report["pages"] == PAGES
    assert sum(down.values()) < 12
    assert report["hosts_parked"] == 0


def test_a_mirror_that_never_answers_is_waited_for_by_nobody(tmp_path):
    with MirrorSite(PAGES, count=3) as site:
        gone = "http://127.0.0.9:9/x/"
        mirrors = [{"addresses": [gone, *site.addresses]}]
        report = crawled(tmp_path / "c", site, mirrors=mirrors, robots__hold_first=0.05)
        assert site.every == Counter(WHOLE)
    assert (report["pages"], report["hosts_parked"]) == (PAGES, 0)


def test_why_tells_of_the_mirrors_whichever_of_them_is_asked_about(tmp_path):
    def answer(name, path):
        return MISSING if path.endswith("/7") and name != "127.0.0.4" else None

    with MirrorSite(PAGES, answer) as site:
        crawled(tmp_path / "c", site)
        stories = [state_of(tmp_path / "c", site.url(name, "7")) for name in site.names]
        passed = [name for name in site.names[:3] if site.asked(name)["7"]]
        other = state_of(tmp_path / "c", site.url("127.0.0.2", "8"))
        had = next(name for name in site.names if site.asked(name)["8"])
    assert {(story.url, story.state) for story in stories} == {(site.url("127.0.0.4", "7"), "done")}
    told = [fact.text for fact in stories[0].facts if fact.about == "mirrors"]
    assert len(told) == 1 + len(passed)
    assert all(any(site.url(name, "7") in line and "404" in line for line in told) for name in passed)
    assert (other.url, other.state) == (site.url(had, "8"), "done")


@pytest.mark.parametrize("change", [[], None, "fewer"])
def test_other_mirrors_than_at_the_beginning_are_refused(tmp_path, change):
    with MirrorSite(4) as site:
        crawled(tmp_path / "c", site)
        mirrors = [{"addresses": site.addresses[1:]}] if change == "fewer" else change
        if change is None:
            assert crawled(tmp_path / "c", site, again=True)["pages"] == 4
            return
        with pytest.raises(ConfigError, match=r"^mirrors: cannot be other than when the crawl began"):
            crawled(tmp_path / "c", site, again=True, mirrors=mirrors)


def test_only_what_lies_below_the_addresses_of_mirrors_is_shared_out_and_in_scope(tmp_path):
    def answer(name, path):
        if path == f"/{name}/":
            outside = "".join(f'<a href="{site.root(other)}other">o</a>' for other in site.names)
            return 200, {"Content-Type": "text/html"}, f'<a href="1">1</a><a href="/up">up</a>{outside}'
        return None

    with MirrorSite(20, answer) as site:
        crawled(tmp_path / "c", site, scope__mode="host")
        asked = [(name, path) for name in site.names for path in site.paths(name)]
    outside = {name for name, path in asked if not path.startswith(f"/{name}/") and path != "/robots.txt"}
    assert outside <= {"127.0.0.1"}, "the host of the first address belongs, as it is the seed's"
    assert ("127.0.0.1", "/other") in asked


@pytest.mark.parametrize("seed", [0, 2])
def test_a_mirror_that_redirects_to_another_is_followed(tmp_path, seed):
    def answer(name, path):
        if name == "127.0.0.2" and path.startswith("/127.0.0.2/"):
            return 302, {"Location": site.url("127.0.0.1", path.removeprefix("/127.0.0.2/"))}, ""
        return None

    with MirrorSite(PAGES, answer) as site:
        report = crawled(tmp_path / "c", site, site.addresses[seed])
        assert set(site.every) == WHOLE
        redirected = site.asked("127.0.0.2")
    assert redirected and max(redirected.values()) == 1
    assert (archived(tmp_path / "c"), report["dropped"]) == (Counter(WHOLE), 0)


def test_the_addresses_of_mirrors_are_named_by_the_operator_as_seeds_are(tmp_path):
    with MirrorSite(PAGES) as site:
        report = crawled(
            tmp_path / "c", site, fetch__allow_private=False, fetch__forbidden_networks=["127.0.0.0/8"]
        )
        assert all(site.asked(name) for name in site.names)
    assert report["pages"] == PAGES


@pytest.mark.parametrize("obey", [True, False])
def test_a_mirror_at_which_nobody_listens_costs_no_wait_though_the_seed_is_its(tmp_path, obey):
    with MirrorSite(PAGES) as site:
        mirrors = CrawlConfig(mirrors=(MirrorsConfig(addresses=tuple(site.addresses)),)).shared_out
        first = mirrors.address(parsed(site.addresses[0])).host
        site.stop(first)
        rests = {"host_first": 60, "host_longest": 99, "not_found_first": 60}
        holds = {"hold_first": 60, "hold_longest": 99, "obey": obey}
        report = crawled(tmp_path / "c", site, retry=rests, robots=holds, engine__give_up_after=30)
        assert site.every == Counter(WHOLE) and not site.asked(first)
    assert (report["pages"], report["ended"], report["queued"], report["waiting"]) == (
        PAGES,
        "finished",
        0,
        0,
    )


@pytest.mark.parametrize("target", ["127.0.0.2", "127.0.0.3"])
def test_a_redirect_that_leads_nowhere_hides_no_page_that_another_mirror_has(tmp_path, target):
    """To itself for ever, or to a mirror that has nothing: for some pages before it in the order, for others behind."""

    def answer(name, path):
        page = path.removeprefix(f"/{name}/")
        if name == "127.0.0.2" and page != path:
            return 302, {"Location": site.url(target, page)}, ""
        return MISSING if name == "127.0.0.3" and page != path else None

    with MirrorSite(PAGES, answer) as site:
        report = crawled(tmp_path / "c", site)
        times = {name: max(site.asked(name).values()) for name in site.names}
    assert archived(tmp_path / "c") == Counter(WHOLE)
    assert (report["pages"], report["dropped"], report["broken"]) == (PAGES, 0, 0)
    assert times == dict.fromkeys(site.names, 1) | ({"127.0.0.2": 2} if target == "127.0.0.2" else {})


def test_a_search_form_is_asked_at_the_first_address_whatever_stands_in_its_other_fields(tmp_path):
    def answer(name, path):
        said = hashlib.sha256(f"{name}{path}".encode()).hexdigest()
        form = f'<form action=find><input name=q><input type=hidden name=token value="{said}"></form>'
        links = "".join(f'<a href="{page}">{page}</a>' for page in range(9)) if path == f"/{name}/" else ""
        return (404 if path == "/robots.txt" else 200), {"Content-Type": "text/html"}, said + form + links

    with MirrorSite(9, answer) as site:
        crawled(tmp_path / "c", site, forms__words=["a", "b"])
        words = [
            (name, page[7])
            for name in site.names
            for page in site.asked(name)
            if page.startswith("find?q=") and page[7] != "&"
        ]
    assert words == [("127.0.0.1", "a"), ("127.0.0.1", "b")]
