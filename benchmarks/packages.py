"""Debian's packages as material: downloaded by apt, never installed."""

import subprocess
from pathlib import Path

__all__ = ["MissingPackageError", "download"]

_DOWNLOAD_SECONDS = 900.0


class MissingPackageError(Exception):
    """A package could not be had; the text says which and why."""


def download(package: str, place: Path) -> Path:
    """The package's file, in `place`, by apt and without installing it.

    Raises:
        MissingPackageError: no apt, no mirror, or another release that lacks it.
    """
    command = ["apt-get", "-o", "APT::Sandbox::User=root", "-qq", "download", package]
    try:
        done = subprocess.run(command, cwd=place, capture_output=True, timeout=_DOWNLOAD_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingPackageError(f"{package}: {error}") from error
    archive = next(place.glob(f"{package}_*.deb"), None)
    if done.returncode or archive is None:
        raise MissingPackageError(f"{package}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return archive
