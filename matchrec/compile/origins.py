"""Find where the user wrote the values that Spark computes, so that Spark's errors can show it.

`errors.run.origins` defines an origin, and how an error finds its origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from matchrec.compile.columns import find_columns_of_output, find_step_columns
from matchrec.conditions import residual
from matchrec.conditions.row_column import FramedAggregate, RowColumn, ShiftedValue, find_row_texts
from matchrec.errors.language import name_part
from matchrec.errors.run.origins import FRAME_LENGTH_ERROR, SqlOrigin, make_origin
from matchrec.output.schema import OutputColumn
from matchrec.plan.clauses import Measure
from matchrec.plan.expression import ColumnReference
from matchrec.plan.match_plan import MatchPlan

# A value that Spark computes: SQL over one row (a text or a column), or a value of several rows.
ComputedValue = str | RowColumn | ShiftedValue | FramedAggregate


def find_origins(
    plan: MatchPlan, conditions: Iterable[residual.SplitCondition], outputs: Iterable[OutputColumn]
) -> Mapping[ComputedValue, SqlOrigin]:
    """Return where the user wrote each value that Spark computes before the search.

    If several parts of a query need the same value, the first part in this order is its origin:
    partition and order columns, the lengths of frames, conditions, measures.
    """
    origins: dict[ComputedValue, SqlOrigin] = {}
    for expression in plan.sorted_by:
        clause = name_part("PARTITION BY" if expression in plan.partition_keys else "ORDER BY")
        key_origin = make_origin(f"an expression in {clause}", clause, expression.span)
        origins.setdefault(expression.text, key_origin)
    for length in find_frame_lengths(plan):
        length_origin = make_origin("the length of the frame", "ROWS BETWEEN", length.span)
        origins.setdefault(length.argument, length_origin)
    for condition in conditions:
        add_origins(origins, find_condition_origin(condition), find_step_columns(condition))
    for output in outputs:
        if isinstance(output, Measure):
            add_origins(origins, find_measure_origin(output), find_columns_of_output(output))
    return origins


def find_frame_lengths(plan: MatchPlan) -> Iterator[ColumnReference]:
    """Yield the lengths of window frames, which conditions compare with the number of the row."""
    for definition in plan.definitions:
        for reference in definition.condition.references:
            if isinstance(reference, ColumnReference) and FRAME_LENGTH_ERROR in reference.argument:
                yield reference


def add_origins(
    origins: dict[ComputedValue, SqlOrigin], new_origin: SqlOrigin, columns: Iterable[RowColumn]
) -> None:
    """Add an origin for columns, and for the values from which they are computed.

    Values that have an origin already keep it.
    """
    for column in columns:
        values_of_several_rows = [piece for piece in column.pieces if not isinstance(piece, str)]
        for computed_value in (*find_row_texts(column), column, *values_of_several_rows):
            origins.setdefault(computed_value, new_origin)


def find_condition_origin(condition: residual.SplitCondition) -> SqlOrigin:
    """Return where the user wrote the condition of a variable."""
    name = condition.variable
    return make_origin(
        f"the condition of `{name}`", f"{name_part('DEFINE')} {name}", condition.span
    )


def find_measure_origin(measure: Measure) -> SqlOrigin:
    """Return where the user wrote a measure."""
    name = measure.name
    return make_origin(
        f"the measure `{name}`", f"{name_part('MEASURES')} {name}", measure.value.span
    )
