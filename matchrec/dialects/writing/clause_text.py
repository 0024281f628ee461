"""Write a plan as a query of Spark SQL with one clause.

Each part of the clause begins a line:

    SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym
      ORDER BY ts
      MEASURES LAST(B.price) AS price,
               A.ts AS start
      PATTERN (A B+) SKIP TILL NEXT MATCH ALL MATCHES
      WITHIN INTERVAL 1 HOUR
      DEFINE B AS B.price > A.price
    )
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from matchrec.dialects.writing.names import quote_column, remove_needless_quotes
from matchrec.dialects.writing.shapes import find_read_variables
from matchrec.dialects.writing.stages import insert_negations
from matchrec.plan import change_expressions, expression
from matchrec.plan.clauses import ONE_MATCH_PER_START, MatchOutput, SkipTo
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show_name, show_pattern
from matchrec.plan.show import show_scalar


def write_sql(plan: MatchPlan, table: str) -> str:
    """Return a query of Spark SQL with a clause.

    Args:
        plan: the plan, as `prepare_for_sql` returns it.
        table: the name of the table.
    """
    body = "\n  ".join(_write_parts(plan))
    return f"SELECT * FROM {table} MATCH_RECOGNIZE (\n  {body}\n)"


def _write_parts(plan: MatchPlan) -> Iterator[str]:
    """Yield the parts of the clause, in the order of the clause."""
    if plan.partition_by:
        yield f"PARTITION BY {', '.join(_write_partition_keys(plan))}"
    if plan.order_by:
        yield f"ORDER BY {', '.join(key.expression.text for key in plan.order_by)}"
    yield from _write_list("MEASURES", _write_measures(plan))
    if plan.output in ONE_MATCH_PER_START and plan.after_match.to is not SkipTo.PAST_LAST_ROW:
        yield plan.after_match.words
    yield " ".join([f"PATTERN ({show_pattern(insert_negations(plan))})", *_write_options(plan)])
    windows = list(_write_windows(plan))
    if windows:
        yield f"WITHIN {', '.join(windows)}"
    yield from _write_list("SUBSET", _write_subsets(plan))
    yield from _write_list("DEFINE", _write_definitions(plan))


def _write_list(keyword: str, items: Iterable[str]) -> Iterator[str]:
    """Yield a part of the clause, with an item on each line; nothing if there are no items."""
    indent = " " * (len(keyword) + 3)
    text = f",\n{indent}".join(items)
    if text:
        yield f"{keyword} {text}"


def _write_partition_keys(plan: MatchPlan) -> Iterator[str]:
    """Yield the keys of PARTITION BY, each with its alias if it has one."""
    for key in plan.partition_by:
        alias = "" if key.output_name is None else f" AS {quote_column(key.output_name)}"
        yield f"{key.text}{alias}"


def _write_measures(plan: MatchPlan) -> Iterator[str]:
    """Yield the measures, each with its name."""
    for measure in plan.measures:
        yield f"{write_scalar(measure.value)} AS {quote_column(measure.name)}"


def _write_options(plan: MatchPlan) -> Iterator[str]:
    """Yield the options after the row pattern. The matches of the standard need none."""
    if plan.output is not MatchOutput.PREFERRED:
        yield plan.selection.value
        yield plan.output.value
    if plan.first_matches is not None:
        yield plan.first_matches.words


def _write_windows(plan: MatchPlan) -> Iterator[str]:
    """Yield the windows of WITHIN: a length of time, a number of rows, or both."""
    if plan.within is not None:
        yield plan.within.interval.text
    if plan.within_rows is not None:
        yield f"{plan.within_rows} ROWS"


def _write_subsets(plan: MatchPlan) -> Iterator[str]:
    """Yield the definitions of the union variables that the clause reads."""
    read_variables = find_read_variables(plan)
    for subset in plan.subsets:
        if subset.name in read_variables:
            members = ", ".join(show_name(member) for member in subset.members)
            yield f"{show_name(subset.name)} = ({members})"


def _write_definitions(plan: MatchPlan) -> Iterator[str]:
    """Yield the definitions of DEFINE."""
    for definition in plan.definitions:
        yield f"{show_name(definition.variable)} AS {write_scalar(definition.condition)}"


def write_scalar(scalar: expression.Scalar) -> str:
    """Return the text of an expression whose columns have no more quotes than they need."""
    return show_scalar(change_expressions.map_column_references(scalar, _unquote_column))


def _unquote_column(column: expression.ColumnReference) -> expression.ColumnReference:
    """Return a column without needless quotes."""
    return replace(column, argument=remove_needless_quotes(column.argument))
