"""Resolve names of columns: the same column, however it is written, becomes the same text.

`sym`, `SYM` and `t.sym` name one column of the input `t`. Afterwards all three are the text
`` `sym` ``, so that the column is sent to the workers once. Spark resolves everything that is not a
plain column of the input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property

from matchrec.errors.sql.expression import nondeterministic_measure
from matchrec.errors.sql.unknown_names import column_named_like_function
from matchrec.plan.clauses import Measure, RowExpression
from matchrec.plan.expression import (
    ColumnReference,
    Operation,
    Scalar,
    TextPiece,
    find_node_operations,
    list_text_operations,
    map_column_references,
    walk_scalar,
)
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.text import quote_name
from matchrec.plan.words import CURRENT_VALUES, NONDETERMINISTIC


@dataclass(frozen=True)
class InputColumns:
    """The columns of the input, and the name that may qualify them."""

    # The names of the columns, in the order of the input.
    names: tuple[str, ...]
    # The alias of the relation, or the last part of the table's name; None if it has no name.
    alias: str | None = None
    # Whether names that differ in case are different.
    case_sensitive: bool = False

    def find(self, names: tuple[str, ...]) -> str | None:
        """Return the input's spelling of a column, or None if the name is unknown or ambiguous.

        Args:
            names: the name of a column, perhaps after a qualifier.

        >>> InputColumns(("price",), "t").find(("T", "PRICE"))
        'price'
        """
        *qualifier, name = names or ("",)
        if qualifier:
            is_alias = len(qualifier) == 1 and self.are_same(qualifier[0], self.alias or "")
            if not is_alias:
                return None
        spellings = self._spellings.get(self.fold_name(name), ())
        return spellings[0] if len(spellings) == 1 else None

    @cached_property
    def _spellings(self) -> Mapping[str, list[str]]:
        """The columns by their folded names. Only an ambiguous name has several columns."""
        spellings = defaultdict(list)
        for name in self.names:
            spellings[self.fold_name(name)].append(name)
        return dict(spellings)

    def find_by_text(self, text: str) -> str | None:
        """Return the name of the column whose text in a resolved plan this is.

        None if the text is anything but a column.

        >>> InputColumns(("price",)).find_by_text("`price`")
        'price'
        """
        return self._names_by_text.get(text)

    @cached_property
    def _names_by_text(self) -> Mapping[str, str]:
        """The columns by the text that they have in a resolved plan."""
        unique = (spellings[0] for spellings in self._spellings.values() if len(spellings) == 1)
        return {quote_name(name): name for name in unique}

    def are_same(self, left: str, right: str) -> bool:
        """Return whether two names are spellings of the same column."""
        return self.fold_name(left) == self.fold_name(right)

    def fold_name(self, name: str) -> str:
        """Return the name in a form in which all spellings of one column are equal."""
        return name if self.case_sensitive else name.lower()


def resolve(plan: MatchPlan, columns: InputColumns) -> MatchPlan:
    """Return the plan with the same text for every occurrence of a column.

    Raises:
        MatchRecognizePlanError: a word is the name of a column and, for Spark, also a value of the
            query, such as `current_date`.
    """
    doubtful_names = CURRENT_VALUES.intersection(name.upper() for name in columns.names)
    if doubtful_names:
        reject_ambiguous_words(plan, doubtful_names)

    def resolve_reference(reference: ColumnReference) -> ColumnReference:
        """Return the column under its quoted name in the input; unchanged if it has none."""
        name = columns.find(reference.names)
        if name is None:
            return reference
        return replace(reference, argument=quote_name(name), names=(name,))

    return replace(
        map_expressions(plan, lambda scalar, _: map_column_references(scalar, resolve_reference)),
        partition_by=tuple(resolve_row(key, columns) for key in plan.partition_by),
        equivalence_keys=tuple(resolve_row(key, columns) for key in plan.equivalence_keys),
        order_by=tuple(
            replace(item, expression=resolve_row(item.expression, columns))
            for item in plan.order_by
        ),
    )


def resolve_row(part: RowExpression, columns: InputColumns) -> RowExpression:
    """Return an expression over one row of the input with its column resolved, if it is one."""
    name = columns.find(part.names)
    return part if name is None else replace(part, text=quote_name(name), names=(name,))


def reject_ambiguous_words(plan: MatchPlan, names: Set[str]) -> None:
    """Reject words that name a column of the input, but that Spark could read as a value.

    For example, a column may be called `current_date`. In a query, Spark reads this word as the
    column. But SQL after the match does not see the input, so there it would be today's date.

    Args:
        plan: the plan.
        names: such words, in upper case.

    Raises:
        MatchRecognizePlanError: a measure or a condition contains such a word.
    """
    expressions = [("MEASURES", measure.value) for measure in plan.measures]
    expressions += [("DEFINE", definition.condition) for definition in plan.definitions]
    for clause, scalar in expressions:
        for part in walk_scalar(scalar):
            for name in names & find_node_operations(part):
                raise column_named_like_function(part.span, name=name.lower(), clause=clause)


# Measures that read earlier ones.
#
# A name alone is an earlier measure if no column has the name. The value of that measure replaces
# it:
#
#     LAST(UP.price) AS peak, peak - 100 AS below
#     LAST(UP.price) AS peak, (LAST(UP.price)) - 100 AS below


def inline_earlier_measures(
    plan: MatchPlan, columns: InputColumns, is_known: Callable[[str], bool]
) -> MatchPlan:
    """Return the plan with names of earlier measures replaced by the values of these measures.

    Args:
        plan: the plan.
        columns: the columns of the input, which take precedence over measures.
        is_known: returns whether Spark knows a name that is not a column, such as the name of a
            session variable.

    Raises:
        MatchRecognizePlanError: a measure that is read has a different value each time it is
            computed, as `rand()` has.
    """
    if next(find_reads_of_earlier_measures(plan), None) is None:
        return plan
    earlier = EarlierMeasures(columns, is_known)
    measures = []
    for measure in plan.measures:
        replaced = measure
        if not measure.has_value_without_match:
            replaced = replace(measure, value=earlier.replace_names(measure.value))
        earlier.add(replaced)
        measures.append(replaced)
    return replace(plan, measures=tuple(measures))


class EarlierMeasures:
    """The measures before the current one, whose names it may read."""

    def __init__(self, columns: InputColumns, is_known: Callable[[str], bool]) -> None:
        """Begin without any measure. For the arguments see `inline_earlier_measures`."""
        self.columns = columns
        self.is_known = is_known
        self.column_names = {columns.fold_name(name) for name in columns.names}
        # The measures by their folded names. Names in their values are already replaced.
        self.measures: dict[str, Measure] = {}

    def add(self, measure: Measure) -> None:
        """Add a measure whose own value reads no earlier ones any more."""
        self.measures[self.columns.fold_name(measure.reference_name or measure.name)] = measure

    def replace_names(self, scalar: Scalar) -> Scalar:
        """Return an expression with names of measures replaced by their values.

        Raises:
            MatchRecognizePlanError: such a value is different each time it is computed.
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
                operations |= list_text_operations(value)
        return replace(scalar, pieces=tuple(pieces), text_operations=operations)

    def find_value(self, piece: TextPiece) -> Scalar | None:
        """Return the value of the measure that a piece names; None if it names no measure.

        Raises:
            MatchRecognizePlanError: the value is different each time it is computed.
        """
        if not isinstance(piece, ColumnReference):
            return None
        name = find_lone_name(piece)
        if name is None or self.columns.fold_name(name) in self.column_names:
            return None
        measure = self.measures.get(self.columns.fold_name(name))
        if measure is None or self.is_known(piece.argument):
            return None
        for operation in sorted(list_text_operations(measure.value)):
            function = operation.removesuffix("()")
            if function in NONDETERMINISTIC:
                raise nondeterministic_measure(piece.span, name=name, function=function.lower())
        return measure.value


def find_reads_of_earlier_measures(plan: MatchPlan) -> Iterator[ColumnReference]:
    """Yield the references that read an earlier measure, unless a column has the name."""
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
    """Return the name that a reference consists of, which may be the name of an earlier measure.

    None for `t.peak` and `LAST(peak)`, which can only read columns.
    """
    # The span of `LAST(peak)` is longer than its argument.
    span = reference.span
    is_whole_reference = span is not None and span.end - span.start == len(reference.argument)
    if len(reference.names) == 1 and is_whole_reference:
        return reference.names[0]
    return None
