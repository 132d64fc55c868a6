"""Holds what `why` and the queue's figures say as data, with its words in English."""

from collections.abc import Iterable
from typing import Final

import msgspec

Value = str | int | float


class Clause(msgspec.Struct, frozen=True):
    """A sentence, or a part of one, that has no words yet.

    They are made where they are shown: here in English, in the console in the reader's language.

    Attributes:
        key: of `SENTENCES`.
        values: by the names that stand in braces there. What is named `state`, `robots`, `fault` or `kind`
            is one of the words of these lists; `reason`, `detail` and `part` are sentences that the crawl
            has written down, in English; the rest is shown as it is.
    """

    key: str
    values: dict[str, Value] = {}


Told = tuple[Clause, ...]
"""A sentence: its clauses one after the other, with nothing between them."""

SENTENCES: Final = {
    "canonical.rule": "rule {rule} turns {before} into {after}",
    "found.nowhere": "no page that was read mentions it, and it is no seed",
    "found.seed": "it is a seed",
    "found.link": "as {kind} on {via}, depth {depth}",
    "found.hops": ", hop path {hops}",
    "references.pages": "other pages that refer to it: {pages:,}, as of {when}",
    "references.uncounted": "how many other pages refer to it is known after 'gossamer export links'",
    "admission.rejected": "turned away: {reason}",
    "admission.number": "number {number} at level {level}",
    "visit.answer": "{when}: status {status}, {size} bytes",
    "visit.fault": "{when}: fault {fault}",
    "visit.address": " from {address}",
    "visit.took": " in {seconds:.2f} s",
    "visit.detail": " ({detail})",
    "outcome.state": "{state}",
    "outcome.reason": ": {reason}",
    "page.type": "{type} {charset}, {links} links",
    "page.title": ", titled {title!r}",
    "digest.sha256": "sha256:{digest}",
    "digest.twin": ", same payload as {twin}",
    "canonical.own": "the page says that its own URL is {canonical}",
    "archive.place": "{file} at {offset}, {length} bytes, {captured}",
    "redirect.target": "leads to {target}: {state}",
    "queue.first": "waits in its host's queue, the first of it",
    "queue.behind": "waits in its host's queue, {ahead:,} before it",
    "queue.far_behind": "waits in its host's queue, more than {ahead:,} before it",
    "queue.head": "the first of its host's queue is {url}",
    "queue.parked": "parked: {reason}",
    "queue.for": "waits for {seconds:.0f} s more: {reason} (visits so far: {visits})",
    "queue.turn": "waits until its host's turn: {reason} (visits so far: {visits})",
    "level.robots": "robots files",
    "level.depth": "depth {first:,}",
    "level.depths": "depth {first:,} to {last:,}",
    "level.step": "importance step {first:,}",
    "level.steps": "importance step {first:,} to {last:,}",
    "level.level": "level {first:,}",
    "level.levels": "level {first:,} to {last:,}",
    "grade.budget": "beyond its domain's budget (round {round} of {most})",
    "priority.level": ", level {level:,}",
    "priority.order": " under the order {order} (the smaller level first); "
    "arrival {arrival:,} decides among equals",
    "priority.behind": "behind what is ordinary: ",
    "worth.part": "{about}: {part}",
    "worth.no_order": "the order {order} is not installed here, so its parts are not known",
    "worth.no_state": "the order {order} does not understand what it left: {error}",
    "worth.no_worth": "the order {order} does not understand its worth: {error}",
    "worth.mute": "the order {order} cannot explain itself: {error}",
    "worth.none": "the order {order} knows nothing of its worth: it was queued under another order",
    "worth.now": "by its worth of now it would enter at ",
    "worth.better": "; it only moves when that is a better place",
    "worth.unseen": "what links gave it in the last seconds of a running crawl is still in its memory, "
    "unseen here",
    "scope.inside": "in scope: {detail}",
    "scope.outside": "not in scope: {detail}",
    "visited.admitted": "it was admitted, but is not among the first {scanned:,} URLs that wait at its host",
    "visited.false": "the Bloom table takes it for visited though it was never admitted (a false positive): "
    "it is lost to this crawl, as about {rate:.2g} of all new URLs now are",
    "robots.ignored": "robots files are ignored in this crawl",
    "robots.allowed": "allowed, no rule matches",
    "robots.allowed_by": "allowed by '{line}'",
    "robots.forbidden": "forbidden, no rule matches",
    "robots.forbidden_by": "forbidden by '{line}'",
    "robots.state": "{robots}: {detail}",
    "robots.again": ", asks again in {seconds:.0f} s",
    "host.unknown": "its host is not known to this crawl",
    "host.state": "{host} is {state}",
    "host.for": " for {seconds:.0f} s",
    "host.reason": ": {reason}",
    "host.counts": "; queued {queued}, waiting {waiting}, visits {visits}, failures in a row {failures}",
    "host.rest": ", last rest {seconds:.1f} s",
}
"""The words in English, values in braces as `str.format` has them."""


def clause(key: str, **values: Value) -> Clause:
    """A clause, its values by name."""
    return Clause(key, values)


def in_english(told: Iterable[Clause]) -> str:
    """A sentence as the command line says it."""
    return "".join(SENTENCES[one.key].format_map(one.values) for one in told)
