"""Turns templates into pages in the reader's language; everything from outside is escaped."""

import functools
import re
from typing import Any

import jinja2
import msgspec
from starlette.responses import HTMLResponse, Response

from gossamer.model.command_line import command_line
from gossamer.web.console.assets import own_assets
from gossamer.words.amounts import LANGUAGES, NOTHING, clock, machine_time, moment
from gossamer.words.visible import visible

HEAD = "job/head.html"
TABS = (
    "overview", "hosts", "queue", "pages", "search", "log", "codes", "names", "traps", "freshness", "why", "sql",
    "forecast", "settings", "changes", "seeds", "report", "watch", "audit", "differences",
)  # fmt: skip
"""Pages of a job, in the order of its navigation."""
TAB_KEYS = dict(zip("ohqpelcntvwyfsxdrmbz", TABS, strict=True))
"""The key after `g` that leads to each."""
_TAG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")


class Renderer:
    """All templates with what they may use. Only our own files are templates, never text of a user."""

    def __init__(self) -> None:
        self._templates = _templates()

    def render(self, template: str, status: int, part: str, context: dict[str, Any]) -> Response:
        """A page.

        Args:
            template: its name.
            status: of the answer.
            part: `live`: only the block of that name, with the head of the job's pages; `head`: that alone.
            context: what the template shows.
        """
        page = self._templates.get_template(template)
        values = {"section": "", "job": None, "cluster": "", "tab": "", **context}
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


@functools.cache
def _templates() -> jinja2.Environment:
    """Those of this process: compiling one takes some ten milliseconds, which its first reader waits for."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("gossamer.web.console"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    found.filters.update(seen=seen, seen_lines=seen_lines, shown=shown, tag=tag)
    found.globals.update(
        asset=own_assets().address,
        command_line=command_line,
        languages=LANGUAGES,
        tabs=TABS,
        job_keys=tuple(TAB_KEYS.items()),
        job_keys_of={tab: key for key, tab in TAB_KEYS.items()},
        moment=moment,
        clock=clock,
        machine_time=machine_time,
    )
    return found


def seen(text: object) -> str:
    """Text from a crawled page with everything visible that would hide or turn what stands around it."""
    return visible(str(text))


def seen_lines(text: str) -> str:
    """The same of a text whose lines stay lines."""
    return "\n".join(map(seen, text.splitlines()))


def tag(language: str) -> str:
    """A language that a document says it has, for the attribute `lang`; empty if it is no tag (BCP 47)."""
    return language if _TAG.fullmatch(language) else ""


def shown(value: object) -> str:
    """A value of the settings as TOML writes it, near enough; nothing for what is unset."""
    if value is None or value == "":
        return NOTHING
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
