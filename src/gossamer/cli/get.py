"""Gives one page of a crawl back: as it was archived, or what its index says of its captures."""

import sys
from pathlib import Path
from typing import Literal, cast

import msgspec

from gossamer.cli.exits import EXIT_NOTHING
from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import safe, say, show, show_json, show_pieces, size
from gossamer.datasets.beside import prove_documents
from gossamer.datasets.deriving import no_answer
from gossamer.datasets.one_document import said_by
from gossamer.documents.config import DocumentsConfig
from gossamer.extract.encodings.charset import charset_of, decode
from gossamer.extract.isolation.processes import Unanswered
from gossamer.extract.media_type import declared_type, media_type
from gossamer.inspect.archive.captures import Capture
from gossamer.inspect.archive.lookup import Indexed, captures_of, content_of, nearest_in_time, read_back
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.why.story import url_of
from gossamer.inspect.why.whole import tell_whole
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError, StorageError, UnreadableError
from gossamer.model.exchange import address_in_field
from gossamer.policy.visits.retry import redirect_location
from gossamer.words.catalogue import words

Part = Literal["content", "headers", "raw", "text", "markdown"]
"""The document, its content codings undone; the head of the response; head and body as they came; what the
document says, as plain text or Markdown."""

_TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "image/svg+xml")


def run_get(path: Path, url: str, *, at: str, part: Part | None, output: Path | None, json: bool) -> None:
    """Print a capture of a URL, or write it to a file; exit 1 if there is none.

    Raises:
        ConfigError: no crawl lives in `path`, `url` is no URL or `at` no time, or a terminal cannot show it.
        StorageError: the archive is damaged there, or `output` cannot be written.
        UnreadableError: what is archived does not decode, or nothing could be read of it.
    """
    if output is not None and output.is_dir():
        raise ConfigError(f"--output {output}: is a folder; give the name of a file.")
    with looked_into(path) as inspection:
        one = nearest_in_time(found_captures(inspection, path, url), at)
        capture = read_back(inspection, one)
        data = _part(inspection, capture, part := part or "content")
    if output is not None and str(output) == "-":
        show_pieces((data,))
    elif output is not None:
        _write(output, data)
        say(f"{safe(str(output))}: {size(len(data))}, {safe(one.url)} as of {one.time}")
    elif json:
        show_json(_told(one, capture, data))
    elif sys.stdout.isatty():
        if data or part not in ("text", "markdown"):
            show(_for_terminal(capture, data, part))
    else:
        show_pieces((data,))
    said = address_in_field(capture.exchange.headers.get("location"))  # none means '/' to a crawl only
    if said and (target := redirect_location(one.status, capture.exchange.headers)) is not None:
        say(f"it redirects to {safe(target)}")


def show_captures(path: Path, url: str, *, json: bool) -> None:
    """Print the captures of a URL, the earliest first; exit 1 if there are none."""
    with looked_into(path) as inspection:
        found = found_captures(inspection, path, url)
    if json:
        show_json(found)
        return
    for one in found:
        what = "unchanged" if one.found == "unmodified" else one.media_type or "as before"
        show(f"{one.time}  {one.status or '-':>3}  {safe(what):<24} {size(one.length):>10}  {safe(one.url)}")


def found_captures(inspection: Inspection, path: Path, text: str, note: str = "") -> list[Indexed]:
    """The captures of a URL; if there are none, why, and exit 1. Of an unknown one `note` is said, too."""
    url = url_of(inspection, text)
    found = captures_of(inspection, url)
    if found:
        return found
    told = tell_whole(inspection, text)
    if told.story.state == "unknown":
        say(f"{safe(told.story.url)}: not known to this crawl{note}")
        for near in told.nearest:
            say(f"  did you mean {safe(near)}?")
    else:
        say(
            f"{safe(told.story.url)}: {told.story.state}, nothing of it is archived."
            f" '{safe(command_line('why', path, told.story.url))}' tells more."
        )
    sys.exit(EXIT_NOTHING)


def _part(inspection: Inspection, capture: Capture, part: Part) -> bytes:
    exchange = capture.exchange
    if part == "headers":
        return exchange.response_head
    if part == "raw":
        return exchange.response_head + exchange.body.read()
    decoded = content_of(inspection, capture)
    if decoded.truncated and part == "content":
        say("incomplete: the server sent a part of the document, broke off, or a limit cut it")
    if part in ("text", "markdown"):
        prove_documents(DocumentsConfig(follow=True), f"--{part}")
        said = said_by(exchange.url.text, exchange.headers, decoded.content, part=decoded.truncated)
        if isinstance(said, Unanswered):
            raise UnreadableError(
                f"{exchange.url.text}: {words('en').said('mark', no_answer(said.why))} ({said.detail})."
                " Without --text and --markdown it is given as it is."
            )
        derived = said.text if part == "text" else said.markdown
        for mark in said.marks:
            say(f"note: {words('en').said('mark', mark)}")
        if not derived.text and said.media_type.startswith("image/"):
            say(f"{safe(exchange.url.text)}: {safe(said.media_type)} is an image and has no text")
        return f"{derived.text}\n".encode() if derived.text else b""
    return decoded.content


def _told(one: Indexed, capture: Capture, content: bytes) -> dict[str, object]:
    """What a program may want: index line, fields, and the content as text if it is some."""
    kind, charset = _kind(capture, content)
    text = decode(content, charset) if _is_text(kind) else None
    return {
        **cast("dict[str, object]", msgspec.to_builtins(one)),
        "media_type": kind,
        "charset": charset,
        "headers": capture.exchange.headers.fields,
        "hops": capture.hops,
        "text" if text is not None else "base64": text if text is not None else content,
    }


def _kind(capture: Capture, content: bytes) -> tuple[str, str]:
    exchange = capture.exchange
    declared = declared_type(exchange.headers)
    kind = media_type(declared, content)
    return kind, charset_of(content, declared, kind, exchange.url.host.rpartition(".")[2])


def _is_text(kind: str) -> bool:
    return kind.startswith(_TEXTS) or kind.endswith(("+xml", "+json"))


def _for_terminal(capture: Capture, data: bytes, part: Part) -> str:
    """Text, with nothing in it that steers the terminal.

    Raises:
        ConfigError: it is no text.
    """
    if part == "headers":
        return _lines(data.decode("latin-1"))
    if part in ("text", "markdown"):
        return _lines(data.decode())
    kind, charset = _kind(capture, data)
    if part == "raw" or not _is_text(kind):
        raise ConfigError(
            f"{capture.exchange.url.text}: {kind}, {size(len(data))}, is not for a terminal."
            " Give --output FILE, or send standard output to a file or program."
        )
    return _lines(decode(data, charset))


def _lines(text: str) -> str:
    return "\n".join(safe(line.expandtabs()) for line in text.rstrip().splitlines())


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise StorageError(f"{path}: cannot be written ({error.strerror}).") from error
