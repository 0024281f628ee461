"""The excerpt of a span: its line, and carets under exactly its characters."""

from __future__ import annotations

import pytest

from matchrec.source import WIDTH, Source, Span, replace_control_characters


def read_excerpt(text: str, marked: str) -> list[str]:
    """Return the lines of the excerpt of `marked` in a text, without the numbers before them."""
    start = text.index(marked)
    location, *picture = Source(text).format_excerpt(Span(start, start + len(marked))).split("\n")
    return [location.strip(), *(line[6:] for line in picture)]


def test_a_short_line_is_shown_whole_without_its_indentation() -> None:
    assert read_excerpt("SELECT 1,\n\t  nosuch AS x  \nFROM t", "nosuch") == [
        "line 2, column 4",
        "nosuch AS x",
        "^^^^^^",
    ]


@pytest.mark.parametrize("before", [0, 1, 59, 117, 118, 500, 24_000])
@pytest.mark.parametrize("after", [0, 1, 60, 120, 24_000])
def test_a_long_line_is_cut_around_the_span(before: int, after: int) -> None:
    _, shown, carets = read_excerpt("x" * before + "!!!" + "y" * after, "!!!")
    assert [i for i, character in enumerate(shown) if character == "!"] == [
        i for i, character in enumerate(carets) if character == "^"
    ]
    assert len(shown.replace("...", "")) == min(WIDTH, before + 3 + after)
    assert shown.startswith("...") == (shown.count("x") < before)
    assert shown.endswith("...") == (shown.count("y") < after)


def test_a_span_longer_than_the_window_is_shown_from_its_start() -> None:
    text = "a" * 300 + "!" * 300 + "b" * 300
    _, shown, carets = read_excerpt(text, "!" * 300)
    assert shown.startswith("...aaa")
    assert shown.endswith("!!!...")
    assert carets.count("^") == shown.count("!") >= WIDTH // 2
    assert carets.index("^") == shown.index("!")


def test_a_span_over_several_lines_is_shown_by_its_first() -> None:
    assert read_excerpt("SELECT f(x,\n  y) FROM t", "f(x,\n  y)") == [
        "line 1, column 8",
        "SELECT f(x,",
        "       ^^^^",
    ]


@pytest.mark.parametrize(
    ("before", "marked", "carets"),
    [
        ("値段 > ", "低い", "       ^^^^"),  # wide: two columns each
        ("e\u0301 = ", "n\u0303a", "    ^^"),  # combining: none
        ("a\tb ", "x", "    ^"),  # a tab is shown as one space
    ],
)
def test_carets_are_under_the_characters_of_a_terminal(
    before: str, marked: str, carets: str
) -> None:
    _, shown, drawn = read_excerpt(f"{before}{marked} z", marked)
    assert shown == f"{before}{marked} z".replace("\t", " ")
    assert drawn == carets


def test_a_position_after_the_text_is_marked() -> None:
    assert Source("SELECT  ").format_excerpt(Span(8, 8)).split("\n")[1:] == [
        "      SELECT",
        "              ^",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc é 漢", "a\tb\nc é 漢"),
        ("\x1b]0;x\x07\r\x00\x7f", "␛]0;x␇␍␀␡"),
        ("\x9b2J \u202eabc \ud800", "�2J �abc �"),
    ],
)
def test_control_characters_become_pictures(text: str, shown: str) -> None:
    assert replace_control_characters(text) == shown
    assert len(shown) == len(text)
