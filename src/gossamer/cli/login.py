"""Writes the recipe of a log-in from its form, and tries it."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gossamer.assembly.seeds import parse_seeds
from gossamer.cli.one_page import one_page
from gossamer.cli.terminal.printing import safe, say, show
from gossamer.config.dotted import key_text, quoted
from gossamer.config.settings import read_toml
from gossamer.crawling.interface import CrawledPage
from gossamer.extract.encodings.charset import charset_of
from gossamer.extract.html.forms import Form, forms_of
from gossamer.model.command_line import command_line
from gossamer.model.document import HTML_TYPES
from gossamer.model.errors import ConfigError
from gossamer.model.link import LinkKind
from gossamer.model.url import DEFAULT_PORTS, Url
from gossamer.policy.scope.sessions import way_out

_WRITTEN = frozenset({"text", "email", "tel", "number", "password", "search"})
_NO_NAME = re.compile(r"[^A-Z0-9]+")


def show_login(text: str, form: str, config: Path | None, *, tried: bool) -> None:
    """Print the recipe for the log-in page at an address, or try the one of a file.

    Args:
        text: of the page; with `config` any page of the place.
        form: which one; empty: the one with a field for a password.
        config: file with `[login."..."]`.
        tried: log in, too.

    Raises:
        ConfigError: there is no such page, or no form to log in; the log-in does not work.
    """
    url = parse_seeds([text])[0]
    if config is not None:
        recipes = read_toml(config).get("login", {})
        if not recipes or not tried:
            raise ConfigError(f"{config}: {'give --try, too' if recipes else 'it has no section [login...]'}")
    else:
        page = one_page(url.text)
        chosen = _chosen(page, form)
        fields = {name: f"env:{_variable(url, name)}" for name in _to_fill(chosen)}
        place = url.host if url.port == DEFAULT_PORTS[url.scheme] else f"{url.host}:{url.port}"
        recipe = {"page": url.text, "form": form, "fields": fields, "logged_out": "input[type=password]"}
        recipes = {place: recipe}
        _show_recipe(place, recipe, chosen)
        unset = [name for name in _variables(fields) if name not in os.environ]
        if unset and tried:
            raise ConfigError(f"to try it, set {' and '.join(unset)}")
        if unset:
            say(f"set {' and '.join(unset)}, then: {command_line('login', text, '--try')}")
    if tried:
        start = url if config is not None else Url.parse("/", url.text) or url
        page = one_page(start.text, {"login": recipes})
        say(f"logged in: {safe(page.url)} is a page of members")
        if config is None and (mark := _mark_of(page)):
            say(f"its pages have a way out, a better mark than logged_out: logged_in = {quoted(mark)}")


def _show_recipe(place: str, recipe: Mapping[str, Any], form: Form) -> None:
    show(f"[login.{key_text(place)}]")
    for key, value in recipe.items():
        if isinstance(value, str) and value:
            show(f"{key} = {quoted(value)}")
    inner = ", ".join(f"{key_text(name)} = {quoted(value)}" for name, value in recipe["fields"].items())
    show(f"fields = {{ {inner} }}")
    if form.password is None:
        show("# The password is asked for by a further page: add its field, by its name there.")
    show('# Better: what is on all pages of members, such as logged_in = "text:Log out"')


def _chosen(page: CrawledPage, wanted: str) -> Form:
    if page.page.media_type not in HTML_TYPES:
        raise ConfigError(f"{page.url}: is no page of HTML, but {page.page.media_type}")
    charset = charset_of(page.content, page.headers.get("content-type"), page.page.media_type)
    forms = forms_of(page.content, charset)
    if not forms.whole:
        raise ConfigError(f"{page.url}: has too many forms, or fields, to be a page with a log-in")
    found = [form for form in forms.found if wanted in (form.id, form.name, str(form.number))]
    if not wanted:
        found = [form for form in forms.found if form.password]
        found = found or [form for form in forms.found if form.post and _to_fill(form)]
    if not found:
        raise ConfigError(f"{page.url}: has no {f'form {wanted!r}' if wanted else 'form to log in'}")
    if len(found) > 1 and not wanted:
        names = ", ".join(form.called for form in found[:10])
        raise ConfigError(f"{page.url}: has {len(found)} forms that may be it. Give one: --form ({names})")
    return found[0]


def _to_fill(form: Form) -> list[str]:
    written = (control.name for control in form.controls if control.kind in _WRITTEN and control.name)
    return list(dict.fromkeys(written))


def _variable(url: Url, field: str) -> str:
    return _NO_NAME.sub("_", f"LOGIN_{url.host}_{field}".upper()).strip("_")


def _variables(fields: Mapping[str, str]) -> list[str]:
    return [value.removeprefix("env:") for value in fields.values()]


def _mark_of(page: CrawledPage) -> str:
    """A selector of what logs out."""
    for link in page.page.links:
        if link.kind is LinkKind.NAVIGATION and (word := way_out(link.url.target)):
            return f'a[href*="{word}"]'
    for form in forms_of(page.content, page.page.charset or "utf-8").found:
        if word := way_out(form.action):
            return f'form[action*="{word}"]'
    return ""
