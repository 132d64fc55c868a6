"""Reads HTML: links, title and what else the page says of itself."""

import msgspec

from gossamer.extract.config import ExtractConfig
from gossamer.extract.encodings.charset import codec_of, decode
from gossamer.extract.encodings.labels import NOT_ASCII
from gossamer.extract.html.anchors import anchor_texts, with_texts
from gossamer.extract.html.character_references import unescape_attribute, unescape_text
from gossamer.extract.html.tag_grammar import Tag, Tokens
from gossamer.extract.html.tags import Meaning, meaning_of
from gossamer.extract.html.templates import has_templates, without_templates
from gossamer.extract.html.tokens import tokenize
from gossamer.extract.html.visible import text_length
from gossamer.extract.links import LinkMaker, Mention, Source
from gossamer.extract.pauses import with_pauses
from gossamer.model.document import HTML_TYPES, Document, Findings
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
            if value.strip() or name == "base":  # an empty base counts: it is the page itself
                self.named.setdefault(name, value)
        elif len(self.robots) < MOST_ROBOTS:
            self.robots.append((name[7:], value))


class HtmlExtractor:
    """Links, title, description, author, language and robots directives of HTML, in linear time."""

    name = "html"
    media_types = HTML_TYPES

    def __init__(self, config: ExtractConfig, links: LinkMaker) -> None:
        self._config = config
        self._links = links
        self._meanings: dict[str, dict[tuple[bytes, bytes] | Tag, Meaning]] = {}

    def extract(self, document: Document) -> Findings:
        """Say what the document holds."""
        content, charset = document.content, document.charset or "utf-8"
        if charset in NOT_ASCII:
            content, codec = decode(content, charset).encode("utf-8", "replace"), "utf_8"
        else:
            codec = codec_of(charset)
        xml = document.media_type != "text/html"
        tokens = tokenize(content, 4 * self._config.max_links, xml=xml)
        sources, facts = self._read(tokens, codec)
        if charset in NOT_ASCII:
            sources = [_decoded(source) for source in sources]
        named = facts.named
        if "base" in named and has_templates(content):
            outside = tokenize(without_templates(content), 4 * self._config.max_links, xml=xml)
            named["base"] = self._read(outside, codec)[1].named.get("base", "")
        base = _base(facts, document.url)
        clip = self._clip
        links = self._links.make(sources, base, charset)
        if self._config.anchor_text:
            texts = anchor_texts(content, tokens.hidden, codec, 4 * self._config.max_links)
            if charset in NOT_ASCII:
                texts = ((_decoded(source), text) for source, text in texts)
            links = with_texts(links, texts, self._links, base, charset)
        return Findings(
            title=clip(named.get("title", "") or named.get("og:title", "")),
            description=clip(named.get("description", "") or named.get("og:description", "")),
            author=clip(named.get("author", "") or named.get("article:author", "")),
            language=clip(named.get("language", "") or named.get("content-language", "")),
            hub=named.get("hub", ""),
            topic=named.get("self", ""),
            text_length=text_length(content, tokens.hidden, codec),
            links=links,
            robots=tuple(facts.robots),
        )

    def _read(self, tokens: Tokens, codec: str) -> tuple[list[Source], _Facts]:
        sources: list[Source] = []
        facts = _Facts()
        meanings = self._meanings.setdefault(codec, {})
        # A page says most of what it says several times, and once is enough.
        for token in with_pauses(dict.fromkeys(tokens.found)):
            if token.__class__ is bytes:
                sources.append(token)
                continue
            meaning = meanings.get(token)  # type: ignore[arg-type]
            if meaning is None:
                meaning = self._new_meaning(token, codec)  # type: ignore[arg-type]
            sources += meaning.mentions
            for name, value in meaning.facts:
                facts.add(name, value)
        if tokens.fragments:
            sources.append(b"")
        return sources, facts

    def _new_meaning(self, token: tuple[bytes, bytes] | Tag, codec: str) -> Meaning:
        """As `meaning_of`; the same tags stand on every page of a site, so answers are kept."""
        tag = token if isinstance(token, Tag) else Tag(*token)
        if tag.name == b"title" and not tag.foreign:
            return Meaning(facts=(("title", self._title(tag, codec)),))
        meaning = meaning_of(tag, codec)
        if len(tag.attributes) <= LONGEST_KEPT_TAG and not tag.content:
            kept = self._meanings[codec]
            if len(kept) >= MOST_KEPT_MEANINGS:
                # A reader that still holds the old answers may go on with them.
                kept = self._meanings[codec] = {}
            kept[token] = meaning
        return meaning

    def _title(self, tag: Tag, codec: str) -> str:
        # Ten bytes for a character allow for references and white space.
        source = tag.content[: 10 * self._config.text_fields + 100]
        return unescape_text(source.decode(codec, "replace"))

    def _clip(self, text: str) -> str:
        return " ".join(text[: 10 * self._config.text_fields + 100].split())[: self._config.text_fields]


def _decoded(source: Source) -> Source:
    """As `source`, of a document turned into UTF-8 whose queries stay in their own encoding."""
    if isinstance(source, bytes):
        return Mention("a@href", LinkKind.NAVIGATION, unescape_attribute(source.decode("utf-8", "replace")))
    return source


def _base(facts: _Facts, url: Url) -> Url:
    """What addresses are resolved against: the first `base` with an `href`, or the page."""
    href = facts.named.get("base", "")
    if not href or len(href) > 4096:
        return url
    return Url.parse(href, url.text) or url
