"""Writes what a crawl found in forms for other programs."""

import sys
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import msgspec

from gossamer.assembly.private import keep_private
from gossamer.cli.behind import say_behind
from gossamer.cli.exits import EXIT_NOTHING
from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, say, show, show_json, size
from gossamer.config.units import parse_size
from gossamer.datasets.all_tables import being_read
from gossamer.inspect.archive.link_graph import export_links
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import ConfigError

FOLDER = "exports"
_GRAPHS = ("tsv", "graphml")
_ROWS = ("jsonl", "csv", "parquet")
_FORMS: dict[str, tuple[str, ...]] = {
    "links": (*_GRAPHS, *_ROWS),
    "text": (*_ROWS, "wet"),
    "files": ("content", "text", "markdown"),
    "wacz": ("wacz",),
}
"""Of what, the first is the usual one."""
_DERIVED = ("documents", "text", "links", "fields", "near_duplicates")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asks for; empty means the usual."""

    what: str
    form: str = ""
    out: str = ""
    to: str = ""
    split: str = ""
    compress: str = ""
    columns: str = ""
    where: str = ""
    names: str = ""
    texts: str = ""
    memory: str = "64MiB"
    json: bool = False


def run_export(path: Path, asked: Asked) -> None:
    """Export; exit 1 if something is not in it that the archive has.

    Raises:
        ConfigError: no crawl lives in `path`, options do not go together, or an extra is not installed.
        StorageError: it cannot be written or sent; what is whole stays.
    """
    form = _form(asked)
    memory, split = _size("--memory", asked.memory), _size("--split", asked.split or "0")
    if form != "tsv":  # numbers and addresses; the others hold what pages hold
        keep_private()
    with looked_into(path) as inspection, being_read(inspection):
        if form == "tsv":
            ended = _graph(inspection, Path(asked.out) if asked.out else None, memory, json=asked.json)
        elif form == "graphml":
            ended = _graphml(inspection, asked, memory)
        elif asked.what == "files":
            ended = _files(inspection, asked, form)
        elif form == "wacz":
            ended = _wacz(inspection, asked)
        elif asked.to:
            ended = _load(inspection, asked)
        else:
            ended = _parts(inspection, asked, form, split)
    if not ended:
        sys.exit(EXIT_NOTHING)


def _size(option: str, text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise ConfigError(f"{option}: {error}") from None


def _form(asked: Asked) -> str:
    """The format, if it and the other options go together.

    Raises:
        ConfigError: they do not.
    """
    if asked.to:
        given = [
            f"--{name}" for name in ("format", "out", "split", "compress", "texts") if _given(asked, name)
        ]
        if given or asked.what in ("files", "wacz"):
            raise ConfigError(f"--to does not go with {given[0] if given else asked.what}")
        return ""
    forms = _FORMS.get(asked.what, _ROWS)
    form = asked.form or forms[0]
    if form not in forms:
        raise ConfigError(f"--format {form}: {asked.what} come as {', '.join(forms)}")
    useless = {
        "tsv": ("split", "compress", "columns", "where", "names", "texts"),
        "graphml": ("split", "columns", "where", "names", "texts"),
        "wet": ("columns", "names", "texts"),
        "parquet": ("compress", "names", "texts"),
        "wacz": ("split", "compress", "columns", "where", "names"),
    }.get(form, ("split", "compress", "columns", "texts") if asked.what == "files" else ("names", "texts"))
    if given := [name for name in useless if _given(asked, name)]:
        raise ConfigError(f"--{given[0]} does not go with {asked.what} as {form}")
    return form


def _given(asked: Asked, option: str) -> bool:
    return bool(getattr(asked, "form" if option == "format" else option))


def _out(inspection: Inspection, asked: Asked, form: str) -> str:
    return asked.out or str(inspection.folder.path / FOLDER / f"{asked.what}-{form}")


def _graph(inspection: Inspection, out: Path | None, memory: int, *, json: bool) -> bool:
    graph = export_links(inspection, out, memory)
    if json:
        show_json(graph)
    else:
        for problem in graph.problems:
            say(safe(problem))
        show(
            f"{safe(graph.folder)}: {plural(graph.pages, 'page')}, {plural(graph.urls, 'URL')}, "
            f"{plural(graph.page_edges, 'link')}; {plural(graph.hosts, 'host')}, "
            f"{plural(graph.host_edges, 'pair')} of them linked"
        )
    return not graph.problems


def _graphml(inspection: Inspection, asked: Asked, memory: int) -> bool:
    from gossamer.datasets.export.graphml import write_graphml
    from gossamer.datasets.export.places import place_of

    place = place_of(_out(inspection, asked, "graphml"))
    graph = write_graphml(inspection, place, memory, packed=asked.compress == "gzip")
    if asked.json:
        show_json(msgspec.structs.replace(graph, folder=place.address))
    else:
        for problem in graph.problems:
            say(safe(problem))
        show(f"{safe(place.address)}: {plural(graph.urls, 'URL')}, {plural(graph.page_edges, 'link')}")
    return not graph.problems


def _lag(inspection: Inspection, what: str) -> int:
    """Captures that what is exported should tell of and does not; says so."""
    return (
        say_behind(inspection, inspection.folder.path, "it", "; then export again") if what in _DERIVED else 0
    )


def _source(inspection: Inspection, what: str, columns: str, where: str) -> Any:
    from gossamer.datasets.export.rows import source_of
    from gossamer.search.similar.table import tables_of

    return source_of(what, columns, where, tables_of(inspection))


def _parts(inspection: Inspection, asked: Asked, form: str, split: int) -> bool:
    from gossamer.datasets.export import forms, wet
    from gossamer.datasets.export.parts import Form, write_parts
    from gossamer.datasets.export.places import place_of

    place = place_of(_out(inspection, asked, form))
    columns = ",".join(wet.COLUMNS) if form == "wet" else asked.columns
    lag = _lag(inspection, asked.what)
    source = _source(inspection, asked.what, columns, asked.where)
    packed = asked.compress != "none"
    with closing(wet.RecordIds(inspection)) as ids:
        written: Form
        if form == "wet":
            written = wet.WetForm(ids.of, f"gossamer {version('gossamer')}", packed=packed)
        elif form == "parquet":
            written = forms.ParquetForm(source.table, split)
        else:
            written = forms.LinesForm(form, source.table, packed=packed)
        manifest = write_parts(source, written, place, split, lag)
    if asked.json:
        files = [f"{place.address}/{piece.file}" for piece in manifest.files]
        show_json({"out": place.address, "rows": manifest.rows, "unread": lag, "files": files})
    else:
        total = sum(piece.bytes for piece in manifest.files)
        show(
            f"{safe(place.address)}: {plural(manifest.rows, 'row')} in {plural(len(manifest.files), 'file')},"
            f" {size(total)}"
        )
    return not lag


def _load(inspection: Inspection, asked: Asked) -> bool:
    from gossamer.datasets.export.databases import Database, PostgreSql, Sqlite, load
    from gossamer.datasets.export.keys import KEYS
    from gossamer.datasets.export.opensearch import OpenSearch
    from gossamer.datasets.export.rows import TEXT_COLUMNS

    scheme = asked.to.partition("://")[0]
    if scheme not in ("sqlite", "postgresql", "opensearch+http", "opensearch+https"):
        raise ConfigError(
            "--to: write sqlite:///FILE, postgresql://..., opensearch+http://... or +https://..."
        )
    columns = asked.columns
    if asked.what == "text" and not columns:
        columns = ",".join(dict.fromkeys((*KEYS["text"], *TEXT_COLUMNS)))
    lag = _lag(inspection, asked.what)
    source = _source(inspection, asked.what, columns, asked.where)
    if scheme.startswith("opensearch"):
        loaded = OpenSearch(asked.to).load(source)
    else:
        database: Database = Sqlite(asked.to) if scheme == "sqlite" else PostgreSql(asked.to)
        with closing(database):
            loaded = load(source, database)
    if asked.json:
        show_json({**msgspec.to_builtins(loaded), "unread": lag})
    else:
        for problem in loaded.problems:
            say(safe(problem))
        refused = f", {loaded.rows - loaded.written:,} refused" if loaded.problems else ""
        show(
            f"{safe(loaded.to)}: {plural(loaded.rows, 'row')} in {loaded.table}, {loaded.written:,} written{refused}"
        )
    return not lag and not loaded.problems


def _wacz(inspection: Inspection, asked: Asked) -> bool:
    from gossamer.datasets.export.wacz.writing import write_wacz

    out = asked.out or str(inspection.folder.path / FOLDER / f"{inspection.folder.path.resolve().name}.wacz")
    if "://" in (out := out.removeprefix("file://")):
        raise ConfigError(f"--out {out}: a WACZ is written to a disk; copy it from there")
    written = write_wacz(inspection, Path(out), _size("--texts", asked.texts or "16MiB"))
    if asked.json:
        show_json(written)
        return not written.problems
    for problem in written.problems:
        say(safe(problem))
    if written.texts_left_out:
        say("texts of documents are longer than --texts and left out: ReplayWeb.page will find titles only")
    texts = f" ({written.texts:,} with text)" if written.texts else ""
    show(
        f"{safe(written.file)}: {plural(written.pages, 'page')}{texts}, {plural(written.captures, 'capture')},"
        f" {plural(written.archives, 'archive file')}, {size(written.bytes)}"
    )
    return not written.problems


def _files(inspection: Inspection, asked: Asked, form: str) -> bool:
    from gossamer.datasets.export.file_names import USUAL
    from gossamer.datasets.export.files import COLUMNS, FileForm, write_files

    wanted = cast("FileForm", form)
    out = _out(inspection, asked, form).removeprefix("file://")
    if "://" in out:
        raise ConfigError(f"--out {out}: files by name go to a folder")
    lag = 0 if form == "content" else _lag(inspection, "documents")
    source = _source(inspection, "pages" if form == "content" else "documents", COLUMNS[wanted], asked.where)
    written = write_files(inspection, source, wanted, asked.names or USUAL, Path(out))
    if asked.json:
        show_json({**msgspec.to_builtins(written), "unread": lag})
    else:
        for problem in written.problems:
            say(safe(problem))
        missing = f", {written.missing:,} could not be read" if written.missing else ""
        show(f"{safe(written.folder)}: {plural(written.files, 'file')}, {written.written:,} written{missing}")
    return not lag and not written.missing
