"""The signs of answers that are shown to robots alone: challenges, captchas, blocks of a CDN.

A sign counts in the head, or in the beginning of a short page; a long page that mentions a captcha is none.
"""

import re

from gossamer.model.exchange import Headers

__all__ = ["is_wall", "is_wall_head"]

LONGEST = 64 << 10
"""Bytes of a page that can be a wall; longer ones have something to say."""

_FIELDS = (
    ("cf-mitigated", re.compile("challenge|block", re.IGNORECASE)),
    ("x-amzn-waf-action", re.compile("challenge|captcha", re.IGNORECASE)),
    ("x-datadome", re.compile("protected", re.IGNORECASE)),
    ("x-sucuri-block", re.compile("")),
)
_PAGE = re.compile(
    rb"<title>(?:Just a moment\.\.\.|Attention Required! \| Cloudflare|Access denied"
    rb"|Access to this page has been denied|Pardon Our Interruption|Are you a robot\?|Robot Check|Security Check"
    rb"|DDoS-Guard|Vercel Security Checkpoint"
    rb"|Human Verification|Bot Verification|Verify you are human)"
    rb"|/cdn-cgi/challenge-platform/|_Incapsula_Resource|window\._pxAppId|geo\.captcha-delivery\.com"
    rb"|awsWafCookieDomainList|Checking your browser before accessing|Please verify you are a human"
    rb"|(?:h|g-re)captcha[^<>]{0,200}verify you are (?:a )?human",
    re.IGNORECASE,
)
_MAY_BE = frozenset({200, 202, 400, 401, 403, 404, 405, 406, 418, 429, 503})


def is_wall_head(status: int, headers: Headers) -> bool:
    """Whether the head alone says so."""
    return status in _MAY_BE and any(
        (value := headers.get(name)) and sign.search(value) is not None for name, sign in _FIELDS
    )


def is_wall(status: int, headers: Headers, content: bytes) -> bool:
    """Whether head or content say so; `content` has its codings undone."""
    if is_wall_head(status, headers):
        return True
    return status in _MAY_BE and len(content) <= LONGEST and _PAGE.search(content) is not None
