"""The findings as SARIF 2.1.0 (OASIS), for code scanning and editors."""

import hashlib
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

import msgspec

from gossamer.audit.outputs.message import message
from gossamer.audit.result import AuditResult, Finding
from gossamer.audit.rules import RULES
from gossamer.fetch.config import HOME
from gossamer.words.catalogue import Words

__all__ = ["as_sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_encode = msgspec.json.Encoder().encode
_INDEX = {rule.value: at for at, rule in enumerate(RULES)}
_PAGES = 10
"""PagePlaces of one result; viewers show few."""


def as_sarif(result: AuditResult, t: Words) -> Iterator[bytes]:
    """Pieces of the log: one run, a result for each finding."""
    rules = [
        {
            "id": rule.value,
            "name": "".join(word.capitalize() for word in rule.value.split("-")),
            "shortDescription": {"text": t.said("finding", rule.value)},
            "helpUri": f"{HOME}/blob/main/docs/how-to/audit.md#{rule.value}",
            "defaultConfiguration": {"level": level.value},
        }
        for rule, level in RULES.items()
    ]
    driver = {
        "name": "gossamer audit",
        "version": version("gossamer"),
        "informationUri": HOME,
        "rules": rules,
    }
    yield (
        b'{"$schema":' + _encode(_SCHEMA) + b',"version":"2.1.0","runs":[{"tool":{"driver":' + _encode(driver)
    )
    yield b'},"results":['
    for number, finding in enumerate(result.findings()):
        yield (b",\n" if number else b"\n") + _encode(_result(finding, t))
    yield b"]}]}\n"


def _result(finding: Finding, t: Words) -> dict[str, Any]:
    places = [page.url for page in finding.pages[:_PAGES]] or [finding.url]
    fingerprint = hashlib.sha256(f"{finding.rule}\n{finding.url}".encode("utf-8", "replace")).hexdigest()
    return {
        "ruleId": finding.rule,
        "ruleIndex": _INDEX[finding.rule],
        "level": finding.level,
        "message": {"text": message(finding, t)},
        "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": _uri(place)}, "region": {"startLine": 1}}}
            for place in places
        ],
        "partialFingerprints": {"ruleAndAddress/v1": fingerprint},
        "baselineState": "unchanged" if finding.known else "new",
        "properties": {"url": finding.url, "detail": finding.detail},
    }


def _uri(address: str) -> str:
    """A URI reference, also of what was none."""
    return quote(address, safe="%/:=&?~#+!$,;'@()*[]")
