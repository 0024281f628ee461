"""`Why`, what `why` of a query gives: one story as text, as a table and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.pictures.html import folded, preformatted, wide
from matchrec.source import printable
from matchrec.tracing.picture import svg as draw
from matchrec.tracing.story import Story
from matchrec.tracing.text import text_of

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("start", "row", "place", "rows_before", "variable", "outcome", "condition")


@dataclass(frozen=True, repr=False)
class Why:
    """How the search of one partition went; prints as text, shows as a picture in a notebook.

    >>> large = matchrec.Pattern.begin("large").where("id > 9")
    >>> why = matchrec.query(spark.range(3), large, order_by="id").why(limit=1)
    >>> print(why.text)
    PATTERN (`large`)
    the only partition: 3 rows
    no match; searched from 3 of the rows
    ...
    """

    story: Story

    @property
    def text(self) -> str:
        """The matches, or what came of the rows asked for; then each attempt, row by row."""
        return printable(text_of(self.story))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        """What was found; without a match, how far the first attempt came."""
        attempts = self.story.attempts[:1]
        ends = [line for attempt in attempts for line in (attempt.title, *attempt.ends)]
        return f"<Why: {'; '.join(one.strip() for one in (*self.story.found, *ends))}>"

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame with a row for each trial of each attempt, in the order of the search.

        start: the row from which the attempt began; row: the row that was tried; both count from 1.
        place: its values of the ORDER BY columns. rows_before: how many rows were mapped before.
        variable: for which it was tried, None for none. outcome: what came of it. condition: each
        conjunct with its values, None where no condition was asked.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> why = matchrec.query(spark.range(3), large, order_by="id").why(limit=1)
        >>> list(why.to_pandas()["outcome"])
        ['failed']
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

    def svg(self) -> str:
        """An SVG drawing of each attempt: rows down, variables across, and what failed beside.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> print(matchrec.query(spark.range(3), large, order_by="id").why().svg())
        <svg ...
        """
        return draw(self.story)

    def _repr_html_(self) -> str:
        """What a notebook shows: the first lines, the picture, the text folded away."""
        head = "\n".join((*self.story.heading, *self.story.found))
        text = folded("as text", preformatted(self.text))
        return f"{preformatted(head)}{wide(self.svg())}{text}"
