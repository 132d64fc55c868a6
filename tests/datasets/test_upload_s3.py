"""A crawl is copied to S3, spoken for by moto on loopback; needs s3fs and moto[server] of the extra `check`."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import in_process
import pytest
from patience import PATIENCE

pytest.importorskip("s3fs", reason="s3fs is not installed")
pytest.importorskip("moto.server", reason="moto[server] is not installed")

import boto3
from moto.server import ThreadedMotoServer
from small_site import small_site

from gossamer.state.object_store import CHUNK, Store

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

QUICK = (
    "--min-delay",
    "0",
    "-q",
    "--set",
    "engine.guess_sitemap=false",
    "--set",
    "archive.max_file_size=20KiB",
)
LARGE = 60 << 20


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def s3(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """A client of a server with one empty bucket, `crawls`."""
    for name, value in (("ACCESS_KEY_ID", "id"), ("SECRET_ACCESS_KEY", "s3cr3t"), ("DEFAULT_REGION", "us-east-1"),
                        ("ENDPOINT_URL", server)):  # fmt: skip
        monkeypatch.setenv(f"AWS_{name}", value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="crawls")
    yield client
    for key in keys(client):
        client.delete_object(Bucket="crawls", Key=key)


def keys(s3) -> list[str]:
    return [one["Key"] for one in s3.list_objects_v2(Bucket="crawls").get("Contents", [])]


def gossamer(*line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gossamer", *line], cwd=cwd, capture_output=True, text=True)


def crawl(cwd: Path, store: str) -> subprocess.CompletedProcess[str]:
    links = "".join(f"<a href=/{number}>{number}</a>" for number in range(40))
    with small_site(lambda path: links + os.urandom(3_000).hex()) as site:
        return gossamer("crawl", site, "--dir", "crawl", *QUICK, "--set", f"storage.upload={store}", cwd=cwd)


def test_a_crawl_goes_there_and_comes_back(s3, tmp_path: Path) -> None:
    ran = crawl(tmp_path, "s3://crawls/mine")
    assert ran.returncode == 0, ran.stderr
    for key in keys(s3):
        path = tmp_path / key
        path.parent.mkdir(parents=True, exist_ok=True)
        s3.download_file("crawls", key, str(path))
    checked = in_process.gossamer("check", "mine", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert "all is well" in checked.stdout
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"s3cr3t" in path.read_bytes()]


def test_where_nothing_can_be_kept_no_crawl_begins(
    s3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = crawl(tmp_path, "s3://no-such-bucket/mine")
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "The specified bucket does not exist" in ran.stderr
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    ran = crawl(tmp_path, "s3://crawls/mine")
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "Unable to locate credentials" in ran.stderr
    assert not (tmp_path / "crawl").exists()


def test_what_is_read_by_pieces_is_what_was_put(s3) -> None:
    """As a bucket that encrypts by keys needs it, whose ETags are no digests."""
    store = Store("s3://crawls/mine")
    for content in (b"", b"abc", os.urandom(CHUNK), os.urandom(CHUNK + 3)):
        store.put("object", content)
        assert b"".join(store.read("object", len(content))) == content


def parts_of(s3) -> Callable[[dict[str, str]], list[object]]:
    """What has come of an upload."""
    return lambda begun: s3.list_parts(Bucket="crawls", Key=begun["Key"], UploadId=begun["UploadId"]).get(
        "Parts", []
    )


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_what_breaks_off_between_two_parts_is_no_object(s3, tmp_path: Path, end: signal.Signals) -> None:
    ran = crawl(tmp_path, "s3://crawls/mine")
    assert ran.returncode == 0, ran.stderr
    large = tmp_path / "crawl" / "archive" / "gossamer-20990101000000000-99999-vm.warc.gz"
    large.write_bytes(os.urandom(LARGE))
    process = subprocess.Popen([sys.executable, "-m", "gossamer", "upload", "crawl"], cwd=tmp_path)
    until = time.monotonic() + PATIENCE
    begun: list[dict[str, str]] = []
    while not any(map(parts_of(s3), begun)):  # before, the client does not know what it has begun
        assert time.monotonic() < until
        begun = s3.list_multipart_uploads(Bucket="crawls").get("Uploads", [])
    process.send_signal(end)
    process.wait(PATIENCE)
    assert [one["Key"] for one in begun] == [f"mine/archive/{large.name}"]
    assert f"mine/archive/{large.name}" not in keys(s3)
    if end == signal.SIGTERM:
        assert not s3.list_multipart_uploads(Bucket="crawls").get("Uploads", [])
    assert gossamer("upload", "crawl", "--once", cwd=tmp_path).returncode == 0
