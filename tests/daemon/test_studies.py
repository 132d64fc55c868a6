"""What is made of jobs beside their crawls and kept: audits and comparisons, whole or not at all."""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from small_site import Answer, small_site

import gossamer
from gossamer.assembly.folder import CrawlFolder
from gossamer.audit.audit import FOLDER
from gossamer.audit.result import kept_audit
from gossamer.audit.rules import Rule
from gossamer.audit.store import FOUND, LASTING, AuditStore
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.reading.making import make
from gossamer.daemon.reading.orders import AuditOrder, DifferencesOrder, Progress
from gossamer.daemon.reading.process import Readers
from gossamer.daemon.reading.studies import AuditAsked, DifferencesAsked, Studies, audit_file
from gossamer.datasets.one_document import text_in
from gossamer.inspect.compare.crawls import Counts, Difference
from gossamer.inspect.compare.kept import FOLDER as COMPARED
from gossamer.inspect.compare.kept import KINDS, keep, kept_differences
from gossamer.model.errors import ConfigError, StorageError
from gossamer.policy.change.passages import Passage, Row, Span
from gossamer.policy.linkcheck.verdicts import LinkVerdict
from gossamer.state.whole_files import PARTIAL

BROKEN = 12


class Crawled(NamedTuple):
    before: Path
    after: Path
    site: str


def site(version: int) -> Any:
    """A front page with links that lead nowhere, one page that changes, one that goes, one that comes."""
    links = "".join(f"<a href=/none-{n}>Link {n}</a>" for n in range(BROKEN))
    pages: dict[str, Answer | str] = {
        "": f"<title>Front</title><p>All that there is.</p><a href=/price>Price</a><a href=/{version}>Only</a>{links}",
        "price": f"<title>Price</title><p>It stays.</p><p>It costs {version} crowns today.</p>",
        str(version): f"<title>Only</title><p>This is of version {version} and of no other one.</p>",
    }
    return pages.get


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder, version = tmp_path_factory.mktemp("studies"), 1

    async def crawl(url: str, name: str) -> None:
        config = {"engine": {"guess_sitemap": False}, "retry": {"not_found_first": 0.0}}
        async for _ in gossamer.crawl(url, folder=folder / name, config=config, min_delay=0, max_pages=200):
            pass

    with small_site(lambda path: site(version)(path)) as address:
        asyncio.run(crawl(address, "before"))
        version = 2
        asyncio.run(crawl(address, "after"))
        told: list[Progress] = []
        make(AuditOrder(str(folder / "after"), 60, 0, False, 60), told.append, text_in)
        order = DifferencesOrder(str(folder / "after"), 60, 0, str(folder / "before"), "before")
        make(order, told.append, text_in)
        assert told, "it tells how far it is"
        yield Crawled(folder / "before", folder / "after", address)


def audited(folder: Path, **asked: Any) -> Any:
    return asyncio.run(Studies(Readers(1, 1)).audited(folder, msgspec.convert(asked, AuditAsked)))


def test_an_audit_is_kept_and_read_page_by_page(crawled: Crawled) -> None:
    whole = audited(crawled.after)
    assert whole.made
    assert whole.pages == 3
    assert whole.verdicts["broken"] == BROKEN
    assert whole.rules["link-broken"] == BROKEN
    assert whole.levels["error"] == BROKEN
    assert whole.cursor is None
    one_by_one, cursor = [], ""
    while True:
        page = audited(crawled.after, cursor=cursor, limit=5)
        one_by_one += page.findings
        if page.cursor is None:
            break
        assert len(page.findings) == 5
        cursor = page.cursor
    assert one_by_one == whole.findings
    holders = {page.url for page in whole.findings[0].pages}
    assert holders == {crawled.site}
    assert whole.findings[0].pages[0].text.startswith("Link")


def test_findings_are_narrowed_by_verdict_and_by_rule(crawled: Crawled) -> None:
    for verdict in LinkVerdict:
        found = audited(crawled.after, verdict=verdict.value).findings
        assert len(found) == (BROKEN if verdict is LinkVerdict.BROKEN else 0)
    assert {one.rule for one in audited(crawled.after, rule="link-broken").findings} == {"link-broken"}
    with pytest.raises(ServiceError):
        audited(crawled.after, cursor="no-rule:3")
    assert audited(crawled.after, cursor="page-unread:999").findings == []


def test_all_of_an_audit_comes_as_a_file(crawled: Crawled) -> None:
    told = msgspec.json.decode(b"".join(audit_file(crawled.after, "json")))
    assert told["verdicts"]["broken"] == BROKEN
    assert b"".join(audit_file(crawled.after, "csv")).count(b"link-broken") == BROKEN
    assert msgspec.json.decode(b"".join(audit_file(crawled.after, "sarif")))["version"] == "2.1.0"
    with pytest.raises(ServiceError) as error:
        next(audit_file(crawled.before, "json"))
    assert error.value.code == "not_found"


def test_an_audit_that_did_not_come_to_its_end_is_none(crawled: Crawled) -> None:
    AuditStore(crawled.before / FOLDER).close()
    with kept_audit(crawled.before / FOLDER) as result:
        assert result is None
    assert audited(crawled.before).made is None


def test_the_last_audit_is_there_until_the_next_has_come_to_its_end(crawled: Crawled, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(crawled.after, folder)
    before = audited(folder)
    reading = audit_file(folder, "csv")
    begun = next(reading)
    store = AuditStore(folder / FOLDER)
    store.add_finding(Rule.ORPHAN, "http://127.0.0.1/new", {})
    store.commit()
    assert audited(folder) == before, "while it is made"
    store.close()
    assert audited(folder) == before, "it was given up"
    (folder / FOLDER / f"{FOUND}{PARTIAL}").write_bytes(b"of one that was killed")
    make(AuditOrder(str(folder), 60, 0, False, 60), lambda _: None, text_in)
    after = audited(folder)
    assert after.made > before.made
    assert after.findings == before.findings
    assert (begun + b"".join(reading)).count(b"link-broken") == BROKEN, (
        "who has begun to read it goes on to the end"
    )
    assert {path.name for path in (folder / FOLDER).iterdir()} == {FOUND, LASTING}


def test_answers_of_the_first_format_last(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / LASTING)) as db:
        db.executescript(
            "create table answers(url text primary key, asked real, verdict text, code text, status int, target text,"
            " hops text, body int) without rowid; create table pages(id integer primary key);"
            "insert into answers values('http://a.example/', 7.0, 'well', 'ok', 200, '', '', 0); pragma user_version=1;"
        )
    with closing(AuditStore(tmp_path)) as store:
        kept = store.answer("http://a.example/", 0.0)
        assert kept is not None
        assert kept.status == 200
    with closing(sqlite3.connect(tmp_path / LASTING)) as db:
        tables = {name for (name,) in db.execute("select name from sqlite_master where type='table'")}
        assert tables == {"answers", "fragments", "origins", "before"}, "what was found lies elsewhere now"
        db.execute("pragma user_version=9")
    with closing(AuditStore(tmp_path)) as store:
        assert store.answer("http://a.example/", 0.0) is None, (
            "of a format that is not known nothing is believed"
        )


def differences(folder: Path, **asked: Any) -> Any:
    studies = Studies(Readers(1, 1))
    return asyncio.run(
        studies.differences(folder, msgspec.convert({"other": "before", **asked}, DifferencesAsked))
    )


def test_two_jobs_are_compared_by_kinds(crawled: Crawled) -> None:
    found = {kind: differences(crawled.after, kind=kind) for kind in ("changed", "new", "gone", "moved")}
    urls = {
        kind: {row.difference.url.removeprefix(crawled.site) for row in one.items}
        for kind, one in found.items()
    }
    assert urls == {"changed": {"price"}, "new": {"2"}, "gone": {"1"}, "moved": set()}
    counts = found["new"].counts
    assert (counts.changed, counts.new, counts.gone, counts.moved) == (1, 1, 1, 0)
    (price,) = (row for row in found["changed"].items if row.difference.url.endswith("price"))
    assert price.difference.passages == (), "left out of lists"
    alone = differences(crawled.after, cursor=price.at, limit=1, text=True).items[0]
    said = [
        "".join(span.text for span in row.new)
        for passage in alone.difference.passages
        for row in passage.rows
    ]
    assert "It costs 2 crowns today." in said
    assert Studies(Readers(1, 1)).compared(crawled.after) == ["before"]
    for wrong in (1, 10**12):
        with pytest.raises(ServiceError) as error:
            differences(crawled.after, cursor=wrong)
        assert error.value.code == "invalid"


def test_what_would_lead_out_of_the_folder_is_no_job(crawled: Crawled) -> None:
    for name in ("..", "../before", "a/b", ".", ""):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"other": name}, DifferencesAsked)


def test_a_comparison_that_broke_off_is_none_and_a_long_text_is_left_out(tmp_path: Path) -> None:
    rows = [Row("added", new=[Span("x" * 3_000, True)])] * 500
    found = Difference("changed", "http://a.test/", passages=[Passage(1, rows)])

    def breaks() -> Iterator[Difference]:
        yield found
        raise ConfigError("no more")

    with pytest.raises(ConfigError):
        keep(tmp_path, "other", breaks(), Counts())
    assert kept_differences(tmp_path, "other", "changed") is None
    keep(tmp_path, "other", iter([found]), Counts(changed=1))
    kept = kept_differences(tmp_path, "other", "changed", text=True)
    assert kept is not None
    assert kept.items[0].difference.cut
    assert kept.items[0].difference.passages == ()
    assert kept.cursor is None
    (written,) = (tmp_path / COMPARED / "other").glob("changed*.jsonl")
    assert written.stat().st_size < 1_000


def test_the_last_comparison_is_there_until_the_next_has_come_to_its_end(tmp_path: Path) -> None:
    place, seen = tmp_path / COMPARED / "other", []

    def told(page: str) -> list[str]:
        kept = kept_differences(tmp_path, "other", "changed")
        assert kept is not None
        assert kept.counts.changed == 1
        seen.append(page)
        return [one.difference.url for one in kept.items]

    def found(page: str, *, breaks: bool = False) -> Iterator[Difference]:
        yield Difference("changed", page)
        assert told(page) == ["http://a.test/1"], "while the next is made"
        if breaks:
            raise ConfigError("no more")

    keep(tmp_path, "other", iter([Difference("changed", "http://a.test/1")]), Counts(changed=1))
    (place / "changed-0.jsonl").write_bytes(b"of one that was killed")
    with pytest.raises(ConfigError):
        keep(tmp_path, "other", found("http://a.test/2", breaks=True), Counts(changed=1))
    assert told("") == ["http://a.test/1"], "it was given up"
    keep(tmp_path, "other", found("http://a.test/3"), Counts(changed=1))
    assert told("") == ["http://a.test/3"]
    assert seen == ["http://a.test/2", "", "http://a.test/3", ""]
    assert len(list(place.iterdir())) == len(KINDS) + 1


def test_a_comparison_of_an_earlier_version_can_be_read(tmp_path: Path) -> None:
    place = tmp_path / COMPARED / "other"
    place.mkdir(parents=True)
    (place / "counts.json").write_bytes(b'{"same":0,"ignored":0,"changed":0,"moved":0,"new":1,"gone":0}')
    (place / "new.jsonl").write_bytes(msgspec.json.encode(Difference("new", "http://a.test/")) + b"\n")
    kept = kept_differences(tmp_path, "other", "new")
    assert kept is not None
    assert (kept.counts, len(kept.items)) == (Counts(new=1), 1)
    (place / "new.jsonl").unlink()
    with pytest.raises(StorageError):
        kept_differences(tmp_path, "other", "new")


def test_what_cannot_be_made_is_refused_at_once(crawled: Crawled, tmp_path: Path) -> None:
    async def refused(work: Any) -> str:
        with pytest.raises(ServiceError) as error:
            await work
        return error.value.code

    async def live() -> None:
        studies = Studies(Readers(1, 1))
        assert await refused(studies.audit(tmp_path, outside=False)) == "invalid"
        assert await refused(studies.compare(crawled.after, crawled.after, "after")) == "invalid"
        assert await refused(studies.compare(crawled.after, tmp_path, "none")) == "invalid"
        folder = CrawlFolder(crawled.after)
        folder.reopen()  # as a crawl that runs has it
        assert await refused(studies.audit(crawled.after, outside=True)) == "conflict"
        folder.release()

    asyncio.run(live())
