"""The columns that run conditions read, and their indexes in the search.

While a condition is typed, a column may turn out to need a cast by Spark. Then the expression reads
the column of the cast, and perhaps nothing reads the old column any more. So the columns get their
indexes in two steps:

1. While a condition is typed, `Typer.drafts` lists every column that it reads, with repeats. The
   expression reads columns by their indexes in this list.
2. `RunColumns.index_columns` gives an index in the search to each draft that the finished
   expression still reads.

    condition            price < LAST(A.d), with a decimal price and a double d
    drafts               price, d, CAST(price AS double)    nothing reads `price` in the end
    float_columns        CAST(price AS double): 0, d: 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from typing_extensions import assert_never

from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.conditions.run_condition import (
    Arithmetic,
    Constant,
    ListItem,
    PythonAggregate,
    PythonCall,
    ReadClassifier,
    ReadValue,
    RunAggregate,
    RunExpression,
    RunOperation,
    TriedMatchNumber,
)
from matchrec.conditions.types import Kind

# A constant column. The search reads it to find out whether a row exists: if not, it reads NULL.
TRUE_COLUMN = build_row_column("TRUE")


class DraftedColumn(NamedTuple):
    """A column that an expression reads while its condition is typed."""

    column: RowColumn
    # Whether the search has ranks instead of the column's values.
    is_ranked: bool


@dataclass(slots=True)
class RunColumns:
    """The columns that run conditions read, in the order in which the search holds them."""

    # The index of each column that the search holds as integers.
    integer_columns: dict[RowColumn, int] = field(default_factory=dict)
    # The index of each column that the search holds as floats, counted from 0 again.
    float_columns: dict[RowColumn, int] = field(default_factory=dict)
    # The integer columns that hold ranks: each value is replaced by its rank among the values of
    # all these columns.
    ranked_columns: set[RowColumn] = field(default_factory=set)

    def index_columns(
        self, expression: RunExpression, drafts: Sequence[DraftedColumn]
    ) -> RunExpression:
        """Give each column that an expression reads an index; return the expression with these.

        Args:
            expression: the expression. It reads columns by their indexes in `drafts`.
            drafts: the columns that the typer listed for the condition of the expression.
        """
        match expression:
            case ReadValue(column=draft_index) | RunAggregate(column=draft_index):
                if draft_index is None:
                    return expression
                column = self.find_or_add_column(drafts[draft_index], expression.kind)
                return replace(expression, column=column)
            case PythonAggregate(items_by_variable=items_by_variable):
                indexed_items = tuple(
                    tuple(self.index_columns_of_item(item, drafts) for item in items)
                    for items in items_by_variable
                )
                return replace(expression, items_by_variable=indexed_items)
            case (
                RunOperation(operands=operands)
                | Arithmetic(operands=operands)
                | PythonCall(operands=operands)
            ):
                indexed_operands = tuple(
                    self.index_columns(operand, drafts) for operand in operands
                )
                return replace(expression, operands=indexed_operands)
            case Constant() | ReadClassifier() | TriedMatchNumber():
                return expression
            case _:
                assert_never(expression)

    def index_columns_of_item(self, item: ListItem, drafts: Sequence[DraftedColumn]) -> ListItem:
        """Return an item of a list whose expression reads columns by their new indexes."""
        return replace(item, expression=self.index_columns(item.expression, drafts))

    def find_or_add_column(self, draft: DraftedColumn, kind: Kind) -> int:
        """Return the index of a column among the columns of its kind; add a new column."""
        if draft.is_ranked:
            self.ranked_columns.add(draft.column)
        columns = self.integer_columns if kind is Kind.INTEGER else self.float_columns
        return columns.setdefault(draft.column, len(columns))
