"""Forms that search a site, as links.

Source: WHATWG HTML 4.10.21 (form submission: the entry list, encoding, "mutate action URL").

A form is one link, whose address has the open field empty: the page is read once, and whoever admits the link asks
its words (`extract.questions`), each form of a site once.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from gossamer.extract.encodings.labels import name_of_label
from gossamer.extract.html.forms import Control, Form, Forms, forms_of
from gossamer.extract.questions import form_encoded
from gossamer.extract.relations import nofollow
from gossamer.model.document import HTML_TYPES, Document, Findings
from gossamer.model.link import Link, LinkKind
from gossamer.model.url import Url
from gossamer.policy.scope.sessions import way_out
from gossamer.policy.speculation.form import form_of_page
from gossamer.policy.speculation.forms_config import FormsConfig

__all__ = ["LONGEST_ADDRESS", "SearchFormExtractor"]

LONGEST_ADDRESS = 2_000
"""Of a form with all that it sends by itself; servers need not take much more."""
MOST_FIELDS = 50
_BOXES = frozenset({"hidden", "submit", "checkbox", "radio", "select"})
_VALUES = frozenset({"color", "date", "datetime-local", "month", "number", "range", "time", "week"})
_KEPT = _BOXES | _VALUES
"""Kinds of fields that are sent as they stand; all that browsers do not know is a field of text."""
_PERSONAL = frozenset({"password", "email", "tel", "url", "textarea"})
"""Who asks for these wants to know who one is, or what one has to say."""
_SERIOUS = re.compile(
    r"(?<![a-z])(?:(?:log|sign)[-_]?(?:in|on|up)|regist(?:er|ration)|(?:un)?subscri(?:be|ption)|newsletter|contact"
    r"|feedback|comments?|reply|guestbook|checkout|cart|basket|payments?|donat(?:e|ion)|purchase|buy|delete|remove"
    r"|destroy|edit|vote|poll|upload|invite|redeem|coupon|passw(?:or)?d|captcha|e?mail|anmelden|registrieren|kontakt"
    r"|warenkorb|kasse|bestellen|loeschen|connexion|inscription|panier|supprimer|contacto|carrito|borrar)(?![a-z])",
    re.IGNORECASE,
)
"""Whole words in names and addresses of forms that do something else than search."""
_PAGER = re.compile(r"(?:page|qty|quantity|amount|zip|plz|lat|lng)", re.IGNORECASE)
_BLANK = "\t\n\f\r "


class SearchFormExtractor:
    """Forms by which a site can be searched, as links.

    Args:
        rules: what holds for the address that a form sends to.
    """

    name = "search_forms"
    media_types = HTML_TYPES

    def __init__(self, rules: Callable[[Url], FormsConfig]) -> None:
        self._rules = rules

    def extract(self, document: Document) -> Findings:
        """Say which forms of a document search."""
        forms = forms_of(document.content, document.charset or "utf-8")
        found = {link.url.text: link for link in self._links(document, forms)}
        return Findings(links=tuple(found.values()))

    def _links(self, document: Document, forms: Forms) -> Iterator[Link]:
        base = Url.parse(forms.base[:LONGEST_ADDRESS], document.url.text) or document.url
        # Where there were too many, the last may lack what was not read.
        for form in forms.found if forms.whole else forms.found[:-1]:
            if form.method != "get" or len(form.controls) > MOST_FIELDS or len(form.action) > LONGEST_ADDRESS:
                continue
            target = Url.parse(form.action, base.text) if form.action else document.url
            if target is None or target.scheme not in ("http", "https"):
                continue
            rules = self._rules(target)
            field = open_field(form, target, rules.fields) if rules.words else None
            url = (
                None if field is None else _address(form, field, target, charset := _charset(form, document))
            )
            if field is not None and url is not None:
                element = form_of_page(charset, form_encoded(field.name, charset))
                yield Link(url, LinkKind.SPECULATIVE, element, nofollow(form.rel))


def open_field(form: Form, target: Url, fields: Iterable[str] = ()) -> Control | None:
    """The one field of a form that a word of any kind may be filled into; `None`: it is not for searching.

    Args:
        form: by GET.
        target: where it sends to.
        fields: names of the fields that may be; empty: any.
    """
    if any(control.kind in _PERSONAL or control.otherwise for control in form.controls):
        return None
    wanted = frozenset(fields)
    texts = [control for control in form.controls if control.kind not in _KEPT]
    texts = [control for control in texts if not wanted or control.name in wanted]
    if len(texts) != 1 or sum(control.name == texts[0].name for control in form.controls) > 1:
        return None
    field = texts[0]
    labels = [control.value or "" for control in form.controls if control.kind == "submit"]
    names = " ".join([target.path, form.id, form.name, field.name, *labels])
    if _SERIOUS.search(names) or way_out(names) or _PAGER.fullmatch(field.name):
        return None
    return field


def _charset(form: Form, document: Document) -> str:
    """The encoding in which a form is sent (WHATWG HTML, "pick an encoding for the form")."""
    labels = re.split(f"[{_BLANK}]+", form.charset.strip(_BLANK)) if form.charset.strip(_BLANK) else ()
    named = next((name for label in labels if (name := name_of_label(label))), "utf-8" if labels else "")
    charset = named or document.charset or "utf-8"
    return "utf-8" if charset.startswith("utf-16") else charset


def _address(form: Form, field: Control, target: Url, charset: str) -> Url | None:
    """Where a form is sent to, with nothing in the open field; `None` if that is too long."""
    pairs = form.filled({field.name: ""})
    if sum(len(name) + len(value) for name, value in pairs) > LONGEST_ADDRESS:
        return None
    if any(control.kind == "hidden" and control.name == "_charset_" for control in form.controls):
        pairs = [(name, charset if name == "_charset_" else value) for name, value in pairs]
    query = "&".join(f"{form_encoded(name, charset)}={form_encoded(value, charset)}" for name, value in pairs)
    url = Url.parse(f"{target.origin}{target.path}?{query}")
    return url if url is not None and len(url.text) <= LONGEST_ADDRESS else None
