"""Makes a response of what the archive has of a URL."""

from collections.abc import Iterator
from importlib import resources

import msgspec

from gossamer.extract.encodings.charset import (
    charset_of,
    charset_parameter,
    codec_of,
    declared_charset,
    decode,
)
from gossamer.extract.encodings.labels import NOT_ASCII
from gossamer.extract.media_type import declared_type, media_type
from gossamer.extract.rewriting.css import changed_sheet
from gossamer.inspect.archive.lookup import Indexed
from gossamer.model.document import HTML_TYPES
from gossamer.model.errors import StorageError
from gossamer.model.url import Url
from gossamer.policy.visits.retry import redirect_location
from gossamer.replay.archive import Archive, Shown
from gossamer.replay.heads import kept_fields, policy, range_of
from gossamer.replay.messages import Answer, Request
from gossamer.replay.missing import missing_page
from gossamer.replay.names import OF_BROWSERS, Names, Place
from gossamer.replay.rewriting.addresses import Mover
from gossamer.replay.rewriting.markup import moved_markup

__all__ = ["Answers", "Looks", "as_archived"]

_DOCUMENTS = frozenset({"", "document", "iframe", "frame", "object", "embed", "fencedframe"})
"""What a document is asked for as; a browser that does not say so may mean one."""
_SHEETS = frozenset({"", "style"})
_WORKERS = frozenset({"worker", "sharedworker"})
_DRAWINGS = frozenset(
    {"image/svg+xml", "text/xml", "application/xml", "application/rss+xml", "application/atom+xml"}
)
_XML = HTML_TYPES - {"text/html"}
_PLAIN_404 = b"This was not archived.\n"
_METHODS = frozenset({"GET", "HEAD"})


class Looks(msgspec.Struct, frozen=True):
    """How pages are shown: options of the command.

    Attributes:
        banner: a line at the foot of each page says when it was captured.
        scripts: scripts of pages run.
    """

    banner: bool = True
    scripts: bool = True


class Answers:
    """Answers for every URL, from one archive. For one thread at a time, as that is."""

    def __init__(self, archive: Archive, names: Names, looks: Looks, home: str) -> None:
        """`home` is the origin of the list, without a slash at its end."""
        self._archive = archive
        self._names = names
        self._looks = looks
        self._home = home
        self._path = f"/~gossamer-{names.token}/replay.js"
        self._script = b""
        for origin in archive.origins():
            if (url := Url.parse(f"{origin}/")) is not None:
                names.origin(url)  # one that is written as a hash is known from here on

    def replayed(self, request: Request, place: Place) -> Answer:
        """What a browser is shown of a URL of a replayed origin."""
        target = request.target
        if target.partition("?")[0] == self._path:
            return self._our_script()
        if request.fields.get("service-worker") == "script":
            # A worker that answers for its origin would do so for later runs, too, and in the place of the archive.
            return self._plain(request, 403, b"Service workers are not replayed.\n")
        if request.method == "OPTIONS":
            return Answer(204, tuple(self._shared(request)))
        url = Url.parse(place.origin + target)
        if url is None:
            return self._plain(request, 404, _PLAIN_404)
        one = self._archive.find(url, place.at) if request.method in _METHODS else None
        shown = self._read(one)
        if one is None or shown is None:
            return self._missing(request, url)
        if one.url != url.text and request.aim == "document" and (near := Url.from_serialised(one.url)):
            return self._led(request, self._names.address(near, place.at))
        return self._shown(request, shown, place)

    def plain(self, request: Request, url: Url) -> Answer:
        """What a program is given of a URL that asks us as a proxy: as archived, but for what steers browsers."""
        one = self._archive.find(url) if request.method in _METHODS else None
        shown = self._read(one)
        if shown is None:
            return Answer(404, (("Content-Type", "text/plain"),), _PLAIN_404)
        return as_archived(request, shown)

    def _read(self, one: Indexed | None) -> Shown | None:
        if one is None:
            return None
        try:
            return self._archive.read(one)
        except StorageError:
            return None  # damaged there; `gossamer check` says where

    # What is there …

    def _shown(self, request: Request, shown: Shown, place: Place) -> Answer:
        fields = [pair for pair in kept_fields(shown.headers) if pair[0].lower() != "content-type"]
        declared = declared_type(shown.headers)
        kind = media_type(declared, shown.content)
        location = redirect_location(shown.status, shown.headers)
        if location is not None:
            target = Url.parse(location, shown.url.text)
            if target is not None:
                _, mark, fragment = location.partition("#")
                return self._led(
                    request, self._names.address(target, place.at) + mark + fragment, shown.status
                )
        content, charset = shown.content, ""
        scripts = self._looks.scripts
        if shown.packed:
            fields.append(("Content-Encoding", shown.headers.get("content-encoding")))
        elif kind in HTML_TYPES and request.aim in _DOCUMENTS:
            content, charset = self._document(shown, kind, declared, place)
        elif kind == "text/css" and request.aim in _SHEETS:
            content = changed_sheet(content, Mover(self._names, shown.url, place.at).moved)
        elif request.aim in _WORKERS:
            content = self._our_source() + b"\n" + content
        elif kind in _DRAWINGS and request.aim in _DOCUMENTS:
            scripts = False
            content = moved_markup(content, Mover(self._names, shown.url, place.at), b"", xml=True)
        if declared or kind:
            fields.append(("Content-Type", _typed(shown.headers.get("content-type") or kind, charset)))
        fields += self._holding(request, scripts=scripts)
        return _ranged(request, Answer(shown.status, tuple(fields), content))

    def _document(self, shown: Shown, kind: str, declared: str, place: Place) -> tuple[bytes, str]:
        """A document as it is shown, and its encoding where it names it itself and its head does not: our script
        stands before what the document says. One that nobody names is left to the browser, as it was then: browsers
        do not take such a page for UTF-8, even if it is."""
        said = declared_charset(shown.content, declared, kind)
        charset = said or charset_of(shown.content, "", kind, shown.url.host.rpartition(".")[2])
        mover = Mover(self._names, shown.url, place.at)
        script = b""
        if self._looks.scripts:
            when = f"{shown.capture.time}&amp;u={len(self._archive.captures(shown.url))}"
            script = f"{self._names.origin(shown.url, place.at)}{self._path}?at={when}".encode("ascii")
        if charset in NOT_ASCII:
            text = decode(shown.content, charset).encode("utf-8", "replace")
            moved = moved_markup(text, mover, script, xml=kind in _XML).decode("utf-8", "replace")
            mark = "\ufeff" if charset.startswith("utf-16") else ""
            content = (mark + moved).encode(codec_of(charset), "xmlcharrefreplace")
        else:
            content = moved_markup(shown.content, mover, script, xml=kind in _XML)
        return content, "" if charset_parameter(declared) else said

    def _led(self, request: Request, address: str, status: int = 302) -> Answer:
        return Answer(status, (("Location", address), *self._holding(request, scripts=False)))

    # What is not …

    def _missing(self, request: Request, url: Url) -> Answer:
        if request.aim not in _DOCUMENTS:
            return self._plain(request, 404, _PLAIN_404)
        page = missing_page(self._archive, url, self._home, request.fields.get("accept-language", ""))
        fields = [("Content-Type", "text/html; charset=utf-8"), *self._shared(request)]
        fields.append(
            ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'")
        )
        return Answer(404, tuple(fields), page)

    def _plain(self, request: Request, status: int, text: bytes) -> Answer:
        fields = [("Content-Type", "text/plain; charset=utf-8"), *self._holding(request, scripts=False)]
        return Answer(status, tuple(fields), text)

    # Heads …

    def _holding(self, request: Request, *, scripts: bool) -> Iterator[tuple[str, str]]:
        yield "Content-Security-Policy", policy(self._names.port, scripts=scripts and self._looks.scripts)
        yield "X-DNS-Prefetch-Control", "off"
        yield from self._shared(request)

    def _shared(self, request: Request) -> Iterator[tuple[str, str]]:
        """Replayed origins may read each other, for those that were allowed to when they were crawled did."""
        yield "Cache-Control", "no-store"
        yield "Referrer-Policy", "no-referrer-when-downgrade"
        origin = request.fields.get("origin", "")
        if origin == "null" or self._names.place(origin.removeprefix("http://")) is not None:
            yield "Access-Control-Allow-Origin", origin
            yield "Access-Control-Allow-Credentials", "true"
            yield "Access-Control-Expose-Headers", "*"
            yield "Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
            asked = request.fields.get("access-control-request-headers", "")
            if asked:
                yield "Access-Control-Allow-Headers", asked

    # Ours …

    def _our_script(self) -> Answer:
        fields = (
            ("Content-Type", "text/javascript; charset=utf-8"),
            ("Cache-Control", "max-age=86400, immutable"),
            ("Access-Control-Allow-Origin", "*"),
        )
        return Answer(200, fields, self._our_source())

    def _our_source(self) -> bytes:
        if not self._script:
            options = {
                "token": self._names.token,
                "port": self._names.port,
                "home": self._home,
                "schemes": OF_BROWSERS,
                "banner": self._looks.banner,
                "origins": self._archive.origins(),
            }
            source = resources.files("gossamer.replay").joinpath("static/replay.js").read_bytes()
            self._script = source.replace(b"__OPTIONS__", msgspec.json.encode(options))
        return self._script


def as_archived(request: Request, shown: Shown) -> Answer:
    """What a program is given of a capture: as archived, but for what steers browsers or is for one connection."""
    fields = list(kept_fields(shown.headers))
    if shown.packed:
        fields.append(("Content-Encoding", shown.headers.get("content-encoding")))
    if location := redirect_location(shown.status, shown.headers):
        fields.append(("Location", location))
    return _ranged(request, Answer(shown.status, tuple(fields), shown.content))


def _typed(value: str, charset: str) -> str:
    """A Content-Type as archived, with the encoding that the document names itself."""
    return f"{value}; charset={charset}" if charset else value


def _ranged(request: Request, answer: Answer) -> Answer:
    """The part of a body that was asked for, if one was; a part that was archived is given as what there is."""
    status = 200 if answer.status == 206 else answer.status
    fields = tuple(pair for pair in answer.fields if pair[0].lower() != "content-range")
    if status != 200:
        return answer
    fields += (("Accept-Ranges", "bytes"),)
    size = len(answer.body)
    part = range_of(request.fields.get("range", ""), size) if request.method == "GET" else None
    if part is None:
        return Answer(status, fields, answer.body)
    start, end = part
    if start == size:
        return Answer(416, (*fields, ("Content-Range", f"bytes */{size}")))
    return Answer(
        206, (*fields, ("Content-Range", f"bytes {start}-{end - 1}/{size}")), answer.body[start:end]
    )
