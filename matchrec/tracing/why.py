"""`Why`, what `matchrec.why` gives: one story as text, as a table and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from matchrec.tracing.picture import svg
from matchrec.tracing.story import Story
from matchrec.tracing.text import text_of

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("start", "row", "place", "rows_before", "variable", "outcome", "condition")


@dataclass(frozen=True)
class Why:
    """How the search of one partition went; prints as text, shows as a picture in a notebook."""

    story: Story

    @property
    def text(self) -> str:
        """The matches, or what came of the rows asked for; then each attempt, row by row."""
        return text_of(self.story)

    def __str__(self) -> str:
        return self.text

    def frame(self) -> pd.DataFrame:
        """A pandas DataFrame with a row for each trial of each attempt, in the order of the search.

        start: the row from which the attempt began; row: the row that was tried; both count from 1.
        place: its values of the ORDER BY columns. rows_before: how many rows were mapped before.
        variable: for which it was tried, None for none. outcome: what came of it. condition: each
        conjunct with its values, None where no condition was asked.
        """
        import pandas as pd

        rows = [
            (
                attempt.start,
                line.row,
                line.place,
                line.depth,
                line.variable or None,
                line.outcome,
                "; ".join(line.conditions) or None,
            )
            for attempt in self.story.attempts
            for line in attempt.lines
        ]
        found: pd.DataFrame = pd.DataFrame(rows, columns=list(COLUMNS))
        return found

    def picture(self) -> str:
        """An SVG drawing of each attempt: rows down, variables across, and what failed beside."""
        return svg(self.story)

    def _repr_html_(self) -> str:
        """What a notebook shows: the first lines, the picture, the text folded away."""
        head = "\n".join((*self.story.heading, *self.story.found))
        text = f"<details><summary>as text</summary><pre>{escape(self.text)}</pre></details>"
        return f"<pre>{escape(head)}</pre>{self.picture()}{text}"
