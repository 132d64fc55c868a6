"""Benchmarks, most of which no test runs, take from Gossamer only what is there."""

import ast
import importlib
import importlib.util
from pathlib import Path

from every import every

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@every("path", sorted(BENCHMARKS.rglob("*.py")))
def test_what_a_benchmark_imports_exists(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    missing = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gossamer"):
            module = importlib.import_module(str(node.module))
            missing += [f"{node.module}.{one.name}" for one in node.names if not _has(module, one.name)]
    assert not missing


def _has(module: object, name: str) -> bool:
    if hasattr(module, name):
        return True
    return importlib.util.find_spec(f"{getattr(module, '__name__', '')}.{name}") is not None
