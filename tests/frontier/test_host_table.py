"""Host records: what is handed out is what was committed last, and there is one copy of it."""

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.frontier.queues.hosts import HostTable
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import HostRecord, decode_host

KEYS = [bytes([number]) * 8 for number in range(4)]
STEPS = st.tuples(st.sampled_from(["get", "change", "serve", "unserve", "commit"]), st.sampled_from(KEYS))


@pytest.fixture
def environment(tmp_path):
    environment = Environment.open(tmp_path, StateConfig(block_cache=1 << 20, write_buffers=1 << 20))
    yield environment
    environment.close()


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, max_size=40))
def test_there_is_one_copy_of_each_record(environment, steps):
    table = HostTable(environment)
    clear = environment.batch()
    for key in KEYS:
        clear.delete(Family.HOSTS, key)
    environment.commit(clear)
    visits: dict[bytes, int] = {}

    def commit():
        batch = environment.batch()
        table.flush(batch)
        environment.commit(batch)

    for step, key in steps:
        if step == "change":
            record = table.change(key, key.hex())
            assert (record.name, record.visits) == (key.hex(), visits.get(key, 0))
            record.visits += 1
            visits[key] = record.visits
        elif step == "serve":
            table.hold(key, table.change(key, key.hex()))
            visits.setdefault(key, 0)
        elif step == "unserve":
            commit()
            table.release(key)
        elif step == "commit":
            commit()
        else:
            record = table.get(key)
            assert (record.visits if record else None) == visits.get(key)
    commit()
    assert {key: decode_host(data).visits for key, data in environment.scan(Family.HOSTS)} == visits


def test_a_host_that_was_not_there_is_there_once_it_has_come_from_elsewhere(environment):
    table = HostTable(environment)
    assert table.get(KEYS[0]) is None
    table.put(KEYS[0], HostRecord("a", visits=3))
    batch = environment.batch()
    table.flush(batch)
    environment.commit(batch)
    assert table.get(KEYS[0]).visits == 3


def test_a_host_that_was_not_there_is_there_once_it_was_made(environment):
    table = HostTable(environment)
    assert table.get(KEYS[0]) is None
    table.change(KEYS[0], "a").visits = 3
    batch = environment.batch()
    table.flush(batch)
    environment.commit(batch)
    assert table.get(KEYS[0]).visits == 3
