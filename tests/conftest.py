"""What holds for every test."""

import pytest
from hypothesis import HealthCheck, settings

# The same examples everywhere, and no time limit on one: a busy machine is not a failure.
# `--hypothesis-profile=default` looks for new ones.
settings.register_profile(
    "gossamer", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("gossamer")


@pytest.fixture(autouse=True, scope="session")
def _own_cache_folder(tmp_path_factory):
    """Names are not kept in the user's cache folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
