import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from audited import Audit, Foreign, links, page
from small_site import serving, small_site


@pytest.fixture(scope="session")
def foreign() -> Iterator[tuple[str, Counter[tuple[str, str]]]]:
    """Origin of the foreign server, and how often each (method, target) was asked for there."""
    asked: Counter[tuple[str, str]] = Counter()
    with serving(type("Asked", (Foreign,), {"asked": asked}), "127.0.0.2") as address:
        yield address.rstrip("/"), asked


@pytest.fixture(scope="session")
def site(foreign: tuple[str, Counter[tuple[str, str]]]) -> Iterator[str]:
    """Address of a site with two pages that hold the same links to the foreign server, and one broken of its own."""
    there = links(foreign[0])
    pages = {
        "": page("front page", f'<a href="/second">The second page</a>{there}'),
        "second": page(
            "second page", f'<a href="/">The front</a><a href="/missing">What is missing</a>{there}'
        ),
        "robots.txt": "",
    }
    with small_site(pages.get) as address:
        yield address


@pytest.fixture(scope="session")
def audited(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an audit of the site; not to be changed."""
    folder = tmp_path_factory.mktemp("audited")
    Audit(site, folder)("--output", "d", "--json")
    return folder / "d"


@pytest.fixture
def audit(audited: Path, tmp_path: Path) -> Audit:
    """Audits a copy of that folder, from its cache."""
    shutil.copytree(audited, tmp_path / "d")
    return Audit("d", tmp_path)
