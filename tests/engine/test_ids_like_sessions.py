"""Ids that look like those of sessions make no copies of the page that stands at the address without them."""

import random
import re
import uuid

import pytest
from small_site import Site
from test_robots_flow import crawl

pytestmark = pytest.mark.slow

THINGS = 60
_RANDOM = random.Random(5)
_WORDS = ["".join(_RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(500)]
_UUIDS = [str(uuid.UUID(int=_RANDOM.getrandbits(128), version=4)) for _ in range(THINGS)]
_HASHES = [f"{_RANDOM.getrandbits(128):032x}" for _ in range(THINGS)]
_SESSIONS = [f"{day}-{room}" for day in ("mo", "tu", "we", "th", "fr", "sa") for room in "abcdefghij"]


def _html(title, words, targets):
    text = " ".join(random.Random(title).choices(_WORDS, k=words))
    links = "".join(f'<a href="{target}">on</a>' for target in targets)
    return 200, {"Content-Type": "text/html"}, f"<title>{title}</title><p>{text}</p>{links}".encode()


def _shop(name, ids):
    """Lists some things at /list, shows each at /list?NAME=ID, from where others are found."""

    def answer(host, target, asked):
        thing = target.removeprefix(f"/list?{name}=")
        if target == "/list":
            return _html("All that there is", 40, [f"/list?{name}={ids[0]}"])
        if target == "/":
            return _html("Home", 9, ["/list"])
        if thing not in ids:
            return 404, {}, b""
        at = ids.index(thing)
        return _html(thing, 90, [f"/list?{name}={ids[n]}" for n in (2 * at + 1, 2 * at + 2) if n < THINGS])

    return answer


@pytest.mark.parametrize(
    ("name", "ids"),
    [("id", _UUIDS), ("session", _SESSIONS), ("sid", _HASHES), ("session_id", _UUIDS)],
)
def test_what_is_found_at_one_address_by_ids_is_crawled(tmp_path, name, ids):
    with Site(_shop(name, ids)) as site:
        crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"])
        assert {f"/list?{name}={one}" for one in ids} <= {target for _, target in site.asked}


def test_the_same_page_under_ever_new_sessions_is_seen_through(tmp_path):
    def answer(host, target, asked):
        page = re.match(r"/(\w*)", target)[1]
        links = [f"/{name}?sid={_RANDOM.getrandbits(96):024x}" for name in "abc"]
        return _html(f"Page {page}", 90, ["/a", "/b", "/c", *links])

    with Site(answer) as site:
        crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"])
        assert len(site.asked) < 600


@pytest.mark.parametrize("name", ["sid", "s"])
def test_a_forum_that_begins_a_session_with_every_answer_is_crawled_once(tmp_path, name):
    """As phpBB and vBulletin do without cookies: all links of a page are new, and none is plain."""

    def answer(host, target, asked):
        sid = f"{_RANDOM.getrandbits(128):032x}"
        topic = re.match(r"/topic\.php\?t=(\d+)", target)
        start = re.match(r"/forum\.php\?start=(\d+)", target)
        common = [f"/index.php?{name}={sid}", f"/forum.php?start=0&{name}={sid}"]
        if topic:
            return _html(f"Topic {topic[1]}", 90, common)
        at = int(start[1]) if start else 0
        topics = range(at, min(at + 8, THINGS))
        more = [f"/forum.php?start={at + 8}&{name}={sid}"] if at + 8 < THINGS else []
        listed = [f"/topic.php?t={number}&{name}={sid}" for number in topics]
        return _html("Index", 3, listed + common + more)

    with Site(answer) as site:
        crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"])
        paths = [re.sub(r"[?&]s(?:id)?=\w+", "", target) for _, target in site.asked]
    assert {f"/topic.php?t={number}" for number in range(THINGS)} <= set(paths)
    assert len(paths) < 600 + THINGS
