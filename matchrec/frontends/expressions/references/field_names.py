"""Names that functions give to the fields of a struct after their arguments.

    STRUCT(A.x, LAST(y))      →      STRUCT(? AS `x`, ? AS `col2`)

Spark takes such a name from the column that it is given, which for what a match reads is one of
ours, so the name that the text means is written.
"""

from __future__ import annotations

from matchrec.frontends.expressions.analysis import Analysis, Clause
from matchrec.plan.expression import Piece
from matchrec.plan.text.sql_text import quoted

_ENDS = ("(", ",", ")")


def with_field_name(
    analysis: Analysis, start: int, end: int, read: tuple[Piece, ...]
) -> tuple[Piece, ...]:
    """What tokens `start .. end` read, with its name where it is a whole argument of a struct."""
    function = analysis.around[start] - 1
    is_whole = analysis.key(start - 1) in _ENDS and analysis.key(end) in _ENDS
    if not is_whole or function < 0 or analysis.scope.clause is not Clause.MEASURES:
        return read
    if not analysis.is_call(function):
        return read
    column = analysis.columns.get(start)
    if column is not None and column.star:  # a struct of all columns
        return read
    name = analysis[analysis.index_at[column.parts[-1].start]].text if column else None
    if analysis.key(function) == "STRUCT":
        return (*read, f" AS {quoted(name or _default_name(analysis, function, start))}")
    if analysis.key(function) == "ARRAYS_ZIP":
        return (
            ("STRUCT(", *read, f" AS {quoted(name)}).{quoted(name)}")
            if name
            else ("COALESCE(", *read, ")")
        )
    return read


def _default_name(analysis: Analysis, function: int, start: int) -> str:
    """Spark's name for a field without one, by its place."""
    arguments = analysis.separated(function + 2, analysis.pairs[function + 1])
    return f"col{[first for first, _ in arguments].index(start) + 1}"
