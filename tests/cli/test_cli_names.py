"""Looking at names leaves the cache that crawls share as it was; others are answered from it."""

import json
import os
import signal
import socket
import time
from threading import Event, Thread

import pytest
from cli_run import Ran
from free_ports import free_port
from patience import PATIENCE

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
    ran, heard = asked_while_serving(gossamer, "h0.sim.test", "--stats", "d")
    assert (ran.code, heard[-4:]) == (0, b"\x7f\0\0\1")
    assert "resolved  1 names with 2 queries" in ran.out
    ran = gossamer("dns", "--stats", "d", "--count", "test")
    assert ran.out == "test: 1 name of 1 kept\n"
    assert gossamer("dns", "--serve", "127.0.0.1:5353", "--stats", "d", "--nameserver", nameserver).code == 2


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        ("0.0.0.0:5353", "this machine only"),
        ("[::]:5353", "this machine only"),
        ("192.0.2.1:5353", "this machine only"),
        ("localhost:5353", "this machine only"),
        ("127.0.0.1:0", "this machine only"),
        ("127.0.0.1:70000", "this machine only"),
        ("", "this machine only"),
        ("127.0.0.1:5353", "would ask itself"),
    ],
)
def test_addresses_that_names_are_not_served_at(gossamer, serve, words):
    ran = gossamer("dns", "--serve", serve, "--nameserver", "127.0.0.1:5353")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert words in ran.err


def test_a_port_that_is_taken_is_told(gossamer, nameserver):
    ran = gossamer("dns", "--serve", nameserver, "--nameserver", "127.0.0.1:1")
    assert (ran.code, ran.out) == (2, "")
    assert f"--serve {nameserver}: cannot be had" in ran.err
    assert gossamer("dns", "--serve", "127.0.0.1:5353", "example.org").code == 2


def test_other_programs_are_answered_from_the_cache_that_crawls_share(gossamer, tmp_path, monkeypatch):
    """And it goes on, with the figures of what was asked, until it is told to end."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    now = time.time()
    cache = name_cache(DnsConfig(), tmp_path)
    cache.put(Answer("kept.example", ("192.0.2.7",), 3_600.0, asked=now), now)
    cache.close()
    ran, heard = asked_while_serving(gossamer, "kept.example", "--json")
    assert (ran.code, heard[-4:]) == (0, b"\xc0\0\2\7")
    figures = json.loads(ran.out)
    assert (figures["queries"], figures["cache"]) == (0, "compact")
    assert "answers at 127.0.0.1:" in ran.err


def asked_while_serving(gossamer, name: str, *options: str) -> tuple[Ran, bytes]:
    """What the command that serves said in the end, and what it answered before."""
    port = free_port()
    heard: list[bytes] = []
    ended = Event()
    asking = Thread(target=ask_and_end, args=(port, name, heard, ended))
    asking.start()
    ran = gossamer("dns", "--serve", f"127.0.0.1:{port}", *options)
    ended.set()
    asking.join()
    return ran, heard[0]


def ask_and_end(port: int, name: str, heard: list[bytes], ended: Event) -> None:
    """Ask for the address of `name` until there is an answer, then send SIGTERM, if anybody still serves."""
    spelt = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    question = b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + spelt + b"\0\0\1\0\1"
    with socket.socket(type=socket.SOCK_DGRAM) as asking:
        asking.settimeout(0.05)
        asking.connect(("127.0.0.1", port))
        until = time.monotonic() + PATIENCE
        while not heard and not ended.is_set() and time.monotonic() < until:
            try:
                asking.send(question)
                heard.append(asking.recv(512))
            except OSError:
                time.sleep(0.02)
    if not ended.is_set():
        os.kill(os.getpid(), signal.SIGTERM)
