"""States that the worlds of a file use one after the other; other folders' tests look into their own."""

import pytest
from frontier_world import FrontierWorld


@pytest.fixture(autouse=True, scope="module")
def _home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FrontierWorld, "home", tmp_path_factory.mktemp("spare"))
        yield
    while FrontierWorld.spare:
        FrontierWorld.spare.pop().close()
