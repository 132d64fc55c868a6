"""Chromium that can resolve no name, looking at pages as they were and as they are replayed."""

import asyncio
import contextlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gossamer.model.url import Url
from gossamer.replay.server import How, View, view

CHROMIUM = shutil.which("chromium")
PATIENCE = 240.0
"""Seconds: a limit for what must not hang, not a measure."""
QUIET_LOOKS = 10
"""How often the text must be found the same, a tenth of a second apart, for a page to be at rest. Each time is a turn
of the page itself, which on a busy machine comes as late as the page's own timers do."""
MOST_LOOKS = 150
SAME_CHANCE = """(() => {
  let state = 1;
  Math.random = () => (state = (state * 48271) % 2147483647) / 2147483647;
})()"""
"""What a page draws by lot differs at each visit to the site itself: here the lots fall alike (Lehmer's generator with
the multiplier of Park and Miller)."""
NO_NAMES = (
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE *.localhost , EXCLUDE 127.0.0.1 , EXCLUDE 127.0.0.2"
)


@contextlib.contextmanager
def viewed(folder: Path, **how: Any) -> Iterator[View]:
    """The archive in `folder`, shown by a server in a thread."""
    ready, ended = threading.Event(), asyncio.Event()
    found: list[View] = []
    failed: list[BaseException] = []
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with view(folder, How(**how)) as shown:
            found.append(shown)
            ready.set()
            await ended.wait()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        if failed:
            raise failed[0]
        yield found[0]
    finally:
        if not failed:
            loop.call_soon_threadsafe(ended.set)
        thread.join(PATIENCE)
        loop.close()


def crawl_whole(folder: Path, *seeds: str, more: Sequence[str] = ()) -> None:
    """Crawl with all that pages show and scripts name, in a process: where Playwright is, a loop runs already."""
    settings = (
        "speculation.follow=true fetch.allow_private=true speculation.min_belief=0 speculation.max_missing=1"
    )
    command = ["crawl", *seeds, "--dir", str(folder), "--requisites", "any", "--min-delay", "0", "--quiet"]
    command += [word for setting in settings.split() for word in ("--set", setting)]
    subprocess.run([sys.executable, "-m", "gossamer", *command, *more], check=True, timeout=PATIENCE)


@contextlib.contextmanager
def closed_chromium(names: str = "") -> Iterator[Any]:
    """The browser, which reaches this machine and names below `localhost`, and knows nobody else.

    Args:
        names: rules of further ones, `MAP *.sim.test 127.0.0.1 ,`.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", NO_NAMES.replace("=", f"={names} ", 1)]
        )
        try:
            yield browser
        finally:
            browser.close()


class Look(msgspec.Struct, frozen=True):
    """A page in a browser.

    Attributes:
        text: of it and its frames, blanks as one.
        loaded: archived addresses of what was loaded, by status below 400.
        left: addresses outside that were really asked for.
        problems: what the browser said was wrong.
    """

    text: str
    loaded: frozenset[str]
    left: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def text_at_rest(page: Any) -> str:
    """The text of a page and its frames, once nothing is loading and it has stopped changing; blanks as one."""
    with contextlib.suppress(Exception):
        page.wait_for_load_state("networkidle", timeout=5_000)
    before, same = _text(page), 0
    for _ in range(MOST_LOOKS):
        page.wait_for_timeout(100)
        now = _text(page)
        before, same = now, same + 1 if now == before else 0
        if same == QUIET_LOOKS:
            break
    return before


def _text(page: Any) -> str:
    texts = []
    for frame in page.frames:
        with contextlib.suppress(Exception):
            texts.append(frame.evaluate("document.body ? document.body.innerText : ''"))
    return " ".join(" | ".join(texts).split())


def look(browser: Any, address: str, archived: Callable[[str], str | None]) -> Look:
    """Open a page, wait until it is at rest, and tell what it shows.

    Args:
        browser: of `closed_chromium`.
        address: of the page.
        archived: the archived address of one that was asked for; `None` if it is none of the archive's.
    """
    context = browser.new_context(viewport={"width": 1000, "height": 4000})
    context.add_init_script(SAME_CHANCE)
    loaded: set[str] = set()
    left: list[str] = []
    problems: list[str] = []

    def answered(response: Any) -> None:
        if response.url.startswith("http") and response.status < 400:
            if known := archived(response.url):
                loaded.add(known)
            elif known is None:
                left.append(response.url)

    def failed(request: Any) -> None:
        if request.failure != "csp" and request.url.startswith("http") and archived(request.url) is None:
            left.append(f"{request.failure} {request.url}")

    try:
        page = context.new_page()
        context.on("response", answered)
        context.on("requestfailed", failed)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.goto(address, wait_until="load")
        text = text_at_rest(page)
        return Look(text, frozenset(loaded), tuple(left), tuple(problems))
    finally:
        context.close()


def live(url: str) -> str | None:
    """The archived address of one at crawl time: itself."""
    parsed = Url.parse(url)
    return parsed.text if parsed is not None else None


def replayed(shown: View) -> Callable[[str], str | None]:
    """The archived address of one that is replayed; empty for what is ours."""

    def archived(address: str) -> str | None:
        url = Url.parse(address)
        if url is None:
            return None
        authority = url.origin.partition("://")[2]
        if authority == shown.home.partition("://")[2] or url.target.startswith("/~gossamer-"):
            return ""
        place = shown.names.place(authority)
        if place is None:
            return None
        known = Url.parse(place.origin + url.target)
        return known.text if known is not None else None

    return archived
