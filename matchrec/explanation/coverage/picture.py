"""The funnel of a clause as a picture, an SVG text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from matchrec.explanation.coverage.figures import ClauseCoverage
from matchrec.explanation.coverage.text import why

LINE, BAR_HEIGHT, BARS, MARGIN, CHARACTER = 26, 18, 320, 8, 7.5
CAME, MATCHED = "#7a9cc6", "#5a9e6f"
FONT = 'font-family="sans-serif" font-size="13" fill="#2b2f36"'


def draw(clause: ClauseCoverage) -> str:
    """A bar for each occurrence, as long as its share of the starting rows, then the matches."""
    bars = [(one.variable or "tried", one.came, why(one), CAME) for one in clause.occurrences]
    bars.append(("matches", clause.figures.matches, "", MATCHED))
    first = width_of(name for name, *_ in bars)
    width = first + BARS + width_of(reason for *_, reason, _ in bars)
    height = LINE * len(bars) + MARGIN
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    lines = (
        line
        for number, (name, came, reason, colour) in enumerate(bars)
        for line in draw_bar((name, came, reason), clause.tried, (first, LINE * number + 4), colour)
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {FONT}>'
    return "\n".join([head, f"<title>{escape(clause.pattern)}</title>", ground, *lines, "</svg>"])


def width_of(texts: Iterable[str]) -> int:
    """Room for the longest of some texts, with a margin on both sides."""
    return round(max(map(len, texts)) * CHARACTER) + 2 * MARGIN


def draw_bar(
    labelled: tuple[str, int, str], whole: int, place: tuple[int, int], colour: str
) -> Iterator[str]:
    """A bar with its name before it, its number in it and the reason after it.

    place: of its upper left corner.
    """
    name, part, reason = labelled
    left, top = place
    length = round(BARS * part / whole) if whole else 0
    base = top + BAR_HEIGHT - 4
    yield f'<text x="{left - MARGIN}" y="{base}" text-anchor="end">{escape(name)}</text>'
    yield f'<rect x="{left}" y="{top}" width="{length}" height="{BAR_HEIGHT}" fill="{colour}"/>'
    yield f'<text x="{left + 6}" y="{base}">{part:,}</text>'
    yield f'<text x="{left + BARS + MARGIN}" y="{base}" fill="#666">{escape(reason)}</text>'
