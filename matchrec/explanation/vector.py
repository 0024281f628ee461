"""The computation state of a run: the value vector V, and in which states it is still needed.

Source: SASE+, "Basic algorithm" (V) and "Merging equivalent runs" (the bitmasks M).
"""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_never

from matchrec.compile.executable import Executable
from matchrec.conditions.row_column import show_column
from matchrec.dataclass import dataclass
from matchrec.engine.compiled import compile_task
from matchrec.engine.interface import Task
from matchrec.evaluate import instructions as op
from matchrec.evaluate.link import LinkedConditions
from matchrec.evaluate.meanings import (
    Count,
    FirstRow,
    FirstVariable,
    LastRow,
    LastVariable,
    Listed,
    ListedColumn,
    ListedValue,
    Meaning,
    Members,
    RecentVariable,
    Reduced,
)
from matchrec.explanation.drawing.repeats import said_once
from matchrec.nfa.program import StateId


def vector_lines(executable: Executable) -> Iterator[str]:
    """Each value with the conditions that read it; then for each state those still needed."""
    task = executable.task
    compiled = compile_task(task, len(executable.crossing.integers))
    if compiled.linked is None or not compiled.linked.meanings:
        return
    held = (*executable.crossing.integers, *executable.crossing.floats)
    columns = [show_column(executable.crossing.columns[index]) for index in held]
    vector = Vector(task, compiled.linked, columns)
    yield from vector.values()
    program = task.pattern.program
    needed: dict[StateId, set[str]] = {}
    for place, state in enumerate(task.pattern.folding.states):
        if place >= task.pattern.folding.starts and state != program.final:
            needed.setdefault(state, set()).update(vector.needed(place))
    for state, values in said_once(needed, program):
        in_order = sorted(values, key=lambda name: int(name[1:]))  # V2 before V10
        listed = " ".join(in_order) or "nothing"
        yield f"in state {program.named(state)}: {listed}"


@dataclass(frozen=True, slots=True)
class Vector:
    """The registers of a task, in words. columns: texts of those that run conditions read."""

    task: Task
    linked: LinkedConditions
    columns: list[str]

    def values(self) -> Iterator[str]:
        """A line for each value."""
        for name, (register, meaning) in self.named().items():
            readers = [
                variable.removeprefix(":")  # of a test of stages
                for variable, reads in zip(self.task.variables, self.linked.reads, strict=True)
                if register in reads
            ]
            used = f", for {', '.join(readers)}" if readers else ", for other values"
            yield f"{name} = {self.show(register, meaning)}{used}"

    def needed(self, state: int) -> list[str]:
        """The values that are live in a folded state."""
        begin, end = self.linked.live_first[state : state + 2]
        live = set(self.linked.live_registers[begin:end].tolist())
        return [name for name, (register, _) in self.named().items() if register in live]

    def named(self) -> dict[str, tuple[int, Meaning]]:
        """V1, V2, ..., each with its first register, in the order of these."""
        meanings = sorted(self.linked.meanings, key=lambda one: one[0])
        return {f"V{i}": one for i, one in enumerate(meanings, 1)}

    def show(self, register: int, meaning: Meaning) -> str:
        """What a value is: operation, column, variables."""
        match meaning:
            case LastRow(members, offset):
                back = f", {offset} before it" if offset else ""
                return (
                    f"set {self.read_through(register)} of the last row of {self.of(members)}{back}"
                )
            case FirstRow(members, offset):
                on = f", {offset} after it" if offset else ""
                return (
                    f"set {self.read_through(register)} of the first row of {self.of(members)}{on}"
                )
            case RecentVariable(distance):
                return f"set the variable of the row {distance} before the last one"
            case LastVariable(members, offset, physical):
                return f"set the variable at {physical:+d} from LAST({self.of(members)}, {offset})"
            case FirstVariable(members, offset, physical):
                return f"set the variable at {physical:+d} from FIRST({self.of(members)}, {offset})"
            case Count(members, column, so_far):
                counted = "*" if column is None else self.columns[column]
                return f"count {counted} of {self.of(members)}{without_last(so_far)}"
            case Reduced(function, members, column, _, so_far):
                what = f"{function.value} {self.columns[column]}"
                return f"{what} of {self.of(members)}{without_last(so_far)}"
            case Listed(members, forms, so_far):
                values = dict.fromkeys(self.listed(one) for form in forms for one in form[1:])
                listed = ", ".join(values)
                return f"list {listed} of {self.of(members)}{without_last(so_far)}"
            case _:
                assert_never(meaning)

    def listed(self, one: ListedColumn | ListedValue) -> str:
        """What a row of a list has; where MATCH_NUMBER() is in it, what that is combined with."""
        if isinstance(one, ListedColumn):
            return self.columns[one.column]
        begin, end = self.linked.computed_code[one.place]
        code = self.linked.instructions[begin:end].tolist()
        read = dict.fromkeys(self.columns[step[1]] for step in code if step[0] == op.READ)
        return " with ".join(("MATCH_NUMBER()", *read))

    def of(self, members: Members) -> str:
        """The name of variables, or all of theirs."""
        states = self.task.pattern.program.states
        every = {edge.variable for state in states for edge in state.edges}
        named = [name for name, ids in self.task.members.items() if ids == members]
        if not named and members >= every - {None}:
            return "any variable"
        return named[0] if named else "|".join(self.task.variables[one] for one in sorted(members))

    def read_through(self, register: int) -> str:
        """The columns that conditions read at a row whose position is in a register."""
        operation, column, position = self.linked.all_code[:, :3].T
        read = column[(operation == op.READ) & (position == register)]
        return ", ".join(dict.fromkeys(self.columns[one] for one in read.tolist())) or "position"


def without_last(so_far: object) -> str:
    """That the current row is left out."""
    return ", so far" if so_far else ""
