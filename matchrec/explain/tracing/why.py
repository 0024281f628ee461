"""`Why`, the result of `Query.why`: the story of a search as text, as a table and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.arguments import check_arguments
from matchrec.explain.pictures import figures
from matchrec.explain.pictures.html import make_data_frame
from matchrec.explain.tracing.story import Story
from matchrec.explain.tracing.story_picture import draw_story
from matchrec.explain.tracing.story_text import show_story
from matchrec.public_names import public
from matchrec.source import replace_control_characters

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure


# The columns of the table that `Why.toPandas` returns, whose docstring explains them.
COLUMNS = ("start", "row", "order_value", "rows_before", "variable", "outcome", "condition")


@public
@dataclass(frozen=True, repr=False, match_args=False)
class Why(figures.PicturedText):
    """The search of one partition, row by row, from `Query.why`.

    It prints as text. A notebook shows it as a picture.

    >>> large = matchrec.Pattern.begin("large").where("id > 9")
    >>> why = matchrec.query(spark.range(3), large, order_by="id").why(limit=1)
    >>> print(why.text)
    PATTERN (`large`)
    the only partition: 3 rows
    no match; 3 starting rows tried
    ...
    """

    _story: Story

    @property
    def text(self) -> str:
        """The text that `print` shows: the matches or a chosen row's result, then the attempts."""
        return replace_control_characters(show_story(self._story))

    def __repr__(self) -> str:
        """Return the results of the search, and the title and the end of the first attempt."""
        lines = [*self._story.results]
        if self._story.attempts:
            attempt = self._story.attempts[0]
            lines += [attempt.title, *attempt.ends]
        return f"<Why: {'; '.join(line.strip() for line in lines)}>"

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 -- as PySpark calls it
        """Return a pandas DataFrame with a line for each row and variable that were tried.

        The lines are in the order of the search. The columns are:

        - `start`: the number of the row where the attempt began, from 1;
        - `row`: the number of the row that was tried, from 1;
        - `order_value`: the values of the tried row in the ORDER BY columns;
        - `rows_before`: how many rows were already mapped;
        - `variable`: the variable for which the row was tried, or None;
        - `outcome`: the result, such as "taken" or "failed";
        - `condition`: each part of the condition with its values, or None if no condition was
          tested.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> why = matchrec.query(spark.range(3), large, order_by="id").why(limit=1)
        >>> list(why.toPandas()["outcome"])
        ['failed']
        """
        rows: list[tuple[object, ...]] = []
        for attempt in self._story.attempts:
            for line in attempt.lines:
                row = (
                    attempt.start,
                    line.row,
                    line.order_values,
                    line.depth,
                    line.variable or None,
                    line.outcome.value,
                    "; ".join(line.conditions) or None,
                )
                rows.append(row)
        return make_data_frame(COLUMNS, rows)

    def svg(self) -> str:
        """Return an SVG drawing of each attempt: rows down, variables across, failed conditions.

        Raises:
            MatchRecognizeError: matplotlib is not installed.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> print(matchrec.query(spark.range(3), large, order_by="id").why().svg())
        <?xml ...
        """
        return figures.render_picture(self.figure, "svg").decode()

    @check_arguments(path=figures.PATH_ARGUMENT)
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        Raises:
            MatchRecognizeError: the name has another ending, or matplotlib is not installed.
            OSError: the file cannot be written.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> why = matchrec.query(spark.range(3), large, order_by="id").why()
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     why.save(f"{folder}/why.png")
        ...     os.listdir(folder)
        ['why.png']
        """
        super().save(path)

    def figure(self) -> Figure:
        """Return the picture as a figure of matplotlib, for example to change its size.

        Raises:
            MatchRecognizeError: matplotlib is not installed.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> why = matchrec.query(spark.range(3), large, order_by="id").why()
        >>> type(why.figure()).__name__
        'Figure'
        """
        return draw_story(self._story)
