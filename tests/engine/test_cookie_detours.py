"""Sites that send a visitor round by a page that sets a cookie, and back."""

from http.server import BaseHTTPRequestHandler

import pytest
from small_site import send, serving
from test_robots_flow import crawl


def site(asked: list[str], *, sets: bool) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            known = "k=1" in self.headers.get("Cookie", "")
            where = {"/": "/check", "/check": "/set", "/set": "/"}.get(self.path)
            if self.path == "/set" and sets:
                known = False
            status = 302 if where and not known else 200 if where or self.path == "/in" else 404
            fields = {"Location": where} if where and not known else {}
            if self.path == "/set" and sets:
                fields["Set-Cookie"] = "k=1; Path=/"
            body = "<a href=/in>in</a>" if known and where else ""
            send(self, status, fields | {"Content-Type": "text/html"}, body)

    return Handler


@pytest.mark.parametrize(
    ("cookies", "sets", "paths"),
    [
        (True, True, ["/", "/check", "/set", "/", "/in"]),
        (True, False, ["/", "/check", "/set", "/"]),
        (False, True, ["/", "/check", "/set"]),
    ],
)
def test_the_page_behind_the_detour_is_reached(tmp_path, cookies, sets, paths):
    asked: list[str] = []
    with serving(site(asked, sets=sets)) as address:
        reason = crawl(tmp_path / "c", [address], fetch__cookies=cookies)
    assert str(reason) == "finished"
    assert asked == ["/robots.txt", *paths]
