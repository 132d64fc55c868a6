"""Who wins among places, written a second time as plainly as can be, without an index and without the crawler's reader.

It shares with the code under test nothing but the texts: places are taken apart here by hand, and tried one by one.
"""

import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443, "ftp": 21}


@dataclass
class Rule:
    text: str
    labels: list[str] = field(default_factory=list)
    dot: str = ""
    target: str = ""
    scheme: str = ""
    port: int = 0
    pattern: str = ""
    network: object = None
    type: str = ""
    start: int = 0
    end: int = 0


def rule_of(text):
    rule = Rule(text)
    for word in text.split():
        if word.startswith("pattern:"):
            rule.pattern = word[8:]
        elif word.startswith("address:"):
            rule.network = ipaddress.ip_network(word[8:])
        elif word.startswith("type:"):
            rule.type = word[5:]
        elif word.startswith("time:"):
            start, end = word[5:].split("-")
            rule.start, rule.end = minutes(start), minutes(end)
        else:
            _where(rule, word)
    return rule


def minutes(text):
    return int(text[:2]) * 60 + int(text[3:])


def _where(rule, word):
    if "://" in word:
        rule.scheme, word = word.split("://")
    name, slash, rest = word.partition("/")
    rule.target = slash + rest if rest else ""
    if name[0] in "*.":
        rule.dot = "*." if name[0] == "*" else "."
        name = name[len(rule.dot) :]
    if ":" in name and not name.endswith("]"):
        name, port = name.rsplit(":", 1)
        rule.port = int(port)
    name = name.lower() if name.isascii() else name.encode("idna").decode()
    rule.labels = [name] if name.startswith("[") else name.split(".")


def holds(rule, url, address, media_type, minute):
    parts = urlsplit(url)
    host = parts.netloc.partition(":")[0] if "[" not in parts.netloc else parts.netloc
    target = parts.path + ("?" + parts.query if parts.query else "")
    labels = [host] if host.startswith("[") else host.split(".")
    return all(
        (
            _on_host(rule, labels),
            target[: len(rule.target)] == rule.target,
            rule.scheme in ("", parts.scheme),
            rule.port in (0, parts.port or PORTS[parts.scheme]),
            not rule.pattern or re.search(rule.pattern, url) is not None,
            rule.network is None or (address != "" and ipaddress.ip_address(address) in rule.network),
            rule.type in ("", media_type)
            or (rule.type[-1] == "*" and media_type[: len(rule.type) - 1] == rule.type[:-1]),
            rule.start == rule.end or minute in _minutes(rule),
        )
    )


def _on_host(rule, labels):
    if not rule.labels:
        return True
    if rule.dot == "":
        return labels == rule.labels
    longer = len(labels) - len(rule.labels)
    return labels[max(longer, 0) :] == rule.labels and longer >= (rule.dot == "*.")


def _minutes(rule):
    day = list(range(1440))
    return day[rule.start : rule.end] if rule.start < rule.end else day[rule.start :] + day[: rule.end]


def narrower(one, other):
    """Whether `one` goes before `other`: the list of the decision record, line by line."""
    for measure in (
        lambda rule: len(rule.labels),
        lambda rule: ("", "*.", ".")[::-1].index(rule.dot) if rule.labels else 0,
        lambda rule: len(rule.target),
        lambda rule: (rule.scheme != "", rule.port != 0),
        lambda rule: len(rule.pattern),
        lambda rule: -1 if rule.network is None else rule.network.prefixlen,
        lambda rule: 0 if rule.type == "" else 1 if rule.type[-1] == "*" else 2,
        lambda rule: 0 if rule.start == rule.end else 1440 - len(_minutes(rule)),
    ):
        if measure(one) != measure(other):
            return measure(one) > measure(other)
    return one.text < other.text


def order_of(rules, url, address, media_type, minute):
    """The texts of all that hold, the narrowest first."""
    left = [rule for rule in rules if holds(rule, url, address, media_type, minute)]
    out = []
    while left:
        best = left[0]
        for rule in left[1:]:
            if narrower(rule, best):
                best = rule
        out.append(best.text)
        left.remove(best)
    return out
