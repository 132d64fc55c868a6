"""Pages that nothing links to any more are told apart from those that are gone."""

from pathlib import Path

from in_process import gossamer
from small_site import small_site

OPTIONS = ("--min-delay", "0", "--set", "fetch.allow_private=true", "--set", "engine.guess_sitemap=false")


def test_what_pages_mention_now_is_what_their_last_captures_do(tmp_path: Path):
    pages = {
        "": "<a href=a>a</a> <a href=b>b</a> <a href=c>c</a>",
        "a": "A",
        "b": "<a href=d>d</a>",
        "c": "C",
        "d": "D",
    }
    folder = str(tmp_path / "c")

    def run(*arguments: str) -> str:
        ran = gossamer(*arguments, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    with small_site(pages.get) as url:
        run("crawl", url, "--dir", folder, *OPTIONS, "--quiet")
        run("export", "links", folder)
        assert run("list", folder, "--orphans") == ""
        pages[""] = "<a href=a>a</a> <a href=new>new</a>"
        pages["new"] = "<a href=c>c</a>"
        run("refetch", folder, url)
        run("resume", folder, "--quiet")
    run("export", "links", folder)
    orphans = {line.split()[1].rpartition("/")[2] for line in run("list", folder, "--orphans").splitlines()}
    assert orphans == {"b"}
    captures = run("get", folder, url, "--captures").splitlines()
    assert len(captures) == 2
    told = run("list", folder, "--under", url + "c", "--columns", "url,referrers", "--format", "csv")
    assert told.splitlines()[-1].endswith("/c,1")
