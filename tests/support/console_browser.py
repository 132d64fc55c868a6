"""A real Chromium without a window, and what every page shown in it must keep."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

CHROMIUM = shutil.which("chromium")
DESKTOP, PHONE = (1280, 860), (360, 740)
EXPECTED = "Failed to load resource: the server responded with a status of 4"
"""What Chromium says of a form that comes back with problems."""


def needs_chromium() -> None:
    """Skip the module where there is no browser.

    Debian's package is `chromium`; `fonts-noto-cjk` gives it Chinese letters.
    """
    pytest.importorskip("playwright", reason="playwright is not installed (extra `check`)")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed", allow_module_level=True)


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE * 1_000)

    with sync_playwright() as playwright:
        # As root Chromium has no sandbox; it is shown nothing but our own pages.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Viewer:
    """One person's window; remembers what went wrong in it: scripts, and what the policy forbade."""

    def __init__(self, browser: Any, base: str, size: tuple[int, int] = DESKTOP, **options: Any) -> None:
        width, height = size
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, base_url=base, locale="en-US", **options
        )
        self.context.set_default_timeout(PATIENCE * 1_000)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.requests: set[str] = set()
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("request", lambda request: self.requests.add(request.url.split("/")[2]))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"dialog {dialog.message}"))

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(EXPECTED):
            self.wrong.append(message.text)

    def log_in(self, name: str, password: str) -> None:
        """Through the form."""
        self.page.goto("/")
        self.page.fill("[name=name]", name)
        self.page.fill("[name=password]", password)
        self.page.click("button.main")
        # A click does not wait for what the form leads to, and a visit elsewhere would put an end to it.
        self.page.wait_for_url(lambda url: "/login" not in url)

    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        script = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        found: int = self.page.evaluate(script)
        return found

    def keep(self, name: str) -> None:
        """A picture, if GOSSAMER_SCREENSHOTS names a folder for them."""
        if folder := os.environ.get("GOSSAMER_SCREENSHOTS"):
            self.page.screenshot(path=Path(folder) / f"{name}.png")

    def close(self) -> None:
        """Close the window; nothing may have gone wrong in it, nothing foreign may have been asked for."""
        self.context.close()
        assert self.wrong == []
        assert len(self.requests) <= 1, self.requests
