"""Looking at names leaves the cache that crawls share as it was."""

from gossamer.app.names import kept_names, name_cache, shared_folder
from gossamer.dns.compact.config import CompactConfig
from gossamer.dns.config import DnsConfig
from gossamer.model.name import Answer

NOW = 1_800_000_000.0


def test_looking_makes_no_cache(tmp_path):
    config = DnsConfig(compact=CompactConfig(folder=str(tmp_path / "names")))
    assert kept_names(config, tmp_path) is None
    assert not (tmp_path / "names").exists()


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
