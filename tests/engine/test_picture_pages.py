"""What is worth its fetch: pages that show a picture and say next to nothing; not those that show a logo, nor
other texts that say nothing."""

import pytest
from small_site import Site
from test_robots_flow import crawl

pytestmark = pytest.mark.slow

PAGES = 60
_FEET = "<p>All rights reserved by the house of pictures, which has shown them since it was founded.</p>" * 3


def _gallery(host, target, asked):
    number = target.removeprefix("/photo/")
    if target == "/":
        return 200, {"Content-Type": "text/html"}, b'<a href="/photo/10">first</a>'
    if not number.isdigit() or int(number) >= 10 + PAGES:
        return 404, {}, b""
    body = (
        f'<title>Photo</title><img src="/p/a{number}.jpg"><a href="/photo/{int(number) + 1}">next</a>{_FEET}'
    )
    return 200, {"Content-Type": "text/html"}, body.encode()


def _maze(host, target, asked):
    number = target.removeprefix("/s/").partition("/")[0]
    number = int(number) if number.isdigit() else 0
    body = f'<title>Shop</title><img src="/s/{number}/logo.png"><a href="/s/{number + 1}/x">next</a>{_FEET}'
    return 200, {"Content-Type": "text/html"}, body.encode()


def _asked(path, answer):
    with Site(answer) as site:
        crawl(path, [f"http://127.0.0.1:{site.port}/"])
        return {target for _, target in site.asked}


def test_the_pages_of_a_gallery_are_no_trap(tmp_path):
    asked = _asked(tmp_path / "c", _gallery)
    assert {f"/photo/{number}" for number in range(10, 10 + PAGES)} <= asked


def test_the_same_logo_in_ever_new_folders_makes_a_trap_no_gallery(tmp_path):
    asked = _asked(tmp_path / "c", _maze)
    assert 400 < len(asked) < 600


@pytest.mark.parametrize(
    ("media_type", "ends"), [("text/calendar", True), ("application/json", True), ("image/png", False)]
)
def test_texts_of_any_type_are_looked_at_and_what_is_no_text_is_worth_having(tmp_path, media_type, ends):
    """A calendar whose days are linked to as files, too, each a little different."""

    def answer(host, target, asked):
        day = int("".join(filter(str.isdigit, target)) or 0)
        if target.endswith(".file"):
            return 200, {"Content-Type": media_type}, f"BEGIN DAY {day} END, nothing happens".encode()
        links = f'<a href="/d/{day + 1}">next</a> <a href="/d/{day}.file">as a file</a>'
        return 200, {"Content-Type": "text/html"}, f"<title>Days</title>{links}{_FEET}".encode()

    with Site(answer) as site:
        limits = {"budget.max_pages": 900}
        crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"], **limits)
        assert (len(site.asked) < 700) == ends
