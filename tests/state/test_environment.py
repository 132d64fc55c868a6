"""The RocksDB environment: atomic batches, scans, one writer, readers beside it, checkpoints."""

import contextlib
import os
from pathlib import Path

import pytest
import rocksdict

from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.environment import RECORD, Environment, Family, StateConfig

SMALL = StateConfig(block_cache=1 << 20, write_buffers=1 << 20)


@pytest.fixture
def environment(tmp_path):
    environment = Environment.open(tmp_path / "crawl" / "state", SMALL)
    yield environment
    environment.close()


def put(environment, *pairs):
    batch = environment.batch()
    for family, key, value in pairs:
        batch.put(family, key, value)
    environment.commit(batch)


@pytest.fixture(autouse=True)
def _folder(tmp_path):
    (tmp_path / "crawl").mkdir()


def test_a_batch_is_real_only_when_committed(environment):
    batch = environment.batch()
    batch.put(Family.SEEN, b"k", b"v")
    batch.put(Family.PAGES, b"k", b"p")
    assert environment.get(Family.SEEN, b"k") is None
    environment.commit(batch)
    assert (environment.get(Family.SEEN, b"k"), environment.get(Family.PAGES, b"k")) == (b"v", b"p")


def test_scans_stay_within_their_prefix(environment):
    put(environment, *((Family.QUEUE, key, b"") for key in (b"a1", b"a3", b"a2", b"b1", b"\xff\xff1")))
    assert [key for key, _ in environment.scan(Family.QUEUE, prefix=b"a")] == [b"a1", b"a2", b"a3"]
    assert [key for key, _ in environment.scan(Family.QUEUE, b"a2", b"a")] == [b"a2", b"a3"]
    assert [key for key, _ in environment.scan(Family.QUEUE, prefix=b"\xff\xff")] == [b"\xff\xff1"]
    assert len(list(environment.scan(Family.QUEUE))) == 5


def test_a_second_writer_is_told_so(environment):
    with pytest.raises(ConfigError, match="another process"):
        Environment.open(environment.path, SMALL)


def test_a_reader_beside_the_writer_sees_what_was_committed(environment, tmp_path):
    put(environment, (Family.META, b"a", b"1"))
    reader = Environment.open_secondary(environment.path, tmp_path / "scratch", SMALL)
    assert reader.get(Family.META, b"a") == b"1"
    reader.close()


def test_what_may_only_be_read_is_read_through_links(tmp_path, monkeypatch):
    environment = Environment.open(tmp_path / "crawl" / "state", SMALL)
    put(environment, (Family.META, b"a", b"1"))
    environment.close()
    record = environment.path / RECORD
    before = record.stat().st_mtime_ns
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or path != record)  # root may do all
    reader = Environment.open_secondary(environment.path, tmp_path / "scratch", SMALL)
    assert reader.get(Family.META, b"a") == b"1"
    reader.close()
    assert record.stat().st_mtime_ns == before
    (environment.path / "CURRENT").write_bytes(b"nonsense")
    with pytest.raises(StorageError, match=f"^{environment.path}: the state cannot be opened"):
        Environment.open_secondary(environment.path, tmp_path / "other", SMALL)


def test_a_checkpoint_is_as_of_then(environment, tmp_path):
    put(environment, (Family.META, b"a", b"1"))
    environment.sync()
    environment.checkpoint(tmp_path / "copy")
    put(environment, (Family.META, b"a", b"2"))
    copy = Environment.open(tmp_path / "copy", SMALL)
    assert copy.get(Family.META, b"a") == b"1"
    copy.close()


def test_damage_names_the_remedy(tmp_path):
    path = tmp_path / "crawl" / "state"
    environment = Environment.open(path, SMALL)
    put(environment, (Family.META, b"a", b"1"))
    environment.close()
    (path / "CURRENT").write_bytes(b"nonsense")
    with pytest.raises(StorageError, match="--from-checkpoint"):
        Environment.open(path, SMALL)


def test_table_files_within_the_limit_stay_open(tmp_path):
    config = StateConfig(block_cache=8 << 20, write_buffers=1 << 20, max_open_files=50)
    environment = Environment.open(tmp_path / "crawl" / "many", config)
    families = [family for family in Family if family is not Family.META]
    for turn in range(2):  # each a file to a family
        put(environment, *((family, b"%d" % turn, b"v" * 100) for family in families))
        environment.checkpoint(tmp_path / f"taken-{turn}")

    def look_up_all():
        return [environment.get(family, b"%d" % turn) for family in families for turn in range(2)]

    look_up_all()
    before = bytes_read()
    assert look_up_all() == [b"v" * 100] * 2 * len(families)
    assert bytes_read() - before < 4_000  # of /proc, by this test; a file that is opened is read for as much
    environment.close()


def bytes_read():
    status = Path("/proc/self/io").read_text()
    return int(status.partition("rchar:")[2].split(None, 1)[0])


@pytest.mark.parametrize("linked", [False, True])
def test_a_table_that_cannot_be_opened_is_damage_where_nobody_writes(tmp_path, linked):
    path, scratch = tmp_path / "state", tmp_path / "scratch" if linked else None
    environment = Environment.open(path, SMALL)
    put(environment, (Family.META, b"a", b"1"))
    environment.close()
    with contextlib.closing(Environment.open_read_only(path, SMALL, scratch)) as whole:
        assert list(whole.scan(Family.META)) == [(b"a", b"1")]
    [table] = path.glob("*.sst")
    content = bytearray(table.read_bytes())
    content[-60] ^= 1
    table.write_bytes(content)
    with pytest.raises(StorageError, match="the state cannot be"):
        list(Environment.open_read_only(path, SMALL, scratch and tmp_path / "more").scan(Family.META))


def test_a_state_of_an_older_version_lacks_families_until_it_is_written_to(tmp_path):
    path = tmp_path / "crawl" / "state"
    old = Environment.open(path, SMALL)
    put(old, (Family.PAGES, b"k", b"v"))
    old.close()
    there = {name: rocksdict.Options(raw_mode=True) for name in rocksdict.Rdict.list_cf(str(path))}
    with_all = rocksdict.Rdict(str(path), rocksdict.Options(raw_mode=True), column_families=there)
    with_all.drop_column_family(Family.AGAIN.value)
    with_all.close()
    for reader in (
        Environment.open_secondary(path, tmp_path / "scratch", SMALL),
        Environment.open_read_only(path, SMALL),
        Environment.open_partial(path, SMALL),
    ):
        assert reader.get(Family.PAGES, b"k") == b"v"
        assert reader.get(Family.AGAIN, b"k") is None
        assert list(reader.scan(Family.AGAIN)) == reader.tables(Family.AGAIN) == []
        assert reader.estimate(Family.AGAIN) == 0
        reader.close()
    new = Environment.open(path, SMALL, create=False)
    put(new, (Family.AGAIN, b"k", b""))
    assert (new.get(Family.AGAIN, b"k"), new.get(Family.PAGES, b"k")) == (b"", b"v")
    new.close()
