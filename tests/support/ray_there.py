"""Marks of tests that start Ray."""

from importlib.util import find_spec

import pytest

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="the extra 'cluster' is not installed")
never_two_at_once = pytest.mark.usefixtures("ray_turn")
"""Each Ray is a dozen processes that expect an answer in time."""
