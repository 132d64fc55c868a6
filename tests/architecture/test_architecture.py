"""What a reviewer would count by hand: sizes, names, docstrings, the direction of imports."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gossamer"
MODULES = sorted(SOURCE.rglob("*.py"))
NAMES = [str(path.relative_to(SOURCE)) for path in MODULES]

LINES_OF_A_FUNCTION = 50
PARAMETERS = 6
BANNED = {"util", "utils", "helper", "helpers", "common", "base", "misc", "manager", "managers", "handler"}

MANY_PARAMETERS = {
    "engine/settlement/settlement.py:Settlement.__init__": "the hub of the engine, made in one place only",
}
LONG_FUNCTIONS: dict[str, str] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> Iterator[tuple[str, Function]]:
    """(`file:name` or `file:Class.name`, node) of every function and method."""
    file = path.relative_to(SOURCE)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (
                (f"{file}:{node.name}.{item.name}", item) for item in node.body if isinstance(item, Function)
            )
    owned = {item for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for item in node.body}
    for node in ast.walk(tree):
        if isinstance(node, Function) and node not in owned:
            yield f"{file}:{node.name}", node


def parameters(node: Function) -> list[str]:
    """Names that a caller may give."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in every if argument.arg not in ("self", "cls")]


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_a_function_is_short_and_takes_few_parameters(path: Path) -> None:
    for name, node in functions(path):
        assert node.end_lineno is not None
        if name not in LONG_FUNCTIONS:
            assert node.end_lineno - node.lineno + 1 <= LINES_OF_A_FUNCTION, name
        if name not in MANY_PARAMETERS:
            assert len(parameters(node)) <= PARAMETERS, name


def test_exemptions_are_still_needed() -> None:
    found = {name: node for path in MODULES for name, node in functions(path)}
    for name in MANY_PARAMETERS:
        assert len(parameters(found[name])) > PARAMETERS, name
    for name in LONG_FUNCTIONS:
        node = found[name]
        assert node.end_lineno is not None
        assert node.end_lineno - node.lineno + 1 > LINES_OF_A_FUNCTION, name


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_a_name_says_something(path: Path) -> None:
    assert not BANNED & {path.stem, path.parent.name}


def test_imports_point_rightwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_every_room_stands_in_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = settings["tool"]["importlinter"]["contracts"]
    named = {room.strip() for layer in contract["layers"] for room in layer.split("|")}
    rooms = {path.stem for path in SOURCE.iterdir() if path.name[0] not in "_." and path.name != "py.typed"}
    assert named == rooms


# Put together from parts, so that this file does not hold what it looks for.
NEEDLES = [
    *("/" + "work/main", "/" + "work/shared", "/" + "tmp/w/", "/" + "root/"),
    *("py" + "pi.org", "files.python" + "hosted", "opt/" + "pypi"),
]


def project_files() -> Iterator[Path]:
    """Every text of the project."""
    for folder in ("src", "tests", "docs", "benchmarks", "scripts", ".ci"):
        yield from (
            path
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and path.suffix != ".pyc" and ".hypothesis" not in path.parts
        )
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "pyproject.toml"))


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    for path in project_files():
        content = path.read_bytes()
        for needle in NEEDLES:
            assert needle.encode() not in content, f"{path.relative_to(ROOT)}: {needle}"
