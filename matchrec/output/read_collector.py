"""Translate measures to SQL over reads, and collect the reads and the columns that they need.

Each reference of a measure becomes a read: a column that the workers fill. Spark evaluates the text
around the references over these columns. An aggregate that the workers can compute is a read, too.
Spark computes any other aggregate, over the rows of the match, which are read as one array. For
example,

    MEASURES LAST(A.price) - FIRST(price) AS change

is translated to (ReadInSql(0), " - ", ReadInSql(1)): the references become the reads 0 and 1, and
Spark evaluates their difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from typing_extensions import assert_never

from matchrec.automaton.run_endings import A_MATCH, FIRST_NEIGHBOUR_WINDOW, TIMED_OUT
from matchrec.conditions.aggregate_table import STATISTICS, find_entry
from matchrec.conditions.aggregates import build_framed_aggregate, find_basic_form
from matchrec.conditions.functions.function import AggregateUse, SessionSettings
from matchrec.conditions.row_column import RowColumn, build_aggregate_term_column, build_row_column
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
from matchrec.conditions.window_columns import build_window_columns, write_window_length
from matchrec.errors import match_totals as errors
from matchrec.output.measure_sql import (
    ROW_POSITION,
    ROW_VARIABLE,
    AggregateInSql,
    ReadInSql,
    RowAggregate,
    RowTerm,
    SqlPiece,
    SqlPieces,
    name_row_value,
    write_case,
)
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
    list_inputs,
    reads_columns_only,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import SUM_OR_NULL, write_decimal_average
from matchrec.plan.totals import TotalAggregate
from matchrec.shortcuts import current_shortcuts

if TYPE_CHECKING:
    from matchrec.plan.stages import Timeouts


# Types of values that are the same in Python and in a column.
SAME_IN_PYTHON = NUMBERS | {Family.BOOLEAN, Family.STRING, *TIMES}


@dataclass(eq=False, slots=True)
class ReadCollector:
    """A translator of the measures of one query, which collects what they read.

    Each `translate_...` method returns SQL, and adds its reads and columns, each only once. Each
    `add_...` method returns where the added value is found.
    """

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
    # The columns that `aggregates` read, by their indices in `sent_columns`: the number of each in
    # the structs of `ReadRowsForSpark`.
    row_value_numbers: dict[int, int] = field(default_factory=dict)
    # The aggregates that Spark computes for each output row, over the rows of its match.
    aggregates: list[RowAggregate] = field(default_factory=list)

    # Reads and columns.

    def add_read(self, read: Read) -> ReadInSql:
        """Add a read to the reads of the query if it is new, and return it as SQL."""
        return ReadInSql(self.reads.setdefault(read, len(self.reads)))

    def add_column(self, column: RowColumn) -> int:
        """Add a column to those that are sent if it is new, and return its index among them."""
        index = self.sent_columns.setdefault(column, len(self.sent_columns))
        return self.columns.setdefault(column, index)

    def add_row_value(self, column: RowColumn) -> ReadInSql:
        """Add the read of a column on the input row of an output row, and return it as SQL."""
        return self.add_read(ReadRow(self.add_column(column)))

    def add_basic_aggregate(
        self, function: Reduction, aggregate: Aggregate, column: RowColumn | None = None
    ) -> ReadInSql:
        """Add the read of a basic aggregate of a column, or of the rows, and return it as SQL."""
        index = None if column is None else self.add_column(column)
        return self.add_read(
            ReadBasicAggregate(function, aggregate.variable, index, aggregate.semantics)
        )

    def add_total(self, total: TotalAggregate, measure: Scalar | None) -> ReadInSql:
        """Add the read of an aggregate over all matches, and return it as SQL.

        Args:
            total: the aggregate.
            measure: the measure that is aggregated; None to count matches.

        Raises:
            MustBuildMatchesError: Spark computes the measure or a part of it.
        """
        if measure is None:
            return self.add_read(ReadTotal(total, None))
        # What the measure itself reads is not a read of the query, so another collector gets it.
        of_measure = ReadCollector(
            self.plan, self.types, self.sent_columns, self.session, self.columns
        )
        pieces = of_measure.translate_measure(measure)
        reads = list(of_measure.reads)
        match pieces:
            case (ReadInSql(index),):
                read = reads[index]
                if isinstance(read, ReadAt | ReadBasicAggregate):
                    return self.add_read(ReadTotal(total, read))
        raise errors.MustBuildMatchesError(errors.MEASURE_BY_SPARK)

    def list_reads(self, rows_per_match: RowsPerMatch) -> tuple[Read, ...]:
        """Return the reads of the finished query, at least one.

        If unmatched rows are output, the last read says whether a row is matched.
        """
        reads = tuple(
            ReadRowsForSpark(tuple(self.row_value_numbers))
            if isinstance(read, ReadRowsForSpark)
            else read
            for read in self.reads
        )
        if rows_per_match.shows_unmatched:
            return (*reads, ReadIsMatched())
        return reads or (ReadNothing(),)

    # Measures.

    def translate_measure(self, scalar: Scalar) -> SqlPieces:
        """Translate a measure: its text, with each reference replaced by SQL over reads."""
        pieces: list[SqlPiece] = []
        for piece in scalar.pieces:
            if isinstance(piece, str):
                pieces.append(piece)
            else:
                pieces += self.translate_reference(piece)
        return tuple(pieces)

    def translate_reference(self, reference: Reference) -> SqlPieces:
        """Translate a reference: for most, the result is a single read."""
        match reference:
            case ColumnReference(navigation, argument):
                column = self.add_column(build_row_column(argument))
                return (self.add_read(ReadAt(column, navigation)),)
            case Classifier(navigation):
                return (self.add_read(ReadClassifierAt(navigation)),)
            case MatchValue(MatchFunction.NUMBER):
                return (self.add_read(ReadMatchNumber()),)
            case MatchValue(MatchFunction.STATUS):
                return self.translate_status()
            case MatchValue(MatchFunction.TIMEOUT):
                return self.translate_timeout_function()
            case MatchValue():
                raise AssertionError(reference)
            case Aggregate():
                return self.translate_aggregate(reference)
            case _:
                assert_never(reference)

    def translate_aggregate(self, aggregate: Aggregate) -> SqlPieces:
        """Translate an aggregate: to reads if workers can compute it, otherwise to Spark's own.

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
        for translate_form in (
            self.translate_list,
            self.translate_basic_aggregate,
            self.translate_chosen_value,
            self.translate_accumulated,
        ):
            pieces = translate_form(aggregate)
            if pieces is not None:
                return pieces
        return self.translate_spark_aggregate(aggregate)

    # Aggregates that workers compute. Each method returns None if only Spark can compute the
    # aggregate, or if it has another form.

    def translate_list(self, aggregate: Aggregate) -> SqlPieces | None:
        """Translate the array of a variable's values, such as `collect_list(A.price)`, to a read.

        Only Spark can make it if workers get the values as another type than Spark has, or if all
        values are NULL.
        """
        if not is_collected(aggregate):
            return None
        column = build_aggregate_term_column(aggregate.arguments[0])
        type_ = self.types[column]
        if type_.family in (Family.MONTHS, Family.INTERVAL) or type_.name in ("interval", "void"):
            return None
        values = ReadList(aggregate.variable, self.add_column(column), aggregate.semantics)
        return (self.add_read(values),)

    def translate_basic_aggregate(self, aggregate: Aggregate) -> SqlPieces | None:
        """Translate a count, sum, average or extreme to reads.

        An average of decimals is a sum and a count, which Spark divides as its own `avg` does.
        """
        form = find_basic_form(aggregate)
        if form is None:
            return None
        function = form.function
        column = form.column
        assert function is not None
        if column is None:
            return (self.add_basic_aggregate(Reduction.COUNT, form.aggregate),)
        type_ = self.types[column]
        if function.is_extreme and type_.family in COMPARED_BY_SPARK:
            return None
        if function.adds and type_.family not in NUMBERS:
            return None
        if function is not Reduction.AVG or type_.family is not Family.DECIMAL:
            return (self.add_basic_aggregate(function, form.aggregate, column),)
        average_type = find_average_type(type_)
        if not keeps_digits(average_type.precision, average_type.scale, DIGITS_OF_AVERAGE):
            return None
        total = self.add_basic_aggregate(Reduction.SUM, form.aggregate, column)
        count = self.add_basic_aggregate(Reduction.COUNT, form.aggregate, column)
        return write_decimal_average(total, count, average_type.name.upper())

    def translate_chosen_value(self, aggregate: Aggregate) -> SqlPieces | None:
        """Translate an aggregate that chooses a row, such as `max_by(A.name, A.price)`, to a read.

        Only Spark can choose the row if the workers do not compare values of the type or get them
        as another type.
        """
        if not may_choose(aggregate):
            return None
        columns = [build_aggregate_term_column(argument) for argument in aggregate.arguments]
        if not all(self.types[column].family in SAME_IN_PYTHON for column in columns):
            return None
        if not self.can_test_filter(aggregate):
            return None
        value, *keys = map(self.add_column, columns)
        read = ReadChosenValue(
            function=aggregate.function,
            variable=aggregate.variable,
            column=value,
            semantics=aggregate.semantics,
            key=keys[0] if keys else None,
            condition=self.add_filter(aggregate),
            ignores_nulls=aggregate.ignore_nulls,
        )
        return (self.add_read(read),)

    def translate_accumulated(self, aggregate: Aggregate) -> SqlPieces | None:
        """Translate an aggregate that workers add up row by row, up to the last row, to a read.

        If each row of a match has an output row, Spark would get the whole match for each of them,
        which takes the square of its length. Only Spark can compute the aggregate if it may fail or
        if workers may differ from it in the last bit.
        """
        if not may_accumulate(self.plan, aggregate):
            return None
        from matchrec.conditions.accumulators.table import AGGREGATES  # few queries need it

        columns = [build_aggregate_term_column(argument) for argument in aggregate.arguments]
        types = tuple(self.types[column] for column in columns)
        function = aggregate.function
        use = AggregateUse(types, aggregate.distinct, aggregate.ignore_nulls).with_settings(
            self.session
        )
        families = NUMBERS if function in STATISTICS else SAME_IN_PYTHON
        if not all(type_.family in families for type_ in types):
            return None
        if not AGGREGATES[function].find_type(use) or not self.can_test_filter(aggregate):
            return None
        read = ReadAccumulated(
            function=function,
            variable=aggregate.variable,
            columns=tuple(self.add_column(column) for column in columns),
            semantics=aggregate.semantics,
            use=use,
            condition=self.add_filter(aggregate),
        )
        return (self.add_read(read),)

    def can_test_filter(self, aggregate: Aggregate) -> bool:
        """Return whether workers can test the FILTER of an aggregate, or it has none."""
        if aggregate.condition is None:
            return True
        condition = build_aggregate_term_column(aggregate.condition)
        return self.types[condition].family is Family.BOOLEAN

    def add_filter(self, aggregate: Aggregate) -> int | None:
        """Add the column of an aggregate's FILTER, and return its index; None without FILTER."""
        if aggregate.condition is None:
            return None
        return self.add_column(build_aggregate_term_column(aggregate.condition))

    # Aggregates that Spark computes.

    def translate_spark_aggregate(self, aggregate: Aggregate) -> SqlPieces:
        """Translate an aggregate to one that Spark computes over the rows of the match."""
        # `list_reads` replaces this read by one with the columns of all aggregates.
        self.add_read(ReadRowsForSpark(()))
        members = sorted(self.plan.members[aggregate.variable])
        is_running = aggregate.semantics is Semantics.RUNNING
        row_aggregate = RowAggregate(
            call=aggregate,
            variables=tuple(self.plan.variables[member] for member in members),
            arguments=tuple(self.translate_term(argument) for argument in aggregate.arguments),
            ordering=tuple((self.translate_term(key), words) for key, words in aggregate.ordering),
            condition=(
                None if aggregate.condition is None else self.translate_term(aggregate.condition)
            ),
            last_position=self.add_read(ReadPosition()) if is_running else None,
        )
        if row_aggregate not in self.aggregates:
            self.aggregates.append(row_aggregate)
        return (AggregateInSql(self.aggregates.index(row_aggregate)),)

    def translate_term(self, term: Scalar) -> RowTerm:
        """Translate a term that Spark evaluates on each row of the match."""
        if term.references and reads_columns_only(term):
            return (self.write_row_value(build_aggregate_term_column(term)),)
        return tuple(self.translate_term_piece(piece) for piece in term.pieces)

    def translate_term_piece(self, piece: TextPiece) -> str | ReadInSql:
        """Translate one piece of a term of `translate_term`."""
        match piece:
            case str():
                return piece
            case ColumnReference(argument=argument):
                return self.write_row_value(build_row_column(argument))
            case Classifier():
                return ROW_VARIABLE
            case MatchValue(MatchFunction.NUMBER):
                return self.add_read(ReadMatchNumber())
            case MatchValue(MatchFunction.ROW_NUMBER):
                return f"({ROW_POSITION} + 1)"
            case Aggregate() | MatchValue():
                raise AssertionError(piece)
            case _:
                assert_never(piece)

    def write_row_value(self, column: RowColumn) -> str:
        """Add a column to the rows that Spark aggregates, and return its SQL on one of them."""
        index = self.add_column(column)
        return name_row_value(self.row_value_numbers.setdefault(index, len(self.row_value_numbers)))

    # Runs that end before they are matches: they time out, or the partition ends.

    def translate_status(self) -> SqlPieces:
        """Translate MATCH_STATUS(), which names what has become of a run."""
        names: list[tuple[int, SqlPieces]] = [
            (A_MATCH, ("'MATCHED'",)),
            (TIMED_OUT, ("'TIMED OUT'",)),
        ]
        return write_case(self.add_read(ReadKind()), names, ("'UNFINISHED'",))

    def translate_timeout_function(self) -> SqlPieces:
        """Translate MATCH_TIMEOUT(): the time at which the window of a run that timed out ended.

        NULL if the run did not time out.
        """
        kind = self.add_read(ReadKind())
        within = self.plan.within
        if within is None:  # nothing times out
            return ("NULL",)
        window = build_window_columns(self.plan, within.interval)
        first = Navigation(end=End.FIRST, semantics=Semantics.FINAL)
        end: SqlPieces
        if within.distance is None:
            end = (self.add_read(ReadAt(self.add_column(window.end), first)),)
        else:
            start = self.add_read(ReadAt(self.add_column(window.order), first))
            end = f"{SUM_OR_NULL}(", start, f", {write_window_length(within.interval)})"
        return write_case(kind, [(TIMED_OUT, end)])

    def translate_timeouts(self, timeouts: Timeouts) -> SqlPieces:
        """Translate the time at which a window of a run of stages ended.

        NULL if the run did not time out. A run times out at the end of the match's window or of a
        window between neighbours, whichever is earlier.
        """
        kind = self.add_read(ReadKind())
        match_end = None
        ends_by_kind: list[tuple[int, SqlPieces]] = []
        if timeouts.match_end is not None:
            match_end = self.translate_measure(timeouts.match_end)
            ends_by_kind.append((TIMED_OUT, match_end))
        for number, window in enumerate(timeouts.neighbour_windows):
            end = self.translate_measure(window.end)
            if match_end is not None:
                end = ("least(", *match_end, ", ", *end, ")")
            ends_by_kind.append((FIRST_NEIGHBOUR_WINDOW + number, end))
        return write_case(kind, ends_by_kind) if ends_by_kind else ("NULL",)


# Which aggregates of measures workers can compute, if the types allow it.


def may_accumulate(plan: MatchPlan, aggregate: Aggregate) -> bool:
    """Return whether workers can add up an aggregate row by row, if its types allow it.

    Among DISTINCT aggregates, they can add up only counts: the sum of the distinct numbers depends
    on their order, because doubles are rounded. A count without DISTINCT is a basic aggregate.
    """
    is_count = aggregate.function == "count"
    return (
        current_shortcuts().accumulators
        and not (plan.rows_per_match.has_one_row_per_match or aggregate.ordering)
        and (is_count or aggregate.function in STATISTICS)
        # A count must be DISTINCT, and a statistic must not be.
        and aggregate.distinct == is_count
        and len(aggregate.arguments) > 0
        and all(term.references and reads_columns_only(term) for term in list_inputs(aggregate))
    )


def may_choose(aggregate: Aggregate) -> bool:
    """Return whether workers can choose the row of an aggregate, if its types allow it."""
    choice = find_entry(aggregate.function).choice
    return (
        current_shortcuts().accumulators
        and choice is not None
        and len(aggregate.arguments) == 1 + choice.has_key
        and not (aggregate.distinct or aggregate.ordering)
        and all(term.references and reads_columns_only(term) for term in list_inputs(aggregate))
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
