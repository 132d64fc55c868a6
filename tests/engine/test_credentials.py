"""What a section of a host says of its credentials goes to one origin, wherever redirects lead."""

from small_site import Site
from test_robots_flow import crawl, html


def test_a_token_goes_to_its_origin_and_nowhere_else(tmp_path):
    def redirecting(host, path, asked):
        if path == "/away":
            return 302, {"Location": f"{other.address}secret"}, b""
        return html("/away") if path == "/" else html()

    with Site(lambda host, path, asked: html()) as other, Site(redirecting) as own:
        section = {'host."127.0.0.1"': {"token": "hunter2", "origin": own.address.rstrip("/")}}
        crawl(tmp_path / "c", [own.address], **section)
    told = {
        (site is own, path): headers["Authorization"]
        for site in (own, other)
        for (_, path), headers in zip(site.asked, site.headers, strict=True)
    }
    assert told[True, "/"] == told[True, "/away"] == "Bearer hunter2"
    assert told[False, "/secret"] is None
    assert told[False, "/robots.txt"] is None
