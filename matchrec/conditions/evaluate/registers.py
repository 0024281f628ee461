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
class RowOf:
    """The position of a row that is mapped to one of the members.

    It is `offset` rows after the first such row, or before the last one. The position is negative
    if there is no such row; it is -1 if rows are counted from the last one.
    """

    end: End
    members: Members
    offset: int

    @property
    def before(self) -> RowOf:
        """Return the register that held this row before the next row was mapped.

        The row must be counted from the last one. Its offset was one less then.
        """
        return replace(self, offset=self.offset - 1)


@dataclass(frozen=True, slots=True)
class VariableOfRow:
    """The variable of the row that is `physical` rows after `row`; -1 outside of the match."""

    row: RowOf
    physical: int


@dataclass(frozen=True, slots=True)
class ListedValue:
    """A value that a row adds to a list."""

    expression: RunExpression
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
class Reduced:
    """An aggregate of the rows mapped to `members`.

    - COUNT: the number of rows, or of rows with a value in the column. One register.
    - SUM, MIN and MAX: a flag and the value. Two registers.
    - With forms: a list of the rows, by the number that `python_calls.Lists` gave it. One register.
    """

    function: Reduction
    members: Members
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
        of_integers = op.SUM_INTEGER + 2 * _REDUCING.index(self.function)
        return of_integers + (self.kind is Kind.FLOATING)


# The aggregates in the order of their operations. Each has an operation for integers, then one for
# floats.
_REDUCING = (Reduction.SUM, Reduction.MIN, Reduction.MAX)
Meaning = RowOf | VariableOfRow | Reduced


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

    def find_or_add(self, meaning: Meaning) -> int:
        """Return the register of a meaning.

        If there is none yet, add it, and before it the registers that its steps read.
        """
        waiting = [meaning]
        while waiting:
            missing = [read for read in self._list_needed(waiting[-1]) if read not in self.numbers]
            if missing:
                waiting += reversed(missing)
                continue
            ready = waiting.pop()
            if ready not in self.numbers:
                self.numbers[ready] = len(self.initial)
                self.initial.extend(_list_initial_values(ready))
        return self.numbers[meaning]

    def _list_needed(self, meaning: Meaning) -> Iterator[Meaning]:
        """Yield the meanings of the registers that the steps of another one read."""
        match meaning:
            case RowOf(End.LAST, offset=offset) if offset > 0:
                yield meaning.before
            case VariableOfRow(RowOf(end, offset=offset) as row, physical):
                if end is End.LAST and offset > 0:
                    yield replace(meaning, row=row.before)
                if physical > 0 or end is End.FIRST:
                    yield row
                if physical < 0:
                    yield self.make_recent_variable(-physical)
            case Reduced(excludes_current_row=True):
                yield make_last_row(meaning.members)
            case _:
                return

    def list_steps(self, variables: int) -> list[tuple[RegisterStep, ...]]:
        """Return the steps to apply when a row is mapped to a variable, for each variable.

        Steps are in the order of `_phase`: chains of last rows shift from their far end, and a step
        that reads a position comes after the step that sets it.

        Args:
            variables: the number of variables.
        """
        steps: list[list[RegisterStep]] = [[] for _ in range(variables)]
        for meaning in sorted(self.numbers, key=_phase):
            for variable in range(variables):
                steps[variable].extend(self._list_register_steps(meaning, variable))
        return [tuple(steps_of_variable) for steps_of_variable in steps]

    def _list_register_steps(self, meaning: Meaning, variable: int) -> Iterator[RegisterStep]:
        """Yield the steps that update one register when a row is mapped to a variable."""
        register = self.numbers[meaning]
        match meaning:
            case RowOf(end, members, offset) if variable in members:
                if end is End.FIRST:
                    yield RegisterStep(op.COUNT_DOWN, register)
                elif offset > 0:
                    yield RegisterStep(op.COPY, register, self.numbers[meaning.before])
                else:
                    yield RegisterStep(op.SET_ROW, register)
            case VariableOfRow():
                yield from self._list_variable_steps(meaning, variable)
            case Reduced(members=members, column=column, forms=forms) if variable in members:
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

    def make_recent_variable(self, distance: int) -> VariableOfRow:
        """Return the variable of the row that is `distance` rows before the one mapped last."""
        return VariableOfRow(RowOf(End.LAST, self.every, distance), 0)

    def _list_variable_steps(self, meaning: VariableOfRow, variable: int) -> Iterator[RegisterStep]:
        """Yield the steps that update the variable of a row."""
        register = self.numbers[meaning]
        row = meaning.row
        physical = meaning.physical
        is_first = row.end is End.FIRST
        is_member = variable in row.members
        if is_member and not is_first and row.offset > 0:
            yield RegisterStep(op.COPY, register, self.numbers[replace(meaning, row=row.before)])
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
        case RowOf(End.FIRST, offset=offset):
            return [-1 - offset]
        case Reduced():
            return [0, 0] if meaning.operation >= op.SUM_INTEGER else [0]
        case _:
            return [-1]


def _phase(meaning: Meaning) -> tuple[int, int]:
    """Return a sort key for the steps of a row. They are taken in this order:

    1. aggregates that exclude the current row: they read the position of the last row before it
       changes;
    2. positions, the far ends of chains first;
    3. variables of last rows, the far ends of chains first;
    4. all others.
    """
    match meaning:
        case Reduced(excludes_current_row=True):
            return -1, 0
        case RowOf(end, offset=offset):
            return 0, -offset if end is End.LAST else 0
        case VariableOfRow(RowOf(End.LAST, offset=offset)):
            return 1, -offset
        case _:
            return 2, 0


def make_last_row(members: Members) -> RowOf:
    """Return the meaning of the position of the row that was mapped last to one of the members."""
    return RowOf(End.LAST, members, 0)
