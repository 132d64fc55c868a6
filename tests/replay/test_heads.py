"""Heads of replayed responses, and parts of bodies."""

import pytest

from gossamer.model.exchange import Headers
from gossamer.replay.heads import kept_fields, policy, range_of

STEERING = [
    "Set-Cookie",
    "Content-Security-Policy",
    "X-Frame-Options",
    "Strict-Transport-Security",
    "Clear-Site-Data",
    "Refresh",
    "Link",
    "Alt-Svc",
    "NEL",
    "Report-To",
    "Reporting-Endpoints",
    "Service-Worker-Allowed",
    "SourceMap",
    "X-SourceMap",
    "Public-Key-Pins",
    "Cross-Origin-Embedder-Policy",
    "Permissions-Policy",
    "Speculation-Rules",
    "Access-Control-Allow-Origin",
    "Location",
    "Content-Encoding",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "WWW-Authenticate",
    "X-DNS-Prefetch-Control",
    "Accept-CH",
    "Origin-Trial",
    "Observe-Browsing-Topics",
    "Attribution-Reporting-Register-Source",
    "Supports-Loading-Mode",
]
HARMLESS = "Content-Type Last-Modified ETag Content-Disposition X-Total-Count Content-Language X-Content-Type-Options"


@pytest.mark.parametrize("name", STEERING)
def test_what_steers_a_browser_is_dropped(name: str) -> None:
    assert list(kept_fields(Headers([(name, "x"), (name.lower(), "x")]))) == []


def test_what_is_harmless_is_kept() -> None:
    fields = [(name, "x") for name in HARMLESS.split()]
    assert list(kept_fields(Headers(fields))) == fields
    assert list(kept_fields(Headers([("ETag", "a\r\nSet-Cookie: b"), ("X-A", "b\0")]))) == []


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=0-", (0, 10)), ("bytes=2-4", (2, 5)), ("bytes=2-99", (2, 10)), ("bytes=-3", (7, 10)),
        ("bytes=-99", (0, 10)), ("bytes=10-", (10, 10)), ("bytes=-0", (10, 10)), ("bytes=4-2", None),
        ("bytes=-", None), ("bytes=0-1,3-4", None), ("items=0-1", None), ("", None), ("bytes=a-", None),
    ],
)  # fmt: skip
def test_ranges(asked: str, part: tuple[int, int] | None) -> None:
    assert range_of(asked, 10) == part


def test_the_policy_allows_this_server_alone() -> None:
    for scripts in (True, False):
        sources = {word for rule in policy(7, scripts=scripts).split(";") for word in rule.split()[1:]}
        assert {word for word in sources if ":" in word} == {"http://*.localhost:7", "data:", "blob:"}
        assert not {"allow-popups", "allow-top-navigation"} & sources
    assert "allow-scripts" not in policy(7, scripts=False)
