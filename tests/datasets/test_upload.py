"""A crawl is copied to a store that may break at any call: nothing is half there, nothing lost, little sent twice."""

import gc
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import in_process
import pytest

pytest.importorskip("fsspec", reason="the extra `store` is not installed")

from hostile_store import Bucket, KilledError
from small_site import small_site

from gossamer.assembly.folder import CrawlFolder
from gossamer.datasets.upload import trying, uploading
from gossamer.datasets.upload.ledger import FOLDER, Done, Ledger, Stored, is_whole, known_store
from gossamer.datasets.upload.proof import prove_upload
from gossamer.datasets.upload.trying import OWNER, tried, tried_apart
from gossamer.datasets.upload.uploading import MANIFEST, Upload
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import because
from gossamer.state import object_store
from gossamer.state.object_store import Patience, Store

ADDRESSES = ("bucket://ours/crawl", "server://ours/crawl")
PAGES = 12
FULL = OSError(28, "No space left on device")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has ended, with an archive of several files, some of them large enough to be sent in parts."""
    root = tmp_path_factory.mktemp("crawl")
    links = "".join(f"<a href=/{number}>{number}</a>" for number in range(PAGES))
    with small_site(lambda path: links + hashlib.sha256(path.encode()).hexdigest() * 9) as site:
        ran = in_process.gossamer(
            "crawl", site, "--min-delay", "0", "--dir", "crawl", "-q", "--set", "archive.max_file_size=3KiB",
            "--set", "engine.guess_sitemap=false", cwd=root,
        )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return root / "crawl"


@pytest.fixture
def crawl(crawled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The crawl, to be uploaded by somebody who loses patience at once, in small parts."""
    monkeypatch.setattr(object_store, "CHUNK", 1_000)
    monkeypatch.setattr(object_store, "PART", 1_000)
    monkeypatch.setattr(uploading, "opened", lambda address: Store(address, Patience(2, 0.0, 0.0)))
    monkeypatch.setattr(uploading, "_TURN", 0.0)
    return Path(shutil.copytree(crawled, tmp_path / "crawl"))


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Empty stores; they are tried in this process, as no other has them."""
    monkeypatch.setattr(trying, "tried_apart", tried)
    for place in (Bucket.objects, Bucket.unfinished):
        place.clear()
    Bucket.whole_again()
    yield
    Bucket.whole_again()


@pytest.fixture(params=ADDRESSES)
def address(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def upload(crawl: Path, address: str, *, once: bool = False) -> Done:
    sending = Upload(crawl, address)
    try:
        return sending.run(once=once)
    finally:
        sending.close()


def there() -> dict[str, bytes]:
    """What somebody finds in the store, by names below the address."""
    return {path.removeprefix("ours/crawl/"): content for path, content in Bucket.objects.items()}


def wanted(crawl: Path) -> dict[str, bytes]:
    """What is to be in the store, but for the mark of the crawl and the manifest."""
    names = ["crawl.toml", "index.cdxj", "crawl.log", "history.jsonl", "report.json"]
    paths = {name: crawl / name for name in names if (crawl / name).exists()}
    paths |= {f"archive/{path.name}": path for path in (crawl / "archive").iterdir()}
    last = max((crawl / "checkpoints").iterdir())
    paths |= {f"state/{path.name}": path for path in last.iterdir() if path.name != "inventory"}
    return {name: path.read_bytes() for name, path in paths.items()}


def assert_nothing_half(crawl: Path) -> None:
    """Under its last name everything is what it is in the crawl's folder."""
    whole = wanted(crawl)
    for name, content in there().items():
        if name == MANIFEST:
            json.loads(content)
        elif name != OWNER and "/.unfinished-" not in f"/{name}":
            assert content == whole[name], name


def assert_all_there(crawl: Path) -> None:
    assert_nothing_half(crawl)
    assert set(there()) == {*wanted(crawl), OWNER, MANIFEST}
    listed = {one["path"]: (one["bytes"], one["hash"]) for one in json.loads(there()[MANIFEST])["resources"]}
    sums = {name: (len(data), f"sha256:{hashlib.sha256(data).hexdigest()}") for name, data in there().items()}
    assert listed == {name: what for name, what in sums.items() if name != MANIFEST}
    assert not Bucket.unfinished


def sent(calls: list[tuple[str, str]], *, archive: bool = True) -> list[str]:
    """Names of the objects that were put as a whole."""
    kinds = {"put", "complete", "move"}
    names = [path.partition("/")[2] for kind, path in calls if kind in kinds]
    return [name for name in names if name.startswith("archive/") == archive and "unfinished" not in name]


def test_all_of_an_ended_crawl_goes_there_and_can_be_taken_back(
    crawl: Path, address: str, tmp_path: Path
) -> None:
    done = upload(crawl, address)
    assert_all_there(crawl)
    assert done == Done(address, len(there()), done.bytes, len(there()) - 2, whole=True)
    assert is_whole(crawl)
    assert done.bytes == sum(map(len, there().values()))
    assert Bucket.count()["part"] > 4, "large ones go in parts"
    assert (Bucket.count()["move"] > 4) == (address == ADDRESSES[1]), (
        "where nothing is whole before, by another name"
    )
    copy = tmp_path / "copy"
    for name, content in there().items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(content)
    for line in (("check", "copy"), ("status", "copy"), ("list", "copy")):
        ran = in_process.gossamer(*line, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) == PAGES + 2, "and the first page, and the robots file"


def test_what_is_there_is_neither_sent_nor_asked_for_again(crawl: Path, address: str) -> None:
    upload(crawl, address)
    Bucket.calls.clear()
    assert upload(crawl, address).sent == 0
    assert [path for kind, path in Bucket.calls if kind != "list"] == [f"crawl/{OWNER}"]
    assert bool(Bucket.count()["list"]) == (address == ADDRESSES[1]), "for what was left unfinished there"


def test_the_state_can_be_opened_at_any_moment(crawl: Path) -> None:
    """RocksDB begins with CURRENT, which names the manifest, which names the tables."""
    upload(crawl, ADDRESSES[0])
    names = [name for name in sent(Bucket.calls, archive=False) if name.startswith("state/")]
    assert names[-1] == "state/CURRENT"
    assert names[-2].startswith("state/MANIFEST-")
    assert sent(Bucket.calls, archive=False)[-1] == MANIFEST


@pytest.mark.parametrize("kind", ["put", "begin", "part", "complete", "move", "head"])
def test_a_call_that_fails_once_is_made_again(crawl: Path, address: str, kind: str) -> None:
    failed: list[str] = []

    def breaks(what: str, path: str) -> BaseException | None:
        if what == kind and not failed and "/archive/" in path:
            failed.append(path)
            return OSError(5, "500 Internal Server Error")
        return None

    Bucket.breaks = staticmethod(breaks)
    assert upload(crawl, address).whole
    assert_all_there(crawl)


@pytest.mark.parametrize("kind", ["begin", "part", "complete"])
def test_a_store_that_is_full_has_nothing_half(crawl: Path, address: str, kind: str) -> None:
    count = [0]

    def breaks(what: str, _: str) -> BaseException | None:
        count[0] += what == kind
        return FULL if what == kind and count[0] > 3 else None

    Bucket.breaks = staticmethod(breaks)
    if address == ADDRESSES[1] and kind == "complete":
        return  # nothing is completed there
    with pytest.raises(StorageError, match="No space left on device"):
        upload(crawl, address)
    assert_nothing_half(crawl)
    assert not Bucket.unfinished
    assert not [name for name in there() if "unfinished" in name]
    before = set(there())
    Bucket.whole_again()
    assert upload(crawl, address).whole
    assert_all_there(crawl)
    assert not before & set(sent(Bucket.calls))


def killed_at(crawl: Path, address: str, number: int) -> bool:
    """Upload, killed at the call of that number; whether there were so many."""
    Bucket.breaks = staticmethod(lambda *_: KilledError() if len(Bucket.calls) == number else None)
    try:
        upload(crawl, address)
    except KilledError:
        return True
    return False


def assert_goes_on(crawl: Path, address: str) -> None:
    """After a kill nothing is half there, and the next one sends the rest, and what is there not again."""
    assert_nothing_half(crawl)
    before = [name for name in there() if name.startswith("archive/") and "unfinished" not in name]
    Bucket.unfinished.clear()  # as the store's rule for parts does
    Bucket.whole_again()
    assert upload(crawl, address).whole
    assert_all_there(crawl)
    assert not set(before) & set(sent(Bucket.calls)), "sent twice"


@pytest.mark.parametrize("number", [1, 9, 14, 35])
def test_killed_it_goes_on(crawl: Path, address: str, number: int) -> None:
    assert killed_at(crawl, address, number)
    assert_goes_on(crawl, address)


@pytest.mark.slow
def test_killed_at_any_call_it_goes_on(crawl: Path, address: str, tmp_path: Path) -> None:
    number = 0
    while True:
        number += 1
        Bucket.whole_again()
        Bucket.objects.clear()
        copy = Path(shutil.copytree(crawl, tmp_path / str(number)))
        if not killed_at(copy, address, number):
            break
        assert_goes_on(copy, address)
    assert number > 50


def test_killed_before_it_was_noted_it_is_looked_at_and_not_sent_again(
    crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(name: str) -> None:
        if name == "upload.sent":
            raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(uploading, "fault_point", die)
        with pytest.raises(KilledError):
            upload(crawl, ADDRESSES[0])
    (one,) = sent(Bucket.calls)
    Bucket.calls.clear()
    assert upload(crawl, ADDRESSES[0]).whole
    assert one not in sent(Bucket.calls)
    assert_all_there(crawl)


def test_what_came_to_lie_there_shorter_is_deleted_and_told(crawl: Path, address: str) -> None:
    Bucket.kept = staticmethod(lambda content: content[:-1] if len(content) > 100 else content)
    if address == ADDRESSES[0]:
        with pytest.raises(StorageError, match="bytes that differ came to lie there, and were deleted"):
            upload(crawl, address)
        assert set(there()) == {OWNER}
    Bucket.whole_again()
    assert upload(crawl, address).whole
    assert_all_there(crawl)


def test_what_came_to_lie_there_shorter_is_noticed_without_a_digest(crawl: Path) -> None:
    Bucket.etag = staticmethod(lambda _: "none")
    Bucket.kept = staticmethod(lambda content: content[:-1] if len(content) > 100 else content)
    with pytest.raises(StorageError, match="bytes that differ came to lie there, and were deleted"):
        upload(crawl, ADDRESSES[0])
    assert set(there()) == {OWNER}


def test_a_file_that_is_shorter_than_it_was_is_not_sent_in_part(address: str, tmp_path: Path) -> None:
    """Writers of fsspec finish what they are writing when they are closed, and when they are forgotten."""
    (tmp_path / "file").write_bytes(bytes(100_000))
    with pytest.raises(StorageError, match="ends before what was committed of it"):
        Store(address).put_file("a/object", tmp_path / "file", 0, 100_001)
    gc.collect()
    assert not Bucket.objects
    assert not Bucket.unfinished


def test_what_came_to_lie_there_damaged_is_deleted_and_told(crawl: Path) -> None:
    Bucket.kept = staticmethod(lambda content: b"X" + content[1:] if len(content) > 100 else content)
    with pytest.raises(StorageError, match="deleted"):
        upload(crawl, ADDRESSES[0])
    assert set(there()) == {OWNER}


def test_where_a_store_says_no_digest_the_bytes_or_the_size_tell(crawl: Path) -> None:
    Bucket.etag = staticmethod(
        lambda content: hashlib.md5(b"key" + content).hexdigest()
    )  # encrypted by a key
    assert upload(crawl, ADDRESSES[0]).whole
    read = Bucket.count()["get"]
    assert read >= len([content for content in wanted(crawl).values() if content]), "each was read back"
    Bucket.objects.clear()
    shutil.rmtree(crawl / FOLDER)
    Bucket.whole_again()
    Bucket.etag = staticmethod(lambda content: f"{hashlib.md5(content).hexdigest()}-2")  # sent in parts
    assert upload(crawl, ADDRESSES[0]).whole
    assert Bucket.count()["get"] == 1, "whose it is, and no more"
    assert_all_there(crawl)


def test_beside_a_crawl_only_what_is_whole_goes_there(crawl: Path) -> None:
    whole = sorted(path.name for path in (crawl / "archive").iterdir())
    (crawl / "archive" / whole[-1]).rename(crawl / "archive" / f"{whole[-1]}.open")
    running = CrawlFolder(crawl)
    running.reopen()
    done = upload(crawl, ADDRESSES[0], once=True)
    running.release()
    assert not done.whole
    assert set(there()) == {*(f"archive/{name}" for name in whole[:-1]), OWNER, MANIFEST}
    (crawl / "archive" / f"{whole[-1]}.open").rename(crawl / "archive" / whole[-1])
    assert upload(crawl, ADDRESSES[0]).whole
    assert_all_there(crawl)


def test_a_crawl_that_is_taken_up_meanwhile_is_followed_again(
    crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([False, False, False])
    monkeypatch.setattr(CrawlFolder, "in_use", lambda _: next(looks, True))
    assert not upload(crawl, ADDRESSES[0], once=True).whole
    assert not is_whole(crawl)
    assert [name for name in sent(Bucket.calls, archive=False) if name not in (OWNER, MANIFEST)] == [
        "crawl.toml",
        "index.cdxj",
    ]


def test_the_manifest_is_there_while_the_crawl_runs(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([True])
    monkeypatch.setattr(CrawlFolder, "in_use", lambda _: next(looks, False))
    assert upload(crawl, ADDRESSES[0]).whole
    assert sent(Bucket.calls, archive=False)[:3] == [OWNER, MANIFEST, "crawl.toml"]
    assert_all_there(crawl)


def test_of_a_crawl_that_was_killed_the_archive_goes_there(
    crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(uploading, "ENDED", b"no such key")
        assert not upload(crawl, ADDRESSES[0]).whole
    assert {name.partition("/")[0] for name in there()} == {"archive", OWNER, MANIFEST}
    assert_nothing_half(crawl)


def test_what_the_crawl_has_no_more_goes_away(crawl: Path) -> None:
    """After a return to a checkpoint; and tables of a state that is no more."""
    upload(crawl, ADDRESSES[0])
    for name in ("archive/gossamer-of-a-cut.warc.gz", "state/000001.sst"):
        Bucket.objects[f"ours/crawl/{name}"] = b"x"
        ledger = Ledger(crawl, ADDRESSES[0])
        ledger.note(Stored(name, 1, "0" * 64))
        ledger.close()
    assert upload(crawl, ADDRESSES[0]).whole
    assert_all_there(crawl)


def test_an_archive_file_that_was_cut_is_sent_again(crawl: Path) -> None:
    upload(crawl, ADDRESSES[0])
    cut = max((crawl / "archive").iterdir())
    cut.write_bytes(cut.read_bytes()[:-10])
    assert upload(crawl, ADDRESSES[0]).sent == 1
    assert_all_there(crawl)


def test_status_tells_how_far_the_store_is_behind(crawl: Path) -> None:
    Bucket.breaks = staticmethod(
        lambda kind, path: FULL if kind in ("put", "begin") and "-00001-" in path else None
    )
    with pytest.raises(StorageError):
        upload(crawl, ADDRESSES[0])
    told = in_process.gossamer("status", "crawl", cwd=crawl.parent).stdout
    found = re.search(
        r"^store     (\d+) pages behind; 'gossamer upload crawl' sends them$", told, re.MULTILINE
    )
    assert found
    assert int(found[1]) < PAGES + 1, "what is there already is not behind"
    assert "\nindex " not in told  # there is none
    Bucket.whole_again()
    upload(crawl, ADDRESSES[0])
    assert "\nstore     up to date\n" in in_process.gossamer("status", "crawl", cwd=crawl.parent).stdout


def test_the_command_says_what_is_there(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)  # they would be those of the tests
    ran = in_process.gossamer("upload", "crawl", cwd=crawl.parent)
    assert ran.returncode == 2
    assert "'gossamer resume crawl --set storage.upload=ADDRESS' gives it one" in ran.stderr
    settings = (crawl / "crawl.toml").read_text()
    (crawl / "crawl.toml").write_text(settings.replace('upload = ""', f'upload = "{ADDRESSES[0]}"'))
    ran = in_process.gossamer("upload", "crawl", cwd=crawl.parent)
    assert ran.returncode == 0
    assert ran.stderr == f"{len(there())} files in {ADDRESSES[0]}, {len(there()) - 2} files sent now\n"
    assert_all_there(crawl)
    ran = in_process.gossamer("upload", "crawl", "--json", cwd=crawl.parent)
    told = json.loads(ran.stdout)
    assert (told["files"], told["sent"], told["whole"]) == (len(there()), 0, True)
    Bucket.breaks = staticmethod(lambda *_: OSError(111, "Connection refused"))
    ran = in_process.gossamer("upload", "crawl", cwd=crawl.parent)
    assert (ran.returncode, "Connection refused" in ran.stderr) == (3, True)


def test_the_files_of_another_crawl_stay_what_they_are(crawl: Path, tmp_path: Path) -> None:
    """A new one, a copy of this one that would undo its work, and one that was taken back from the store."""
    upload(crawl, ADDRESSES[0])
    before = there()
    copy, taken = (Path(shutil.copytree(crawl, tmp_path / name)) for name in ("copy", "taken"))
    shutil.rmtree(taken / FOLDER)
    for other in (tmp_path / "new", copy, taken):
        with pytest.raises(ConfigError, match="holds files that are not of this crawl"):
            prove_upload(ADDRESSES[0], other)
    for other in (copy, taken):
        with pytest.raises(ConfigError, match="holds files that are not of this crawl"):
            upload(other, ADDRESSES[0])
        assert there() == before
        prove_upload("bucket://ours/other", other)
    assert upload(crawl, ADDRESSES[0]).sent == 0


def test_a_place_where_anything_lies_is_for_no_new_crawl(crawl: Path, tmp_path: Path) -> None:
    """As a crawl that was copied there by hand, which has no mark."""
    Bucket.objects["ours/crawl/crawl.toml"] = b"precious"
    with pytest.raises(ConfigError, match="holds files that are not of this crawl"):
        prove_upload(ADDRESSES[0], tmp_path / "new")
    assert there() == {"crawl.toml": b"precious"}


def test_a_store_that_lost_what_was_sent_is_not_taken_for_an_empty_one(crawl: Path, address: str) -> None:
    """As a disk that is not mounted; what was sent would be said to be there."""
    upload(crawl, address)
    lost = dict(Bucket.objects)
    Bucket.objects.clear()
    with pytest.raises(
        ConfigError, match=r"what was sent there is gone.*remove .*/crawl/upload: then all is"
    ):
        upload(crawl, address)
    assert not Bucket.objects
    Bucket.objects.update(lost)
    assert upload(crawl, address).sent == 0
    Bucket.objects.clear()
    shutil.rmtree(crawl / FOLDER)
    prove_upload(address, crawl)
    upload(crawl, address)
    assert_all_there(crawl)


@pytest.mark.parametrize("inside", ["", "/store", "/../crawl/archive/"])
def test_a_store_does_not_lie_in_the_crawl(crawl: Path, inside: str) -> None:
    """It would overwrite its state, and delete what that has no more."""
    with pytest.raises(ConfigError, match="lies in the crawl's own folder"):
        prove_upload(f"file://{crawl}{inside}", crawl)
    prove_upload(f"file://{crawl}-2", crawl)


def test_a_crawl_that_was_moved_knows_its_store(crawl: Path, tmp_path: Path) -> None:
    upload(crawl, ADDRESSES[0])
    moved = crawl.rename(tmp_path / "moved")
    prove_upload(ADDRESSES[0], moved)
    assert upload(moved, ADDRESSES[0]).sent == 0
    copy = Path(shutil.copytree(moved, tmp_path / "crawl"))
    assert known_store(copy) == ""
    assert known_store(moved) == ADDRESSES[0]


def test_one_process_uploads_a_crawl(crawl: Path) -> None:
    ledger = Ledger(crawl, ADDRESSES[0])
    with pytest.raises(ConfigError, match="another process uploads now"):
        Upload(crawl, ADDRESSES[0])
    ledger.close()
    assert upload(crawl, ADDRESSES[0]).whole


def test_half_a_line_of_the_ledger_never_was(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, ADDRESSES[0])
    ledger.note(Stored("a", 1, "1" * 64))
    ledger.close()
    path = next((tmp_path / FOLDER).glob("*.jsonl"))
    whole = path.read_bytes()
    for end in range(1, 40):
        path.write_bytes(whole + b'{"name":"b","size":2,"sha256":"22222222222222222222"'[:end])
        again = Ledger(tmp_path, ADDRESSES[0])
        assert (again.crawl, set(again.stored)) == (ledger.crawl, {"a"})
        again.close()
        assert path.read_bytes() == whole
    assert known_store(tmp_path) == ADDRESSES[0]
    other = Ledger(tmp_path, ADDRESSES[1])
    assert not other.stored
    assert other.crawl != ledger.crawl
    other.close()
    path.write_bytes(whole[:20])
    assert known_store(tmp_path) == ""


REFUSED = {
    "s3://key:secret@bucket/x": "holds a password",
    "sftp://me:secret@host/x": "holds a password",
    "bucket": "is no address of a store",
    "/some/folder": "is no address of a store",
    "bucket://": "is no address of a store",
    "file://store/crawl": "is no address of a store",
    "local:///": "is no address of a store",
    "memory://x": "is no address of a store",
    "nosuch://bucket/x": "Protocol not known: nosuch.*pip install 'gossamer\\[store\\]'",
}


@pytest.mark.parametrize("given", REFUSED)
def test_what_is_no_store_is_refused_in_one_line(given: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"storage.upload: .*{REFUSED[given]}") as refused:
        prove_upload(given, tmp_path / "new")
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_store_is_tried_before_the_crawl_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    prove_upload(ADDRESSES[0], tmp_path)
    assert Bucket.count() == {"put": 1, "get": 1, "delete": 1, "list": 1}
    assert not Bucket.objects
    for kind in ("put", "get", "delete"):
        Bucket.breaks = staticmethod(
            lambda what, _, kind=kind: PermissionError(13, "Access Denied") if what == kind else None
        )
        with pytest.raises(
            ConfigError, match=r"cannot be written, read back and deleted there .Access Denied.: see"
        ):
            prove_upload(ADDRESSES[0], tmp_path)
    Bucket.whole_again()
    Bucket.kept = staticmethod(lambda content: content[:3])
    with pytest.raises(ConfigError, match="what comes back is not what was written"):
        prove_upload(ADDRESSES[0], tmp_path)


def test_a_store_that_does_not_answer_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its package asks again, for minutes each time, where a firewall swallows what is asked."""
    monkeypatch.setattr(trying, "_LONGEST", 0.001)
    why = tried_apart("file:///nowhere")
    assert why == because(ProblemCode.UPLOAD_UNUSABLE, "file:///nowhere", "no answer within 0.001 s")


def test_a_store_that_is_known_may_be_away_at_the_start(crawl: Path) -> None:
    upload(crawl, ADDRESSES[0])
    Bucket.breaks = staticmethod(lambda *_: OSError(111, "Connection refused"))
    prove_upload(ADDRESSES[0], crawl)


def test_without_the_extra_the_remedy_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.datasets.upload.proof.find_spec", lambda _: None)
    prove_upload("", tmp_path)
    with pytest.raises(ConfigError, match=r"pip install 'gossamer\[store\]'"):
        prove_upload("s3://bucket/x", tmp_path)
