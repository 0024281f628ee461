"""The text of a long attempt leaves out rows only while the outcomes stay the same."""

from __future__ import annotations

from matchrec.explain.tracing.shown_lines import MAX_LINES, choose_lines
from matchrec.explain.tracing.story import AttemptStory, Line, Story
from matchrec.explain.tracing.story_picture import draw_story
from matchrec.explain.tracing.story_text import show_story
from matchrec.explain.tracing.trials import Outcome

TURN = 60
ROWS = 100


def make_attempt(rows: int) -> AttemptStory:
    """Return the attempt of a V shape: rows of DOWN, then rows of UP that were tried for DOWN."""
    lines = []
    for row in range(1, rows + 1):
        if row > TURN:
            lines.append(
                Line(row, str(row), "DOWN", Outcome.FAILED, ("x < PREV(x): false",), row, True)
            )
        name = "UP" if row > TURN else "DOWN"
        lines.append(Line(row, str(row), name, Outcome.TAKEN, (f"x = {row}",), row, True))
    return AttemptStory(1, "row 1: no match", tuple(lines), ("no row left",))


def test_the_rows_where_the_outcomes_change_are_shown() -> None:
    shown = choose_lines(make_attempt(ROWS))
    assert [(line.row, line.variable, line.folded) for line in shown] == [
        (1, "DOWN", TURN - 2),
        (TURN, "DOWN", 0),
        (TURN + 1, "DOWN", 0),
        (TURN + 1, "UP", ROWS - TURN - 2),
        (ROWS, "DOWN", 0),
        (ROWS, "UP", 0),
    ]


def test_a_short_attempt_is_shown_as_it_is() -> None:
    assert len(choose_lines(make_attempt(MAX_LINES))) == MAX_LINES


def test_text_and_picture_say_how_many_rows_are_folded() -> None:
    story = Story((), "day", (), (make_attempt(ROWS),))
    (panel,) = draw_story(story).axes
    for shown in (show_story(story), "\n".join(text.get_text() for text in panel.texts)):
        assert "... 58 more rows with the same outcomes" in shown
        assert "... 38 more rows with the same outcomes" in shown
    assert "134 more trials are not shown; in Python, toPandas() has all of them" in show_story(
        story
    )
