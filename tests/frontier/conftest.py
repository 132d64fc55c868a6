"""States that worlds use one after the other, for as long as the tests run."""

import pytest
from frontier_world import FrontierWorld


@pytest.fixture(autouse=True, scope="session")
def _home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FrontierWorld, "home", tmp_path_factory.mktemp("spare"))
        yield
    while FrontierWorld.spare:
        FrontierWorld.spare.pop().close()
