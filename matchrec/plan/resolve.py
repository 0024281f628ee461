"""Resolves names of columns: the same column, however it is written, becomes the same text.

`sym`, `SYM` and `t.sym` name one column of the input `t`; afterwards they are equal, so that the
column crosses to the engine once. What is no plain column of the input is left to Spark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property, partial

from matchrec.errors.sql.expression import changing_measure, doubtful_column
from matchrec.plan.clauses import Measure, RowExpression
from matchrec.plan.expression import (
    ColumnReference,
    Operation,
    Piece,
    Scalar,
    subexpressions,
    with_columns,
    written_operations,
)
from matchrec.plan.match_plan import MatchPlan, with_expressions
from matchrec.plan.text import CURRENT_VALUES, NONDETERMINISTIC, quoted


@dataclass(frozen=True)
class InputColumns:
    """The columns of the input in their order, and the name under which they may be qualified."""

    names: tuple[str, ...]
    alias: str | None = None  # of the relation, or the last part of the table's name
    case_sensitive: bool = False

    def find(self, names: tuple[str, ...]) -> str | None:
        """The input's own name of the one column that these name, or None.

        >>> InputColumns(("price",), "t").find(("T", "PRICE"))
        'price'
        """
        *qualifier, name = names or ("",)
        if qualifier and not (len(qualifier) == 1 and self.same(qualifier[0], self.alias or "")):
            return None
        hits = self._alike.get(self.folded(name), ())
        return hits[0] if len(hits) == 1 else None

    @cached_property
    def _alike(self) -> Mapping[str, list[str]]:
        found = defaultdict(list)
        for name in self.names:
            found[self.folded(name)].append(name)
        return dict(found)

    def name(self, text: str) -> str | None:
        """The name of the column that a text of a resolved plan is, or None."""
        return self._resolved.get(text)

    @cached_property
    def _resolved(self) -> Mapping[str, str]:
        return {quoted(hits[0]): hits[0] for hits in self._alike.values() if len(hits) == 1}

    def same(self, left: str, right: str) -> bool:
        return self.folded(left) == self.folded(right)

    def folded(self, name: str) -> str:
        """The name, so that names of one column are equal."""
        return name if self.case_sensitive else name.lower()


def resolve(plan: MatchPlan, columns: InputColumns) -> MatchPlan:
    """The plan with every plain column written in its one way.

    Raises MatchRecognizePlanError for a word that is a column's name and a value of the query.
    """
    doubtful = CURRENT_VALUES.intersection(map(str.upper, columns.names))
    if doubtful:
        refuse_doubtful(plan, doubtful)

    def column(reference: ColumnReference) -> ColumnReference:
        if (name := columns.find(reference.names)) is None:
            return reference
        return replace(reference, argument=quoted(name), names=(name,))

    row = partial(resolve_row, columns=columns)
    return replace(
        with_expressions(plan, lambda scalar, _: with_columns(scalar, column)),
        partition_by=tuple(map(row, plan.partition_by)),
        equal=tuple(map(row, plan.equal)),
        order_by=tuple(replace(one, expression=row(one.expression)) for one in plan.order_by),
    )


def refuse_doubtful(plan: MatchPlan, names: Set[str]) -> None:
    """Raises for a word that names a column of the input, where it would be read as a value.

    Spark would take the column, but what it computes after the match does not see the input.
    """
    values = [("MEASURES", measure.value) for measure in plan.measures]
    for clause, scalar in (*values, *(("DEFINE", one.condition) for one in plan.definitions)):
        for part in subexpressions(scalar):
            for name in names & part.own:
                raise doubtful_column(part.span, name=name.lower(), clause=clause)


# Measures that read earlier ones, by their names alone, where no column has the name.
#
#     LAST(UP.price) AS peak, peak - 100 AS below
#     LAST(UP.price) AS peak, (LAST(UP.price)) - 100 AS below


def with_earlier_measures(
    plan: MatchPlan, columns: InputColumns, is_known: Callable[[str], bool]
) -> MatchPlan:
    """The plan with the values of earlier measures in the places of their names.

    is_known: whether Spark knows a name that is no column's, as it does a session's variable.
    Raises MatchRecognizePlanError for a measure that would have another value there.
    """
    if next(reads_of_earlier_measures(plan), None) is None:
        return plan
    taken = {columns.folded(name) for name in columns.names}
    earlier: dict[str, Measure] = {}

    def value_of(piece: Piece) -> Scalar | None:
        if not isinstance(piece, ColumnReference) or (name := name_alone(piece)) is None:
            return None
        found = None if columns.folded(name) in taken else earlier.get(columns.folded(name))
        if found is None or is_known(piece.argument):
            return None
        for operation in sorted(written_operations(found.value)):
            if operation.removesuffix("()") in NONDETERMINISTIC:
                function = operation.removesuffix("()").lower()
                raise changing_measure(piece.span, name=name, function=function)
        return found.value

    def with_values(scalar: Scalar) -> Scalar:
        if isinstance(scalar, Operation):
            return scalar.of_operands(with_values)
        pieces: list[Piece] = []
        own = scalar.own
        for piece in scalar.pieces:
            value = value_of(piece)
            pieces += [piece] if value is None else ["(", *value.pieces, ")"]
            own = own if value is None else own | written_operations(value)
        return replace(scalar, pieces=tuple(pieces), own=own)

    measures = []
    for measure in plan.measures:
        known = measure if measure.over_rows else replace(measure, value=with_values(measure.value))
        earlier[columns.folded(measure.known_as or measure.name)] = known
        measures.append(known)
    return replace(plan, measures=tuple(measures))


def reads_of_earlier_measures(plan: MatchPlan) -> Iterator[ColumnReference]:
    """What is an earlier measure where no column has the name."""
    earlier: set[str] = set()
    for measure in plan.measures:
        read = (one for one in measure.value.references if isinstance(one, ColumnReference))
        yield from (one for one in read if (name := name_alone(one)) and name.lower() in earlier)
        earlier.add((measure.known_as or measure.name).lower())


def name_alone(reference: ColumnReference) -> str | None:
    """The name that is all of a reference: that of a column, or of an earlier measure."""
    names, span = reference.names, reference.span
    is_alone = span is not None and span.end - span.start == len(reference.argument)
    return names[0] if len(names) == 1 and is_alone else None  # so no LAST(peak)


def resolve_row(part: RowExpression, columns: InputColumns) -> RowExpression:
    name = columns.find(part.names)
    return part if name is None else replace(part, text=quoted(name), names=(name,))
