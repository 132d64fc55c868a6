"""What the rota keeps in memory, and whose turn it says it is."""

import gc
import weakref

import pytest

from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.queues.host_schedule import HostSchedule
from gossamer.state.keys import ticket
from gossamer.state.records import HostRecord

MANY = 3_000


class Clock:
    micros = 1_000

    def __call__(self) -> int:
        return self.micros


class Remembered(HostQueue):
    """One that can be asked after."""

    __slots__ = ("__weakref__",)


def queue_of(number: int, *, level: int, due: int = 0) -> Remembered:
    key = number.to_bytes(8, "big")
    return Remembered(key, HostRecord(f"host{number}", queued=1, head=ticket(level, number), due=due), 1)


@pytest.mark.parametrize("due", [0, 10**9], ids=["ready", "resting"])
def test_hosts_that_are_gone_leave_memory_though_better_ones_keep_coming(due):
    schedule = HostSchedule(Clock())
    gone = []
    for number in range(MANY):
        queue = queue_of(number, level=MANY - number, due=due and due - number)
        schedule.add(queue)
        schedule.place(queue)
        schedule.remove(queue)
        gone.append(weakref.ref(queue))
    del queue
    gc.collect()
    assert sum(queue() is not None for queue in gone) < MANY / 4


def test_places_that_a_host_has_left_are_forgotten_and_the_order_stays():
    clock = Clock()
    schedule = HostSchedule(clock)
    queues = [queue_of(number, level=10 * MANY) for number in range(3)]
    for queue in queues:
        schedule.add(queue)
    for level in range(MANY, 0, -1):
        for number, queue in enumerate(queues):
            queue.record.head = ticket(level * 3 - number, number)
            schedule.place(queue)
    assert sum(isinstance(found, tuple) for found in gc.get_referrers(*queues)) < MANY / 4
    assert [schedule.pop_ready() for _ in range(4)] == [queues[2], queues[1], queues[0], None]


def test_hosts_that_rest_are_still_woken_in_order_after_others_were_forgotten():
    clock = Clock()
    schedule = HostSchedule(clock)
    resting = [queue_of(number, level=1, due=2_000 - number) for number in range(3)]
    for queue in resting:
        schedule.add(queue)
        schedule.place(queue)
    for number in range(3, MANY):
        queue = queue_of(number, level=1, due=5_000)
        schedule.add(queue)
        schedule.place(queue)
        schedule.remove(queue)
    assert schedule.pop_rested() is None
    clock.micros = 3_000
    assert [schedule.pop_rested() for _ in range(4)] == [resting[2], resting[1], resting[0], None]
