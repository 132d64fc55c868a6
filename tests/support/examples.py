"""How many examples of a property are tried: few in each run of the tests, all in `scripts/check`."""

from hypothesis import settings

USUAL = 100
"""Examples of a test that says nothing, in the profile `deep`; also what counts of tests are made for."""


def examples(number: int) -> int:
    """As many in the profile `deep`, and the same share of them in another as of tests that say nothing.

    The examples are the same in every run: whoever runs the tests a tenth time learns nothing new of a hundred.
    """
    return max(1, number * settings().max_examples // USUAL)
