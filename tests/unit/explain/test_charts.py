"""Pictures of matches: no texts overlap, with any names, values and number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from matchrec.compile.counted_coverage import Figures
from matchrec.errors import MatchRecognizeError
from matchrec.explain.charts import backtest_picture
from matchrec.explain.charts.axes import WIDTH, AxisLabels
from matchrec.explain.charts.backtest_picture import DrawnSpan, draw_backtest
from matchrec.explain.charts.lanes import draw_lanes
from matchrec.explain.charts.lines import draw_lines
from matchrec.explain.charts.series import MatchSpan, Series
from matchrec.explain.charts.sweep import Sweep
from matchrec.explain.clause_coverage import ClauseCoverage, OccurrenceCoverage, Reason, RunEnding
from matchrec.explain.funnel_picture import draw_funnels
from matchrec.explain.pictures.figures import MATCH_BAND_COLOUR, keep_texts, make_figure
from matchrec.explain.tracing.story import AttemptStory, Line, Story
from matchrec.explain.tracing.story_picture import draw_story
from matchrec.explain.tracing.trials import Outcome

DAY, NOON = date(2024, 1, 1), datetime(2024, 5, 1, 12)
LONG = "a long name of a partition in the cluster"
LABELS = AxisLabels(
    "a_long_name_of_a_column_with_a_time", "the_long_name_of_a_column", "the_key_of_a_customer"
)


def make_series(times: Iterable[Any], values: Iterable[Any]) -> Series:
    """Return a series in which all rows are matched."""
    listed = list(times)
    return Series(listed, list(values), [True] * len(listed))


def find_texts(figure: Figure) -> list[Text]:
    """Return the texts that a picture shows, after it has been laid out."""
    with keep_texts():
        figure.draw_without_rendering()
    panels = [panel for panel in figure.axes if panel.get_visible()]
    texts = [text for panel in panels for text in panel.findobj(Text)]
    texts += [*figure.texts, *(text for legend in figure.legends for text in legend.findobj(Text))]
    hidden = {label for panel in panels for label in find_labels_outside(panel)}
    shown = [text for text in texts if text.get_visible() and text.get_text().strip()]
    return [text for text in shown if text not in hidden]


def find_labels_outside(panel: Axes) -> Iterator[Text]:
    """Yield the labels of ticks beyond the ends of an axis, which are not drawn."""
    for axis in (panel.xaxis, panel.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if not low <= tick.get_loc() <= high:
                yield tick.label1


def list_overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Return the pairs of texts that overlap."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in find_texts(figure)]
    return [
        (first, second)
        for (first, box), (second, other) in combinations(boxes, 2)
        if min(box.x1, other.x1) - max(box.x0, other.x0) > 1
        and min(box.y1, other.y1) - max(box.y0, other.y0) > 2
    ]


def list_tick_labels(figure: Figure) -> list[str]:
    """Return the labels of the visible ticks along the time axis of the last panel."""
    figure.draw_without_rendering()
    panel = next(panel for panel in reversed(figure.axes) if panel.get_visible())
    left, right = panel.get_xlim()
    ticks = zip(panel.get_xticks(), panel.get_xticklabels(), strict=True)
    return [label.get_text() for at, label in ticks if left <= at <= right]


TIMES: dict[str, list[Any]] = {
    "years": [DAY + timedelta(150 * number) for number in range(20)],
    "months": [DAY + timedelta(40 * number) for number in range(20)],
    "weeks": [DAY + timedelta(4 * number) for number in range(20)],
    "days": [DAY + timedelta(number) for number in range(5)],
    "hours": [NOON + timedelta(hours=3 * number) for number in range(20)],
    "minutes": [NOON + timedelta(minutes=8 * number) for number in range(20)],
    "seconds": [NOON + timedelta(seconds=8 * number) for number in range(20)],
    "microseconds": [NOON + timedelta(microseconds=15 * number) for number in range(20)],
    "numbers": [2_000_000_000 * number for number in range(20)],
    "fractions": [0.1 * number for number in range(20)],
    "one date": [DAY],
    "one time": [NOON],
    "one number": [7],
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("panels", [1, 3])
@pytest.mark.parametrize("scale", [1, 10_000_000])
def test_texts_of_lines_do_not_overlap(times: list[Any], panels: int, scale: int) -> None:
    names = [f"{LONG}, number {number}, $x$ and $y$" for number in range(panels)]
    values = [scale + number % 7 for number, _ in enumerate(times)]
    figure = make_figure(WIDTH, 1)
    with keep_texts():
        series = {name: make_series(times, values) for name in names}
        draw_lines(figure, series, [MatchSpan(None, times[0], times[-1])], LABELS)
    assert list_overlaps(figure) == []
    assert len(list_tick_labels(figure)) >= min(2, len(times))


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_texts_of_lanes_do_not_overlap(times: list[Any]) -> None:
    figure = make_figure(WIDTH, 1)
    texts = ["a very long text at a row, which does not fit"] * len(times)
    lanes = {f"{LONG} {number}": make_series(times, texts) for number in range(3)}
    with keep_texts():
        draw_lanes(figure, lanes, [MatchSpan(None, times[0], times[-1])], LABELS)
    assert list_overlaps(figure) == []


def test_texts_of_matches_are_shown_before_others() -> None:
    figure = make_figure(WIDTH, 1)
    lane = {"": make_series(range(200), (f"row {number}" for number in range(200)))}
    draw_lanes(figure, lane, [MatchSpan(None, 151, 151)], AxisLabels("t", "text"))
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert "row 151" in shown
    assert 20 < len(shown) < 60


@pytest.mark.parametrize("draw", [draw_lines, draw_lanes])
def test_a_picture_without_rows_says_so(draw: Any) -> None:
    figure = make_figure(WIDTH, 1)
    draw(figure, {}, [], LABELS)
    assert [text.get_text() for text in figure.texts] == ["There are no rows to draw."]
    assert figure.axes == []


def test_the_axes_have_the_names_of_their_columns() -> None:
    figure = make_figure(WIDTH, 1)
    series = {name: make_series([1, 2], [5, 6]) for name in "abc"}
    draw_lines(figure, series, [], AxisLabels("day", "price", "ticker"))
    panels = figure.axes[:3]
    assert [panel.get_xlabel() for panel in panels] == ["day", "day", "day"]
    assert {panel.get_ylabel() for panel in panels} == {"price"}
    lanes = make_figure(WIDTH, 1)
    draw_lanes(lanes, {"a": make_series([1], ["x"])}, [], AxisLabels("day", "page", "user"))
    assert (lanes.axes[0].get_xlabel(), lanes.axes[0].get_ylabel()) == ("day", "user")


@pytest.mark.parametrize("draw", [draw_lines, draw_lanes])
@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], []),
        ([MatchSpan(None, 1, 2)], ["match", "other rows"]),
        ([MatchSpan(None, 1, 1), MatchSpan(None, 3, 3)], ["match", "other rows"]),
        ([MatchSpan(None, 2, 3)], ["match", "other rows"]),
        ([MatchSpan(None, 1, 3)], ["match"]),
        ([MatchSpan(None, 2, 3), MatchSpan(None, 1, 1)], ["match"]),
        ([MatchSpan("b", 1, 3)], ["match", "other rows"]),
    ],
)
def test_a_legend_has_what_is_drawn(draw: Any, spans: list[MatchSpan], expected: list[str]) -> None:
    figure = make_figure(WIDTH, 1)
    series = {name: make_series([1, 2, 3], [5, 6, 7]) for name in "ab"}
    draw(figure, series, spans, LABELS)
    texts = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert texts == expected


def test_seconds_and_large_numbers_are_written_out() -> None:
    figure = make_figure(WIDTH, 1)
    series = {
        "": make_series(TIMES["seconds"][:4], [10_000_001, 10_000_003, 9_999_998, 10_000_000])
    }
    draw_lines(figure, series, [], LABELS)
    assert list_tick_labels(figure)[0] == "12:00:00"
    assert figure.axes[0].xaxis.get_offset_text().get_text() == "2024-05-01"
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert "10000000" in labels


@pytest.mark.parametrize("parameters", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 4, 60])
def test_texts_of_a_sweep_do_not_overlap(parameters: int, count: int) -> None:
    names = ("days", "fall", "a_long_name_of_a_parameter_of_the_clause")[:parameters]
    others = [(), (0.01,), (0.05,)] if parameters == 2 else [()]
    others = [(0.01 * a, b)[: parameters - 1] for a in range(1, 9) for b in (1, 2, None)]
    rows = tuple(
        (f"value {number}", *other, number, 1, 1, 1, 1)
        for number in range(count)
        for other in dict.fromkeys(others)
    )
    figure = Sweep(names, rows).figure()
    assert list_overlaps(figure) == []
    labels = list_tick_labels(figure)
    assert labels[0] == "value 0"
    assert len(labels) == min(count, 9) if count < 60 else 5 < len(labels) < 12


def test_the_matches_of_a_sweep_begin_at_zero() -> None:
    figure = Sweep(("least",), ((1, 90, 1, 1, 1, 1), (2, 80, 1, 1, 1, 1))).figure()
    (panel,) = figure.axes
    assert panel.get_ylim()[0] == 0
    assert panel.get_ylim()[1] > 90
    assert panel.get_title(loc="left") == "Matches for each value of least"


def test_a_sweep_over_texts_draws_points_and_whole_markers() -> None:
    for values, style in ((("a", "b"), "None"), ((1, 2), "-")):
        rows = tuple((value, 0, 0, 0, None, None) for value in values)
        (panel,) = Sweep(("name",), rows).figure().axes
        (line,) = panel.get_lines()
        assert line.get_linestyle() == style
        assert not line.get_clip_on()


def test_pictures_are_written_in_the_format_of_the_name(tmp_path: Path) -> None:
    counts = Sweep(("n",), ((1, 2, 1, 2, 1, 1),))
    beginnings = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for form, beginning in beginnings.items():
        counts.save(tmp_path / f"counts.{form}")
        assert (tmp_path / f"counts.{form}").read_bytes().startswith(beginning)
    with pytest.raises(MatchRecognizeError, match=r"unknown format of `counts\.gif`"):
        counts.save("counts.gif")


def test_texts_of_a_backtest_do_not_overlap() -> None:
    spans = [
        DrawnSpan((f"{LONG} {number}",), at, at + timedelta(minutes=number), overlaps=False)
        for number, at in enumerate(TIMES["minutes"] * 2)
    ]
    figure = draw_backtest(spans, spans[:3], AxisLabels("from opened to closed", "host"))
    assert list_overlaps(figure) == []
    (panel,) = figure.axes
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert len(set(names)) == len(names) == 30  # names that differ only at their end
    assert figure.legends[0].get_title().get_text() == "not drawn: 10 more partitions"
    explained = [text.get_text() for text in figure.legends[0].get_texts()]
    assert explained == ["missed incident", "false alarm"]  # nothing else is drawn


def test_texts_of_coverage_do_not_overlap() -> None:
    names = [f"A_LONG_NAME_OF_A_VARIABLE_{number}" for number in range(6)]
    occurrences = [
        OccurrenceCoverage(
            number=number,
            variable=name,
            reached=10_000_000 >> number,
            stopped=100,
            stop_reasons=(RunEnding(Reason.FALSE, (names[0], names[-1]), 1, 100),),
            false_parts=(),
        )
        for number, name in enumerate([None, *names])
    ]
    figures = Figures(rows=10_000_000, partitions=4)
    clause = ClauseCoverage(
        " ".join(f"{name}+" for name in names), figures, tuple(occurrences), None
    )
    assert list_overlaps(draw_funnels([clause, clause])) == []


def make_story(*lines: Line) -> Story:
    """Return a story with one attempt."""
    attempt = AttemptStory(1, f"row 1 ({LONG} = 7): no match", lines, ("got no further",))
    return Story(("PATTERN (A B)",), "at", ("no match",), (attempt,))


def test_a_story_says_what_its_symbols_mean() -> None:
    texts = ("DOWN: price < 3: 4 < 3 is false", "DOWN: size > 9: 8 > 9 is false")
    conditions = tuple(text.removeprefix("DOWN: ") for text in texts)
    story = make_story(
        Line(
            1, "2024-05-01 10:00:00", "A_LONG_NAME_OF_A_VARIABLE", Outcome.TAKEN, (), 0, is_key=True
        ),
        Line(2, "2024-05-01 10:00:10", "", Outcome.SKIPPED, (), 1, is_key=True),
        Line(3, "2024-05-01 10:00:20", "DOWN", Outcome.FAILED, conditions, 1, is_key=True),
        Line(3, "2024-05-01 10:00:20", "UP", Outcome.GIVEN_BACK, (), 1, is_key=True),
        Line(4, "end", "DOWN", Outcome.NO_ROW, (), 1, is_key=True),
        Line(4, "end", "UP", Outcome.ANCHOR_FAILED, (), 1, is_key=True),
    )
    figure = draw_story(story)
    (panel,) = figure.axes
    legend = panel.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        *("taken", "skipped", "failed", "given back", "no row left or anchor failed")
    ]
    lines = [handle for handle in legend.legend_handles if isinstance(handle, Line2D)]
    shapes = [(line.get_marker(), line.get_markerfacecolor()) for line in lines]
    assert len(shapes) == len(set(shapes)) == 5  # not only colours differ
    assert list_overlaps(figure) == []
    assert set(texts) <= {text.get_text() for text in panel.texts}


def test_a_story_without_attempts_says_its_result() -> None:
    (panel,) = draw_story(Story(("PATTERN (A)",), "at", ("no match; 0 rows",), ())).axes
    assert [text.get_text() for text in panel.texts] == ["PATTERN (A)", "no match; 0 rows"]


def test_a_match_of_one_row_has_a_band() -> None:
    series = {"": make_series([1, 2, 3], [5, 6, 7])}
    lines = make_figure(WIDTH, 1)
    draw_lines(lines, series, [MatchSpan(None, 2, 2), MatchSpan(None, 1, 2)], LABELS)
    assert [band.get_linewidth() for band in lines.axes[0].patches] == [3, 0]
    lanes = make_figure(WIDTH, 1)
    draw_lanes(lanes, series, [MatchSpan(None, 2, 2), MatchSpan(None, 1, 3)], LABELS)
    bands = [line for line in lanes.axes[0].get_lines() if line.get_color() == MATCH_BAND_COLOUR]
    assert [(band.get_marker(), band.get_markersize()) for band in bands[:1]] == [("o", 15)]
    assert [(band.get_marker(), band.get_linewidth()) for band in bands[1:]] == [("None", 15)]


def test_dashed_lines_show_where_joined_matches_begin_and_end() -> None:
    series = {"": make_series(range(20), range(20))}
    apart = [MatchSpan(None, 1, 3), MatchSpan(None, 4, 6)]
    shared_row = [MatchSpan(None, 8, 10), MatchSpan(None, 10, 12)]
    overlapping = [MatchSpan(None, 13, 17), MatchSpan(None, 15, 16), MatchSpan(None, 13, 17)]
    figure = make_figure(WIDTH, 1)
    draw_lines(figure, series, [*overlapping, *shared_row, *apart], LABELS)
    dashed = [line for line in figure.axes[0].get_lines() if line.get_linestyle() == "--"]
    assert sorted(np.asarray(line.get_xdata()).tolist() for line in dashed) == [
        [10, 10],
        [15, 15],
        [16, 16],
    ]


def test_many_joined_matches_have_no_dashed_lines() -> None:
    series = {"": make_series(range(60), range(60))}
    figure = make_figure(WIDTH, 1)
    draw_lines(figure, series, [MatchSpan(None, row, row + 5) for row in range(50)], LABELS)
    assert all(line.get_linestyle() != "--" for line in figure.axes[0].get_lines())


def test_a_backtest_does_not_rely_on_colours() -> None:
    spans = [DrawnSpan(("a",), 1, 4, overlaps=True), DrawnSpan(("a",), 6, 6, overlaps=False)]
    figure = draw_backtest(spans, spans, AxisLabels("minute", "host"))
    (panel,) = figure.axes
    hit, miss = panel.patches
    assert (hit.get_hatch(), miss.get_hatch()) == (None, "////")
    assert miss.get_linewidth() == 2  # an incident of one moment is only its border
    assert [line.get_linestyle() for line in panel.get_lines()] == ["-", "--"]
    assert [line.get_marker() for line in panel.get_lines()] == ["o", "X"]
    low, high = panel.get_xlim()
    assert low < 1
    assert high > 6
    legend = {text.get_text(): text for text in figure.legends[0].get_texts()}
    assert list(legend) == [
        *("hit incident", "missed incident", "match that hits an incident", "false alarm")
    ]
    figure.draw_without_rendering()
    assert max(text.get_window_extent().x1 for text in legend.values()) < figure.bbox.x1


def test_a_backtest_says_which_spans_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four of five spans are drawn, on two lanes. The lane of the fifth span is not counted."""
    monkeypatch.setattr(backtest_picture, "MAX_SPANS", 4)
    monkeypatch.setattr(backtest_picture, "MAX_LANES", 2)
    spans = [DrawnSpan((name,), 1, 4, overlaps=True) for name in "abcbd"]
    figure = draw_backtest(spans, spans[:4], AxisLabels("minute", "host"))
    note = figure.legends[0].get_title().get_text()
    assert note == "not drawn: at least 1 more partition, incidents after the first 4"
    (panel,) = figure.axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["a", "b"]
    assert len(panel.patches) == 3  # the incidents of a, b and b


def test_equal_lines_of_a_sweep_are_both_visible() -> None:
    rows = tuple((n, fall, 5, 1, 1, 1, 1) for fall in (0.1, 0.2, 0.3) for n in (1, 2))
    (panel,) = Sweep(("n", "fall"), rows).figure().axes
    lines = panel.get_lines()
    assert len({line.get_linewidth() for line in lines}) == 1
    assert {line.get_markerfacecolor() for line in lines} == {"none"}
    assert [(line.get_marker(), line.get_linestyle()) for line in lines] == [
        *(("o", "-"), ("s", "--"), ("D", ":"))
    ]


def test_long_reasons_of_coverage_are_broken_into_lines() -> None:
    endings = (RunEnding(Reason.FALSE, ("C",), 1, 2), RunEnding(Reason.FALSE, ("D",), 1, 1))
    occurrences = tuple(
        OccurrenceCoverage(number, name, 10, 3, endings[: number + 1], ())
        for number, name in enumerate([None, "B"])
    )
    clause = ClauseCoverage("B C", Figures(rows=10, partitions=1), occurrences, None)
    figure = draw_funnels([clause])
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts[3:9] == [
        "2 stopped: C's condition was not true",
        *("B", "10"),
        *(
            "3 stopped: 2 because C's condition was not true,",
            "1 because D's condition was not true",
        ),
        "matches",
    ]
    width, height = figure.get_size_inches()
    assert width < 7.5
    assert height < 2


def test_the_texts_of_a_picture_are_inside_of_it() -> None:
    """Texts are beside the panel, so that a figure saved by a program would lack them."""
    condition = "price < TOP.price * 1.05: 36.5 < 38.85 is false (TOP.price = 37.0 from row 1)"
    lines = (Line(1, "1", "DOWN", Outcome.FAILED, (condition,), 0, is_key=True),)
    figure = draw_story(make_story(*lines))
    width, height = figure.get_size_inches() * figure.dpi
    for text in find_texts(figure):
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= width
        assert box.y1 <= height
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "DOWN: price < TOP.price * 1.05: 36.5 < 38.85 is false" in texts
    assert "\xa0\xa0\xa0\xa0(TOP.price = 37.0 from row 1)" in texts
