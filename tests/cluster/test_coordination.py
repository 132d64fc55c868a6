"""The coordinator's decisions in small histories, told by hand."""

import msgspec
import pytest
from coordination_world import Folder, Process, World

from gossamer.cluster.answering import STOPPED
from gossamer.cluster.coordination.coordination import FINISHED, Coordination, CoordinationConfig
from gossamer.cluster.protocol import Fenced, Grant, Host, Report, agent_name, agent_number, pack, unpack
from gossamer.model.errors import ConfigError, InternalError, StorageError
from gossamer.model.reasons.reason import text

CONFIG = CoordinationConfig(bits=4, agents=2, shards_at_once=4)


def world_of(agents: int, config: CoordinationConfig = CONFIG) -> World:
    """A cluster in which everyone has what is theirs."""
    world = World(msgspec.structs.replace(config, agents=agents))
    for _ in range(agents):
        assert world.start()
    world.run(8)
    assert "" not in world.owners()
    return world


def settled(world: World) -> None:
    """Every shard has an owner, nothing moves, nothing that was in a snapshot is missing."""
    overview = world.there.overview(world.now())
    assert (overview.owned, overview.moving, overview.homeless) == (world.config.shards, 0, 0)
    assert overview.moves == ()
    assert "" not in world.owners()
    world.check_kept()


def named(world: World, name: str) -> Process:
    [process] = [process for process in world.alive() if process.me.name == name]
    return process


# Beginning …


def test_the_first_wait_for_the_others_and_share_the_shards() -> None:
    world = World(CONFIG)
    world.start()
    world.run(5)
    assert world.owners() == [""] * 16
    world.start()
    world.run(5)
    owners = world.owners()
    assert {owners.count(name) for name in ("a-1", "a-2")} <= {7, 8, 9}
    assert all(
        process.latest for process in world.alive()
    )  # seeds stand in a snapshot before anything is lent


def test_after_the_time_to_gather_those_who_are_there_begin() -> None:
    world = World(CONFIG)
    world.start()
    world.run(70)
    assert world.owners() == ["a-1"] * 16


def test_no_agent_is_answered_before_what_it_depends_on_is_saved() -> None:
    coordination = Coordination.new(CONFIG, 0.0)
    me = coordination.register(Host("n", "b"), None, 0.0)
    with pytest.raises(InternalError):
        coordination.renew(Report(agent=me.name, incarnation=1, term=1, number=1), 1.0)
    coordination.data()
    coordination.saved()
    assert isinstance(coordination.renew(Report(agent=me.name, incarnation=1, term=1, number=1), 1.0), Grant)
    with pytest.raises(InternalError):
        coordination.saved()


# Moving …


def test_a_join_moves_only_what_the_new_one_gets_a_few_at_a_time() -> None:
    world = world_of(2)
    before = world.owners()
    world.there.scale_to(3)
    world.start()
    most = 0
    for _ in range(40):
        world.run(1)
        moves = world.there.overview(world.now()).moves
        most = max([most, *(move.shards for move in moves)])
    after = world.owners()
    settled(world)
    assert most <= 4
    assert after.count("a-3") == 5  # floor(16 / 3 / 1.05)
    assert all(new in (old, "a-3") for old, new in zip(before, after, strict=True))


def test_a_visit_holds_up_the_move_of_its_shard_not_the_others() -> None:
    world = world_of(1, msgspec.structs.replace(CONFIG, shards_at_once=2))
    world.there.scale_to(2)
    [old] = world.alive()
    new = world.start()
    assert new is not None
    world.renew(new)
    world.there.tick(world.now())
    world.save()
    [move] = world.there.overview(world.now()).moves
    old.visit(0)
    world.renew(old)
    assert old.grant is not None
    [freeze] = old.grant.freezes
    frozen = set(unpack(freeze.shards))
    assert not frozen & old.owned
    old.visits = {min(frozen)}
    old.work()
    assert old.frozen == {}
    old.visits = set()
    old.work()
    assert list(old.frozen) == [move.number]
    assert old.touches() == set(range(16)) - frozen
    world.run(60)
    settled(world)


def test_a_drained_agent_gives_all_away_and_leaves() -> None:
    world = world_of(3)
    assert world.there.drain("a-2") == 1
    world.run(60)
    assert "a-2" not in world.owners()
    assert [process.me.name for process in world.alive()] == ["a-1", "a-3"]
    assert world.there.wanted_agents == 2
    assert world.there.retired_slots == (2,)
    assert world.there.wanted_slots == (1, 3)
    states = {agent.name: agent.state for agent in world.there.overview(world.now()).agents}
    assert states == {"a-1": "live", "a-2": "gone", "a-3": "live"}
    settled(world)


def test_a_node_is_drained_by_its_name() -> None:
    world = world_of(2)
    assert world.there.drain("elsewhere") == 0
    assert world.there.drain("node") == 2
    world.run(5)
    assert "" not in world.owners()  # nobody could take over: they keep what they have
    world.start()
    world.run(90)
    assert set(world.owners()) == {"a-3"}
    settled(world)


def test_scaling_down_drains_the_last_to_come() -> None:
    world = world_of(3)
    world.there.scale_to(1)
    world.run(90)
    assert set(world.owners()) == {"a-1"}
    assert world.there.live_agents == ("a-1",)
    settled(world)


# Losing …


def test_a_lost_agents_shards_go_to_others_from_its_snapshot_after_its_tenure() -> None:
    world = world_of(2)
    lost = named(world, "a-2")
    lost.snapshot()
    world.run(3)
    lost.end()
    died = world.time
    world.run(19, visits=False)
    assert "a-2" in {
        agent.name for agent in world.there.overview(world.now()).agents if agent.state == "live"
    }
    world.run(20)
    assert set(world.owners()) == {"a-1"}
    assert world.time - died < 60
    settled(world)
    overview = world.there.overview(world.now())
    assert [agent.state for agent in overview.agents] == ["live", "lost"]


def test_who_comes_back_in_time_goes_on_with_the_same_name() -> None:
    world = world_of(2)
    one = named(world, "a-1")
    before = world.owners()
    one.end()
    world.run(5)
    again = world.start(one.folder)
    assert again is not None
    assert (again.me.name, again.me.incarnation) == ("a-1", 2)
    world.run(3)
    assert world.owners() == before
    settled(world)


def test_who_was_cut_off_is_fenced_and_begins_anew() -> None:
    world = world_of(2)
    cut = named(world, "a-1")
    report = cut.report()
    for _ in range(30):
        others = [process for process in world.alive() if process is not cut]
        for process in others:
            world.renew(process)
            process.work()
        world.there.tick(world.now())
        world.save()
        world.pass_time(1)
    assert not cut.alive  # its tenure ended
    assert isinstance(world.ask(cut, report), Fenced)
    folder = cut.folder
    again = world.start(folder)
    assert again is not None
    assert again.me.name == "a-3"
    assert again.folder is not folder
    world.run(40)
    assert set(world.owners()) == {"a-2", "a-3"}
    settled(world)


def test_a_process_that_never_renews_gets_nothing() -> None:
    world = world_of(2)
    before = world.owners()
    world.there.scale_to(3)
    for _ in range(5):
        world.there.register(Host("node", "b"), None, world.now())  # it fails before its first renewal
        world.run(5)
        assert not world.there.overview(world.now()).moves
    world.run(30)
    assert world.owners() == before
    assert [agent.name for agent in world.there.overview(world.now()).agents] == ["a-1", "a-2"], "forgotten"
    late = Report(agent="a-3", incarnation=1, term=1, number=1)
    assert isinstance(world.there.renew(late, world.now()), Fenced)


def test_a_process_that_asks_again_is_the_agent_that_it_was() -> None:
    world = world_of(2)
    host = Host("node", "b", slot=3, process="p-1")
    world.store_works = False
    asked = {world.there.register(host, None, world.now()) for _ in range(5)}
    assert not world.save()
    world.store_works = True
    assert {world.there.register(host, None, world.now()), *asked} == {asked.copy().pop()}
    assert world.save()
    states = [agent.state for agent in world.there.overview(world.now()).agents]
    assert states == ["live", "live", "joining"]
    [me] = asked
    assert isinstance(world.there.renew(Report(agent=me.name, incarnation=1, term=1, number=1), 0.0), Grant)
    again = world.there.register(msgspec.structs.replace(host, process="p-2"), me.name, world.now())
    assert (again.name, again.incarnation) == (me.name, 2)


def test_an_older_process_of_the_same_name_is_fenced_at_once() -> None:
    world = world_of(2)
    one = named(world, "a-1")
    me = world.there.register(Host("node", "b"), "a-1", world.now())
    world.save()
    assert me.incarnation == 2
    assert isinstance(world.ask(one, one.report()), Fenced)
    assert isinstance(world.ask(one, msgspec.structs.replace(one.report(), agent="a-77")), Fenced)
    assert isinstance(world.ask(one, msgspec.structs.replace(one.report(), agent="x")), Fenced)


def test_a_folder_on_another_machine_lends_once_the_process_before_has_ended() -> None:
    world = world_of(2)
    old = named(world, "a-1")
    copied = Folder(**vars(old.folder))
    world.pass_time(2)
    new = world.start(copied, boot="another")  # the old process cannot be reached, and goes on
    assert new is not None
    assert new.me.name == "a-1"
    world.there.scale_to(3)
    world.start()
    for _ in range(17):
        for process in world.alive():
            if process is not old:
                world.renew(process)
                process.work()
        assert new.grant is not None
        assert new.grant.lease == 0
        assert new.grant.freezes == ()
        world.there.tick(world.now())
        world.save()
        world.pass_time(1)  # checks that no shard is with both
    assert not old.alive
    world.run(20)
    settled(world)
    assert set(world.owners()) == {"a-1", "a-2", "a-3"}


def test_a_folder_on_another_machine_keeps_what_is_to_move_until_it_may_lend() -> None:
    world = world_of(2)
    old = named(world, "a-1")
    old.snapshot()
    world.run(2)  # what it found is on record, so others have forgotten it
    old.end()
    moved = world.start(old.folder, boot="another")
    assert moved is not None
    world.there.scale_to(3)
    world.start()
    world.run(3)
    assert moved.grant is not None
    assert (moved.grant.lease, moved.grant.freezes) == (0, ())
    assert world.there._outlook.freezes[1], "which it is not told yet"
    moved.drop()
    world.run(40)
    assert set(world.owners()) == {"a-1", "a-2", "a-3"}
    settled(world)


def test_an_heir_takes_over_what_a_lost_agent_owed() -> None:
    world = world_of(2)
    lost = named(world, "a-1")
    lost.folder.outbox.add("owed")
    lost.snapshot()
    world.renew(lost)
    world.there.tick(world.now())
    world.save()
    world.renew(lost)
    lost.end()
    world.run(25, visits=False)
    assert "owed" in world.covered_outbox
    world.run(20)
    assert "owed" in world.delivered
    settled(world)


def test_a_move_is_given_up_if_its_target_dies() -> None:
    world = world_of(1)
    world.there.scale_to(2)
    target = world.start()
    world.run(2)
    assert world.there.overview(world.now()).moves
    assert target is not None
    target.end()
    world.run(60)
    assert world.owners() == ["a-1"] * 16
    settled(world)


def test_a_move_goes_on_if_its_source_dies() -> None:
    world = world_of(2)
    world.there.scale_to(3)
    world.start()
    for process in world.alive():
        world.renew(process)
    world.there.tick(world.now())
    world.save()
    assert len(world.there.overview(world.now()).moves) == 2
    named(world, "a-1").end()
    world.run(80)
    assert set(world.owners()) == {"a-2", "a-3"}
    settled(world)


# Snapshots that cannot be used …


def lost_with(world: World, snapshots: int, damaged: int) -> Process:
    """`a-2` is no more, with so many snapshots on record, of which the last ones are damaged."""
    lost = named(world, "a-2")
    for _ in range(snapshots):
        world.run(1)
        lost.folder.outbox.add(f"owed-{lost.folder.snapshots}")
        lost.snapshot()
        world.renew(lost)
    world.there.tick(world.now())
    world.save()
    lost.end()
    world.damaged = {("a-2", number) for number in range(lost.latest - damaged + 1, lost.latest + 1)}
    return lost


def test_a_lost_agents_shards_go_on_from_the_newest_snapshot_that_can_be_read() -> None:
    world = world_of(3)
    lost = lost_with(world, snapshots=4, damaged=2)
    had = world.snapshots["a-2", lost.latest - 2]
    world.run(60)
    overview = world.there.overview(world.now())
    assert (overview.owned, overview.moves) == (16, ())
    held = {shard: process.folder.shards[shard] for process in world.alive() for shard in process.owned}
    assert all(had.shards[shard] <= held[shard] for shard in had.shards)
    losses = [(loss.agent, loss.snapshot, loss.used) for loss in overview.losses]
    assert losses == [("a-2", lost.latest - back, lost.latest - back - 1) for back in (0, 1)]
    assert all(loss.outbox and loss.reason == "it is damaged" for loss in overview.losses)
    assert [agent.snapshot for agent in overview.agents if agent.state == "lost"] == [lost.latest - 2]
    assert {loss.shards for loss in overview.losses} == {len(had.shards)}
    world.crash()
    world.restart()
    assert world.there.overview(world.now()).losses == overview.losses


def test_with_no_snapshot_that_can_be_read_shards_begin_anew_and_the_crawl_ends() -> None:
    world = world_of(3)
    lost = lost_with(world, snapshots=2, damaged=99)
    before = world.alive()[0].grant
    assert before is not None
    world.run(60)
    overview = world.there.overview(world.now())
    assert (overview.owned, overview.moves) == (16, ())
    assert "" not in world.owners()
    assert overview.losses[-1].used == 0
    assert overview.losses[-1].shards == len(lost.folder.shards)
    after = world.alive()[0].grant
    assert after is not None
    assert after.losses == len(overview.losses) > before.losses == 0
    quieten(world)
    world.run(15, visits=False)
    assert world.there.stop_reason == FINISHED
    assert world.there.over


def test_an_agent_that_lives_is_asked_for_another_snapshot() -> None:
    world = world_of(1)
    [old] = world.alive()
    world.there.scale_to(2)
    new = world.start()
    assert new is not None
    world.renew(new)
    for _ in range(3):
        world.run(1, cut=new)
    assert old.frozen
    world.damaged = {("a-1", number) for number in old.frozen.values()}
    world.renew(old)
    world.renew(new)
    new.work()
    assert new.damaged
    world.renew(new)
    world.save()
    world.renew(old)
    assert old.grant is not None
    assert [freeze.doubted for freeze in old.grant.freezes] == [True]
    world.run(60)
    assert set(world.owners()) == {"a-1", "a-2"}
    assert world.there.overview(world.now()).losses == ()
    settled(world)


# The coordinator …


def test_a_coordinator_that_comes_back_gives_nothing_away_before_all_may_have_ended() -> None:
    world = world_of(2)
    named(world, "a-1").end()
    world.run(15)
    world.crash()
    world.pass_time(3)
    world.restart()
    world.run(18)
    states = [agent.state for agent in world.there.overview(world.now()).agents]
    assert states == ["live", "live"]
    world.run(60)
    assert set(world.owners()) == {"a-2"}
    settled(world)


def test_renewals_go_on_while_the_store_fails() -> None:
    world = world_of(2)
    world.store_works = False
    world.there.scale_to(3)
    assert world.start() is None
    before = world.owners()
    world.run(60)
    assert world.owners() == before
    world.store_works = True
    world.start()
    world.run(60)
    assert "" not in world.owners()
    settled(world)


def test_a_report_that_is_late_or_double_changes_nothing() -> None:
    world = world_of(2)
    one = named(world, "a-1")
    late = one.report()
    world.run(5)
    before = world.there.overview(world.now()).agents
    assert isinstance(world.ask(one, late), Grant)
    after = world.there.overview(world.now()).agents
    assert [agent.pages for agent in after] == [agent.pages for agent in before]


def test_a_snapshot_on_record_is_never_an_older_one() -> None:
    world = world_of(2)
    one = named(world, "a-1")
    late = one.report()
    one.snapshot()
    world.run(2)
    world.crash()
    world.restart()
    world.ask(one, late)
    [agent, _] = world.there.overview(world.now()).agents
    assert agent.snapshot == one.latest == late.snapshot + 1


def test_a_snapshot_is_on_record_once_that_is_saved() -> None:
    world = world_of(2)
    one = named(world, "a-1")
    before = one.latest
    one.snapshot()
    world.store_works = False
    world.run(3)
    assert one.grant is not None
    assert one.grant.snapshot == before
    world.store_works = True
    world.run(2)
    assert one.grant.snapshot == one.latest == before + 1


def test_what_is_decided_while_it_is_saved_is_saved_next() -> None:
    coordination = Coordination.new(CONFIG, 0.0)
    coordination.data()
    coordination.saved()
    coordination.scale_to(3)
    data = coordination.data()
    coordination.scale_to(4)
    coordination.stop(text("enough"))
    coordination.saved()
    assert coordination.dirty
    assert Coordination.load(data, 0.0).wanted_agents == 3
    assert Coordination.load(data, 0.0).stop_reason is None
    assert Coordination.load(coordination.data(), 0.0).wanted_agents == 4
    coordination.saved()
    assert not coordination.dirty


def test_a_late_report_to_a_new_coordinator_frees_no_allowance() -> None:
    world = World(msgspec.structs.replace(CONFIG, max_pages=1000))
    one, two = world.start(), world.start()
    assert one is not None
    assert two is not None
    late = one.report(), two.report()
    world.run(10)
    assert one.grant is not None
    assert one.grant.page_allowance > 100
    world.crash()
    world.restart()
    for process, report in zip((one, two), late, strict=True):
        answer = world.ask(process, report)
        assert isinstance(answer, Grant)
        assert answer.page_allowance == report.page_allowance == 0
    assert world.there._heartbeats._pages is not None
    assert world.there._heartbeats._pages.free == 0


def test_damaged_state_is_refused() -> None:
    with pytest.raises(StorageError):
        Coordination.load(b"\x01", 0.0)
    coordination = Coordination.new(CONFIG, 0.0)
    data = msgspec.msgpack.decode(coordination.data())
    with pytest.raises(StorageError):
        Coordination.load(msgspec.msgpack.encode({**data, "format": 99}), 0.0)


# Ending …


def quieten(world: World, *, idle: bool = True) -> None:
    for process in world.alive():
        process.idle = idle


def test_when_all_is_done_all_stop_and_end() -> None:
    world = world_of(3)
    quieten(world)
    world.run(15, visits=False)
    assert world.there.stop_reason == FINISHED
    assert world.there.over
    assert world.alive() == []


def test_nothing_is_over_while_one_has_work() -> None:
    world = world_of(3)
    quieten(world)
    named(world, "a-2").idle = False
    world.run(40, visits=False)
    assert world.there.stop_reason is None


def test_an_agent_lost_before_its_last_snapshot_takes_the_end_back() -> None:
    world = world_of(2)
    quieten(world)
    dumb = named(world, "a-1")
    dumb.work = lambda: None  # type: ignore[method-assign]
    world.run(10, visits=False)
    assert world.there.stop_reason == FINISHED
    assert not world.there.over
    dumb.end()
    world.run(22, visits=False)
    assert world.there.stop_reason is None
    world.run(30, visits=False)
    assert world.there.over


def test_an_agent_that_comes_back_in_the_end_takes_it_back() -> None:
    world = world_of(2)
    quieten(world)
    dumb = named(world, "a-1")
    dumb.work = lambda: None  # type: ignore[method-assign]
    world.run(10, visits=False)
    assert world.there.stop_reason == FINISHED
    dumb.end()
    world.start(dumb.folder)
    world.run(5, visits=False)
    assert world.there.stop_reason is None
    quieten(world)
    world.run(20, visits=False)
    assert world.there.over


def test_an_operators_stop_and_a_resume_with_another_number_of_agents() -> None:
    world = world_of(3)
    world.there.stop(STOPPED)
    world.there.stop(text("later"))
    folders = [process.folder for process in world.alive()]
    world.run(5)
    assert str(world.there.stop_reason) == "interrupted"
    assert world.there.over
    world.crash()
    world.restart(resume=True)
    assert world.there.stop_reason is None
    world.there.scale_to(2)
    for folder in folders[1:]:
        world.start(folder)
    world.run(30)
    assert "" in world.owners()  # the third may still come
    world.run(60)
    assert set(world.owners()) == {"a-2", "a-3"}
    settled(world)


def test_a_resume_may_have_other_limits_but_not_other_shards() -> None:
    world = world_of(2)
    coordination = Coordination.load(world.saved, 0.0)
    with pytest.raises(ConfigError):
        coordination.resume(0.0, CoordinationConfig(bits=5))
    coordination.resume(0.0, msgspec.structs.replace(CONFIG, agents=5, max_pages=7))
    assert coordination.wanted_agents == 5


def test_the_page_limit_is_reached_and_never_passed() -> None:
    world = World(msgspec.structs.replace(CONFIG, agents=3, max_pages=777))
    for _ in range(3):
        world.start()
    for _ in range(200):
        world.run(1)
        assert sum(process.folder.pages for process in world.processes) <= 777
    assert str(world.there.stop_reason) == "max_pages 777"
    assert world.there.over
    assert sum(process.folder.pages for process in world.processes) == 777


def test_the_time_limit_counts_all_starts() -> None:
    world = world_of(1, msgspec.structs.replace(CONFIG, max_time=100.0))
    world.run(60)
    world.crash()
    world.pass_time(1000)
    world.restart(resume=True)
    world.start(world.processes[0].folder)
    world.run(25)
    assert world.there.stop_reason is None
    world.run(25)
    assert str(world.there.stop_reason) == "max_time 100"


def test_hosts_that_join_the_scope_are_told_to_all() -> None:
    world = world_of(2)
    one, two = world.alive()
    one.joined = ["www.example.org", "www.example.org"]
    two.joined = ["b.example", "www.example.org"]
    world.run(4)
    assert one.scope == two.scope == ["www.example.org", "b.example"]
    world.crash()
    world.restart()
    world.run(4)
    assert one.scope == ["www.example.org", "b.example"]


# Names and numbers …


def test_names_and_packed_numbers() -> None:
    assert agent_number(agent_name(65_535)) == 65_535
    for name in ("a-0x", "b-1", "a-", "a-01", "a-65536", "a--1", "a-²"):
        with pytest.raises(ValueError, match="name of an agent"):
            agent_number(name)
    assert unpack(pack([0, 1, 65_535])) == (0, 1, 65_535)
    assert pack([258]) == b"\x02\x01"
