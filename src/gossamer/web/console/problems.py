"""Says what is wrong with what was asked for in the reader's language."""

import re
from typing import Final

from gossamer.words.catalogue import Words

LONGEST: Final = 2_000
"""Characters of a problem that is understood."""
DEEPEST: Final = 4
"""Paths before one another; what somebody typed may look like hundreds."""

# What the daemon, a crawl and the settings say is wrong, behind the path of a setting if it is about one.
_SENTENCES: Final = (
    # A value of a setting
    ("whole", r"expected a whole number, got (?P<value>.+)"),
    ("whole_bound", r"expected a whole number (?P<bound>[<>]=? \S+), got (?P<value>.+)"),
    ("number", r"expected a number, got (?P<value>.+)"),
    ("number_bound", r"expected a number (?P<bound>[<>]=? \S+), got (?P<value>.+)"),
    ("boolean", r"expected true or false, got (?P<value>.+)"),
    ("list", r"expected a list, got (?P<value>.+)"),
    ("table", r"expected a table, got (?P<value>.+)"),
    ("text", r"expected text, got (?P<value>.+)"),
    ("one_of_near", r"expected one of (?P<words>[^;]+), got (?P<value>[^;]+); did you mean (?P<near>.+)\?"),
    ("one_of", r"expected one of (?P<words>[^;]+), got (?P<value>.+)"),
    ("not_setting_near", r"is not a setting; did you mean (?P<near>.+)\?"),
    ("not_setting", r"is not a setting"),
    ("missing", r"is missing and has no default"),
    ("too_few", r"needs at least (?P<n>\d+) entries, has (?P<has>\d+)"),
    ("too_many", r"takes at most (?P<n>\d+) entries, has (?P<has>\d+)"),
    ("duration", r"(?P<value>.+) is not a duration; write e\.g\. \"10s\", \"5min\", \"1h30min\" or \"2d\""),
    ("size", r"(?P<value>.+) is not a size; write e\.g\. \"500B\", \"64MiB\" or \"1GB\""),
    ("bytes", r"(?P<value>.+) is not a whole number of bytes"),
    ("expression", r"(?P<value>.+) is not a regular expression of RE2: (?P<error>.+)"),
    ("place", r"(?P<value>.+) is neither a host name nor a directory on a host \(example\.org/docs/\)"),
    ("block", r"(?P<value>.+) is neither a host name nor '\*\.' and a name"),
    ("seed", r"(?P<value>.+) is not an http or https URL\. Write it like https://example\.org/"),
    ("no_seeds", r"there are none\. Name at least one URL, like .+"),
    (
        "seed_password",
        r"(?P<value>.+) is given with a password\. Put username and password into the section"
        r" \[host\.\"(?P<host>.+)\"\] of .+",
    ),
    ("more_seeds", r"(?P<n>\d+) more cannot be used"),
    ("no_changes", r"there are none"),
    ("toml", r"the configuration is not TOML: (?P<error>.+)"),
    # A name, a folder, a claim, a schedule
    (
        "job_name",
        r"(?P<value>.+): use at most 64 small letters, digits, points, hyphens and underscores,"
        r" a letter or digit first",
    ),
    ("name_taken", r"there is a job (?P<value>.+) already"),
    ("folder_nowhere", r"(?P<value>.+) leads nowhere: write the whole path, without ~"),
    (
        "folder_outside",
        r"does not lie below one of the daemon's roots \((?P<value>.+)\): name one in service\.toml",
    ),
    ("folder_taken", r"is another job's already"),
    ("folder_empty", r"holds no crawl"),
    ("claim_high", r"(?P<n>\d+) is above the limit of (?P<most>\d+): claim less, or raise the limit"),
    (
        "claim_low",
        r"(?P<n>\d+) is less than the (?P<most>\d+) that the crawl begins with: claim more,"
        r" or begin with less \(engine\.workers, fetch\.max_speed, state\.\*\)",
    ),
    ("claim_nothing", r"0 would let nothing in: claim some"),
    ("zone", r"(?P<value>.+) is no time zone: write it like Europe/Berlin"),
    (
        "cron",
        r"(?P<value>.+): (?P<error>.+): write minute, hour, day, month, weekday, like \"0 3 \* \* mon\"",
    ),
    ("cron_never", r"(?P<value>.+) never comes"),
    ("quiet", r"(?P<value>.+) cannot be read: write 22:00-06:00 or mon-fri 08:00-18:00"),
    # What cannot be done as things stand
    ("no_job", r"there is no job (?P<value>.+)"),
    ("no_url", r"(?P<value>.+) is not a URL of a known scheme\. Write it like https://example\.org/page"),
    ("no_host", r"host (?P<value>.+) is not known to this crawl"),
    ("no_branch_on", r"no branch (?P<value>.+) is set aside on (?P<host>\S+)"),
    ("no_branch", r"no branch (?P<value>.+) is set aside"),
    ("no_change", r"there is no change (?P<n>\d+)"),
    ("not_begun", r"nothing has been crawled yet"),
    ("not_begun_at", r"(?P<path>.+): nothing has been crawled yet\. Run 'gossamer resume' first\."),
    (
        "begin_first",
        r"(?P<path>.+): the crawl has not begun\. Begin it with 'gossamer resume (?P<again>.+)'\.",
    ),
    ("not_blocked", r"host (?P<value>.+) is not blocked"),
    ("not_running", r"the crawl does not run, so (?P<what>\S+) cannot be done: start it first"),
    ("no_answer", r"the crawl does not answer just now: try again"),
    ("ending", r"the crawl is ending \((?P<why>.+)\)"),
    ("no_sense", r"job (?P<job>\S+) is (?P<state>\w+): (?P<what>\S+) makes no sense now"),
    ("no_limit", r"no limit has ended job (?P<job>\S+)"),
    ("runs", r"job (?P<job>\S+) runs, or is to: stop it first"),
    ("other_change", r"another change waits for what it needs: withdraw that first"),
    ("granted", r"at most (?P<n>\d+) are granted"),
    ("granted_speed", r"at most (?P<n>\d+) bytes/s are granted"),
    ("undone", r"change (?P<n>\d+) was taken back by change (?P<by>\d+)"),
    ("final", r"change (?P<n>\d+) \((?P<path>.+)\) cannot be taken back"),
    ("changed_again", r"(?P<path>\S+) was changed again since change (?P<n>\d+)"),
    ("changed_since", r"(?P<path>\S+) has changed since change (?P<n>\d+)"),
    ("cursor", r"(?P<value>.+) is none of this list"),
)
_COMPILED: Final = tuple((key, re.compile(pattern, re.DOTALL | re.ASCII)) for key, pattern in _SENTENCES)
_PATH: Final = re.compile(r"(?P<path>[\w.\[\]\"*-]+): (?P<rest>.+)", re.DOTALL | re.ASCII)


def problem_text(text: str, t: Words, depth: int = DEEPEST) -> str:
    """A problem in the reader's language; what nobody foresaw stays as it is."""
    if len(text) > LONGEST or not depth:
        return text
    for key, pattern in _COMPILED:
        if (found := pattern.fullmatch(text)) is not None:
            values = found.groupdict()
            if "state" in values:
                values["state"] = t.said("state", values["state"])
            return t(f"trouble.{key}", **values)
    if (behind := _PATH.fullmatch(text)) is not None:
        said = problem_text(behind["rest"], t, depth - 1)
        if said != behind["rest"]:
            return t("trouble.of", path=behind["path"], said=said)
    return text
