"""The lists of rows over which Python computes aggregates, such as `collect_list(A.x)`.

A run has the number of its list in a register. A list consists of a shorter list and a last row.
So lists share the rows with which they begin. Equal lists have equal numbers, so that runs with
equal lists merge.

    list 0 = ()     list 7 = list 0 and row a     list 8 = list 7 and row b

Rows of different variables can add different values to a list. What a row adds is its *form*, see
`registers.RowForm`. The first value of a form says whether the row counts at all.

A list *keeps* the values of a row as the bits that kernels have: bits are copied quickly, and most
values are never read. A value that Python computed during the match and that has no bits, such as a
text, is kept itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from matchrec.conditions.evaluate.formulas import Decode, RowValues, make_decoder
from matchrec.conditions.evaluate.link import CodedForm, CodeRange
from matchrec.conditions.evaluate.registers import ListedValue
from matchrec.conditions.functions.function import FunctionError, Value
from matchrec.conditions.types import ValueType, is_ranked

# The most rows that all lists can have, before the lists that no run has are dropped.
MAX_ROWS = 1 << 18

# Returns a value of a row as a list keeps it, from the position of the row; None for NULL. Raises
# FunctionError if the value cannot be computed.
ComputeKept = Callable[[int], Value]
# Returns the function that computes a value of rows with the code in a range.
MakeValueFunction = Callable[[ListedValue, CodeRange], ComputeKept]


class LastRow(NamedTuple):
    """What makes a list: a shorter list, and the row that is added to it."""

    # The number of the list without this row.
    list_before: int
    # The number that says how the values are kept: see `FormFunctions.layout`.
    layout: int
    # The values as they are kept; the error if one of them could not be computed.
    kept_values: tuple[Value, ...] | FunctionError


@dataclass(frozen=True, slots=True)
class FormFunctions:
    """How rows of one form are added to lists, and read again: see `registers.RowForm`."""

    # Returns whether a row counts.
    is_counted: ComputeKept
    # For each value of a row, the function that computes it.
    compute_values: tuple[ComputeKept, ...]
    # For each value, the function that makes it from what is kept.
    decoders: tuple[Decode, ...]
    # The number of the first form whose values have the same types and are kept alike. Rows with
    # the same layout and equal kept values are equal, whatever their forms are.
    layout: int


class Lists:
    """All lists that live runs have, by number. Number 0 is the empty list.

    If a value of a row cannot be computed, the row has the error instead, which is raised when the
    row is read.
    """

    def __init__(
        self,
        forms: Sequence[CodedForm],
        source: RowValues,
        find_live_list_numbers: Callable[[], Iterable[int]],
        make_value_function: MakeValueFunction,
    ) -> None:
        """Prepare to make lists. Only list 0 exists at first.

        Args:
            forms: the forms of rows with their code: see `registers.RowForm`.
            source: the values of rows.
            find_live_list_numbers: returns the numbers of the lists that runs can have.
            make_value_function: returns the function that computes a value of a row.
        """
        # The last row of each list but list 0, by the number of the list.
        self.last_rows: dict[int, LastRow] = {}
        # The number of the list with each last row, the inverse of `last_rows`.
        self.numbers_by_last_row: dict[LastRow, int] = {}
        # The greatest number of a list so far.
        self.newest_number = 0
        # Before there are more rows than this, dead lists are dropped.
        self.row_limit = MAX_ROWS
        self.find_live_list_numbers = find_live_list_numbers
        self.forms = prepare_forms(forms, source, make_value_function)

    def append(self, number: int, form_number: int, row: int) -> int:
        """Append a row to a list, and return the number of the longer list.

        If the row does not count, the result is the number of the same list.

        Args:
            number: the number of the list, which stays as it is.
            form_number: the index of the row's form in `forms`.
            row: the position of the row.
        """
        functions = self.forms[form_number]
        kept: tuple[Value, ...] | FunctionError
        try:
            if not functions.is_counted(row):
                return number
            kept = tuple([compute_value(row) for compute_value in functions.compute_values])
        except FunctionError as error:
            kept = error
        last_row = LastRow(number, functions.layout, kept)
        longer_list = self.numbers_by_last_row.get(last_row)
        if longer_list is None:
            if len(self.last_rows) >= self.row_limit:
                self.drop_dead_lists(number)
            self.newest_number += 1
            longer_list = self.newest_number
            self.numbers_by_last_row[last_row] = longer_list
            self.last_rows[longer_list] = last_row
        return longer_list

    def find_list_before(self, number: int) -> int:
        """Return the number of the list without its last row."""
        return self.last_rows[number].list_before

    def read_last_row(self, number: int) -> tuple[Value, ...]:
        """Return the values of the last row of a list.

        Raises:
            FunctionError: a value of the row could not be computed.
        """
        _, layout, kept_values = self.last_rows[number]
        if isinstance(kept_values, FunctionError):
            raise kept_values
        return tuple(
            None if kept is None else decode(kept)
            for decode, kept in zip(self.forms[layout].decoders, kept_values, strict=True)
        )

    def drop_dead_lists(self, number: int) -> None:
        """Drop the lists that no run has and that are not the beginning of a list that stays.

        Numbers of dropped lists are never used again, because `shared_lists` keeps results by
        number.

        Args:
            number: the number of a list that stays, even if no run has it.
        """
        live_rows: dict[int, LastRow] = {}
        for live_number in (number, *self.find_live_list_numbers()):
            current = live_number
            while current in self.last_rows and current not in live_rows:
                live_rows[current] = self.last_rows[current]
                current = self.find_list_before(current)
        self.last_rows = live_rows
        self.numbers_by_last_row = {row: live_number for live_number, row in live_rows.items()}
        self.row_limit = max(MAX_ROWS, 2 * len(live_rows))

    def clear(self) -> None:
        """Drop all lists, because no run lives any more."""
        self.last_rows.clear()
        self.numbers_by_last_row.clear()


def prepare_forms(
    forms: Sequence[CodedForm], source: RowValues, make_value_function: MakeValueFunction
) -> list[FormFunctions]:
    """Return the functions of each form, by its number. For the arguments see `Lists`."""

    def make_kept_value_function(value: ListedValue, code: CodeRange) -> ComputeKept:
        """Return the function that computes a value of a row, or reads it if it is a column."""
        if value.column is None:
            return make_value_function(value, code)
        return make_column_reader(value.column, source)

    prepared_forms: list[FormFunctions] = []
    # For each form, the type of each value and whether it is kept itself: what is equal for forms
    # with one layout.
    value_storage: list[list[tuple[ValueType, bool]]] = []
    for form in forms:
        is_counted, *compute_values = [
            make_kept_value_function(value, code) for value, code in form
        ]
        # The first value, whether the row counts, is not kept.
        kept_values = [value for value, _ in form[1:]]
        storage = [(value.type, is_kept_as_value(value)) for value in kept_values]
        value_storage.append(storage)
        prepared_forms.append(
            FormFunctions(
                is_counted=is_counted,
                compute_values=tuple(compute_values),
                decoders=tuple(make_kept_decoder(value, source) for value in kept_values),
                layout=value_storage.index(storage),  # the first form that is kept alike
            )
        )
    return prepared_forms


def make_column_reader(column: int, source: RowValues) -> ComputeKept:
    """Return a function that reads the bits of a column on a row; None for NULL."""
    columns = source.columns
    valid = source.valid
    return lambda row: columns.item(column, row) if valid.item(column, row) else None


def make_kept_decoder(value: ListedValue, source: RowValues) -> Decode:
    """Return a function that makes a value from what a list keeps of it."""
    if is_kept_as_value(value):
        return lambda kept: kept
    return make_decoder(value.type, value.expression, source)


def is_kept_as_value(value: ListedValue) -> bool:
    """Return whether a list keeps the computed value itself, because it has no bits."""
    return value.column is None and is_ranked(value.type)
