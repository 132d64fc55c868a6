"""A hook of mkdocs: reference pages made from the code, and pages that lie at the root of the repository."""

import ast
import asyncio
import inspect
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))
SOURCE = "https://github.com/gossamer-crawler/gossamer/blob/main/"
FROM_ROOT = {
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "changelog.md": "CHANGELOG.md",
}
_LINK = re.compile(r"\]\((?!https?://|#)([^)\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made here."""
    from mkdocs.structure.files import File

    pages = {name: _root_page(ROOT / file) for name, file in FROM_ROOT.items()}
    pages["decisions.md"] = decisions()
    for name, page in [*pages.items(), *reference().items()]:
        files.append(File.generated(config, name, content=page))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001
    """Let links to files that are not part of the site lead to the repository."""
    here = (ROOT / "docs" / page.file.src_uri).parent

    def led(match: re.Match[str]) -> str:
        target, _, anchor = match[1].partition("#")
        path = (here / target).resolve()
        if not target or files.get_file_from_path(_uri(path)) is not None or not path.is_relative_to(ROOT):
            return match[0]
        address = f"{SOURCE}{path.relative_to(ROOT)}".replace("blob", "tree" if path.is_dir() else "blob", 1)
        return f"]({address}{'#' + anchor if anchor else ''})"

    return _LINK.sub(led, markdown)


def _uri(path: Path) -> str:
    docs = ROOT / "docs"
    return str(path.relative_to(docs)) if path.is_relative_to(docs) else ""


def _root_page(path: Path) -> str:
    """A page of the root, whose links go from there."""
    homes = {file: page for page, file in FROM_ROOT.items()}

    def led(match: re.Match[str]) -> str:
        target = match[1]
        if target in homes:
            return f"]({homes[target]})"
        return f"]({target.removeprefix('docs/')})" if target.startswith("docs/") else f"](../{target})"

    return _LINK.sub(led, path.read_text(encoding="utf-8"))


def decisions() -> str:
    """A line for each decision."""
    parts = [
        "# Decisions\n\nWhy things are as they are, with what was measured and what was tried instead.\n"
    ]
    for path in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        parts.append(f"- [{title}](decisions/{path.name})")
    return "\n".join(parts)


def reference() -> dict[str, str]:
    """Pages by name."""
    return {
        "reference/commands.md": commands(),
        "reference/settings.md": settings(),
        "reference/rest.md": rest(),
        "reference/python.md": python(),
    }


def commands() -> str:
    """Every command with what `--help` says."""
    from gossamer.cli.options.commands import app

    parts = ["# Commands\n\nMade from the code; `gossamer COMMAND --help` says the same.\n"]

    def tell(command: click.Command, above: click.Context | None, level: int) -> None:
        context = click.Context(
            command,
            info_name=command.name,
            parent=above,
            terminal_width=90,
            max_content_width=90,
            help_option_names=["-h", "--help"],
        )
        parts.append(f"{'#' * level} {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n")
        for inner in command.commands.values() if isinstance(command, click.Group) else ():
            if not inner.hidden:
                tell(inner, context, level + 1)

    app.name = "gossamer"
    tell(app, None, 2)
    return "\n".join(parts)


def settings() -> str:
    """Every setting with its default and its meaning, by section."""
    from gossamer.config.config import CrawlConfig
    from gossamer.config.setting_help import all_settings

    parts = [
        "# Settings\n\nMade from the code. Set them by `--set NAME=VALUE`, in a file given by `--config` (`gossamer config` prints one),"
        " or while a crawl runs by `gossamer set`. Durations are written as `10s` or `5 min`, sizes as `64MiB`.\n"
    ]
    section = None
    for one in all_settings(CrawlConfig):
        name = one.path.rpartition(".")[0] or "Top level"
        if name != section:
            section = name
            parts.append(f"## {name}\n")
        meaning = one.meaning[:1].upper() + one.meaning[1:]
        parts.append(f"### {one.path}\n\n{meaning}\n".replace("<", "&lt;"))
        if one.written:
            parts.append(f"```toml\n{one.written}\n```\n")
    return "\n".join(parts)


def rest() -> str:
    """Every path of the REST interface."""
    from gossamer.daemon.config import ServiceConfig
    from gossamer.daemon.daemon import Daemon
    from gossamer.web.api.app import make_app

    with tempfile.TemporaryDirectory() as folder:
        config = ServiceConfig()
        daemon = Daemon.prepare(Path(folder), config)
        described = make_app(daemon, config).openapi()
        asyncio.run(daemon.close())
    parts = [
        f"# REST\n\nMade from the code; a daemon shows the same with a form for each at `/api/v1/docs`.\n\n{described['info']['description']}\n"
    ]
    by_tag: dict[str, list[str]] = {}
    for path, methods in sorted(described["paths"].items()):
        for method, told in methods.items():
            what = (told.get("summary") or "").rstrip(".")
            more = (told.get("description") or "").split("\n\n")[0].rstrip(".")
            text = f"{what}. {more}." if more and more != what else f"{what}."
            text = text.replace("\n", " ").replace("|", "\\|")
            line = f"| `{method.upper()}` | `{path}` | {text} |"
            by_tag.setdefault((told.get("tags") or ["daemon"])[0], []).append(line)
    for tag in described["tags"]:
        if tag["name"] in by_tag:
            parts.append(
                f"## {tag['name']}\n\n{tag['description']}\n\n| method | path | what it does |\n|---|---|---|"
            )
            parts.append("\n".join(by_tag[tag["name"]]) + "\n")
    return "\n".join(parts)


def python() -> str:
    """Public names of the package, and the extension points."""
    import gossamer
    import gossamer.ports

    parts = [
        "# Python interface\n\nMade from the code. How it is used, with examples: [crawl from Python](../how-to/python.md).\n\n"
        "## gossamer\n"
    ]
    parts += [_told(getattr(gossamer, name), name) for name in sorted(gossamer.__all__, key=str.swapcase)]
    parts.append("## gossamer.ports: extension points\n")
    tree = ast.parse(inspect.getsource(gossamer.ports))
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    parts += [_told(getattr(gossamer.ports, name), name) for name in names]
    return "\n".join(parts)


def _told(thing: Any, name: str) -> str:
    about = inspect.getdoc(thing) or ""
    text = [f"### {name}\n"]
    # A protocol cannot be called, and what a record consists of stands in its docstring, in more words.
    bare_record = isinstance(thing, type) and issubclass(thing, msgspec.Struct) and "Attributes:" not in about
    if not isinstance(thing, type) or (bare_record and thing is not _config()):
        text.append(f"```python\n{name}{_signature(thing)}\n```\n")
    text.append(_as_markdown(about))
    if thing is _config():
        text.append("All that it holds: [settings](settings.md).\n")
    for inner, value in vars(thing).items() if isinstance(thing, type) else ():
        if not inner.startswith("_") and inspect.isfunction(value) and value.__doc__:
            text.append(f"#### {name}.{inner}\n\n```python\n{inner}{_signature(value)}\n```\n")
            text.append(_as_markdown(inspect.getdoc(value) or ""))
    return "\n".join(text)


def _config() -> type:
    """The class whose fields are told on a page of their own."""
    from gossamer.config.config import CrawlConfig

    return CrawlConfig


def _as_markdown(docstring: str) -> str:
    """A docstring, whose sections become lists."""
    told: list[str] = []
    section = False
    for line in docstring.splitlines():
        if re.fullmatch(r"(Args|Attributes|Returns|Yields|Raises|Warns):", line):
            section = True
            told += ["", f"**{line.removesuffix(':')}**", ""]
        elif section and (entry := re.fullmatch(r"    (\S.*)", line)):
            name, colon, rest = entry[1].partition(": ")
            plain = re.fullmatch(r"[\w, .*]+", name) and colon
            told.append(f"- `{name}`: {rest}" if plain else f"- {entry[1]}")
        else:
            section = section and (not line or line.startswith(" "))
            told.append(f"  {line.strip()}" if section and line else line)
    return "\n".join(told).replace("<", "&lt;") + "\n"


def _signature(thing: Any) -> str:
    """With a parameter a line, if it is long."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    said = _plain(str(signature))
    if len(said) <= 70:
        return said
    parameters = [_plain(str(one)) for one in signature.parameters.values()]
    kinds = [one.kind for one in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    returned = said.rpartition(")")[2]
    return "(\n" + "".join(f"    {one},\n" for one in parameters) + ")" + returned


def _plain(written: str) -> str:
    """Without the modules of names, and without how enumerations print themselves."""
    written = re.sub(r"<(\w+\.\w+): [^>]*>", r"\1", written)
    return re.sub(r"\b(?:gossamer|collections|typing|pathlib)(?:\.\w+)*\.(\w+)", r"\1", written)
