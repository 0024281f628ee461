"""Find the registers that the conditions of a query need, and the steps that update them.

A register is identified by the meaning of its value (`Meaning`), so conditions that read the same
value share one register.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.run_condition import ReadValue, Reduction, RunExpression
from matchrec.conditions.types import Kind, ValueType
from matchrec.plan.expression import End

Members = frozenset[int]  # variable ids


@dataclass(frozen=True, slots=True)
class RowRegister:
    """A register with the position of a row that is mapped to one of the members.

    The row is `offset` rows after the first such row, or before the last such row. The position is
    negative if there is no such row; it is -1 if rows are counted from the last row.
    """

    # From which end the rows of the members are counted.
    end: End
    # The variables to which the row may be mapped.
    members: Members
    # How many rows of the members are between that end and the row.
    offset: int

    @property
    def previous(self) -> RowRegister:
        """Return the register that held this row before the last row was mapped.

        Rows must be counted from the last one. The offset was one less then.
        """
        return replace(self, offset=self.offset - 1)


@dataclass(frozen=True, slots=True)
class VariableRegister:
    """A register with the variable of the row that is `physical` rows after `row`.

    It is -1 outside of the match.
    """

    # The row from which rows of the partition are counted.
    row: RowRegister
    # How many rows after it; negative for rows before it.
    physical: int


@dataclass(frozen=True, slots=True)
class ListedValue:
    """A value that a row adds to a list."""

    # Computes the value from the row.
    expression: RunExpression
    # The type of the value.
    type: ValueType
    # The columns that the expression reads, integer columns first, then floating ones.
    columns: tuple[int, ...]

    @property
    def column(self) -> int | None:
        """Return the column if the value is just that column, else None."""
        return self.columns[0] if isinstance(self.expression, ReadValue) else None


# The values that a row adds to a list. The first one says whether the row counts at all.
RowForm = tuple[ListedValue, ...]


@dataclass(frozen=True, slots=True)
class AggregateRegister:
    """One or two registers with an aggregate over the rows that are mapped to `members`.

    - COUNT: the number of rows, or of rows with a value in the column. One register.
    - SUM, MIN and MAX: a flag and the value. Two registers.
    - With forms: a list of the rows, by the number that `lists.Lists` gave it. One register.
    """

    # The aggregate function; COUNT for a list.
    function: Reduction
    # The variables whose rows are aggregated.
    members: Members
    # The number of the column among all columns; None if rows are counted or listed.
    column: int | None
    # The kind of the column.
    kind: Kind = Kind.INTEGER
    # Whether the last of these rows is left out.
    excludes_current_row: bool = False
    # For each variable, what its rows add to the list: see `run_condition.PythonAggregate`. It is
    # empty if the aggregate is not over a list.
    forms: tuple[RowForm, ...] = ()

    @property
    def operation(self) -> int:
        """Return the operation of the step that adds a row."""
        if self.forms:
            return op.APPEND
        if self.function is Reduction.COUNT:
            return op.ADD_ONE if self.column is None else op.ADD_VALID
        operation_on_integers = op.SUM_INTEGER + 2 * _REDUCING.index(self.function)
        return operation_on_integers + (self.kind is Kind.FLOATING)


# The aggregates in the order of their operations. Each has an operation for integers, then one for
# floats.
_REDUCING = (Reduction.SUM, Reduction.MIN, Reduction.MAX)

# The meaning of the value in a register, or in two registers.
Meaning = RowRegister | VariableRegister | AggregateRegister


class RegisterStep(NamedTuple):
    """A row of the array of steps, see `instructions`."""

    operation: int
    a: int
    b: int = 0
    c: int = 0
    d: int = 0

    @property
    def writes(self) -> tuple[int, ...]:
        """Return the registers that the step changes."""
        return (self.a, self.a + 1) if self.operation >= op.SUM_INTEGER else (self.a,)

    @property
    def reads(self) -> tuple[int, ...]:
        """Return the registers whose former values matter to what the step writes."""
        match self.operation:
            case op.SET_ROW | op.SET:
                return ()
            case operation if operation >= op.ADD_ONE and self.c > 0:
                return (*self.writes, self.c - 1)
            case op.COPY:
                return (self.b,)
            case op.COPY_AT:
                return (self.a, self.b, self.c)
            case op.SET_AT:
                return (self.a, self.b)
            case _:
                return self.writes


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers that conditions have needed so far."""

    # Ids of all variables.
    every: Members
    # The number of each register; if a meaning has two, of the first one.
    numbers: dict[Meaning, int] = field(default_factory=dict)
    # Values of the registers before the first row.
    initial: list[int] = field(default_factory=list)
    # Numbers of the forms of rows in lists.
    forms: dict[RowForm, int] = field(default_factory=dict)

    def find_register(self, meaning: Meaning) -> int:
        """Return the number of the register with a meaning.

        If there is no such register yet, add it, and before it the registers that its steps read.
        """
        waiting = [meaning]
        while waiting:
            missing = [
                read for read in self._list_dependences(waiting[-1]) if read not in self.numbers
            ]
            if missing:
                waiting += reversed(missing)
                continue
            ready = waiting.pop()
            if ready not in self.numbers:
                self.numbers[ready] = len(self.initial)
                self.initial.extend(_list_initial_values(ready))
        return self.numbers[meaning]

    def _list_dependences(self, meaning: Meaning) -> Iterator[Meaning]:
        """Yield the meanings of the registers that the steps of a meaning read."""
        match meaning:
            case RowRegister(End.LAST, offset=offset) if offset > 0:
                yield meaning.previous
            case VariableRegister(RowRegister(end, offset=offset) as row, physical):
                if end is End.LAST and offset > 0:
                    yield replace(meaning, row=row.previous)
                if physical > 0 or end is End.FIRST:
                    yield row
                if physical < 0:
                    yield self.make_recent_variable(-physical)
            case AggregateRegister(excludes_current_row=True):
                yield make_last_row(meaning.members)
            case _:
                return

    def list_steps(self, variables: int) -> list[tuple[RegisterStep, ...]]:
        """Return the steps to apply when a row is mapped to a variable, for each variable.

        Steps are in the order of `_make_step_key`: chains of last rows shift from their far end,
        and a step that reads a position comes after the step that sets it.

        Args:
            variables: the number of variables.
        """
        steps: list[list[RegisterStep]] = [[] for _ in range(variables)]
        for meaning in sorted(self.numbers, key=_make_step_key):
            for variable in range(variables):
                steps[variable].extend(self._list_register_steps(meaning, variable))
        return [tuple(variable_steps) for variable_steps in steps]

    def _list_register_steps(self, meaning: Meaning, variable: int) -> Iterator[RegisterStep]:
        """Yield the steps that update one register when a row is mapped to a variable."""
        register = self.numbers[meaning]
        match meaning:
            case RowRegister(end, members, offset) if variable in members:
                if end is End.FIRST:
                    yield RegisterStep(op.COUNT_DOWN, register)
                elif offset > 0:
                    yield RegisterStep(op.COPY, register, self.numbers[meaning.previous])
                else:
                    yield RegisterStep(op.SET_ROW, register)
            case VariableRegister():
                yield from self._list_variable_steps(meaning, variable)
            case AggregateRegister(members=members, column=column, forms=forms) if (
                variable in members
            ):
                column_or_form = column or 0
                if forms:
                    column_or_form = self.forms.setdefault(forms[variable], len(self.forms))
                # 0: the row that is mapped now counts. r + 1: the row whose position is in r.
                counted_row = (
                    self.numbers[make_last_row(members)] + 1 if meaning.excludes_current_row else 0
                )
                yield RegisterStep(meaning.operation, register, column_or_form, counted_row)
            case _:
                return

    def make_recent_variable(self, distance: int) -> VariableRegister:
        """Return the variable of the row that is `distance` rows before the one mapped last."""
        return VariableRegister(RowRegister(End.LAST, self.every, distance), 0)

    def _list_variable_steps(
        self, meaning: VariableRegister, variable: int
    ) -> Iterator[RegisterStep]:
        """Yield the steps that update the variable of a row."""
        register = self.numbers[meaning]
        row = meaning.row
        physical = meaning.physical
        is_first = row.end is End.FIRST
        is_member = variable in row.members
        if is_member and not is_first and row.offset > 0:
            yield RegisterStep(op.COPY, register, self.numbers[replace(meaning, row=row.previous)])
        elif is_member and physical < 0:
            recent = self.numbers[self.make_recent_variable(-physical)]
            if is_first:
                yield RegisterStep(op.COPY_AT, register, recent, self.numbers[row])
            else:
                yield RegisterStep(op.COPY, register, recent)
        elif is_member and not is_first:
            # The row after the last one is not mapped yet.
            yield RegisterStep(op.SET, register, -1 if physical > 0 else variable)
        if physical > 0 or (physical == 0 and is_first and is_member):
            yield RegisterStep(op.SET_AT, register, self.numbers[row], physical, variable)


def _list_initial_values(meaning: Meaning) -> list[int]:
    """Return the values of the registers of a meaning before the first row."""
    match meaning:
        case RowRegister(End.FIRST, offset=offset):
            return [-1 - offset]
        case AggregateRegister():
            return [0, 0] if meaning.operation >= op.SUM_INTEGER else [0]
        case _:
            return [-1]


def _make_step_key(meaning: Meaning) -> tuple[int, int]:
    """Return a sort key for the steps that are applied when a row is mapped. Their order is:

    1. aggregates that exclude the current row: they read the position of the last row before it
       changes;
    2. positions, the far ends of chains first;
    3. variables of last rows, the far ends of chains first;
    4. all others.
    """
    match meaning:
        case AggregateRegister(excludes_current_row=True):
            return -1, 0
        case RowRegister(end, offset=offset):
            return 0, -offset if end is End.LAST else 0
        case VariableRegister(RowRegister(End.LAST, offset=offset)):
            return 1, -offset
        case _:
            return 2, 0


def make_last_row(members: Members) -> RowRegister:
    """Return the meaning of the position of the row that was mapped last to one of the members."""
    return RowRegister(End.LAST, members, 0)
