"""One request at the console: who asks, in which language, what was sent, and the page that answers."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gossamer.config.shape import settings_of
from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.views import JobView
from gossamer.model.reasons.reason import Reason, placed, text
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.web.console.glance import Glance
from gossamer.web.console.kept_charts import KeptCharts
from gossamer.web.console.reasons import reason_text
from gossamer.web.console.renderer import Renderer
from gossamer.web.console.reports import Reports
from gossamer.web.console.waits import amount
from gossamer.web.security.body import form_of
from gossamer.web.security.visitor import Visitor, visitor_of
from gossamer.words.amounts import DEFAULT, LANGUAGES
from gossamer.words.catalogue import Words, preferred, words

LANGUAGE, THEME, KEYS = "gossamer-language", "gossamer-theme", "gossamer-keys"
"""Cookies of preferences; no secrets."""
THEMES = ("light", "dark")


def theme_of(request: Request) -> str:
    """The theme that was chosen; empty: the browser's own."""
    chosen = request.cookies.get(THEME, "")
    return chosen if chosen in THEMES else ""


Form = dict[str, str]
T = TypeVar("T", bound=msgspec.Struct)
Kept = tuple[Reports, KeptCharts]
"""What was made for all who look."""


class RequestContext:
    """Where one request is served."""

    def __init__(self, request: Request, daemon: Daemon, renderer: Renderer, kept: Kept) -> None:
        self.request = request
        self.daemon = daemon
        self.reports, self.charts = kept
        self.glance = Glance()
        """At the job whose page this is."""
        self._renderer = renderer
        self.person: Visitor | None = visitor_of(request)

    @cached_property
    def words(self) -> Words:
        """The catalogue of the language chosen, or else preferred by the browser."""
        chosen = self.request.cookies.get(LANGUAGE, "")
        if chosen not in LANGUAGES:
            chosen = preferred(self.request.headers.get("accept-language", DEFAULT))
        return words(chosen)

    @property
    def theme(self) -> str:
        """The theme that was chosen (`theme_of`)."""
        return theme_of(self.request)

    @property
    def who(self) -> str:
        """For the log of changes."""
        return self.person.name if self.person else ""

    @property
    def operates(self) -> bool:
        """Whether they may change things."""
        return self.person is not None and self.person.operates

    def asked(self, name: str, longest: int = 4096) -> str:
        """A parameter of the address, or nothing."""
        return self.request.query_params.get(name, "")[:longest].strip()

    def params(self, kind: type[T], /, **more: str) -> T:
        """Parameters of the address as a struct has them; those that are empty, or that it does not know, count for
        nothing.

        Raises:
            ServiceError: `invalid`: not that shape.
        """
        given = {**self.request.query_params, **more}
        fields = kind.__struct_fields__
        try:
            return msgspec.convert(
                {name: given[name] for name in fields if given.get(name)}, kind, strict=False
            )
        except (msgspec.ValidationError, OverflowError) as error:
            raise ServiceError("invalid", str(error)) from None

    @cached_property
    def form(self) -> Form:
        """What was sent, with line ends as ours are; the gate has read and bounded it."""
        return {name: value.replace("\r\n", "\n") for name, value in form_of(self.request).items()}

    def sent(self, name: str) -> str:
        """A field of the form without the space around it, or nothing."""
        return self.form.get(name, "").strip()

    async def ask(self, job: str, method: str, /, **params: Any) -> Any:
        """What a crawl answers; parameters that are empty are not sent."""
        given = {name: value for name, value in params.items() if value not in ("", None)}
        return await self.daemon.ask(job, method, given, who=self.who)

    def page(self, template: str, status: int = 200, /, **context: Any) -> Response:
        """The page; with `?part=live` only the block of it that changes."""
        part = self.request.query_params.get("part", "")
        return self._renderer.render(template, status, part, {**self._of_the_request(), **context})

    def _of_the_request(self) -> dict[str, Any]:
        """What every template may use."""
        t = self.words
        return {
            "t": t,
            "person": self.person,
            "operates": self.operates,
            "glance": self.glance,
            "theme": self.theme,
            "keys": self.request.cookies.get(KEYS) != "off",
            "said": self.asked("said", 40),
            "query": _Query(self.request.query_params),
            "link": self.link,
            "here": self.link(),
            "number": t.number,
            "short": t.short,
            "size": t.size,
            "rate": t.rate,
            "speed": t.speed,
            "share": t.share,
            "duration": t.duration,
            "ago": t.ago,
            "amount": lambda resource, value: amount(resource, value, t),
            "as_field": lambda name, value: as_field(name, value, t),
            "reason": lambda told, otherwise="": reason_text(told, t, otherwise),
        }

    def job_page(self, job: JobView, tab: str, status: int = 200, /, **context: Any) -> Response:
        """A page of one job."""
        return self.page(f"job/{tab}.html", status, job=job, tab=tab, section="jobs", **context)

    def go(self, path: str, said: str = "", /, **query: str) -> Response:
        """Look at another page of ours, which says what was done."""
        query = {**query, "said": said} if said else query
        joint = "&" if "?" in path else "?"
        address = f"{path}{joint}{urlencode(query)}" if query else path
        return RedirectResponse(address, status_code=303)

    def link(self, **changes: str | None) -> str:
        """This page's address with parameters changed, or left out if `None`."""
        query = dict(self.request.query_params)
        query.pop("said", None)
        query.pop("part", None)
        query.update({name: value for name, value in changes.items() if value is not None})
        kept = {name: value for name, value in query.items() if changes.get(name, "") is not None}
        return f"{self.request.url.path}?{urlencode(kept)}" if kept else self.request.url.path


class _Query:
    """Parameters of the address by name; empty where there is none."""

    def __init__(self, params: Any) -> None:
        self._params = params

    def __getattr__(self, name: str) -> str:
        value = self._params.get(name, "")
        return value[:4096] if isinstance(value, str) else ""


_UNITS = {
    setting.name: setting.shape.unit
    for section in (PolitenessConfig, BudgetConfig)
    for setting in settings_of(section)
}


def as_field(name: str, value: float | str | list[str], t: Words) -> str:
    """A setting of a host, in its unit."""
    if not isinstance(value, int | float):
        return value if isinstance(value, str) else ", ".join(value)
    unit = _UNITS.get(name, "")
    return t.duration(value) if unit == "s" else t.size(value) if unit == "B" else t.number(value)


def lines(text: str) -> list[str]:
    """The lines of a text area that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def by_field(
    problems: Iterable[Reason | str], fields: Mapping[str, str]
) -> tuple[dict[str, list[Reason]], list[Reason]]:
    """Problems by the name of the field to whose setting they belong, and those of no field.

    Args:
        problems: each at the path of a setting.
        fields: path of the setting by name of the field.
    """
    beside: dict[str, list[Reason]] = {}
    rest: list[Reason] = []
    for problem in problems:
        told = text(problem) if isinstance(problem, str) else problem
        path, inner = placed(told)
        name = next((name for name, setting in fields.items() if setting == path.partition("[")[0]), None)
        if name is None:
            rest.append(told)
        else:
            beside.setdefault(name, []).append(inner)
    return beside, rest
