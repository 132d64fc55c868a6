"""What becomes of notices: who is told, how often it is tried, what a kill does to them."""

import contextlib
import threading
import time
from email.utils import formatdate

import feedparser
import pytest
from fetch_servers import certificate as self_signed
from free_ports import free_port
from patience import PATIENCE
from receivers import Hook, Logins, Mailbox, mail_server
from watched_archive import page, watch

from gossamer.config.watch_config import NotifyConfig
from gossamer.fetch.config import FetchConfig
from gossamer.model.errors import ConfigError
from gossamer.policy.watching.retries import MOST_ATTEMPTS
from gossamer.watch import channels
from gossamer.watch.feed import FILE
from gossamer.watch.following import Following, settings_of
from gossamer.watch.outbox import order_test, retry_failed
from gossamer.watch.shown import feed_text, last_notices, watch_views
from gossamer.watch.store import FOLDER, beside
from gossamer.watch.watches import prove_watches, watches_of
from gossamer.watch.wording import Message


@pytest.fixture
def hook():
    with Hook().open() as opened:
        yield opened


@contextlib.contextmanager
def following(archive, tell=None):
    follower = Following(archive.path, archive.clock, tell)
    try:
        yield follower
    finally:
        follower.close()


def sent(follower, *, all_of_it=False):
    """Send what is due now, and what that makes due."""
    while follower.step(all_of_it=all_of_it):
        time.sleep(0.005)


def follow(archive, **how):
    with following(archive) as follower:
        follower.catch_up()
        sent(follower, **how)


def warmed(archive, *names):
    follow(archive)
    for _ in range(5):
        for name in names:
            archive.visit(name, page("One", "Two", "Three"))
    follow(archive)


def view(archive):
    return watch_views(archive.path, settings_of(archive.path))[0]


def test_a_webhook_is_told_by_an_id(archive, hook):
    archive.set(watch=watch(notify=[hook.url]))
    warmed(archive, "a")
    archive.visit("a", page("One", "Two", "Three", "<i>Four</i> & <script>alert(1)</script>"))
    follow(archive)
    (told,), (headers,) = hook.got, hook.headers
    assert headers["Gossamer-Notice-Id"] == headers["Idempotency-Key"] == told["id"]
    assert (told["watch"], told["count"], told["crawl"]) == ("w", 1, "crawl")
    (notice,) = told["notices"]
    assert notice["kind"] == "changed"
    assert ["+", "Four &"] in notice["difference"][0]
    assert "+ Four &" in told["text"]
    assert (view(archive).pending, view(archive).failed) == (0, 0)


def test_many_changes_at_once_are_one_notice_with_a_list(archive, hook):
    names = [f"n/{one}{other}" for one in "abcdef" for other in "abcdefghij"]
    archive.set(watch=[{"name": "w", "match": "/n/*", "notify": [hook.url], "gather": 30}])
    follow(archive)
    for _ in range(5):
        for name in names:
            archive.visit(name, page(f"About {name}", "Two of " * len(name), "Three"))
    follow(archive)
    for name in names:
        archive.visit(name, page(f"About {name}", f"Two, and news of {name}", "Three"), at=archive.now + 0.01)
    follow(archive)
    assert hook.got == []
    archive.now += 30
    follow(archive)
    (told,) = hook.got
    assert (told["count"], len(told["notices"])) == (60, 50)
    assert "60 changes: w" in told["text"]
    assert "and 10 more" in told["text"]


@pytest.mark.parametrize("status", [500, 503, 429, 0])
def test_what_fails_is_tried_again_later_the_same_with_the_same_id(archive, hook, status):
    archive.set(watch=watch(notify=[hook.url]))
    warmed(archive, "a")
    hook.answers = [status, status]
    archive.visit("a", page("One"))
    follow(archive)
    assert len(hook.got) == 1
    (failed,) = view(archive).undelivered
    assert (failed.state, failed.attempts, failed.due) == ("pending", 1, archive.now + 30)
    archive.now += 29
    follow(archive)
    assert len(hook.got) == 1
    archive.now += 1
    follow(archive)
    archive.now += 60
    follow(archive)
    assert len(hook.got) == 3
    assert hook.got[0] == hook.got[1] == hook.got[2]
    assert view(archive).pending == 0


def test_a_receiver_may_ask_for_time(archive, hook):
    archive.set(watch=watch(notify=[hook.url]))
    warmed(archive, "a")
    hook.answers, hook.fields = [429], {"Retry-After": "600"}
    archive.visit("a", page("One"))
    follow(archive)
    assert view(archive).undelivered[0].due == archive.now + 600


def test_a_receiver_may_ask_for_time_by_a_date(hook):
    hook.answers = [503]
    hook.fields = {"Retry-After": formatdate(time.time() + 3600, usegmt=True)}
    message = Message(id="1", crawl="c", watch="w", receiver="r", made=0.0, notices=(), count=0)
    failure = channels.tell(message, NotifyConfig(to=hook.url), FetchConfig())
    assert 3590 < failure.after <= 3601


def test_a_clock_that_is_set_back_puts_off_nothing(archive, hook):
    archive.set(watch=watch(notify=[hook.url]))
    ahead = archive.now
    with following(archive) as follower:
        follower.catch_up()
        with follower._store.commit() as database:
            order_test(database, watches_of(settings_of(archive.path)), ahead)
        hook.answers = [500]
        sent(follower)
        archive.now = ahead - 10 * 365 * 86_400
        sent(follower)
    assert [told["test"] for told in hook.got] == [True, True]


def test_a_letter_that_some_do_not_get_has_not_arrived():
    mailbox = Mailbox()
    mailbox.unknown = ["b@example.org"]
    message = Message(id="1", crawl="c", watch="w", receiver="r", made=0.0, notices=(), count=0)
    with mail_server(mailbox) as server:
        to = NotifyConfig(to="mailto:a@example.org,b@example.org", server=server, tls="none")
        failure = channels.tell(message, to, FetchConfig())
    assert len(mailbox.got) == 1
    assert (failure.words, failure.final) == ("the mail server refuses b@example.org", True)


@pytest.mark.parametrize("status", [400, 404, 410, 302])
def test_what_will_never_arrive_is_given_up_kept_and_told(archive, hook, status):
    archive.set(watch=watch(notify=[hook.url]))
    warmed(archive, "a")
    hook.answers = [status]
    archive.visit("a", page("One"))
    follow(archive)
    archive.now += 1e6
    follow(archive)
    assert len(hook.got) == 1
    (failed,) = view(archive).undelivered
    assert (failed.state, failed.problem, failed.notices) == ("failed", f"HTTP status {status}", 1)
    assert (view(archive).failed, view(archive).pending) == (1, 0)
    with beside(archive.path) as database:
        assert retry_failed(database, archive.now) == 1
    follow(archive)
    assert len(hook.got) == 2
    assert hook.got[0] == hook.got[1]
    assert view(archive).undelivered == ()


@pytest.mark.slow
def test_attempts_are_bounded(archive):
    archive.set(watch=watch(notify=["http://127.0.0.1:1/closed"]))
    warmed(archive, "a")
    archive.visit("a", page("One"))
    for _ in range(MOST_ATTEMPTS + 3):
        follow(archive)
        archive.now += 6 * 3600
    (failed,) = view(archive).undelivered
    assert (failed.state, failed.attempts) == ("failed", MOST_ATTEMPTS)


def test_a_receiver_that_hangs_holds_up_nobody_else(archive, hook):
    with Hook().open() as other:
        hook.hang = threading.Event()
        archive.set(watch=watch(notify=[hook.url, other.url]))
        warmed(archive, "a")
        archive.visit("a", page("One"))
        with following(archive) as follower:
            follower.catch_up()
            while not other.got:
                follower.step()
            archive.visit("a", page("One", "Two"))
            follower.catch_up()
            while len(other.got) < 2:
                follower.step()
            assert hook.got == []
            hook.hang.set()
            sent(follower)
        assert len(hook.got) == 2


def test_a_receiver_that_restarts_is_told_then(archive):
    port = free_port()  # one that nobody is given meanwhile
    with Hook().open(port) as first:
        archive.set(watch=watch(notify=[first.url]))
    warmed(archive, "a")
    archive.visit("a", page("One"))
    follow(archive)
    archive.now += 30
    with Hook().open(port) as second:
        follow(archive)
    assert len(second.got) == 1


def test_in_quiet_time_nobody_is_told_and_after_it_all_at_once(archive, hook):
    archive.set(watch=watch(notify=[hook.url], quiet="22:00-07:00 UTC"))
    midnight = archive.now // 86_400 * 86_400 + 86_400
    archive.now = midnight - 3 * 3600
    warmed(archive, "a")
    archive.visit("a", page("One"), at=midnight + 60)
    follow(archive)
    archive.visit("a", page("One", "Two"), at=midnight + 3600)
    follow(archive, all_of_it=True)
    assert hook.got == []
    archive.now = midnight + 7 * 3600
    follow(archive)
    (told,) = hook.got
    assert told["count"] == 2


def test_a_kill_while_it_is_sent_sends_the_same_again(archive, hook):
    """The follower is gone before it could note that the message has arrived."""
    archive.set(watch=watch(notify=[hook.url]))
    warmed(archive, "a")
    archive.visit("a", page("One"))

    arrived, told = threading.Event(), []

    def tell(message, _):
        told.append(message)
        arrived.wait(PATIENCE)

    killed = Following(archive.path, archive.clock, tell)
    killed.catch_up()
    killed.step()
    killed._observer.close()
    killed._store.close()
    arrived.set()
    follow(archive)
    follow(archive)
    (again,) = hook.got
    assert again["id"] == told[0].id


def test_a_test_reaches_everybody_at_any_time(archive, hook):
    archive.set(watch=watch(notify=[hook.url], quiet="00:00-23:59 UTC"))
    follow(archive)
    with beside(archive.path) as database:
        assert order_test(database, watches_of(settings_of(archive.path)), archive.now) == 1
    follow(archive)
    (told,) = hook.got
    assert (told["test"], told["count"]) == (True, 0)


def test_networks_that_are_closed_stay_closed(archive, hook):
    archive.set(watch=watch(notify=[hook.url]), fetch={"closed_networks": ["127.0.0.0/8"]})
    warmed(archive, "a")
    archive.visit("a", page("One"))
    follow(archive)
    assert hook.got == []
    assert "closed network" in view(archive).undelivered[0].problem


def test_no_secret_is_shown(archive, hook, tmp_path):
    (tmp_path / "hook").write_text(f"{hook.url}/T0KEN?key=S3CRET\n")
    archive.set(
        watch=watch(notify=["chat", f"{hook.url}/T0KEN"]),
        notify={"chat": {"to": f"file:{tmp_path / 'hook'}", "password": "env:WATCH_TOKEN"}},
    )
    shown = view(archive).receivers
    assert shown[0] == "chat"
    assert shown[1].startswith(f"http://127.0.0.1:{hook.port}#")
    assert "T0KEN" not in str(shown)


def test_secrets_come_from_where_they_are_kept(archive, hook, tmp_path, monkeypatch):
    (tmp_path / "hook").write_text(f"{hook.url}/T0KEN\n")
    notify = {"chat": {"to": f"file:{tmp_path / 'hook'}", "password": "env:WATCH_TOKEN"}}
    archive.set(watch=watch(notify=["chat"]), notify=notify)
    warmed(archive, "a")
    archive.visit("a", page("One"))
    follow(archive)
    (failed,) = view(archive).undelivered
    assert "secret is not there" in failed.problem
    monkeypatch.setenv("WATCH_TOKEN", "S3CRET")
    archive.now += 30
    follow(archive)
    (headers,) = hook.headers
    assert headers["Authorization"] == "Bearer S3CRET"
    kept = b"".join(path.read_bytes() for path in (archive.path / FOLDER).iterdir())
    assert b"S3CRET" not in kept
    assert b"T0KEN" not in kept


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    return self_signed(tmp_path_factory.mktemp("tls"))


def test_mail_by_starttls_with_a_password(archive, certificate, monkeypatch):
    mailbox, logins = Mailbox(), Logins("me", "S3CRET")
    monkeypatch.setenv("MAIL_PASSWORD", "S3CRET")
    with mail_server(mailbox, tls=certificate, logins=logins) as server:
        notify = {
            "to": "mailto:me@example.org", "server": server, "user": "me", "password": "env:MAIL_PASSWORD",
            "sender": "crawler@example.org", "ca_file": str(certificate[0]),
        }  # fmt: skip
        archive.set(watch=watch(notify=["mail"]), notify={"mail": notify})
        warmed(archive, "a")
        archive.visit("a", page("One", "Two\r\nSubject: forged", "Zürich 中文"))
        follow(archive)
    ((sender, to, text),) = mailbox.got
    assert (sender, to) == ("crawler@example.org", ["me@example.org"])
    assert "Subject: [gossamer] A page changed" in text
    assert "\r\nSubject: forged" not in text
    assert "Message-ID: <" in text
    assert view(archive).pending == 0


def test_mail_that_fails_for_now_or_for_good(archive):
    mailbox = Mailbox()
    with mail_server(mailbox) as server:
        notify = {"to": "mailto:me@example.org", "server": server, "tls": "none"}
        archive.set(watch=watch(notify=["mail"]), notify={"mail": notify})
        warmed(archive, "a")
        mailbox.codes = ["451 later", "554 never"]
        archive.visit("a", page("One"))
        follow(archive)
        assert view(archive).undelivered[0].state == "pending"
        archive.now += 30
        follow(archive)
        (failed,) = view(archive).undelivered
        assert (failed.state, failed.problem) == ("failed", "the mail server answers 554")


def test_mail_is_not_sent_in_the_clear_unless_that_was_said(archive):
    mailbox = Mailbox()
    with mail_server(mailbox) as server:
        archive.set(
            watch=watch(notify=["mail"]), notify={"mail": {"to": "mailto:me@example.org", "server": server}}
        )
        warmed(archive, "a")
        archive.visit("a", page("One"))
        follow(archive)
    assert mailbox.got == []
    assert view(archive).undelivered[0].state == "pending"


@pytest.mark.filterwarnings("ignore")  # of libraries of apprise
def test_what_apprise_speaks(archive, hook):
    archive.set(watch=watch(notify=[hook.url.replace("http://", "json://")]))
    prove_watches(settings_of(archive.path))
    warmed(archive, "a")
    archive.visit("a", page("One"))
    follow(archive)
    (told,) = hook.got
    assert told["title"] == "A page changed"
    assert "- Two" in told["message"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("apprise", [True, False])
def test_who_cannot_be_told_is_refused_at_once(archive, monkeypatch, apprise):
    if not apprise:
        monkeypatch.setattr(channels, "find_spec", lambda _: None)
    archive.set(watch=watch(notify=["ftp://secret.test/token"]))
    with pytest.raises(ConfigError, match=r"^notify ftp://#\w+: .*webhook \(https://...\).*mail") as caught:
        prove_watches(settings_of(archive.path))
    assert ("pip install" in str(caught.value)) is not apprise
    archive.set(watch=watch(notify=["someone"]), notify={"someone": {"to": "boss"}})
    with pytest.raises(ConfigError, match=r"^notify boss: "):
        prove_watches(settings_of(archive.path))
    for to in ("https://hook.test/x", "env:HOOK") + apprise * ("json://hook.test/x",):
        assert channels.problem_of(to) == ""


def test_the_feed_is_read_by_others(archive):
    warmed(archive, "a")
    archive.visit("a", page("One", "]]>\x0b<b>\u202eTwo</b>", title="<i>&\u202eHello"))
    follow(archive)
    for text in ((archive.path / FOLDER / FILE).read_text(), feed_text(archive.path)):
        feed = feedparser.parse(text)
        assert not feed.bozo
        (entry,) = feed.entries
        assert entry.link == "https://shop.example/a"
        assert entry.id == f"urn:gossamer:notice:{last_notices(archive.path)[0].notice.id}"
        assert "\u202e" not in entry.title


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"urls": []}, "watches nothing"),
        ({"when": ["about 10"]}, "is no condition"),
        ({"when": ["number > 10"]}, "a number of what"),
        ({"quiet": "22-7"}, "is no time of day"),
        ({"quiet": "22:00-07:00 Mars/Base"}, "is no time zone"),
        ({"select": "p["}, "is no selector"),
        ({"notify": ["nobody"]}, r"there is no section \[notify.nobody\]"),
        ({"notify": ["env:X"]}, "make a section"),
        ({"notify": ["mailto:me@example.org"]}, "make a section"),
    ],
)
def test_what_is_wrong_with_settings_is_told(archive, fields, problem):
    with pytest.raises(ConfigError, match=problem):
        archive.set(watch=watch(**fields))
