"""Reads HTML: links, title and what else the page says of itself."""

import msgspec

from gossamer.extract.character_references import unescape_attribute, unescape_text
from gossamer.extract.charset import codec_of, decode
from gossamer.extract.config import ExtractConfig
from gossamer.extract.html_tags import Meaning, meaning_of
from gossamer.extract.html_tokens import tokenize
from gossamer.extract.labels import NOT_ASCII
from gossamer.extract.links import LinkMaker, Mention, Source
from gossamer.extract.tag_grammar import Tag, Tokens
from gossamer.extract.visible import text_length
from gossamer.model.document import Document, Findings
from gossamer.model.link import LinkKind
from gossamer.model.url import Url

__all__ = ["HtmlExtractor"]

MOST_KEPT_MEANINGS = 4_000
LONGEST_KEPT_TAG = 512
MOST_ROBOTS = 50
"""Meta elements for robots that are reported of one page."""


class _Facts(msgspec.Struct):
    """What the tags of one page said; the first of each name counts."""

    named: dict[str, str] = {}
    robots: list[tuple[str, str]] = []

    def add(self, name: str, value: str) -> None:
        if not name.startswith("robots:"):
            if value.strip():
                self.named.setdefault(name, value)
        elif len(self.robots) < MOST_ROBOTS:
            self.robots.append((name[7:], value))


class HtmlExtractor:
    """Links, title, description, author, language and robots directives of HTML, in linear time."""

    name = "html"
    media_types = frozenset({"text/html", "application/xhtml+xml"})

    def __init__(self, config: ExtractConfig, links: LinkMaker) -> None:
        self._config = config
        self._links = links
        self._meanings: dict[tuple[bytes, bytes, bool, str], Meaning] = {}

    def extract(self, document: Document) -> Findings:
        """Say what the document holds."""
        content, charset = document.content, document.charset or "utf-8"
        if charset in NOT_ASCII:
            content, codec = decode(content, charset).encode("utf-8", "replace"), "utf_8"
        else:
            codec = codec_of(charset)
        tokens = tokenize(content, 4 * self._config.max_links)
        sources, facts = self._read(tokens, codec)
        if charset in NOT_ASCII:
            sources = [_decoded(source) for source in sources]
        base = _base(facts, document.url)
        named = facts.named
        clip = self._clip
        return Findings(
            title=clip(named.get("title", "") or named.get("og:title", "")),
            description=clip(named.get("description", "") or named.get("og:description", "")),
            author=clip(named.get("author", "") or named.get("article:author", "")),
            language=clip(named.get("language", "") or named.get("content-language", "")),
            text_length=text_length(content, tokens.hidden, codec),
            links=self._links.make(sources, base, charset),
            robots=tuple(facts.robots),
        )

    def _read(self, tokens: Tokens, codec: str) -> tuple[list[Source], _Facts]:
        sources: list[Source] = []
        facts = _Facts()
        for token in tokens.found:
            if token.__class__ is bytes:
                sources.append(token)
                continue
            if token.name == b"title":
                facts.add("title", self._title(token, codec))
                continue
            meaning = self._meaning(token, codec)
            sources += meaning.mentions
            for name, value in meaning.facts:
                facts.add(name, value)
        return sources, facts

    def _meaning(self, tag: Tag, codec: str) -> Meaning:
        """As `meaning_of`; the same tags stand on every page of a site, so answers are kept."""
        if tag.content:
            return meaning_of(tag, codec)
        key = (tag.name, tag.attributes, tag.foreign, codec)
        known = self._meanings.get(key)
        if known is None:
            known = meaning_of(tag, codec)
            if len(self._meanings) >= MOST_KEPT_MEANINGS:
                self._meanings = {}
            if len(tag.attributes) <= LONGEST_KEPT_TAG:
                self._meanings[key] = known
        return known

    def _title(self, tag: Tag, codec: str) -> str:
        # Ten bytes for a character allow for references and white space.
        source = tag.content[: 10 * self._config.text_fields + 100]
        return unescape_text(source.decode(codec, "replace"))

    def _clip(self, text: str) -> str:
        return " ".join(text[: 10 * self._config.text_fields + 100].split())[: self._config.text_fields]


def _decoded(source: Source) -> Source:
    """A source of a document that was turned into UTF-8, while its queries stay in their own encoding."""
    if isinstance(source, bytes):
        return Mention("a@href", LinkKind.NAVIGATION, unescape_attribute(source.decode("utf-8", "replace")))
    return source


def _base(facts: _Facts, url: Url) -> Url:
    """What addresses are resolved against: the first `base` with an `href`, itself resolved against the page."""
    href = facts.named.get("base", "")
    if not href or len(href) > 4096:
        return url
    return Url.parse(href, url.text) or url
