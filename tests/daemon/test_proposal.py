"""What is said about a job that somebody wants to make."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.config.config import CrawlConfig
from gossamer.config.shape import Kind, settings_of
from gossamer.daemon.allocation.claims import ClaimDefaults, amounts_for, claim_problems, shortfall
from gossamer.daemon.jobs.confinement import PATHS, is_within
from gossamer.daemon.jobs.proposal import Frame, load_claim, propose
from gossamer.fetch.guard import AddressGuard
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.reason import placed
from gossamer.web.console.jobs.new_job import read_new_job

LOGIN = {"page": "https://example.org/login", "logged_in": "text:Log out"}
LIMITS = {
    "connections": 64,
    "bandwidth": 10_000_000,
    "memory": 2 << 30,
    "disk": 1 << 30,
    "files": 4096,
    "browser_pages": 0,
}
SEEDS = ["https://example.org/"]


@pytest.fixture
def frame(tmp_path: Path) -> Frame:
    return Frame((tmp_path,), tmp_path / "politeness", LIMITS, ClaimDefaults())


def problems(frame: Frame, source: Any, claim: dict[str, Any] | None = None) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        propose(source, frame, claim)
    return caught.value.problems


@pytest.mark.parametrize("endless", ["1" * 5_000, "[" * 5_000])
def test_what_python_cannot_read_is_no_toml(frame: Frame, endless: str) -> None:
    [problem] = problems(frame, f"a = {endless}")
    assert problem.startswith("the configuration is not TOML: ")
    [told] = read_new_job({"way": "form", "toml": f"a = {endless}"}).problems
    assert placed(told)[0] == "toml"


def test_toml_and_tree_and_dotted_paths_say_the_same(frame: Frame) -> None:
    toml = 'seeds = ["https://example.org/"]\n[engine]\nworkers = 7\n'
    first = propose(toml, frame)
    assert first == propose({"seeds": SEEDS, "engine": {"workers": 7}}, frame)
    assert first == propose({"seeds": SEEDS, "engine.workers": 7}, frame)
    assert first.config.engine.workers == 7 and first.seeds == tuple(SEEDS)
    assert first.config.politeness.shared == str(frame.politeness)


def test_a_word_says_what_a_job_is_for(frame: Frame) -> None:
    made = propose({"seeds": SEEDS, "for": "archive", "speculation.follow": False}, frame).config
    assert (made.scope.requisites, made.speculation.follow) == ("any", False)
    assert problems(frame, {"seeds": SEEDS, "for": "ever"}) == (
        "for: 'ever' is none of archive, text, links, mirror",
    )


def test_everything_that_is_wrong_is_told_at_once(frame: Frame) -> None:
    source = {"seeds": ["no url at all:"], "engine.workers": 0, "fetch.nonsense": 1}
    found = problems(frame, source, {"connections": -1, "wishes": 3})
    for path in ("engine.workers", "fetch.nonsense", "claim.connections", "claim.wishes"):
        assert [problem for problem in found if problem.startswith(path)], (path, found)


@pytest.mark.parametrize(
    "source", ["seeds = [", "\x00", "a.b = 1\na = 2", "x" * (5 << 20), "a = " + "[" * 5000]
)
def test_what_is_not_toml_is_told(frame: Frame, source: str) -> None:
    assert problems(frame, source)


@pytest.mark.parametrize("source", [{"seeds": 7}, {"": 1}, {"engine": []}, {"politeness": 1}, {"a.b.": {}}])
def test_trees_that_make_no_sense_are_told(frame: Frame, source: dict[str, Any]) -> None:
    assert problems(frame, source)


def test_an_order_that_is_none_is_told(frame: Frame) -> None:
    assert problems(frame, {"seeds": SEEDS, "engine.order": "best-of-all"})[0].startswith("engine.order")


@pytest.mark.parametrize("name", ["seeds_file", "fetch.ca_file", "fetch.cookies_file", "dns.compact.folder"])
def test_files_elsewhere_are_not_read(frame: Frame, tmp_path: Path, name: str) -> None:
    for path in ("/etc/passwd", "~/.ssh/id_rsa", f"{tmp_path}/../secret", "/proc/self/environ"):
        found = problems(frame, {"seeds": SEEDS, name: path})
        assert len(found) == 1 and found[0].startswith(f"{name}: "), found
        assert "root:" not in found[0]


def test_a_link_does_not_lead_out(frame: Frame, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    assert not is_within(tmp_path / "out" / "passwd", [tmp_path])
    assert is_within(tmp_path / "in" / "file", [tmp_path]) and is_within(tmp_path, [tmp_path])
    assert problems(frame, {"seeds_file": str(tmp_path / "out" / "passwd")})


def test_files_below_a_root_are_read(frame: Frame, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("https://example.org/a\n# no\nhttps://example.org/b\n")
    found = propose({"seeds_file": str(tmp_path / "seeds.txt")}, frame)
    assert found.seeds == ("https://example.org/a", "https://example.org/b")


@pytest.mark.parametrize(
    "settings",
    [
        {"fetch.proxy": "http://user:hunter2@proxy:3128"},
        {"fetch.proxy": "env:HOME"},
        {"fetch.proxy": "file:/etc/hostname"},
        {"host": {"example.org": {"username": "me", "password": "hunter2"}}},
        {"host": {"example.org": {"token": "env:AWS_SECRET_ACCESS_KEY"}}},
        {"place": {"example.org": {"credentials": {"headers": {"X-Key": "hunter2"}}}}},
        {"place": {"example.org": {"credentials": {"headers": {"X-Key": "env:GOSSAMER_SECRET_OTHERS"}}}}},
        {"place": {"example.org": {"credentials": {"certificate": "/etc/ssl/private/hunter.pem"}}}},
        {"place": {"example.org": {"credentials": {"scheme": "negotiate"}}}},
        {"place": {"example.org": {"fetch": {"proxy": "env:HOME"}}}},
        {"login": {"example.org": {**LOGIN, "fields": {"word": "hunter2"}}}},
        {"login": {"example.org": {**LOGIN, "fields": {"word": "env:HOME"}}}},
        {"login": {"example.org": {**LOGIN, "fields": {"word": "env:GOSSAMER_SECRET_OTHERS"}}}},
    ],
)
def test_secrets_are_neither_kept_nor_taken_from_the_daemon(frame: Frame, settings: dict[str, Any]) -> None:
    found = problems(frame, {"seeds": SEEDS, **settings})
    assert len(found) == 1 and "hunter2" not in found[0], found


def test_secrets_that_are_meant_for_jobs_are_allowed(
    frame: Frame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOSSAMER_SECRET_PROXY", "http://user:word@proxy:3128")
    (tmp_path / "token").write_text("abc\n")
    hosts = {"example.org": {"token": f"file:{tmp_path}/token"}}
    settings = {"seeds": SEEDS, "fetch.proxy": "env:GOSSAMER_SECRET_PROXY", "host": hosts}
    listed = msgspec.structs.replace(
        frame, secrets={f"file:{tmp_path}/token": ("https://example.org", "http://in.example:81")}
    )
    assert propose(settings, listed).config.fetch.proxy == "env:GOSSAMER_SECRET_PROXY"
    ours = {"example.org": {**LOGIN, "fields": {"word": f"file:{tmp_path}/token"}}}
    assert propose({"seeds": SEEDS, "login": ours}, listed).config.login
    # Whoever makes a job cannot aim it elsewhere, nor take away what proves who is there.
    token = hosts["example.org"]["token"]
    for given in (
        {"host": {"evil.example": {"token": token}}},
        {"host": {"example.org": {"token": token, "origin": "http://example.org"}}},
        {"host": {"in.example": {"token": token, "origin": "http://in.example:80"}}},
        {"host": {"*.example.org": {"token": token}}},
        {"host": hosts, "fetch.verify_tls": False},
        {"login": {"a.org": {**LOGIN, "page": "https://evil.example/", "fields": {"word": token}}}},
        {"login": {"a.org": {**LOGIN, "origins": ["https://evil.example"], "fields": {"word": token}}}},
        {"login": {"a.org": {**LOGIN, "fields": {"word": token}}}, "fetch.verify_tls": False},
    ):
        [problem] = problems(listed, {"seeds": SEEDS, **given})
        assert problem.startswith(("place.", "login.")), problem
        assert "abc" not in problem
    right = {"host": {"in.example": {"token": token, "origin": "http://in.example:81/"}}}
    assert propose({"seeds": SEEDS, **right}, listed)
    assert len(problems(frame, settings)) == 1


def test_networks_that_the_daemon_closes_are_closed_to_every_job(frame: Frame) -> None:
    closing = msgspec.structs.replace(frame, closed_networks=("10.0.0.0/8",))
    settings = {"seeds": ["http://10.0.0.1/"], "fetch.allow_private": True}
    found = propose({**settings, "fetch.closed_networks": ["192.0.2.0/24"]}, closing)
    guard = AddressGuard(found.config.fetch)
    guard.allow_host("10.0.0.1")
    told = {address: guard.allows(address, address) for address in ("10.0.0.1", "192.0.2.1", "127.0.0.1")}
    assert told == {"10.0.0.1": False, "192.0.2.1": False, "127.0.0.1": True}
    assert guard.admit("a.example", ["::ffff:10.0.0.1", "10.1.2.3", "8.8.8.8"]) == ["8.8.8.8"]


def test_every_setting_that_names_a_file_is_confined() -> None:
    """A new one must be added to `PATHS`; what only sounds so, here."""
    harmless = {"archive.prefix", "archive.operator", "dns.hosts_file"}
    suspicious = {"file", "folder", "path", "dir", "watch", "shared", "directory"}

    def walk(struct_type: Any, prefix: str) -> None:
        for setting in settings_of(struct_type):
            name = prefix + setting.key
            if setting.shape.kind is Kind.TABLE:
                walk(setting.shape.core, name + ".")
            elif setting.shape.kind is Kind.LEAF and setting.shape.core is str and not setting.shape.secret:
                words = set(setting.key.split("_")) | {
                    word.strip(".,;:") for word in setting.description.split()
                }
                if words & suspicious:
                    assert name in PATHS or name in harmless, name

    walk(CrawlConfig, "")


def test_claims_have_defaults_within_the_limits(frame: Frame) -> None:
    found = propose({"seeds": SEEDS}, frame)
    assert claim_problems(found.claim, found.config, LIMITS) == []
    first = amounts_for(found.config, found.claim)
    assert not shortfall(first, found.claim.amounts()), "it begins with more than it claims"
    assert first["connections"] == found.config.engine.workers <= found.claim.connections
    small = propose({"seeds": SEEDS, "engine.workers": 4}, frame)
    assert small.claim.connections == LIMITS["connections"] // 4


def test_memory_and_files_follow_from_the_connections_claimed(frame: Frame) -> None:
    source = {"seeds": SEEDS, "engine.workers": 4}
    few, many = (propose(source, frame, {"connections": count}) for count in (8, 60))
    assert many.claim.files - few.claim.files == 3 * 52 and many.claim.memory > few.claim.memory
    everything = amounts_for(propose({**source, "engine.workers": 60}, frame).config, many.claim)
    assert not shortfall(everything, many.claim.amounts()), "it could never have the workers it claims"
    grown = load_claim({"connections": 60}, few.claim, few.config, frame)
    assert grown.files == many.claim.files and grown.disk == few.claim.disk
    assert load_claim({"connections": 60, "files": 500}, few.claim, few.config, frame).files == 500


def test_a_claim_above_a_limit_or_below_the_beginning_is_told(frame: Frame) -> None:
    found = problems(frame, {"seeds": SEEDS, "engine.workers": 8}, {"connections": 4, "disk": 2 << 30})
    assert [problem.partition(":")[0] for problem in found] == ["claim.connections", "claim.disk"]
    assert propose({"seeds": SEEDS, "engine.workers": 8}, frame, {"connections": 8, "memory": "1GiB"})


def test_a_speed_that_is_set_is_the_claim(frame: Frame) -> None:
    found = propose({"seeds": SEEDS, "fetch.max_speed": "1MB"}, frame)
    assert found.claim.bandwidth == 1_000_000
    assert amounts_for(found.config, found.claim)["bandwidth"] == 1_000_000
