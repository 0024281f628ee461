"""Compute in Python what a kernel cannot: formulas, and the lists of rows that aggregates read.

A kernel calls back `PythonCalls.answer`. Its instruction CALL computes a formula, whose arguments
are on top of the kernel's stack. Its step APPEND appends a row to a list; the form of the row says
which values of it the list keeps, see `registers.RowForm`.

For `levenshtein(name, LAST(A.name)) < 3`, the instructions are:

    READ name, current row    stack: name
    READ name, r0             stack: name, name of A
    CALL formula 0            Python replaces both by their distance
    CONSTANT 3                stack: distance, 3
    COMPARE_INTEGER <

A value that does not fit into 64 bits, such as a text, stays in `held_values` for the formula that
has it as an argument. The entry on the stack is marked with `HELD_BY_PYTHON`.
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
    BITS_ROW,
    DIVISION_BY_ZERO,
    FUNCTION_FAILED,
    OVERFLOW,
    VALIDITY_ROW,
    VALUE,
)
from matchrec.conditions.evaluate.kernels.functions import find_mathematics
from matchrec.conditions.evaluate.kernels.machine import MachineInput, evaluate_condition
from matchrec.conditions.evaluate.link import CodeRange, LinkedConditions
from matchrec.conditions.evaluate.lists import ComputeKept, Lists, is_kept_as_value
from matchrec.conditions.evaluate.registers import ListedValue, ListRegister
from matchrec.conditions.functions.function import AnsiError, FunctionError, Value
from matchrec.conditions.run_condition import (
    PythonAggregate,
    PythonExpression,
    find_python_arguments,
)
from matchrec.conditions.types import is_ranked
from matchrec.jit.array_types import IntArray
from matchrec.jit.callbacks import NO_CALLBACK, make_callback
from matchrec.jit.first_steps import let_integers_wrap
from matchrec.jit.views import find_python_function

# The validity of a value on the stack: NULL, not NULL, or not NULL and held by Python.
IS_NULL = 0
IS_VALID = 1
HELD_BY_PYTHON = 2

# The messages for the errors of `evaluate_condition`.
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
    # Whether Python holds the value, because it does not fit into 64 bits.
    is_held: bool
    # Makes the bits of a value that Python does not hold.
    encode: Callable[[Value], int]


@dataclass(slots=True)
class ListedRowProgress:
    """The progress of a search as conditions read it: see `machine.SearchedPartition`.

    The values of a list read no neighbours, so the partition can have all rows.
    """

    partition_begin: int
    partition_end: int
    match_number: int


class PythonCalls:
    """The computations in Python for one search, whose kernel calls `answer` by `pointer`.

    `SearchInput.connect_python_calls` sets `find_search_start`, `read_registers` and
    `find_match_number` before the search begins.
    """

    def __init__(self, linked: LinkedConditions, source: RowValues) -> None:
        """Prepare what the conditions need that Python computes.

        Args:
            linked: the conditions.
            source: the values of rows.
        """
        # Returns an identifier of the current search start. Runs with another search start share no
        # list with these runs, so the lists are dropped when it changes. With event selection it
        # is always None, because runs with several starts live at the same time.
        self.find_search_start: Callable[[], object] = lambda: None
        # Returns the registers of all runs, a row for each run.
        self.read_registers: Callable[[], IntArray] = lambda: self.stack[:0]
        # Returns the number of the match that is tried.
        self.find_match_number: Callable[[], int] = lambda: 1

        # The stack on which kernels evaluate conditions, see `kernels.machine.evaluate_condition`.
        self.stack: IntArray = np.zeros((2, linked.stack_size), np.int64)
        # The index on the stack of the first argument of the current call.
        self.top = 0
        # The values on the stack that Python holds, by their index on the stack.
        self.held_values: list[Value] = [None] * linked.stack_size
        # What ended the last call that failed. A kernel does not stop for Ctrl-C during a call that
        # appends; then the next call that computes fails.
        self.failure: BaseException | None = None

        self.source = source
        self.instructions = linked.instructions
        self.mathematics = find_mathematics(linked)
        self.formulas = [self.prepare_formula(call) for call in linked.python_calls]
        self.lists = Lists(
            linked.forms, source, self.find_live_list_numbers, self.make_value_function
        )
        # The registers that hold numbers of lists.
        self.list_registers = [
            register for register, meaning in linked.meanings if isinstance(meaning, ListRegister)
        ]
        # The search start to which the lists belong.
        self.search_start: object = None
        self.pointer = make_callback(self.answer) if linked.python_calls else NO_CALLBACK

    def answer(self, request: int, operand: int, row: int) -> int:
        """Compute a formula, or append a row to a list. This never raises.

        Kernels can call only one function, so `request` has two encodings:

                        compute a formula                       append a row
            request     the number of the formula, 0 or more    -1 - the number of the form
            operand     the index of its first argument on      the number of the list
                        the stack
            row         ignored                                 the position of the row
            returned    VALUE, and the value is on the stack;   the number of the longer list
                        or an error
        """
        if request < 0:
            return self.answer_append(-1 - request, operand, row)
        return self.answer_formula(request, operand)

    def answer_formula(self, formula_number: int, top: int) -> int:
        """Compute a formula; return VALUE or an error."""
        if self.failure is not None and not isinstance(self.failure, FunctionError):
            return FUNCTION_FAILED
        try:
            return self.compute(formula_number, top)
        except OverflowError:
            return OVERFLOW
        except BaseException as error:  # noqa: BLE001 -- a kernel lets nothing through
            self.failure = error
            return FUNCTION_FAILED

    def answer_append(self, form_number: int, list_number: int, row: int) -> int:
        """Append a row to a list; return the longer list, or the same list if that fails.

        Appending has no error to return. Unless the failure is a FunctionError, the next formula
        fails because of it. If the search computes no formula any more, the failure has no effect.
        """
        try:
            return self.append(form_number, list_number, row)
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

    def compute(self, formula_number: int, top: int) -> int:
        """Compute a formula from the arguments on the stack from `top` on, and put its value there.

        Returns:
            VALUE, as the kernel expects from a call that has a value.

        Raises:
            FunctionError: the formula has no value.
            OverflowError: the value is too large for its type, or for the stack.
        """
        self.top = top
        formula = self.formulas[formula_number]
        value = formula.compute()
        if value is None:
            self.stack[VALIDITY_ROW, top] = IS_NULL
        elif formula.is_held:
            self.held_values[top] = value
            self.stack[VALIDITY_ROW, top] = HELD_BY_PYTHON
        else:
            self.stack[VALIDITY_ROW, top] = IS_VALID
            self.stack[BITS_ROW, top] = formula.encode(value)
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
        """Return a function that reads a list of the current call.

        The formula gets the number of the list, and `lists`, in which it looks up the rows.

        Args:
            offset: how far above `top` the number of the list is.
        """
        stack = self.stack
        return lambda: (stack.item(BITS_ROW, self.top + offset), self.lists)

    def make_value_reader(self, offset: int, decode: Decode) -> Evaluate:
        """Return a function that reads a value of the current call from the stack.

        Args:
            offset: how far above `top` the value is.
            decode: makes the value from its bits.
        """
        stack = self.stack

        def read() -> Value:
            """Return the Python value of the stack entry; None for NULL."""
            index = self.top + offset
            validity = stack.item(VALIDITY_ROW, index)
            if validity == HELD_BY_PYTHON:
                return self.held_values[index]
            return None if validity == IS_NULL else decode(stack.item(BITS_ROW, index))

        return read

    # Lists.

    def append(self, form_number: int, list_number: int, row: int) -> int:
        """Append a row to a list, and return the number of the longer list.

        A new search start drops all lists.
        """
        if list_number == 0:
            search_start = self.find_search_start()
            if search_start != self.search_start:
                self.search_start = search_start
                self.lists.clear()
        return self.lists.append(list_number, form_number, row)

    def find_live_list_numbers(self) -> list[int]:
        """Return the numbers of the lists that runs can have.

        Some of these lists can be dead, because registers that no run uses any more keep the number
        of the list that an earlier run had.
        """
        numbers: list[int] = np.unique(self.read_registers()[:, self.list_registers]).tolist()
        return numbers

    def make_value_function(self, value: ListedValue, code_range: CodeRange) -> ComputeKept:
        """Return a function that computes a value of a row, in the form in which a list keeps it.

        Args:
            value: the value. It is an expression, not just a column.
            code_range: the range of the instructions that compute it.
        """
        decode = make_decoder(value.type, value.expression, self.source)
        read = self.make_value_reader(0, decode if is_kept_as_value(value) else int)
        columns = self.source.columns
        mathematics = find_python_function(self.mathematics)

        def compute_value(row: int) -> Value:
            """Return the value on a row, or raise the error that evaluating it raises."""
            # Instructions that read the match number add 1 to the number of matches so far.
            progress = ListedRowProgress(
                partition_begin=0,
                partition_end=columns.shape[1],
                match_number=self.find_match_number() - 1,
            )
            inputs = MachineInput(columns, self.source.valid, mathematics, self.answer, progress)
            # The kernel function runs in Python here. The value that it leaves on the stack and
            # errors matter; whether it returns HOLDS or HOLDS_NOT does not.
            with let_integers_wrap():
                status = evaluate_condition(
                    self.instructions, *code_range, NO_REGISTERS, row, inputs, self.stack
                )
            if status in ERROR_MESSAGES:
                raise AnsiError(ERROR_MESSAGES[status])
            if status == FUNCTION_FAILED:
                raise self.get_failure()
            self.top = 0
            return read()

        return compute_value
