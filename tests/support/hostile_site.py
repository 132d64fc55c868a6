"""A web server on loopback that tries to run something in whatever shows its pages."""

import contextlib
import http.server
from collections.abc import Iterator
from urllib.parse import quote

from small_site import serving

RUNS = "</title></td></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg/onload=alert(3)>"
STEERS = "\u202egnp.\u2066 \x1b[31m \x07 {{7*7}} ${7*7} <%= 7*7 %> &lt;b&gt;"
TITLE = RUNS + STEERS
PATHS = (
    "/<script>alert(1)</script>",
    '/"onmouseover="alert(1)',
    "/'><img src=x onerror=alert(2)>",
    "/?q=</script><script>alert(1)</script>",
    "/{{7*7}}",
    "/%3Cscript%3Ealert(1)%3C/script%3E",
    "/%0d%0aSet-Cookie:%20x=1",
    "/javascript:alert(1)",
    "/redirect",
)
LINKS = (*PATHS, "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x", "//[bad")


@contextlib.contextmanager
def hostile_site() -> Iterator[str]:
    """Its address, ending in `/`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        server_version = '<script>alert("server")</script>'
        sys_version = ""

        def do_GET(self) -> None:
            if self.path == "/robots.txt":
                self.answer(
                    b"User-agent: *\nDisallow: /private<script>alert(1)</script>\n# " + TITLE.encode(),
                    "text/plain",
                )
            elif self.path == "/redirect":
                self.send_response(302, "<script>alert(1)</script>")
                self.send_header("Location", "/to?<script>alert(1)</script>\"'")
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif "data" in self.path:
                self.answer(TITLE.encode(), 'text/<script>alert(1)</script>; charset="<b>"')
            else:
                links = "".join(f"<a href='{quote(link, safe=':/?=&%')}'>{TITLE}</a>" for link in LINKS)
                self.answer(
                    f"<title>{TITLE.replace('</title>', '&lt;/title>')}</title>{links}".encode(), "text/html"
                )

        def answer(self, body: bytes, kind: str) -> None:
            self.send_response(200, "<script>alert(1)</script>")
            self.send_header("Content-Type", kind)
            self.send_header("Content-Language", "<script>alert(1)</script>")
            self.send_header("ETag", '"<script>alert(1)</script>"')
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with serving(Handler) as address:
        yield address
