"""What is gathered of a document while it is read, within its limits."""

import re
from collections.abc import Iterable

import ada_url

from gossamer.documents.kinds import FILE_SUFFIXES
from gossamer.documents.limits import Budget
from gossamer.documents.said import Mark, Medium, Metadata, Picture, Reference
from gossamer.model.url import WITH_HOSTS

__all__ = ["Gathered", "absolute", "addresses_in", "emails_in"]

_EMAIL = re.compile(
    r"(?<![\w.+%/@-])([A-Za-z0-9][\w.+%-]{0,63}+@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}[A-Za-z]{2,24})(?![\w@-])",
    re.ASCII,
)
_NO_MAILBOX = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|css|js)\Z|@\dx\.", re.IGNORECASE)
_ADDRESS = re.compile(
    rf"(?:{'|'.join(WITH_HOSTS)})"
    r"://[^\s<>\"'`{}|\\^\[\]\x00-\x20]{3,2000}|www\.[a-z0-9-]{1,63}\.[^\s<>\"'`{}|\\^\[\]]{2,2000}",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
LONGEST_ADDRESS = 8_192
LONGEST_LABEL = 1_000
_SCANNED = 4 << 20


def absolute(address: str, base: str) -> str:
    """The address in full, if it leads to something that can be fetched; else empty."""
    address = address.strip()
    if not address or len(address) > LONGEST_ADDRESS or address.startswith("#"):
        return ""
    scheme = _SCHEME.match(address)
    if scheme and scheme[0][:-1].lower() not in WITH_HOSTS:
        return ""
    if not scheme and address[:4].lower() == "www.":
        address = "http://" + address
    try:
        return ada_url.join_url(base, address) if base else ada_url.URL(address).href
    except ValueError:
        return ""


def addresses_in(text: str) -> list[str]:
    """Addresses that stand in a text, without the punctuation behind them."""
    found = []
    for match in _ADDRESS.finditer(text):
        address = match[0].rstrip(".,;:!?*_~'\"")
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(".,;:!?")
        found.append(address)
    return found


def emails_in(text: str) -> list[str]:
    """E-mail addresses in a text, in lower case, each once."""
    if "@" not in text:
        return []
    found = (match[1].lower() for match in _EMAIL.finditer(text[:_SCANNED]))
    return list(dict.fromkeys(each for each in found if not _NO_MAILBOX.search(each)))


class Gathered:
    """Text, Markdown, links and facts, taken in until a limit is reached.

    Attributes:
        budget: of the reading.
        wants_text: false where only links and facts are asked for.
        metadata: what the document says about itself.
        marks: what kept the reading from being whole.
        emails: of links; at the end those of the text, too.
    """

    def __init__(self, budget: Budget, base: str, *, wants_text: bool = True) -> None:
        self.budget = budget
        self.wants_text = wants_text
        self.metadata = Metadata()
        self.marks: list[Mark] = []
        self.emails: dict[str, None] = {}
        self._base = base
        self._text: list[str] = []
        self._markdown: list[str] = []
        self._room = budget.limits.max_text
        self._links: dict[str, Reference] = {}
        self._pictures: dict[str, Picture] = {}
        self._media: dict[str, Medium] = {}

    @property
    def full(self) -> bool:
        """No more text is taken in."""
        return self._room <= 0

    @property
    def text(self) -> str:
        """What was added, paragraph by paragraph."""
        return "\n".join(self._text).strip()

    @property
    def markdown(self) -> str:
        """The same with headings, lists, tables."""
        return "\n\n".join(self._markdown).strip()

    @property
    def links(self) -> tuple[Reference, ...]:
        """Where the document leads, each address once."""
        return tuple(self._links.values())

    @property
    def files(self) -> tuple[Reference, ...]:
        """Those of the links that lead to a file, by the end of their path."""
        return tuple(link for link in self._links.values() if _suffix(link.url) in FILE_SUFFIXES)

    @property
    def images(self) -> tuple[Picture, ...]:
        """Images that the document shows, each address once."""
        return tuple(self._pictures.values())

    @property
    def media(self) -> tuple[Medium, ...]:
        """Audio and video that the document plays, each address once."""
        return tuple(self._media.values())

    def rebase(self, base: str) -> None:
        """From here on links are relative to this address."""
        self._base = base

    def mark(self, *marks: Mark) -> None:
        """Note what kept the reading from being whole."""
        self.marks += [mark for mark in marks if mark not in self.marks]

    def add(self, text: str, markdown: str = "") -> None:
        """Take in a paragraph, and how it reads in Markdown if that differs."""
        if not self.wants_text or not text.strip():
            return
        if self._room <= 0:
            self.budget.cut = True
            return
        if len(text) > self._room:
            text = text[: self._room]
            markdown = ""
            self.budget.cut = True
        self._room -= len(text) + 1
        self._text.append(text)
        self._markdown.append(markdown or text)

    def heading(self, text: str, level: int) -> None:
        """Take in a heading of level 1 to 6."""
        line = " ".join(text.split())
        if line:
            self.add(line, "#" * min(max(level, 1), 6) + " " + line)

    def item(self, text: str, level: int = 0) -> None:
        """Take in an item of a list, of level 0 and deeper."""
        line = text.strip()
        self.add(line, "  " * min(level, 8) + "- " + line)

    def rows(self, rows: Iterable[list[str]]) -> None:
        """Take in a table, its first row as its head."""
        lines, cells = [], []
        for number, row in enumerate(rows):
            if self.full or not self.wants_text:
                break
            line = "\t".join(row).rstrip()
            lines.append(line)
            clean = [" ".join(cell.split()).replace("|", "\\|") for cell in row]
            cells.append("| " + " | ".join(clean) + " |")
            if number == 0:
                cells.append("|" + " --- |" * len(row))
        self.add("\n".join(lines), "\n".join(cells))

    def link(self, address: str, text: str = "", relation: str = "") -> None:
        """Take in a link; what cannot be fetched is left out, a mailbox is kept as such."""
        if address[:7].lower() == "mailto:":
            self.add_emails(emails_in(address[7:500]))
            return
        url = absolute(address, self._base)
        if not url:
            return
        text = " ".join(text[: 2 * LONGEST_LABEL].split())[:LONGEST_LABEL]
        known = self._links.get(url)
        if known is None:
            if len(self._links) >= self.budget.limits.max_links:
                self.budget.cut = True
                return
            self._links[url] = Reference(url, text, relation)
        elif text and not known.text:
            self._links[url] = Reference(url, text, relation or known.relation)

    def add_emails(self, addresses: Iterable[str]) -> None:
        """Take in mailboxes, each once."""
        for address in addresses:
            if len(self.emails) >= self.budget.limits.max_emails and address not in self.emails:
                self.budget.cut = True
                return
            self.emails[address] = None

    def picture(self, picture: Picture) -> None:
        """Take in an image that the document shows; of several mentions the first with a text counts."""
        known = self._pictures.get(picture.url)
        if known is None and len(self._pictures) >= self.budget.limits.max_links:
            self.budget.cut = True
        elif known is None or (picture.alt and not known.alt):
            self._pictures[picture.url] = picture

    def medium(self, medium: Medium) -> None:
        """Take in what the document plays."""
        if len(self._media) >= self.budget.limits.max_links:
            self.budget.cut = True
        else:
            self._media.setdefault(medium.url, medium)


def _suffix(url: str) -> str:
    path = url.partition("?")[0].partition("#")[0][-60:]
    return path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
