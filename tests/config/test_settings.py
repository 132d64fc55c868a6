"""Settings from a tree: what is accepted, and one error that lists all that is not."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from gossamer.config.config import CrawlConfig
from gossamer.config.dotted import join_path, nearest, split_path
from gossamer.config.settings import load, merge, read_toml
from gossamer.config.shape import leaf_paths
from gossamer.model.errors import ConfigError
from gossamer.model.quantity import Bytes, Count, Seconds


class Mode(StrEnum):
    FAST = "fast"
    SLOW = "slow"


class Host(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    min_delay: Seconds | None = None
    password: Annotated[str, Meta(extra={"secret": True}, min_length=3)] = ""


class Rest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    min_delay: Annotated[Seconds, Meta(description="rest")] = 1.0
    max_delay: Annotated[Seconds, Meta(description="longest rest")] = 30.0
    steps: tuple[Seconds, ...] = (30.0, 300.0)

    def __post_init__(self) -> None:
        if self.min_delay > self.max_delay:
            raise ValueError("min_delay must not exceed max_delay")


class Step(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    size: Bytes = 10


class Tree(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    workers: Annotated[int, Meta(ge=1, le=100)] = 10
    ratio: float = 0.5
    quiet: bool = False
    limit: Count | None = 7
    label: str | None = None
    mode: Mode = Mode.FAST
    order: Literal["breadth", "depth"] = "breadth"
    body: Bytes = 64 << 20
    wait: Seconds | Literal["auto"] = "auto"
    tags: Annotated[frozenset[str], Meta(max_length=2)] = frozenset()
    rest: Rest = Rest(max_delay=60.0)
    host: dict[str, Host] = {}
    steps: list[Step] = []
    extra: Rest | None = None


def problems_of(tree: dict) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(Tree, tree)
    return list(caught.value.problems)


def test_nothing_given_is_the_default():
    assert load(Tree, {}) == Tree()


def test_values_of_every_kind():
    tree = {
        "workers": 3,
        "ratio": 2,
        "quiet": True,
        "mode": "slow",
        "order": "depth",
        "body": "1 GB",
        "wait": "2min",
        "tags": ["a", "b"],
        "rest": {"min_delay": "250ms", "steps": [1, "1h"]},
        "host": {"a.org": {"min_delay": "5 min"}, "b.org": {}},
        "steps": [{"name": "one", "size": "1KiB"}, {"name": "two"}],
        "extra": {"max_delay": 5},
    }
    assert load(Tree, tree) == Tree(
        workers=3,
        ratio=2.0,
        quiet=True,
        mode=Mode.SLOW,
        order="depth",
        body=10**9,
        wait=120.0,
        tags=frozenset("ab"),
        rest=Rest(min_delay=0.25, max_delay=60.0, steps=(1.0, 3600.0)),
        host={"a.org": Host(min_delay=300.0), "b.org": Host()},
        steps=[Step(name="one", size=1024), Step(name="two")],
        extra=Rest(max_delay=5.0),
    )


def test_a_part_of_a_section_keeps_the_default_of_its_owner():
    """The whole's default has another `max_delay` than the section's own."""
    assert load(Tree, {"rest": {"min_delay": 40}}).rest == Rest(min_delay=40.0, max_delay=60.0)


def test_types_come_out_as_declared():
    loaded = load(Tree, {"rest": {"steps": [1]}, "body": "1KiB", "ratio": 1, "tags": []})
    assert (type(loaded.rest.steps), type(loaded.rest.steps[0]), type(loaded.body)) == (tuple, float, int)
    assert (type(loaded.ratio), type(loaded.tags)) == (float, frozenset)


def test_none_empties_an_optional_setting():
    loaded = load(Tree, {"limit": "none", "label": "none", "extra": "none"})
    assert (loaded.limit, loaded.label, loaded.extra) == (None, "none", None)
    assert problems_of({"workers": "none"}) == ["workers: expected a whole number, got 'none'"]


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_what_is_no_number_or_has_no_end_is_no_setting(number):
    assert problems_of({"ratio": float(number)}) == [f"ratio: expected a number, got {number}"]


def test_every_problem_is_listed_at_once():
    found = problems_of(
        {
            "workers": 0,
            "wrokers": 5,
            "ratio": float("nan"),
            "quiet": 1,
            "mode": "fsat",
            "order": 5,
            "body": "10 M",
            "tags": ["a", "b", "c"],
            "min_delay": 3,
            "zzz": 1,
            "rest": {"min_delay": "2min", "max_delay": "1min"},
            "host": {"a.org": {"min_delay": -1, "delay": 1}, "b": 5},
            "steps": [{"size": 1}, 7, {"name": 3}],
            "extra": [],
        }
    )
    assert found == [
        "workers: expected a whole number >= 1, got 0",
        "wrokers: is not a setting; did you mean workers?",
        "ratio: expected a number, got nan",
        "quiet: expected true or false, got 1",
        "mode: expected one of fast, slow, got 'fsat'; did you mean fast?",
        "order: expected one of breadth, depth, got 5",
        'body: \'10 M\' is not a size; write e.g. "500B", "64MiB" or "1GB"',
        "tags: takes at most 2 entries, has 3",
        "min_delay: is not a setting; did you mean rest.min_delay or extra.min_delay?",
        "zzz: is not a setting",
        "rest: min_delay must not exceed max_delay",
        'host."a.org".min_delay: expected a number >= 0.0, got -1',
        'host."a.org".delay: is not a setting; did you mean host."a.org".min_delay?',
        "host.b: expected a table, got 5",
        "steps[0].name: is missing and has no default",
        "steps[1]: expected a table, got 7",
        "steps[2].name: expected text, got 3",
        "extra: expected a table, got []",
    ]


def test_a_name_with_dots_that_stands_without_quotes_is_told_with_them():
    """`[host.a.org]`, as TOML reads it."""
    given = {
        "a": {"org": {"min_delay": 1}},
        "b": {"c": {"org": {"min_delay": 1}}},
        "d": {"org": 5},
        "e.org": {"zzz": {}},
    }
    assert problems_of({"host": given}) == [
        'host.a.org: is not a setting; did you mean host."a.org"?',
        'host.b.c: is not a setting; did you mean host."b.c.org"?',
        "host.d.org: is not a setting",
        'host."e.org".zzz: is not a setting',
    ]


def test_sections_and_lists_of_the_wrong_shape():
    assert problems_of({"rest": "10s", "host": ["a"], "steps": {}, "tags": "a"}) == [
        "rest: expected a table, got '10s'",
        "host: expected a table, got ['a']",
        "steps: expected a list, got {}",
        'tags: expected a list like ["a", "b"], got \'a\'',
    ]


def test_a_secret_is_never_shown():
    class Login(msgspec.Struct):
        password: Annotated[str, Meta(extra={"secret": True})] = ""

        def __post_init__(self) -> None:
            if self.password:
                raise ValueError(f"{self.password} is too weak")

    assert problems_of({"host": {"a": {"password": "x"}}}) == [
        "host.a.password: expected text of length >= 3, got something else"
    ]
    assert "1234567" not in str(problems_of({"host": {"a": {"password": 1234567}}}))
    with pytest.raises(ConfigError) as caught:
        load(Login, {"password": "hunter2"})
    assert caught.value.problems == ("*** is too weak",)


def test_long_values_are_cut_in_messages():
    (problem,) = problems_of({"workers": "x" * 10_000})
    assert len(problem) < 120


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["workers", "rest", "host", "steps", "min_delay", "name", "tags", "extra", "x.y"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=15,
    )
)
def test_any_tree_loads_or_is_explained(value):
    tree = (
        value if isinstance(value, dict) else {"rest": value, "host": value, "steps": value, "limit": value}
    )
    try:
        assert isinstance(load(Tree, tree), Tree)
    except ConfigError as error:
        assert error.problems
        assert all(error.problems)


def test_text_that_no_file_and_no_name_of_one_can_hold():
    found = problems_of({"label": "a\0b", "tags": ["ok", "\udcff"], "host": {"x": {"password": "\0secret"}}})
    assert sorted(found) == [
        "host.x.password: holds a character NUL",
        "label: holds a character NUL",
        "tags[1]: is not UTF-8",
    ]


def test_read_toml(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(b'\xef\xbb\xbfworkers = 3\n[host."a.org"]\nmin_delay = "1s"\n')
    assert read_toml(path) == {"workers": 3, "host": {"a.org": {"min_delay": "1s"}}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"workers = 3\nquiet = maybe\n", r"is not TOML: .*line 2"),
        (b"a = 1\na = 2\n", r"is not TOML: .*line 2"),
        (b"a = '\xff'", "is not UTF-8"),
        (b"a = " + b"1" * 5_000, "is not TOML: .*4300 digits"),
        (b"a = " + b"[" * 5_000, "is not TOML: .*recursion"),
    ],
)
def test_what_is_no_toml(tmp_path, content, says):
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=says) as caught:
        read_toml(path)
    assert str(path) in str(caught.value)


def test_unreadable_files(tmp_path):
    for path in (tmp_path / "none.toml", tmp_path, Path("/dev/null/x")):
        with pytest.raises(ConfigError, match="cannot be read"):
            read_toml(path)


def test_merge_leaves_the_original_alone():
    tree = {
        "workers": 1,
        "rest": {"min_delay": 1},
        "host": {"a.org": {"min_delay": 3}},
        "steps": [{"name": "a"}],
    }
    merged = merge(
        tree, {"rest.max_delay": "1h", 'host."a.org".min_delay': 9, 'host."b.org".min_delay': 8, "workers": 2}
    )
    assert merged == {
        "workers": 2,
        "rest": {"min_delay": 1, "max_delay": "1h"},
        "host": {"a.org": {"min_delay": 9}, "b.org": {"min_delay": 8}},
        "steps": [{"name": "a"}],
    }
    merged["steps"][0]["name"] = "b"
    assert tree == {
        "workers": 1,
        "rest": {"min_delay": 1},
        "host": {"a.org": {"min_delay": 3}},
        "steps": [{"name": "a"}],
    }


def test_merge_lists_every_bad_path():
    with pytest.raises(ConfigError) as caught:
        merge({"a": {"b": 1}}, {"a.b.c.d": 1, "": 2, "a..b": 3, 'x."y': 4, "ok": 5, "a b": 6})
    assert [problem.split(":")[0] for problem in caught.value.problems[:1]] == ["a.b.c.d"]
    assert "a.b is not a table" in caught.value.problems[0]
    assert len(caught.value.problems) == 5


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4))
def test_paths_round_trip(keys):
    """All but control characters, which no key on a command line holds."""
    keys = ["".join(char for char in key if char.isprintable()) or "k" for key in keys]
    keys = [key.replace("[", "(") for key in keys]
    assert split_path(join_path(keys)) == keys


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("engine.wrokers", "engine.workers"),
        ("polteness.min_delay", "politeness.min_delay"),
        ("polteness.min_dely", "politeness.min_delay"),
        ("min_delay", "politeness.min_delay"),
        ("max_pags", "budget.max_pages"),
        ("politeness.max_pages", "budget.max_pages"),
        ("politeness.zzz", ""),
        ("zzz", ""),
    ],
)
def test_the_nearest_setting_is_named(path, hint):
    assert nearest(path, leaf_paths(CrawlConfig)).split(" or ")[0] == hint


def test_of_many_unknown_keys_only_the_first_are_compared_with_all_settings():
    with pytest.raises(ConfigError) as caught:
        load(CrawlConfig, {"w" * 200_000: 1} | {f"politenes{number}": 1 for number in range(5_000)})
    problems = caught.value.problems
    assert len(problems) == 5_001
    assert 0 < sum("did you mean politeness" in problem for problem in problems) < 20
