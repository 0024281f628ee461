"""Which registers the conditions of a query need, and the steps that keep them up to date.

A condition asks for a register by what it means; one that several conditions read exists once.
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
    """Position of the row `offset` rows from the first or the last one mapped to `members`.

    -1 where there is none; of one counted from the first, some negative number.
    """

    end: End
    members: Members
    offset: int

    @property
    def before(self) -> RowOf:
        """Counted from the last one, the row that is so before the next row is mapped."""
        return replace(self, offset=self.offset - 1)


@dataclass(frozen=True, slots=True)
class VariableOfRow:
    """Variable of the row `physical` rows from another one, -1 outside of the match."""

    row: RowOf
    physical: int


@dataclass(frozen=True, slots=True)
class ListedValue:
    """A value of a list's row. columns: that the expression reads of the row, among all columns."""

    expression: RunExpression
    type: ValueType
    columns: tuple[int, ...]

    @property
    def column(self) -> int | None:
        """The column, if that is all that it is."""
        return self.columns[0] if isinstance(self.expression, ReadValue) else None


RowForm = tuple[ListedValue, ...]


@dataclass(frozen=True, slots=True)
class Reduced:
    """What the rows mapped to `members` come to: how many they are, or have a value in a column; a
    flag and a sum or an extreme, in two registers; or where there are forms, a list of the rows, by
    the number that Python knows it by.

    forms: by variable, what a row of it adds to the list: see `run_condition.Aggregated`. so_far:
    all but the last of these rows.
    """

    function: Reduction
    members: Members
    column: int | None
    kind: Kind = Kind.INTEGER
    so_far: bool = False
    forms: tuple[RowForm, ...] = ()

    @property
    def operation(self) -> int:
        if self.forms:
            return op.APPEND
        if self.function is Reduction.COUNT:
            return op.ADD_ONE if self.column is None else op.ADD_VALID
        return op.SUM_INTEGER + 2 * _ADDED.index(self.function) + (self.kind is Kind.FLOATING)


_ADDED = (Reduction.SUM, Reduction.MIN, Reduction.MAX)  # of integers, then of floats
Meaning = RowOf | VariableOfRow | Reduced


class Step(NamedTuple):
    operation: int
    a: int
    b: int = 0
    c: int = 0
    d: int = 0

    @property
    def writes(self) -> tuple[int, ...]:
        return (self.a, self.a + 1) if self.operation >= op.SUM_INTEGER else (self.a,)

    @property
    def reads(self) -> tuple[int, ...]:
        """Registers whose former value matters to what it writes."""
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
    """The registers asked for so far. every: ids of all variables. forms: of rows of lists."""

    every: Members
    numbers: dict[Meaning, int] = field(default_factory=dict)
    initial: list[int] = field(default_factory=list)
    forms: dict[RowForm, int] = field(default_factory=dict)

    def number(self, meaning: Meaning) -> int:
        """The register that holds `meaning`; those that its steps read exist too."""
        waiting = [meaning]
        while waiting:
            needed = [read for read in self._needed(waiting[-1]) if read not in self.numbers]
            if needed:
                waiting += reversed(needed)
                continue
            ready = waiting.pop()
            if ready not in self.numbers:
                self.numbers[ready] = len(self.initial)
                self.initial.extend(_initial(ready))
        return self.numbers[meaning]

    def _needed(self, meaning: Meaning) -> Iterator[Meaning]:
        match meaning:
            case RowOf(End.LAST, offset=offset) if offset > 0:
                yield meaning.before
            case VariableOfRow(RowOf(end, offset=offset) as row, physical):
                if end is End.LAST and offset > 0:
                    yield replace(meaning, row=row.before)
                if physical > 0 or end is End.FIRST:
                    yield row
                if physical < 0:
                    yield self.recent(-physical)
            case Reduced(so_far=True):
                yield last_row(meaning.members)
            case _:
                return

    def steps(self, variables: int) -> list[tuple[Step, ...]]:
        """What to do when a row is mapped to each of so many variables, in order.

        Chains of last rows shift from their far end; what reads a position comes after it.
        """
        found: list[list[Step]] = [[] for _ in range(variables)]
        for meaning in sorted(self.numbers, key=_phase):
            for variable in range(variables):
                found[variable].extend(self._steps(meaning, variable))
        return [tuple(steps) for steps in found]

    def _steps(self, meaning: Meaning, variable: int) -> Iterator[Step]:
        register = self.numbers[meaning]
        match meaning:
            case RowOf(end, members, offset) if variable in members:
                if end is End.FIRST:
                    yield Step(op.COUNT_DOWN, register)
                elif offset > 0:
                    yield Step(op.COPY, register, self.numbers[meaning.before])
                else:
                    yield Step(op.SET_ROW, register)
            case VariableOfRow():
                yield from self._variable(meaning, variable)
            case Reduced(members=members, column=added, forms=forms) if variable in members:
                if forms:
                    added = self.forms.setdefault(forms[variable], len(self.forms))
                row = self.numbers[last_row(members)] + 1 if meaning.so_far else 0
                yield Step(meaning.operation, register, added or 0, row)
            case _:
                return

    def recent(self, distance: int) -> VariableOfRow:
        """The variable of the row so many mapped rows before the one mapped last."""
        return VariableOfRow(RowOf(End.LAST, self.every, distance), 0)

    def _variable(self, meaning: VariableOfRow, variable: int) -> Iterator[Step]:
        register, row, physical = self.numbers[meaning], meaning.row, meaning.physical
        is_first, is_member = row.end is End.FIRST, variable in row.members
        if is_member and not is_first and row.offset > 0:
            yield Step(op.COPY, register, self.numbers[replace(meaning, row=row.before)])
        elif is_member and physical < 0:
            recent = self.numbers[self.recent(-physical)]
            copy = Step(op.COPY, register, recent)
            yield Step(op.COPY_AT, register, recent, self.numbers[row]) if is_first else copy
        elif is_member and not is_first:
            yield Step(op.SET, register, -1 if physical > 0 else variable)
        if physical > 0 or (physical == 0 and is_first and is_member):
            yield Step(op.SET_AT, register, self.numbers[row], physical, variable)


def _initial(meaning: Meaning) -> list[int]:
    match meaning:
        case RowOf(End.FIRST, offset=offset):
            return [-1 - offset]
        case Reduced():
            return [0, 0] if meaning.operation >= op.SUM_INTEGER else [0]
        case _:
            return [-1]


def _phase(meaning: Meaning) -> tuple[int, int]:
    """Sort key: positions, then variables of last rows, then what reads them; far ends first.

    What is so far reads the position of the last row before that becomes another.
    """
    match meaning:
        case Reduced(so_far=True):
            return -1, 0
        case RowOf(end, offset=offset):
            return 0, -offset if end is End.LAST else 0
        case VariableOfRow(RowOf(End.LAST, offset=offset)):
            return 1, -offset
        case _:
            return 2, 0


def last_row(members: Members) -> RowOf:
    return RowOf(End.LAST, members, 0)
