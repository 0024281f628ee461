"""Compute in Python what a kernel cannot: formulas, and the lists that aggregates are over.

A kernel calls back to compute a formula from the values on top of its stack, or to append a row to
a list. A list is a number: the list before its last row, and that row. So lists share what they
have in common, and equal lists have equal numbers, so that runs with equal lists merge. The values
of a row are kept as the bits of the columns; a computed value that only Python can hold is kept
itself.

    list 0 = ()     list 7 = list 0 and row a     list 8 = list 7 and row b
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace

import numpy as np

from matchrec.conditions.evaluate.formulas import (
    Decode,
    Evaluate,
    RowValues,
    build_formula,
    make_decoder,
    make_encoder,
)
from matchrec.conditions.evaluate.instructions import (
    DIVISION_BY_ZERO,
    FUNCTION_FAILED,
    OVERFLOW,
    VALUE,
)
from matchrec.conditions.evaluate.kernels.functions import find_mathematics
from matchrec.conditions.evaluate.kernels.machine import Input, IntArray, evaluate_condition
from matchrec.conditions.evaluate.link import CodedForm, CodeRange, LinkedConditions
from matchrec.conditions.evaluate.registers import AggregateRegister, ListedValue
from matchrec.conditions.functions.function import AnsiError, FunctionError, Value
from matchrec.conditions.run_condition import (
    PythonAggregate,
    PythonExpression,
    find_python_arguments,
)
from matchrec.conditions.types import ValueType, is_ranked
from matchrec.jit.callbacks import NO_CALLBACK, make_callback
from matchrec.jit.first_steps import let_integers_wrap
from matchrec.jit.views import find_python_function

# The most rows that all lists may have, before the lists that no run has are dropped.
MOST_ROWS = 1 << 18

# The last row of a list: the number of the list before it, the layout, and the kept values.
Row = tuple[Value, ...]

HELD = 2  # the validity of a value on the stack that is not NULL and that Python holds

REASONS: Mapping[int, str] = {
    OVERFLOW: "a number is too large for its type",
    DIVISION_BY_ZERO: "division by zero",
}
NO_REGISTERS = np.empty(0, np.int64)


def make_list_decoder(value: ListedValue, source: RowValues) -> Decode:
    """Return a function that makes a value from what a list keeps of it."""
    if is_kept_as_it_is(value):
        return lambda kept: kept
    return make_decoder(value.type, value.expression, source)


def is_kept_as_it_is(value: ListedValue) -> bool:
    """Return whether a list keeps the computed value itself, because it has no bits."""
    return value.column is None and is_ranked(value.type)


class Lists:
    """All lists that live runs have, by number. Number 0 is the empty list.

    If a value of a row cannot be computed, the row has the error instead, which is raised when the
    row is read.
    """

    def __init__(
        self,
        forms: Sequence[CodedForm],
        source: RowValues,
        find_live_lists: Callable[[], Iterable[int]],
        make_computer: Callable[[ListedValue, CodeRange], Callable[[int], Value]],
    ) -> None:
        """Prepare to make lists. Only list 0 exists at first.

        Args:
            forms: the forms of rows, see `registers.AggregateRegister`.
            source: the values of rows.
            find_live_lists: returns the numbers of the lists that runs may have.
            make_computer: returns a function that computes a value of a row as it is kept, and that
                raises FunctionError if it cannot.
        """
        # The last row of each list, by the number of the list, and the other way round.
        self.rows: dict[int, Row] = {}
        self.numbers: dict[Row, int] = {}
        self.newest_number = 0
        # With more rows than this, dead lists are dropped.
        self.row_limit = MOST_ROWS
        self.find_live_lists = find_live_lists
        self.source = source
        # For each form, functions that return whether a row counts, and then its values.
        self.computers: list[list[Callable[[int], Value]]] = []
        # For each form, functions that decode its values. The condition of a row is not kept.
        self.decoders: list[list[Decode]] = []
        # The layout of each form: the number of the first form whose values have the same types and
        # are kept alike.
        self.layouts: list[int] = []
        earlier_shapes: list[list[tuple[ValueType, bool]]] = []
        for form in forms:
            self.computers.append(
                [
                    make_computer(value, code)
                    if value.column is None
                    else self.make_column_reader(value.column)
                    for value, code in form
                ]
            )
            kept_values = [value for value, _ in form[1:]]
            self.decoders.append([make_list_decoder(value, source) for value in kept_values])
            shape = [(value.type, is_kept_as_it_is(value)) for value in kept_values]
            earlier_shapes.append(shape)
            self.layouts.append(earlier_shapes.index(shape))

    def append(self, number: int, form: int, row: int) -> int:
        """Append a row to a list, and return the number of the longer list.

        If the row does not count, that is the same list.
        """
        counts, *compute_values = self.computers[form]
        layout = self.layouts[form]
        try:
            if not counts(row):
                return number
            key = (number, layout, *[compute_value(row) for compute_value in compute_values])
        except FunctionError as error:
            key = (number, layout, error)
        longer = self.numbers.get(key)
        if longer is None:
            if len(self.rows) >= self.row_limit:
                self.drop_dead_lists(number)
            self.newest_number += 1
            longer = self.newest_number
            self.numbers[key] = longer
            self.rows[longer] = key
        return longer

    def make_column_reader(self, column: int) -> Callable[[int], int | None]:
        """Return a function that reads the bits of a column on a row; None for NULL."""
        columns = self.source.columns
        valid = self.source.valid
        return lambda row: columns.item(column, row) if valid.item(column, row) else None

    def find_list_before(self, number: int) -> int:
        """Return the list without its last row."""
        before: int = self.rows[number][0]
        return before

    def read_last_row(self, number: int) -> tuple[Value, ...]:
        """Return the values of the last row of a list.

        Raises:
            FunctionError: a value of the row could not be computed.
        """
        _, layout, *kept_values = self.rows[number]
        if kept_values and isinstance(kept_values[0], FunctionError):
            raise kept_values[0]
        return tuple(
            None if kept is None else decode(kept)
            for decode, kept in zip(self.decoders[layout], kept_values, strict=True)
        )

    def drop_dead_lists(self, number: int) -> None:
        """Drop all lists but one, those that runs have, and those that these are made of.

        A number is never used again, so what is remembered elsewhere by number stays right.
        """
        kept: dict[int, Row] = {}
        for live_number in (number, *self.find_live_lists()):
            current = live_number
            while current in self.rows and current not in kept:
                kept[current] = self.rows[current]
                current = self.find_list_before(current)
        self.rows = kept
        self.numbers = {row: kept_number for kept_number, row in kept.items()}
        self.row_limit = max(MOST_ROWS, 2 * len(kept))

    def clear(self) -> None:
        """Drop all lists, because no run lives any more."""
        self.rows.clear()
        self.numbers.clear()


class PythonCalls:
    """The computations in Python for one search, whose kernel calls `answer` by `pointer`.

    The search sets `find_search_start`, `read_registers` and `find_match_number`.
    """

    def __init__(self, linked: LinkedConditions, source: RowValues) -> None:
        """Prepare what the conditions need that Python computes.

        Args:
            linked: the conditions.
            source: the values of rows.
        """
        # The stack on which kernels evaluate conditions, see `kernels.machine.evaluate_condition`.
        self.stack: IntArray = np.zeros((2, linked.depth), np.int64)
        # The index on the stack from which the arguments of the current call are.
        self.top = 0
        # Returns an identifier of the current search start. Runs with another search start share no
        # list with these runs.
        self.find_search_start: Callable[[], object] = lambda: None
        # The search start to which the lists belong.
        self.search_start: object = None
        # What ended the last call that failed. A kernel does not stop for Ctrl-C during a call that
        # appends; then the next call that computes fails.
        self.failure: BaseException | None = None
        # Returns the registers of all runs, a row for each run.
        self.read_registers: Callable[[], IntArray] = lambda: self.stack[:0]
        # Returns the number of the match that is tried.
        self.find_match_number: Callable[[], int] = lambda: 1
        # The registers that hold lists.
        self.list_registers = [
            register
            for register, meaning in linked.meanings
            if isinstance(meaning, AggregateRegister) and meaning.forms
        ]
        self.source = source
        self.code = linked.instructions
        self.mathematics = find_mathematics(linked)
        # Values on the stack that Python holds.
        self.objects: list[Value] = [None] * linked.depth
        self.lists = Lists(linked.forms, source, self.find_live_lists, self.make_computer)
        # For each call, what computes it, whether Python holds its value, and what makes its bits.
        self.formulas = [self.build_formula(call) for call in linked.calls]
        self.is_held = [is_ranked(call.type) for call in linked.calls]
        self.encoders = [make_encoder(call.type) for call in linked.calls]
        self.pointer = make_callback(self.answer) if linked.calls else NO_CALLBACK

    def answer(self, formula_or_form: int, top_or_list: int, row: int) -> int:
        """Compute a formula, or append a row to a list.

        Args:
            formula_or_form: the number of a formula, or -1 - the number of a form.
            top_or_list: the index on the stack from which the arguments of the formula are, or the
                number of a list.
            row: the position of the row to append.

        Returns:
            For a formula VALUE, with the value on the stack, or an error. For a list the number of
            the longer list.
        """
        try:
            if formula_or_form < 0:
                return self.append(-1 - formula_or_form, top_or_list, row)
            if self.failure is not None and not isinstance(self.failure, FunctionError):
                return FUNCTION_FAILED
            return self.compute(formula_or_form, top_or_list)
        except OverflowError:
            return OVERFLOW
        except BaseException as error:  # noqa: BLE001 -- a kernel lets nothing through
            self.failure = error
            return FUNCTION_FAILED if formula_or_form >= 0 else top_or_list

    def get_failure(self) -> FunctionError:
        """Return the error of the function that failed in the last call.

        Raises:
            BaseException: something else ended the call, such as KeyboardInterrupt.
        """
        assert self.failure is not None
        if isinstance(self.failure, FunctionError):
            return self.failure
        raise self.failure

    def compute(self, formula: int, top: int) -> int:
        """Compute a formula from the arguments on the stack from `top` on, and put its value there.

        Returns:
            VALUE.

        Raises:
            FunctionError: the formula has no value.
            OverflowError: the value is too large for its type, or for the stack.
        """
        self.top = top
        value = self.formulas[formula]()
        if value is not None and self.is_held[formula]:
            self.objects[top] = value
            self.stack[1, top] = HELD
            return VALUE
        self.stack[1, top] = value is not None
        if value is not None:
            self.stack[0, top] = self.encoders[formula](value)
        return VALUE

    def append(self, form: int, number: int, row: int) -> int:
        """Append a row to a list, and return the number of the longer list.

        A new search start drops all lists.
        """
        if number == 0:
            search_start = self.find_search_start()
            if search_start != self.search_start:
                self.search_start = search_start
                self.lists.clear()
        return self.lists.append(number, form, row)

    def make_computer(self, value: ListedValue, code: CodeRange) -> Callable[[int], Value]:
        """Return a function that computes a value of a row as a list keeps it.

        It raises FunctionError if it cannot.
        """
        decode = make_decoder(value.type, value.expression, self.source)
        read = self.make_value_reader(0, decode if is_kept_as_it_is(value) else int)
        columns = self.source.columns
        mathematics = find_python_function(self.mathematics)

        def compute_value(row: int) -> Value:
            """Return the value on a row, or raise the error that evaluating it raises."""
            progress = SimpleNamespace(
                partition_begin=0,
                partition_end=columns.shape[1],
                match_number=self.find_match_number() - 1,
            )
            inputs = Input(columns, self.source.valid, mathematics, self.answer, progress)
            # Runs in Python. Only errors matter, and the value that is left on the stack.
            with let_integers_wrap():
                status = evaluate_condition(self.code, *code, NO_REGISTERS, row, inputs, self.stack)
            if status in REASONS:
                raise AnsiError(REASONS[status])
            if status == FUNCTION_FAILED:
                raise self.get_failure()
            self.top = 0
            return read()

        return compute_value

    def find_live_lists(self) -> list[int]:
        """Return the lists that runs may have.

        There may be more, as registers that no run uses may still hold what a former run had.
        """
        numbers: list[int] = np.unique(self.read_registers()[:, self.list_registers]).tolist()
        return numbers

    def build_formula(self, call: PythonExpression) -> Evaluate:
        """Return a function that computes a call of the arguments on the stack."""
        readers = [
            self.make_list_reader(offset)
            if isinstance(argument, PythonAggregate)
            else self.make_value_reader(offset, make_decoder(type_, argument, self.source))
            for offset, (argument, type_) in enumerate(find_python_arguments(call, call.type))
        ]
        return build_formula(call, iter(readers))

    def make_list_reader(self, offset: int) -> Evaluate:
        """Return a function that reads a list, as its number and all lists, above the top."""
        stack = self.stack
        return lambda: (stack.item(0, self.top + offset), self.lists)

    def make_value_reader(self, offset: int, decode: Decode) -> Evaluate:
        """Return a function that reads a value on the stack above the top."""
        stack = self.stack

        def read() -> Value:
            """Return the Python value of the stack entry; None for NULL."""
            index = self.top + offset
            validity = stack.item(1, index)
            if validity == HELD:
                return self.objects[index]
            return decode(stack.item(0, index)) if validity else None

        return read
