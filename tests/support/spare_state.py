"""States that tests of decisions use one after the other: to make one takes as long as most of these tests."""

from gossamer.state.environment import Environment, Family


def emptied(environment: Environment) -> Environment:
    """The same with nothing in it, as in a new folder."""
    batch = environment.batch()
    for family in Family:
        if next(environment.scan(family), None) is not None:
            batch.delete_all(family)
    environment.commit(batch)
    return environment
