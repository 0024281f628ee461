"""The funnel of a clause as a picture, an SVG text."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from matchrec.explanation.coverage.figures import ClauseCoverage
from matchrec.explanation.coverage.text import why

LINE, BAR_HEIGHT, NAMES, BARS, REASONS = 26, 18, 120, 320, 420
CAME, MATCHED = "#7a9cc6", "#5a9e6f"
FONT = 'font-family="sans-serif" font-size="13"'


def draw(clause: ClauseCoverage) -> str:
    """A bar for each occurrence, as long as its share of the starting rows, then the matches."""
    bars = [(one.variable or "tried", one.came, why(one), CAME) for one in clause.occurrences]
    bars.append(("matches", clause.figures.matches, "", MATCHED))
    width, height = NAMES + BARS + REASONS, LINE * len(bars) + 8
    lines = (
        line
        for number, (name, came, reason, colour) in enumerate(bars)
        for line in draw_bar((name, came, reason), clause.tried, LINE * number + 4, colour)
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {FONT}>'
    return "\n".join([head, f"<title>{escape(clause.pattern)}</title>", *lines, "</svg>"])


def draw_bar(labelled: tuple[str, int, str], whole: int, top: int, colour: str) -> Iterator[str]:
    """A bar with its name before it, its number in it and the reason after it."""
    name, part, reason = labelled
    length = round(BARS * part / whole) if whole else 0
    base = top + BAR_HEIGHT - 4
    yield f'<text x="{NAMES - 8}" y="{base}" text-anchor="end">{escape(name)}</text>'
    yield f'<rect x="{NAMES}" y="{top}" width="{length}" height="{BAR_HEIGHT}" fill="{colour}"/>'
    yield f'<text x="{NAMES + 6}" y="{base}">{part:,}</text>'
    yield f'<text x="{NAMES + BARS + 8}" y="{base}" fill="#666">{escape(reason)}</text>'
