"""Says the sentences that crawls and the daemon give as reasons in the reader's language."""

import re
from typing import Final

from gossamer.model.outcome import Fault, Rule
from gossamer.words.catalogue import Words

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
    ("no_server", r"no server answers|unreachable"),
    ("died", r"its process has died(?P<more>(?:: .+)?)"),
    ("killed", r"its process was killed by signal (?P<n>\d+)(?P<more>(?:: .+)?)"),
    ("ended_with", r"its process ended with status (?P<n>\d+)(?P<more>(?:: .+)?)"),
    ("outside", r"its process was interrupted from outside(?P<more>(?:: .+)?)"),
    ("disk", r"its disk failed it(?P<more>(?:: .+)?)"),
    ("no_space", r"[Nn]o space left on device"),
    ("unwritable", r"(?P<path>.+): cannot be written \((?P<inner>.+)\)\. Free some space.*"),
    ("bandwidth", r"bandwidth: (?P<n>\d+) visits wait for room"),
    ("busy", r"all (?P<n>\d+) workers are busy"),
    ("names", r"names: (?P<n>\d+) hosts wait for theirs"),
    ("answers", r"the answers of (?P<n>\d+) visits"),
    ("next_due", r"politeness: the next host falls due in (?P<n>[\d.]+) s"),
    # Why a URL belongs, or does not
    ("on_hosts", r"on the seeds' hosts \(mode host\)"),
    ("off_hosts", r"not on the seeds' hosts \(mode host\)"),
    ("in_domains", r"in the seeds' domains \(mode domain\)"),
    ("off_domains", r"not in the seeds' domains \(mode domain\)"),
    ("below_folders", r"below the seeds' directories \(mode prefix\)"),
    ("off_folders", r"not below the seeds' directories \(mode prefix\)"),
    ("anywhere", r"anywhere is in scope \(mode any\)"),
    ("requisite", r"page requisite \(requisites (?P<n>\w+)\)"),
    ("no_requisites", r"page requisites are not followed \(requisites off\)"),
    ("include", r"matches include (?P<pattern>.+)"),
    ("exclude", r"matches exclude (?P<pattern>.+)"),
    ("own_rule", r"admitted by rule (?P<name>.+)"),
    ("own_refusal", r"rejected by rule (?P<name>.+)"),
    ("rule_raised", r"rule (?P<name>[\w .<>]+) raised (?P<detail>.+)"),
    ("no_rule", r"no rule admits it"),
    ("blocked", r"host (?P<name>\S+) is blocked"),
    ("url_length", r"(?P<n>\d+) bytes long, at most (?P<most>\d+) allowed"),
    ("scheme", r"scheme (?P<name>\S+) is not among (?P<most>.+)"),
    ("hops", r"(?P<n>\d+) hops from the seed, at most (?P<most>\d+) allowed"),
    ("redirects", r"more than (?P<n>\d+) redirects in a row"),
    ("depth", r"depth (?P<n>\d+), at most (?P<most>\d+) allowed"),
    ("robots_file", r"robots file"),
    ("nofollow", r"directive: rel=nofollow"),
    ("segments", r"more than (?P<n>\d+) path segments"),
    ("embedded", r"more than (?P<n>\d+) URLs inside the path"),
    ("repeated", r"the same path segment more than (?P<n>\d+) times in a row"),
    ("repeated_block", r"the same (?P<of>\d+) path segments more than (?P<n>\d+) times in a row"),
    ("escaped", r"a character is escaped more than (?P<n>\d+) times"),
    ("ampersands", r"an ampersand is escaped more than (?P<n>\d+) times"),
    ("parameters", r"more than (?P<n>\d+) parameters"),
    ("same_parameters", r"more than (?P<n>\d+) parameters of one name"),
    # What became of visits, of robots files and of patterns
    ("retry", r"retry"),
    ("cut_off", r"cut by (?P<how>length|time|disconnect)"),
    ("nowhere", r"leads nowhere: (?P<detail>.+)"),
    ("unread", r"extract: (?P<n>\d+) of (?P<of>\d+) bytes were left unread"),
    ("robots_redirected", r"robots: redirected"),
    ("robots_moved", r"robots file redirected to (?P<name>.+)"),
    ("robots_rules", r"robots: rules"),
    ("robots_closed", r"robots: closed \((?P<inner>.+)\)"),
    ("brought", r"(?P<n>\d+) new characters, (?P<of>\d+) new links"),
    ("first_page", r"first page"),
    ("unproven", r"leads to what is not known yet"),
    # Parts of what a URL is worth
    ("share", r"(?P<n>[\d.e+-]+) of all"),
    ("voice", r"(?P<n>[\d.e+-]+) of a link that brings all credit"),
    ("buckets", r"(?P<n>[\d.]+) \((?P<of>\d+) of (?P<most>\d+) buckets of domains\)"),
    ("eightfold", r"yes, counts eightfold"),
    ("twice", r"yes, counts twice"),
    ("no", r"no"),
    # The last resort: a word of our own, and what came from elsewhere.
    ("fault", r"(?P<fault>[a-z_]+): (?P<detail>.+)"),
)
_OURS: Final = frozenset((*Rule, Fault.ADDRESS_FORBIDDEN))
"""What is said behind these words is a reason itself."""
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
        if key == "fault" and values["detail"] and found["fault"] in _OURS:
            values["detail"] = reason_text(values["detail"], t, depth - 1)
        if "how" in values:
            values["how"] = t.said("cut_by", values["how"])
        return t(f"reason.{key}", **values)
    return t.said("fault", text)


def details_text(text: str, t: Words) -> str:
    """What was noticed at a visit, one thing after the other, in the reader's language."""
    if len(text) > LONGEST:
        return text
    return t("reason.then").join(reason_text(part, t) for part in text.split("; "))
