"""The sections `[login."..."]`: how one logs in at a place, and how one can tell."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import WrongValueError, because, of, text
from gossamer.model.url import Url
from gossamer.policy.scope.patterns import pattern_problem

_WEB = frozenset({"http", "https"})


class LoginConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A recipe: how to log in at one place. Its `repr` hides the secrets."""

    page: Annotated[str, Meta(description="Address of the page with the form, http or https, in full.")]
    form: Annotated[
        str,
        Meta(
            description="Which form, if the page has several: its id, its name or its number in the page, from 1."
            " Empty: the one with a field for a password."
        ),
    ] = ""
    fields: Annotated[
        dict[str, str],
        Meta(
            extra={"secret": True},
            description='What is filled in, by the fields\' names, e.g. password = "env:WIKI_PASSWORD" or'
            ' "file:PATH"; what is written out is used, but not kept. Hidden fields are taken from the page.',
        ),
    ]
    logged_in: Annotated[
        str,
        Meta(
            description="What is on all pages of members and on no other: a selector (CSS, or XPath), or"
            ' "text:Log out".'
        ),
    ] = ""
    logged_out: Annotated[
        str,
        Meta(
            description='What is on pages for guests alone: a selector, "text:Log in", or "url:/welcome", where'
            " guests are sent to. Beside it a redirect to `page` tells that one is out."
        ),
    ] = ""
    never: Annotated[
        tuple[str, ...],
        Meta(
            description="Regular expressions (RE2) of URLs that would end the session, beside those that log out"
            " by their words."
        ),
    ] = ()
    origins: Annotated[
        tuple[str, ...],
        Meta(
            description="Further origins that the log-in may lead to and send its fields to, e.g."
            ' "https://login.example.org". Beside them it goes to that of `page` alone.'
        ),
    ] = ()
    attempts: Annotated[
        int,
        Meta(description="Log-ins in a row that bring no page before the place is set aside.", ge=1, le=10),
    ] = 3

    def __post_init__(self) -> None:
        problems = [
            of(name, because(ProblemCode.LOGIN_PAGE, address))
            for name, address in [("page", self.page), *(("origins", origin) for origin in self.origins)]
            if (url := Url.parse(address)) is None or url.scheme not in _WEB
        ]
        if not (self.logged_in or self.logged_out):
            problems.append(of("logged_in", because(ProblemCode.LOGIN_MARK)))
        from gossamer.engine.login.marks import mark_problem  # selectors, and all that reads them

        for name, mark in (("logged_in", self.logged_in), ("logged_out", self.logged_out)):
            if mark and (problem := mark_problem(mark)) is not None:
                problems.append(of(name, text(problem)))
        problems += (
            of("never", because(ProblemCode.EXPRESSION, pattern, problem))
            for pattern in self.never
            if (problem := pattern_problem(pattern)) is not None
        )
        if problems:
            raise WrongValueError(*problems)

    def __repr__(self) -> str:
        return f"<LoginConfig {self.page}>"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("page", self.page)]
