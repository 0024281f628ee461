"""Resolve names of columns: the same column, however it is written, becomes the same text.

`sym`, `SYM` and `t.sym` name one column of the input `t`. In a resolved plan all three are the text
`` `sym` ``, so the column is sent to the workers once. Only plain columns of the input are resolved
here; the engine resolves all other names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property

from matchrec.errors.sql.unknown_columns import column_named_like_function
from matchrec.plan.change_expressions import map_column_references
from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import ColumnReference, find_node_operations, walk_scalar
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.text import quote_name
from matchrec.plan.words import CURRENT_VALUES


@dataclass(frozen=True)
class InputColumns:
    """The columns of the input, and the name that may qualify them."""

    # The names of the columns, in the order of the input.
    names: tuple[str, ...]
    # The alias of the relation, or the last part of the table's name; None if it has no name.
    alias: str | None = None
    # Whether names that differ in case are different.
    is_case_sensitive: bool = False

    def find(self, column_path: tuple[str, ...]) -> str | None:
        """Return the input's spelling of a column, or None if the name is unknown or ambiguous.

        Args:
            column_path: the name of a column, perhaps after a qualifier; empty for no column.

        >>> InputColumns(("price",), "t").find(("T", "PRICE"))
        'price'
        """
        if not column_path:
            return None
        *qualifiers, name = column_path
        if qualifiers:
            is_alias = len(qualifiers) == 1 and self.are_same(qualifiers[0], self.alias or "")
            if not is_alias:
                return None
        spellings = self._spellings.get(self.fold_name(name), ())
        return spellings[0] if len(spellings) == 1 else None

    @cached_property
    def _spellings(self) -> Mapping[str, list[str]]:
        """Return the columns by their folded names. Only an ambiguous name has several columns."""
        spellings = defaultdict(list)
        for name in self.names:
            spellings[self.fold_name(name)].append(name)
        return dict(spellings)

    def find_by_text(self, text: str) -> str | None:
        """Return the name of the column that has this text in a resolved plan.

        The result is None if the text is anything but a column.

        >>> InputColumns(("price",)).find_by_text("`price`")
        'price'
        """
        return self._names_by_text.get(text)

    @cached_property
    def _names_by_text(self) -> Mapping[str, str]:
        """Return the columns by the text that they have in a resolved plan."""
        unambiguous_names = (
            spellings[0] for spellings in self._spellings.values() if len(spellings) == 1
        )
        return {quote_name(name): name for name in unambiguous_names}

    def are_same(self, left: str, right: str) -> bool:
        """Return whether two names are spellings of the same column."""
        return self.fold_name(left) == self.fold_name(right)

    def fold_name(self, name: str) -> str:
        """Return the name in a form in which all spellings of one column are equal."""
        return name if self.is_case_sensitive else name.lower()


def resolve(plan: MatchPlan, columns: InputColumns) -> MatchPlan:
    """Return the plan with the same text for every occurrence of a column.

    Raises:
        MatchRecognizePlanError: the plan uses a word that is a column of the input, but that the
            engine also reads as a value, such as `current_date`.
    """
    ambiguous_words = CURRENT_VALUES.intersection(name.upper() for name in columns.names)
    if ambiguous_words:
        reject_ambiguous_words(plan, ambiguous_words)

    def resolve_reference(reference: ColumnReference) -> ColumnReference:
        """Return the reference with the column's quoted name as its argument.

        If the reference is not just a column of the input, it is returned unchanged.
        """
        name = columns.find(reference.column_path)
        if name is None:
            return reference
        return replace(reference, argument=quote_name(name), column_path=(name,))

    return replace(
        map_expressions(plan, lambda scalar, _: map_column_references(scalar, resolve_reference)),
        partition_by=tuple(resolve_row_expression(key, columns) for key in plan.partition_by),
        equivalence_keys=tuple(
            resolve_row_expression(key, columns) for key in plan.equivalence_keys
        ),
        order_by=tuple(
            replace(item, expression=resolve_row_expression(item.expression, columns))
            for item in plan.order_by
        ),
    )


def resolve_row_expression(expression: RowExpression, columns: InputColumns) -> RowExpression:
    """Return the expression with the column's quoted name as its text.

    If the expression is not just a column of the input, it is returned unchanged.
    """
    name = columns.find(expression.column_path)
    if name is None:
        return expression
    return replace(expression, text=quote_name(name), column_path=(name,))


def reject_ambiguous_words(plan: MatchPlan, words: Set[str]) -> None:
    """Reject words that name a column of the input, but that the engine could read as a value.

    For example, a column may be called `current_date`. In a query, the engine reads this word as
    the column. But SQL after the match does not see the input, so there it would be today's date.

    Args:
        plan: a plan whose columns are not resolved yet.
        words: the words, in upper case.

    Raises:
        MatchRecognizePlanError: a measure or a condition contains such a word.
    """
    expressions = [("MEASURES", measure.value) for measure in plan.measures]
    expressions += [("DEFINE", definition.condition) for definition in plan.definitions]
    for clause, scalar in expressions:
        for node in walk_scalar(scalar):
            for word in words & find_node_operations(node):
                raise column_named_like_function(node.span, name=word.lower(), clause=clause)
