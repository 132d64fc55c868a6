"""An archive is followed in its order, as far as it is committed, each record once, whatever is cut away."""

from pathlib import Path

import pytest
from archive_samples import STARTED_DATE, exchange, open_writer

from gossamer.archive.committed import MOST_CUTS, Committed, Cut, archive_key, committed, note_cut
from gossamer.archive.follower import START, FollowedRecord, Follower, Mark, Rewound, Unreadable
from gossamer.archive.placement import Original
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import encode


class Written:
    """An archive that is being written, and what is committed of it."""

    def __init__(self, folder: Path, **settings) -> None:
        self.folder = folder
        self.files, self.cuts = {}, []
        self.settings = settings
        self.writer = open_writer(folder, **settings)

    def append(self, *names, size=0):
        placed = []
        for name in names:
            url = f"https://example.org/{name}"
            placed.append(self.writer.append(exchange(name.encode() + b"." * size, url=url), [("via", "x")]))
        return placed

    def commit(self):
        self.files |= {file.name: file for file in self.writer.positions()}
        self.writer.committed()

    def rotate(self):
        self.writer.rotate()

    def look(self) -> Committed:
        return Committed(sorted(self.files.values(), key=lambda file: file.serial), list(self.cuts))

    def go_back(self, files, history="again"):
        """As `resume --from-checkpoint`."""
        self.writer.abandon()
        self.files = dict(files)
        last = max(self.files.values(), key=lambda file: file.serial)
        self.cuts.append(Cut(history, last.serial, last.length))
        self.writer = open_writer(self.folder, list(self.files.values()), **self.settings)


def names(items):
    """The last part of each URL; what is no record as itself."""
    return [item.url.rpartition("/")[2] if isinstance(item, FollowedRecord) else item for item in items]


def follow(written, mark=START):
    return Follower(written.folder, written.look, mark)


@pytest.fixture
def written(tmp_path):
    return Written(tmp_path)


def test_what_a_record_says(written):
    (placed,) = written.append("a")
    written.commit()
    (record,) = follow(written).read()
    assert (record.kind, record.url, record.status) == ("response", "https://example.org/a", 200)
    assert (record.media_type, record.date) == ("text/html", STARTED_DATE)
    assert (record.file, record.offset, record.record_id) == (placed.file, placed.offset, placed.record_id)


def test_revisits_and_what_came_by_other_protocols(written):
    (first,) = written.append("a")
    original = Original("https://example.org/a", first.date, first.sha256, first.record_id)
    written.writer.append(exchange(b"a", url="https://example.org/b"), (), original)
    written.writer.append(exchange(b"text", url="ftp://example.org/c", protocol="ftp"))
    written.commit()
    told = [(item.kind, b"".join(item.payload())) for item in follow(written).read()]
    assert told == [("response", b"a"), ("revisit", b""), ("resource", b"text")]


def test_nothing_is_given_before_it_is_committed(written):
    follower = follow(written)
    assert names(follower.read()) == []
    written.append("a")
    assert names(follower.read()) == []
    written.commit()
    written.append("b")
    assert names(follower.read()) == ["a"]
    written.commit()
    assert names(follower.read()) == ["b"]
    assert names(follower.read()) == []


def test_it_goes_on_from_every_mark_and_over_files(tmp_path):
    written = Written(tmp_path)
    for pair in ("ab", "cd", "ef"):
        written.append(*pair)
        written.commit()
        if pair != "ef":
            written.rotate()
    written.commit()
    marks = [START, *[record.finish() for record in follow(written).read()]]
    assert [names(follow(written, mark).read()) for mark in marks] == [
        list("abcdef")[done:] for done in range(7)
    ]
    assert marks == sorted(marks, key=lambda mark: mark.place)


def test_a_file_that_gets_its_name_meanwhile_is_read_on(written):
    written.append("a", "b")
    written.commit()
    reading = follow(written).read()
    assert next(reading).url.endswith("a")
    written.rotate()
    assert names(reading) == ["b"]


def test_bodies_stream_in_bounded_pieces(written):
    written.append("a", size=3 << 20)
    written.append("b")
    written.commit()
    sizes = []
    for record in follow(written).read():
        sizes += map(len, record.payload())
    assert max(sizes) <= 1 << 18 and sum(sizes) == (3 << 20) + 2


def test_half_a_body_may_be_left(written):
    written.append("a", size=3 << 20)
    written.append("b")
    written.commit()
    seen = [next(record.payload())[:1] for record in follow(written).read()]
    assert seen == [b"a", b"b"]
    first = [record.first(300_000) for record in follow(written).read()]
    assert list(map(len, first)) == [300_000, 1]


def test_a_damaged_record_is_passed_over(written):
    places = written.append("a", "b", "c")
    written.commit()
    path = next(written.folder.iterdir())
    data = bytearray(path.read_bytes())
    data[places[1].offset + 3] ^= 0xFF
    data[places[1].offset + 20] ^= 0xFF
    path.write_bytes(data)
    follower = follow(written)
    items = list(follower.read())
    said = [item.after for item in items if isinstance(item, Unreadable)] or [items[1].finish()]
    assert names(items)[0] == "a" and names(items)[-1] == "c"
    assert places[1].offset < said[0].offset <= places[2].offset


def test_a_body_that_breaks_off_is_said(written):
    places = written.append("a", "b", size=2 << 20)
    written.commit()
    path = next(written.folder.iterdir())
    data = bytearray(path.read_bytes())
    data[places[0].offset + places[0].length - 40] ^= 0xFF
    path.write_bytes(data)
    first, second = [(record.url[-1], record.finish() and record.damage) for record in follow(written).read()]
    assert first[0] == "a" and first[1] and second == ("b", "")
    assert [record.first(3 << 20) is None for record in follow(written).read()] == [True, False]


def test_a_closed_file_that_was_moved_away_is_said(written):
    written.append("a")
    written.commit()
    written.rotate()
    written.append("b")
    written.commit()
    next(path for path in written.folder.iterdir() if path.suffix == ".gz").unlink()
    missing, record = follow(written).read()
    assert isinstance(missing, Unreadable) and record.url.endswith("b")
    assert names(follow(written, missing.after).read()) == ["b"]


def test_back_to_a_checkpoint(written):
    written.append("a", "b")
    written.commit()
    checkpoint = dict(written.files)
    here = follow(written)
    list(here.read())
    short, behind = Mark(0, 0, ""), here.mark
    written.append("c", "d")
    written.commit()
    list(here.read())
    beyond = here.mark
    written.go_back(checkpoint)
    written.append("C", "D", "E")
    written.commit()
    cut = Mark(*behind.place, "again")
    assert names(here.read()) == [Rewound(cut), "C", "D", "E"]
    assert names(follow(written, beyond).read()) == [Rewound(cut), "C", "D", "E"]
    assert names(follow(written, behind).read()) == ["C", "D", "E"], "it had read no further"
    assert names(follow(written, short).read()) == ["a", "b", "C", "D", "E"]
    assert names(follow(written, here.mark).read()) == []


def test_back_twice_to_one_checkpoint(written):
    written.append("a")
    written.commit()
    checkpoint = dict(written.files)
    written.append("b")
    written.commit()
    written.go_back(checkpoint, "first")
    written.append("c")
    written.commit()
    here = follow(written)
    list(here.read())
    written.cuts = []  # the checkpoint is older than what was noted
    written.go_back(checkpoint, "second")
    written.append("d")
    written.commit()
    assert isinstance((items := list(here.read()))[0], Rewound) and names(items[1:]) == ["d"]


def test_commits_that_a_power_failure_took(written):
    written.append("a")
    written.commit()
    before = dict(written.files)
    written.append("b")
    written.commit()
    here = follow(written)
    list(here.read())
    written.files = before
    assert names(here.read()) == [Rewound(Mark(0, next(iter(before.values())).length))]


def test_the_state_says_all_this(tmp_path):
    environment = Environment.open(tmp_path / "state", StateConfig())
    written = Written(tmp_path / "archive")
    assert committed(environment) == Committed([], [])
    for name in ("a", "b"):
        written.append(name)
        written.commit()
        written.rotate()
    written.commit()
    batch = environment.batch()
    for file in written.files.values():
        batch.put(Family.META, archive_key(file.name), encode(file))
    environment.commit(batch)
    for _ in range(MOST_CUTS + 5):
        batch = environment.batch()
        note_cut(environment, batch)
        environment.commit(batch)
    view = committed(environment)
    assert [file.serial for file in view.files] == [0, 1]
    assert len(view.cuts) == MOST_CUTS == len({cut.history for cut in view.cuts})
    assert {(cut.serial, cut.length) for cut in view.cuts} == {(1, view.files[1].length)}
    environment.close()
