"""Shows near-duplicates of a crawl, and the pages that contain or resemble given documents."""

import mimetypes
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gossamer.assembly.private import keep_private
from gossamer.cli.exits import EXIT_NOTHING
from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, say, show, show_json, size
from gossamer.datasets.derived import FOLDER as DOCUMENTS
from gossamer.datasets.derived import state_of
from gossamer.datasets.lag import unread
from gossamer.datasets.one_document import DocumentReader
from gossamer.extract.isolation.processes import Unanswered
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.why.story import url_of
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.model.exchange import Headers
from gossamer.search.similar.answers import Cluster, SimilarPages
from gossamer.search.similar.copies import Copied
from gossamer.search.similar.following import SimilarFollower
from gossamer.search.similar.state import FOLDER as SIMILAR

_LARGEST = 64 << 20
"""Bytes of a given file."""
_SHOWN = 200
"""Characters of a passage that are shown to people."""


class SimilarAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asks for.

    Attributes:
        documents: files, or URLs of the crawl; none asks for the clusters.
        words: in a row that make a passage.
        limit: clusters, or pages of each document.
    """

    documents: tuple[str, ...]
    words: int
    limit: int
    json: bool


class Answer(msgspec.Struct, frozen=True):
    """What was found for one document.

    Attributes:
        document: as it was given.
        problem: why it could not be looked for; empty if it could.
        found: pages in all.
        pages: the first of them.
    """

    document: str
    problem: str
    found: int
    pages: list[Copied]


def run_similar(path: Path, asked: SimilarAsked) -> None:
    """Print clusters, or the copies of documents; exit 1 if one of these could not be looked for.

    Raises:
        ConfigError: no crawl lives in `path`.
        StorageError: an index or a table cannot be read, or the disk refuses.
    """
    keep_private()
    with looked_into(path) as inspection:
        crawls = [part.folder.path for part in inspection.each.values()]
        lag = unread(inspection)
    if all(state_of(crawl / DOCUMENTS) is None for crawl in crawls):
        raise ConfigError(
            f"{path}: the text of its documents is not known yet. First: {command_line('index', path)}"
        )
    if lag:
        say(f"{plural(lag, 'capture')} not in it yet: '{command_line('index', path)}' reads them")
    for crawl in crawls:
        _catch_up(crawl)
    pages = SimilarPages(crawls)
    if asked.documents:
        with looked_into(path) as inspection:
            _tell_copies(inspection, pages, asked)
    else:
        _tell_clusters(path, pages, asked)


def _catch_up(crawl: Path) -> None:
    """Bring the index up to the tables, if nobody else does, and it may be written."""
    if not os.access(crawl, os.W_OK) and (crawl / SIMILAR).is_dir():
        return
    try:
        follower = SimilarFollower(crawl, lambda text: say(safe(text)))
    except ConfigError as error:
        say(safe(str(error)))
        return
    try:
        follower.catch_up(lambda: False)
    finally:
        follower.close()


def _tell_clusters(path: Path, pages: SimilarPages, asked: SimilarAsked) -> None:
    counts = pages.counts()
    if asked.json:
        near, copies = counts.bytes
        show_json(
            {
                "captures": counts.captures,
                "near_duplicates": counts.near_duplicates,
                "clusters_in_all": counts.clusters,
                "bytes": {"near_duplicates": near, "copies": copies},
                "clusters": list(pages.clusters(asked.limit or counts.clusters, counts.near_duplicates)),
            }
        )
        return
    for cluster in pages.clusters(asked.limit or counts.clusters, 10):
        for line in _cluster_lines(cluster):
            show(line)
    near, copies = counts.bytes
    say(
        f"{plural(counts.clusters, 'cluster')} of {plural(counts.near_duplicates, 'page')} that resemble each other,"
        f" of {plural(counts.captures, 'capture')}; index: {size(near)}, and {size(copies)} for copies of documents"
    )
    if counts.clusters > asked.limit > 0:
        say(f"the largest {asked.limit:,} are shown; --limit 0 shows all")
    if counts.clusters:
        say(f"'{command_line('sql', path, 'from near_duplicates')}' has them as a table")


def _cluster_lines(cluster: Cluster) -> list[str]:
    lines = [f"{plural(cluster.size, 'page')} like {safe(cluster.cluster)}"]
    lines += [f"  {member.resemblance:.2f}  {safe(member.url)}" for member in cluster.pages]
    if cluster.size > len(cluster.pages):
        lines.append(f"  and {plural(cluster.size - len(cluster.pages), 'other')}")
    return lines


def _tell_copies(inspection: Inspection, pages: SimilarPages, asked: SimilarAsked) -> None:
    answers = _answers(inspection, pages, asked)
    if asked.json:
        show_json(answers)
    else:
        for answer in answers:
            for line in _answer_lines(answer):
                show(line)
    if any(answer.problem for answer in answers):
        sys.exit(EXIT_NOTHING)


def _answers(inspection: Inspection, pages: SimilarPages, asked: SimilarAsked) -> list[Answer]:
    reader = DocumentReader(inspection.config.documents)
    answers = []
    try:
        for document in asked.documents:
            text, itself, problem = _given(inspection, pages, reader, document)
            found = pages.copies(text, least=asked.words, itself=itself) if not problem else []
            answers.append(
                Answer(document, problem, len(found), found[: asked.limit] if asked.limit else found)
            )
    finally:
        reader.close()
    return answers


def _given(
    inspection: Inspection, pages: SimilarPages, reader: DocumentReader, document: str
) -> tuple[str, str, str]:
    """(text, URL if it is of the crawl, problem) of a document that was given."""
    file = Path(document)
    if "://" not in document and file.is_file():
        text, problem = _text_of_file(reader, file)
        return text, "", problem
    fault = "it is no plain file" if file.exists() else "there is no such file"
    try:
        url = url_of(inspection, document).text
    except ConfigError:
        return "", "", f"{document}: {fault}, and it is no URL"
    found = pages.text_of(url)
    if found is None:
        where = "" if "://" in document else f"{fault}, and "
        return "", url, f"{document}: {where}nothing of it is in the index"
    return found, url, "" if found else f"{url}: has no text"


def _text_of_file(reader: DocumentReader, file: Path) -> tuple[str, str]:
    """(text, problem) of a file."""
    try:
        length = file.stat().st_size
        if length > _LARGEST:
            return "", f"{file}: {size(length)} are more than the {size(_LARGEST)} that are read"
        content = file.read_bytes()
    except OSError as error:
        return "", f"{file}: cannot be read ({error.strerror})"
    kind = mimetypes.guess_type(file.name)[0] or ""
    said = reader.ask(file.absolute().as_uri(), Headers([("Content-Type", kind)]), content)
    if isinstance(said, Unanswered):
        return "", f"{file}: nothing could be read of it ({said.why}: {said.detail})"
    return said.text.text, "" if said.text.text.strip() else f"{file}: has no text"


def _answer_lines(answer: Answer) -> Sequence[str]:
    if answer.problem:
        return [safe(answer.problem)]
    lines = [f"{safe(answer.document)}: {plural(answer.found, 'page')}"]
    for page in answer.pages:
        lines.append(
            f"  {safe(page.url)}: has {page.containment:.0%} of it, resemblance {page.resemblance:.2f}"
        )
        for passage in page.passages[:3]:
            text = " ".join(passage.text.split())
            cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
            lines.append(f"    {plural(passage.words, 'word')} at {passage.page_start:,}: {safe(cut)}")
        if len(page.passages) > 3:
            lines.append(f"    and {plural(len(page.passages) - 3, 'more passage')}")
    if answer.found > len(answer.pages):
        lines.append(f"  and {plural(answer.found - len(answer.pages), 'more page')}; --limit 0 shows all")
    return lines
