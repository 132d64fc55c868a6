"""What a reviewer would count by hand: sizes, names, docstrings, the direction of imports."""

import ast
import functools
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gossamer"
MODULES = sorted(SOURCE.rglob("*.py"))
BANNED = {"util", "utils", "helper", "helpers", "common", "base", "misc", "manager", "managers", "handler"}
FEWEST_WORDS = 5
"""Of a public docstring: fewer only say the name again."""

DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@functools.cache
def trees() -> dict[Path, ast.Module]:
    """Of all modules; two seconds, which only whoever runs these tests pays."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    """All of a module's tree; a walk of all modules takes a second."""
    return list(ast.walk(trees()[path]))


def module_name(path: Path) -> str:
    """As it is imported."""
    return ".".join(("gossamer", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


KNOWN = frozenset(map(module_name, MODULES))


def imported(path: Path) -> set[str]:
    """Modules of ours that a module imports, within functions and for types alone, too."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in KNOWN else node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found & KNOWN


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Modules that lead back to themselves."""
    found, done = [], set()

    def visit(module: str, above: list[str]) -> None:
        if module in above:
            found.append([*above[above.index(module) :], module])
        elif module not in done:
            for other in sorted(imports[module]):
                visit(other, [*above, module])
            done.add(module)

    for module in sorted(imports):
        visit(module, [])
    return found


def test_no_import_leads_in_a_circle_not_even_for_types() -> None:
    assert circles({"a": {"b"}, "b": {"a"}}) == [["a", "b", "a"]]
    assert circles({module_name(path): imported(path) - {module_name(path)} for path in MODULES}) == []


def test_every_module_says_what_it_is_for_by_its_name_and_docstring() -> None:
    wrong = [
        module_name(path)
        for path in MODULES
        if not ast.get_docstring(trees()[path]) or BANNED & {path.stem, path.parent.name}
    ]
    assert wrong == []


def test_a_room_has_one_class_of_a_name() -> None:
    homes: dict[tuple[str, str], list[str]] = {}
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                room = path.relative_to(SOURCE).parts[0]
                homes.setdefault((room, node.name), []).append(module_name(path))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def strangers(tree: ast.Module) -> Iterator[str]:
    """Private attributes that are reached for in objects which are no instance of the class around."""
    own: dict[ast.Attribute, set[str]] = {}
    for owner in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.Module)):
        inner = [each for each in ast.walk(owner) if isinstance(each, ast.Attribute)]
        known = {each.attr for each in inner if isinstance(each.value, ast.Name) and each.value.id == "self"}
        for each in inner:
            own.setdefault(each, set()).update(known if owner is not tree else ())
    for node, known in own.items():
        if not node.attr.startswith("_") or node.attr.startswith("__"):
            continue
        mine = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        if not mine and node.attr not in known and node.attr not in ("_replace", "_exit"):
            yield ast.unparse(node)


def test_nobody_reaches_into_what_is_private_to_another_class() -> None:
    assert list(strangers(ast.parse("class A:\n def f(self, b): return b._x"))) == ["b._x"]
    found = {module_name(path): list(strangers(tree)) for path, tree in trees().items()}
    assert {module: places for module, places in found.items() if places} == {}


def too_short(tree: ast.Module) -> Iterator[str]:
    """Public names whose docstrings say next to nothing; parts of a private class are not public."""
    private = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, DEFINITIONS) and node.name.startswith("_")
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS) and node not in private:
            text = ast.get_docstring(node)
            if text is not None and len(text.split()) < FEWEST_WORDS:
                yield f"{node.name}: {text}"


def test_public_docstrings_say_more_than_the_name() -> None:
    found = {module_name(path): list(too_short(tree)) for path, tree in trees().items()}
    assert {module: names for module, names in found.items() if names} == {}


REASONS = {"reason", "detail", "why", "parked", "ended", "held_by", "problem", "said"}
"""What reasons, and what is said of them, are called."""
READING = {
    "startswith",
    "endswith",
    "partition",
    "rpartition",
    "split",
    "removeprefix",
    "removesuffix",
    "find",
}
READING |= {"index", "fullmatch", "match", "search"}
READERS = {
    "model/reasons/earlier.py",
    "model/reasons/reason.py",
    "config/settings_reader.py",
    "control/views/views.py",
}
"""What older versions wrote, what leads a problem of a setting, what msgspec says: read in one place each."""


def is_reason(node: ast.expr) -> bool:
    """Whether an expression is a reason by its name, or the text of one."""
    match node:
        case ast.Call(func=ast.Name(id="str"), args=[inner]) | ast.Subscript(value=inner):
            return is_reason(inner)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in REASONS
    return False


def is_text(node: ast.expr) -> bool:
    """Whether an expression is a text that stands in the code, or a choice of such."""
    match node:
        case ast.Constant(value=str(value)):
            return value != ""
        case ast.Tuple(elts=inner) | ast.Set(elts=inner) | ast.List(elts=inner):
            return any(map(is_text, inner))
    return isinstance(node, ast.JoinedStr)


def sentences_read(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Where a reason is compared with a text, searched, or taken apart."""
    for node in nodes:
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = [left, *others]
                within = any(isinstance(op, ast.In | ast.NotIn) for op in ops) and any(map(is_reason, others))
                if within or (any(map(is_reason, sides)) and any(map(is_text, sides))):
                    yield f"{node.lineno}: {ast.unparse(node)}"
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if name in READING:
                if is_reason(value) or any(map(is_reason, args)):
                    yield f"{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize(
    "code",
    [
        "record.reason == 'dead'",
        "'429' in reason",
        "any(n in it.detail for n in x)",
        "str(why).startswith('a')",
        "_REACHED.fullmatch(job.reason)",
        "record.parked.partition(':')[0] in RULES",
        "ended in ('a', 'b')",
    ],
)
def test_a_sentence_that_is_read_is_found(code: str) -> None:
    assert list(sentences_read(ast.walk(ast.parse(code))))


def test_nothing_reads_a_sentence() -> None:
    """Decisions are values (DESIGN 1.12)."""
    found = [
        f"{path.relative_to(SOURCE)}:{one}"
        for path in MODULES
        if str(path.relative_to(SOURCE)) not in READERS
        for one in sentences_read(nodes(path))
    ]
    assert found == []


NAMED = re.compile(r"`([a-z_]+(?:[./][A-Za-z_]+)*)`")
FILES = ("py", "toml", "js", "css", "html")
NOT_OURS = {"report.json"}
"""A file of a crawl's folder."""


def is_there(name: str, package: Path) -> bool:
    """Whether a path or a dotted name leads anywhere, from the package or from the root on."""
    for start in (package, SOURCE):
        if "/" in name or name.rpartition(".")[2] in FILES:
            if (start / name).exists():
                return True
            continue
        place, left = start, name.split(".")
        while left and (place / left[0]).is_dir():
            place /= left.pop(0)
        module = place / f"{left[0]}.py" if left else place / "__init__.py"
        if not left or (module in trees() and (len(left) == 1 or has_name(trees()[module], left[1]))):
            return True
    return False


def has_name(tree: ast.Module, name: str) -> bool:
    """Whether a module has a class, function or value of that name."""
    return any(
        getattr(node, "name", "") == name
        or any(isinstance(each, ast.Name) and each.id == name for each in getattr(node, "targets", ()))
        or (isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name)
        for node in tree.body
    )


def lost(text: str, package: Path) -> Iterator[str]:
    """Dotted names and paths in backticks that lead nowhere."""
    for name in NAMED.findall(text):
        if ("." in name or "/" in name) and name not in NOT_OURS and not is_there(name, package):
            yield name


def test_what_the_docstring_of_a_package_names_is_there() -> None:
    known = "`read.no`, `app.live`, `web.api`, `http.HttpModule`, `guard.py`, `http.Nothing`, `no/such.py`"
    assert list(lost(known, SOURCE / "fetch")) == ["read.no", "app.live", "http.Nothing", "no/such.py"]
    found = {
        module_name(path): list(lost(ast.get_docstring(trees()[path]) or "", path.parent))
        for path in MODULES
        if path.name == "__init__.py"
    }
    assert {package: names for package, names in found.items() if names} == {}


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
