"""A world of the engine's parts for each test that asks."""

import pytest
from engine_world import EngineWorld


@pytest.fixture
def world_of(tmp_path):
    """Makes a world with what a test tells otherwise; each is closed at its end."""
    made = []

    def make(**told):
        made.append(EngineWorld(tmp_path / str(len(made)), **told))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(world_of):
    return world_of()
