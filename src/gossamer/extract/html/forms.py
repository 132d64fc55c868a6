"""The forms of an HTML page with what a browser would send of them, in linear time.

Source: WHATWG HTML 4.10.21.4 ("constructing the entry list") and 13.2.5. No tree is built: a control belongs to
the form that was begun last and has not ended, which is what browsers' form pointer does, or to the one that its
attribute `form` names.
"""

import re

import msgspec

from gossamer.extract.encodings.charset import codec_of, decode
from gossamer.extract.encodings.labels import NOT_ASCII
from gossamer.extract.html.character_references import unescape_text
from gossamer.extract.html.tag_grammar import (
    TAG_NAME,
    Tag,
    Tokens,
    attributes_of,
    end_of_attributes,
    end_of_declaration,
)
from gossamer.extract.html.tokens import RAW_TEXT, end_of_raw_text

__all__ = ["MOST_CONTROLS", "MOST_FORMS", "Control", "Form", "Forms", "forms_of"]

MOST_FORMS = 100
MOST_CONTROLS = 500
"""Of one page together; what has more is no page with a log-in."""
_LONGEST_VALUE = 64 << 10
_UNSENT = frozenset({"file", "reset", "button", "image"})
_BOXES = frozenset({"checkbox", "radio"})
_BLANKS = re.compile(r"[\t\n\f\r ]+")
_OTHERWISE = frozenset({"formaction", "formmethod"})
_READ = frozenset({b"base", b"form", b"input", b"button", b"select", b"option", b"textarea"})
_TAGS = (*(b"<" + name for name in _READ), b"</form", b"</select")


class Control(msgspec.Struct):
    """A field of a form.

    Attributes:
        name: under which it is sent.
        kind: `text`, `password`, `hidden`, `submit`, `checkbox`, `select`, `textarea`, ...
        value: as it stands in the page; `None` is not sent, unless somebody fills it in.
        direction: under which name is sent how its text runs, `ltr` or `rtl`; empty: it is not.
        right_to_left: it runs so.
        otherwise: a button that sends the form elsewhere, or by another method.
    """

    name: str
    kind: str
    value: str | None
    direction: str = ""
    right_to_left: bool = False
    otherwise: bool = False


class Form(msgspec.Struct):
    """A form.

    Attributes:
        number: in the page, from 1.
        action: where it is sent, as written; empty for the page itself.
        method: `get`, `post` or `dialog`, which sends nothing.
        charset: labels of encodings that it is to be sent in, as written; empty: that of the page.
        rel: as written, such as `nofollow`.
        controls: in order; only buttons that send it may have no name.
    """

    number: int
    id: str = ""
    name: str = ""
    action: str = ""
    method: str = "get"
    charset: str = ""
    rel: str = ""
    controls: list[Control] = []

    @property
    def post(self) -> bool:
        """Whether what is filled in stays out of the address."""
        return self.method == "post"

    @property
    def names(self) -> list[str]:
        """Of the fields that somebody may fill in, each once."""
        open_ = (control.name for control in self.controls if control.kind not in ("hidden", "submit"))
        return list(dict.fromkeys(open_))

    @property
    def password(self) -> str | None:
        """The name of the first field for a password."""
        return next((control.name for control in self.controls if control.kind == "password"), None)

    @property
    def called(self) -> str:
        """How somebody would name it."""
        return self.id or self.name or str(self.number)

    def filled(self, values: dict[str, str]) -> list[tuple[str, str]]:
        """What is sent with some of the fields filled in: of the buttons the first, as by the key Enter."""
        sent: list[tuple[str, str]] = []
        pressed, used = False, set[str]()
        for control in self.controls:
            value = values.get(control.name, control.value)
            unpressed = control.kind == "submit" and pressed and control.name not in values
            if control.name and value is not None and not unpressed and control.name not in used:
                sent.append((control.name, value))
                if control.direction:
                    sent.append((control.direction, "rtl" if control.right_to_left else "ltr"))
            if control.name in values:
                used.add(control.name)
            pressed = pressed or control.kind == "submit"
        return sent


class Forms(msgspec.Struct):
    """The forms of a page.

    Attributes:
        base: what addresses refer to, as written; empty for the page itself.
        codec: in which the page was written, and forms are sent.
        whole: false if there were too many forms or controls; the rest was not read.
    """

    base: str = ""
    codec: str = "utf-8"
    found: list[Form] = []
    whole: bool = True


class _Scan:
    """Goes through a page, from tag to tag."""

    def __init__(self, content: bytes, codec: str) -> None:
        self.forms = Forms(codec=codec)
        self._content, self._codec = content, codec
        self._form: Form | None = None
        self._select: Control | None = None
        self._chosen = self._several = self._list = False
        self._controls = 0
        self._owner = ""
        self._elsewhere: list[tuple[str, Control]] = []

    def run(self) -> Forms:
        content, position, tokens = self._content, 0, Tokens()
        last = _last(content)
        while self.forms.whole and (position := content.find(b"<", position, last)) >= 0:
            named = TAG_NAME.match(content, position)
            if named is None:
                position = end_of_declaration(content, position)
            else:
                end = end_of_attributes(content, named.end(), tokens)
                position = end if end < 0 else self._tag(named[1].lower(), position, (named.end(), end))
            if position < 0:
                break
        for owner, control in self._elsewhere:
            for form in self.forms.found:
                if form.id == owner:
                    form.controls.append(control)
                    break
        return self.forms

    def _tag(self, name: bytes, start: int, span: tuple[int, int]) -> int:
        """Take in a tag; where the scan goes on, or -1."""
        content, end = self._content, span[1]
        if content[start + 1] == ord("/"):
            if name == b"form":
                self._form = None
            elif name == b"select":
                self._select = None
            return end
        stop, text = end, ""
        if name in RAW_TEXT:
            stop = end_of_raw_text(content, name, end)
            if name == b"textarea":
                raw = content[end : stop if stop >= 0 else len(content)][:_LONGEST_VALUE]
                text = unescape_text(raw.decode(self._codec, "replace")).removeprefix("\n")
        if name in _READ:
            self._element(name, attributes_of(Tag(name, content[span[0] : end - 1]), self._codec), end, text)
        return stop

    def _element(self, name: bytes, attributes: dict[str, str], end: int, text: str) -> None:
        if name == b"base":
            self.forms.base = self.forms.base or attributes.get("href", "").strip()
        elif name == b"form":
            if self._form is None:  # one within another is none
                self._begin(attributes)
        elif name == b"option":
            self._option(attributes, end)
        else:
            self._control(name, attributes, text)

    def _begin(self, attributes: dict[str, str]) -> None:
        found = self.forms.found
        self.forms.whole = len(found) < MOST_FORMS
        method = attributes.get("method", "").strip().lower()
        self._form = Form(
            len(found) + 1,
            attributes.get("id", ""),
            attributes.get("name", ""),
            attributes.get("action", "").strip(),
            method if method in ("post", "dialog") else "get",
            attributes.get("accept-charset", ""),
            attributes.get("rel", ""),
            [],
        )
        found.append(self._form)

    def _control(self, name: bytes, attributes: dict[str, str], text: str) -> None:
        kind = (
            name.decode() if name in (b"select", b"textarea") else attributes.get("type", "").strip().lower()
        )
        if name == b"button":
            kind = kind or "submit"
        kind = kind or "text"
        value: str | None = text if name == b"textarea" else attributes.get("value", "")
        if (kind in _BOXES and "checked" not in attributes) or name == b"select":
            value = None
        elif kind in _BOXES and "value" not in attributes:
            value = "on"
        control = Control(
            attributes.get("name", ""),
            kind,
            value,
            attributes.get("dirname", ""),
            attributes.get("dir", "").strip().lower() == "rtl",
            kind == "submit" and not attributes.keys().isdisjoint(_OTHERWISE),
        )
        self._select, self._chosen = (control, False) if name == b"select" else (None, False)
        self._several = "multiple" in attributes
        # Only a box that drops down has a choice from the beginning.
        size = attributes.get("size", "").strip().lstrip("0")
        self._list = self._several or (size.isdecimal() and size != "1")
        if not (control.name or kind == "submit") or kind in _UNSENT or "disabled" in attributes:
            self._select = None
            return
        self._owner = attributes.get("form", "")
        self._add(control)

    def _add(self, control: Control) -> None:
        """To the form that the last control has named, or stands in."""
        self._controls += 1
        self.forms.whole = self._controls <= MOST_CONTROLS
        if self._owner:
            self._elsewhere.append((self._owner, control))
        elif self._form is not None:
            self._form.controls.append(control)

    def _option(self, attributes: dict[str, str], end: int) -> None:
        """Of a select the chosen option counts, the last if there are more, else the first that may be chosen where it
        drops down; all that are chosen where there may be several. A disabled one ("Choose ...") is not sent."""
        select = self._select
        if select is None:
            return
        chosen, disabled = "selected" in attributes, "disabled" in attributes
        if not chosen and (disabled or self._chosen or self._list or select.value is not None):
            return
        stop = self._content.find(b"<", end)
        text = self._content[end : stop if stop >= 0 else len(self._content)][:_LONGEST_VALUE]
        words = _BLANKS.split(unescape_text(text.decode(self._codec, "replace")))
        said = attributes.get("value", " ".join(filter(None, words)))
        value = None if disabled else said
        if not (self._chosen and self._several):
            select.value = value
        elif value is not None:
            self._add(Control(select.name, "select", value))
        self._chosen = self._chosen or chosen


def _last(content: bytes) -> int:
    """Behind the beginning of the last tag that matters; 0 if there is no form. Most pages have theirs at the top."""
    small = content.lower()
    return max(small.rfind(name) for name in _TAGS) + 1 if b"<form" in small else 0


def forms_of(content: bytes, charset: str) -> Forms:
    """Read the forms of a page.

    Args:
        content: of the page, decoded from its content coding.
        charset: WHATWG name.
    """
    if charset in NOT_ASCII:
        return _Scan(decode(content, charset).encode("utf-8", "replace"), "utf_8").run()
    return _Scan(content, codec_of(charset)).run()
