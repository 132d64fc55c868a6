"""The form of a new job: its fields, and the configuration that they make."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from gossamer.config import presets
from gossamer.config.settings import merge, parse_toml
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.reason import Reason, of
from gossamer.policy.ordering.orders import ORDERS
from gossamer.web.console.request_context import lines

Tree = dict[str, Any]


class Field(msgspec.Struct, frozen=True):
    """A setting that the form offers.

    Attributes:
        name: of the field, and of its label in the catalogue.
        path: of the setting.
        kind: how it is typed in and read.
        default: shown where nothing is typed in.
        choices: of a `choice` or a `yes`, the default first.
    """

    name: str
    path: str
    kind: Literal["text", "number", "lines", "choice", "yes"] = "text"
    default: str = ""
    choices: tuple[str, ...] = ()


GROUPS: tuple[tuple[str, tuple[Field, ...]], ...] = (
    (
        "scope",
        (
            Field("mode", "scope.mode", "choice", "host", ("host", "domain", "prefix", "any")),
            Field("max_depth", "scope.max_depth", "number"),
            Field("include", "scope.include", "lines"),
            Field("exclude", "scope.exclude", "lines"),
            Field("requisites", "scope.requisites", "choice", "off", ("off", "host", "any")),
        ),
    ),
    (
        "manners",
        (
            Field("min_delay", "politeness.min_delay", "text", "1s"),
            Field("workers", "engine.workers", "number", "32"),
            Field("contact", "fetch.contact", "text"),
        ),
    ),
    (
        "limits",
        (
            Field("max_pages", "budget.max_pages", "number", "0"),
            Field("max_bytes", "budget.max_bytes", "text", "0B"),
            Field("max_time", "budget.max_time", "text", "0s"),
            Field("order", "engine.order", "choice", "bfs", tuple(ORDERS)),
        ),
    ),
    ("text", (Field("make_search", "search.follow", "yes", "no", ("no", "yes")),)),
)
FIELDS = tuple(field for _, fields in GROUPS for field in fields)
OWN = ("name", "seeds", "folder", "toml")
"""Fields that are no setting, with labels of the form's own."""
PRESETS: dict[str, Mapping[str, Any]] = {
    "usual": {},
    "look": {"budget.max_pages": 200, "scope.max_depth": 3},
    **presets.PRESETS,
    "own": {"politeness.min_delay": "0s"},
}
"""Settings for a purpose; what is set in a field beats them."""


class NewJobForm(msgspec.Struct):
    """What was typed in, and what it makes.

    Attributes:
        way: `form`, `toml` or `adopt`.
        given: fields by name as they were typed in, to be shown again.
        source: the configuration: text of TOML, or a tree.
        problems: what cannot even be read, each led by the name of the field.
    """

    way: str = "form"
    given: Mapping[str, str] = {}
    source: str | Tree = ""
    problems: tuple[Reason, ...] = ()

    def __post_init__(self) -> None:
        if self.way not in ("form", "toml", "adopt"):
            self.way = "form"

    @property
    def name(self) -> str:
        """Name of the job to be."""
        return self.given.get("name", "").strip()

    @property
    def folder(self) -> str:
        """The folder of a crawl to be adopted."""
        return self.given.get("folder", "").strip()

    @property
    def values(self) -> dict[str, str]:
        """What every field of the form shows."""
        return {
            name: self.given.get(name, "") for name in (*OWN, "preset", *(field.name for field in FIELDS))
        }


def read_new_job(form: Mapping[str, str]) -> NewJobForm:
    """The job that a form describes; nothing is checked that the daemon checks anyway."""
    way = form.get("way", "form")
    if way != "form":
        return NewJobForm(way, form, form.get("toml", ""))
    problems: list[Reason] = []
    tree: Tree = {}
    try:
        tree = parse_toml(form.get("toml", ""))
    except ConfigError as error:
        problems.append(of("toml", error.why))
    preset = PRESETS.get(form.get("preset", ""), {})
    settings: dict[str, Any] = {**preset, "seeds": lines(form.get("seeds", ""))}
    for field in FIELDS:
        text = form.get(field.name, "").strip()
        untouched = field.kind == "choice" and text == field.default and field.path in preset
        unsaid = field.kind == "yes" and text == field.default
        if text and not untouched and not unsaid:
            settings[field.path] = typed(text, field.kind)
    try:
        tree = merge(tree, settings)
    except ConfigError as error:
        problems += (of("toml", problem) for problem in error.reasons)
    return NewJobForm(way, form, tree, tuple(problems))


def typed(text: str, kind: str) -> Any:
    """What is meant by a text, as TOML would have it; one that cannot be read stays, to be complained of."""
    match kind:
        case "lines":
            return lines(text)
        case "yes":
            return text == "yes"
        case "number":
            for read in (int, float):
                try:
                    return read(text.replace(",", "").replace("_", ""))
                except ValueError:
                    continue
    return text
