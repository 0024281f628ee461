"""Say which values a run stores, and in which states they are still needed.

    V1 = sum of c0 over the rows of A; read by B
    state B needs: V1

These are the value vector V of a run and the bitmasks M of states. A value is kept in a register,
or in two; here it is known by the first one.

Source: SASE+, "Basic algorithm" (V) and "Merging equivalent runs" (M).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from typing_extensions import assert_never

from matchrec.automaton.program import StateId
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate import registers
from matchrec.conditions.evaluate.link import LinkedConditions
from matchrec.conditions.row_column import show_column
from matchrec.explain.layout import limit_lines
from matchrec.plan.expression import End
from matchrec.search.compiled_task import compile_task
from matchrec.search.task import Task


def describe_registers(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield a line for each value with the conditions that read it, then one for each state.

    The line of a state has the values that are still needed in it.
    """
    task = compiled_query.task
    linked = compile_task(task, len(compiled_query.sent_columns.integers)).linked
    if linked is None or not linked.meanings:
        return
    run_columns = (*compiled_query.sent_columns.integers, *compiled_query.sent_columns.floats)
    columns = [show_column(compiled_query.sent_columns.columns[index]) for index in run_columns]
    describer = RegisterDescriber(task, linked, columns)
    meanings = dict(sorted(linked.meanings, key=lambda value: value[0]))
    names = {register: f"V{number}" for number, register in enumerate(meanings, 1)}
    for register, meaning in meanings.items():
        readers = list_readers(register, task, linked)
        use = f"; read by {', '.join(readers)}" if readers else "; used by other values"
        yield f"{names[register]} = {describer.show(register, meaning)}{use}"
    yield from limit_lines(iterate_needed_values(names, task, linked), "more states")


def list_readers(register: int, task: Task, linked: LinkedConditions) -> list[str]:
    """Return the variables whose conditions read a register."""
    return [
        name.removeprefix(":")  # of the test of a stage
        for name, registers_read in zip(task.variables, linked.reads, strict=True)
        if register in registers_read
    ]


def iterate_needed_values(
    names: Mapping[int, str], task: Task, linked: LinkedConditions
) -> Iterator[str]:
    """Yield a line for each state in which runs wait: the values that are still needed in it.

    Args:
        names: the names of the values, `V1`, `V2`, ..., by their first registers, in order.
        task: the task of the search.
        linked: its conditions.
    """
    program, folding = task.pattern.program, task.pattern.folding
    # Several folded states can stand for the same state of the program.
    live_registers: dict[StateId, set[int]] = {}
    for index, state in enumerate(folding.states):
        if index < folding.start_count or state == program.final:
            continue
        begin, end = linked.live_first[index : index + 2]
        live_registers.setdefault(state, set()).update(linked.live_registers[begin:end].tolist())
    for state in sorted(live_registers):
        needed = [name for register, name in names.items() if register in live_registers[state]]
        yield f"state {program.name_state(state)} needs: {' '.join(needed) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class RegisterDescriber:
    """Describes in words the values that a run keeps in its registers."""

    task: Task
    linked: LinkedConditions
    # The texts of the columns that conditions on the run read.
    columns: list[str]

    def show(self, register: int, meaning: registers.Meaning) -> str:
        """Return a description of a value: its operation, its column and its variables.

        Args:
            register: the first register of the value.
            meaning: what it holds.
        """
        match meaning:
            case registers.RowRegister(end, members, offset):
                end_row = f"the {end.value.lower()} row of {self.name(members)}"
                side = "after" if end is End.FIRST else "before"
                row = f"its row {offset} {side} {end_row}" if offset else end_row
                return f"{self.read_through(register)} on {row}"
            case registers.VariableRegister(registers.RowRegister(end, members, offset), physical):
                row = f"{end.value}({self.name(members)}, {offset})"
                return f"variable of the row at {physical:+d} from {row}"
            case registers.AggregateRegister(function, _, column):
                operation = "count"
                if column is not None:
                    operation = f"{function.value} of {self.columns[column]}"
                return f"{operation} over {self.name_rows(meaning)}"
            case registers.ListRegister(_, forms):
                listed_values = [value for form in forms for value in form[1:]]
                texts = dict.fromkeys(map(self.show_listed_value, listed_values))
                return f"list of {', '.join(texts)} over {self.name_rows(meaning)}"
            case _:
                assert_never(meaning)

    def name_rows(self, meaning: registers.AggregateRegister | registers.ListRegister) -> str:
        """Return which rows an aggregate or a list is over."""
        rows_so_far = " so far" if meaning.excludes_current_row else ""
        return f"the rows of {self.name(meaning.members)}{rows_so_far}"

    def show_listed_value(self, value: registers.ListedValue) -> str:
        """Return the columns of a value that is kept for each row: `MATCH_NUMBER() with price`."""
        columns = list(dict.fromkeys(self.columns[column] for column in value.columns))
        if value.column is None:  # the value contains MATCH_NUMBER(), which is not a column
            columns.insert(0, "MATCH_NUMBER()")
        return " with ".join(columns)

    def name(self, members: registers.Members) -> str:
        """Return the name of some variables, or "any variable" for all of them."""
        for name, ids in self.task.members.items():
            if ids == members:
                return name
        states = self.task.pattern.program.states
        all_variables = {edge.variable for state in states for edge in state.edges}
        if members >= all_variables - {None}:
            return "any variable"
        return "|".join(self.task.variables[variable] for variable in sorted(members))

    def read_through(self, register: int) -> str:
        """Return the columns that conditions read on the row whose position is in a register."""
        operation, column, position = self.linked.all_code[:, :3].T
        is_read = (operation == op.READ) & (position == register)
        columns = dict.fromkeys(self.columns[index] for index in column[is_read].tolist())
        return ", ".join(columns) or "position"
