"""What holds a secret or a crawl's content is for its user alone, whatever the umask and the folder were."""

import os
import stat
import subprocess
import sys

import pytest
from small_site import small_site

from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.private import private_folder
from gossamer.model.errors import ConfigError


def modes(path):
    return {each: stat.S_IMODE(each.lstat().st_mode) for each in [path, *path.rglob("*")]}


@pytest.mark.parametrize("existed", [False, True])
def test_a_crawl_is_for_its_user_alone(tmp_path, existed):
    folder = tmp_path / "c"
    if existed:
        folder.mkdir()
        folder.chmod(0o755)
    command = [sys.executable, "-m", "gossamer", "crawl", "--min-delay", "0", "--dir", str(folder), "-q"]
    with small_site({"": "<title>x</title>"}.get) as site:
        ran = subprocess.run([*command, site], preexec_fn=lambda: os.umask(0), check=False)
    assert ran.returncode == 0
    found = modes(folder)
    assert len(found) > 10
    assert {path.name: oct(mode) for path, mode in found.items() if mode & 0o077} == {}


def test_a_folder_of_the_library_is_for_its_user_alone(tmp_path):
    (tmp_path / "c").mkdir(mode=0o755)
    CrawlFolder(tmp_path / "c").create()
    assert modes(tmp_path / "c")[tmp_path / "c"] == 0o700


def test_a_folder_of_somebody_else_is_refused(tmp_path, monkeypatch):
    (tmp_path / "c").mkdir()
    (tmp_path / "c").chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(ConfigError, match="Choose another folder"):
        private_folder(tmp_path / "c")
