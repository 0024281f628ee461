"""Inline earlier measures: replace their names in later measures by their values.

    LAST(UP.price) AS peak, peak - 100 AS below

becomes

    LAST(UP.price) AS peak, (LAST(UP.price)) - 100 AS below

A name without a qualifier means an earlier measure unless it is a column of the input, or a name
that the engine knows, such as a session variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from matchrec.errors.sql.expression import nondeterministic_measure
from matchrec.plan.clauses import Measure
from matchrec.plan.expression import (
    ColumnReference,
    Operation,
    Scalar,
    TextPiece,
    collect_text_operations,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.plan.words import NONDETERMINISTIC


def inline_earlier_measures(
    plan: MatchPlan, columns: InputColumns, is_known: Callable[[str], bool]
) -> MatchPlan:
    """Return the plan with names of earlier measures replaced by the values of these measures.

    Args:
        plan: a plan whose columns are not resolved yet: see `resolve.resolve`.
        columns: the columns of the input, which take precedence over measures.
        is_known: returns whether the engine knows a name that is not a column, such as the name of
            a session variable.

    Raises:
        MatchRecognizePlanError: a measure that is read has a different value each time it is
            computed, as `rand()` has.
    """
    if next(walk_reads_of_earlier_measures(plan), None) is None:
        return plan
    earlier_measures = EarlierMeasures(columns, is_known)
    measures = []
    for measure in plan.measures:
        resolved_measure = measure
        # Functions over a row pattern window have a value without a match. They read only columns.
        if not measure.has_value_without_match:
            resolved_measure = replace(measure, value=earlier_measures.replace_names(measure.value))
        earlier_measures.add(resolved_measure)
        measures.append(resolved_measure)
    return replace(plan, measures=tuple(measures))


class EarlierMeasures:
    """The measures before the current one, whose names it may read."""

    def __init__(self, columns: InputColumns, is_known: Callable[[str], bool]) -> None:
        """Start without measures. The arguments are as for `inline_earlier_measures`."""
        self.columns = columns
        self.is_known = is_known
        self.column_names = {columns.fold_name(name) for name in columns.names}
        # The measures by their folded names. In their values, names are already replaced.
        self.measures: dict[str, Measure] = {}

    def add(self, measure: Measure) -> None:
        """Add a measure, in whose value the names of earlier measures are already replaced."""
        self.measures[self.columns.fold_name(measure.reference_name or measure.name)] = measure

    def replace_names(self, scalar: Scalar) -> Scalar:
        """Return an expression with names of measures replaced by their values.

        Raises:
            MatchRecognizePlanError: the value of a measure differs each time it is computed.
        """
        if isinstance(scalar, Operation):
            return scalar.map_operands(self.replace_names)
        pieces: list[TextPiece] = []
        operations = scalar.text_operations
        for piece in scalar.pieces:
            value = self.find_value(piece)
            if value is None:
                pieces.append(piece)
            else:
                pieces += ["(", *value.pieces, ")"]
                operations |= collect_text_operations(value)
        return replace(scalar, pieces=tuple(pieces), text_operations=operations)

    def find_value(self, piece: TextPiece) -> Scalar | None:
        """Return the value of the earlier measure that a piece names.

        The result is None if the piece is not the name of an earlier measure.

        Raises:
            MatchRecognizePlanError: the value of the measure differs each time it is computed.
        """
        if not isinstance(piece, ColumnReference):
            return None
        name = find_lone_name(piece)
        if name is None or self.columns.fold_name(name) in self.column_names:
            return None
        measure = self.measures.get(self.columns.fold_name(name))
        if measure is None or self.is_known(piece.argument):
            return None
        for operation in sorted(collect_text_operations(measure.value)):
            function = operation.removesuffix("()")
            if function in NONDETERMINISTIC:
                raise nondeterministic_measure(piece.span, name=name, function=function.lower())
        return measure.value


def walk_reads_of_earlier_measures(plan: MatchPlan) -> Iterator[ColumnReference]:
    """Yield the references in measures that have the name of an earlier measure.

    Names are compared without regard to case. Such a reference may also mean a column:
    `EarlierMeasures` decides what it means.
    """
    earlier_names: set[str] = set()
    for measure in plan.measures:
        for reference in measure.value.references:
            if not isinstance(reference, ColumnReference):
                continue
            name = find_lone_name(reference)
            if name is not None and name.lower() in earlier_names:
                yield reference
        earlier_names.add((measure.reference_name or measure.name).lower())


def find_lone_name(reference: ColumnReference) -> str | None:
    """Return the name of a reference that is only a name, and so may mean an earlier measure.

    The result is None for `t.peak` and `LAST(peak)`, which can read only columns.
    """
    # The argument of `LAST(peak)` is `peak`, so the span is longer.
    span = reference.span
    is_whole_reference = span is not None and span.end - span.start == len(reference.argument)
    if len(reference.column_path) == 1 and is_whole_reference:
        return reference.column_path[0]
    return None
