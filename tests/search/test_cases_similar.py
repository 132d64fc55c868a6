"""What is like a given document, and where passages of it stand; what is given may be anything."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from odd_pages import CHINESE, COPY, STORY
from search_world import CLUSTER, Ran, assert_plain, gossamer, path_of, similar

FOXES = {"/fox", "/fox-again", "/fox-same"}
OTHER = (
    "Copper is drawn into wire by pulling it through holes that become narrower from one plate to the next, and the "
    "wire grows hard with every step, so that it must be heated between them until it glows and can be drawn again. "
)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["txt", "html", "md"])
def test_a_file_that_is_a_near_duplicate(library: Path, tmp_path: Path, ending: str) -> None:
    text = "\n\n".join(COPY)
    if ending == "html":
        text = "<title>x</title><main>" + "".join(f"<p>{each}</p>" for each in COPY) + "</main>"
    (tmp_path / f"given.{ending}").write_text(text)
    found = similar(library, tmp_path / f"given.{ending}")
    assert {each.path for each in found} == FOXES
    assert all(each.likeness > 0.7 for each in found)


@pytest.mark.slow
def test_a_passage_in_a_long_document(library: Path, tmp_path: Path) -> None:
    passage = " ".join(STORY[1:5])
    assert len(passage.split()) >= 60
    (tmp_path / "given.txt").write_text(f"{OTHER * 5}\n{passage.upper()}\n{OTHER * 5}")
    found = similar(library, tmp_path / "given.txt")
    assert {each.path for each in found} == FOXES
    shown = " ".join(found[0].passages).lower()
    assert "quick brown fox" in shown and "window sill" in shown
    assert "copper" not in shown


@pytest.mark.slow
def test_what_has_only_a_few_words_in_common_is_no_copy(library: Path, tmp_path: Path) -> None:
    (tmp_path / "given.txt").write_text(f"{OTHER * 3} the quick brown fox {OTHER * 3}")
    assert similar(library, tmp_path / "given.txt") == []


def test_documents_of_the_crawl(library: Path, address: str) -> None:
    for asked in (f"{address}/fox", "/fox"):
        assert {each.path for each in similar(library, asked)} == FOXES - {"/fox"}
    assert similar(library, f"{address}/insect") == []


@pytest.mark.slow
def test_without_blanks_between_words(library: Path, tmp_path: Path) -> None:
    (tmp_path / "given.txt").write_text("\n".join(CHINESE))
    assert {each.path for each in similar(library, tmp_path / "given.txt")} == {
        "/zh-story",
        "/zh-story-again",
    }


@pytest.mark.slow
def test_pages_without_text_are_like_nothing(library: Path, address: str) -> None:
    for path in ("/silence", "/nothing"):
        assert gossamer("similar", library, f"{address}{path}", "--json").code in (0, 1, 2)
    clusters = _clusters(library)
    assert not clusters.get("/silence")
    assert not clusters.get("/silence-too")
    assert not clusters.get("/nothing")


def _clusters(folder: Path) -> dict[str, object]:
    listed = gossamer("list", folder, "--format", "jsonl", "--columns", f"url,state,{CLUSTER}")
    assert listed.code == 0, listed.err
    rows = [json.loads(line) for line in listed.out.splitlines()]
    return {path_of(row["url"]): row[CLUSTER] for row in rows if row["state"] == "done"}


@pytest.mark.slow
def test_clusters_are_listed_and_exported(library: Path, tmp_path: Path) -> None:
    clusters = _clusters(library)
    assert clusters.keys() > FOXES, "a near-duplicate is never dropped"
    assert len({str(clusters[path]) for path in FOXES}) == 1
    assert clusters["/fox"] and clusters["/fox"] != clusters["/gloves"]
    assert clusters["/zh-story"] == clusters["/zh-story-again"]
    ran = gossamer(
        "export", "near_duplicates", library, "--format", "jsonl", "--compress", "none", "--out", tmp_path
    )
    assert ran.code == 0, ran.err
    rows = [json.loads(line) for path in tmp_path.rglob("*.jsonl") for line in path.read_text().splitlines()]
    exported = {path_of(row["url"]): row[CLUSTER] for row in rows}
    assert len({str(exported[path]) for path in FOXES}) == 1


@pytest.mark.slow
def test_several_at_once(library: Path, address: str, tmp_path: Path) -> None:
    (tmp_path / "given.txt").write_text("\n".join(CHINESE))
    found = similar(library, tmp_path / "given.txt", f"{address}/fox")
    assert {each.path for each in found} == {"/zh-story", "/zh-story-again", "/fox-again", "/fox-same"}


GIVEN: dict[str, bytes] = {
    "empty": b"",
    "blanks": b" \n\t" * 1_000,
    "one word": b"wolf",
    "random bytes": random.Random(1).randbytes(200_000),
    "zeros": bytes(1 << 20),
    "deep markup": b"<div>" * 100_000,
    "half a PDF": b"%PDF-1.7\n1 0 obj <<",
    "no encoding": b"\xff\xfe\xfd wolf \x80\x81",
    "one long word": b"a" * (10 << 20),
    "twenty megabytes of words": b"many words over and over again " * (20 << 15),
    "terminal": b"\x1b[31m" + " ".join(STORY).encode() + b"\x1b]0;owned\x07\xe2\x80\xae",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GIVEN)
def test_given_documents_of_any_kind(library: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "given").write_bytes(GIVEN[name])
    ran = gossamer("similar", library, tmp_path / "given")
    assert ran.code in (0, 1, 2)
    assert_plain(ran)
    if name in ("empty", "blanks", "zeros"):
        assert "text" in (ran.out + ran.err).lower(), "it is said that there is none"


@pytest.mark.slow
def test_what_cannot_be_read_is_named(library: Path, tmp_path: Path, address: str) -> None:
    for asked in (
        tmp_path / "nowhere.txt",
        tmp_path,
        f"{address}/never-crawled",
        "http://[bad",
        "\x1b[31m",
        "",
    ):
        ran = gossamer("similar", library, asked)
        assert ran.code in (1, 2), asked
        assert (ran.out + ran.err).strip()
        assert_plain(ran)


def test_a_device_does_not_hang(library: Path) -> None:
    ran = gossamer("similar", library, "/dev/zero")
    assert ran.code in (0, 1, 2)
    assert_plain(ran)


def test_for_people(library: Path, address: str, here: Callable[..., Ran]) -> None:
    ran = here("similar", library, f"{address}/fox")
    assert ran.code == 0
    assert "/fox-again" in ran.out
    assert_plain(ran)
