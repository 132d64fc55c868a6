"""Reads a response's body into a page."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash

from gossamer.extract.config import ExtractConfig
from gossamer.extract.encodings.charset import charset_of
from gossamer.extract.isolation.incomplete import IncompleteError
from gossamer.extract.link_header import has_links, header_mentions, hub_and_topic
from gossamer.extract.links import LinkMaker
from gossamer.extract.media_type import declared_type, media_type
from gossamer.extract.registry import Registry, builtin_extractors
from gossamer.model.document import Document, Findings
from gossamer.model.exchange import Exchange
from gossamer.model.link import Link, LinkKind
from gossamer.model.page import Directives, Page
from gossamer.model.raised import Raised
from gossamer.model.reasons.codes import NoteCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.url import Url
from gossamer.policy.robots.directives import merge_directives
from gossamer.ports import Extractor

if TYPE_CHECKING:
    from gossamer.extract.isolation.extractors import IsolatedExtractors

__all__ = ["Reader"]

_OURS = __name__.partition(".")[0] + "."
"""Modules whose extractors return what they say: the type checker has seen to it."""
LONGEST_PROBLEM = 300
_NO_DIRECTIVES = Directives()
_NOTHING = Findings()
_TEXTS = ("title", "description", "author", "language", "hub", "topic")
_HUB_SCHEMES = frozenset({"http", "https"})
_LINK_KINDS = frozenset(LinkKind)
_KINDS = (
    ("text_length", int),
    ("links", (tuple, list)),
    ("robots", (tuple, list)),
    ("fields", dict),
    ("problems", (tuple, list)),
)
_TEXT = re.compile(r"text/|.*(?:[/+]xml|[/+]json|javascript|ecmascript)$")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe-\U0010ffff]")
"""Spelled without `^`, which takes ten times as long to compile at every start."""


class Reader:
    """Runs the extractors of a document's media type and puts their findings together.

    Synchronous, and pure but for the processes of isolated extractors; a second thread may read another
    document at the same time.
    """

    def __init__(
        self, config: ExtractConfig, product_token: str, extractors: Sequence[Extractor] | None = None
    ) -> None:
        """Args:
        config: limits, and extractors switched off.
        product_token: our name in robots directives.
        extractors: all that are to be used; without them the built-in ones.

        Raises:
            ConfigError: an extractor that is to be isolated cannot be handed to another process.
        """
        self._config = config
        self._token = product_token
        chosen = builtin_extractors(config) if extractors is None else extractors
        used = [one for one in chosen if one.name not in config.extractors_off]
        apart = [one for one in used if getattr(one, "isolated", False)]
        self.isolated = _isolated(apart) if apart else None
        outside = self.isolated.outside if self.isolated is not None else {}
        self._registry = Registry([outside.get(id(one), one) for one in used])
        self._links = LinkMaker(config)

    def waits(self, kind: str) -> bool:
        """Whether reading documents of this media type waits for another process.

        Then they are to be read in `isolated.threads`.
        """
        if self.isolated is None:
            return False
        return any(map(self.isolated.stands_for, self._registry.readers_of(kind)))

    def close(self) -> None:
        """End the processes of isolated extractors."""
        if self.isolated is not None:
            self.isolated.close()

    def read(
        self,
        exchange: Exchange,
        content: bytes,
        *,
        kind: str = "",
        listed: bool = False,
        file: Path | None = None,
        cut: bool = False,
    ) -> Page:
        """Say what the response holds. Raises nothing.

        Args:
            exchange: with its headers; the body is not touched.
            content: the body, content codings undone.
            kind: its media type, if that has been found out already.
            listed: a robots file or a sitemap led to it.
            file: that holds the whole, where `content` may be only the beginning.
            cut: `content` is only the beginning, or broke off.
        """
        config, headers = self._config, exchange.headers
        declared = declared_type(headers)
        kind = kind or media_type(declared, content)
        problems: list[Reason | str] = []
        failures: list[tuple[str, Raised | None]] = []
        part = content
        if len(content) > config.max_content:
            part = content[: config.max_content]
        domain = exchange.url.host.rpartition(".")[2]
        charset = charset_of(part, declared, kind, domain) if part and _TEXT.match(kind) else ""
        findings: list[Findings] = []
        if part:
            within = len(part) < config.max_content or not (cut or len(part) < len(content))
            whole = None if within or file is None else str(file)
            document = Document(exchange.url, kind, charset, headers, part, listed, whole)
            readers = self._registry.readers_of(kind)
            if not within and any(_is_cut_for(one, document) for one in readers):
                problems.append(_left(len(part), len(content), cut=cut))
            for extractor in readers:
                found = _run(extractor, document, failures)
                if found is not None:
                    findings.append(found)
                    failures += [(_problem(extractor, problem), None) for problem in found.problems]
        most, said = config.text_fields, _together(findings)
        return Page(
            url=exchange.url,
            media_type=kind,
            charset=charset,
            title=said.title[:most],
            description=said.description[:most],
            author=said.author[:most],
            language=said.language[:most],
            text_length=said.text_length,
            links=self._all_links(exchange, findings),
            directives=self._directives(exchange, said),
            content_digest=xxhash.xxh3_64_intdigest(content) if content else 0,
            fields=said.fields,
            **_announced(exchange, findings),
            problems=(*problems, *[problem for problem, _ in failures]),
            raised=tuple([what for _, what in failures if what is not None]),
        )

    def _all_links(self, exchange: Exchange, findings: list[Findings]) -> tuple[Link, ...]:
        headers = exchange.headers
        parts = [found.links for found in findings if found.links]
        if has_links(headers):
            parts.append(self._links.make(header_mentions(headers), exchange.url, "utf-8"))
        if not parts:
            return ()
        if len(parts) == 1:
            return tuple(parts[0][: self._config.max_links])
        once: dict[tuple[str, LinkKind], Link] = {}
        for link in chain.from_iterable(parts):
            known = once.setdefault((link.url.text, link.kind), link)
            if known.nofollow and not link.nofollow:
                once[link.url.text, link.kind] = link
        return tuple(islice(once.values(), self._config.max_links))

    def _directives(self, exchange: Exchange, said: Findings) -> Directives:
        headers = exchange.headers
        tags = headers.get_all("x-robots-tag") if headers.get("x-robots-tag") else []
        if not tags and not said.robots:
            return _NO_DIRECTIVES
        return merge_directives(tuple(said.robots), tags, self._token, exchange.started)


def _together(findings: list[Findings]) -> Findings:
    """What several extractors say beside links, addresses and problems: of texts the first, of all else everything."""
    telling = [
        found
        for found in findings
        if found.title
        or found.text_length
        or found.robots
        or found.fields
        or found.description
        or found.author
        or found.language
    ]
    if len(telling) <= 1:
        return telling[0] if telling else _NOTHING
    return Findings(
        title=_first(found.title for found in telling),
        description=_first(found.description for found in telling),
        author=_first(found.author for found in telling),
        language=_first(found.language for found in telling),
        text_length=next((found.text_length for found in telling if found.text_length), 0),
        robots=tuple(entry for found in telling for entry in found.robots),
        fields={name: value for found in reversed(telling) for name, value in found.fields.items()},
    )


def _first(values: Iterable[str]) -> str:
    return next(filter(None, values), "")


def _announced(exchange: Exchange, findings: list[Findings]) -> dict[str, str]:
    """Hub and topic: by the response's head, else by the document (WebSub 4)."""
    told = [(found.hub, found.topic) for found in findings if found.hub]
    if has_links(exchange.headers):
        told.insert(0, hub_and_topic(exchange.headers))
    hub = next((hub for hub, _ in told if hub), "")
    topic = next((topic for _, topic in told if topic), "")
    if not (hub and topic):
        return {}
    base = exchange.url.text
    where, what = Url.parse(hub, base), Url.parse(topic, base)
    if where is None or what is None or where.scheme not in _HUB_SCHEMES:
        return {}
    return {"hub": where.text, "topic": what.text}


def _is_cut_for(extractor: Extractor, document: Document) -> bool:
    """Whether it reads documents of this type, and only their beginning. One for all types reads only its own."""
    return "*/*" not in extractor.media_types and not (
        document.file is not None and getattr(extractor, "whole", False)
    )


def _left(read: int, there: int, *, cut: bool) -> Reason:
    return because(NoteCode.CUT, read) if cut else because(NoteCode.UNREAD, there - read, there)


def _isolated(extractors: Sequence[Extractor]) -> "IsolatedExtractors":
    from gossamer.extract.isolation.extractors import IsolatedExtractors  # few crawls have any

    return IsolatedExtractors(extractors)


def _run(
    extractor: Extractor, document: Document, failures: list[tuple[str, Raised | None]]
) -> Findings | None:
    try:
        found = extractor.extract(document)
        if not type(extractor).__module__.startswith(_OURS):
            _prove(found)
    except IncompleteError as error:
        failures.append((_problem(extractor, str(error)), error.raised))
        return None
    except Exception as error:  # noqa: BLE001 (the plug-in border: whatever it raises, the page is kept)
        problem = _problem(extractor, f"{type(error).__name__}: {error}")
        failures.append((problem, Raised.by(f"extractor {extractor.name}", error)))
        return None
    return found


def _prove(found: Findings) -> None:
    """Check what an extractor returned, for structs do not.

    Raises:
        TypeError: it is no `Findings`, or something in it is not what it should be.
    """
    if not isinstance(found, Findings):
        raise TypeError(f"returned {type(found).__name__}, not Findings")
    wrong = [name for name in _TEXTS if not isinstance(getattr(found, name), str)]
    wrong += [name for name, kind in _KINDS if not isinstance(getattr(found, name), kind)]
    if not wrong and not _are_links(found.links):
        wrong.append("links")
    if not wrong and not all(_is_entry(entry) for entry in found.robots):
        wrong.append("robots")
    if not wrong and not all(isinstance(problem, str) for problem in found.problems):
        wrong.append("problems")
    if wrong:
        value = getattr(found, wrong[0])
        raise TypeError(f"returned Findings whose {', '.join(wrong)} cannot be used: {value!r:.80}")


def _are_links(links: Sequence[Link]) -> bool:
    """Whether all are whole links, in few passes because there may be many."""
    return {*map(type, links)} <= {Link} and (
        {type(link.url) for link in links} <= {Url}
        and {link.kind for link in links} <= _LINK_KINDS
        and {*map(type, [part for link in links for part in (link.element, link.text)])} <= {str}
    )


def _is_entry(entry: object) -> bool:
    return isinstance(entry, tuple) and len(entry) == 2 and all(isinstance(part, str) for part in entry)


def _problem(extractor: Extractor, what: str) -> str:
    line = _UNPRINTABLE.sub("?", f"{extractor.name}: {what}")
    return line if len(line) <= LONGEST_PROBLEM else line[: LONGEST_PROBLEM - 3] + "..."
