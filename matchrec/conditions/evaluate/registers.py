"""Find the registers that the conditions of a query need, and the steps that update them.

A register is identified by the meaning of its value (`Meaning`), so conditions that read the same
value share one register. `PREV(LAST(A.x), 1)` and `LAST(A.y, 1)` need these registers, which have
the following steps when a row is mapped to A:

    COPY r1 from r0    r1: position of the row of A before the last one
    SET_ROW r0         r0: position of the last row of A

The step of r1 comes first, because it reads r0 as it was before. `_StepPhase` has the order of all
steps.

1. `ConditionCompiler` calls `Registers.find_or_add_register` for each meaning that a condition
   reads.
2. When all conditions are compiled, `Registers.build_steps` returns the steps of all registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import NamedTuple

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.run_condition import ReadValue, Reduction, RunExpression
from matchrec.conditions.types import Kind, ValueType
from matchrec.plan.expression import End

# The ids of the primary variables of a variable.
Members = frozenset[int]


@dataclass(frozen=True, slots=True)
class RowRegister:
    """The meaning of a register: the position of a row that is mapped to one of the members.

    The row is `offset` rows after the first such row, or before the last such row. As long as there
    is no such row, the register is negative: -1 if rows are counted from the last row; otherwise
    -1 - n, where n further rows of the members must come before the row.
    """

    # From which end the rows of the members are counted.
    end: End
    # The variables to which the row can be mapped.
    members: Members
    # How many rows of the members are between that end and the row.
    offset: int

    @property
    def previous(self) -> RowRegister:
        """Return the meaning whose register held this row before the last row was mapped.

        Only for rows that are counted from the last one, with an offset above 0. Before the last
        row was mapped, the offset of the row was one less.
        """
        return replace(self, offset=self.offset - 1)


@dataclass(frozen=True, slots=True)
class VariableRegister:
    """The meaning of a register: the variable of the row at a distance from another row.

    The register has the id of the variable to which this row is mapped, or -1 if the match has no
    row there. `PREV(CLASSIFIER(A))` reads the register for the last row of A and the physical
    offset -1.
    """

    # The row from which rows of the partition are counted.
    row: RowRegister
    # How many rows after that row; negative for rows before it.
    physical_offset: int


@dataclass(frozen=True, slots=True)
class AggregateRegister:
    """The meaning of one or two registers: an aggregate over the rows mapped to `members`.

    - COUNT: the number of rows, or of rows with a value in the column. One register.
    - SUM, MIN and MAX: a flag and the value. Two registers.
    """

    # The aggregate function. It is not AVG, which is a SUM and a COUNT.
    function: Reduction
    # The variables whose rows are aggregated.
    members: Members
    # The index of the column among all columns, integer columns first; None if rows are counted.
    column: int | None
    # The kind of the column. INTEGER if rows or values are counted, because one register serves
    # both kinds.
    kind: Kind = Kind.INTEGER
    # Whether the last of these rows is left out. It is the current row, because only conditions of
    # the members read such an aggregate.
    excludes_current_row: bool = False

    @property
    def operation(self) -> int:
        """Return the operation of the step that adds a row."""
        if self.function is Reduction.COUNT:
            return op.ADD_ONE if self.column is None else op.ADD_VALID
        return _REDUCING_OPERATIONS[self.function, self.kind]


_REDUCING_OPERATIONS = {
    (Reduction.SUM, Kind.INTEGER): op.SUM_INTEGER,
    (Reduction.SUM, Kind.FLOATING): op.SUM_FLOAT,
    (Reduction.MIN, Kind.INTEGER): op.MIN_INTEGER,
    (Reduction.MIN, Kind.FLOATING): op.MIN_FLOAT,
    (Reduction.MAX, Kind.INTEGER): op.MAX_INTEGER,
    (Reduction.MAX, Kind.FLOATING): op.MAX_FLOAT,
}


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


# The form of a row in a list: the values that a row adds to the list if it is mapped to a certain
# variable. The first value says whether the row counts at all.
RowForm = tuple[ListedValue, ...]


@dataclass(frozen=True, slots=True)
class ListRegister:
    """The meaning of a register: a list of the rows mapped to `members`, see `lists.Lists`."""

    # The variables whose rows are listed.
    members: Members
    # For each variable, what its rows add to the list: see `run_condition.PythonAggregate`.
    forms: tuple[RowForm, ...]
    # Whether the current row is left out, as in `AggregateRegister`.
    excludes_current_row: bool = False


# The meaning of the value in a register, or in two registers.
Meaning = RowRegister | VariableRegister | AggregateRegister | ListRegister


class RegisterStep(NamedTuple):
    """A row of the array of steps: an operation and its arguments, see `instructions`."""

    operation: int
    a: int
    b: int = 0
    c: int = 0
    d: int = 0

    @property
    def registers_written(self) -> tuple[int, ...]:
        """Return the registers that the step changes."""
        return (self.a, self.a + 1) if op.changes_two_registers(self.operation) else (self.a,)

    @property
    def registers_read(self) -> tuple[int, ...]:
        """Return the registers whose former values matter to what the step writes."""
        match self.operation:
            case op.SET_ROW | op.SET:
                return ()
            case op.COPY:
                return (self.b,)
            case op.COUNT_DOWN:
                return (self.a,)
            case op.COPY_AT:
                return (self.a, self.b, self.c)
            case op.SET_AT:
                return (self.a, self.b)
            case _:  # a step of an aggregate, which can add the row of another register
                row_register = (self.c - 1,) if self.c > 0 else ()
                return (*self.registers_written, *row_register)


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers that conditions have needed so far. `find_or_add_register` adds registers."""

    # Ids of all variables.
    all_variables: Members
    # The number of the register with each meaning; if a meaning has two, of the first one.
    numbers_by_meaning: dict[Meaning, int] = field(default_factory=dict)
    # The value of each register before the first row of a run.
    initial_values: list[int] = field(default_factory=list)
    # The numbers of the forms of rows in lists.
    form_numbers: dict[RowForm, int] = field(default_factory=dict)

    def find_or_add_register(self, meaning: Meaning) -> int:
        """Return the number of the register with a meaning.

        If there is no such register yet, add it, and before it the registers that its steps read.
        """
        # A stack instead of recursion, because LAST(A.x, 1000) needs a chain of 1001 registers.
        needed = [meaning]
        while needed:
            missing = [
                dependency
                for dependency in self._find_dependencies(needed[-1])
                if dependency not in self.numbers_by_meaning
            ]
            if missing:
                needed += reversed(missing)
                continue
            ready = needed.pop()
            if ready not in self.numbers_by_meaning:
                self._add_register(ready)
        return self.numbers_by_meaning[meaning]

    def _add_register(self, meaning: Meaning) -> None:
        """Add the register, or the two registers, with a meaning."""
        self.numbers_by_meaning[meaning] = len(self.initial_values)
        self.initial_values.extend(_find_initial_values(meaning))
        if isinstance(meaning, ListRegister):
            for variable in sorted(meaning.members):
                self.form_numbers.setdefault(meaning.forms[variable], len(self.form_numbers))

    def _find_dependencies(self, meaning: Meaning) -> Iterator[Meaning]:
        """Yield the meanings of the registers that the steps of a meaning read."""
        match meaning:
            case RowRegister(End.LAST, offset=offset) if offset > 0:
                yield meaning.previous
            case VariableRegister(RowRegister(end, offset=offset) as row, physical_offset):
                if end is End.LAST and offset > 0:
                    yield replace(meaning, row=row.previous)
                if physical_offset > 0 or end is End.FIRST:
                    yield row
                if physical_offset < 0:
                    yield self._make_recent_variable(-physical_offset)
            case (
                AggregateRegister(excludes_current_row=True)
                | ListRegister(excludes_current_row=True)
            ):
                yield make_last_row_register(meaning.members)
            case _:
                return

    def list_meanings(self) -> tuple[tuple[int, Meaning], ...]:
        """Return the number of each register with its meaning, in the order of the numbers.

        If a meaning has two registers, only the first one is listed.
        """
        return tuple((number, meaning) for meaning, number in self.numbers_by_meaning.items())

    def build_steps(self, variable_count: int) -> list[tuple[RegisterStep, ...]]:
        """Return for each variable the steps to apply when a row is mapped to it, in their order.

        Args:
            variable_count: the number of variables, whose ids are 0 to variable_count - 1.
        """
        steps: list[list[RegisterStep]] = [[] for _ in range(variable_count)]
        for meaning in sorted(self.numbers_by_meaning, key=_make_step_key):
            for variable in range(variable_count):
                steps[variable].extend(self._build_register_steps(meaning, variable))
        return [tuple(variable_steps) for variable_steps in steps]

    def _build_register_steps(self, meaning: Meaning, variable: int) -> Iterator[RegisterStep]:
        """Yield the steps for the register of a meaning when a row is mapped to a variable."""
        number = self.numbers_by_meaning[meaning]
        if isinstance(meaning, VariableRegister):
            yield from self._build_variable_steps(meaning, variable)
            return
        if variable not in meaning.members:
            return
        match meaning:
            case RowRegister(End.FIRST):
                yield RegisterStep(op.COUNT_DOWN, number)
            case RowRegister(End.LAST, offset=0):
                yield RegisterStep(op.SET_ROW, number)
            case RowRegister():
                yield RegisterStep(op.COPY, number, self.numbers_by_meaning[meaning.previous])
            case AggregateRegister(column=column):
                counted_row = self._find_counted_row(meaning)
                yield RegisterStep(meaning.operation, number, column or 0, counted_row)
            case ListRegister(forms=forms):
                counted_row = self._find_counted_row(meaning)
                form = self.form_numbers[forms[variable]]
                yield RegisterStep(op.APPEND, number, form, counted_row)

    def _find_counted_row(self, meaning: AggregateRegister | ListRegister) -> int:
        """Return which row a step adds, as the argument c of the step: see `instructions`.

        0 is the row that is mapped now. r + 1 is the row whose position is in register r.
        """
        if not meaning.excludes_current_row:
            return 0
        return self.numbers_by_meaning[make_last_row_register(meaning.members)] + 1

    def _build_variable_steps(
        self, meaning: VariableRegister, variable: int
    ) -> Iterator[RegisterStep]:
        """Yield the steps that update the variable of a row when a row is mapped to a variable.

        The register has the variable of its target, the row at `physical_offset` from
        `meaning.row`. There are two reasons for a step:

        1. The row mapped now changes which row `meaning.row` is, and so which row is the target.
        2. The row mapped now is the target itself.
        """
        number = self.numbers_by_meaning[meaning]
        row = meaning.row
        offset = meaning.physical_offset
        is_member = variable in row.members
        can_be_target = offset > 0
        if row.end is End.FIRST:
            if is_member and offset < 0:
                recent = self.numbers_by_meaning[self._make_recent_variable(-offset)]
                yield RegisterStep(op.COPY_AT, number, recent, self.numbers_by_meaning[row])
            # With offset 0, the target is the first row itself, which can be mapped now.
            can_be_target |= is_member and offset == 0
        elif is_member:
            if row.offset > 0:
                previous = replace(meaning, row=row.previous)
                yield RegisterStep(op.COPY, number, self.numbers_by_meaning[previous])
            elif offset < 0:
                recent = self.numbers_by_meaning[self._make_recent_variable(-offset)]
                yield RegisterStep(op.COPY, number, recent)
            else:
                # A row after the last one is not mapped yet.
                yield RegisterStep(op.SET, number, variable if offset == 0 else -1)
        if can_be_target:
            yield RegisterStep(op.SET_AT, number, self.numbers_by_meaning[row], offset, variable)

    def _make_recent_variable(self, distance: int) -> VariableRegister:
        """Return the meaning "the variable of the row `distance` rows before the last one"."""
        return VariableRegister(RowRegister(End.LAST, self.all_variables, distance), 0)


def _find_initial_values(meaning: Meaning) -> list[int]:
    """Return the values of the registers of a meaning before the first row."""
    match meaning:
        case RowRegister(End.FIRST, offset=offset):
            return [-1 - offset]
        case AggregateRegister():
            return [0, 0] if op.changes_two_registers(meaning.operation) else [0]
        case ListRegister():
            return [0]  # the empty list
        case _:
            return [-1]


class _StepPhase(IntEnum):
    """The order of the steps that are applied when a row is mapped."""

    # Aggregates and lists without the current row: they read the position of the last row before it
    # changes.
    ADD_PREVIOUS_ROW = 1
    # Positions of rows.
    POSITIONS = 2
    # Variables of rows that are counted from the last one.
    LAST_VARIABLES = 3
    # Variables of rows that are counted from the first one: they read the two phases before.
    # Aggregates and lists with the current row, which read no register of another meaning.
    OTHERS = 4


def _make_step_key(meaning: Meaning) -> tuple[_StepPhase, int]:
    """Return the key by which the registers are sorted, in the order of their steps.

    Within a phase, the far end of a chain of last rows comes first, because each of its registers
    takes over the former value of the next one.
    """
    match meaning:
        case AggregateRegister(excludes_current_row=True) | ListRegister(excludes_current_row=True):
            return _StepPhase.ADD_PREVIOUS_ROW, 0
        case RowRegister(end, offset=offset):
            return _StepPhase.POSITIONS, -offset if end is End.LAST else 0
        case VariableRegister(RowRegister(End.LAST, offset=offset)):
            return _StepPhase.LAST_VARIABLES, -offset
        case _:
            return _StepPhase.OTHERS, 0


def make_last_row_register(members: Members) -> RowRegister:
    """Return the meaning of the position of the row that was mapped last to one of the members."""
    return RowRegister(End.LAST, members, 0)
