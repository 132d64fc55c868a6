"""The documentation as a site: it builds without a warning, and the tutorial can be followed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_documents import MADE, ROOT, app

sys.path.append(str(ROOT / "scripts"))
import docs_pages


def test_made_pages_are_those_that_others_link_to() -> None:
    made = {*docs_pages.reference(), *docs_pages.FROM_ROOT, "decisions.md"}
    assert {ROOT / "docs" / name for name in made} == MADE


def test_the_reference_tells_everything() -> None:
    pages = docs_pages.reference()
    assert all(f"## gossamer {name}\n" in pages["reference/commands.md"] for name in app.commands)
    assert "### politeness.min_delay\n" in pages["reference/settings.md"]
    assert "| `POST` | `/api/v1/jobs` |" in pages["reference/rest.md"]
    assert "### crawl\n" in pages["reference/python.md"]
    assert "### ProtocolModule\n" in pages["reference/python.md"]


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the extra `docs` is not installed")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "site" / "reference" / "settings" / "index.html").exists()
    pages = "".join(page.read_text("utf-8") for page in (tmp_path / "site").rglob("*.html"))
    assert "```" not in pages  # a block that mkdocs took for text
    loaded = re.findall(
        r"<(?:script|img|iframe)[^>]+src=\"(https?:[^\"]+)|<link[^>]+stylesheet[^>]+href=\"(https?:[^\"]+)",
        pages,
    )
    assert loaded == []
