"""Says how a crawl ended: what was fetched, what is left and why, what to do next."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.assembly.seeds import Seeds
from gossamer.cli.terminal.again import again_line
from gossamer.cli.terminal.fresh_line import fresh_line
from gossamer.cli.terminal.printing import duration, plural, safe, say, size
from gossamer.cli.terminal.trouble import Troubles
from gossamer.cli.terminal.twin_lines import twin_lines
from gossamer.config.config import CrawlConfig
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.traps import branch_lines
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.model.command_line import command_line, quoted
from gossamer.model.disposition import PageState
from gossamer.model.errors import GossamerError
from gossamer.model.outcome import Fault, Rule
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.ends import FINISHED, INTERRUPTED, UNREACHABLE
from gossamer.model.reasons.reason import Reason, sentence
from gossamer.policy.branches.tree import ASIDE

if TYPE_CHECKING:  # it brings all that explains a URL, and few crawls end with an explanation
    from gossamer.inspect.why.story import Story

MOST_HOSTS = 10_000
"""Crawls of more hosts are left to `gossamer status`: going through them takes a while."""
MOST_SEEDS = 10_000
"""Seeds that are looked at, some 20 us each."""
LISTED = 3
ADVICE = {
    Fault.NAME_NOT_FOUND: "there is no such name. Is it spelt right?",
    Fault.NAME_FAILED: "the name servers do not answer. Is the network up? --nameserver asks another one.",
    Fault.CONNECT: "nothing answers there. Is the server running, the port right?",
    Fault.CONNECT_TIMEOUT: "nothing answers there. Is the address right, a proxy needed (fetch.proxy)?",
    Fault.TLS: "not secure. Your own certificates go into fetch.ca_file, host keys into fetch.known_hosts.",
    Fault.PROXY: "the proxy refuses. See fetch.proxy.",
    Fault.PROXY_DOWN: "the proxy cannot be reached, or wants another password. See fetch.proxy.",
}


TURNED_AWAY = {
    Rule.SCOPE: "by scope",
    Rule.DIRECTIVE: "marked nofollow",
    Rule.DEPTH: "beyond scope.max_depth",
    Rule.HOPS: "after too many hops or redirects",
    Rule.TOO_LONG: "with addresses longer than scope.max_url_length",
    Rule.TRAP: "that look endless (see traps.* in gossamer config)",
    Rule.SPECULATIVE: "in scripts or by search forms, of kinds that lead nowhere too often",
    Rule.PLUGIN: "by a rule of yours that raised an error",
}
"""What is said of links that were turned away, by rule."""
REFUSED = {
    Rule.ROBOTS: "by robots files",
    Rule.SCOPE: "since the scope was changed",
    Rule.DEPTH: "since scope.max_depth was changed",
    Rule.DIRECTIVE: "by a directive",
    Rule.HOPS: "after too many redirects",
    Rule.TRAP: "that look endless, since traps.* was changed",
    Rule.SPECULATIVE: "found in scripts or by search forms, of kinds that lead nowhere too often",
    Rule.TWIN: "that another name of their site shows",
    Rule.LOGIN: "of places with a log-in that did not let us in (which: gossamer why)",
    Rule.PLUGIN: "by a rule of yours that raised an error",
}
"""The same of URLs that were queued."""
FURTHER: dict[str, str] = {
    EndCode.MAX_PAGES: "--max-pages {}",
    EndCode.MAX_BYTES: "--max-bytes {}",
    EndCode.MAX_TIME: "--max-time {}s",
}
"""How to go on after a limit of the whole crawl."""


def say_end(
    reason: Reason,
    report: dict[str, Any],
    inspection: Inspection,
    troubles: Troubles,
    used: Mapping[str, float] | None = None,
    *,
    hopeless: bool = False,
) -> None:
    """The closing words, on standard error.

    `used`: what sessions before this one had used up of each limit of the whole crawl, by the code of its end.
    `hopeless`: to go on would bring nothing.
    """
    folder = inspection.folder.path
    left = report["queued"] + report["waiting"]
    pages = plural(report["pages"], "page")
    taken = f"{size(report['bytes'])} in {duration(report['seconds'])}"
    rest = plural(left, "URL") if left else "no other URL" if report["aside"] else "no URL"
    say(f"{_words(reason, left, report)}: {pages}, {taken}; {rest} left")
    if report["pages"] and (left_out := _left_out(report)):
        say(f"  left out: {left_out}")
    if report["broken"]:
        say(
            f"  broken: {plural(report['broken'], 'link')}; which: {command_line('list', folder, '--broken')}"
        )
    if report.get("cut"):
        say(f"  broken off: {plural(report['cut'], 'visit')} that went on long after the limit")
    if unread := _unread_pdf(report, inspection.config):
        say(
            f"  links in {plural(unread, 'PDF document')} were not looked for: pip install 'gossamer[documents]'"
        )
    for who, times in report["raised"].items():
        say(f"  {safe(who)} raised {plural(times, 'time')}")
    for line in twin_lines(inspection.twins()):
        say(f"  twins: {line}")
    if report["aside"]:
        say(f"  set aside: {plural(report['aside'], 'URL')} of branches without end or news:")
        for line in _aside(inspection):
            say(f"    {line}")
        say(f"  visit them after all: {command_line('resume', folder, '--release')}")
    again = report.get("revisit")
    if again:
        say(f"  visited again: {again_line(again)}")
        fresh = inspection.freshness().sums
        if fresh is not None and (line := fresh_line(fresh)):
            say(f"  fresh: {line}")
    for line in [
        *_lost_seeds(report, inspection),
        *_unfound(report, inspection),
        *_why(reason, report, inspection, troubles),
        *undelivered(inspection.folder.path, inspection.config),
    ]:
        say(f"  {line}")
    for line in _results(inspection) if report["pages"] else ():
        say(line)
    if not hopeless and (left or (again and again["on"])):
        say(
            f"go on with: {command_line('resume', folder)}{_further(reason, used or {})}{_not_before(left, again)}"
        )


def _results(inspection: Inspection) -> Iterator[str]:
    """Where they lie, and how they are looked at."""
    folder, config = inspection.folder.path, inspection.config
    yield f"results in {quoted(folder)}: archive/, index.cdxj, crawl.log, report.json"
    bare = " (for pictures, styles: crawl with --requisites any)" if config.scope.requisites == "off" else ""
    yield f"look at it: {command_line('view', folder)}{bare}"
    if config.search.follow:
        yield f"search it: {command_line('search', folder, 'WORD...')}"


def _further(reason: Reason, used: Mapping[str, float]) -> str:
    """The limit that was reached, as it was given: `resume` counts from then on. One of before: as it stands."""
    if reason.code not in FURTHER:
        return ""
    limits = [value for value in reason.values if not isinstance(value, str | Reason)]
    before = used.get(reason.code, 0)
    # Rounded because the start took some of the time before it was looked at.
    given = [max(1, round(value - before if value > before else value)) for value in limits]
    return " " + FURTHER[reason.code].format(*given)


def _not_before(left: int, again: dict[str, Any] | None) -> str:
    """When there will be something to do, if there is nothing now."""
    if left or again is None or not again["next_due"]:
        return ""
    return f" (nothing is due before {duration(again['next_due'])} have passed)"


def _left_out(report: dict[str, Any]) -> str:
    """What was found and is not to be visited, by who said so."""
    away, faults = report["turned_away"], report["faults"]
    parts = [(away.get(rule, 0), "link", why) for rule, why in TURNED_AWAY.items()]
    parts += [(faults.get(f"refused: {rule}", 0), "URL", why) for rule, why in REFUSED.items()]
    return ", ".join(f"{plural(count, what)} {why}" for count, what, why in parts if count)


def _lost_seeds(report: dict[str, Any], inspection: Inspection) -> Iterator[str]:
    """The seeds that are given up or may not be fetched, and why. Of a crawl without a page more is told."""
    prints = fingerprints_of(inspection.environment)
    if not report["pages"] or prints is None:
        return
    places, lost = UrlPlaces(inspection.environment, prints, inspection.config), []
    for url in islice(Seeds(inspection.config, inspection.folder.path), MOST_SEEDS):
        record = places.record(places.fingerprint(places.where(url)))
        reason = record.reason if record is not None and record.state == PageState.DROPPED else None
        if reason is not None and reason.code != Rule.TWIN:  # that is told by itself
            lost.append(f"{safe(url.text)} ({safe(sentence(reason))})")
    if lost:
        which = f"; which: {command_line('list', inspection.folder.path, '--state', 'dropped')}"
        named = ", ".join(lost[:LISTED]) + (which if len(lost) > LISTED else "")
        yield f"{plural(len(lost), 'seed')} not fetched: {named}"


def _unasked(report: dict[str, Any]) -> int:
    """Links that were left out though nobody has asked for it: guards did."""
    return sum(report["turned_away"].get(rule, 0) for rule in (Rule.TOO_LONG, Rule.TRAP, Rule.PLUGIN))


def _unread_pdf(report: dict[str, Any], config: CrawlConfig) -> int:
    """PDF documents whose links were wanted, though what reads them is not installed."""
    if not config.documents.links:
        return 0
    from gossamer.documents.extractor import PDF_READER
    from gossamer.documents.kinds import FORMATS, Format

    count = sum(report["media_types"].get(name, 0) for name in FORMATS[Format.PDF])
    return count if count and find_spec(PDF_READER) is None else 0


def _unfound(report: dict[str, Any], inspection: Inspection) -> Iterator[str]:
    """The fields that no page had, by which most likely a selector is wrong; and how to try one."""
    if not inspection.config.fields or not report["pages"]:
        return
    from gossamer.extract.fields.extractor import MATCH

    wanted = {
        name: selector
        for section in inspection.config.fields.values()
        for name, selector in section.items()
        if name != MATCH and name not in report["fields"]
    }
    if not wanted:
        return
    names = ", ".join(map(safe, islice(wanted, LISTED))) + ", ..." * (len(wanted) > LISTED)
    tried = "=".join(next(iter(wanted.items())))
    how = command_line("fields", "URL", "--from", inspection.folder.path, "--field", tried)
    yield f"found on no page: {plural(len(wanted), 'field')} ({names}); try: {safe(how)}"


def _aside(inspection: Inspection) -> Iterator[str]:
    """The branches that were set aside."""
    lines = [line for line in branch_lines(inspection) if line.state == ASIDE]
    for line in lines[:LISTED]:
        visits = f"{line.brought:,} of {plural(line.visits, 'visit')} brought something"
        yield f"{safe(line.host)}{safe(line.branch)}: {plural(line.waiting, 'URL')}, {visits}"
    if len(lines) > LISTED:
        yield f"{len(lines) - LISTED:,} more: {command_line('traps', inspection.folder.path)}"


def _words(reason: Reason, left: int, report: dict[str, Any]) -> str:
    if reason == UNREACHABLE:
        return "no seed could be reached"
    if reason == FINISHED and left:
        return "finished for now"
    if reason == FINISHED and (report["aside"] or _unasked(report)):
        return "finished, but for what is left out"
    return f"limit reached ({reason})" if reason.code in FURTHER else str(reason)


def _why(reason: Reason, report: dict[str, Any], inspection: Inspection, troubles: Troubles) -> Iterator[str]:
    """Lines on why there is no page, or what the rest waits for."""
    if reason == UNREACHABLE and troubles.unreached:
        for host, failed in troubles.unreached.items():
            advice = ADVICE.get(failed.fault, "see crawl.log")
            detail = f" ({safe(str(failed.detail))})" if failed.detail else ""
            yield f"{safe(host)}: {failed.fault}{detail}: {advice}"
    elif not report["pages"]:
        yield from _first_seed(inspection)
    elif report["queued"] + report["waiting"] and report["hosts"] <= MOST_HOSTS and reason != INTERRUPTED:
        yield from _waiting_hosts(inspection)


def _first_seed(inspection: Inspection) -> Iterator[str]:
    """Why a crawl has no page: what became of its first seed, and of where that was sent in the end."""
    seed = next(Seeds(inspection.config, inspection.folder.path).texts(), None)
    if seed is None:  # what is crawled was to come later
        return
    from gossamer.inspect.why.story import Storyteller

    teller = Storyteller(inspection)
    story = teller.tell(seed)
    yield from _lines(story)
    ways = {story.url}
    while (target := _sent_to(story)) is not None and target not in ways:
        ways.add(target)
        story = teller.tell(target)
    if len(ways) > 1:
        yield from _lines(story)


def _lines(story: "Story") -> Iterator[str]:
    yield f"{safe(story.url)}: {story.state}"
    for fact in story.facts:
        turned_away = story.state == "rejected" and fact.about == "admission"
        if turned_away or fact.about in ("visit", "outcome", "redirect", "queue", "scope", "robots", "host"):
            yield f"  {fact.about:<9} {safe(fact.text)}"


def _sent_to(story: "Story") -> str | None:
    """The target of its redirect."""
    targets = (
        said.values["target"] for fact in story.facts if fact.about == "redirect" for said in fact.told
    )
    return next(map(str, targets), None)


def _waiting_hosts(inspection: Inspection) -> Iterator[str]:
    """What the largest hosts with work wait for."""
    from gossamer.inspect.status import status_of

    hosts = [host for host in status_of(inspection).hosts if host.queued or host.waiting]
    for host in hosts[:LISTED]:
        rest = f" for {duration(host.seconds)}" if host.seconds else ""
        why = f": {safe(host.reason)}" if host.reason else ""
        yield f"{safe(host.name)}: {plural(host.queued + host.waiting, 'URL')}, {host.state}{rest}{why}"


def undelivered(folder: Path, config: CrawlConfig) -> list[str]:
    """Notices of watches that somebody was not told of, a line for each watch; nothing where nothing is watched."""
    if not (folder / "watch").is_dir():
        return []
    from gossamer.watch.shown import watch_views

    try:
        views = watch_views(folder, config)
    except GossamerError:
        return []
    return [
        f"watch {safe(view.name)}: {plural(view.pending, 'notice')} not sent yet, {view.failed:,} given up; which:"
        f" {command_line('watch', folder)}"
        for view in views
        if view.pending or view.failed
    ]
