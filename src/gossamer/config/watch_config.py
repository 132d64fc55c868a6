"""Settings of what is watched, and of who is told."""

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gossamer.config.secret_values import is_reference
from gossamer.extract.fields.selector import read_ignored, read_selector
from gossamer.model.errors import ConfigError
from gossamer.model.quantity import Seconds
from gossamer.policy.scope.address_pattern import address_problem
from gossamer.policy.watching.conditions import read_condition
from gossamer.policy.watching.quiet import read_quiet

__all__ = ["NotifyConfig", "WatchConfig", "name_of", "problems_of"]

_LONGEST_NAME = 200


class NotifyConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Somebody to be told: a webhook, a mailbox, or whatever `apprise` speaks."""

    to: Annotated[
        str,
        Meta(
            description="https://... for a webhook, mailto:me@example.org for mail, or an address of apprise"
            " (extra 'notify'); where it holds a secret, write env:NAME or file:PATH",
            examples=["https://example.org/hook"],
        ),
    ]
    server: Annotated[str, Meta(description="of mail: HOST:PORT", examples=["smtp.example.org:587"])] = ""
    tls: Annotated[
        Literal["starttls", "tls", "none"],
        Meta(description="of mail: how the connection is encrypted; none only on the machine itself"),
    ] = "starttls"
    ca_file: Annotated[
        str, Meta(description="certificates of mail servers and webhooks, if not the system's")
    ] = ""
    sender: Annotated[str, Meta(description="address that mail comes from; empty: that of the receiver")] = ""
    user: Annotated[str, Meta(description="of mail: to log in as at the mail server")] = ""
    password: Annotated[
        str,
        Meta(
            extra={"secret": True},
            description="of the user, or the token that a webhook wants (Authorization: Bearer); as env:NAME"
            " or file:PATH",
        ),
    ] = ""


class WatchConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that is watched: pages by their addresses, by a pattern of these, or by what they say."""

    name: Annotated[str, Meta(description="if not given, its first page, pattern or query")] = ""
    urls: Annotated[tuple[str, ...], Meta(description="the pages")] = ()
    match: Annotated[
        str,
        Meta(description="all pages whose address matches (* is anything), e.g. /news/*, as in [fields.*]"),
    ] = ""
    query: Annotated[
        str, Meta(description="all pages that answer this, as 'gossamer search' has it (extra 'search')")
    ] = ""
    select: Annotated[
        str, Meta(description="the part of the page, by CSS or XPath, as in [fields.*]; empty: all its text")
    ] = ""
    ignore: Annotated[
        tuple[str, ...],
        Meta(
            description="elements that are left out of the page, by CSS, e.g. .related; also of what is selected"
        ),
    ] = ()
    when: Annotated[
        tuple[str, ...],
        Meta(
            description="tell when one of these begins to hold: 'contains TEXT', 'lacks TEXT', 'number > 10';"
            " if not given, at each change"
        ),
    ] = ()
    notify: Annotated[
        tuple[str, ...],
        Meta(description="who is told: names of sections [notify.NAME], or addresses as `to` there"),
    ] = ()
    quiet: Annotated[
        str, Meta(description="time of day in which nobody is told, e.g. 22:00-07:00 Europe/Berlin")
    ] = ""
    gather: Annotated[Seconds, Meta(description="what changes within this time is told in one message")] = (
        60.0
    )
    settle: Annotated[
        Seconds,
        Meta(description="pages of a pattern or query that are found within this time are not told as new"),
    ] = 86_400.0
    paused: Annotated[bool, Meta(description="the pages are still looked at, but nobody is told")] = False


def name_of(watch: WatchConfig) -> str:
    """What a watch is called."""
    return watch.name or (watch.urls[0] if watch.urls else watch.match or watch.query)[:_LONGEST_NAME]


def problems_of(watches: tuple[WatchConfig, ...], notify: dict[str, NotifyConfig]) -> list[str]:
    """All that is wrong with them, each with its place."""
    problems: list[str] = []
    names: set[str] = set()
    for number, watch in enumerate(watches):
        at = f"watch[{number}]"
        if not (watch.urls or watch.match or watch.query):
            problems.append(f"{at}: watches nothing; give urls, match or query")
        elif (name := name_of(watch)) in names:
            problems.append(f"{at}.name: {name} is the name of another watch; give it one of its own")
        names.add(name_of(watch))
        problems += (f"{at}.{problem}" for problem in _problems(watch, notify))
    for name, receiver in notify.items():
        if (
            receiver.to.startswith("mailto:") and not receiver.server
        ):  # also mailto://, which apprise would take
            problems.append(f"notify.{name}.server: mail needs a server, e.g. smtp.example.org:587")
    return problems


def _problems(watch: WatchConfig, notify: dict[str, NotifyConfig]) -> Iterator[str]:
    for place, words in enumerate(watch.when):
        try:
            condition = read_condition(words)
        except ValueError as error:
            yield f"when[{place}]: {error}"
            continue
        if condition.kind == "number" and not watch.select:
            yield f"when[{place}]: a number of what? give select"
    if (problem := address_problem(watch.match)) is not None:
        yield f"match: is no regular expression of RE2 ({problem})"
    try:
        read_quiet(watch.quiet)
    except ValueError as error:
        yield f"quiet: {error}"
    if watch.select:
        try:
            read_selector(watch.select)
        except ConfigError as error:
            yield f"select: {error}"
    try:
        read_ignored(watch.ignore)
    except ConfigError as error:
        yield f"ignore: {error}"
    for place, to in enumerate(watch.notify):
        if is_reference(to) or to.startswith("mailto:"):
            kind = "a reference" if is_reference(to) else "mail, which needs a server"
            yield f"notify[{place}]: is {kind}; make a section [notify.NAME] with it and name that"
        elif ":" not in to and to not in notify:
            yield f"notify[{place}]: there is no section [notify.{to}], and it is no address"
