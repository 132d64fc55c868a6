"""A daemon with a job whose pages were followed: two changed, with hostile texts, and the receiver refused that."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from api_client import CHEAP
from live_service import LiveService, live_service
from receivers import Hook
from watched_archive import WatchedArchive, page

from gossamer.watch.following import Following

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
NAME = "shop <b>"


@contextlib.contextmanager
def watched_job(folder: Path, hook: Hook) -> Iterator[LiveService]:
    """Its job is `day`; it watches all pages under `NAME`."""
    root = folder / "jobs"
    watch = {"name": NAME, "match": "/*", "notify": [f"{hook.url}/S3CRET"], "gather": 0}
    archive = WatchedArchive(root / "crawl", watch=[watch])

    def follow() -> None:
        following = Following(archive.path, archive.clock)
        following.catch_up()
        while following.step():
            pass
        following.close()

    follow()
    for _ in range(5):
        for name in ("a", "b"):
            archive.visit(name, page("One", "Two", "Three"))
    follow()
    hook.answers = [410]
    shown = HOSTILE.replace("<", "&lt;")
    for name in ("a", "b"):
        archive.visit(name, page("One", "Two", shown, title=shown))
    follow()
    archive.close()
    with live_service(folder / "service", security=CHEAP, roots=[str(root)]) as service:
        service.run(service.daemon.adopt("day", str(archive.path), who="me"))
        yield service
