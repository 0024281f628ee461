"""Turn measures into reads: each reference of a measure becomes a column that a worker fills.

Spark evaluates the text around the references over these columns. An aggregate of a basic form is a
read, too. Spark computes any other aggregate, over the rows of the match, which are read as one
array. For example, in

    MEASURES LAST(A.price) - FIRST(price) AS change

the references become the reads 0 and 1, and Spark evaluates their difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from typing_extensions import assert_never

from matchrec.automaton.program import A_MATCH, FIRST_NEIGHBOUR_WINDOW, TIMED_OUT
from matchrec.conditions.aggregate_table import STATISTICS, find_entry
from matchrec.conditions.aggregates import build_framed_aggregate, find_basic_form
from matchrec.conditions.functions.function import AggregateUse, SessionSettings
from matchrec.conditions.residual import RunningAggregate
from matchrec.conditions.row_column import (
    RowColumn,
    build_aggregate_term_column,
    build_row_column,
    build_window_columns,
    write_window_length,
)
from matchrec.conditions.run_condition import Reduction
from matchrec.conditions.types import (
    COMPARED_BY_SPARK,
    DIGITS_OF_AVERAGE,
    NUMBERS,
    TIMES,
    Family,
    ValueType,
    find_average_type,
    keeps_digits,
)
from matchrec.errors import match_totals as errors
from matchrec.output.reads import (
    Read,
    ReadAccumulated,
    ReadAt,
    ReadBasicAggregate,
    ReadChosenValue,
    ReadClassifierAt,
    ReadIsMatched,
    ReadKind,
    ReadList,
    ReadMatchedRows,
    ReadMatchNumber,
    ReadNothing,
    ReadPosition,
    ReadRow,
    ReadRowsForSpark,
    ReadTotal,
)
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import (
    FUNCTIONS_OF_ENDED_RUNS,
    MATCHED_ROWS,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    MatchFunction,
    MatchValue,
    Navigation,
    Reference,
    Scalar,
    Semantics,
    TextPiece,
    list_terms,
    reads_columns_only,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import SUM_OR_NULL, write_decimal_average
from matchrec.plan.totals import TotalAggregate
from matchrec.shortcuts import current_shortcuts

if TYPE_CHECKING:
    from matchrec.plan.stages import Timeouts


# What Spark evaluates after the match: SQL text between reads and aggregates.
#
# Spark computes the aggregates that the workers do not compute. `RowAggregate` says over which rows
# of the match they run, and what they evaluate on each row.


@dataclass(frozen=True, slots=True)
class AggregateInSql:
    """The use of an aggregate that Spark computes, by its index among these aggregates."""

    index: int


# A piece of SQL after the match: text, the index of a read, or an aggregate. `LAST(A.x) - 1` is
# (0, " - 1") if the read of LAST(A.x) has the index 0.
SqlPiece = str | int | AggregateInSql
Pieces = tuple[SqlPiece, ...]


# SQL over a row of the match. A number is the index of a read.
RowTerm = tuple[str | int, ...]

# In such SQL: a row of the match, the name of its variable, and its position from 0.
ROW = "__e"
VARIABLE = f"{ROW}.v"
POSITION = f"{ROW}.p"


@dataclass(frozen=True, slots=True)
class RowAggregate:
    """An aggregate that Spark computes over the rows of each match."""

    # The aggregate as the user wrote it.
    call: Aggregate
    # The primary variables whose rows are aggregated.
    variables: tuple[str, ...]
    arguments: tuple[RowTerm, ...]
    # The keys of WITHIN GROUP, each with the words after it.
    ordering: tuple[tuple[RowTerm, str], ...]
    # The condition of FILTER, or None.
    condition: RowTerm | None
    # The index of the read with the position of the last row that counts; None if all rows do.
    last_position: int | None


# Types of values that are the same in Python and in a column.
SIMPLE = NUMBERS | {Family.BOOLEAN, Family.STRING, *TIMES}


@dataclass(eq=False, slots=True)
class MeasureReader:
    """A collector of the reads of one query and of the columns that they need, each once."""

    plan: MatchPlan
    types: Mapping[RowColumn, ValueType]
    # The columns that are sent to the workers for all queries, with their indices. Columns that
    # this query needs and that are missing are added.
    sent_columns: dict[RowColumn, int]
    session: SessionSettings
    # The columns of this query, with their indices in `sent_columns`.
    columns: dict[RowColumn, int] = field(default_factory=dict)
    # The reads of this query, with their indices.
    reads: dict[Read, int] = field(default_factory=dict)
    # The columns of rows of the match that Spark's aggregates need: by index in `sent_columns`, the
    # number of the field.
    fields: dict[int, int] = field(default_factory=dict)
    # The aggregates that Spark computes for each output row, over the rows of its match.
    aggregates: list[RowAggregate] = field(default_factory=list)

    def read_total(self, total: TotalAggregate, measure: Scalar | None) -> int:
        """Return the index of the read of an aggregate over all matches.

        Args:
            total: the aggregate.
            measure: the measure that is aggregated; None to count matches.

        Raises:
            MustBuildMatchesError: Spark computes the measure or a part of it.
        """
        if measure is None:
            return self.add_read(ReadTotal(total, None))
        # What the measure itself reads is not a read of the query, so another collector gets it.
        reader = MeasureReader(self.plan, self.types, self.sent_columns, self.session, self.columns)
        pieces = reader.write_measure(measure)
        reads = list(reader.reads)
        if len(pieces) == 1 and isinstance(pieces[0], int):
            read = reads[pieces[0]]
            if isinstance(read, ReadAt | ReadBasicAggregate):
                return self.add_read(ReadTotal(total, read))
        raise errors.MustBuildMatchesError(errors.MEASURE_BY_SPARK)

    def read_row(self, column: RowColumn) -> int:
        """Return the index of the read of a column on the input row of an output row."""
        return self.add_read(ReadRow(self.add_column(column)))

    def write_measure(self, scalar: Scalar) -> Pieces:
        """Return the text of a measure, with each reference replaced by its read."""
        pieces: list[SqlPiece] = []
        for piece in scalar.pieces:
            if isinstance(piece, str):
                pieces.append(piece)
            else:
                pieces += self.write_reference(piece)
        return tuple(pieces)

    def write_reference(self, reference: Reference) -> Pieces:
        """Return the SQL of a reference over its reads."""
        match reference:
            case ColumnReference(navigation, argument):
                column = self.add_column(build_row_column(argument))
                return (self.add_read(ReadAt(column, navigation)),)
            case Classifier(navigation):
                return (self.add_read(ReadClassifierAt(navigation)),)
            case MatchValue(MatchFunction.NUMBER):
                return (self.add_read(ReadMatchNumber()),)
            case MatchValue(function):
                return write_end_function(function, self)
            case Aggregate():
                return self.write_aggregate(reference)
            case _:
                assert_never(reference)

    def write_aggregate(self, aggregate: Aggregate) -> Pieces:
        """Return the SQL of an aggregate: a read if workers can compute it, otherwise Spark's own.

        The forms of aggregates that workers can compute are tried one after the other.
        """
        if aggregate.frame is not None:
            # Only measures of `why` have frames. The value on the match's last row is read.
            last = Navigation(semantics=Semantics.FINAL)
            column = self.add_column(RowColumn((build_framed_aggregate(aggregate),)))
            return (self.add_read(ReadAt(column, last)),)
        if aggregate.function == MATCHED_ROWS:
            row = self.add_column(build_row_column(write_row_sql(aggregate.arguments[0])))
            return (self.add_read(ReadMatchedRows(aggregate.variable, row, aggregate.semantics)),)
        if is_collected(aggregate):
            pieces = self.write_list(aggregate)
        else:
            form = find_basic_form(aggregate)
            pieces = None if form is None else self.write_basic_aggregate(form)
            if pieces is None:
                pieces = self.write_chosen_value(aggregate)
            if pieces is None:
                pieces = self.write_accumulated(aggregate)
        return self.write_spark_aggregate(aggregate) if pieces is None else pieces

    def write_list(self, aggregate: Aggregate) -> Pieces | None:
        """Return the read of the array of a variable's values; None if only Spark can make it.

        That is so if workers get the values as another type than Spark has, or all are NULL.
        """
        column = build_aggregate_term_column(aggregate.arguments[0])
        type_ = self.types[column]
        if type_.family in (Family.MONTHS, Family.INTERVAL) or type_.name in ("interval", "void"):
            return None
        values = ReadList(aggregate.variable, self.add_column(column), aggregate.semantics)
        return (self.add_read(values),)

    def write_basic_aggregate(self, form: RunningAggregate) -> Pieces | None:
        """Return a basic aggregate over its reads; None if only Spark aggregates the type."""
        function = form.function
        column = form.column
        aggregate = form.aggregate
        assert function is not None
        if column is None:
            return (self.read_basic(Reduction.COUNT, aggregate),)
        type_ = self.types[column]
        if function.is_extreme and type_.family in COMPARED_BY_SPARK:
            return None
        if function.adds and type_.family not in NUMBERS:
            return None
        if function is not Reduction.AVG or type_.family is not Family.DECIMAL:
            return (self.read_basic(function, aggregate, column),)
        average_type = find_average_type(type_)
        if not keeps_digits(average_type.precision, average_type.scale, DIGITS_OF_AVERAGE):
            return None
        total = self.read_basic(Reduction.SUM, aggregate, column)
        count = self.read_basic(Reduction.COUNT, aggregate, column)
        return write_decimal_average(total, count, average_type.name.upper())

    def write_chosen_value(self, aggregate: Aggregate) -> Pieces | None:
        """Return the read of an aggregate that chooses a row, such as `max_by`.

        Returns:
            The read; None if the aggregate chooses no row, or if the workers do not compare values
            of the type or get them as another type.
        """
        if not may_choose(aggregate):
            return None
        columns = [build_aggregate_term_column(argument) for argument in aggregate.arguments]
        if not all(self.types[column].family in SIMPLE for column in columns):
            return None
        condition = self.find_condition(aggregate)
        if condition is not None and self.types[condition].family is not Family.BOOLEAN:
            return None
        value, *keys = map(self.add_column, columns)
        read = ReadChosenValue(
            function=aggregate.function,
            variable=aggregate.variable,
            column=value,
            semantics=aggregate.semantics,
            key=keys[0] if keys else None,
            condition=None if condition is None else self.add_column(condition),
            ignores_nulls=aggregate.ignore_nulls,
        )
        return (self.add_read(read),)

    def find_condition(self, aggregate: Aggregate) -> RowColumn | None:
        """Return the column of an aggregate's FILTER, if it has one."""
        return (
            None
            if aggregate.condition is None
            else build_aggregate_term_column(aggregate.condition)
        )

    def write_accumulated(self, aggregate: Aggregate) -> Pieces | None:
        """Return the read of an aggregate that workers add up row by row, up to the last row.

        If each row of a match has an output row, Spark would get the whole match for each of them,
        which takes the square of its length.

        Returns:
            None if the aggregate may fail or may differ from Spark's in the last bit.
        """
        if not may_accumulate(self.plan, aggregate):
            return None
        from matchrec.conditions.accumulators import AGGREGATES  # few queries need it

        columns = [build_aggregate_term_column(argument) for argument in aggregate.arguments]
        types = tuple(self.types[column] for column in columns)
        function = aggregate.function
        use = AggregateUse(types, aggregate.distinct, aggregate.ignore_nulls).with_settings(
            self.session
        )
        families = NUMBERS if function in STATISTICS else SIMPLE
        if not all(type_.family in families for type_ in types):
            return None
        if not AGGREGATES[function].find_type(use):
            return None
        condition = self.find_condition(aggregate)
        if condition is not None and self.types[condition].family is not Family.BOOLEAN:
            return None
        column_indices = tuple(self.add_column(column) for column in columns)
        condition_index = None if condition is None else self.add_column(condition)
        read = ReadAccumulated(
            function, aggregate.variable, column_indices, aggregate.semantics, use, condition_index
        )
        return (self.add_read(read),)

    def read_basic(
        self, function: Reduction, aggregate: Aggregate, column: RowColumn | None = None
    ) -> int:
        """Return the index of the read of a basic aggregate of a column, or of the rows."""
        index = None if column is None else self.add_column(column)
        return self.add_read(
            ReadBasicAggregate(function, aggregate.variable, index, aggregate.semantics)
        )

    def write_spark_aggregate(self, aggregate: Aggregate) -> Pieces:
        """Return an aggregate that Spark computes over the rows of the match."""
        self.add_read(ReadRowsForSpark(()))
        members = sorted(self.plan.members[aggregate.variable])
        variables = tuple(self.plan.variables[member] for member in members)
        arguments = tuple(self.write_term(argument) for argument in aggregate.arguments)
        ordering = tuple((self.write_term(key), words) for key, words in aggregate.ordering)
        condition = None if aggregate.condition is None else self.write_term(aggregate.condition)
        last = self.add_read(ReadPosition()) if aggregate.semantics is Semantics.RUNNING else None
        row_aggregate = RowAggregate(aggregate, variables, arguments, ordering, condition, last)
        if row_aggregate not in self.aggregates:
            self.aggregates.append(row_aggregate)
        return (AggregateInSql(self.aggregates.index(row_aggregate)),)

    def write_term(self, term: Scalar) -> RowTerm:
        """Return the SQL of a term that Spark evaluates on each row of the match."""
        if term.references and reads_columns_only(term):
            return (self.write_field(build_aggregate_term_column(term)),)
        return tuple(self.write_term_piece(piece) for piece in term.pieces)

    def write_term_piece(self, piece: TextPiece) -> str | int:
        """Return one piece of a term of `write_term`: SQL, or the index of a read."""
        match piece:
            case str():
                return piece
            case ColumnReference(argument=argument):
                return self.write_field(build_row_column(argument))
            case Classifier():
                return VARIABLE
            case MatchValue(MatchFunction.NUMBER):
                return self.add_read(ReadMatchNumber())
            case MatchValue(MatchFunction.ROW_NUMBER):
                return f"({POSITION} + 1)"
            case Aggregate() | MatchValue():
                raise AssertionError(piece)
            case _:
                assert_never(piece)

    def write_field(self, column: RowColumn) -> str:
        """Return the SQL of a column of a row of the match."""
        index = self.add_column(column)
        number = self.fields.setdefault(index, len(self.fields))
        return f"{ROW}.c{number}"

    def list_reads(self, rows_per_match: RowsPerMatch) -> tuple[Read, ...]:
        """Return the reads, at least one.

        If unmatched rows are output, the last read says whether a row is matched.
        """
        reads = tuple(
            ReadRowsForSpark(tuple(self.fields)) if isinstance(read, ReadRowsForSpark) else read
            for read in self.reads
        )
        if rows_per_match.shows_unmatched:
            return (*reads, ReadIsMatched())
        return reads or (ReadNothing(),)

    def add_read(self, read: Read) -> int:
        """Return the index of a read among the reads of the query, and add it if it is new."""
        return self.reads.setdefault(read, len(self.reads))

    def add_column(self, column: RowColumn) -> int:
        """Return the index of a column among all that are sent; it is added if it is new."""
        index = self.sent_columns.setdefault(column, len(self.sent_columns))
        return self.columns.setdefault(column, index)


def write_timeout(timeouts: Timeouts, measures: MeasureReader) -> Pieces:
    """Return the SQL of the time at which the window of a run ended; NULL if it did not time out.

    A run times out at the end of the match's window or of a window between neighbours, whichever
    is earlier.
    """
    kind = measures.add_read(ReadKind())
    match_end = None if timeouts.match_end is None else measures.write_measure(timeouts.match_end)
    branches: list[SqlPiece] = []
    if match_end is not None:
        branches += [f" WHEN {TIMED_OUT} THEN ", *match_end]
    for number, window in enumerate(timeouts.neighbour_windows):
        end = measures.write_measure(window.end)
        earlier = end if match_end is None else ("least(", *match_end, ", ", *end, ")")
        branches += [f" WHEN {FIRST_NEIGHBOUR_WINDOW + number} THEN ", *earlier]
    return ("CASE ", kind, *branches, " END") if branches else ("NULL",)


def write_end_function(function: MatchFunction, measures: MeasureReader) -> Pieces:
    """Return the SQL of MATCH_STATUS() or MATCH_TIMEOUT().

    MATCH_TIMEOUT() is the time at which the window of a run ended that timed out, else NULL.
    """
    kind = measures.add_read(ReadKind())
    assert function in FUNCTIONS_OF_ENDED_RUNS, function
    if function is MatchFunction.STATUS:
        names = f" WHEN {A_MATCH} THEN 'MATCHED' WHEN {TIMED_OUT} THEN 'TIMED OUT'"
        return ("CASE ", kind, f"{names} ELSE 'UNFINISHED' END")
    within = measures.plan.within
    if within is None:  # nothing times out
        return ("NULL",)
    window = build_window_columns(measures.plan, within)
    first = Navigation(end=End.FIRST, semantics=Semantics.FINAL)
    if within.distance is None:
        end: Pieces = (measures.add_read(ReadAt(measures.add_column(window[1]), first)),)
    else:
        start = measures.add_read(ReadAt(measures.add_column(window[0]), first))
        end = f"{SUM_OR_NULL}(", start, f", {write_window_length(within.interval)})"
    return ("CASE ", kind, f" WHEN {TIMED_OUT} THEN ", *end, " END")


def may_accumulate(plan: MatchPlan, aggregate: Aggregate) -> bool:
    """Return whether workers can add up an aggregate row by row, if its types allow it.

    Among DISTINCT aggregates, only counts can be: the sum of the distinct numbers depends on their
    order, because doubles are rounded. A count without DISTINCT is a basic aggregate.
    """
    is_count = aggregate.function == "count"
    return (
        current_shortcuts().accumulators
        and not (plan.rows_per_match.has_one_row_per_match or aggregate.ordering)
        and (is_count or aggregate.function in STATISTICS)
        # A count must be DISTINCT, and a statistic must not be.
        and aggregate.distinct == is_count
        and len(aggregate.arguments) > 0
        and all(term.references and reads_columns_only(term) for term in list_terms(aggregate))
    )


def may_choose(aggregate: Aggregate) -> bool:
    """Return whether workers can choose the row of an aggregate, if its types allow it."""
    choice = find_entry(aggregate.function).choice
    return (
        current_shortcuts().accumulators
        and choice is not None
        and len(aggregate.arguments) == 1 + choice.has_key
        and not (aggregate.distinct or aggregate.ordering)
        and all(term.references and reads_columns_only(term) for term in list_terms(aggregate))
    )


def is_collected(aggregate: Aggregate) -> bool:
    """Return whether an aggregate is the array of a variable's values."""
    return (
        aggregate.function in ("collect_list", "array_agg")
        and len(aggregate.arguments) == 1
        and not (aggregate.distinct or aggregate.ordering or aggregate.ignore_nulls)
        and aggregate.condition is None
        and reads_columns_only(aggregate.arguments[0])
    )
