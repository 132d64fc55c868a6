"""Copies a crawl to the store of its settings."""

import os
import signal
import sys
import time
from pathlib import Path

import msgspec

from gossamer.assembly.folder_lock import Busy, is_locked
from gossamer.assembly.private import keep_private
from gossamer.cli.exits import EXIT_INTERRUPTED
from gossamer.cli.terminal.printing import plural, safe, say, show_json
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml
from gossamer.datasets.upload.ledger import FOLDER, Done
from gossamer.datasets.upload.proof import prove_upload
from gossamer.inspect.inspection import crawl_in
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError

_TURN = 0.5
"""Seconds after which it is tried again whether another process has ended."""


def run_upload(path: Path, *, once: bool, wait: bool, json: bool, quiet: bool) -> None:
    """Send what the store does not have; interrupted, what is half sent is thrown away there; exit 130.

    Raises:
        Busy: another process does this.
        ConfigError: no crawl lives in `path`, it names no store, or that cannot be used.
        StorageError: the store or the disk refuses.
    """
    keep_private()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(EXIT_INTERRUPTED))
    address = load(CrawlConfig, read_toml(crawl_in(path).config)).storage.upload
    if not address:
        raise ConfigError(
            f"{path}: names no store. '{command_line('resume', path, '--set', 'storage.upload=ADDRESS')}' gives it one."
        )
    prove_upload(address, path)
    done = _in_turn(path, address, once=once, wait=wait)
    if json:
        show_json(msgspec.to_builtins(done))
    elif not quiet:
        say(f"{plural(done.files, 'file')} in {safe(address)}, {plural(done.sent, 'file')} sent now")
        if not done.whole:
            say(
                "the rest follows when the crawl has ended well; if it was killed:"
                f" '{safe(command_line('resume', path))}'"
            )


def _in_turn(path: Path, address: str, *, once: bool, wait: bool) -> Done:
    """Upload, once no other process does, if that is to be waited for; nobody waits longer than who began him lives."""
    from gossamer.datasets.upload.uploading import (
        Upload,
    )  # which needs fsspec: `prove_upload` has looked for it

    begun_by = os.getppid()
    while True:
        try:
            upload = Upload(path, address)
        except Busy:
            if not wait:
                raise
        else:
            try:
                return upload.run(once=once)
            finally:
                upload.close()
        while is_locked(path / FOLDER):
            if os.getppid() != begun_by:
                sys.exit(EXIT_INTERRUPTED)
            time.sleep(_TURN)
