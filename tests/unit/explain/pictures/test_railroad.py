"""Railroad diagrams are SVG, and show the texts and lines of a pattern."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from matchrec.explain.pictures.diagrams import draw_row_pattern
from matchrec.patterns.stages.builder import Pattern
from matchrec.syntax.row_pattern import parse_row_pattern

SVG = "{http://www.w3.org/2000/svg}"


def list_texts(svg: str, tag: str = "text") -> list[str]:
    """Return the texts of all elements with a tag."""
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}{tag}")]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A B", ["A", "B"]),
        ("A | B", ["A", "B"]),
        ("A+", ["A", "1 or more times"]),
        ("A*", ["A", "1 or more times"]),  # with a bypass
        ("A+?", ["A", "1 or more times, as few as possible"]),
        ("A{2,}", ["A", "2 or more times"]),
        ("A{1,50}?", ["A", "1 to 50 times, as few as possible"]),
        ("A{3}", ["A", "3 times"]),
        ("A{,3}", ["A", "1 to 3 times"]),  # with a bypass
        ("^ A $", ["start of partition", "A", "end of partition"]),
        ("{- A -}", ["A", "not in the result"]),
        ("PERMUTE(A, B)", ["all", "↺", "A", "B", "in any order"]),
        ("() A", ["A"]),
    ],
)
def test_the_picture_of_a_row_pattern_has_these_texts(pattern: str, expected: list[str]) -> None:
    assert sorted(list_texts(draw_row_pattern(parse_row_pattern(pattern), {}))) == sorted(expected)


def count_lines(pattern: str) -> int:
    """Return the number of line segments in a picture."""
    svg = draw_row_pattern(parse_row_pattern(pattern), {})
    return sum(1 for _ in ElementTree.fromstring(svg).iter(f"{SVG}path"))


def test_optional_parts_have_a_bypass() -> None:
    assert count_lines("A*") > count_lines("A+") > count_lines("A")


def test_a_variable_shows_its_condition() -> None:
    svg = draw_row_pattern(parse_row_pattern("A B"), {"A": "`x` < 1 & 2"})
    assert set(list_texts(svg, "title")) == {"`x` < 1 & 2", "every row"}


def test_a_picture_of_stages_names_skipped_events() -> None:
    pattern = (
        Pattern.begin("a")
        .where("x > 1")
        .where("y < 2")
        .next("b")
        .followed_by_any(Pattern.begin("c").one_or_more().until("done"))
        .optional()
        .next("d")
        .not_followed_by("n")
        .followed_by("e")
    )
    html = pattern._repr_html_()
    svg = html[html.index("<svg") : html.index("</svg>") + 6]
    assert list_texts(svg, "title") == [
        "(x > 1) AND (y < 2)",
        "every event",
        "every event",
        "every event",
        "every event",
        "every event",
    ]
    loop = "1 or more times, the next one, until done"
    labels = ["directly after", "any later one", loop, "up to the next one"]
    assert sorted({text for text in list_texts(svg) if text in labels}) == sorted(labels)
    assert "no n" in list_texts(svg)
    assert "Pattern.begin(&#x27;a&#x27;)" in html


def test_a_pattern_without_stages_is_its_call() -> None:
    assert "Pattern" in Pattern(())._repr_html_()
