"""Keeps files that settings of jobs name within the folders that the daemon was given."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.config.dotted import join_path, setting_keys
from gossamer.config.older_hosts import renewed_keys
from gossamer.config.place_config import CredentialsConfig
from gossamer.config.secret_values import is_reference
from gossamer.config.shape import Kind, Shape, settings_of
from gossamer.model.url import Url
from gossamer.policy.places.place import read_place

SHARED = "politeness.shared"
PATHS = (
    "seeds_file",
    "seeds_watch",
    SHARED,
    "fetch.ca_file",
    "fetch.cookies_file",
    "fetch.folders",
    "fetch.known_hosts",
    "fetch.ssh_key",
    "dns.compact.folder",
    "storage.archive",
    "storage.log",
    "storage.state",
    "storage.temporary",
)
"""Settings that name files or folders. Whoever may create jobs from afar must not read, through the
messages, the archive or a name server's questions, what else lies on this machine."""
_FILES = (".ca_file", ".certificate", ".key")
"""How those end that stand with receivers and places."""
VARIABLES = "GOSSAMER_SECRET_"
"""Secrets of jobs come from environment variables whose names begin so; all others are the daemon's own."""


def followed(path: Path) -> Path | None:
    """Where a path leads through `~` and all links; `None` if nowhere: no such user, a ring of links."""
    try:
        return path.expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def is_within(path: Path, roots: Sequence[Path]) -> bool:
    """Whether a path, followed through all links, lies in one of the folders."""
    real = followed(path)
    if real is None:
        return False
    return any(real == root or root in real.parents for root in map(followed, roots))


def confinement_problems(
    config: CrawlConfig,
    roots: Sequence[Path],
    secrets: Mapping[str, Sequence[str]],
    ours: Sequence[str] = (),
) -> list[str]:
    """What a job's settings name that lies elsewhere, and secrets that could not be kept.

    Args:
        config: settings.
        roots: folders in which files may lie.
        secrets: references to secrets, with the origins they are for.
        ours: files that the daemon itself has put into the settings.
    """
    problems = [
        *_aimed(config, roots, secrets),
        *_filled(config, roots, secrets),
        *_told(config, roots, secrets),
    ]
    if config.storage.upload:
        problems.append(
            "storage.upload: a job does not choose where the daemon's own credentials write; 'gossamer export'"
            " and 'gossamer upload' take its results away"
        )
    allowed = ", ".join(map(str, roots))
    for path, value in _leaves(config, CrawlConfig, []):
        shape, text = value
        if shape.secret:
            problems += _secret_problems(path, text, roots)
        elif _names_file(path) and text and text not in ours and not is_within(Path(text), roots):
            problems.append(f"{path}: {text!r} does not lie below a folder that jobs may use ({allowed})")
    return problems


def _aimed(config: CrawlConfig, roots: Sequence[Path], secrets: Mapping[str, Sequence[str]]) -> list[str]:
    """Secrets of the daemon that would be sent to hosts they are not for, or where others might listen."""
    problems = []
    for name, here in config.place.items():
        if here.credentials is None:
            continue
        at = ["place", name, "credentials"]
        if here.credentials.scheme == "negotiate" and here.credentials.username is None:
            problems.append(
                f"{join_path(at)}.scheme: negotiate would show the daemon's own ticket; give a username"
            )
        for path, (shape, reference) in _leaves(here.credentials, CredentialsConfig, at):
            if not shape.secret or not is_reference(reference) or _secret_problems(path, reference, roots):
                continue
            origin = read_place(name).origin
            if not any(_same(origin, known) for known in secrets.get(reference, ())):
                problems.append(f"{path}: {reference} is not for {origin}{_MAY_SAY}")
            elif not config.fetch.verify_tls or config.fetch.ca_file:
                problems.append(f"{path}: needs fetch.verify_tls, and the system's certificates")
    return problems


def _filled(
    config: CrawlConfig, roots: Sequence[Path], secrets: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Secrets of the daemon that a log-in would send to origins they are not for, or where others might listen."""
    for name, recipe in config.login.items():
        for field, reference in recipe.fields.items():
            path = join_path(["login", name, "fields", field])
            if not is_reference(reference) or _secret_problems(path, reference, roots):
                continue
            known = secrets.get(reference, ())
            aims = (recipe.page, *recipe.origins)
            if wrong := [aim for aim in aims if not any(_same(aim, origin) for origin in known)]:
                yield f"{path}: {reference} is not for {wrong[0]}{_MAY_SAY}"
            elif not config.fetch.verify_tls or config.fetch.ca_file:
                yield f"{path}: needs fetch.verify_tls, and the system's certificates"


def _told(config: CrawlConfig, roots: Sequence[Path], secrets: Mapping[str, Sequence[str]]) -> list[str]:
    """Secrets of the daemon that would be sent to receivers of notices they are not for."""
    problems = []
    for name, receiver in config.notify.items():
        at = join_path(["notify", name])
        if is_reference(receiver.to):
            problems += _secret_problems(f"{at}.to", receiver.to, roots)
            if receiver.to not in secrets:
                problems.append(f"{at}.to: {receiver.to}{_NOT_LISTED}")
        if not is_reference(receiver.password):
            continue
        for_ = secrets.get(receiver.password, ())
        aims = f"smtp://{receiver.server}" if receiver.to.startswith("mailto:") else receiver.to
        if not any(aims == known or _same(aims, known) for known in for_):
            problems.append(f"{at}.password: {receiver.password}{_NOT_LISTED}")
        elif receiver.ca_file or receiver.tls == "none":
            problems.append(f"{at}.password: needs TLS, and the system's certificates")
    return problems


_MAY_SAY = ". Who owns the daemon may say that it is, under [security.secrets] in service.toml"
_NOT_LISTED = (
    " is not for this receiver: who owns the daemon may say it is, in [security.secrets] of service.toml"
)


def _names_file(path: str) -> bool:
    return (
        path in PATHS
        or path.startswith("fetch.folders.")
        or (path.startswith(("notify.", "place.")) and path.endswith(_FILES))
    )


def _same(origin: str, other: str) -> bool:
    one, two = Url.parse(origin), Url.parse(other)
    return one is not None and two is not None and one.origin == two.origin


def change_problems(changes: Mapping[str, Any], roots: Sequence[Path]) -> list[str]:
    """What changes of a running crawl name that lies elsewhere."""
    values = {setting_path(path): value for path, value in changes.items()}
    problems = [f"{SHARED}: all jobs of a daemon share theirs"] * (SHARED in values)
    for path in PATHS:
        value = values.get(path)
        if isinstance(value, str) and value and not is_within(Path(value), roots):
            problems.append(f"{path}: {value!r} does not lie below a folder that jobs may use")
    return problems


def setting_path(path: str) -> str:
    """A path in the one form in which settings are compared; what is no path stays as it is."""
    try:
        return join_path(renewed_keys(setting_keys(path)))
    except ValueError:
        return path


def _secret_problems(path: str, value: str, roots: Sequence[Path]) -> list[str]:
    kind, _, name = value.partition(":")
    if not value:
        return []
    if kind == "env":
        wrong = not name.startswith(VARIABLES)
        return [f"{path}: name a variable that begins with {VARIABLES}"] * wrong
    if kind == "file":
        wrong = not is_within(Path(name), roots)
        return [f"{path}: the file does not lie below a folder that jobs may use"] * wrong
    return [
        f"{path}: a secret is not kept with a job. Put it into a file below one of the daemon's roots and"
        f' write "file:PATH", or into an environment variable of the daemon and write "env:{VARIABLES}NAME"'
    ]


def _leaves(
    value: Any, struct_type: type[msgspec.Struct], path: list[str]
) -> Iterator[tuple[str, tuple[Shape, str]]]:
    """(dotted path, (shape, text)) of every single text in a tree of settings."""
    for setting in settings_of(struct_type):
        yield from _within(getattr(value, setting.name), setting.shape, [*path, setting.key])


def _within(value: Any, shape: Shape, path: list[str]) -> Iterator[tuple[str, tuple[Shape, str]]]:
    if value is None:
        return
    if shape.kind is Kind.TABLE:
        yield from _leaves(value, shape.core, path)
    elif shape.kind is Kind.LEAF:
        if isinstance(value, str):
            yield join_path(path), (shape, str(value))
    else:
        assert shape.item is not None
        members = value.items() if shape.kind is Kind.MAPPING else enumerate(value)
        for key, inner in members:
            yield from _within(inner, shape.item, [*path, str(key)])
