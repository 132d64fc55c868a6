"""What a reviewer would count by hand: sizes, names, docstrings, the direction of imports."""

import ast
import functools
import gc
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gossamer"
MODULES = sorted(SOURCE.rglob("*.py"))
BANNED = {"util", "utils", "helper", "helpers", "common", "base", "misc", "manager", "managers", "handler"}
FEWEST_WORDS = 5
"""Of a public docstring: fewer only say the name again."""

DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def tree_of(path: Path) -> ast.Module:
    """What a module says."""
    return ast.parse(path.read_text(encoding="utf-8"))


class Findings(NamedTuple):
    """What is asked of a module; its tree is not kept, or each look for cycles would go through all of them."""

    says: bool
    imports: set[str]
    classes: list[str]
    strangers: list[str]
    too_short: list[str]
    sentences: list[str]


@functools.cache
def findings() -> dict[Path, Findings]:
    """Of all modules; some seconds, which only whoever runs these tests pays."""
    gc.disable()  # else a third of it is spent on looking for cycles in trees
    try:
        return {path: look(tree_of(path)) for path in MODULES}
    finally:
        gc.enable()


Places = list[tuple[ast.AST, tuple[ast.ClassDef, ...]]]
"""Nodes, each with the classes around it."""


def places(tree: ast.AST) -> Places:
    """All of a tree, but for what says whether a name is read or written: a third of all that `ast.walk` gives."""
    found: Places = [(tree, ())]
    for node, around in found:
        if isinstance(node, ast.ClassDef):
            around = (*around, node)
        for value in vars(node).values():
            if isinstance(value, list):
                found += [(inner, around) for inner in value if isinstance(inner, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                found.append((value, around))
    return found


def look(tree: ast.Module) -> Findings:
    """All that is asked, from one walk where it needs all of a tree."""
    found = places(tree)
    nodes = [node for node, _ in found]
    return Findings(
        says=bool(ast.get_docstring(tree)),
        imports=imported(nodes),
        classes=[node.name for node in nodes if isinstance(node, ast.ClassDef)],
        strangers=list(strangers(found)),
        too_short=list(too_short(tree)),
        sentences=list(sentences_read(nodes)),
    )


def module_name(path: Path) -> str:
    """As it is imported."""
    return ".".join(("gossamer", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


KNOWN = frozenset(map(module_name, MODULES))


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    """Modules of ours that a module imports, within functions and for types alone, too."""
    found = set()
    for node in nodes:
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
    imports = {module_name(path): found.imports for path, found in findings().items()}
    assert circles({module: others - {module} for module, others in imports.items()}) == []


def test_every_module_says_what_it_is_for_by_its_name_and_docstring() -> None:
    wrong = [
        module_name(path)
        for path, found in findings().items()
        if not found.says or BANNED & {path.stem, path.parent.name}
    ]
    assert wrong == []


def test_a_room_has_one_class_of_a_name() -> None:
    homes: dict[tuple[str, str], list[str]] = {}
    for path, found in findings().items():
        for name in found.classes:
            if not name.startswith("_"):
                room = path.relative_to(SOURCE).parts[0]
                homes.setdefault((room, name), []).append(module_name(path))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def is_own(node: ast.Attribute, *names: str) -> bool:
    """Whether it is an attribute of what is called so, `self` for one."""
    return isinstance(node.value, ast.Name) and node.value.id in names


def strangers(found: Places) -> Iterator[str]:
    """Private attributes that are reached for in objects which are no instance of the class around."""
    known: dict[ast.ClassDef, set[str]] = {}
    private = [
        (node, around)
        for node, around in found
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and node.attr[:2] != "__"
    ]
    for node, around in private:
        if is_own(node, "self"):
            for owner in around:
                known.setdefault(owner, set()).add(node.attr)
    for node, around in private:
        mine = is_own(node, "self", "cls") or any(node.attr in known.get(owner, ()) for owner in around)
        if not mine and node.attr not in ("_replace", "_exit"):
            yield ast.unparse(node)


def test_nobody_reaches_into_what_is_private_to_another_class() -> None:
    assert list(strangers(places(ast.parse("class A:\n def f(self, b): return b._x")))) == ["b._x"]
    assert list(strangers(places(ast.parse("class A:\n def f(self, b): return self._x, b._x")))) == []
    assert {module_name(path): it.strangers for path, it in findings().items() if it.strangers} == {}


def too_short(node: ast.AST) -> Iterator[str]:
    """Public names whose docstrings say next to nothing; parts of a private class are not public."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.expr):
            continue
        if isinstance(inner, DEFINITIONS):
            if inner.name.startswith("_"):
                continue
            text = ast.get_docstring(inner)
            if text is not None and len(text.split()) < FEWEST_WORDS:
                yield f"{inner.name}: {text}"
        yield from too_short(inner)


def test_public_docstrings_say_more_than_the_name() -> None:
    code = "class A:\n 'An A.'\n def _f(self):\n  'F.'\n  def g():\n   'G.'\nif x:\n def h():\n  'H.'"
    assert list(too_short(ast.parse(code))) == ["A: An A.", "h: H."]
    assert {module_name(path): it.too_short for path, it in findings().items() if it.too_short} == {}


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
    """Decisions are values (`gossamer.model.reasons`)."""
    found = [
        f"{path.relative_to(SOURCE)}:{one}"
        for path, it in findings().items()
        if str(path.relative_to(SOURCE)) not in READERS
        for one in it.sentences
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
        if not left or (module.exists() and (len(left) == 1 or has_name(tree_of(module), left[1]))):
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
        module_name(path): list(lost(ast.get_docstring(tree_of(path)) or "", path.parent))
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


def test_no_two_files_of_tests_have_the_same_name() -> None:
    """They are no packages: pytest would import the first for both."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")
    assert [name for name, times in names.items() if times > 1] == []


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    for path in project_files():
        content = path.read_bytes()
        for needle in NEEDLES:
            assert needle.encode() not in content, f"{path.relative_to(ROOT)}: {needle}"
