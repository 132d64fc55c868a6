"""A world of the engine's parts for each test that asks."""

import pytest
from engine_world import SMALL, EngineWorld
from spare_state import emptied

from gossamer.state.environment import Environment


@pytest.fixture(scope="session")
def spare(tmp_path_factory):
    """A state that the first world of each test has; `None` where tests want one in the folder of the world."""
    environment = Environment.open(tmp_path_factory.mktemp("spare") / "state", SMALL)
    yield environment
    environment.close()


@pytest.fixture
def world_of(tmp_path, spare):
    """Makes a world with what a test tells otherwise; each is closed at its end."""
    made = []

    def make(**told):
        if spare is not None and not made:
            told["spare"] = emptied(spare)
        made.append(EngineWorld(tmp_path / str(len(made)), **told))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(world_of):
    return world_of()
