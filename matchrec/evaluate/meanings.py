"""What registers hold: a condition asks for one by what it means."""

from __future__ import annotations

from matchrec.conditions.operations import Reduction
from matchrec.conditions.types import Kind, ValueType
from matchrec.dataclass import dataclass

Members = frozenset[int]  # variable ids


@dataclass(frozen=True, slots=True)
class LastRow:
    """Position of the row `offset` before the last one mapped to `members`, or -1."""

    members: Members
    offset: int


@dataclass(frozen=True, slots=True)
class FirstRow:
    """Position of the row `offset` after the first one mapped to `members`, or negative."""

    members: Members
    offset: int


@dataclass(frozen=True, slots=True)
class RecentVariable:
    """Variable of the row `distance` before the row mapped last, or -1."""

    distance: int


@dataclass(frozen=True, slots=True)
class LastVariable:
    """Variable of the row `physical` rows from a LastRow, or -1 outside of the match."""

    members: Members
    offset: int
    physical: int


@dataclass(frozen=True, slots=True)
class FirstVariable:
    """Variable of the row `physical` rows from a FirstRow, or -1 outside of the match."""

    members: Members
    offset: int
    physical: int


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows are mapped to `members`, or have a value in a column.

    so_far: all but the last of these rows.
    """

    members: Members
    column: int | None
    so_far: bool = False


@dataclass(frozen=True, slots=True)
class Reduced:
    """A flag and a sum or an extreme, in two registers. so_far: of all rows but the last."""

    function: Reduction
    members: Members
    column: int
    kind: Kind
    so_far: bool = False


@dataclass(frozen=True, slots=True)
class ListedColumn:
    """A column of a list's rows, among all columns, and the type of its values."""

    column: int
    type: ValueType


@dataclass(frozen=True, slots=True)
class ListedValue:
    """What is computed of a list's row, among all that is, and the type of its values."""

    place: int
    type: ValueType


RowForm = tuple[ListedColumn | ListedValue, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of the rows mapped to `members`, by the number that Python knows it by.

    forms: by variable, what a row of it adds to the list: see `run_condition.Collect`. so_far: all
    but the last of these rows.
    """

    members: Members
    forms: tuple[RowForm, ...]
    so_far: bool = False


Meaning = (
    LastRow | FirstRow | RecentVariable | LastVariable | FirstVariable | Count | Reduced | Listed
)
