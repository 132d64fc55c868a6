"""Puts reasons, which crawls and the daemon give as values, into words where they are shown."""

from typing import Any

import jinja2
import msgspec

from gossamer.model.reasons.reason import Reason
from gossamer.words.catalogue import Words


def reason_text(told: Any, t: Words, otherwise: str = "") -> str:
    """A reason in the reader's language.

    Args:
        told: a reason, also as it comes over a socket; a text is shown as it is.
        t: of the reader's language.
        otherwise: if there is no reason: what a crawl of an older version said in its stead.
    """
    if isinstance(told, jinja2.Undefined):  # of an older version
        return otherwise
    if isinstance(told, list):
        try:
            told = msgspec.convert(told, Reason)
        except msgspec.ValidationError:
            return otherwise
    if isinstance(told, Reason):
        return told.said(t.language)
    return str(told) if told else otherwise
