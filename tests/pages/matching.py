"""Draw pictures of the tutorial and of how matching works: rows as boxes, matches as bars.

    python -m tests.pages.matching

The pictures have no background, and follow the reader's light or dark scheme.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
IMAGES = ROOT / "docs" / "images" / "matching"


@dataclass(frozen=True)
class Prices:
    """The prices on a page, one for each day."""

    first_day: int
    values: tuple[int, ...]


PRICES = Prices(1, (10, 12, 11, 9, 10, 13, 11, 12))  # of docs/explanation/how_matching_works.md
SHARE_X = Prices(0, (90, 80, 70, 80, 95, 94, 96))  # of docs/tutorial/getting_started.md

CAPTION_WIDTH = 190
COLUMN = 56
ROW_HEIGHT = 34
TOP = 14
STYLE = """
  text { font: 14px system-ui, sans-serif; fill: #24292f; }
  .small { font-size: 12px; fill: #57606a; }
  .row { fill: none; stroke: #8c959f; }
  .bar { fill: #2f8f57; fill-opacity: 0.18; stroke: #2f8f57; }
  .rule { stroke: #8c959f; stroke-opacity: 0.5; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .small { fill: #9da7b3; }
    .bar { stroke: #5fc98a; fill: #5fc98a; }
  }"""


@dataclass(frozen=True)
class Match:
    """A match that is drawn as a bar."""

    first_day: int
    variables: tuple[str, ...]  # of each of its days


@dataclass(frozen=True)
class Line:
    """One line of a picture: a caption and some matches.

    A line without a caption belongs to the group of the line above it.
    """

    caption: str
    matches: tuple[Match, ...]


@dataclass(frozen=True)
class Picture:
    """A title for readers who cannot see the picture, its lines, and the prices above them."""

    title: str
    lines: tuple[Line, ...]
    prices: Prices = PRICES


V_SHAPE = Match(2, ("TOP", "FALL", "FALL", "RISE", "RISE"))
NEXT_V_SHAPE = Match(6, ("TOP", "FALL", "RISE"))
V_SHAPE_OF_X = Match(0, ("TOP", "FALL", "FALL", "RISE", "RISE"))
PICTURES = {
    "first_match": Picture("The V-shape of share X", (Line("match 1", (V_SHAPE_OF_X,)),), SHARE_X),
    "shared_row": Picture(
        "Two V-shapes that share day 4",
        (
            Line("SKIP PAST LAST ROW", (V_SHAPE_OF_X,)),
            Line("SKIP TO LAST RISE", (V_SHAPE_OF_X,)),
            Line("", (Match(4, ("TOP", "FALL", "RISE")),)),
        ),
        SHARE_X,
    ),
    "few_rows": Picture(
        "As many rows as possible, or as few",
        (
            Line("TOP FALL+ RISE* BACK", (Match(0, ("TOP", "FALL", "FALL", "RISE", "BACK")),)),
            Line(
                "TOP FALL+ RISE*? BACK",
                (Match(0, ("TOP", "FALL", "FALL", "BACK")), Match(4, ("TOP", "FALL", "BACK"))),
            ),
        ),
        SHARE_X,
    ),
    "match": Picture("The preferred match from day 2", (Line("match 1", (V_SHAPE,)),)),
    "greedy": Picture(
        "A greedy and a reluctant quantifier",
        (
            Line(
                "TOP FALL+ RISE* BACK", (Match(2, ("TOP", "FALL", "FALL", "RISE", "RISE", "BACK")),)
            ),
            Line(
                "TOP FALL+ RISE*? BACK",
                (Match(2, ("TOP", "FALL", "FALL", "BACK")), Match(6, ("TOP", "FALL", "BACK"))),
            ),
        ),
    ),
    "skip": Picture(
        "Matches by AFTER MATCH SKIP",
        (
            Line("PAST LAST ROW", (V_SHAPE,)),
            Line("TO LAST RISE", (V_SHAPE,)),
            Line("", (NEXT_V_SHAPE,)),
            Line("TO NEXT ROW", (V_SHAPE,)),
            Line("", (Match(3, ("TOP", "FALL", "RISE", "RISE")),)),
            Line("", (NEXT_V_SHAPE,)),
        ),
    ),
    "window": Picture(
        "WITHIN 4 limits the search",
        (
            Line("without WITHIN", (V_SHAPE,)),
            Line("", (NEXT_V_SHAPE,)),
            Line("WITHIN 4", (Match(2, ("TOP", "FALL", "FALL", "RISE")), NEXT_V_SHAPE)),
        ),
    ),
}


def draw(picture: Picture) -> str:
    """Return an SVG with a row of prices, and below it a bar for each match.

    A thin rule separates the groups of lines.

    >>> "<title>Nothing</title>" in draw(Picture("Nothing", ()))
    True
    """
    prices = picture.prices
    width = CAPTION_WIDTH + COLUMN * len(prices.values) + 10
    height = TOP + 56 + ROW_HEIGHT * len(picture.lines)
    size = f'width="{width}" height="{height}" role="img"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size}>',
        f"<title>{picture.title}</title><style>{STYLE}\n</style>",
        f'<text class="small" x="8" y="{TOP + 8}">day</text>',
        f'<text x="8" y="{TOP + 36}">price</text>',
    ]
    for index, price in enumerate(prices.values):
        day = prices.first_day + index
        left = CAPTION_WIDTH + COLUMN * index
        middle = left + COLUMN // 2
        parts += [
            f'<text class="small" x="{middle}" y="{TOP + 8}" text-anchor="middle">{day}</text>',
            f'<rect class="row" x="{left}" y="{TOP + 16}" width="{COLUMN}" height="30"/>',
            f'<text x="{middle}" y="{TOP + 36}" text-anchor="middle">{price}</text>',
        ]
    for number, line in enumerate(picture.lines):
        top = TOP + 56 + ROW_HEIGHT * number
        if number and line.caption:
            parts.append(f'<path class="rule" d="M8 {top - 4}H{width - 10}"/>')
        parts += draw_line(line, top, prices.first_day)
    return "\n".join([*parts, "</svg>\n"])


def draw_line(line: Line, top: int, first_day: int) -> list[str]:
    """Return the elements of one line of bars whose upper edge is at `top`.

    Args:
        line: the line.
        top: the upper edge of its bars.
        first_day: the day of the first column.
    """
    parts = [f'<text x="8" y="{top + 18}">{line.caption}</text>']
    for match in line.matches:
        left = CAPTION_WIDTH + COLUMN * (match.first_day - first_day)
        width = COLUMN * len(match.variables) - 6
        box = f'x="{left + 3}" y="{top}" width="{width}" height="26" rx="5"'
        parts.append(f'<rect class="bar" {box}/>')
        for index, variable in enumerate(match.variables):
            middle = left + COLUMN * index + COLUMN // 2
            parts.append(
                f'<text x="{middle}" y="{top + 18}" text-anchor="middle">{variable}</text>'
            )
    return parts


def main() -> None:
    """Draw all pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        (IMAGES / f"{name}.svg").write_text(draw(picture), encoding="utf-8")


if __name__ == "__main__":
    main()
