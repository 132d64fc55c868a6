"""Turns templates into pages in the reader's language; everything from outside is escaped."""

from typing import TYPE_CHECKING, Any

import jinja2
import msgspec
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from gossamer.report.charts import visible
from gossamer.web.console import figures
from gossamer.web.console.assets import Assets
from gossamer.web.console.figures import NOTHING
from gossamer.web.console.problems import problem_text
from gossamer.web.console.reasons import reason_text
from gossamer.web.console.words import LANGUAGES

if TYPE_CHECKING:
    from gossamer.web.console.desk import Desk

HEAD = "job/head.html"
TABS = (
    "overview", "hosts", "queue", "pages", "log", "codes", "names", "traps", "why", "forecast",
    "settings", "changes", "seeds", "report",
)  # fmt: skip
"""Pages of a job, in the order of its navigation."""
TAB_KEYS = dict(zip("ohqplcntwfsxdr", TABS, strict=True))
"""The key after `g` that leads to each."""


class Painter:
    """All templates with what they may use. Only our own files are templates, never text of a user."""

    def __init__(self, assets: Assets) -> None:
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("gossamer.web.console"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            cache_size=-1,
        )
        self._templates.filters.update(seen=seen, seen_lines=seen_lines, shown=shown)
        self._templates.globals.update(
            asset=assets.address,
            languages=LANGUAGES,
            tabs=TABS,
            job_keys=tuple(TAB_KEYS.items()),
            job_keys_of={tab: key for key, tab in TAB_KEYS.items()},
            number=figures.number,
            short=figures.short,
            size=figures.size,
            share=figures.share,
            moment=figures.moment,
            clock=figures.clock,
            machine_time=figures.machine_time,
        )

    def paint(self, desk: "Desk", template: str, status: int, context: dict[str, Any]) -> Response:
        """The page, or its block `live` with the head if only that is asked for, or the head alone."""
        from_request = _from_request(desk)
        page = self._templates.get_template(template)
        values = {"section": "", "job": None, "tab": "", **from_request, **context}
        part = desk.request.query_params.get("part")
        head = self._templates.get_template(HEAD) if values["job"] is not None else None
        if part == "live" and "live" in page.blocks:
            text = "".join(page.blocks["live"](page.new_context(values)))
            if head is not None:
                text += head.render(values).strip()
        elif part == "head" and head is not None:
            text = head.render(values).strip()
        else:
            text = page.render(values)
        return HTMLResponse(text, status)


def seen(text: object) -> str:
    """Text from a crawled page with everything visible that would hide or turn what stands around it."""
    return visible(str(text))


def seen_lines(text: str) -> str:
    """The same of a text whose lines stay lines."""
    return "\n".join(map(seen, text.splitlines()))


def shown(value: object) -> str:
    """A value of the settings as TOML writes it, near enough; nothing for what is unset."""
    if value is None or value == "":
        return NOTHING
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def drawn(svg: str) -> Markup:
    """A chart of `app.charts`, which escapes all it is given."""
    return Markup(svg)  # noqa: S704 - made by app.charts only, see above


def _from_request(desk: "Desk") -> dict[str, Any]:
    t = desk.words
    cookies = desk.request.cookies
    return {
        "t": t,
        "person": desk.person,
        "operates": desk.operates,
        "glance": desk.glance,
        "theme": desk.theme,
        "keys": cookies.get("gossamer-keys") != "off",
        "said": desk.asked("said", 40),
        "query": _Query(desk.request.query_params),
        "link": desk.link,
        "here": desk.link(),
        "as_field": lambda name, value: figures.as_field(name, value, t),
        "duration": lambda seconds: figures.duration(seconds, t),
        "reason": lambda text: reason_text(text, t),
        "trouble": lambda text: problem_text(text, t),
        "ago": lambda stamp: figures.ago(stamp, t),
    }


class _Query:
    """Parameters of the address by name; empty where there is none."""

    def __init__(self, params: Any) -> None:
        self._params = params

    def __getattr__(self, name: str) -> str:
        value = self._params.get(name, "")
        return value[:4096] if isinstance(value, str) else ""
