"""How one logs in, form by form; the server is a function."""

import asyncio

import pytest
from engine_world import SITE, fetched, parsed

from gossamer.engine.login.config import LoginConfig
from gossamer.engine.login.log_in import MOST_REDIRECTS, MOST_STEPS, Recipe, log_in, refused
from gossamer.fetch.config import FetchConfig
from gossamer.model.reasons.codes import LoginCode

FIELDS = {f"field{number}": str(number) for number in range(20)}
RECIPE = Recipe(SITE, LoginConfig(page=f"{SITE}/0", fields=FIELDS, logged_in="text:Log out"), FetchConfig())


class Site:
    """Asks for one field after the other, then shows the page of members."""

    def __init__(self, steps):
        self.steps = steps
        self.posted = []

    async def ask(self, url, posted):
        if posted is not None:
            self.posted.append(posted.body.decode())
        number = int(url.target[1:])
        form = f"<form method=post action=/{number + 1}><input name=field{number}></form>"
        shown = form if number < self.steps else "<p>Log out"
        return fetched(url.text, body=shown.encode(), content_type="text/html")


@pytest.mark.parametrize("steps", [0, 1, 2, MOST_STEPS - 1, MOST_STEPS, MOST_STEPS + 1])
def test_so_many_forms_are_filled_in_and_no_more(steps):
    site = Site(steps)
    led_to = asyncio.run(log_in(RECIPE, site.ask))
    made = min(steps, MOST_STEPS)
    assert site.posted == [f"field{number}={number}" for number in range(made)]
    page = f"{SITE}/{made}"
    assert led_to == (parsed(page) if made == steps else refused(LoginCode.STEPS, MOST_STEPS, page))


@pytest.mark.parametrize("redirects", [0, 1, MOST_REDIRECTS, MOST_REDIRECTS + 1])
def test_so_many_redirects_are_followed_and_no_more(redirects):
    asked = []

    async def ask(url, _):
        number = len(asked)
        asked.append(url.text)
        if number < redirects:
            return fetched(url.text, 302, location=f"/{number + 1}")
        return fetched(url.text, body=b"<p>Log out", content_type="text/html")

    led_to = asyncio.run(log_in(RECIPE, ask))
    assert len(asked) == min(redirects, MOST_REDIRECTS) + 1
    if redirects <= MOST_REDIRECTS:
        assert led_to == parsed(f"{SITE}/{redirects}")
    else:
        assert led_to == refused(LoginCode.STEPS, MOST_REDIRECTS, f"{SITE}/{redirects}")
