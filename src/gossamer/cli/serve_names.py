"""Answers other programs' questions for names until it is told to end."""

import asyncio
import os
import signal
from ipaddress import ip_address
from pathlib import Path

import uvloop

from gossamer.assembly.name_resolution import served_names
from gossamer.cli.names import dns_config, print_name_statistics
from gossamer.cli.terminal.printing import say
from gossamer.dns.cache import PlainCache
from gossamer.dns.compact.cache import CompactCache
from gossamer.dns.config import DnsConfig, split_server
from gossamer.dns.queries.servers import target, targets
from gossamer.dns.serving.name_service import NameService
from gossamer.dns.serving.sockets import serving
from gossamer.inspect.inspection import inspect
from gossamer.model.errors import ConfigError
from gossamer.ports import NameCache


def serve_names(listen: str, folder: Path | None, nameservers: list[str], *, json: bool) -> None:
    """Answer at `listen` until SIGINT or SIGTERM, then print what was asked.

    Answers come from the cache that this user's crawls share, or from that of the crawl in `folder`, whose
    settings then hold; what neither knows is asked for, and kept there. Name servers of one's own may say
    something else than others': what they answer is kept in memory.

    Raises:
        ConfigError: the address is not for this machine alone or cannot be had, or there is no such crawl.
    """
    address, port = _loopback(listen)
    config, own = dns_config(nameservers), None if nameservers else Path()
    if folder is not None:
        if nameservers:
            raise ConfigError("--nameserver does not go with --stats: the crawl's own name servers are asked")
        with inspect(folder) as inspection:
            config, own = inspection.config.dns, inspection.folder.names
    if target(address, port) in targets(config):
        raise ConfigError(f"--serve {listen}: would ask itself. Name another with --nameserver ADDRESS:PORT.")
    cache = PlainCache(config.cache_entries) if own is None else served_names(config, own)
    try:
        uvloop.run(_serve(config, cache, address, port, json=json))
    finally:
        cache.close()


async def _serve(config: DnsConfig, cache: NameCache, address: str, port: int, *, json: bool) -> None:
    ending = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    service = NameService(config, cache)
    for problem in cache.problems if isinstance(cache, CompactCache) else ():
        say(f"  {problem}")
    at = target(address, port)
    try:
        async with serving(service, address, port):
            say(f"  answers at {at} over UDP and TCP; Ctrl-C ends it")
            await ending.wait()
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise ConfigError(f"--serve {at}: cannot be had ({why}). Choose another port, above 1023.") from None
    print_name_statistics(service.statistics, {"cache": config.cache}, json=json)


def _loopback(listen: str) -> tuple[str, int]:
    try:
        address, port = split_server(listen)
    except ValueError:
        address, port = "", 0
    if not address or not ip_address(address).is_loopback:
        raise ConfigError(
            f"--serve {listen}: answers this machine only; write a loopback address such as 127.0.0.1:5353."
        )
    return address, port
