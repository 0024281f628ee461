"""Find the rows that the matches of a clause are mapped to, for the pictures of `Query.plot`.

The result of a query usually says where a match begins and ends. If rows between may be skipped,
this is not enough to colour the rows of the match, so the clause is searched for them.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from matchrec.api.clause import Clause
from matchrec.explain.charts.columns import find_column
from matchrec.explain.charts.series import MAPPED_SERIES, MAPPED_TIMES
from matchrec.plan.clauses import EventSelection, Measure, RowsPerMatch
from matchrec.plan.text import quote_name
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause


def find_mapped_rows(clause: Clause, x: str, by: str | None) -> DataFrame | None:
    """Return the times of the mapped rows of each match, or None if no row can be skipped.

    The result has a row for each match, with two columns: the array MAPPED_TIMES; and
    MAPPED_SERIES, the value of `by` on the first row, or '' if `by` is None. For SASE+ and a
    Pattern, the result is None: their matches have arrays of events.

    Args:
        clause: the clause.
        x: the column of the input with the time.
        by: the column of the input with the name of the series; None if there is one series.

    Raises:
        MatchRecognizePlanError: the input has no column `x` or `by`.
    """
    skips_rows = clause.plan.selection is not EventSelection.STRICT_CONTIGUITY
    if not skips_rows or clause.language is not None or clause.is_window:
        return None
    rows = clause.relation.rows
    times = f"collect_list({quote_name(find_column(rows, 'x', x))})"
    series = "''" if by is None else f"FIRST({quote_name(find_column(rows, 'by', by))})"
    plan = replace(
        clause.plan,
        measures=parse_measures(f"{series} AS {MAPPED_SERIES}, {times} AS {MAPPED_TIMES}"),
        rows_per_match=RowsPerMatch.ONE_ROW,
    )
    return clause.evaluate_plan(plan).dataframe


def parse_measures(text: str) -> tuple[Measure, ...]:
    """Return the measures of a text, which is what follows MEASURES in a clause.

    >>> [measure.name for measure in parse_measures("count(*) AS n, FIRST(x) AS first_x")]
    ['n', 'first_x']
    """
    return lower_clause(parse_clause(f"MEASURES {text} PATTERN (A)")).measures
