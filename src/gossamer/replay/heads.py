"""The head of a replayed response: what of the archived one is harmless, and what holds the page in."""

import re
from collections.abc import Iterator

from gossamer.model.exchange import Headers

__all__ = ["kept_fields", "policy", "range_of"]

_KEPT = frozenset(
    {
        "content-type",
        "content-language",
        "content-disposition",
        "content-range",
        "last-modified",
        "etag",
        "date",
    }
    | {"age", "expires", "retry-after", "allow", "timing-allow-origin"}
)
"""Fields of which none steers the browser, makes it load or send something, or outlives the page. All others are
dropped: those known to do so (cookies, CSP, HSTS, `Alt-Svc`, `Link`, `Refresh`, `NEL`, `Report-To`,
`Clear-Site-Data`, `X-Frame-Options` ...) and those that are not known yet."""
_OWN = re.compile(
    r"x-(?!frame-options|dns-prefetch-control|sourcemap|webkit-csp|content-security-policy|xss-protection|accel-|"
    r"sendfile|permitted-|pingback|ua-compatible|forwarded|http-method)[a-z0-9_-]+"
)
"""Fields of a site's own, which its scripts may read."""
_UNFIT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


def kept_fields(headers: Headers) -> Iterator[tuple[str, str]]:
    """The fields of an archived response that are passed on, as they came."""
    for name, value in headers.fields:
        lower = name.strip().lower()
        if (lower in _KEPT or _OWN.fullmatch(lower)) and not _UNFIT.search(value):
            yield name.strip(), value.strip()


def policy(port: int, *, scripts: bool) -> str:
    """The Content-Security-Policy of what is replayed: it may load names of this server, and nothing else.

    `sandbox` keeps frames from leading the page away, and everything from opening windows (HTML 7.1.5).

    Args:
        port: of the server.
        scripts: scripts run; nothing of a drawing or a document of mere data needs any.
    """
    names = f"http://*.localhost:{port}"
    run = "'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'"
    rules = [
        f"default-src {names} data: blob: {run if scripts else ''}".rstrip(),
        f"script-src {names} data: blob: {run}" if scripts else "script-src 'none'",
        f"style-src {names} data: blob: 'unsafe-inline'",
        f"form-action {names}",
        f"base-uri {names}",
        f"frame-ancestors {names}",
        f"sandbox allow-same-origin allow-forms allow-modals allow-downloads{' allow-scripts' if scripts else ''}",
    ]
    return "; ".join(rules)


def range_of(asked: str, size: int) -> tuple[int, int] | None:
    """The part of a body that a `Range` field asks for: start and end, end not included (RFC 9110, 14.2).

    `None`: the whole, because it asks for nothing that we give: another unit, several parts. Where nothing of it
    is there, start and end are `size`.
    """
    found = _RANGE.fullmatch(asked.strip())
    if found is None or found[0] == "bytes=-":
        return None
    if not found[1]:
        length = int(found[2])
        return (max(0, size - length), size) if length else (size, size)
    start = int(found[1])
    if found[2] and int(found[2]) < start:
        return None
    end = min(int(found[2]) + 1, size) if found[2] else size
    return (start, end) if start < size else (size, size)
