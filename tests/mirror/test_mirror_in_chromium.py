"""A mirror in a real browser, from a disk and with no name resolvable: text, styles and pictures are there."""

import pytest
from console_browser import Viewer, chromium, needs_chromium
from mirrored_site import Crawled
from test_mirror import by_url, mirror

needs_chromium()


@pytest.mark.slow
def test_a_browser_shows_text_and_pictures_from_a_disk(crawled: Crawled) -> None:
    root = mirror(crawled, "--outside", "note")
    names = by_url(root)
    with chromium() as browser:
        window = Viewer(browser, root.as_uri())
        page = window.page
        page.goto((root / "index.html").as_uri())
        page.wait_for_url(f"**/{names['/']}")
        assert page.evaluate("document.querySelector('img').naturalWidth") == 1
        page.get_by_text("r", exact=True).click()
        assert page.inner_text("p").startswith("b")
        page.get_by_text("folder", exact=True).click()
        assert page.inner_text("p") == "folder a"
        page.goto((root / names["/latin"]).as_uri())
        assert "caf\xe9" in page.inner_text("p")
        page.goto((root / names["/"]).as_uri())
        assert "q@2.png" in page.evaluate("getComputedStyle(document.body).backgroundImage")
        page.get_by_text("gone", exact=True).click()
        assert page.inner_text("a") == f"http://{crawled.host}/gone"
        assert window.requests == {""}, "nothing is asked for but files"
