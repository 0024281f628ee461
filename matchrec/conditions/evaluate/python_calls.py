"""Compute in Python what a kernel cannot: formulas, and the lists that aggregates are over.

A kernel calls back `PythonCalls.answer`. Its instruction CALL asks for a formula, whose arguments
are on top of the kernel's stack; its step APPEND asks for a list with one more row. For
`levenshtein(name, LAST(A.name)) < 3`:

    READ name, current row    stack: name
    READ name, r0             stack: name, name of A
    CALL formula 0            Python replaces both by their distance
    CONSTANT 3                stack: distance, 3
    COMPARE_INTEGER <

A formula whose value has no bits, such as a text, leaves the value with Python for the formula that
takes it as an argument: the stack has only a mark, `HELD`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
from matchrec.conditions.evaluate.link import CodeRange, LinkedConditions
from matchrec.conditions.evaluate.lists import ComputeKept, Lists, is_kept_itself
from matchrec.conditions.evaluate.registers import ListedValue, ListRegister
from matchrec.conditions.functions.function import AnsiError, FunctionError, Value
from matchrec.conditions.run_condition import (
    PythonAggregate,
    PythonExpression,
    find_python_arguments,
)
from matchrec.conditions.types import is_ranked
from matchrec.jit.callbacks import NO_CALLBACK, make_callback
from matchrec.jit.first_steps import let_integers_wrap
from matchrec.jit.views import find_python_function

HELD = 2  # the validity of a value on the stack that is not NULL and that Python holds

ERROR_MESSAGES: Mapping[int, str] = {
    OVERFLOW: "a number is too large for its type",
    DIVISION_BY_ZERO: "division by zero",
}
NO_REGISTERS = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula that kernels call."""

    # Computes the value from the arguments on the stack; returns None for NULL.
    compute: Evaluate
    # Whether Python holds the value, because it has no bits.
    is_held: bool
    # Makes the bits of a value that Python does not hold.
    encode: Callable[[Value], int]


@dataclass(slots=True)
class ListedRowProgress:
    """The progress of a search as conditions read it: see `machine.SearchedPartition`.

    The values of a list read no neighbours, so the partition may have all rows.
    """

    partition_begin: int
    partition_end: int
    match_number: int


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
        # Returns an identifier of the current search start. Runs with another search start share no
        # list with these runs.
        self.find_search_start: Callable[[], object] = lambda: None
        # Returns the registers of all runs, a row for each run.
        self.read_registers: Callable[[], IntArray] = lambda: self.stack[:0]
        # Returns the number of the match that is tried.
        self.find_match_number: Callable[[], int] = lambda: 1

        # The stack on which kernels evaluate conditions, see `kernels.machine.evaluate_condition`.
        self.stack: IntArray = np.zeros((2, linked.depth), np.int64)
        # The index on the stack from which the arguments of the current call are.
        self.top = 0
        # The values on the stack that Python holds, by their index on the stack.
        self.held_values: list[Value] = [None] * linked.depth
        # What ended the last call that failed. A kernel does not stop for Ctrl-C during a call that
        # appends; then the next call that computes fails.
        self.failure: BaseException | None = None

        self.source = source
        self.code = linked.instructions
        self.mathematics = find_mathematics(linked)
        self.formulas = [self.prepare_formula(call) for call in linked.calls]
        self.lists = Lists(linked.forms, source, self.find_live_lists, self.make_computer)
        # The registers that hold numbers of lists.
        self.list_registers = [
            register for register, meaning in linked.meanings if isinstance(meaning, ListRegister)
        ]
        # The search start to which the lists belong.
        self.search_start: object = None
        self.pointer = make_callback(self.answer) if linked.calls else NO_CALLBACK

    def answer(self, formula_or_form: int, top_or_list: int, row: int) -> int:
        """Compute a formula, or append a row to a list. This never raises.

        Kernels can call only one function, so the sign of the first argument says which is meant.

        Args:
            formula_or_form: the number of a formula, or -1 - the number of a form.
            top_or_list: the index on the stack from which the arguments of the formula are, or the
                number of a list.
            row: the position of the row to append.

        Returns:
            For a formula VALUE, with the value on the stack, or an error. For a list the number of
            the longer list.
        """
        if formula_or_form < 0:
            return self.answer_append(-1 - formula_or_form, top_or_list, row)
        return self.answer_formula(formula_or_form, top_or_list)

    def answer_formula(self, formula: int, top: int) -> int:
        """Compute a formula; return VALUE or an error."""
        if self.failure is not None and not isinstance(self.failure, FunctionError):
            return FUNCTION_FAILED
        try:
            return self.compute(formula, top)
        except OverflowError:
            return OVERFLOW
        except BaseException as error:  # noqa: BLE001 -- a kernel lets nothing through
            self.failure = error
            return FUNCTION_FAILED

    def answer_append(self, form: int, list_number: int, row: int) -> int:
        """Append a row to a list; return the longer list, or the same list if that fails.

        Appending has no error to return. After a failure, the next formula fails.
        """
        try:
            return self.append(form, list_number, row)
        except BaseException as error:  # noqa: BLE001 -- a kernel lets nothing through
            self.failure = error
            return list_number

    def get_failure(self) -> FunctionError:
        """Return the error of the function that failed in the last call.

        Raises:
            BaseException: something else ended the call, such as KeyboardInterrupt.
        """
        assert self.failure is not None
        if isinstance(self.failure, FunctionError):
            return self.failure
        raise self.failure

    # Formulas.

    def compute(self, formula: int, top: int) -> int:
        """Compute a formula from the arguments on the stack from `top` on, and put its value there.

        Returns:
            VALUE.

        Raises:
            FunctionError: the formula has no value.
            OverflowError: the value is too large for its type, or for the stack.
        """
        self.top = top
        prepared_formula = self.formulas[formula]
        value = prepared_formula.compute()
        if value is None:
            self.stack[1, top] = 0
        elif prepared_formula.is_held:
            self.held_values[top] = value
            self.stack[1, top] = HELD
        else:
            self.stack[1, top] = 1
            self.stack[0, top] = prepared_formula.encode(value)
        return VALUE

    def prepare_formula(self, call: PythonExpression) -> Formula:
        """Return a call as a formula of the arguments on the stack."""
        readers = [
            self.make_list_reader(offset)
            if isinstance(argument, PythonAggregate)
            else self.make_value_reader(offset, make_decoder(type_, argument, self.source))
            for offset, (argument, type_) in enumerate(find_python_arguments(call, call.type))
        ]
        return Formula(
            compute=build_formula(call, iter(readers)),
            is_held=is_ranked(call.type),
            encode=make_encoder(call.type),
        )

    def make_list_reader(self, offset: int) -> Evaluate:
        """Return a function that reads a list from the stack: its number, and all lists."""
        stack = self.stack
        return lambda: (stack.item(0, self.top + offset), self.lists)

    def make_value_reader(self, offset: int, decode: Decode) -> Evaluate:
        """Return a function that reads a value from the stack.

        Args:
            offset: how far above `top` the value is.
            decode: makes the value from its bits.
        """
        stack = self.stack

        def read() -> Value:
            """Return the Python value of the stack entry; None for NULL."""
            index = self.top + offset
            validity = stack.item(1, index)
            if validity == HELD:
                return self.held_values[index]
            return decode(stack.item(0, index)) if validity else None

        return read

    # Lists.

    def append(self, form: int, list_number: int, row: int) -> int:
        """Append a row to a list, and return the number of the longer list.

        A new search start drops all lists.
        """
        if list_number == 0:
            search_start = self.find_search_start()
            if search_start != self.search_start:
                self.search_start = search_start
                self.lists.clear()
        return self.lists.append(list_number, form, row)

    def find_live_lists(self) -> list[int]:
        """Return the lists that runs may have.

        There may be more, as registers that no run uses may still hold what a former run had.
        """
        numbers: list[int] = np.unique(self.read_registers()[:, self.list_registers]).tolist()
        return numbers

    def make_computer(self, value: ListedValue, code: CodeRange) -> ComputeKept:
        """Return a function that computes a value of a row as a list keeps it.

        Args:
            value: the value. It is not just a column.
            code: where its code is.
        """
        decode = make_decoder(value.type, value.expression, self.source)
        read = self.make_value_reader(0, decode if is_kept_itself(value) else int)
        columns = self.source.columns
        mathematics = find_python_function(self.mathematics)

        def compute_value(row: int) -> Value:
            """Return the value on a row, or raise the error that evaluating it raises."""
            progress = ListedRowProgress(
                partition_begin=0,
                partition_end=columns.shape[1],
                match_number=self.find_match_number() - 1,
            )
            inputs = Input(columns, self.source.valid, mathematics, self.answer, progress)
            # The kernel function runs in Python here. Whether it returns HOLDS or HOLDS_NOT does
            # not matter, only an error, and the value that it leaves on the stack.
            with let_integers_wrap():
                status = evaluate_condition(self.code, *code, NO_REGISTERS, row, inputs, self.stack)
            if status in ERROR_MESSAGES:
                raise AnsiError(ERROR_MESSAGES[status])
            if status == FUNCTION_FAILED:
                raise self.get_failure()
            self.top = 0
            return read()

        return compute_value
