"""Resolves names of columns: the same column, however it is written, becomes the same text.

`sym`, `SYM` and `t.sym` name one column of the input `t`; afterwards they are equal, so that the
column crosses to the engine once. What is no plain column of the input is left to Spark.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from functools import cached_property

from matchrec.dataclass import dataclass
from matchrec.errors.sql.expression import doubtful_column
from matchrec.plan.clauses import Definition, Measure, RowExpression, SortItem
from matchrec.plan.expression import Aggregate, ColumnReference, Operation, Piece, Scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import CURRENT_VALUES, quoted, unquoted, without_quotes

WORD = re.compile(r"(?<![\w.])[\w.]+(?![\w.]|\s*\()")  # unless a call
NAME = r"(?:[A-Za-z_][A-Za-z0-9_]*|`(?:[^`]|``)*`)"
COLUMN = re.compile(rf"\s*(?:(?P<qualifier>{NAME})\s*\.\s*)?(?P<name>{NAME})\s*")


@dataclass(frozen=True)
class InputColumns:
    """The columns of the input, and the name under which they may be qualified.

    names: in their order. alias: of the relation, or the last part of the table's name.
    """

    names: tuple[str, ...]
    alias: str | None = None
    case_sensitive: bool = False

    def index(self, text: str) -> int | None:
        """The index of the one column that `text` names, or None."""
        found = COLUMN.fullmatch(text)
        if found is None:
            return None
        qualifier, name = found["qualifier"], found["name"]
        if qualifier is not None and not self.same(unquoted(qualifier), self.alias or ""):
            return None
        hits = self._indices.get(self.folded(unquoted(name)), ())
        return hits[0] if len(hits) == 1 else None

    @cached_property
    def _indices(self) -> Mapping[str, list[int]]:
        found = defaultdict(list)
        for index, name in enumerate(self.names):
            found[self.folded(name)].append(index)
        return dict(found)

    def name(self, text: str) -> str | None:
        """The input's own name of the one column that `text` names, or None."""
        index = self.index(text)
        return None if index is None else self.names[index]

    def canonical(self, text: str) -> str:
        """The one way to write a plain column; any other text as it is, without outer blanks."""
        name = self.name(text)
        return text.strip() if name is None else quoted(name)

    def same(self, one: str, other: str) -> bool:
        return self.folded(one) == self.folded(other)

    def folded(self, name: str) -> str:
        """The name, so that names of one column are equal."""
        return name if self.case_sensitive else name.lower()


def resolve(plan: MatchPlan, columns: InputColumns) -> MatchPlan:
    """The plan with every plain column written in its one way.

    Raises MatchRecognizePlanError for a word that is a column's name and a value of the query.
    """
    doubtful = CURRENT_VALUES & {name.upper() for name in columns.names}
    if doubtful:
        refuse_doubtful(plan, doubtful)
    return replace(
        plan,
        partition_by=tuple(resolve_row(part, columns) for part in plan.partition_by),
        equal=tuple(resolve_row(part, columns) for part in plan.equal),
        order_by=tuple(resolve_sort(item, columns) for item in plan.order_by),
        measures=tuple(resolve_measure(measure, columns) for measure in plan.measures),
        definitions=tuple(resolve_definition(one, columns) for one in plan.definitions),
    )


def refuse_doubtful(plan: MatchPlan, names: Set[str]) -> None:
    """Raises for a word that names a column of the input, where it would be read as a value.

    Spark would take the column, but what it computes after the match does not see the input.
    """
    values = [("MEASURES", one.value) for one in plan.measures]
    for clause, scalar in (*values, *(("DEFINE", one.condition) for one in plan.definitions)):
        for piece in scalar.pieces:
            for word in WORD.findall(without_quotes(piece)) if isinstance(piece, str) else ():
                if word.upper() in names:
                    raise doubtful_column(word, clause, scalar.span)


def resolve_row(part: RowExpression, columns: InputColumns) -> RowExpression:
    return replace(part, text=columns.canonical(part.text))


def resolve_sort(item: SortItem, columns: InputColumns) -> SortItem:
    return replace(item, expression=resolve_row(item.expression, columns))


def resolve_measure(measure: Measure, columns: InputColumns) -> Measure:
    return replace(measure, value=resolve_scalar(measure.value, columns.canonical))


def resolve_definition(definition: Definition, columns: InputColumns) -> Definition:
    return replace(definition, condition=resolve_scalar(definition.condition, columns.canonical))


def resolve_scalar(scalar: Scalar, canonical: Callable[[str], str]) -> Scalar:
    """The expression with `canonical` applied to the arguments of its references."""
    if isinstance(scalar, Operation):
        return scalar.of_operands(lambda operand: resolve_scalar(operand, canonical))
    pieces = (
        piece if isinstance(piece, str) else resolve_piece(piece, canonical)
        for piece in scalar.pieces
    )
    return replace(scalar, pieces=tuple(pieces))


def resolve_piece(piece: Piece, canonical: Callable[[str], str]) -> Piece:
    match piece:
        case ColumnReference(argument=argument):
            return replace(piece, argument=canonical(argument))
        case Aggregate(arguments=arguments, condition=condition, ordering=ordering):
            return replace(
                piece,
                arguments=tuple(resolve_scalar(one, canonical) for one in arguments),
                condition=condition and resolve_scalar(condition, canonical),
                ordering=tuple((resolve_scalar(one, canonical), word) for one, word in ordering),
            )
        case _:
            return piece
