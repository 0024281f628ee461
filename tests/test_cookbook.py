"""The pictures of the cookbook show the matches that its pages print; its index has every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pages import pictures
from tests.pages.blocks import read_blocks
from tests.pages.pictures import COOKBOOK, PICTURES, draw, find_span, write
from tests.pages.tables import register_tables

IMAGES = pictures.IMAGES / "cookbook"


def read_ids(path: Path) -> set[str]:
    """Return the matches in a picture."""
    return set(re.findall(r'id="(match-[^"]+)"', path.read_text(encoding="utf-8")))


def read_printed_ids(name: str) -> set[str]:
    """Return the matches in the last table before a picture that the picture shows."""
    picture = PICTURES[name]
    page = COOKBOOK / f"{picture.page}.md"
    end = page.read_text(encoding="utf-8").index(f"/{name}.svg)")
    printed = [block.printed for block in read_blocks(page) if block.end < end]
    *_, table = [text for text in printed if text is not None and text.startswith("+")]
    header, *lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if line.startswith("|")
    ]
    matches = [dict(zip(header, line, strict=True)) for line in lines]
    series = re.search(r"SELECT (\w*)", picture.rows_sql)
    assert series is not None
    spans = [find_span(match, series[1]) for match in matches]
    return {span.id for span in picture.choose_spans(spans)}


@pytest.mark.parametrize("name", PICTURES)
def test_picture_shows_the_matches_that_its_page_prints(name: str) -> None:
    assert read_ids(IMAGES / f"{name}.svg") == read_printed_ids(name)


def test_close_up_shows_the_matches_that_its_page_counts() -> None:
    page = (COOKBOOK / "v_and_w_shapes.md").read_text(encoding="utf-8")
    assert "In October 2008, GOOG has two of these V-shapes and MSFT has one:" in page
    shown = read_ids(IMAGES / "v_shapes.svg")
    assert len(shown) == 3
    assert all(name.count("2008-10") == 2 for name in shown)


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_drawn_from_its_page(name: str, spark: SparkSession, tmp_path: Path) -> None:
    register_tables(spark)
    write(draw(spark, name), tmp_path / f"{name}.svg")
    assert read_ids(tmp_path / f"{name}.svg") == read_ids(IMAGES / f"{name}.svg")


def test_index_lists_every_page_in_the_order_of_the_menu() -> None:
    index = (COOKBOOK / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[[^]]+\]\((\w+\.md)\)", index, re.M)
    pages = {path.name for path in COOKBOOK.glob("*.md")}
    assert {*listed, "README.md"} == pages
    menu = (pictures.ROOT / ".mkdocs.yml").read_text(encoding="utf-8")
    assert re.findall(r"how-to/cookbook/(\w+\.md)", menu) == ["README.md", *listed]


def test_every_page_has_a_picture_a_pattern_and_pitfalls() -> None:
    for page in COOKBOOK.glob("[a-z]*.md"):
        text = page.read_text(encoding="utf-8")
        assert page.stem in {picture.page for picture in PICTURES.values()}
        assert "**Pattern.**" in text
        assert "**Pitfalls.**" in text


def test_every_image_is_drawn() -> None:
    assert {path.stem for path in IMAGES.iterdir()} == set(PICTURES)
