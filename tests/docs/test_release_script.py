"""What a release says of itself agrees: versions, Pythons, licences."""

import re
import sys

import pytest
from test_documents import PROJECT, ROOT

sys.path.append(str(ROOT / "scripts"))
import licences

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
RELEASING = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")


def test_the_changelog_begins_with_this_version_or_what_comes_after_it() -> None:
    newest = re.search(r"^## ([^\s,]+)", CHANGELOG, re.MULTILINE)
    assert newest is not None
    assert newest[1] in ("Unreleased", PROJECT["version"])


def test_pythons_that_are_claimed_are_run() -> None:
    claimed = {one.rpartition(" ")[2] for one in PROJECT["classifiers"] if "Python :: 3." in one}
    rows = re.findall(r"^\| ([\d., ]+) \| (.*?) \|", RELEASING, re.MULTILINE)
    run = {python for pythons, what in rows if "nothing" not in what for python in pythons.split(", ")}
    assert claimed == run
    assert PROJECT["requires-python"] == f">={min(claimed, key=lambda one: int(one.partition('.')[2]))}"


def test_ci_runs_what_is_told() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "scripts/pythons trixie forky" in ci
    assert "scripts/release" in ci


def test_types_are_told_to_who_uses_them() -> None:
    assert (ROOT / "src" / "gossamer" / "py.typed").exists()


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("Apache Software License; MIT License", True),
        ("LGPL-2.1-only OR MIT", True),
        ("(MIT OR GPL-3.0-only) AND BSD-3-Clause", True),
        ("Mozilla Public License 2.0 (MPL 2.0)", True),
        ("GNU General Public License v3 (GPLv3)", False),
        ("MIT AND GPL-3.0-only", False),
        ("BSD License; GNU Affero General Public License v3", False),
        ("SSPL-1.0", False),
        ("UNKNOWN", False),
        ("", False),
    ],
)
def test_licences_that_go_with_ours(licence: str, allowed: bool) -> None:
    assert licences.allowed(licence) is allowed
