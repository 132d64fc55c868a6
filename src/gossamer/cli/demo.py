"""The demonstration: a crawl of a simulated web on loopback, and a look at what came out."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from gossamer.assembly.folder import CrawlFolder
from gossamer.cli.crawl import conduct
from gossamer.cli.look import show_check, show_why
from gossamer.cli.terminal.printing import say
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.crawling.run import start
from gossamer.model.command_line import command_line
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.state.scratch import Scratch


def run_demo(path: Path | None, *, json: bool) -> None:
    """Crawl, check, and tell the story of one URL."""
    with SimulatedWeb(WorldSpec.friendly()) as web, _folder(path, json=json) as place:
        config = load(
            CrawlConfig,
            {
                "seeds": list(web.seeds),
                "scope": {"mode": "any"},
                # Twenty times as fast as Gossamer treats hosts that are not simulated.
                "politeness": {"min_delay": 0.05},
                "engine": {"give_up_after": 5.0, "workers": 32},
                "retry": {"url_waits": [0.5, 1.0], "host_first": 0.5},
                "fetch": {"allow_private": True},
                "dns": {"nameservers": [web.nameserver]},
            },
        )
        folder = CrawlFolder(place)
        config = start(folder, config)
        conduct(folder, config, resumed=False, quiet=False, json=json)
        if not json:
            say(f"\n$ {command_line('check', place)}")
            show_check(place, json=False)
            say(f"\n$ {command_line('why', place, web.seeds[0])}")
            show_why(place, web.seeds[0], json=False)


@contextlib.contextmanager
def _folder(path: Path | None, *, json: bool) -> Iterator[Path]:
    if path is not None:
        yield path
        return
    with Scratch() as temporary:
        try:
            yield Path(temporary) / "crawl"
        finally:  # also if it is interrupted, when its closing words tell how to go on
            if not json:
                say(
                    "\nThis was kept in a temporary folder, which is removed. Keep one with: gossamer demo --dir DIR"
                )
