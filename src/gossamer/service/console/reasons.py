"""Says the sentences that crawls and the daemon give as reasons in the reader's language."""

import re
from typing import Final

from gossamer.service.console.words import Words

LONGEST: Final = 2_000
"""Characters of a reason that is understood; longer ones come from elsewhere."""
DEEPEST: Final = 4
"""Reasons within reasons."""

# What a reason is in the language of the crawl, and which parts of it are of which kind: `fault` has a word
# of its own, `inner` is a reason itself, the rest (numbers, names, what servers have sent) stays as it is.
_SENTENCES: Final = (
    ("politeness", r"politeness"),
    ("own_times", r"its URLs wait for times of their own"),
    ("set_aside", r"its URLs are set aside: see 'gossamer traps' and 'gossamer why'"),
    ("shared", r"another crawl of this machine"),
    ("operator", r"by the operator"),
    ("operator_for", r"by the operator, for (?P<n>[\d.e+]+) s"),
    ("again", r"in scope again"),
    ("trap", r"trap: pattern (?P<pattern>.+) yields nothing \((?P<gained>\d+) of (?P<tried>\d+) pages\)"),
    ("pages_per_host", r"(?:budget: )?pages_per_host (?P<n>\d+)"),
    ("bytes_per_host", r"(?:budget: )?bytes_per_host (?P<n>\d+)"),
    ("pages_per_domain", r"(?:budget: )?pages_per_domain (?P<n>\d+)"),
    ("bytes_per_domain", r"(?:budget: )?bytes_per_domain (?P<n>\d+)"),
    ("max_pages", r"max_pages (?P<n>\d+)"),
    ("max_bytes", r"max_bytes (?P<n>\d+)"),
    ("max_time", r"max_time (?P<n>\S+)"),
    ("robots_unreachable", r"robots file unreachable \((?P<fault>\w+)\)"),
    ("robots_none", r"no robots file \((?P<n>\d+)\)"),
    ("robots_nowhere", r"robots file redirects nowhere \((?P<n>\d+)\)"),
    ("robots_scheme", r"robots file redirects to an unsupported scheme"),
    ("robots_304", r"304 without rules"),
    ("robots_hold", r"robots: hold \((?P<inner>.+)\)"),
    ("robots_open", r"robots: open \((?P<inner>.+)\)"),
    ("in_a_row", r"(?P<inner>.+), (?P<n>\d+) failures of the host in a row"),
    ("visits", r"(?P<inner>.+), (?P<n>\d+) visits?"),
    ("no_location", r"(?P<n>\d+) without Location"),
    ("cut", r"(?P<n>\d+) cut by (?P<how>length|time|disconnect)"),
    # Of jobs, and of what a crawl as a whole waits for
    ("finished", r"finished"),
    ("interrupted", r"interrupted"),
    ("paused_by", r"paused by (?P<who>[^;]+)(?P<more>(?:; .+)?)"),
    ("quiet", r"quiet hours"),
    ("resources", r"waits for resources"),
    ("memory", r"waits for memory"),
    ("regain", r"waits for what it needs to go on"),
    ("found", r"found running"),
    ("no_server", r"no server answers"),
    ("died", r"its process has died(?P<more>(?:: .+)?)"),
    ("killed", r"its process was killed by signal (?P<n>\d+)(?P<more>(?:: .+)?)"),
    ("ended_with", r"its process ended with status (?P<n>\d+)(?P<more>(?:: .+)?)"),
    ("outside", r"its process was interrupted from outside(?P<more>(?:: .+)?)"),
    ("disk", r"its disk failed it(?P<more>(?:: .+)?)"),
    ("bandwidth", r"bandwidth: (?P<n>\d+) visits wait for room"),
    ("busy", r"all (?P<n>\d+) workers are busy"),
    ("names", r"names: (?P<n>\d+) hosts wait for theirs"),
    ("answers", r"the answers of (?P<n>\d+) visits"),
    ("next_due", r"politeness: the next host falls due in (?P<n>[\d.]+) s"),
    # The last resort: a word of our own, and what came from elsewhere.
    ("fault", r"(?P<fault>[a-z_]+): (?P<detail>.+)"),
)
_COMPILED: Final = tuple((key, re.compile(pattern, re.DOTALL | re.ASCII)) for key, pattern in _SENTENCES)


def reason_text(text: str, t: Words, depth: int = DEEPEST) -> str:
    """A reason in the reader's language; what nobody foresaw, and what servers say, stays as it is."""
    if not text or len(text) > LONGEST or not depth:
        return text
    for key, pattern in _COMPILED:
        if (found := pattern.fullmatch(text)) is None:
            continue
        values = {name: value or "" for name, value in found.groupdict().items()}
        if "fault" in values:
            if key == "fault" and not t.has(f"fault.{values['fault']}"):
                return text
            values["fault"] = t.said("fault", values["fault"])
        if "inner" in values:
            values["inner"] = reason_text(values["inner"], t, depth - 1)
        if more := values.get("more"):
            values["more"] = more[:2] + reason_text(more[2:], t, depth - 1)
        if "how" in values:
            values["how"] = t.said("cut_by", values["how"])
        return t(f"reason.{key}", **values)
    return t.said("fault", text)
