"""The command `serve`, and those of `gossamer serve-user` on who may log in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gossamer.cli.options.crawl_options import PATH
from gossamer.cli.options.panels import Command, Commands

_FOLDER = click.option(
    "--dir",
    "folder",
    type=PATH,
    default=Path("gossamer-jobs"),
    show_default=True,
    help="The daemon's folder.",
)
_NAME = click.argument("name")
_ROLE = click.Choice(["viewer", "operator"])


def _command(name: str) -> Callable[[Callable[..., Any]], click.Command]:
    return serve_user.command(name=name, cls=Command)


@click.command(cls=Command, epilog="Then open http://127.0.0.1:8470/ in a browser.")
@click.option(
    "--dir",
    "folder",
    type=PATH,
    default=Path("gossamer-jobs"),
    show_default=True,
    help="The daemon's folder: settings, database, jobs.",
)
@click.option("--host", metavar="ADDRESS", help="Listen here; if not given, as service.toml says: 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="If not given: 8470.")
@click.option(
    "--cluster",
    "clusters",
    type=PATH,
    metavar="FOLDER",
    multiple=True,
    help="Show this cluster, too; may be repeated. Those below the folder's jobs/ are shown anyway.",
)
@click.option(
    "--token-file",
    "token_file",
    metavar="auto|FILE|none",
    default="auto",
    show_default=True,
    help="Without accounts, let in who brings the token in this file, made if it is not there. auto:"
    " FOLDER/token, if others can log in to this machine; none: let in all its users.",
)
def serve(
    folder: Path, host: str | None, port: int | None, clusters: tuple[Path, ...], token_file: str
) -> None:
    """Run many crawls as a daemon, with a console. Needs the extra 'console'."""
    from gossamer.cli.serve import run_serve

    run_serve(folder, host, port, clusters, token_file)


@click.group(cls=Commands, name="serve-user")
def serve_user() -> None:
    """Who may log in to the daemon, and programs' tokens. It may be running."""
    from importlib.util import find_spec

    from gossamer.model.errors import ConfigError

    if find_spec("argon2") is None or find_spec("starlette") is None:
        raise ConfigError("gossamer serve-user needs more packages: pip install 'gossamer[console]'")


@_command("add")
@_NAME
@click.option("--role", type=_ROLE, default="viewer", show_default=True, help="Look, or change things too.")
@_FOLDER
def add(name: str, role: str, folder: Path) -> None:
    """Make an account; the password is asked for, or read from standard input."""
    from gossamer.cli.accounts import add_user

    add_user(folder, name, role)


@_command("list")
@click.option("--json", is_flag=True, help="Machine-readable output on standard output.")
@_FOLDER
def list_(folder: Path, *, json: bool) -> None:
    """List accounts and the tokens of each."""
    from gossamer.cli.accounts import list_users

    list_users(folder, as_json=json)


@_command("password")
@_NAME
@_FOLDER
def password(name: str, folder: Path) -> None:
    """Set a new password; who is logged in with the old one is not any more."""
    from gossamer.cli.accounts import change_password

    change_password(folder, name)


@_command("role")
@_NAME
@click.argument("role", type=_ROLE)
@_FOLDER
def role(name: str, role: str, folder: Path) -> None:
    """Let somebody do more, or less."""
    from gossamer.cli.accounts import change_role

    change_role(folder, name, role)


@_command("remove")
@_NAME
@_FOLDER
def remove(name: str, folder: Path) -> None:
    """End an account with its tokens and sessions."""
    from gossamer.cli.accounts import remove_user

    remove_user(folder, name)


@_command("token")
@_NAME
@click.option("--role", type=_ROLE, default="viewer", show_default=True, help="What the program may do.")
@click.option("--label", default="", help="What it is for.")
@click.option("--days", type=click.FloatRange(min=0, min_open=True), help="After how many days it ends.")
@_FOLDER
def token(name: str, role: str, label: str, days: float | None, folder: Path) -> None:
    """Print a token for a program, in an account's name; it may never do more than the account."""
    from gossamer.cli.accounts import make_token

    make_token(folder, name, role=role, label=label, days=days)


@_command("revoke")
@click.argument("token")
@_FOLDER
def revoke(token: str, folder: Path) -> None:
    """End a token, named by its id (see list)."""
    from gossamer.cli.accounts import revoke_token

    revoke_token(folder, token)
