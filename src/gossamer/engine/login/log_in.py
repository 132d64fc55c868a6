"""Goes through the forms of a log-in as a browser would, until one is in, or it is clear why not."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlencode

import msgspec

from gossamer.engine.login.config import LoginConfig
from gossamer.engine.login.marks import Look, Marks
from gossamer.extract.html.forms import MOST_CONTROLS, MOST_FORMS, Form, Forms
from gossamer.fetch.config import FetchConfig
from gossamer.model.disposition import Blame
from gossamer.model.exchange import Exchange, StatusAction
from gossamer.model.outcome import Failed, Fault, Outcome, Refused, Rule
from gossamer.model.posted import Posted
from gossamer.model.reasons.codes import LoginCode
from gossamer.model.reasons.reason import because
from gossamer.model.url import Url
from gossamer.policy.places.index import PlaceIndex
from gossamer.policy.places.place import Asked, PlaceRule, read_place
from gossamer.policy.visits.politeness import retry_after
from gossamer.policy.visits.retry import blame_of, redirect_location, status_action

MOST_STEPS = 8
"""Forms that are filled in for one log-in."""
MOST_REDIRECTS = 20
_FORM = "application/x-www-form-urlencoded"
_PASSING = frozenset({Fault.TIMEOUT, Fault.TOO_SLOW, Fault.RESET, Fault.PROTOCOL})
_KEEP_METHOD = frozenset({307, 308})

Ask = Callable[[Url, Posted | None], Awaitable[Outcome]]
"""Makes one request with the cookies of the crawl: a GET, or a POST of what is given."""


class Recipe:
    """A recipe, read: where it holds, where it may go, and how it tells.

    Args:
        place: as written.
        config: secrets in place.
        fetch: bounds of decoding.
    """

    def __init__(self, place: str, config: LoginConfig, fetch: FetchConfig) -> None:
        page = Url.parse(config.page)
        assert page is not None, "was checked when the settings were read"
        self.place: PlaceRule = read_place(place)
        self.page, self.config = page, config
        self.marks = Marks(page, config.logged_in, config.logged_out, fetch)
        origins = (url.origin for origin in config.origins if (url := Url.parse(origin)) is not None)
        self._trusted = frozenset({page.origin, *origins})
        self._inside = PlaceIndex([self.place])

    def may_send(self, url: Url) -> bool:
        """Whether the fields may go there."""
        return url.origin in self._trusted

    def may_ask(self, url: Url) -> bool:
        """Whether the log-in may lead there."""
        return self.may_send(url) or bool(self._inside.matching(Asked(url.host, url)))


class _Page(msgspec.Struct, frozen=True):
    """Where a step of the log-in has led."""

    url: Url
    exchange: Exchange
    look: Look


class _Step(msgspec.Struct, frozen=True):
    """What is sent next, with the names of the fields that it fills in."""

    url: Url
    posted: Posted
    used: frozenset[str]


async def log_in(recipe: Recipe, ask: Ask) -> Url | Refused | Failed:
    """Log in, unless one is in already.

    Returns:
        The page that it led to, which has shown that one is in; or why one is not: for good, or because something
        failed that may not fail the next time.
    """
    left = dict(recipe.config.fields)
    page = await _follow(recipe, ask, recipe.page, None)
    number = 0
    while isinstance(page, _Page):
        if is_in(recipe, page.look, page.exchange, left):
            return page.url
        if number == MOST_STEPS:
            return refused(LoginCode.STEPS, MOST_STEPS, page.url.text)
        step = _next(recipe, page, left, first=number == 0)
        if isinstance(step, Refused):
            return step
        left = {name: value for name, value in left.items() if name not in step.used}
        page = await _follow(recipe, ask, step.url, step.posted)
        number += 1
    return page


def is_in(recipe: Recipe, look: Look, exchange: Exchange, left: dict[str, str]) -> bool:
    """Whether a page is one of members, by its mark; where there is only a mark of guests, by the lack of it and of
    a form that asks for the fields that are `left`."""
    if look.forms is None or look.doubtful or not exchange.is_readable:
        return False
    return recipe.marks.proves or not any(
        form.password or left.keys() & form.names for form in look.forms.found
    )


def refused(code: LoginCode, *values: str | int) -> Refused:
    """One is not in, and will not be by asking again."""
    return Refused(Rule.LOGIN, because(code, *values))


def failed(url: Url, exchange: Exchange) -> Failed | None:
    """What keeps the server from answering now, if anything does. The host waits, not the URL whose turn it was."""
    if status_action(exchange.status) not in (StatusAction.THROTTLED, StatusAction.RETRY, StatusAction.WAIT):
        return None
    wait = retry_after(exchange.headers, exchange.started) or 0.0
    return Failed(Fault.THROTTLED, because(LoginCode.ANSWER, url.text, exchange.said), wait=wait)


async def _follow(recipe: Recipe, ask: Ask, url: Url, posted: Posted | None) -> _Page | Refused | Failed:
    """Ask for a page, through all redirects."""
    for _ in range(MOST_REDIRECTS + 1):
        if not (recipe.may_ask(url) if posted is None else recipe.may_send(url)):
            return refused(LoginCode.ELSEWHERE, recipe.page.text, url.origin)
        outcome = await ask(url, posted)
        if isinstance(outcome, Failed):
            return _passed_on(url, outcome)
        if isinstance(outcome, Refused):
            return outcome
        exchange = outcome.exchange
        try:
            if (problem := failed(url, exchange)) is not None:
                return problem
            location = redirect_location(exchange.status, exchange.headers)
            target = None if location is None else Url.parse(location, url.text)
            if target is None:
                return _Page(url, exchange, await asyncio.to_thread(recipe.marks.look, exchange))
        finally:
            exchange.body.close()
        if posted is not None:
            keeps = exchange.status in _KEEP_METHOD
            posted = Posted(target, posted.body, posted.media_type) if keeps else None
        url = target
    return refused(LoginCode.STEPS, MOST_REDIRECTS, url.text)


def _passed_on(url: Url, outcome: Failed) -> Failed | Refused:
    """A fault of the log-in, as one of the host."""
    told = because(LoginCode.ANSWER, url.text, because(outcome.fault, outcome.detail))
    if blame_of(outcome.fault) is Blame.HOST:
        return msgspec.structs.replace(outcome, detail=told)
    return Failed(Fault.THROTTLED, told) if outcome.fault in _PASSING else Refused(Rule.LOGIN, told)


def _next(recipe: Recipe, page: _Page, left: dict[str, str], *, first: bool) -> _Step | Refused:
    """What a page wants to be sent."""
    forms = page.look.forms
    if not page.exchange.is_readable and not (forms is not None and forms.found):
        return refused(LoginCode.ANSWER, page.url.text, page.exchange.said)
    if forms is None:
        return refused(LoginCode.NOT_HTML, page.url.text, page.look.media_type)
    if not forms.whole:
        return refused(LoginCode.MANY_FIELDS, page.url.text, MOST_CONTROLS, MOST_FORMS)
    form = _chosen(recipe, page.url, forms, left, first=first)
    if isinstance(form, Refused):
        return form
    used = frozenset(left if form.password else left.keys() & form.names)
    known = {control.name for control in form.controls}
    if missing := sorted(used - known) or (sorted(left) if not used else []):
        return refused(LoginCode.NO_FIELD, page.url.text, missing[0], ", ".join(form.names) or "-")
    target = Url.parse(form.action or page.url.text, _base(page, forms))
    if target is None or not recipe.may_send(target):
        return refused(LoginCode.ELSEWHERE, page.url.text, target.origin if target else form.action[:200])
    if not form.post:
        return refused(LoginCode.IN_ADDRESS, page.url.text)
    values = form.filled({name: left[name] for name in used})
    body = urlencode(values, encoding=forms.codec, errors="xmlcharrefreplace").encode()
    return _Step(target, Posted(target, body, _FORM), used)


def _chosen(recipe: Recipe, url: Url, forms: Forms, left: dict[str, str], *, first: bool) -> Form | Refused:
    """The form to be filled in: the one that the recipe names; else that with a password, else that with our fields."""
    wanted = recipe.config.form
    if wanted and first:
        named = [form for form in forms.found if wanted in (form.id, form.name, str(form.number))]
        if not named:
            return refused(LoginCode.NO_SUCH_FORM, url.text, wanted, _listed(forms.found))
        return named[0]
    ours = [form for form in forms.found if left.keys() & form.names]
    found = [form for form in forms.found if form.password]
    if len(found) != 1:
        found = [form for form in ours if form.password] or ours or found
    asks = next((form.password for form in found if form.password), None)
    if asks is not None and asks not in recipe.config.fields:
        return refused(LoginCode.ASKS, url.text, asks)
    if not found or not (left or first):
        if first:
            return refused(LoginCode.NO_FORM, url.text)
        return refused(LoginCode.REFUSED, url.text, _missed(recipe))
    if len(found) > 1:
        return refused(LoginCode.FORMS, url.text, len(found), _listed(found))
    return found[0]


def _missed(recipe: Recipe) -> str:
    config = recipe.config
    return f"no {config.logged_in}" if config.logged_in else f"still {config.logged_out}"


def _listed(forms: Sequence[Form]) -> str:
    return ", ".join(f'"{form.called[:80]}"' for form in forms[:10]) or "-"


def _base(page: _Page, forms: Forms) -> str:
    base = Url.parse(forms.base, page.url.text) if forms.base else None
    return (base or page.url).text
