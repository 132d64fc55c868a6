"""The image and the compose file name only what there is, and hold what the how-to page promises."""

import re
import shlex
import tomllib
from pathlib import Path

import click
import yaml

from gossamer.cli.options.commands import app

ROOT = Path(__file__).parents[2]
IMAGE = (ROOT / "deploy/container/Containerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "deploy/container/compose.yaml").read_text(encoding="utf-8"))
(SERVICE,) = COMPOSE["services"].values()


def test_the_image_is_made_of_files_and_extras_that_there_are() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", IMAGE, re.MULTILINE)
    names = [name for line in copied for name in shlex.split(line)]
    assert names
    let_in = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert let_in == (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    for name in names:
        assert (ROOT / name).exists()
        assert f"!{name}" in let_in
    extras = re.search(r"/source\[(.+?)\]", IMAGE)
    assert extras
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert set(extras[1].split(",")) == set(known) - {"cluster", "test", "check", "docs", "bench"}


def test_nothing_runs_as_root_or_writes_beside_the_crawls() -> None:
    assert re.search(r"^USER 10001:10001$", IMAGE, re.MULTILINE)
    assert IMAGE.index("USER ") < IMAGE.index("ENTRYPOINT")
    assert (SERVICE["read_only"], SERVICE["cap_drop"]) == (True, ["ALL"])
    assert SERVICE["security_opt"] == ["no-new-privileges:true"]
    assert [volume.partition(":")[0] for volume in SERVICE["volumes"]] == list(COMPOSE["volumes"])
    assert all(port.startswith("127.0.0.1:") for port in SERVICE["ports"])


def test_the_daemon_is_started_as_the_command_understands_it() -> None:
    command, *words = SERVICE["command"]
    context = click.Context(app)
    found = app.get_command(context, command)
    assert found is not None
    given = found.make_context(command, list(words)).params
    assert str(given["folder"]) == SERVICE["volumes"][0].partition(":")[2]
    assert (ROOT / "deploy/container" / SERVICE["build"]["context"]).resolve() == ROOT
    assert (ROOT / SERVICE["build"]["dockerfile"]).is_file()
