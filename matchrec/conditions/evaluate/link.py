"""Link the conditions of a query: put their code and steps into arrays for `kernels.machine`.

A condition on the run is compiled to *instructions* of a stack machine. They read *registers*:
numbers that each run carries along, such as the sum of A.x so far. *Steps* update the registers
when a row is mapped: each *move*, from one state to another, has its own. Linking puts all of this
into one array, and notes the range of each part:

    | code of conditions | code of values in lists | steps of moves |
      code_ranges          forms                     step_ranges

A register is *live* in a state if a condition can still read it before it is overwritten. Two runs
in a state whose live registers are equal have the same future, so such runs can be merged. If no
register is live in a state, its failures can be remembered: see `search.kernels.memo`. A step is
dropped if no condition can read what it writes.

Source: SASE+, "Merging equivalent runs" (the bitmasks M); data-flow analysis, live variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.code import ConditionCompiler, Instruction
from matchrec.conditions.evaluate.registers import (
    ListedValue,
    Meaning,
    Members,
    Registers,
    RegisterStep,
    RowForm,
)
from matchrec.conditions.run_condition import PythonExpression, RunExpression
from matchrec.jit.array_types import IntArray

RegisterSet = frozenset[int]


@dataclass(frozen=True, slots=True)
class Move:
    """A choice that maps a row to a variable: what linking needs of a `folding.Choice`."""

    # The state from which it leads.
    source: int
    # The variable to which the row is mapped.
    variable: int
    # The state to which it leads.
    target: int
    # The variable whose condition must hold for the row once it is mapped.
    tested_variable: int


def compute_live_registers(
    moves: Sequence[Move],
    steps: Sequence[tuple[RegisterStep, ...]],
    registers_read: Sequence[RegisterSet],
    tested_variables: Sequence[Sequence[int]],
) -> list[RegisterSet]:
    """Return the live registers of each state.

    A register is live in a state for one of three reasons:

    1. a condition that is evaluated on runs in the state reads it;
    2. the condition of a move from the state needs it: the condition reads it, or reads a register
       that the steps of the move compute from it;
    3. the target of a move from the state needs it: it is live in the target, or a register is live
       there that the steps of the move compute from it.

    Args:
        moves: all moves of the query; states are numbered from 0.
        steps: for each variable, the steps that are applied when a row is mapped to it.
        registers_read: for each variable, the registers that its condition reads.
        tested_variables: for each state, the variables whose conditions are evaluated on a run in
            it.
    """
    live: list[set[int]] = [set() for _ in tested_variables]
    dependencies_by_variable = [find_dependencies(variable_steps) for variable_steps in steps]

    def find_needed_before(move: Move, register: int) -> RegisterSet:
        """Return the registers before a move on which a register after the move depends."""
        return dependencies_by_variable[move.variable].get(register, frozenset({register}))

    # Pairs of a state and a register that is live in it, but not in `live` yet.
    pending: list[tuple[int, int]] = []
    for state, variables in enumerate(tested_variables):  # reason 1
        for variable in variables:
            pending += [(state, register) for register in registers_read[variable]]
    for move in moves:  # reason 2
        for register in registers_read[move.tested_variable]:
            pending += [(move.source, needed) for needed in find_needed_before(move, register)]

    moves_into: list[list[Move]] = [[] for _ in tested_variables]
    for move in moves:
        moves_into[move.target].append(move)
    while pending:
        state, register = pending.pop()
        if register in live[state]:
            continue
        live[state].add(register)
        for move in moves_into[state]:  # reason 3
            pending += [(move.source, needed) for needed in find_needed_before(move, register)]
    return [frozenset(registers) for registers in live]


def find_dependencies(steps: tuple[RegisterStep, ...]) -> dict[int, RegisterSet]:
    """Map each register that the steps write to the registers on which its new value depends.

    The latter are the registers as they are before the steps. In the example, r1 becomes what r0
    was, and then r0 becomes the position of the row.

    >>> from matchrec.conditions.evaluate import instructions as op
    >>> find_dependencies((RegisterStep(op.COPY, 1, 0), RegisterStep(op.SET_ROW, 0)))
    {1: frozenset({0}), 0: frozenset()}
    """
    dependencies: dict[int, RegisterSet] = {}
    for step in steps:
        needed: set[int] = set()
        for register in step.registers_read:
            needed |= dependencies.get(register, {register})
        for register in step.registers_written:
            dependencies[register] = frozenset(needed)
    return dependencies


def select_useful_steps(
    steps: tuple[RegisterStep, ...], registers_used: RegisterSet
) -> tuple[RegisterStep, ...]:
    """Return the steps that compute the registers used afterwards, in the same order.

    >>> from matchrec.conditions.evaluate import instructions as op
    >>> steps = (RegisterStep(op.COPY, 1, 0), RegisterStep(op.SET_ROW, 0))
    >>> select_useful_steps(steps, frozenset({0})) == steps[1:]
    True
    """
    useful = []
    needed = set(registers_used)
    for step in reversed(steps):
        if not needed.isdisjoint(step.registers_written):
            needed.difference_update(step.registers_written)
            needed.update(step.registers_read)
            useful.append(step)
    return tuple(reversed(useful))


class CodeRange(NamedTuple):
    """A range of instructions: of some code, or of some steps. It is empty if there are none."""

    begin: int
    end: int  # the index after the last instruction


# The form of a row in a list, each value with its code.
CodedForm = tuple[tuple[ListedValue, CodeRange], ...]


@dataclass(frozen=True)
class LinkedConditions:
    """The conditions of a query, as arrays."""

    # int64[k, 5]: the code of conditions, the code of values in lists, then the steps of moves.
    instructions: IntArray
    # The range of the steps of each move.
    step_ranges: tuple[CodeRange, ...]
    # The range of the code of each variable's condition; an empty range if it has none.
    code_ranges: tuple[CodeRange, ...]
    # int64[r]: the registers before the first row.
    initial_registers: IntArray
    # int64[s + 1], for s states: the live registers of state i are
    # live_registers[live_first[i] : live_first[i + 1]], in ascending order.
    live_first: IntArray
    live_registers: IntArray
    # The number of values for which the machine's stack needs room.
    stack_size: int
    # Pairs of a register and its meaning; of two registers with one meaning, the first.
    meanings: tuple[tuple[int, Meaning], ...]
    # The registers that each variable's condition reads.
    registers_read: tuple[RegisterSet, ...]
    # The expressions that Python computes; the index of one is an argument of CALL.
    python_calls: tuple[PythonExpression, ...]
    # The forms of rows in lists; the index of a form is an argument of APPEND.
    forms: tuple[CodedForm, ...]

    @property
    def all_code(self) -> IntArray:
        """Return the code of all conditions."""
        return self.instructions[: self.code_ranges[-1].end]

    @cached_property
    def operations(self) -> frozenset[int]:
        """Return the operations of all conditions. Cached, because it is read for each batch."""
        return frozenset(self.all_code[:, op.OPERATION].tolist())

    @cached_property
    def functions(self) -> frozenset[int]:
        """Return the functions that MATHEMATICS calls, in conditions and lists.

        Steps are among the instructions, too, but no step has the operation number of MATHEMATICS.
        """
        is_mathematics = self.instructions[:, op.OPERATION] == op.MATHEMATICS
        return frozenset(self.instructions[is_mathematics, op.ARGUMENT_A].tolist())

    def find_failing_operation_index(self, variable: int, index: int) -> int | None:
        """Return which of the operations of a condition that can fail an instruction computes.

        The result is an index into `code.list_failing_operations`. In `A.x + 1 > A.y * 2`, the
        instruction that multiplies gives 1, because the addition comes before it.

        Args:
            variable: the id of the variable.
            index: the index of the instruction.

        Returns:
            The index, or None if the instruction cannot fail or belongs to another condition.
        """
        begin, end = self.code_ranges[variable]
        if not begin <= index < end:
            return None
        code = self.instructions[begin : index + 1]
        operations = code[:, op.OPERATION]
        functions = code[:, op.ARGUMENT_A]
        is_arithmetic = (operations == op.MATHEMATICS) & (functions >= op.ARITHMETIC)
        can_fail = is_arithmetic | np.isin(operations, (op.REDUCED, op.AVERAGE))
        return int(can_fail.sum()) - 1 if can_fail[-1] else None


def link_conditions(
    conditions: Sequence[RunExpression | None],
    members_by_name: Mapping[str, Members],
    integer_count: int,
    moves: Sequence[Move],
    tested_variables: Sequence[Sequence[int]],
) -> LinkedConditions:
    """Link the conditions of a query.

    1. Compile the conditions, which finds the registers that they read.
    2. Find the steps that update these registers when a row is mapped to a variable.
    3. Find the live registers of each state, and drop the steps of moves that do not matter.

    Args:
        conditions: for each variable, the part of its condition that depends on the run; at least
            one variable.
        members_by_name: for the name of each variable, the ids of its primary variables.
        integer_count: the number of integer columns.
        moves: all moves of the query; states are numbered from 0.
        tested_variables: for each state, variables whose conditions are evaluated on a run in it,
            before a row is mapped or because the run is a possible match. The conditions of moves
            are evaluated after their row is mapped.
    """
    registers = Registers(frozenset(move.variable for move in moves))
    writer = _CodeWriter(members_by_name, registers, integer_count)
    mapped_variable_by_test = find_mapped_variables(conditions, moves)
    registers_read = [
        writer.append_expression(mapped_variable_by_test.get(variable, variable), condition)
        for variable, condition in enumerate(conditions)
    ]
    code_ranges = tuple(writer.ranges)

    steps = registers.build_steps(len(conditions))
    live = compute_live_registers(moves, steps, registers_read, tested_variables)
    steps_by_move = []
    for move in moves:
        registers_used = registers_read[move.tested_variable] | live[move.target]
        steps_by_move.append(select_useful_steps(steps[move.variable], registers_used))
    # The values of a list read only the listed row, so no registers are added after `build_steps`.
    forms = tuple(writer.append_form(form) for form in registers.form_numbers)
    step_ranges = _append_steps(writer.instructions, steps_by_move)
    live_registers = [register for registers in map(sorted, live) for register in registers]
    return LinkedConditions(
        instructions=np.array(writer.instructions, np.int64).reshape(-1, op.COLUMN_COUNT),
        step_ranges=step_ranges,
        code_ranges=code_ranges,
        initial_registers=np.array(registers.initial_values, np.int64),
        live_first=np.cumsum([0, *map(len, live)]).astype(np.int64),
        live_registers=np.array(live_registers, np.int64),
        # No instruction pushes more than one value.
        stack_size=max(end - begin for begin, end in writer.ranges),
        meanings=registers.list_meanings(),
        registers_read=tuple(registers_read),
        python_calls=tuple(writer.python_calls),
        forms=forms,
    )


def find_mapped_variables(
    conditions: Sequence[RunExpression | None], moves: Sequence[Move]
) -> dict[int, int]:
    """Return, for each variable that moves test, the variable to which these moves map their rows.

    It is nearly always the tested variable itself. But a variable may never get a row, because its
    condition only tests rows that are mapped to another variable. The condition is then compiled as
    if that other variable had it.
    """
    assert conditions, "there is a variable"
    mapped_variable_by_test: dict[int, int] = {}
    for move in moves:
        mapped_variable = mapped_variable_by_test.setdefault(move.tested_variable, move.variable)
        if conditions[move.tested_variable] is not None:
            assert mapped_variable == move.variable, "a condition tests rows of one variable"
    return mapped_variable_by_test


@dataclass(frozen=True, slots=True)
class _CodeWriter:
    """Writes the code of expressions one after the other, and notes the range of each."""

    # For the name of each variable, the ids of its primary variables.
    members_by_name: Mapping[str, Members]
    # The registers of all expressions. `append_expression` adds the registers that one reads.
    registers: Registers
    # The number of integer columns.
    integer_count: int
    # The code of all expressions.
    instructions: list[Instruction] = field(default_factory=list)
    # The calls of Python in the code.
    python_calls: list[PythonExpression] = field(default_factory=list)
    # The range of each expression.
    ranges: list[CodeRange] = field(default_factory=list)

    def append_expression(
        self, variable: int | None, expression: RunExpression | None
    ) -> RegisterSet:
        """Append the code and the range of an expression; return the registers that the code reads.

        The code's calls of Python are appended to `python_calls`.

        Args:
            variable: the variable to which the candidate row is mapped, or None if there is none.
            expression: the expression; None has no code.
        """
        compiler = ConditionCompiler(
            variable=variable,
            members=self.members_by_name,
            registers=self.registers,
            integer_count=self.integer_count,
            calls=self.python_calls,
            code=self.instructions,
        )
        begin = len(self.instructions)
        if expression is not None:
            compiler.compile(expression)
        self.ranges.append(CodeRange(begin, end=len(self.instructions)))
        return frozenset(compiler.registers_read)

    def append_form(self, form: RowForm) -> CodedForm:
        """Append the code of the values that a row adds to a list."""
        coded_values = []
        for value in form:
            self.append_expression(None, value.expression)
            coded_values.append((value, self.ranges[-1]))
        return tuple(coded_values)


def _append_steps(
    instructions: list[Instruction], steps_by_move: Sequence[tuple[RegisterStep, ...]]
) -> tuple[CodeRange, ...]:
    """Append the steps of each move, and return their ranges.

    Equal steps are appended once, and moves share their range.
    """
    ranges: dict[tuple[RegisterStep, ...], CodeRange] = {}
    for steps in steps_by_move:
        if steps not in ranges:
            begin = len(instructions)
            instructions += [Instruction(*step) for step in steps]
            ranges[steps] = CodeRange(begin, end=len(instructions))
    return tuple(ranges[steps] for steps in steps_by_move)
