"""Pages that show a picture and say next to nothing are worth their fetch; traps that show a logo are not."""

from test_robots_flow import Site, crawl

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
