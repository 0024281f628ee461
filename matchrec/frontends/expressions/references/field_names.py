"""Names that functions give to the fields of a struct after their arguments.

    STRUCT(A.x, LAST(y))      →      STRUCT(? AS `x`, ? AS `col2`)

Spark takes such a name from the column that it is given, which for what a match reads is one of
ours, so the name that the text means is written.
"""

from __future__ import annotations

from matchrec.frontends.expressions.analysis import Analysis, Clause
from matchrec.plan.expression import Piece
from matchrec.plan.text.sql_text import quoted

NAMING = frozenset({"STRUCT", "ARRAYS_ZIP"})
"""The functions that name fields after their arguments."""

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
    if analysis.key(function) not in NAMING or (column is not None and column.star):
        return read
    arguments = analysis.separated(function + 2, analysis.pairs[function + 1])
    place = [first for first, _ in arguments].index(start) + 1
    name = analysis[analysis.index_at[column.parts[-1].start]].text if column else None
    return named_field(analysis.key(function), place, name, read)


def named_field(
    function: str, place: int, name: str | None, read: tuple[Piece, ...]
) -> tuple[Piece, ...]:
    """An argument of one of `NAMING`, by its place from 1; name: of its column, if it is one."""
    if function == "STRUCT":
        return (*read, f" AS {quoted(name or f'col{place}')}")
    if name is None:
        return ("COALESCE(", *read, ")")
    return ("STRUCT(", *read, f" AS {quoted(name)}).{quoted(name)}")
