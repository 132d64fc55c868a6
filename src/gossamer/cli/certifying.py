"""Has a proxy of ours answer for https, where the package for certificates is installed."""

from importlib.util import find_spec
from pathlib import Path

from gossamer.cli.terminal.printing import say
from gossamer.replay.conversations import Certify


def certifying(scratch: Path) -> tuple[Certify | None, Path | None]:
    """What makes certificates, and where the one lies that is to be trusted."""
    if find_spec("cryptography") is None:
        say("https:// through the proxy needs another package: pip install 'gossamer[proxy]'")
        return None, None
    from gossamer.replay.certificates import Authority

    authority = Authority()
    file = scratch / "authority.pem"
    file.write_bytes(authority.pem)
    return authority.context, file
