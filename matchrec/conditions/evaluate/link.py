"""Links the conditions of a query into the arrays that `evaluate.kernels.machine` runs on.

A run still needs the registers that a condition may read before they are overwritten. Those that
are not live in a state neither tell two runs in it apart nor need to be kept on the way to it.

Source: SASE+, "Merging equivalent runs" (the bitmasks M); data-flow analysis, live variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.code import ConditionCompiler, Instruction
from matchrec.conditions.evaluate.kernels.machine import IntArray
from matchrec.conditions.evaluate.registers import ListedValue, Meaning, Members, Registers, Step
from matchrec.conditions.run_condition import Call, RunExpression

RegisterSet = frozenset[int]


@dataclass(frozen=True, slots=True)
class Move:
    """A choice that maps a row to `variable`: from `source` to `target`, states.

    test: the variable whose condition is asked of the row once it is mapped.
    """

    source: int
    variable: int
    target: int
    test: int


def live_registers(
    moves: Sequence[Move],
    steps: Sequence[tuple[Step, ...]],
    reads: Sequence[RegisterSet],
    asked: Sequence[Sequence[int]],
) -> list[RegisterSet]:
    """The live registers of every state. steps, reads: by variable. asked: by state."""
    live = [set[int]().union(*(reads[variable] for variable in asks)) for asks in asked]
    needed = [dependences(one) for one in steps]
    into: list[list[Move]] = [[] for _ in asked]
    waiting = [(state, register) for state, registers in enumerate(live) for register in registers]

    def need(move: Move, register: int) -> None:
        """A register is read once the row of a move is mapped."""
        for before in needed[move.variable].get(register, {register}) - live[move.source]:
            live[move.source].add(before)
            waiting.append((move.source, before))

    for move in moves:
        into[move.target].append(move)
        for register in reads[move.test]:
            need(move, register)
    while waiting:
        state, register = waiting.pop()
        for move in into[state]:
            need(move, register)
    return [*map(frozenset, live)]


def dependences(steps: tuple[Step, ...]) -> dict[int, RegisterSet]:
    """By register that the steps write, the registers before them on which its value depends."""
    found: dict[int, RegisterSet] = {}
    for step in steps:
        read = (found.get(register, frozenset({register})) for register in step.reads)
        found |= dict.fromkeys(step.writes, frozenset().union(*read))
    return found


def useful_steps(steps: tuple[Step, ...], after: RegisterSet) -> tuple[Step, ...]:
    """The steps without those that no register of `after` depends on."""
    found, needed = [], set(after)
    for step in reversed(steps):
        if not needed.isdisjoint(step.writes):
            needed.difference_update(step.writes)
            needed.update(step.reads)
            found.append(step)
    return tuple(reversed(found))


Range = tuple[int, int]
CodedForm = tuple[tuple[ListedValue, Range], ...]


@dataclass(frozen=True)
class LinkedConditions:
    """What depends on the run, as arrays.

    instructions: int64[k, 5], code of conditions, then steps of moves. steps: of each move, begin
    and end. code: of each variable's condition, empty without one. initial: int64[r], the registers
    before the first row. live_registers: of all states one after the other; those of state s are
    live_first[s] .. live_first[s + 1]. depth: values on the stack at once. meanings: of the
    registers, each by its first one. forms: of the rows in lists, each value with its code.
    """

    instructions: IntArray
    steps: tuple[Range, ...]
    code: tuple[Range, ...]
    initial: IntArray
    live_first: IntArray
    live_registers: IntArray
    depth: int
    meanings: tuple[tuple[int, Meaning], ...]
    reads: tuple[RegisterSet, ...]
    calls: tuple[Call, ...]
    forms: tuple[CodedForm, ...]

    @property
    def all_code(self) -> IntArray:
        return self.instructions[: self.code[-1][1]]

    @cached_property
    def operations(self) -> frozenset[int]:
        """Those that the code has; searches ask for them batch after batch."""
        return frozenset(self.all_code[:, 0].tolist())

    @cached_property
    def functions(self) -> frozenset[int]:
        """Those that MATHEMATICS calls; no step has its number."""
        code = self.instructions
        return frozenset(code[code[:, 0] == op.MATHEMATICS, 1].tolist())


def link_conditions(
    conditions: Sequence[RunExpression | None],
    members: Mapping[str, Members],
    integers: int,
    moves: Sequence[Move],
    asked: Sequence[Sequence[int]],
) -> LinkedConditions:
    """The arrays of conditions, by variable. integers: the number of integer columns.

    asked: by state, variables whose conditions are evaluated on a run in it: before a row is
    mapped, or as it may be a match. Those that move a run are otherwise evaluated after it.
    """
    registers = Registers(frozenset(move.variable for move in moves))
    mapped = {move.test: move.variable for move in moves}
    instructions, calls = list[Instruction](), list[Call]()
    code = list[Range]()

    def add(variable: int, expression: RunExpression | None) -> RegisterSet:
        """Append the code of an expression; the registers that it reads."""
        coder = ConditionCompiler(variable, members, registers, integers, calls, instructions)
        begin = len(instructions)
        if expression is not None:
            coder.add(expression)
        code.append((begin, len(instructions)))
        return frozenset(coder.reads)

    reads = [add(mapped.get(number, number), one) for number, one in enumerate(conditions)]
    steps = registers.steps(len(conditions))
    live = live_registers(moves, steps, reads, asked)
    of_moves = [
        useful_steps(steps[move.variable], reads[move.test] | live[move.target]) for move in moves
    ]
    listed = [value for form in registers.forms for value in form]
    for value in listed:
        add(-1, value.expression)
    coded = iter(zip(listed, code[len(conditions) :], strict=True))
    step_ranges = tuple(_append_steps(instructions, of_moves))
    return LinkedConditions(
        instructions=np.array(instructions, np.int64).reshape(-1, 5),
        steps=step_ranges,
        code=tuple(code[: len(conditions)]),
        initial=np.array(registers.initial, np.int64),
        live_first=np.cumsum([0, *map(len, live)]).astype(np.int64),
        live_registers=np.array([number for alive in live for number in sorted(alive)], np.int64),
        depth=max(end - begin for begin, end in code),
        meanings=tuple((number, meaning) for meaning, number in registers.numbers.items()),
        reads=tuple(reads),
        calls=tuple(calls),
        forms=tuple(tuple(islice(coded, len(form))) for form in registers.forms),
    )


def _append_steps(
    instructions: list[Instruction], of_moves: Sequence[tuple[Step, ...]]
) -> Iterator[Range]:
    """Append the steps of each move; where they are. Moves with the same ones share them."""
    known: dict[tuple[Step, ...], Range] = {}
    for steps in of_moves:
        if steps not in known:
            known[steps] = (len(instructions), len(instructions) + len(steps))
            instructions += steps
        yield known[steps]
