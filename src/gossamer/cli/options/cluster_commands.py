"""The commands of `gossamer cluster` with their options."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gossamer.cli.options.crawl_options import asked, crawl_options, folder, json, quiet
from gossamer.cli.options.panels import Command, Commands

_ADDRESS = click.option(
    "--address", metavar="RAY", default="", help="A Ray cluster that runs; if not given, one on this machine."
)


def _command(name: str, **more: Any) -> Callable[[Callable[..., Any]], click.Command]:
    return cluster.command(name=name, cls=Command, **more)


def _settle(folder: Path) -> None:
    """Before Ray is imported: where the crawl in `folder` runs."""
    from gossamer.cluster.address import address_of
    from gossamer.cluster.ray_settings import settle

    settle(address_of(folder))


def _prove(folder: Path) -> None:
    """See that a folder in which nothing runs is that of a cluster."""
    from gossamer.inspect.clusters.cluster_folder import holds_cluster
    from gossamer.model.errors import ConfigError

    if not holds_cluster(folder):
        raise ConfigError(
            f"{folder}: holds no cluster's crawl. Start one with 'gossamer cluster crawl SEED --dir DIR'."
        )


@click.group(cls=Commands, name="cluster")
def cluster() -> None:
    """Crawl by several agents, on one machine or many. Needs the extra 'cluster'."""
    from importlib.util import find_spec

    from gossamer.model.errors import ConfigError

    if missing := [name for name in ("ray", "fsspec") if find_spec(name) is None]:
        raise ConfigError(
            f"gossamer cluster needs packages that are not installed ({', '.join(missing)}):"
            " pip install 'gossamer[cluster]'"
        )


@_command(
    "crawl",
    epilog="Example: gossamer cluster crawl https://example.org/ --agents 4 --contact you@example.org",
)
@click.option("--agents", type=click.IntRange(1, 10_000), default=2, show_default=True, help="How many.")
@_ADDRESS
@click.option(
    "--store",
    metavar="ADDRESS",
    default="",
    help="Where snapshots go, any fsspec address; if not given, --dir/store.",
)
@click.option(
    "--cores",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="Each agent takes, as Ray counts.",
)
@click.option(
    "--snapshot-every", metavar="TIME", default="60s", show_default=True, help="What a lost machine may lose."
)
@click.option(
    "--shared-digests/--own-digests",
    default=False,
    show_default=True,
    help="Whether agents tell each other what content they met, so that copies are archived once.",
)
@crawl_options
@quiet
@json
def crawl(folder: Path | None, config: Path | None, *, quiet: bool, json: bool, **given: Any) -> None:
    """Crawl from SEEDs by several agents."""
    from gossamer.cluster.ray_settings import settle

    settle(given["address"])
    from gossamer.cli.cluster import Wished, run_new

    wished = Wished(
        **{
            name: given.pop(name)
            for name in ("agents", "address", "store", "cores", "snapshot_every", "shared_digests")
        }
    )
    run_new(asked(folder, config, given), wished, quiet=quiet, json=json)


@_command("resume")
@folder
@click.option("--agents", type=click.IntRange(1, 10_000), help="Another number of agents than before.")
@_ADDRESS
@quiet
@json
def resume(folder: Path, agents: int | None, address: str, *, quiet: bool, json: bool) -> None:
    """Go on after a stop, or after all machines went down."""
    from gossamer.cluster.ray_settings import settle

    settle(address)
    from gossamer.cli.cluster import run_again

    run_again(folder, agents, address, quiet=quiet, json=json)


@_command("status")
@folder
@json
def status(folder: Path, *, json: bool) -> None:
    """Agents, shards, moves, exchange, sums; of a cluster that does not run, how it ended."""
    from gossamer.cluster.address import NothingRunsError

    try:
        _settle(folder)
        from gossamer.cli.cluster import show_status

        show_status(folder, as_json=json)
    except NothingRunsError:
        _prove(folder)
        from gossamer.cli.cluster_shown import show_ended

        show_ended(folder, as_json=json)


@_command("why")
@folder
@click.argument("url")
def why(folder: Path, url: str) -> None:
    """The story of one URL, as its host's owner tells it."""
    from gossamer.cluster.address import NothingRunsError

    try:
        _settle(folder)
        from gossamer.cli.cluster import show_why

        show_why(folder, url)
    except NothingRunsError:
        _prove(folder)
        from gossamer.cli.look import show_why as show_why_of_all

        show_why_of_all(folder, url, json=False)


@_command("stop")
@folder
def stop(folder: Path) -> None:
    """Have all agents finish what they have begun, take a last snapshot, and end."""
    _settle(folder)
    from gossamer.cli.cluster import stop_all

    stop_all(folder)


@_command("scale")
@folder
@click.argument("agents", type=click.IntRange(1, 10_000))
def scale(folder: Path, agents: int) -> None:
    """Change the number of AGENTS; hosts move over by themselves."""
    _settle(folder)
    from gossamer.cli.cluster import scale_to

    scale_to(folder, agents)


@_command("drain")
@folder
@click.argument("node")
def drain(folder: Path, node: str) -> None:
    """Move everything off a machine (or an agent), so that it may be switched off."""
    _settle(folder)
    from gossamer.cli.cluster import drain_node

    drain_node(folder, node)


@_command("metrics")
@folder
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default="",
    help="Answer there, at /metrics, until Ctrl-C; 127.0.0.1:9464, say. Nobody is asked who he is.",
)
def metrics(folder: Path, listen: str) -> None:
    """Figures of the cluster and of each agent, as Prometheus reads them."""
    _settle(folder)
    from gossamer.cli.cluster import serve_metrics, show_metrics

    if listen:
        serve_metrics(folder, listen)
    else:
        show_metrics(folder)


@_command("answer", hidden=True)
@folder
def answer(folder: Path) -> None:
    """Answer a program's questions, a line each: what the console of 'gossamer serve' runs."""
    _settle(folder)
    from gossamer.cli.cluster import answer_questions

    answer_questions(folder)
