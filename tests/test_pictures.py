"""The pictures of docs show the figures of their pages, and suit light and dark pages."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from matchrec.explain.pictures import diagrams, figures
from tests.benchmarks import sase_charts
from tests.benchmarks.page_charts import CHARTS, DOCS, PAGE, read_markdown_table
from tests.benchmarks.pictures import DARK, save
from tests.pages.pictures import IMAGES, PAGE_PICTURES, draw_page_picture

SVGS = sorted(IMAGES.glob("**/*.svg"))

# Colours that are readable on white and on black.
READABLE = {
    *("#228833", "#7a9cc6", "#808080", "#e08a1e", "#ee6677"),
    *("#1f77b4", "#2ca02c", "#8c564b", "#9467bd", "#b0b0b0", "#cccccc", "#d62728", "#ff7f0e"),
}


def list_texts(svg: str) -> list[str]:
    """Return the texts and titles in a picture."""
    return re.findall(r"<(?:text|title)\b[^>]*>([^<]+)<", svg)


@pytest.mark.parametrize("name", CHARTS)
def test_chart_shows_the_figures_of_its_page(name: str, tmp_path: Path) -> None:
    save(CHARTS[name]((DOCS / PAGE).read_text(encoding="utf-8")), tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert list_texts(drawn) == list_texts((IMAGES / f"{name}.svg").read_text(encoding="utf-8"))


def test_the_sase_chart_has_the_panels_of_its_page(tmp_path: Path) -> None:
    measured = sase_charts.read_page(sase_charts.PAGE.read_text(encoding="utf-8"))
    assert measured["3"]["p1 s2"] == (4_130_000, 1_710_000)
    assert measured["6"]["p1 s3"][0] == (31_200_000, 38_700_000)
    sase_charts.draw(measured, (500, 1000, 1500, 2000), tmp_path / "sase_throughput.svg")
    drawn = (tmp_path / "sase_throughput.svg").read_text(encoding="utf-8")
    assert list_texts(drawn) == list_texts(
        (IMAGES / "sase_throughput.svg").read_text(encoding="utf-8")
    )


def test_a_match_and_a_failure_have_one_colour_each() -> None:
    """A line chart once drew matches in the red in which the pictures of `why` draw failures."""
    plot = (IMAGES / "plot.svg").read_text(encoding="utf-8")
    assert figures.MATCH_COLOUR in plot
    assert figures.FAILURE_COLOUR not in plot
    why = (IMAGES / "why.svg").read_text(encoding="utf-8")
    assert figures.MATCH_COLOUR in why
    assert figures.FAILURE_COLOUR in why
    assert f"stroke: {figures.FAILURE_COLOUR}" in diagrams.STYLE


def test_chart_reads_the_table_of_its_section() -> None:
    table = "| s |  | x |\n|---|---|---:|\n| q | 2 | 3, 4 |"
    page = f"| |\n<!-- a -->\nSeed 1.\n\n{table}\n\n<!-- end a -->"
    assert read_markdown_table(page, "a") == [{"s": "q", "size": "2", "x": "3, 4"}]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGE_PICTURES)
def test_picture_is_drawn_from_its_page(name: str, spark: SparkSession) -> None:
    drawn = draw_page_picture(name)
    stored = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    assert list_texts(drawn) == list_texts(stored)


def test_plot_shows_all_the_matches_that_its_page_counts() -> None:
    page = (DOCS / "how-to" / "plots.md").read_text(encoding="utf-8")
    assert "six streaks of GOOG and four of IBM are green](../images/plot.svg)" in page
    plot = (IMAGES / "plot.svg").read_text(encoding="utf-8")
    assert len(set(re.findall(r'id="(match-[^"]+)"', plot))) == 6 + 4
    assert sum(" match" in text for text in list_texts(plot)) == 2


def test_row_pattern_shows_the_conditions_that_its_page_quotes() -> None:
    picture = (IMAGES / "row_pattern.svg").read_text(encoding="utf-8")
    page = (DOCS / "how-to" / "notebooks.md").read_text(encoding="utf-8")
    assert "`price > PREV(price) + 20` for JUMP" in page
    assert "price > PREV(price) + 20" in html.unescape(picture).replace("`", "")


@pytest.mark.parametrize("path", SVGS, ids=lambda path: path.stem)
def test_picture_is_readable_on_light_and_dark_pages(path: Path) -> None:
    picture = path.read_text(encoding="utf-8")
    assert "fill: #ffffff" not in picture
    assert "background-color" not in picture
    before, dark, _ = picture.rpartition("@media (prefers-color-scheme: dark)")
    assert dark, "draw it with `for_both_schemes`"
    if path.parent.name != "matching":  # its style has both schemes
        inks = set(re.findall("#[0-9a-f]{6}", before)) - READABLE
        assert inks <= set(DARK)
