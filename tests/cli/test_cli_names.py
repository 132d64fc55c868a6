"""Looking at names leaves the cache that crawls share as it was."""

import json

import pytest

from gossamer.assembly.name_resolution import count_names, kept_names, name_cache, shared_folder
from gossamer.dns.compact.config import CompactConfig
from gossamer.dns.config import DnsConfig
from gossamer.model.name import Answer

NOW = 1_800_000_000.0


def test_looking_makes_no_cache(tmp_path):
    config = DnsConfig(compact=CompactConfig(folder=str(tmp_path / "names")))
    assert kept_names(config, tmp_path) is None
    assert not (tmp_path / "names").exists()


@pytest.mark.slow
def test_a_cache_larger_than_ours_may_be_survives_being_looked_at(tmp_path):
    folder = str(tmp_path / "names")
    large = name_cache(DnsConfig(compact=CompactConfig(folder=folder, max_bytes=64 << 20)), tmp_path)
    for number in range(40_000):
        large.put(Answer(f"h{number}.example{number % 50}.com", ("192.0.2.1",), 3_600.0, asked=NOW), NOW)
    large.close()
    small = DnsConfig(compact=CompactConfig(folder=folder, max_bytes=1 << 20))
    assert (tmp_path / "names" / "names.mdb").stat().st_size > small.compact.max_bytes
    looked = kept_names(small, tmp_path)
    assert looked.get("h7.example7.com", NOW + 1) is not None
    looked.close()


def test_name_servers_of_ones_own_share_nothing(tmp_path):
    config = DnsConfig(nameservers=("192.0.2.53",))
    assert shared_folder(config, tmp_path) == tmp_path
    assert shared_folder(DnsConfig(), tmp_path) != tmp_path


def test_names_are_counted_by_domain(gossamer, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ran = gossamer("dns", "--count", "com")
    assert ran.code == 2
    assert "no compact name cache of a crawl of yours" in ran.err
    cache = name_cache(DnsConfig(), tmp_path)
    for name in ("a.example.com", "b.example.com", "other.com", "www.example.co.uk"):
        cache.put(Answer(name, ("192.0.2.1",), 3_600.0, asked=NOW), NOW)
    cache.close()
    ran = gossamer("dns", "--count", "com", "--count", "Example.com.", "--count", "org")
    assert ran.out.splitlines() == [
        "com: 3 names of 4 kept",
        "Example.com.: 2 names of 4 kept",
        "org: 0 names of 4 kept",
    ]
    counted = gossamer("dns", "--count", "uk", "--count", "example.co.uk", "--json")
    assert json.loads(counted.out) == {"uk": 1, "example.co.uk": 1}
    assert count_names(DnsConfig(), tmp_path).by_tld == {"com": 3, "uk": 1}
    assert gossamer("dns", "--count", "com", "a.example.com").code == 2


def test_the_names_of_one_crawl_are_counted(gossamer, site, nameserver):
    options = ("--min-delay", "0", "--nameserver", nameserver, "--max-pages", "1", "-q")
    assert gossamer("crawl", site, "--dir", "d", *options).code == 0
    ran = gossamer("dns", "--stats", "d", "--count", "test")
    assert (ran.code, ran.out) == (0, "test: 0 names of 0 kept\n")
