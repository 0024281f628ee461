"""The text and bars of the coverage funnel, without Spark."""

from __future__ import annotations

import pytest

from matchrec.compile.counted_coverage import Figures, NearestStart
from matchrec.errors.surface import PYTHON
from matchrec.explain.clause_coverage import (
    ClauseCoverage,
    LoopCoverage,
    OccurrenceCoverage,
    Reason,
    RunEnding,
)
from matchrec.explain.coverage import Coverage
from matchrec.explain.funnel import show_funnel
from matchrec.explain.funnel_picture import draw_funnels


@pytest.mark.parametrize(
    ("reason", "awaited", "expected"),
    [
        (Reason.FALSE, ("B",), "B's condition was not true"),
        (Reason.FALSE, ("B", "C"), "the conditions of B, C were not true"),
        (Reason.NO_ROW, ("B", "C"), "the partition ended before B or C"),
        (Reason.OUT_OF_WINDOW, ("B",), "the window ended before B"),
        (Reason.ANCHORED, (), "^ or $ did not hold"),
    ],
)
def test_a_reason_is_shown_in_words(
    reason: Reason, awaited: tuple[str, ...], expected: str
) -> None:
    ending = RunEnding(reason, awaited, 1, 1)
    assert str(ending) == expected
    assert repr(ending).startswith(f"RunEnding(reason=Reason.{reason.name}, awaited=")


def make_occurrence(number: int, came: int, *endings: RunEnding) -> OccurrenceCoverage:
    """Return the coverage of an occurrence."""
    ended = sum(ending.count for ending in endings)
    return OccurrenceCoverage(
        number, "AB"[number - 1] if number else None, came, ended, endings, ()
    )


def make_funnel(nearest: NearestStart | None = None, held: int = 10) -> ClauseCoverage:
    """Return the coverage of a thousand rows without a match; one of them reached A."""
    figures = Figures(rows=1000, partitions=1, largest_partition=1000, rows_held=held)
    occurrences = (
        make_occurrence(0, 1000, RunEnding(Reason.FALSE, ("A",), 2, 999)),
        make_occurrence(1, 1, RunEnding(Reason.OUT_OF_WINDOW, ("B",), 1, 1)),
        make_occurrence(2, 0),
    )
    return ClauseCoverage("A B", figures, occurrences, nearest)


def test_one_row_of_many_has_a_bar_and_decides_the_text() -> None:
    nearest = NearestStart(1, {"k": "x", "l": None}, {"t": "7"})
    assert show_funnel(make_funnel(nearest), PYTHON).splitlines() == [
        "row pattern",
        "  A B",
        "rows",
        "  1,000 rows in 1 partition; 1 partition without a match; the largest has 1,000 rows",
        "starting rows that reached each variable, and why others stopped",
        "  tried   1,000 ████████████████████ 999 stopped: A's condition was not true",
        "  A           1 █                    1 stopped: the window ended before B",
        "  B           0",
        "  matches     0",
        "where and why most of them stopped",
        "  no match; 1 of 1,000 starting rows came closest and stopped after A",
        "  the window ended before B: 1",
        "  closest to a match: the starting row t = 7, in the partition k = x, l = NULL",
        "    it needed at least 1 more row; this shows why:",
        "    query.why(partition={'k': 'x', 'l': None}, row='7')",
    ]


def test_a_search_that_looks_far_is_remarked() -> None:
    lines = show_funnel(make_funnel(held=2_000_000), PYTHON).splitlines()
    assert lines[4].startswith("  a worker held 2,000,000 rows at once")


def test_a_picture_has_the_pattern_for_a_title() -> None:
    clause = ClauseCoverage("`<` $A $B", Figures(), (make_occurrence(0, 0),), None)
    (panel,) = draw_funnels([make_funnel(), clause]).axes
    titles = [text.get_text() for text in panel.texts if text.get_fontweight() == "bold"]
    assert titles == [
        f"{pattern}: starting rows that reached each variable" for pattern in ("A B", "`<` $A $B")
    ]
    assert "`&lt;` $A $B" in Coverage({1: clause}).svg()


def test_the_rows_of_a_loop_have_lines_and_bars() -> None:
    false = RunEnding(Reason.FALSE, ("A",), 1, 2)
    loop = (LoopCoverage(1, 9, ()), LoopCoverage(2, 9, (false,)), LoopCoverage(3, 7, ()))
    a = OccurrenceCoverage(1, "A", 9, 2, (false,), (), loop)
    clause = ClauseCoverage("A{3}", Figures(rows=9, partitions=1), (make_occurrence(0, 9), a), None)
    assert show_funnel(clause, PYTHON).splitlines()[5:10] == [
        "  tried   9 ████████████████████",
        "  A       9 ████████████████████",
        "  A{2}    9 ████████████████████ 2 stopped: A's condition was not true",
        "  A{3}    7 ████████████████",
        "  matches 0",
    ]
    (panel,) = draw_funnels([clause]).axes
    _, *texts = [text.get_text() for text in panel.texts]
    assert texts == [
        *("tried", "9", "A", "9", "A{2}", "9", "2 stopped: A's condition was not true"),
        *("A{3}", "7", "matches", "0"),
    ]
    lengths = [round(bar.get_width(), 2) for bar in panel.patches]
    assert lengths == [1, 1, 1, 0.78, 0]
    assert not panel.axison  # so that no tick mark looks like a minus sign before a count
