"""Reads: the values of matches that the output needs. A worker returns one column for each.

    MEASURES LAST(A.price) - FIRST(price) AS change, COUNT(*) AS n

has three reads: the last price of A, the first price of the match, and the number of its rows. A
worker fills a column with the values of each read. The engine then evaluates the text around the
reads over these columns, here a difference.

A class of reads says what `explain` shows, which type the values have, and whether they can be
NULL. To add a class, write it here, and write the function that fills its column in
`worker.gather`. The two are separate, so that no class here needs Arrow, and no worker PySpark.

In a read, a column is the index of a column of the input among the columns that the engine sends to
the workers. A variable has the name that MEASURES uses; None is the universal variable, to which
all rows of the match belong.
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
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import Navigation, Semantics
from matchrec.plan.show import (
    qualify_columns,
    show_classifier,
    show_matched_rows,
    show_navigation,
    show_qualifier,
)
from matchrec.plan.totals import TotalAggregate

# Types of values, in terms of the input's columns. `spark.read_types` translates them to the types
# of Spark.


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column of the input."""

    column: int


@dataclass(frozen=True, slots=True)
class SumType:
    """The type of the engine's `sum` of a column."""

    column: int


@dataclass(frozen=True, slots=True)
class ListType:
    """The type of an array of a column's values. No element is NULL."""

    column: int


@dataclass(frozen=True, slots=True)
class RowsType:
    """The type of an array of rows of a match, as structs.

    A struct has the values of columns, then the name of the row's variable, as a string, and the
    row's position in the match, as a bigint.
    """

    columns: tuple[int, ...]
    names: tuple[str, ...]  # the names of all fields: two more than there are columns


class FixedType(Enum):
    """A type that is the same for every input. The member's value is its name in Spark's SQL."""

    STRING = "string"
    BIGINT = "bigint"
    BOOLEAN = "boolean"
    DOUBLE = "double"
    INT_ARRAY = "array<int>"


@dataclass(frozen=True, slots=True)
class TotalType:
    """The type of an aggregate over all matches."""

    aggregate: TotalAggregate
    measure: ReadType | None  # the type of the aggregated measure; None for a count of matches


ReadType = ColumnType | SumType | ListType | RowsType | FixedType | TotalType


@dataclass(frozen=True, slots=True)
class Nullability:
    """The facts about a query that decide whether the value of a read can be NULL."""

    columns: tuple[bool, ...]  # whether each column of the input can be NULL
    # whether unmatched rows, or runs that did not become a match, are output
    has_rows_without_match: bool


@dataclass(frozen=True, slots=True)
class RowList:
    """The rows of a match whose values are in an array, such as the array of `collect_list`."""

    variable: str | None  # the variable to which the rows belong; None for all rows
    columns: tuple[int, ...]  # the columns whose values are in the array
    semantics: Semantics  # running: only the rows up to the current row; final: all rows


class Read(ABC):
    """A value that the output needs: a column that a worker returns.

    Equal reads have equal values, so a query that needs a value twice contains only one read.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def type(self) -> ReadType:
        """Return the type of the values."""

    @abstractmethod
    def show(self, columns: Sequence[str]) -> str:
        """Return the text of the read in `explain`: for most reads, the expression in MEASURES.

        Args:
            columns: the SQL of each column of the input.
        """

    def can_be_null(self, nullability: Nullability) -> bool:
        """Return whether a value can be NULL, so that the engine's column is nullable."""
        return True

    @property
    def can_read_chains(self) -> bool:
        """Return whether the value can be read from chains, in which matches share their rows.

        In `search.matches.Chains`, values are added up from the last row to the first. A sum can be
        read from chains only if the sum is the same in any order of additions. The values in the
        table decide that, so for sums, True means *perhaps*: see `worker.chains`.
        """
        return False

    @property
    def row_list(self) -> RowList | None:
        """Return which rows of the match the value lists; None if it is not an array of rows."""
        return None

    @property
    def value_column(self) -> int | None:
        """Return the column whose values are returned unchanged; None if values are computed."""
        return None


# Values of single rows, and of all rows of a match.


@dataclass(frozen=True, slots=True)
class ReadRow(Read):
    """The value of a column on the input row of the output row.

    With ONE ROW PER MATCH, the input row is the starting row of the match.
    """

    column: int

    @property
    def type(self) -> ReadType:
        """Return the type of the column."""
        return ColumnType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the SQL of the column."""
        return columns[self.column]

    def can_be_null(self, nullability: Nullability) -> bool:
        """Return whether the column can be NULL in the input."""
        return nullability.columns[self.column]

    @property
    def can_read_chains(self) -> bool:
        """Return True: the starting row of a match is known, even if matches share it."""
        return True

    @property
    def value_column(self) -> int | None:
        """Return the column whose value is read."""
        return self.column


@dataclass(frozen=True, slots=True)
class ReadNavigation(Read):
    """The value of a column on the row that a navigation finds: `LAST(A.price, 1)`."""

    column: int
    navigation: Navigation

    @property
    def type(self) -> ReadType:
        """Return the type of the column."""
        return ColumnType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the navigation as the user writes it, after its semantics."""
        text = show_navigation(self.navigation, columns[self.column])
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
class ReadClassifierName(Read):
    """The name of the variable of the row that a navigation finds: `CLASSIFIER()`."""

    navigation: Navigation

    @property
    def type(self) -> ReadType:
        """Return the type of names."""
        return FixedType.STRING

    def show(self, columns: Sequence[str]) -> str:
        """Return CLASSIFIER() with its navigation, after its semantics."""
        return f"{self.navigation.semantics.value} {show_classifier(self.navigation)}"

    @property
    def can_read_chains(self) -> bool:
        """Return whether the navigation has no physical offset, which may leave the match."""
        return not self.navigation.physical_offset


# The fields of a row of the match in `ReadRowsForEngine`, after the values of its columns.
VARIABLE_FIELD = "v"  # the name of the variable to which the row is mapped
POSITION_FIELD = "p"  # the position of the row in the match, from 0


def name_value_field(number: int) -> str:
    """Return the name of the field with the value of a column in `ReadRowsForEngine`.

    Args:
        number: the index of the column in `ReadRowsForEngine.columns`.
    """
    return f"c{number}"


@dataclass(frozen=True, slots=True)
class ReadRowsForEngine(Read):
    """An array of all rows of the match, as structs, over which the engine computes aggregates.

    With two columns, a match of A and B is read as [{c0: 7, c1: "x", v: "A", p: 0},
    {c0: 9, c1: "y", v: "B", p: 1}].
    """

    columns: tuple[int, ...]  # the columns whose values are the first fields

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the fields: `c0`, `c1`, ..., then the variable and the position."""
        value_fields = [name_value_field(number) for number in range(len(self.columns))]
        return (*value_fields, VARIABLE_FIELD, POSITION_FIELD)

    @property
    def type(self) -> ReadType:
        """Return the type of an array of structs: the columns, the variable and the position."""
        return RowsType(self.columns, self.names)

    def show(self, columns: Sequence[str]) -> str:
        """Return the text for `explain`."""
        return "the rows of the match"

    def can_be_null(self, nullability: Nullability) -> bool:
        """Return False: without rows, the array is empty."""
        return False

    @property
    def row_list(self) -> RowList | None:
        """Return the list of all rows of the match."""
        return RowList(variable=None, columns=self.columns, semantics=Semantics.FINAL)


# Facts about the match of an output row.


class ReadFact(Read):
    """A fact about the match of an output row, which depends on no column of the input.

    A subclass has no fields, only class variables.
    """

    __slots__ = ()

    fact_type: ClassVar[FixedType]  # the type of the fact
    explain_text: ClassVar[str]  # what `explain` shows
    is_nullable: ClassVar[bool] = False  # whether the fact can be NULL

    @property
    def type(self) -> ReadType:
        """Return `fact_type`."""
        return self.fact_type

    def show(self, columns: Sequence[str]) -> str:
        """Return `explain_text`."""
        return self.explain_text

    def can_be_null(self, nullability: Nullability) -> bool:
        """Return `is_nullable`. A subclass overrides the method if the query decides."""
        return self.is_nullable


@dataclass(frozen=True, slots=True)
class ReadMatchNumber(ReadFact):
    """The number of the match in its partition: `MATCH_NUMBER()`."""

    fact_type = FixedType.BIGINT
    explain_text = "MATCH_NUMBER()"

    def can_be_null(self, nullability: Nullability) -> bool:
        """Return whether rows without a match are output, which have no number."""
        return nullability.has_rows_without_match

    @property
    def can_read_chains(self) -> bool:
        """Return True: the number belongs to the match, not to its rows."""
        return True


@dataclass(frozen=True, slots=True)
class ReadMatchIndex(ReadFact):
    """The index of the match, from 0, among all matches that are output together.

    No measure needs the index: `spark.traced_measures` uses it to tell matches apart.
    """

    fact_type = FixedType.BIGINT
    explain_text = "the index of the match"


@dataclass(frozen=True, slots=True)
class ReadPosition(ReadFact):
    """The position of the current row in the match, from 0.

    It is -1 for an unmatched row and for an empty match.
    """

    fact_type = FixedType.BIGINT
    explain_text = "the position in the match"


@dataclass(frozen=True, slots=True)
class ReadIsMatched(ReadFact):
    """Whether the output row belongs to a match, even an empty one."""

    fact_type = FixedType.BOOLEAN
    explain_text = "whether the row is matched"


@dataclass(frozen=True, slots=True)
class ReadEndingKind(ReadFact):
    """How the run ended: as a match, or why without one.

    The value is one of the numbers in `automaton.run_endings`, such as A_MATCH.
    """

    fact_type = FixedType.BIGINT
    explain_text = "how the run ended"
    is_nullable = True


@dataclass(frozen=True, slots=True)
class ReadNothing(ReadFact):
    """The value TRUE, for a query that reads nothing else: rows cannot be sent without a column."""

    fact_type = FixedType.BOOLEAN
    explain_text = "nothing"

    @property
    def can_read_chains(self) -> bool:
        """Return True: no row of the match is read."""
        return True


class PointerField(Enum):
    """A field of a pointer in the graph of all matches.

    The graph has the matches of a partition as paths that share rows: see `search.graph`. A
    pointer leads from its row in a state to the row before it in the same match.
    """

    ROW = "row"  # the position of the pointer's row in its partition, from 1
    VERSION = "version"  # the Dewey number of the pointer, as its digits
    PREVIOUS_STATE = "previous_state"  # the state of the row to which the pointer leads
    # the position, in its partition, of the row to which the pointer leads, from 1
    PREVIOUS_ROW = "previous_row"
    COMPLETES = "completes"  # whether a match ends with the pointer's row


# The type of each field of a pointer.
POINTER_TYPES = {
    PointerField.ROW: FixedType.BIGINT,
    PointerField.VERSION: FixedType.INT_ARRAY,
    PointerField.PREVIOUS_STATE: FixedType.STRING,
    PointerField.PREVIOUS_ROW: FixedType.BIGINT,
    PointerField.COMPLETES: FixedType.BOOLEAN,
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


# Aggregates of the rows of one variable in a match: up to the current row (running), or of all rows
# of the match (final).


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """The call of an aggregate of the rows of a match, for the text of a read.

    >>> AggregateCall("max_by", "A", ["`name`", "`price` + `fee`"], Semantics.FINAL).write()
    'FINAL max_by(A.`name`, A.`price` + A.`fee`)'
    >>> call = AggregateCall("count", "A", ["`x`"], Semantics.RUNNING, is_distinct=True)
    >>> replace(call, condition="`x` > 1 AND `y` > 2").write()
    'RUNNING count(DISTINCT A.`x`) FILTER (WHERE A.`x` > 1 AND A.`y` > 2)'
    """

    function: str  # the name of the aggregate
    variable: str | None  # the variable whose rows are aggregated; None for all rows of the match
    # The SQL of each argument over one row, with columns in backticks and without the variable. A
    # count of rows has the argument `*`.
    arguments: Sequence[str]
    semantics: Semantics  # which rows of the match count
    is_distinct: bool = False  # whether the call has DISTINCT
    condition: str | None = None  # the SQL of FILTER, like an argument; None without FILTER
    ignores_nulls: bool = False  # whether the call has IGNORE NULLS

    def write(self) -> str:
        """Return the text of the call, after its semantics."""
        distinct = "DISTINCT " if self.is_distinct else ""
        arguments = ", ".join(self.write_argument(argument) for argument in self.arguments)
        text = f"{self.semantics.value} {self.function}({distinct}{arguments})"
        if self.condition is not None:
            text += f" FILTER (WHERE {qualify_columns(self.condition, self.variable)})"
        return f"{text} IGNORE NULLS" if self.ignores_nulls else text

    def write_argument(self, argument: str) -> str:
        """Return the text of an argument, in which the variable is before each column."""
        if argument == "*":
            return f"{show_qualifier(self.variable)}*"
        return qualify_columns(argument, self.variable)


@dataclass(frozen=True, slots=True)
class ReadBasicAggregate(Read):
    """A count, sum, average, minimum or maximum of a column over the rows of a variable."""

    reduction: Reduction
    variable: str | None
    column: int | None  # None for a count of rows, such as `count(A.*)`
    semantics: Semantics

    @property
    def type(self) -> ReadType:
        """Return the type of the aggregate. For sums and extremes it depends on the column."""
        if self.reduction is Reduction.COUNT:
            return FixedType.BIGINT
        if self.reduction is Reduction.AVG:
            return FixedType.DOUBLE
        assert self.column is not None, "only a count has no column"
        if self.reduction is Reduction.SUM:
            return SumType(self.column)
        return ColumnType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the call of the aggregate with the name of its column."""
        argument = "*" if self.column is None else columns[self.column]
        call = AggregateCall(self.reduction.value, self.variable, [argument], self.semantics)
        return call.write()

    def can_be_null(self, nullability: Nullability) -> bool:
        """Return whether the aggregate of no values is NULL: False for a count, else True."""
        return self.reduction is not Reduction.COUNT

    @property
    def can_read_chains(self) -> bool:
        """Return True: totals can be added up along the shared rows of matches."""
        return True

    @property
    def value_column(self) -> int | None:
        """Return the column if the aggregate is one of its values (an extreme), else None."""
        return self.column if self.reduction.is_extreme else None


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
        arguments = [columns[self.column]]
        return AggregateCall("collect_list", self.variable, arguments, self.semantics).write()

    def can_be_null(self, nullability: Nullability) -> bool:
        """Return False: without values, the array is empty."""
        return False

    @property
    def row_list(self) -> RowList | None:
        """Return the list of the variable's rows."""
        return RowList(self.variable, (self.column,), self.semantics)


@dataclass(frozen=True, slots=True)
class ReadMatchedRows(Read):
    """The array of structs that `MATCHED_ROWS()` returns: the rows of the match that are output.

    The last field of a struct is the name of the row's variable. The structs of the input column
    have this field, too, so that the elements of the array have the type of the column. In the
    input, the field has a placeholder, which the worker replaces by the variable's name.
    """

    variable: str | None
    column: int  # the column of structs
    semantics: Semantics

    @property
    def type(self) -> ReadType:
        """Return the type of an array of the structs."""
        return ListType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the call of `MATCHED_ROWS`."""
        return show_matched_rows(self.variable)

    def can_be_null(self, nullability: Nullability) -> bool:
        """Return False: without rows, the array is empty."""
        return False

    @property
    def row_list(self) -> RowList | None:
        """Return the list of the variable's rows."""
        return RowList(self.variable, (self.column,), self.semantics)


@dataclass(frozen=True, slots=True)
class ReadChosenValue(Read):
    """The value of a column on the row that an aggregate chooses: `max_by(A.name, A.price)`."""

    function: str  # the name of an aggregate whose entry in the table has a `ValueChoice`
    variable: str | None
    column: int
    semantics: Semantics
    key: int | None = None  # the column that rows are compared by; None if only their order matters
    condition: int | None = None  # the boolean column of FILTER; None if all rows count
    ignores_nulls: bool = False  # whether rows whose value is NULL do not count

    @property
    def type(self) -> ReadType:
        """Return the type of the column."""
        return ColumnType(self.column)

    def show(self, columns: Sequence[str]) -> str:
        """Return the call of the aggregate with the names of its columns."""
        arguments = [columns[self.column]]
        if self.key is not None:
            arguments.append(columns[self.key])
        call = AggregateCall(
            function=self.function,
            variable=self.variable,
            arguments=arguments,
            semantics=self.semantics,
            condition=None if self.condition is None else columns[self.condition],
            ignores_nulls=self.ignores_nulls,
        )
        return call.write()

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
    """An aggregate that Python adds up, row by row: see `conditions.accumulators`.

    It is a count of distinct values, or a statistic such as `stddev(A.price)`.
    """

    function: str  # the name of the aggregate in the table of accumulators
    variable: str | None
    columns: tuple[int, ...]  # the columns of the arguments
    semantics: Semantics
    # the types of the arguments, DISTINCT, IGNORE NULLS, and settings of the session
    aggregate_use: AggregateUse
    condition: int | None = None  # the boolean column of FILTER; None if all rows count

    @property
    def type(self) -> ReadType:
        """Return the type of the aggregate: a bigint for a count, a double for a statistic."""
        return FixedType.BIGINT if self.is_count else FixedType.DOUBLE

    def show(self, columns: Sequence[str]) -> str:
        """Return the call of the aggregate with the names of its columns."""
        call = AggregateCall(
            function=self.function,
            variable=self.variable,
            arguments=[columns[column] for column in self.columns],
            semantics=self.semantics,
            is_distinct=self.aggregate_use.distinct,
            condition=None if self.condition is None else columns[self.condition],
            ignores_nulls=self.aggregate_use.ignore_nulls,
        )
        return call.write()

    def can_be_null(self, nullability: Nullability) -> bool:
        """Return whether the aggregate of no values is NULL: False for a count, else True."""
        return not self.is_count

    @property
    def is_count(self) -> bool:
        """Return whether the aggregate is a count of distinct values."""
        return find_entry(self.function).reduction is Reduction.COUNT


# Aggregates over all matches.


@dataclass(frozen=True, slots=True)
class ReadTotal(Read):
    """An aggregate over all matches, such as the sum of `LAST(A.price)` of each match."""

    aggregate: TotalAggregate
    # The value of each match that is aggregated: an aggregate, or a value of one row. None if
    # matches are counted.
    measure: ReadBasicAggregate | ReadNavigation | None

    @property
    def type(self) -> ReadType:
        """Return the type of the total, which may depend on the type of the measure."""
        measure_type = None if self.measure is None else self.measure.type
        return TotalType(self.aggregate, measure_type)

    def show(self, columns: Sequence[str]) -> str:
        """Return the call of the aggregate with the text of its measure."""
        argument = None if self.measure is None else self.measure.show(columns)
        return f"{replace(self.aggregate, measure=argument)} over all matches"


def can_read_all_from_chains(reads: Iterable[Read], rows_per_match: RowsPerMatch) -> bool:
    """Return whether the output of a query can be read from chains, in which matches share rows.

    It can if there is one output row for each match, and if all reads allow it: see
    `Read.can_read_chains`.
    """
    return rows_per_match.has_one_row_per_match and all(read.can_read_chains for read in reads)
