"""A program that crawls with a toy policy: `python revisiting_crawl.py URL FOLDER VISITS SECONDS [DELAY]`."""

import asyncio
import sys

import gossamer


class Thrice:
    """Each page is visited so often, so many seconds apart."""

    def __init__(self, visits, seconds):
        self.visits, self.seconds = visits, seconds

    def again(self, lease, outcome, page, visits):
        return self.seconds if visits < self.visits else None


async def main(url, folder, visits, seconds, give_up_after="5"):
    config = {
        "engine": {"give_up_after": float(give_up_after), "checkpoint_every": 0.05, "guess_sitemap": False}
    }
    policy = Thrice(int(visits), float(seconds))
    return [
        page.url
        async for page in gossamer.crawl(url, folder=folder, config=config, min_delay=0, revisits=policy)
    ]


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
