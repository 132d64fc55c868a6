"""Accounts, tokens, sessions and what guessing costs."""

import pytest
from api_client import CHEAP, PASSWORD
from hypothesis import given
from hypothesis import strategies as st

from gossamer.daemon.database import Database
from gossamer.daemon.security_config import SecurityConfig
from gossamer.model.errors import ConfigError
from gossamer.web.security.accounts import Accounts
from gossamer.web.security.passwords import Passwords
from gossamer.web.security.sessions import Sessions
from gossamer.web.security.throttle import LoginThrottle
from gossamer.web.security.visitor import Role

CONFIG = SecurityConfig(**CHEAP)


class Clock:
    """Wall time that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "service.db")
    yield database
    database.close()


@pytest.fixture
def accounts(database, clock):
    accounts = Accounts(database, Passwords(CONFIG), clock)
    accounts.add("ada", Role.OPERATOR, PASSWORD)
    return accounts


def test_a_password_is_kept_as_argon2id_only(database, accounts):
    [(kept,)] = database.query("SELECT password FROM accounts")
    assert kept.startswith("$argon2id$")
    assert PASSWORD not in kept
    assert Passwords(CONFIG).matches(kept, PASSWORD)
    assert not Passwords(CONFIG).matches(kept, PASSWORD + " ")


def test_nobody_has_no_password():
    passwords = Passwords(CONFIG)
    assert not passwords.matches(None, "")
    assert not passwords.matches(None, PASSWORD)
    assert not passwords.matches("not a hash", PASSWORD)
    assert not passwords.matches(passwords.hash(PASSWORD), PASSWORD * 100)


@pytest.mark.parametrize("name", ["", "Ada", "../x", "a b", "local", "a" * 33, "-a", "a\n", "ada"])
def test_names_that_will_not_do(accounts, name):
    with pytest.raises(ConfigError, match="name"):
        accounts.add(name, Role.VIEWER, PASSWORD)


@pytest.mark.parametrize("password", ["", "short", "aaaaaaaaaaaaaaaa", "grace hopper grace", "x" * 2000])
def test_passwords_that_will_not_do(accounts, password):
    with pytest.raises(ConfigError, match="password"):
        accounts.add("grace", Role.VIEWER, password)


def test_all_that_is_wrong_is_told_at_once(accounts):
    with pytest.raises(ConfigError) as caught:
        accounts.add("No Name", Role.VIEWER, "short")
    assert len(caught.value.problems) == 2


def test_a_token_speaks_for_its_account(accounts):
    token = accounts.new_token("ada", Role.OPERATOR, "grafana")
    assert accounts.bearer(token) == ("ada", Role.OPERATOR)
    assert accounts.bearer(token[:-1]) is None
    assert accounts.bearer(token.upper()) is None
    assert accounts.bearer("") is None
    assert accounts.bearer("gossamer__") is None
    assert accounts.bearer(token + "é") is None
    [kept] = accounts.tokens()
    assert kept.used is not None
    accounts.revoke(kept.id)
    assert accounts.bearer(token) is None


def test_a_token_never_does_more_than_its_account(accounts):
    token = accounts.new_token("ada", Role.OPERATOR, "")
    accounts.set_role("ada", Role.VIEWER)
    assert accounts.bearer(token) == ("ada", Role.VIEWER)


def test_a_token_of_an_operator_may_only_look_if_it_was_made_so(accounts):
    assert accounts.bearer(accounts.new_token("ada", Role.VIEWER, "")) == ("ada", Role.VIEWER)


def test_a_token_ends(accounts, clock):
    token = accounts.new_token("ada", Role.VIEWER, "", clock.now + 60)
    assert accounts.bearer(token)
    clock.now += 60
    assert accounts.bearer(token) is None


def test_tokens_end_with_their_account(accounts):
    token = accounts.new_token("ada", Role.VIEWER, "")
    accounts.remove("ada")
    accounts.add("ada", Role.OPERATOR, PASSWORD)
    assert accounts.bearer(token) is None


def test_the_store_holds_no_secret(database, accounts, clock, tmp_path):
    token = accounts.new_token("ada", Role.VIEWER, "")
    session = Sessions(database, CONFIG, clock).begin("ada")
    database.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"argon2id" in kept
    assert token.rpartition("_")[2].encode() not in kept
    assert session.cookie.encode() not in kept


def test_a_session_outlives_the_daemon(database, accounts, clock):
    begun = Sessions(database, CONFIG, clock).begin("ada")
    found = Sessions(database, CONFIG, clock).find(begun.cookie)
    assert found == begun.visitor
    assert found.role is Role.OPERATOR


def test_a_session_ends_unused_and_used(database, accounts, clock):
    sessions = Sessions(database, CONFIG, clock)
    unused = sessions.begin("ada").cookie
    used = sessions.begin("ada").cookie
    end = clock.now + CONFIG.session
    clock.now += CONFIG.idle - 1
    assert sessions.find(used)
    clock.now += 1
    assert sessions.find(unused) is None
    while clock.now < end - 1:
        assert sessions.find(used)
        clock.now = min(end - 1, clock.now + CONFIG.idle / 2)
    assert sessions.find(used)
    clock.now = end
    assert sessions.find(used) is None


def test_a_session_does_not_live_longer_because_the_clock_went_back(database, accounts, clock):
    sessions = Sessions(database, CONFIG, clock)
    cookie = sessions.begin("ada").cookie
    clock.now -= 3600
    assert sessions.find(cookie) is None


@pytest.mark.parametrize("change", ["password", "removed", "made again", "logged out"])
def test_a_session_ends_with_what_it_was_made_under(database, accounts, clock, change):
    sessions = Sessions(database, CONFIG, clock)
    begun = sessions.begin("ada")
    match change:
        case "password":
            accounts.set_password("ada", PASSWORD)  # the same, but set anew
        case "removed":
            accounts.remove("ada")
        case "made again":
            accounts.remove("ada")
            accounts.add("ada", Role.OPERATOR, PASSWORD)
        case "logged out":
            sessions.end(begun.visitor.session)
    assert sessions.find(begun.cookie) is None


def test_a_role_changes_at_once(database, accounts, clock):
    sessions = Sessions(database, CONFIG, clock)
    cookie = sessions.begin("ada").cookie
    accounts.set_role("ada", Role.VIEWER)
    assert sessions.find(cookie).role is Role.VIEWER


def test_sessions_of_one_account_are_bounded(database, accounts, clock):
    sessions = Sessions(database, CONFIG, clock)
    first = sessions.begin("ada").cookie
    for _ in range(30):
        clock.now += 1
        sessions.begin("ada")
    assert database.query("SELECT count(*) FROM sessions") == [(20,)]
    assert sessions.find(first) is None


def test_accounts_made_elsewhere_are_seen(tmp_path, accounts):
    assert accounts.role_of("grace") is None
    other = Database(tmp_path / "service.db")
    Accounts(other, Passwords(CONFIG)).add("grace", Role.VIEWER, PASSWORD)
    other.close()
    assert accounts.role_of("grace") is Role.VIEWER


def test_guessing_is_slowed_down_by_address():
    throttle = LoginThrottle(CONFIG)
    for _ in range(CONFIG.failures):
        assert throttle.wait("192.0.2.1", "ada", 0.0) == 0
        throttle.tried("192.0.2.1", "ada", 0.0)
    assert throttle.wait("192.0.2.1", "ada", 0.0) == CONFIG.failure_rest
    assert throttle.wait("192.0.2.1", "grace", 0.0) == CONFIG.failure_rest
    assert throttle.wait("192.0.2.2", "ada", 0.0) == 0, "the owner is not locked out"
    assert throttle.wait("192.0.2.1", "ada", CONFIG.failure_rest) == 0


def test_guessing_from_everywhere_locks_nobody_out():
    throttle = LoginThrottle(CONFIG)
    throttle.tried("198.51.100.7", "ada", 0.0)
    throttle.succeeded("198.51.100.7", "ada")
    tries = 0
    for _ in range(CONFIG.failures):
        for number in range(1000):
            if throttle.wait(f"2001:db8:{number:x}::1", "ada", 0.0) == 0:
                throttle.tried(f"2001:db8:{number:x}::1", "ada", 0.0)
                tries += 1
    assert tries < 1000 + CONFIG.failures * 4, "hardly more than one from each"
    assert throttle.wait("192.0.2.1", "ada", 0.0) == 0, "the owner gets in from anywhere"
    throttle.tried("192.0.2.1", "ada", 0.0)
    assert throttle.wait("192.0.2.1", "ada", 0.0) > 0
    for _ in range(CONFIG.failures):
        assert throttle.wait("198.51.100.7", "ada", 0.0) == 0, "and where he was before as ever"
        throttle.tried("198.51.100.7", "ada", 0.0)
    assert throttle.wait("198.51.100.7", "ada", 0.0) > 0


def test_a_neighbour_who_guesses_does_not_keep_a_known_visitor_out():
    throttle = LoginThrottle(CONFIG)
    throttle.tried("192.0.2.1", "ada", 0.0)
    throttle.succeeded("192.0.2.1", "ada")
    for _ in range(100):
        throttle.tried("192.0.2.1", "root", 0.0)
    assert throttle.wait("192.0.2.1", "root", 0.0) > 0
    assert throttle.wait("192.0.2.1", "ada", 0.0) == 0


def test_one_network_is_one_address():
    throttle = LoginThrottle(CONFIG)
    for number in range(CONFIG.failures):
        throttle.tried(f"2001:db8::{number + 1:x}", f"name{number}", 0.0)
    assert throttle.wait("2001:db8::ffff", "ada", 0.0) > 0
    assert throttle.wait("2001:db8:0:1::1", "ada", 0.0) == 0
    for number in range(CONFIG.failures):
        throttle.tried("::ffff:192.0.2.7", f"other{number}", 0.0)
    assert throttle.wait("192.0.2.7", "grace", 0.0) > 0


def test_a_right_password_clears_the_address():
    throttle = LoginThrottle(CONFIG)
    for _ in range(100):
        throttle.tried("192.0.2.1", "ada", 0.0)
        throttle.succeeded("192.0.2.1", "ada")
    assert throttle.wait("192.0.2.1", "ada", 0.0) == 0


@given(st.lists(st.tuples(st.integers(0, 40), st.floats(0, 1000)), max_size=60))
def test_no_more_than_the_bucket_and_what_flows_in(tries):
    throttle = LoginThrottle(CONFIG)
    now, made, start = 0.0, 0, 0.0
    for _, wait in tries:
        now += wait
        if throttle.wait("192.0.2.1", "ada", now) <= 0:
            throttle.tried("192.0.2.1", "ada", now)
            made += 1
    assert made <= CONFIG.failures + 1 + (now - start) / CONFIG.failure_rest


def test_the_throttle_is_bounded():
    throttle = LoginThrottle(CONFIG)
    for number in range(12_000):
        throttle.tried(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", f"n{number}", 0.0)
    assert len(throttle._full_at) == 10_000
