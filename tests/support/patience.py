"""How long tests wait for what must come."""

PATIENCE = 240.0
"""Seconds. Whoever waits for a state waits as long as this, whatever it takes on a quiet machine: a test that passes
is no slower for it, and on a machine that has other work nothing is taken for lost. Less than the time-outs of tests
(`tests/conftest.py`, `pyproject.toml`), so that one that fails says what did not come."""
SLOW_SECONDS = 900
"""The time-out of a slow test: three times as much, for it waits for several things one after another."""
