#!/usr/bin/env python3
"""Takes the pictures of the documentation anew: a daemon, a simulated web, a browser without a window.

    scripts/pictures.py [--minutes 6] [FOLDER]

Pictures go to FOLDER, docs/images by default. Needs what the tests of the console need (extras `check`, `console`;
chromium, fonts-noto-cjk). The picture of the search page is of real sites, and is not taken here.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gossamer.simweb import SimulatedWeb, WorldSpec

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PASSWORD = "a long and simple one"
WIDE, PHONE = {"width": 1200, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def daemon(folder: Path) -> Iterator[str]:
    """Its address; the crawls end with it."""
    gossamer = [sys.executable, "-m", "gossamer"]
    account = [*gossamer, "serve-user", "add", "alice", "--role", "operator", "--dir", str(folder)]
    subprocess.run(account, input=f"{PASSWORD}\n", text=True, check=True, capture_output=True)
    listening = [*gossamer, "serve", "--dir", str(folder), "--port", "18470"]
    with subprocess.Popen(listening, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield "http://127.0.0.1:18470"
        finally:
            process.terminate()


def log_in(browser: Any, address: str, **options: Any) -> Any:
    page = browser.new_context(base_url=address, locale="en-US", **options).new_page()
    for attempt in range(100):
        try:
            page.goto("/")
            break
        except Exception:  # it does not listen yet
            if attempt == 99:
                raise
            time.sleep(0.2)
    page.fill("[name=name]", "alice")
    page.fill("[name=password]", PASSWORD)
    page.click("button.main")
    page.wait_for_url(lambda url: "/login" not in url)
    return page


def start(page: Any, web: SimulatedWeb, name: str, delay: str) -> None:
    page.goto("/jobs/new")
    page.fill("[name=name]", name)
    page.fill("[name=seeds]", "\n".join(web.seeds[:20]))
    page.select_option("[name=mode]", "any")
    page.fill("[name=min_delay]", delay)
    page.fill("[name=workers]", "12")
    names = f'dns.nameservers = ["{web.nameserver}"]\ndns.hosts_file = false'
    page.fill("[name=toml]", f"fetch.allow_private = true\n{names}")
    page.click("button.main")
    page.wait_for_url(f"**/jobs/{name}*")


def take(page: Any, path: str, picture: Path) -> None:
    page.goto(path)
    page.wait_for_timeout(3_000)  # what is drawn by scripts, and figures that come each second
    page.screenshot(path=picture)


def main() -> None:
    """Take them."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=IMAGES)
    parser.add_argument("--minutes", type=float, default=6)
    given = parser.parse_args()
    spec = WorldSpec.friendly(hosts=80, pages=12_000)
    with (
        tempfile.TemporaryDirectory() as folder,
        SimulatedWeb(spec, log=False) as web,
        daemon(Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = log_in(browser, address, viewport=WIDE)
        start(page, web, "documentation", "1s")
        start(page, web, "weekly-news", "3s")
        time.sleep(given.minutes * 60)
        job = "/jobs/documentation"
        page.goto(f"{job}/pages")
        url = page.locator("td a").first.inner_text()
        take(page, job, given.folder / "console-overview.png")
        take(page, "/allocation", given.folder / "console-resources.png")
        take(page, f"{job}/why?url={url}", given.folder / "console-why.png")
        phone = log_in(browser, address, viewport=PHONE, device_scale_factor=2)
        take(phone, job, given.folder / "console-phone.png")
        take(phone, f"{job}/why?url={url}", given.folder / "console-phone-why.png")
        dark = log_in(browser, address, viewport=WIDE, color_scheme="dark")
        dark.get_by_text("中文").first.click()
        take(dark, job, given.folder / "console-dark-chinese.png")
        browser.close()


if __name__ == "__main__":
    main()
