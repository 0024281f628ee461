"""Say which values a run stores, and in which states they are still needed.

    V1 = sum of c0 over the rows of A; read by B
    state B needs: V1

These are the value vector V of a run and the bitmasks M of states. A run stores its values in
registers: most values in one, some in two. A value is identified by its first register.

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
    sent_columns = compiled_query.sent_columns
    linked = compile_task(task, len(sent_columns.integer_columns)).linked_conditions
    if linked is None or not linked.meanings:
        return
    # The code of conditions has an index into these two lists together.
    run_columns = (*sent_columns.integer_columns, *sent_columns.float_columns)
    columns = [show_column(sent_columns.columns[index]) for index in run_columns]
    describer = RegisterDescriber(task, linked, columns)
    meanings = dict(sorted(linked.meanings, key=lambda value: value[0]))
    names = {register: f"V{number}" for number, register in enumerate(meanings, 1)}
    for register, meaning in meanings.items():
        readers = list_readers(register, task, linked)
        use = f"; read by {', '.join(readers)}" if readers else "; used by other values"
        yield f"{names[register]} = {describer.describe(register, meaning)}{use}"
    yield from limit_lines(describe_needed_values(names, task, linked), "more states")


def list_readers(register: int, task: Task, linked: LinkedConditions) -> list[str]:
    """Return the variables whose conditions read a register."""
    return [
        name.removeprefix(":")  # of the test of a stage
        for name, registers_read in zip(task.variables, linked.registers_read, strict=True)
        if register in registers_read
    ]


def describe_needed_values(
    names: Mapping[int, str], task: Task, linked: LinkedConditions
) -> Iterator[str]:
    """Yield a line for each state in which runs wait: the values that are still needed in it.

    Args:
        names: the names of the values, `V1`, `V2`, ..., by their first registers, in order.
        task: the task of the search.
        linked: its conditions.
    """
    program = task.pattern.program
    live_registers = find_live_registers(task, linked)
    for state in sorted(live_registers):
        needed = [name for register, name in names.items() if register in live_registers[state]]
        yield f"state {program.name_state(state)} needs: {' '.join(needed) or 'nothing'}"


def find_live_registers(task: Task, linked: LinkedConditions) -> dict[StateId, set[int]]:
    """Return the registers that are still needed in each state in which runs wait for a row.

    Several states of the folding can stand for the same state of the program. Runs do not wait in
    the first states of the folding, in which they begin, nor in the final state.
    """
    folding = task.pattern.folding
    live_registers: dict[StateId, set[int]] = {}
    for folded_state in range(folding.start_count, len(folding.states)):
        state = folding.states[folded_state]
        if state == task.pattern.program.final:
            continue
        begin = linked.live_first[folded_state]
        end = linked.live_first[folded_state + 1]
        live_registers.setdefault(state, set()).update(linked.live_registers[begin:end].tolist())
    return live_registers


@dataclass(frozen=True, slots=True)
class RegisterDescriber:
    """A describer of the values that a run keeps in its registers, in words."""

    # The task of the search, and its conditions.
    task: Task
    linked: LinkedConditions
    # The texts of the columns that conditions on the run read, by the indices in their code.
    columns: list[str]

    def describe(self, register: int, meaning: registers.Meaning) -> str:
        """Return a description of a value: its operation, its column and its variables.

        Args:
            register: the first register of the value.
            meaning: what it holds.
        """
        match meaning:
            case registers.RowRegister():
                return f"{self.list_columns_read(register)} on {self.describe_row(meaning)}"
            case registers.VariableRegister():
                row = meaning.row
                call = f"{row.end.value}({self.name_variables(row.members)}, {row.offset})"
                return f"variable of the row at {meaning.physical_offset:+d} from {call}"
            case registers.AggregateRegister(function, _, column):
                operation = "count"
                if column is not None:
                    operation = f"{function.value} of {self.columns[column]}"
                return f"{operation} over {self.describe_rows(meaning)}"
            case registers.ListRegister():
                values = ", ".join(self.list_listed_values(meaning))
                return f"list of {values} over {self.describe_rows(meaning)}"
            case _:
                assert_never(meaning)

    def describe_row(self, row: registers.RowRegister) -> str:
        """Return which row a register refers to: `its row 1 before the last row of A`."""
        end_row = f"the {row.end.value.lower()} row of {self.name_variables(row.members)}"
        if not row.offset:
            return end_row
        side = "after" if row.end is End.FIRST else "before"
        return f"its row {row.offset} {side} {end_row}"

    def list_columns_read(self, register: int) -> str:
        """Return the columns that conditions read on the row whose position is in a register."""
        code = self.linked.all_code
        is_read = (code[:, op.OPERATION] == op.READ) & (code[:, op.ARGUMENT_B] == register)
        read_columns = code[is_read, op.ARGUMENT_A].tolist()
        columns = dict.fromkeys(self.columns[index] for index in read_columns)
        return ", ".join(columns) or "position"

    def describe_rows(self, meaning: registers.AggregateRegister | registers.ListRegister) -> str:
        """Return which rows an aggregate or a list is over."""
        so_far = " so far" if meaning.excludes_current_row else ""
        return f"the rows of {self.name_variables(meaning.members)}{so_far}"

    def list_listed_values(self, rows: registers.ListRegister) -> list[str]:
        """Return the values that a list has of each row, each once.

        The first value of a form is left out: it only says whether the row counts.
        """
        values = [value for form in rows.forms for value in form[1:]]
        return list(dict.fromkeys(self.describe_listed_value(value) for value in values))

    def describe_listed_value(self, value: registers.ListedValue) -> str:
        """Return the columns of a value that is kept for each row: `MATCH_NUMBER() with price`."""
        columns = list(dict.fromkeys(self.columns[column] for column in value.columns))
        if value.column is None:  # the value contains MATCH_NUMBER(), which is not a column
            columns.insert(0, "MATCH_NUMBER()")
        return " with ".join(columns)

    def name_variables(self, members: registers.Members) -> str:
        """Return the name of some variables, or "any variable" for all of them."""
        for name, ids in self.task.members.items():
            if ids == members:
                return name
        states = self.task.pattern.program.states
        all_variables = {edge.variable for state in states for edge in state.edges}
        if members >= all_variables - {None}:
            return "any variable"
        return "|".join(self.task.variables[variable] for variable in sorted(members))
