"""Without an extra one line names it, whatever was asked for; no command needs it while it is loaded."""

import subprocess
import sys
from pathlib import Path

import pytest
from cli_run import Gossamer

BARE = """
import sys
for name in ("numpy", "pyarrow", "tantivy", "fsspec"):
    sys.modules[name] = None
from gossamer.cli import main
for line in sys.argv[1:]:
    sys.argv = line.split()
    try:
        main()
    except SystemExit as ended:
        print(ended.code)
"""


def test_commands_that_need_an_extra_say_so(tmp_path: Path) -> None:
    (tmp_path / "d" / "state").mkdir(parents=True)
    (tmp_path / "d" / "crawl.toml").write_text(
        'seeds = ["http://127.0.0.1:1/"]\nstorage.upload = "s3://bucket/d"\n'
    )
    asked = {
        "gossamer index d": "index: needs the extra 'documents'",
        "gossamer similar d": "similar: needs the extra 'documents'",
        "gossamer search d word": "search: needs the extra 'search'",
        "gossamer upload d": "storage.upload: s3://bucket/d cannot be reached with what is installed (fsspec)",
        "gossamer search --live word http://127.0.0.1:1/": "search: needs the extra 'search'",
    }
    done = subprocess.run(
        [sys.executable, "-c", BARE, *asked], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    told = done.stderr.splitlines()
    assert [line.partition(": pip install")[0] for line in told] == [
        f"gossamer: {why}" for why in asked.values()
    ]
    assert done.stdout.split() == ["2"] * len(asked)


def test_a_crawl_is_not_resumed_into_settings_that_nobody_could_resume(
    gossamer: Gossamer, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gossamer("crawl", site, "--min-delay", "0", "--max-pages", "1", "--dir", "d", "-q")
    before = Path("d/crawl.toml").read_bytes()
    monkeypatch.setitem(sys.modules, "tantivy", None)
    ran = gossamer("resume", "d", "--set", "search.follow=true")
    assert ran.code == 2 and "needs the extra 'search'" in ran.err
    assert Path("d/crawl.toml").read_bytes() == before
