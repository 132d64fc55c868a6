"""Pages that come again, on shards that move to and fro: each stands once, with all that was learned of it."""

import asyncio
import random
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_again import AgainWorld, drain
from test_transfer import SHARDS, KilledError, snapshot_of, transfer_of

from gossamer.cluster.agent import transfer as moving
from gossamer.cluster.agent.transfer import ShardImport
from gossamer.policy.revisit.trust import Signal
from gossamer.state.environment import Environment, Family

PAGES = [f"http://host-{number % 5}.test/{number}" for number in range(15)]


def killed(world: AgainWorld, nth: int, work) -> None:
    """Do what is asked for, killed at the n-th point at which it could be and done again, until it is done."""
    while True:
        left = [nth]

        def die(_name: str, left: list[int] = left) -> None:
            left[0] -= 1
            if not left[0]:
                raise KilledError

        moving.fault_point = die
        try:
            asyncio.run(work())
            return
        except KilledError:
            world.reopen()
            nth += 7


async def brought(world: AgainWorld, state: Environment, take: ShardImport) -> None:
    await transfer_of(world).take_in(state, take)


async def dropped(world: AgainWorld, shards: tuple[int, ...]) -> None:
    await transfer_of(world).drop(shards)


def standing(worlds: list[AgainWorld]) -> dict[str, int]:
    found = dict.fromkeys(PAGES, 0)
    for world in worlds:
        world.assert_sound()
        for url, times in world.standing().items():
            found[url] += times
    return found


@pytest.mark.slow
@settings(max_examples=2, deadline=None)
@given(st.integers(0, 2**32))
def test_no_page_is_lost_or_doubled_over_moves_and_kills(seed: int):
    dice, kept, size = random.Random(seed), moving.fault_point, moving.SLICE
    moving.SLICE = 3
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        worlds = [AgainWorld(Path(folder) / name) for name in "ab"]
        owners = dict.fromkeys(SHARDS, worlds[0])
        try:
            for url in PAGES:
                worlds[0].admit(url)
            for turn in range(1, 5):
                for world in worlds:
                    world.micros = max(each.micros for each in worlds)
                    drain(world, dice.random() * 6)
                    some = [world.fingerprint(url) for url in dice.sample(PAGES, 4)]
                    world.frontier.told([Signal(page, world.wall, dice.randrange(1, 9)) for page in some])
                    if dice.random() < 0.3:
                        world.reopen()
                source, target = dice.sample(worlds, 2)
                source.micros = target.micros = max(source.micros, target.micros)
                shards = tuple(shard for shard in SHARDS if owners[shard] is source and dice.random() < 0.6)
                owners |= dict.fromkeys(shards, target)
                learned = {url: page.history for url in PAGES if (page := source.page(url)) is not None}
                with snapshot_of(source) as state:
                    take = ShardImport("other", turn, shards)
                    killed(target, dice.randrange(1, 9), partial(brought, target, state, take))
                killed(source, dice.randrange(1, 9), partial(dropped, source, shards))
                asyncio.run(transfer_of(target).wake_up(shards))
                assert standing(worlds) == dict.fromkeys(PAGES, 1)
                assert {url: (source.page(url) or target.page(url)).history for url in learned} == learned
            assert sum(len(list(world.environment.scan(Family.SEEN))) for world in worlds) == len(PAGES)
        finally:
            moving.fault_point, moving.SLICE = kept, size
            for world in worlds:
                world.close()
