"""Starts clusters and shows what they do: what the commands of `gossamer cluster` say."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType

import msgspec

from gossamer.assembly.private import keep_private
from gossamer.assembly.seeds import rereadable
from gossamer.cli.cluster_shown import show_overview, told_of
from gossamer.cli.exits import EXIT_INTERRUPTED
from gossamer.cli.request import Request, compose, default_folder
from gossamer.cli.terminal.ctrl_c import heed
from gossamer.cli.terminal.printing import safe, say, show, show_json, size
from gossamer.cluster.address import address_of
from gossamer.cluster.answering import STOPPED, answer_lines
from gossamer.cluster.coordination.figures import Figures
from gossamer.cluster.coordination.overview import Overview
from gossamer.cluster.launch import (
    Control,
    Wish,
    collected,
    connected,
    plan_again,
    plan_new,
    plan_of,
)
from gossamer.cluster.metrics import exposition, server
from gossamer.cluster.orders import Plan
from gossamer.config.units import parse_duration
from gossamer.inspect.clusters.cluster_folder import begin_again, keep_last
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError, GossamerError

TELL_EVERY = 10
"""Looks between two lines of progress where nobody watches a terminal."""


class Wished(msgspec.Struct, frozen=True):
    """What the options say of the cluster, as typed."""

    agents: int
    address: str
    store: str
    cores: float
    snapshot_every: str
    shared_digests: bool


def run_new(request: Request, wished: Wished, *, quiet: bool, json: bool) -> None:
    """Make the folder, start everything, crawl."""
    keep_private()
    with rereadable(request.seeds_file) as seeds_file:
        config = compose(msgspec.structs.replace(request, seeds_file=seeds_file))
        folder = request.folder or default_folder(config)
        wish = Wish(
            agents=wished.agents,
            address=wished.address,
            store=wished.store,
            cores=wished.cores,
            snapshot_every=parse_duration(wished.snapshot_every),
            shared_digests=wished.shared_digests,
        )
        plan = plan_new(folder, config, wish)
    _conduct(plan, wished.address, resumed=False, quiet=quiet, json=json)


def run_again(folder: Path, agents: int | None, address: str, *, quiet: bool, json: bool) -> None:
    """Go on with the crawl in `folder`."""
    keep_private()
    _conduct(plan_again(folder, agents), address, resumed=True, quiet=quiet, json=json)


def _conduct(plan: Plan, address: str, *, resumed: bool, quiet: bool, json: bool) -> None:
    folder, agents = Path(plan.folder), plan.coordination.agents
    if not quiet:
        say(f"crawling into {folder} with {agents} agents" + (" (resumed)" if resumed else ""))
    heed()
    with connected(folder, address, agents * plan.cores):
        begin_again(folder)
        control = Control.begin(plan, resumed=resumed)
        with _ctrl_c(control):
            overview = control.wait(_Progress(folder, quiet=quiet))
        control.end(overview, say)
    _keep(folder, overview)
    result = collected(plan, overview)
    for problem in result.problems:
        say(safe(problem))
    if json:
        show_json({"reason": overview.stop, "why": overview.why, "collected": result, "cluster": overview})
    if not quiet:
        say(f"{overview.stop}: {overview.pages:,} pages; {result.captures:,} captures in {folder}/index.cdxj")
    if overview.why == STOPPED:
        say(f"go on with '{command_line('cluster', 'resume', folder)}'")
        sys.exit(EXIT_INTERRUPTED)


def _keep(folder: Path, overview: Overview) -> None:
    """For `cluster status` when nobody answers any more; nothing ends because it cannot be kept."""
    with suppress(GossamerError):
        keep_last(folder, overview)


@contextmanager
def _ctrl_c(control: Control) -> Iterator[None]:
    """Ctrl-C once: all agents finish what they have begun; twice: leave them as they are."""
    pressed = 0

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed += 1
        if pressed > 1:
            signal.default_int_handler(number, frame)
        say("stopping: what is under way is finished first (Ctrl-C again: now)")
        control.stop(STOPPED)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Progress:
    """One line that is written over on a terminal; else a line now and then."""

    def __init__(self, folder: Path, *, quiet: bool) -> None:
        self._folder = folder
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._looks = 0
        self._told = set[tuple[str, int, int]]()

    def __call__(self, overview: Overview) -> None:
        if self._looks % TELL_EVERY == 0:
            _keep(self._folder, overview)
        self._looks += 1
        for loss in overview.losses:
            if (named := (loss.agent, loss.snapshot, loss.used)) not in self._told:
                self._told.add(named)
                say(told_of(loss))
        if self._quiet or not (self._live or self._looks % TELL_EVERY == 1 or overview.over):
            return
        live = sum(agent.state == "live" for agent in overview.agents)
        text = (
            f"{overview.pages:,} pages, {overview.queued:,} queued, {size(overview.bytes)}, {live} agents"
            + (f", {overview.moving} shards moving" if overview.moving else "")
            + (f", {overview.stop}" if overview.stop else "")
        )
        if not self._live:
            say(text)
            return
        with suppress(OSError):  # the terminal was closed
            print(f"\r{text}\x1b[K", end="\n" if overview.over else "", file=sys.stderr, flush=True)


@contextmanager
def _reached(folder: Path) -> Iterator[Control]:
    plan = plan_of(folder)
    try:
        with connected(folder, address_of(folder)):
            yield Control(plan)
    except ConnectionError as error:
        raise GossamerError(
            f"{folder}: the cluster's coordinator does not answer ({error}). Try again in some seconds: if it"
            " has died, Ray starts it anew."
        ) from None


def show_status(folder: Path, *, as_json: bool) -> None:
    """Print agents, moves and sums."""
    with _reached(folder) as control:
        overview = control.overview()
    if as_json:
        show_json(overview)
        return
    show_overview(f"{folder}: {overview.stop or 'crawling'}", overview)


def show_why(folder: Path, url: str) -> None:
    """Print the story of a URL as the agents tell it that know of it."""
    with _reached(folder) as control:
        stories = control.ask_all("why", {"url": url})
    told = {agent: story for agent, story in stories.items() if story is not None}
    known = {agent: story for agent, story in told.items() if story["state"] != "unknown"}
    for agent in sorted(stories.keys() - told.keys()):
        say(f"{agent} cannot be reached now; the URL may be its own")
    for agent, story in (known or told).items():
        show(f"[{agent}] {safe(story['text'])}" if "\n" not in story["text"] else f"[{agent}]")
        if "\n" in story["text"]:
            for line in story["text"].splitlines():
                show(safe(line))
        if not known:
            break


def stop_all(folder: Path) -> None:
    """Tell all agents to stop."""
    with _reached(folder) as control:
        control.stop(STOPPED)
    say("stopping; 'gossamer cluster resume' goes on")


def scale_to(folder: Path, agents: int) -> None:
    """Have more agents, or fewer."""
    with _reached(folder) as control:
        control.scale_to(agents)
    say(f"{agents} agents are wanted now")


def drain_node(folder: Path, node: str) -> None:
    """Move everything off a machine or an agent."""
    with _reached(folder) as control:
        drained = control.drain(node)
    say(
        f"{drained} agents of {safe(node)} hand over what they have"
        if drained
        else f"no agent is on {safe(node)}"
    )


def show_metrics(folder: Path) -> None:
    """Print the figures as Prometheus reads them."""
    with _reached(folder) as control:
        told = _told(control)
    show(told.removesuffix("\n"))


def serve_metrics(folder: Path, listen: str) -> None:
    """Answer Prometheus at an address until told to stop."""
    host, _, port = listen.rpartition(":")
    with _reached(folder) as control:
        try:
            answering = server(host.strip("[]"), int(port), partial(_told, control))
        except (OSError, ValueError, OverflowError) as error:
            raise ConfigError(f"--listen {listen}: {error}. Give HOST:PORT with a free port.") from None
        with answering:
            say(f"metrics at http://{listen}/metrics (Ctrl-C ends)")
            with suppress(KeyboardInterrupt):
                answering.serve_forever()


def answer_questions(folder: Path) -> None:
    """Answer lines on standard input by lines on standard output; see `cluster_questions`."""
    output = sys.stdout.buffer  # before Ray's words are led to standard error

    def tell(answer: bytes) -> None:
        output.write(answer)
        output.flush()

    with _reached(folder) as control:
        figures = Figures(control, plan_of(folder).coordination)
        answer_lines(control, figures.now, sys.stdin, tell)


def _told(control: Control) -> str:
    statuses = control.ask_all("status", {})
    known = {agent: status for agent, status in statuses.items() if status is not None}
    return exposition(control.overview(), known)
