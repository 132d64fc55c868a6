"""Folders of crawls from before pages came again."""

import json

import archived
import pytest
import rocksdict
from changing_web import ChangingWeb, at, honest
from revisit_crawls import EVERY

NEW = ("again",)


def made_old(folder):
    """The state loses the families that older versions did not have."""
    state = str(folder / "state")
    for name in NEW:
        options = {each: rocksdict.Options(raw_mode=True) for each in rocksdict.Rdict.list_cf(state)}
        opened = rocksdict.Rdict(state, rocksdict.Options(raw_mode=True), column_families=options)
        opened.drop_column_family(name)
        opened.close()
    assert not set(NEW) & set(rocksdict.Rdict.list_cf(state))


@pytest.mark.slow
def test_they_are_looked_at_and_go_on(crawl_of):
    crawl = crawl_of({"engine.give_up_after": "300ms", EVERY: "1s"}, revisit=False)
    with ChangingWeb({"site": at("/", honest())}) as web:
        assert crawl.end(crawl.begin_crawl(web.url("site"))).status == 0
        made_old(crawl.folder)
        told = crawl.run("status", str(crawl.folder), "--json")
        assert told.status == 0 and json.loads(told.out), told.err
        told = crawl.run("refetch", str(crawl.folder), web.url("site"))
        assert told.status == 0, told.err
        assert [s.status for s in web.of("site")] == [200]
        crawl.revisit = True
        process = crawl.begin_resume()
        assert web.until(lambda: len(web.of("site")) >= 4), crawl.stop(process).err
        assert crawl.stop(process).status == 130
    assert archived.wrong(crawl.folder) == []
