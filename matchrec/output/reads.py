"""The values that the output of a match is made of: one class for each kind, one column for each.

    MEASURES LAST(A.price) - FIRST(price) AS fall, COUNT(*) AS n

reads the last price of A, the first price of the match, and a number of rows. A worker fills a
column for each of these; the engine then computes what is written around them, here a difference.

Each class says what a reader of `explain` sees, the type of its values, and whether they may be
NULL. What fills its columns is registered for the class in `worker.gather`, so that no class
here needs Arrow, and no worker needs PySpark. A column of the input is named by its index among the
columns that were computed before the match.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

from matchrec.conditions.aggregate_table import find_entry
from matchrec.conditions.functions.function import AggregateUse
from matchrec.conditions.run_condition import Reduction
from matchrec.plan import show
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import Navigation, Semantics
from matchrec.plan.totals import TotalAggregate

# Types of values, in terms of the input's columns; `spark.read_types` has the types of these.


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column of the input."""

    column: int


@dataclass(frozen=True, slots=True)
class SumType:
    """The type of Spark's sum of a column."""

    column: int


@dataclass(frozen=True, slots=True)
class ListType:
    """An array of a column's values, without NULL."""

    column: int


@dataclass(frozen=True, slots=True)
class RowsType:
    """An array of structs: the values of columns, then the variable and the position of a row."""

    columns: tuple[int, ...]
    names: tuple[str, ...]


class NamedType(Enum):
    """A type that does not depend on the input."""

    TEXT = "string"
    NUMBER = "bigint"
    TRUTH = "boolean"
    DOUBLE = "double"
    INTEGERS = "array<int>"


@dataclass(frozen=True, slots=True)
class TotalType:
    """The type of an aggregate over all matches."""

    aggregate: TotalAggregate
    measure: ReadType | None  # the type of the measure; None for a count of matches


ReadType = ColumnType | SumType | ListType | RowsType | NamedType | TotalType


@dataclass(frozen=True, slots=True)
class Nullability:
    """The facts that decide whether a value may be NULL."""

    columns: tuple[bool, ...]  # whether each column of the input may be NULL
    has_rows_without_match: bool  # whether unmatched rows or unfinished matches are output


@dataclass(frozen=True, slots=True)
class RowList:
    """A list of rows whose values an output row holds in an array, such as for `collect_list`."""

    variable: str | None  # the variable whose rows these are; None for all rows of the match
    columns: tuple[int, ...]
    semantics: Semantics  # up to the current row, or all


class Read(ABC):
    """A value that the output is made of: one column of what a worker returns."""

    __slots__ = ()

    @property
    @abstractmethod
    def type(self) -> ReadType:
        """Return the type of the values."""

    @abstractmethod
    def show(self, columns: Sequence[str]) -> str:
        """Return the read as one would write it in MEASURES.

        Args:
            columns: the texts of the columns that the engine computed before the match.
        """

    def may_be_null(self, nullability: Nullability) -> bool:
        """Return whether a value may be NULL, as the engine declares the same value."""
        return True

    @property
    def can_read_chains(self) -> bool:
        """Return whether it can be read from chains: matches that share their rows.

        A sum can be read from chains only if it is the same in any order of additions. Workers find
        that out from the values.
        """
        return False

    @property
    def row_list(self) -> RowList | None:
        """Return the rows whose values it holds in an array; None if it holds no array of rows."""
        return None

    @property
    def value_column(self) -> int | None:
        """Return the column whose values are returned unchanged; None for a computed value."""
        return None


# Values of rows of a match: the row that a navigation finds, the output row's own, all rows.


@dataclass(frozen=True, slots=True)
class ReadRow(Read):
    """The value of a column on the input row that the output row stands for."""

    column: int

    @property
    def type(self) -> ReadType:
        """Return the type of the column."""
        return ColumnType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the name of the column."""
        return columns[self.column]

    def may_be_null(self, nullability: Nullability) -> bool:
        """Return whether the column may be NULL in the input."""
        return nullability.columns[self.column]

    @property
    def can_read_chains(self) -> bool:
        """Return True: an output row stands for one input row, also if matches share rows."""
        return True

    @property
    def value_column(self) -> int | None:
        """Return the column whose value is read."""
        return self.column


@dataclass(frozen=True, slots=True)
class ReadAt(Read):
    """The value of a column on the row that a navigation finds: `LAST(A.price, 1)`."""

    column: int
    navigation: Navigation

    @property
    def type(self) -> ReadType:
        """Return the type of the column."""
        return ColumnType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the navigation as the user writes it, after its semantics."""
        text = show.show_navigation(self.navigation, columns[self.column])
        return f"{self.navigation.semantics.value} {text}"

    @property
    def can_read_chains(self) -> bool:
        """Return True: rows of a variable can be counted along the shared rows of a match."""
        return True

    @property
    def value_column(self) -> int | None:
        """Return the column whose value is read."""
        return self.column


@dataclass(frozen=True, slots=True)
class ReadClassifierAt(Read):
    """The name of the variable of the row that a navigation finds: `CLASSIFIER()`."""

    navigation: Navigation

    @property
    def type(self) -> ReadType:
        """Return the type of names."""
        return NamedType.TEXT

    def show(self, columns: Sequence[str]) -> str:
        """Return CLASSIFIER() with its navigation, after its semantics."""
        return f"{self.navigation.semantics.value} {show.show_classifier(self.navigation)}"

    @property
    def can_read_chains(self) -> bool:
        """Return whether the navigation has no physical offset, which may leave the match."""
        return not self.navigation.physical_offset


# The fields of a row of the match in `ReadRowsForSpark`, after the values of its columns.
VARIABLE_FIELD = "v"  # the name of the variable to which the row is mapped
POSITION_FIELD = "p"  # the position of the row in the match, from 0


def name_value_field(number: int) -> str:
    """Return the name of the field with the value of a column in `ReadRowsForSpark`.

    Args:
        number: the number of the column in `ReadRowsForSpark.columns`.
    """
    return f"c{number}"


@dataclass(frozen=True, slots=True)
class ReadRowsForSpark(Read):
    """An array of all rows of the match, as structs, over which Spark computes aggregates."""

    columns: tuple[int, ...]  # the columns of the input whose values are fields

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the fields: `c0`, `c1`, ..., then the variable and the position."""
        values = map(name_value_field, range(len(self.columns)))
        return (*values, VARIABLE_FIELD, POSITION_FIELD)

    @property
    def type(self) -> ReadType:
        """Return the type of an array of structs of the columns."""
        return RowsType(self.columns, self.names)

    def show(self, columns: Sequence[str]) -> str:
        """Return the text for `explain`."""
        return "the rows of the match"

    def may_be_null(self, nullability: Nullability) -> bool:
        """Return False: without rows, the array is empty."""
        return False

    @property
    def row_list(self) -> RowList | None:
        """Return the list of all rows of the match."""
        return RowList(None, self.columns, Semantics.FINAL)


# What an output row says of its match as a whole.


class ReadFact(Read):
    """A fact about the match of an output row. A subclass gives its type and what `explain` shows.

    It depends on no column of the input, so all objects of a subclass are equal.
    """

    __slots__ = ()

    fact_type: ClassVar[NamedType]
    shown_as: ClassVar[str]
    is_nullable: ClassVar[bool] = False

    @property
    def type(self) -> ReadType:
        """Return the type that the subclass gives."""
        return self.fact_type

    def show(self, columns: Sequence[str]) -> str:
        """Return the text that the subclass gives."""
        return self.shown_as

    def may_be_null(self, nullability: Nullability) -> bool:
        """Return whether the subclass says that the fact may be NULL."""
        return self.is_nullable


@dataclass(frozen=True, slots=True)
class ReadMatchNumber(ReadFact):
    """The number of the match in its partition: `MATCH_NUMBER()`."""

    fact_type = NamedType.NUMBER
    shown_as = "MATCH_NUMBER()"

    def may_be_null(self, nullability: Nullability) -> bool:
        """Return whether rows without a match are output, which have no number."""
        return nullability.has_rows_without_match

    @property
    def can_read_chains(self) -> bool:
        """Return True: the number belongs to the match, not to its rows."""
        return True


@dataclass(frozen=True, slots=True)
class ReadPosition(ReadFact):
    """The position in the match of the row that measures look from, from 0; -1 if it is empty."""

    fact_type = NamedType.NUMBER
    shown_as = "the position in the match"


@dataclass(frozen=True, slots=True)
class ReadIsMatched(ReadFact):
    """A truth value: whether the row belongs to a match, even an empty one."""

    fact_type = NamedType.TRUTH
    shown_as = "whether the row is matched"


@dataclass(frozen=True, slots=True)
class ReadKind(ReadFact):
    """The kind of the match: a match, or the reason why a run ended without one.

    `automaton.run_endings` lists the kinds.
    """

    fact_type = NamedType.NUMBER
    shown_as = "the type of the match"
    is_nullable = True


@dataclass(frozen=True, slots=True)
class ReadNothing(ReadFact):
    """The value TRUE, for a query that reads nothing else: no row is sent without a column."""

    fact_type = NamedType.TRUTH
    shown_as = "nothing"

    @property
    def can_read_chains(self) -> bool:
        """Return True: no row of the match is read."""
        return True


class PointerField(Enum):
    """A field of a pointer in the graph of matches, besides its event and its state."""

    ROW = "row"  # the position of the pointer's entry in its partition, from 1
    VERSION = "version"  # a Dewey number, as its digits
    PREVIOUS_STATE = "previous_state"  # the state of the entry before, to which the pointer leads
    PREVIOUS_ROW = "previous_row"  # the position of that entry
    COMPLETES = "completes"  # whether a match ends here


POINTER_TYPES = {
    PointerField.ROW: NamedType.NUMBER,
    PointerField.VERSION: NamedType.INTEGERS,
    PointerField.PREVIOUS_STATE: NamedType.TEXT,
    PointerField.PREVIOUS_ROW: NamedType.NUMBER,
    PointerField.COMPLETES: NamedType.TRUTH,
}


@dataclass(frozen=True, slots=True)
class ReadPointer(Read):
    """A field of a pointer in the graph of all matches."""

    field: PointerField

    @property
    def type(self) -> ReadType:
        """Return the type of the pointer's field."""
        return POINTER_TYPES[self.field]

    def show(self, columns: Sequence[str]) -> str:
        """Return the name of the pointer's field."""
        return f"{self.field.value} of the pointer"


# Aggregates of the rows of one variable, over all of a match or up to the current row.


@dataclass(frozen=True, slots=True)
class ReadBasicAggregate(Read):
    """A count, sum, average, minimum or maximum of the values that a variable has in a column."""

    function: Reduction
    variable: str | None
    column: int | None  # None for a count of rows
    semantics: Semantics

    @property
    def type(self) -> ReadType:
        """Return the type of the aggregate: for most, it depends on the column."""
        if self.function is Reduction.COUNT:
            return NamedType.NUMBER
        if self.function is Reduction.AVG:
            return NamedType.DOUBLE
        assert self.column is not None, "only rows are counted without a column"
        is_sum = self.function is Reduction.SUM
        return SumType(self.column) if is_sum else ColumnType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the call of the aggregate with the name of its column."""
        argument = "*" if self.column is None else columns[self.column]
        return show_aggregate(self.function.value, self.variable, argument, self.semantics)

    def may_be_null(self, nullability: Nullability) -> bool:
        """Return whether the aggregate is NULL without values: only a count is not."""
        return self.function is not Reduction.COUNT

    @property
    def can_read_chains(self) -> bool:
        """Return True: basic aggregates can follow the shared rows of matches."""
        return True

    @property
    def value_column(self) -> int | None:
        """Return the column that the value comes from if it is an extreme, else None."""
        return self.column if self.function.is_extreme else None


@dataclass(frozen=True, slots=True)
class ReadList(Read):
    """The array of a variable's values that are not NULL: `collect_list(A.price)`."""

    variable: str | None
    column: int
    semantics: Semantics

    @property
    def type(self) -> ReadType:
        """Return the type of an array of the column's values."""
        return ListType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the call of `collect_list` with the name of its column."""
        return show_aggregate("collect_list", self.variable, columns[self.column], self.semantics)

    def may_be_null(self, nullability: Nullability) -> bool:
        """Return False: without values, the array is empty."""
        return False

    @property
    def row_list(self) -> RowList | None:
        """Return the list of the variable's rows."""
        return RowList(self.variable, (self.column,), self.semantics)


@dataclass(frozen=True, slots=True)
class ReadMatchedRows(Read):
    """The rows of the match that are output, as `MATCHED_ROWS()` returns them.

    Each is a struct; its last field is for the name of the row's variable.
    """

    variable: str | None
    column: int
    semantics: Semantics

    @property
    def type(self) -> ReadType:
        """Return the type of an array of the column's values."""
        return ListType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the call of `MATCHED_ROWS`."""
        return show.show_matched_rows(self.variable)

    def may_be_null(self, nullability: Nullability) -> bool:
        """Return False: without rows, the array is empty."""
        return False

    @property
    def row_list(self) -> RowList | None:
        """Return the list of the variable's rows."""
        return RowList(self.variable, (self.column,), self.semantics)


@dataclass(frozen=True, slots=True)
class ReadChosenValue(Read):
    """The value of a column on the row that an aggregate chooses: `max_by(A.name, A.price)`."""

    function: str  # an aggregate with a `ValueChoice`
    variable: str | None
    column: int
    semantics: Semantics
    key: int | None = None  # the column by which rows are compared, which must not be NULL
    condition: int | None = None  # the column that says which rows count; None for all
    ignores_nulls: bool = False  # whether rows whose value is NULL do not count

    @property
    def type(self) -> ReadType:
        """Return the type of the column."""
        return ColumnType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the call of the aggregate with the names of its columns."""
        argument = columns[self.column]
        if self.key is not None:
            argument += f", {columns[self.key]}"
        return show_aggregate(self.function, self.variable, argument, self.semantics)

    @property
    def can_read_chains(self) -> bool:
        """Return True: the best row can be found along the shared rows of a match."""
        return True

    @property
    def value_column(self) -> int | None:
        """Return the column whose value is chosen."""
        return self.column


@dataclass(frozen=True, slots=True)
class ReadAccumulated(Read):
    """An aggregate that Python adds up, row by row: see `conditions.accumulators`."""

    function: str
    variable: str | None
    columns: tuple[int, ...]  # of the arguments
    semantics: Semantics
    use: AggregateUse
    condition: int | None = None  # the column that says which rows count; None for all

    @property
    def type(self) -> ReadType:
        """Return the type of a count, or of a statistic."""
        return NamedType.NUMBER if self.is_count else NamedType.DOUBLE

    def show(self, columns: Sequence[str]) -> str:
        """Return the call of the aggregate with the names of its columns."""
        argument = ", ".join(columns[column] for column in self.columns)
        return show_aggregate(self.function, self.variable, argument, self.semantics)

    def may_be_null(self, nullability: Nullability) -> bool:
        """Return whether the aggregate is NULL without values: only a count is not."""
        return not self.is_count

    @property
    def is_count(self) -> bool:
        """Return whether values are counted."""
        return find_entry(self.function).basic is Reduction.COUNT


def show_aggregate(function: str, variable: str | None, argument: str, semantics: Semantics) -> str:
    """Return the text for an aggregate, such as `FINAL sum(A.price)`."""
    return f"{semantics.value} {function}({show.show_qualifier(variable)}{argument})"


@dataclass(frozen=True, slots=True)
class ReadTotal(Read):
    """An aggregate over all matches."""

    aggregate: TotalAggregate
    # An aggregate of each match, or its value on the first or last row of a variable; None if the
    # matches are counted.
    measure: ReadBasicAggregate | ReadAt | None

    @property
    def type(self) -> ReadType:
        """Return the type of the total, which may depend on the type of the measure."""
        return TotalType(self.aggregate, None if self.measure is None else self.measure.type)

    def show(self, columns: Sequence[str]) -> str:
        """Return the aggregate over the text of its measure."""
        argument = None if self.measure is None else self.measure.show(columns)
        return f"{replace(self.aggregate, measure=argument)} over all matches"


def can_read_all_from_chains(reads: Iterable[Read], rows_per_match: RowsPerMatch) -> bool:
    """Return whether all reads can be read from chains, with one output row for each match.

    Sums can only if they are the same in any order of additions: see `Read.can_read_chains`.
    """
    return rows_per_match.has_one_row_per_match and all(read.can_read_chains for read in reads)
