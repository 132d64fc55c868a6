"""Serves a simulated web from the command line: `python -m gossamer.simweb`."""

import argparse
import asyncio
import gc
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from gossamer.simweb.servers.hosting import Hosting
from gossamer.simweb.servers.service import ANSWERS
from gossamer.simweb.world.spec import WorldSpec

_PRESETS = {
    "friendly": WorldSpec.friendly,
    "plain": WorldSpec.plain,
    "hostile": WorldSpec.hostile,
    "wide": WorldSpec.wide,
}


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted; returns the exit status: 0, or 2 for a world that cannot be."""
    options = _parser().parse_args(arguments)
    try:
        spec = _spec(options)
    except (OSError, ValueError, TypeError) as problem:
        print(f"gossamer.simweb: {problem}", file=sys.stderr)  # noqa: T201
        return 2
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(spec, options))
    except OSError as problem:
        print(f"gossamer.simweb: cannot listen: {problem}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gossamer.simweb", description=__doc__)
    parser.add_argument("--preset", choices=_PRESETS, default="friendly", help="kind of world")
    parser.add_argument(
        "--spec", type=Path, metavar="FILE", help="JSON of a whole WorldSpec, instead of a preset"
    )
    parser.add_argument("--hosts", type=int, metavar="N", help="ordinary hosts")
    parser.add_argument("--pages", type=int, metavar="N", help="ordinary pages on all of them")
    parser.add_argument("--page-bytes", type=int, metavar="N", help="mean size of a page")
    parser.add_argument("--seed", type=int, metavar="S", help="another world of the same kind")
    parser.add_argument("--http-port", type=int, default=0, metavar="PORT")
    parser.add_argument("--dns-port", type=int, default=0, metavar="PORT")
    parser.add_argument("--log", type=Path, metavar="FILE", help="append visits as JSON lines")
    parser.add_argument(
        "--control", type=Path, metavar="FILE", help="while it is there, all names are treated as it says"
    )
    parser.add_argument(
        "--answers", type=int, default=ANSWERS, metavar="BYTES", help="of finished answers that are kept"
    )
    parser.add_argument(
        "--announce", action="store_true", help="one JSON line on start; stop when input ends"
    )
    return parser


def _spec(options: argparse.Namespace) -> WorldSpec:
    if options.spec is not None:
        return WorldSpec.from_json(options.spec.read_text())
    names = ("hosts", "pages", "page_bytes", "seed")
    changes = {name: value for name in names if (value := getattr(options, name)) is not None}
    return _PRESETS[options.preset](**changes)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's where it is installed: twice the responses per second."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _serve(spec: WorldSpec, options: argparse.Namespace) -> None:
    gc.freeze()
    gc.set_threshold(50_000)  # pages are made of thousands of short-lived tuples, none of them in cycles
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    hosting = Hosting(
        spec,
        http_port=options.http_port,
        dns_port=options.dns_port,
        log=options.log,
        control=options.control,
        answers=options.answers,
    )
    async with hosting as web:
        told = {"http_port": web.http_port, "nameserver": web.nameserver, "seeds": web.seeds}
        if options.announce:
            print(json.dumps(told), flush=True)  # noqa: T201
            loop.add_reader(sys.stdin.fileno(), stopped.set)  # our parent closes it, or dies
        else:
            shown = " ".join(web.seeds[:5]) + (" ..." if len(web.seeds) > 5 else "")
            print(f"nameserver {web.nameserver}\nseeds {shown}", flush=True)  # noqa: T201
        await stopped.wait()


if __name__ == "__main__":
    sys.exit(main())
