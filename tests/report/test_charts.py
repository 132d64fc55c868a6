"""Charts are well-formed, escape whatever comes in, and draw what they are told."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.report.charts import (
    CHART_CSS,
    Axis,
    Bar,
    Frame,
    Series,
    Share,
    bar_chart,
    escaped,
    for_screens,
    histogram,
    ring_chart,
    share_bar,
    time_chart,
)
from gossamer.report.charts.scale import nice_ticks, time_label, time_ticks
from gossamer.report.charts.text import fit, text_width
from gossamer.words.amounts import percent
from gossamer.words.visible import visible

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</title><script>alert(1)</script>\"' onload=x \x00\x1b[31m\u202egnp.exe\u2066\u061c"
ATTRIBUTES = {
    *("class", "role", "viewBox", "width", "height", "x", "y", "x1", "x2", "y1", "y2", "rx", "points"),
    *("cx", "cy", "r", "d", "stroke-width", "stroke-dasharray", "pathLength", "transform"),
}  # fmt: skip
ELEMENTS = {"svg", "title", "desc", "g", "rect", "text", "line", "polygon", "polyline", "circle", "path"}

AXIS = Axis(tick=lambda value: f"{value:.4g}", value=lambda value: f"{value:,.2f}", unit="rate")
texts = st.text(max_size=80) | st.just(HOSTILE)
amounts = (
    st.floats(0, 1e18) | st.integers(0, 10**15).map(float) | st.sampled_from([float("nan"), -1.0, 1e308])
)
tones = st.integers(0, 9)
frames = st.builds(
    Frame,
    title=texts,
    description=texts,
    width=st.sampled_from([330, 500, 1100]),
    height=st.integers(120, 400),
)


@st.composite
def over_time(draw: Callable[..., object]) -> tuple[list[float], list[Series]]:
    count = draw(st.integers(1, 30))
    start = draw(st.floats(0, 4e9))
    width = draw(st.floats(0.01, 1e7))
    values = st.lists(amounts, min_size=count, max_size=count)
    series = draw(st.lists(st.builds(Series, name=texts, values=values, tone=tones), max_size=5))
    return [start + width * place for place in range(count + 1)], series


CHARTS = st.one_of(
    st.builds(
        bar_chart,
        frames,
        st.lists(st.builds(Bar, texts, amounts, texts, tones, texts), max_size=8),
        st.just(AXIS),
    ),
    st.builds(
        share_bar, frames, st.lists(st.builds(Share, texts, amounts, tones), max_size=8), st.just(AXIS)
    ),
    st.builds(
        lambda frame, pairs, log: histogram(
            frame, [name for name, _ in pairs], [count for _, count in pairs], AXIS, log=log
        ),
        frames,
        st.lists(st.tuples(texts, amounts), max_size=30),
        st.booleans(),
    ),
    st.builds(
        lambda frame, data, stacked: time_chart(frame, *data, AXIS, stacked=stacked),
        frames,
        over_time(),
        st.booleans(),
    ),
    st.builds(
        lambda frame, parts, places, words: ring_chart(
            frame, parts, [place % len(parts) for place in places], AXIS, words
        ),
        frames,
        st.lists(st.builds(Share, texts, amounts, tones), min_size=1, max_size=40),
        st.lists(st.integers(0, 100), max_size=3000),
        st.tuples(texts, texts),
    ),
)


def parsed(svg: str) -> ET.Element:
    """The chart, after a check that it holds nothing but what charts are made of."""
    root = ET.fromstring(svg)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES, element.attrib
        assert all(visible(line) == line for line in (element.text or "").split("\n"))
    return root


def found(root: ET.Element, element: str, kind: str = "") -> list[ET.Element]:
    return [
        each for each in root.iter(SVG + element) if kind in each.attrib.get("class", "").split() or not kind
    ]


@settings(max_examples=examples(60))
@given(CHARTS)
def test_any_figures_make_a_well_formed_chart(svg: str) -> None:
    root = parsed(svg)
    assert root.attrib["role"] == "img"
    assert root[0].tag == SVG + "title"
    for element in root.iter():
        for name in ("x", "y", "width", "height", "x1", "x2", "y1", "y2"):
            if name in element.attrib:
                assert re.fullmatch(r"-?\d+(\.\d)?", element.attrib[name]), (name, element.attrib[name])
                assert float(element.attrib[name]) >= (0 if name in ("width", "height") else -1e4)


@settings(max_examples=examples(60))
@given(CHARTS)
def test_marks_stay_inside_and_below_each_other(svg: str) -> None:
    root = parsed(svg)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for rect in found(root, "rect"):
        assert float(rect.attrib["x"]) + float(rect.attrib["width"]) <= width + 3
        assert 0 <= float(rect.attrib["y"]) <= height
        assert float(rect.attrib["y"]) + float(rect.attrib["height"]) <= height + 1
    rows: dict[str, list[tuple[float, float]]] = {}
    for words in found(root, "text", "tick"):
        if "mid" in words.attrib["class"]:
            half = text_width(words.text or "", 11) / 2
            x = float(words.attrib["x"])
            rows.setdefault(words.attrib["y"], []).append((x - half, x + half))
    for row in rows.values():
        assert all(one[1] <= other[0] for one, other in pairwise(sorted(row))), row


def test_hostile_words_are_shown_not_obeyed() -> None:
    frame = Frame(title=HOSTILE, description=HOSTILE)
    charts = [
        bar_chart(frame, [Bar(HOSTILE, 3, HOSTILE, more=HOSTILE)], AXIS),
        share_bar(frame, [Share(HOSTILE, 3)], AXIS),
        ring_chart(frame, [Share(HOSTILE, 3)], [0], AXIS, (HOSTILE, HOSTILE)),
        histogram(frame, [HOSTILE], [3], AXIS),
        time_chart(frame, [0, 1, 2], [Series(HOSTILE, [1, 2]), Series(HOSTILE, [1, 2])], AXIS),
    ]
    for svg in charts:
        assert parsed(svg)[0].text == visible(HOSTILE)
        assert "<script" not in svg
        assert "\\u202egnp.exe\\u2066\\u061c" in svg
        assert not {"\x00", "\x1b", "\u202e", "\u2066", "\u061c"} & set(svg)


@given(st.text())
def test_escaped_text_comes_back_as_it_is_seen(text: str) -> None:
    assert (ET.fromstring(f"<a>{escaped(text)}</a>").text or "") == visible(text)
    assert ET.fromstring(f'<a b="{escaped(text)}"/>').attrib["b"] == visible(text)


def test_bars_are_as_long_as_their_amounts() -> None:
    root = parsed(bar_chart(Frame(title="t"), [Bar("a", 100), Bar("b", 25), Bar("c", 0)], AXIS))
    lengths = [float(mark.attrib["width"]) for mark in found(root, "rect", "mark")]
    assert len(lengths) == 2, "nothing is drawn for nothing"
    assert lengths[1] == pytest.approx(lengths[0] / 4, abs=0.1)
    assert [words.text for words in found(root, "text", "amount")] == ["100.00", "25.00", "0.00"]


def test_shares_fill_the_bar() -> None:
    root = parsed(
        share_bar(Frame(title="t", width=500), [Share("a", 1), Share("no", 0), Share("b", 3)], AXIS)
    )
    assert [float(mark.attrib["width"]) for mark in found(root, "rect", "mark")] == [125, 375]
    assert "no" not in [words.text for words in found(root, "text")]


def test_arcs_go_round_by_their_amounts() -> None:
    parts = [Share("a", 1, 0), Share("none", 0, 1), Share("b", 2, 2), Share("c", 1, 3)]
    root = parsed(ring_chart(Frame(title="t", width=600), parts, [], AXIS, ("4", "in all")))
    arcs = [re.findall(r"-?[\d.]+", path.attrib["d"]) for path in found(root, "path")]
    cx, cy, r = 127.0, 127.0, 114.0
    begins = [(cx, cy - r), (cx + r, cy), (cx - r, cy)]  # top, right, left
    assert [(float(arc[0]), float(arc[1])) for arc in arcs] == begins
    assert [hint.text for hint in found(root, "title")[1:]] == [
        "a: 1.00 (25%)",
        "b: 2.00 (50%)",
        "c: 1.00 (25%)",
    ]
    alone = found(parsed(ring_chart(Frame(title="t"), parts[:1], [], AXIS, ("", ""))), "circle")[0]
    assert float(alone.attrib["r"]) == r


@pytest.mark.parametrize("count", [1, 5, 128, 129, 1000, 1024, 16_384])
def test_every_place_of_the_ring_is_drawn_once(count: int) -> None:
    parts = [Share(str(tone), 1, tone) for tone in range(5)]
    places = [place * 7919 % 5 for place in range(count)]
    root = parsed(ring_chart(Frame(title="t"), parts, places, AXIS, ("", "")))
    tracks: dict[str, list[list[bool]]] = {}
    for circle in found(root, "circle"):
        lengths = list(map(int, circle.attrib["stroke-dasharray"].split()))
        assert len(lengths) % 2 == 0, "an odd number would be read twice"
        drawn = [at % 2 == 0 for at, length in enumerate(lengths) for _ in range(length)]
        assert len(drawn) == int(circle.attrib["pathLength"])
        tracks.setdefault(circle.attrib["r"], []).append(drawn)
    for circles in tracks.values():
        assert all(sum(here) == 1 for here in zip(*circles, strict=True))
    shown = sum(len(circles[0]) for circles in tracks.values())
    assert min(count, 1024) <= shown < min(count, 1024) + 8
    assert len(tracks) == min(8, -(-count // 128))


def test_columns_are_as_high_as_their_counts() -> None:
    counts = [1, 4, 0, 2]
    root = parsed(histogram(Frame(title="t"), ["1", "2", "4", "8"], counts, AXIS))
    heights = [float(mark.attrib["height"]) for mark in found(root, "rect", "mark")]
    assert heights == pytest.approx([heights[1] / 4, heights[1], heights[1] / 2], abs=0.1)
    hints = [hint.text for hint in found(root, "title")]
    assert hints[1:] == ["1 \u2013 2: 1.00", "2 \u2013 4: 4.00", "4 \u2013 8: 0.00", "\u2265 8: 2.00"]
    logarithmic = parsed(histogram(Frame(title="t"), ["1", "2"], [1, 1000], AXIS, log=True))
    low, high = (float(mark.attrib["height"]) for mark in found(logarithmic, "rect", "mark"))
    assert high / 20 < low < high / 3


def test_areas_stand_on_each_other() -> None:
    series = [Series("below", [2, 2], 1), Series("above", [1, 0], 2)]
    root = parsed(time_chart(Frame(title="t"), [60, 70, 80], series, AXIS, stacked=True))
    below, above = (
        [tuple(map(float, point.split(","))) for point in mark.attrib["points"].split()]
        for mark in found(root, "polygon")
    )
    assert {y for _, y in above} - {y for _, y in below} == {min(y for _, y in above)}
    assert min(y for _, y in below) in {y for _, y in above}
    hints = [hint.text for hint in found(root, "title")]
    assert hints[1] == "1970-01-01 00:01:00\nbelow: 2.00\nabove: 1.00"


def test_a_chart_of_nothing_says_so() -> None:
    frame = Frame(title="t", empty="nothing at all")
    for svg in (
        bar_chart(frame, [], AXIS),
        share_bar(frame, [Share("a", 0)], AXIS),
        ring_chart(frame, [Share("a", 0)], [0], AXIS, ("0", "b")),
        histogram(frame, ["1"], [0], AXIS),
        time_chart(frame, [0, 1], [Series("a", [0])], AXIS),
        time_chart(frame, [], [], AXIS),
    ):
        assert found(parsed(svg), "text")[0].text == "nothing at all"


@given(st.floats(1e-6, 1e15), st.integers(1, 12), st.booleans(), st.booleans())
def test_ticks_are_even_few_and_reach_the_top(top: float, most: int, binary: bool, whole: bool) -> None:
    ticks = nice_ticks(top, most, binary=binary, whole=whole)
    assert ticks[0] == 0
    assert top <= ticks[-1] * (1 + 1e-6)
    assert 2 <= len(ticks) <= most + 2
    steps = {round(other - one, 9) for one, other in pairwise(ticks[:3])}
    assert len(steps) == 1
    if whole:
        assert all(tick == int(tick) for tick in ticks)


@pytest.mark.parametrize(
    ("top", "options", "ticks"),
    [
        (9, {}, [0, 2, 4, 6, 8, 10]),
        (1, {"whole": True}, [0, 1]),
        (3 << 20, {"binary": True}, [0, 1 << 20, 2 << 20, 3 << 20]),
        (700, {"binary": True}, [0, 200, 400, 600, 800]),
        (0, {}, [0, 1]),
    ],
)
def test_ticks_are_round(top: float, options: dict[str, bool], ticks: list[float]) -> None:
    assert nice_ticks(top, 5, **options) == ticks


@given(st.floats(0, 4e9), st.floats(0.01, 3e9), st.integers(2, 15))
def test_time_ticks_lie_within(first: float, span: float, most: int) -> None:
    ticks, step = time_ticks(first, first + span, most)
    assert len(ticks) <= most + 1
    assert all(first - 1e-3 * step <= tick <= first + span + 1e-3 * step for tick in ticks)
    assert all(tick % step == 0 for tick in ticks)
    assert all(time_label(tick, step) for tick in ticks)


def test_time_labels_are_short() -> None:
    assert time_label(0, 3600) == "01-01"
    assert time_label(3600, 3600) == "01:00"
    assert time_label(3605, 5) == "01:00:05"
    assert time_label(1e99, 1) == "23:59:59"


@given(st.text(max_size=60), st.floats(20, 300))
def test_what_does_not_fit_loses_its_middle(text: str, width: float) -> None:
    short = fit(text, width)
    assert text_width(short) <= width + 0.01
    if short != visible(text):
        head, _, tail = short.partition("\u2026")
        assert visible(text).startswith(head)
        assert visible(text).endswith(tail)


@pytest.mark.parametrize(
    ("share", "words"), [(0, "0%"), (1e-9, "<0.1%"), (0.5, "50%"), (0.9999, ">99.9%"), (1, "100%")]
)
def test_a_little_is_not_nothing(share: float, words: str) -> None:
    assert percent(share) == words


def test_the_style_sheet_knows_every_class_and_both_themes() -> None:
    svg = for_screens(
        lambda width: time_chart(Frame(title="t", width=width), [0, 1], [Series("a", [1])], AXIS)
    )
    svg += ring_chart(Frame(title="t"), [Share("a", 1)], [0], AXIS, ("1", "b"))
    kinds = {kind for names in re.findall(r'class="([^"]*)"', svg) for kind in names.split()}
    assert {kind for kind in kinds if f".{kind}" not in CHART_CSS} <= {"time", "ring"}
    assert "prefers-color-scheme:dark" in CHART_CSS
    assert "[data-theme=dark]" in CHART_CSS
    assert not re.search(r"url\(|@import|</", CHART_CSS)
