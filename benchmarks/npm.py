"""Documentation as packages of npm hold it: pages that people wrote, in versions that stay what they are."""

import subprocess
import tarfile
from pathlib import Path

PACK_SECONDS = 120.0
PACKAGES = (
    ("npm@10.9.0", "docs/output", "static"),
    ("paper@0.12.20", "dist/docs", "scripted"),
    ("vis@4.21.0", "", "scripted"),
    ("reveal.js@3.9.2", "", "scripted"),
)
"""(package, the folder of it that is served, how its pages are made)."""


def unpacked(package: str, within: str, place: Path) -> Path | None:
    """A folder of a package, unpacked below `place`; `None` if npm is not there, or cannot have it."""
    try:
        done = subprocess.run(
            ["npm", "pack", package, "--silent"],
            cwd=place, capture_output=True, text=True, timeout=PACK_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode:
        return None
    folder = place / package.partition("@")[0]
    with tarfile.open(place / done.stdout.split()[-1]) as packed:
        packed.extractall(folder, filter="data")
    return folder / "package" / within
