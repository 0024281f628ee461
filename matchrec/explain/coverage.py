"""The result of `Query.coverage`: the funnels of a query's clauses.

A funnel shows how far the starting rows of a clause get, and what stops them: as text, as a table
or as a picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from matchrec.arguments import check_arguments
from matchrec.errors.surface import Surface, current_surface
from matchrec.explain.clause_coverage import ClauseCoverage, OccurrenceCoverage
from matchrec.explain.funnel import count_reasons, list_shown_rows, show_funnel
from matchrec.explain.funnel_picture import draw_funnels
from matchrec.explain.layout import join_clauses
from matchrec.explain.pictures.figures import PATH_ARGUMENT, PicturedText, render_picture
from matchrec.explain.pictures.html import make_data_frame
from matchrec.public_names import public
from matchrec.source import replace_control_characters

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

# The columns of the table that `Coverage.toPandas` returns, whose docstring explains them.
COLUMNS = (
    "clause",
    "occurrence",
    "variable",
    "rows",
    "reached",
    "stopped",
    "stop_reason",
    "stopped_for_reason",
)


@public
@dataclass(frozen=True, repr=False, match_args=False)
class Coverage(PicturedText):
    """How far the starting rows of a query get through its pattern, from `Query.coverage`.

    It prints as text. A notebook shows it as a picture, after the cell has run.

    Attributes:
        clauses: the figures of each clause, by its number in the query, from 1.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> covered = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (FALL{3}) DEFINE FALL AS price < PREV(price)
    ... ''').coverage()
    >>> covered
    <Coverage: FALL{3}, 0 of 4 starting rows begin a match>
    """

    clauses: dict[int, ClauseCoverage]
    # The surface on which the user called `coverage`: Python, a notebook or a terminal. The text
    # suggests calls in its words.
    _surface: Surface = field(default_factory=current_surface, compare=False)

    @property
    def text(self) -> str:
        """The text that `print` shows: a funnel for each clause."""
        funnels = {
            number: show_funnel(clause, self._surface) for number, clause in self.clauses.items()
        }
        return replace_control_characters(join_clauses(funnels))

    def __repr__(self) -> str:
        """Return the row pattern of each clause, and how many starting rows begin a match."""
        return f"<Coverage: {'; '.join(clause.summary for clause in self.clauses.values())}>"

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 -- as PySpark calls it
        """Return a pandas DataFrame with a line for each reason why starting rows stopped.

        Each occurrence of a variable in PATTERN has one line for each reason, the most frequent
        reason first, or one line without a reason if no starting row stopped there. Occurrence 0
        stands for runs without a row. A loop that needs several rows of the input, such as
        `FALL{3}`, has separate lines for one, two and three of them. The columns are:

        - `clause`: the number of the clause in the query, from 1;
        - `occurrence`: the number of the occurrence in PATTERN, from 1; 0 before any row;
        - `variable`: the name of the variable; None before any row;
        - `rows`: how many rows of this occurrence were reached: 1, 2, 3 for `FALL{3}`, 1 for other
          variables, 0 before any row;
        - `reached`: the number of starting rows that reached this number of rows;
        - `stopped`: how many of these starting rows got no further, for any reason;
        - `stop_reason`: the reason; None if no starting row stopped;
        - `stopped_for_reason`: how many starting rows stopped for this reason.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> covered = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (FALL{3}) DEFINE FALL AS price < PREV(price)
        ... ''').coverage()
        >>> covered.toPandas()[["occurrence", "variable", "rows", "reached", "stopped"]]
           occurrence variable  rows  reached  stopped
        0           0     None     0        4        2
        1           1     FALL     1        2        1
        2           1     FALL     2        1        1
        3           1     FALL     3        0        0
        """
        rows = list[tuple[object, ...]]()
        for number, clause in self.clauses.items():
            for occurrence in clause.occurrences:
                rows += [(number, *cells) for cells in list_reason_rows(occurrence)]
        return make_data_frame(COLUMNS, rows)

    def svg(self) -> str:
        """Return an SVG drawing with a funnel for each clause.

        Raises:
            MatchRecognizeError: matplotlib is not installed.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> print(matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (FALL{3}) DEFINE FALL AS price < PREV(price)
        ... ''').coverage().svg())
        <?xml ...
        """
        return render_picture(self.figure, "svg").decode()

    @check_arguments(path=PATH_ARGUMENT)
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        Raises:
            MatchRecognizeError: the name has another ending, or matplotlib is not installed.
            OSError: the file cannot be written.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> coverage = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (FALL{3}) DEFINE FALL AS price < PREV(price)
        ... ''').coverage()
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     coverage.save(f"{folder}/coverage.png")
        ...     os.listdir(folder)
        ['coverage.png']
        """
        super().save(path)

    def figure(self) -> Figure:
        """Return the picture as a figure of matplotlib, for example to change its size.

        Raises:
            MatchRecognizeError: matplotlib is not installed.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> coverage = matchrec.query(spark.range(3), large, order_by="id").coverage()
        >>> type(coverage.figure()).__name__
        'Figure'
        """
        return draw_funnels(self.clauses.values())


def list_reason_rows(occurrence: OccurrenceCoverage) -> Iterator[tuple[object, ...]]:
    """Yield the rows of `Coverage.toPandas` about an occurrence: the cells after the clause."""
    for loop_rows in list_shown_rows(occurrence):
        reasons = count_reasons(loop_rows.stop_reasons)
        first_cells = (
            occurrence.number,
            occurrence.variable,
            loop_rows.rows,
            loop_rows.reached,
            reasons.total(),
        )
        for reason, count in reasons.most_common():
            yield (*first_cells, reason, count)
        if not reasons:
            yield (*first_cells, None, 0)
