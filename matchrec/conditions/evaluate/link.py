"""Link the conditions of a query into the arrays that `evaluate.kernels.machine` runs on.

A register is live in a state if a condition may still read it before it is overwritten. Registers
that are not live do not tell two runs in the state apart, and need not be updated on the way to it.

Source: SASE+, "Merging equivalent runs" (the bitmasks M); data-flow analysis, live variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.code import ConditionCompiler, Instruction
from matchrec.conditions.evaluate.kernels.machine import IntArray
from matchrec.conditions.evaluate.registers import (
    ListedValue,
    Meaning,
    Members,
    Registers,
    RegisterStep,
    RowForm,
)
from matchrec.conditions.run_condition import PythonExpression, RunExpression

RegisterSet = frozenset[int]


@dataclass(frozen=True, slots=True)
class Move:
    """A choice that maps a row to a variable, and leads from one state to another."""

    # The state from which it leads.
    source: int
    # The variable to which the row is mapped.
    variable: int
    # The state to which it leads.
    target: int
    # The variable whose condition must hold for the row once it is mapped.
    test: int


def find_live_registers(
    moves: Sequence[Move],
    steps: Sequence[tuple[RegisterStep, ...]],
    reads: Sequence[RegisterSet],
    tested: Sequence[Sequence[int]],
) -> list[RegisterSet]:
    """Return the live registers of each state.

    Args:
        moves: all moves.
        steps: for each variable, the steps that are applied when a row is mapped to it.
        reads: for each variable, the registers that its condition reads.
        tested: for each state, the variables whose conditions are evaluated on a run in it.
    """
    live = [set[int]().union(*(reads[variable] for variable in variables)) for variables in tested]
    dependences_by_variable = [find_dependences(variable_steps) for variable_steps in steps]
    moves_into: list[list[Move]] = [[] for _ in tested]
    waiting = [(state, register) for state, registers in enumerate(live) for register in registers]

    def require_after(move: Move, register: int) -> None:
        """Make live what a register depends on that is read after the row of a move is mapped."""
        needed = dependences_by_variable[move.variable].get(register, {register})
        for earlier in needed - live[move.source]:
            live[move.source].add(earlier)
            waiting.append((move.source, earlier))

    for move in moves:
        moves_into[move.target].append(move)
        for register in reads[move.test]:
            require_after(move, register)
    while waiting:
        state, register = waiting.pop()
        for move in moves_into[state]:
            require_after(move, register)
    return [frozenset(registers) for registers in live]


def find_dependences(steps: tuple[RegisterStep, ...]) -> dict[int, RegisterSet]:
    """Return, for each register that steps write, on which registers its value depends.

    These are the registers as they are before the steps.

    >>> from matchrec.conditions.evaluate import instructions as op
    >>> find_dependences((RegisterStep(op.COPY, 1, 0), RegisterStep(op.SET_ROW, 0)))
    {1: frozenset({0}), 0: frozenset()}
    """
    sources: dict[int, RegisterSet] = {}
    for step in steps:
        read = [sources.get(register, frozenset({register})) for register in step.reads]
        sources |= dict.fromkeys(step.writes, frozenset().union(*read))
    return sources


def select_useful_steps(
    steps: tuple[RegisterStep, ...], after: RegisterSet
) -> tuple[RegisterStep, ...]:
    """Return the steps that the registers of `after` depend on, in the same order."""
    useful = []
    needed = set(after)
    for step in reversed(steps):
        if not needed.isdisjoint(step.writes):
            needed.difference_update(step.writes)
            needed.update(step.reads)
            useful.append(step)
    return tuple(reversed(useful))


# Begin and end of code or steps among the instructions.
CodeRange = tuple[int, int]
# The form of a row in a list, each value with its code.
CodedForm = tuple[tuple[ListedValue, CodeRange], ...]


@dataclass(frozen=True)
class LinkedConditions:
    """The conditions of a query, as arrays."""

    # int64[k, 5]: the code of conditions, the code of values in lists, then the steps of moves.
    instructions: IntArray
    # The steps of each move.
    steps: tuple[CodeRange, ...]
    # The code of each variable's condition; empty if it has none.
    code: tuple[CodeRange, ...]
    # int64[r]: the registers before the first row.
    initial: IntArray
    # int64[s + 1]: the live registers of state s are live_registers[live_first[s] :
    # live_first[s + 1]].
    live_first: IntArray
    live_registers: IntArray
    # The most values that are on the stack at once.
    depth: int
    # Registers and their meanings. If a meaning has two registers, the first one is here.
    meanings: tuple[tuple[int, Meaning], ...]
    # The registers that each variable's condition reads.
    reads: tuple[RegisterSet, ...]
    # What Python computes; its number is the argument of CALL.
    calls: tuple[PythonExpression, ...]
    # The forms of rows in lists; the number of a form is the argument of APPEND.
    forms: tuple[CodedForm, ...]

    @property
    def all_code(self) -> IntArray:
        """Return the code of all conditions."""
        return self.instructions[: self.code[-1][1]]

    @cached_property
    def operations(self) -> frozenset[int]:
        """Return the operations of all conditions. Cached, as searches read it for each batch."""
        return frozenset(self.all_code[:, 0].tolist())

    @cached_property
    def functions(self) -> frozenset[int]:
        """Return the functions that MATHEMATICS calls, in conditions and lists.

        Steps are among the instructions, too, but none has the number of MATHEMATICS.
        """
        code = self.instructions
        return frozenset(code[code[:, 0] == op.MATHEMATICS, 1].tolist())


def link_conditions(
    conditions: Sequence[RunExpression | None],
    members: Mapping[str, Members],
    integers: int,
    moves: Sequence[Move],
    tested: Sequence[Sequence[int]],
) -> LinkedConditions:
    """Link the conditions of a query.

    Args:
        conditions: for each variable, the part of its condition that depends on the run.
        members: for the name of each variable, the ids of its primary variables.
        integers: the number of integer columns.
        moves: all moves.
        tested: for each state, variables whose conditions are evaluated on a run in it, before a
            row is mapped or because the run may be a match. The conditions of moves are evaluated
            after their row is mapped.
    """
    registers = Registers(frozenset(move.variable for move in moves))
    writer = _CodeWriter(members, registers, integers)
    variable_by_test = {move.test: move.variable for move in moves}
    reads = [
        writer.write(variable_by_test.get(test, test), condition)
        for test, condition in enumerate(conditions)
    ]
    steps = registers.build_steps(len(conditions))
    live = find_live_registers(moves, steps, reads, tested)
    steps_by_move = [
        select_useful_steps(steps[move.variable], reads[move.test] | live[move.target])
        for move in moves
    ]
    forms = tuple(writer.write_form(form) for form in list(registers.form_numbers))
    step_ranges = tuple(_append_steps(writer.instructions, steps_by_move))
    all_live = [register for state_registers in live for register in sorted(state_registers)]
    return LinkedConditions(
        instructions=np.array(writer.instructions, np.int64).reshape(-1, 5),
        steps=step_ranges,
        code=tuple(writer.ranges[: len(conditions)]),
        initial=np.array(registers.initial, np.int64),
        live_first=np.cumsum([0, *map(len, live)]).astype(np.int64),
        live_registers=np.array(all_live, np.int64),
        depth=max(end - begin for begin, end in writer.ranges),
        meanings=tuple((number, meaning) for meaning, number in registers.by_meaning.items()),
        reads=tuple(reads),
        calls=tuple(writer.calls),
        forms=forms,
    )


@dataclass(frozen=True, slots=True)
class _CodeWriter:
    """Writes the code of one expression after the other, with its range."""

    # For the name of each variable, the ids of its primary variables.
    members: Mapping[str, Members]
    registers: Registers
    # The number of integer columns.
    integers: int
    instructions: list[Instruction] = field(default_factory=list)
    calls: list[PythonExpression] = field(default_factory=list)
    # The range of each expression.
    ranges: list[CodeRange] = field(default_factory=list)

    def write(self, variable: int, expression: RunExpression | None) -> RegisterSet:
        """Append the code of an expression, and return the registers that it reads.

        Args:
            variable: the variable to which the candidate row is mapped, or -1 if there is none.
            expression: the expression; None has no code.
        """
        compiler = ConditionCompiler(
            variable, self.members, self.registers, self.integers, self.calls, self.instructions
        )
        begin = len(self.instructions)
        if expression is not None:
            compiler.add(expression)
        self.ranges.append((begin, len(self.instructions)))
        return frozenset(compiler.reads)

    def write_form(self, form: RowForm) -> CodedForm:
        """Append the code of the values that a row adds to a list."""
        coded_values = []
        for value in form:
            self.write(-1, value.expression)
            coded_values.append((value, self.ranges[-1]))
        return tuple(coded_values)


def _append_steps(
    instructions: list[Instruction], steps_by_move: Sequence[tuple[RegisterStep, ...]]
) -> Iterator[CodeRange]:
    """Append the steps of each move, and yield where they are. Moves share equal steps."""
    ranges: dict[tuple[RegisterStep, ...], CodeRange] = {}
    for steps in steps_by_move:
        if steps not in ranges:
            ranges[steps] = (len(instructions), len(instructions) + len(steps))
            instructions += steps
        yield ranges[steps]
