"""The headers that every answer carries."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types gossamer",
    )
)
"""Scripts, styles, pictures and connections from this origin's own files only: nothing inline, nothing
evaluated, no foreign origin. Text becomes markup in scripts through the
one Trusted Types policy `gossamer`, which takes fragments that this server has rendered."""

_ALWAYS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # URLs of pages hold names of jobs and hosts. Not "no-referrer": that makes browsers send "Origin: null"
    # with our own forms (Fetch, section 3.2).
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"cache-control", b"no-store"),
)
_OVER_TLS = (b"strict-transport-security", b"max-age=31536000")


def with_safety(headers: list[tuple[bytes, bytes]], scheme: str) -> list[tuple[bytes, bytes]]:
    """The answer's own headers, and ours where it has none of that name."""
    given = {name.lower() for name, _ in headers}
    ours = [*_ALWAYS, _OVER_TLS] if scheme == "https" else _ALWAYS
    return [*headers, *((name, value) for name, value in ours if name not in given)]
