"""Translate measures to SQL over reads, and collect the reads and the columns that they need.

A reference of a measure (`LAST(A.price)`) becomes a read: a column that the workers fill. The
engine evaluates the text around the references over these columns. For example,

    MEASURES LAST(A.price) - FIRST(price) AS change

is translated to (ReadInSql(0), " - ", ReadInSql(1)), with these reads of column 0, `price`:

    0    ReadNavigation(0, LAST(A.price))
    1    ReadNavigation(0, FIRST(price))

An aggregate that the workers can compute becomes a read, too. Any other aggregate is computed by
the engine over the rows of the match, which are read as one array of structs.
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
    ReadBasicAggregate,
    ReadChosenValue,
    ReadClassifierName,
    ReadIsMatched,
    ReadList,
    ReadMatchedRows,
    ReadMatchKind,
    ReadMatchNumber,
    ReadNavigation,
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


# Families of types whose values workers get unchanged, and compare as the engine does.
SAME_IN_PYTHON = NUMBERS | {Family.BOOLEAN, Family.STRING, *TIMES}

# The read of the rows of a match. Its columns serve all aggregates, which are known only
# after all measures are translated: `ReadCollector.list_reads` puts them in.
ROWS_FOR_SPARK = ReadRowsForSpark(columns=())


@dataclass(eq=False, slots=True)
class ReadCollector:
    """A translator of the measures of one query, which collects what they read.

    A `translate_...` method returns SQL, and adds the reads and columns that the SQL needs. An
    `add_...` method returns where the added value is found. What is there already is not added
    again.
    """

    plan: MatchPlan
    # The types of all columns that measures may need.
    types: Mapping[RowColumn, ValueType]
    # The columns that are sent to the workers, with their indices. The queries of a rule set share
    # this dictionary: columns that this query needs and that are missing are added to it.
    sent_columns: dict[RowColumn, int]
    session: SessionSettings
    # The columns that the measures of this query read, with their indices in `sent_columns`.
    columns: dict[RowColumn, int] = field(default_factory=dict)
    # The reads of this query, with their indices.
    reads: dict[Read, int] = field(default_factory=dict)
    # For each column that `aggregates` read, by its index in `sent_columns`: the number of its
    # field in the structs of `ReadRowsForSpark`.
    row_value_numbers: dict[int, int] = field(default_factory=dict)
    # The aggregates that the engine computes for each output row, over the rows of its match.
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
        """Add the read of a column on the row of the output row, and return it as SQL."""
        return self.add_read(ReadRow(self.add_column(column)))

    def add_basic_aggregate(
        self, function: Reduction, aggregate: Aggregate, column: RowColumn | None = None
    ) -> ReadInSql:
        """Add the read of a basic aggregate, and return it as SQL.

        Args:
            function: the basic aggregate.
            aggregate: the aggregate of the measure, whose variable and semantics are those of the
                read.
            column: the column of the values; None to count rows.
        """
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
            MustBuildMatchesError: the engine computes the measure or a part of it.
        """
        if measure is None:
            return self.add_read(ReadTotal(total, measure=None))
        # The workers return no column of what the measure itself reads, so another collector gets
        # its reads. It shares the columns.
        measure_collector = ReadCollector(
            self.plan, self.types, self.sent_columns, self.session, self.columns
        )
        measure_sql = measure_collector.translate_measure(measure)
        measure_reads = list(measure_collector.reads)
        match measure_sql:
            case (ReadInSql(index),):
                read = measure_reads[index]
                if isinstance(read, ReadNavigation | ReadBasicAggregate):
                    return self.add_read(ReadTotal(total, read))
        raise errors.MustBuildMatchesError(errors.MEASURE_BY_SPARK)

    def list_reads(self, rows_per_match: RowsPerMatch) -> tuple[Read, ...]:
        """Return the reads of the query, by index, after all measures are translated.

        There is at least one, since workers lose rows without a column. If unmatched rows are
        output, the last read says whether a row is matched.
        """
        reads = list(self.reads)
        if ROWS_FOR_SPARK in self.reads:
            index = self.reads[ROWS_FOR_SPARK]
            reads[index] = ReadRowsForSpark(tuple(self.row_value_numbers))
        if rows_per_match.shows_unmatched:
            reads.append(ReadIsMatched())
        return tuple(reads) or (ReadNothing(),)

    # Measures.

    def translate_measure(self, scalar: Scalar) -> SqlPieces:
        """Return the text of a measure, with each reference replaced by SQL over reads."""
        pieces: list[SqlPiece] = []
        for piece in scalar.pieces:
            if isinstance(piece, str):
                pieces.append(piece)
            else:
                pieces += self.translate_reference(piece)
        return tuple(pieces)

    def translate_reference(self, reference: Reference) -> SqlPieces:
        """Return the SQL of a reference: for most, a single read."""
        match reference:
            case ColumnReference(navigation, argument):
                column = self.add_column(build_row_column(argument))
                return (self.add_read(ReadNavigation(column, navigation)),)
            case Classifier(navigation):
                return (self.add_read(ReadClassifierName(navigation)),)
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
        """Translate an aggregate: to reads if workers can compute it, else to the engine's own.

        The forms of aggregates that workers can compute are tried one after the other.
        """
        if aggregate.frame is not None:
            # Only measures of `why` have frames. They read the value on the match's last row.
            last = Navigation(semantics=Semantics.FINAL)
            column = self.add_column(RowColumn((build_framed_aggregate(aggregate),)))
            return (self.add_read(ReadNavigation(column, last)),)
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

        Only the engine can build the array if workers get the values as another type, as they do
        for intervals, or if the values are NULL without a type.
        """
        if not is_collected_list(aggregate):
            return None
        column = build_aggregate_term_column(aggregate.arguments[0])
        type_ = self.types[column]
        if type_.family in (Family.MONTHS, Family.INTERVAL) or type_.name in ("interval", "void"):
            return None
        values = ReadList(aggregate.variable, self.add_column(column), aggregate.semantics)
        return (self.add_read(values),)

    def translate_basic_aggregate(self, aggregate: Aggregate) -> SqlPieces | None:
        """Translate a count, sum, average or extreme to reads.

        An average of decimals is a sum and a count, which the engine divides as its own `avg` does.
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

        Only the engine can choose the row if workers compare values of the type differently, or
        get them as another type.
        """
        if not can_choose_row(aggregate):
            return None
        columns = [build_aggregate_term_column(argument) for argument in aggregate.arguments]
        if not all(self.types[column].family in SAME_IN_PYTHON for column in columns):
            return None
        if not self.can_test_filter(aggregate):
            return None
        has_key = len(columns) > 1
        read = ReadChosenValue(
            function=aggregate.function,
            variable=aggregate.variable,
            column=self.add_column(columns[0]),
            semantics=aggregate.semantics,
            key=self.add_column(columns[1]) if has_key else None,
            condition=self.add_filter(aggregate),
            ignores_nulls=aggregate.ignore_nulls,
        )
        return (self.add_read(read),)

    def translate_accumulated(self, aggregate: Aggregate) -> SqlPieces | None:
        """Translate an aggregate that workers add up row by row, in Python, to a read.

        The engine would get the whole match for each row of a match, so its work grows with the
        square of the number of rows. But only the engine can compute the aggregate if its types
        do not fit a Python accumulator, or its values differ in Python.
        """
        if not can_accumulate(self.plan, aggregate):
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

    # Aggregates that the engine computes.

    def translate_spark_aggregate(self, aggregate: Aggregate) -> SqlPieces:
        """Translate an aggregate to one that the engine computes over the rows of the match."""
        self.add_read(ROWS_FOR_SPARK)
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
        """Translate a term of an aggregate that the engine evaluates on each row of the match.

        A term that reads only columns is computed before the match, as one column. Otherwise each
        of its references is translated.
        """
        if term.references and reads_columns_only(term):
            return (self.write_row_value(build_aggregate_term_column(term)),)
        return tuple(self.translate_term_piece(piece) for piece in term.pieces)

    def translate_term_piece(self, piece: TextPiece) -> str | ReadInSql:
        """Translate a text or a reference in a term of `translate_term`."""
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
        """Add a column to the rows that the engine aggregates, and return its SQL on a row."""
        index = self.add_column(column)
        number = self.row_value_numbers.setdefault(index, len(self.row_value_numbers))
        return name_row_value(number)

    # Why a run ended: it is a match, its window ended (it timed out), or its partition ended.

    def translate_status(self) -> SqlPieces:
        """Translate MATCH_STATUS(): 'MATCHED', 'TIMED OUT' or 'UNFINISHED'."""
        names: list[tuple[int, SqlPieces]] = [
            (A_MATCH, ("'MATCHED'",)),
            (TIMED_OUT, ("'TIMED OUT'",)),
        ]
        return write_case(self.add_read(ReadMatchKind()), names, ("'UNFINISHED'",))

    def translate_timeout_function(self) -> SqlPieces:
        """Translate MATCH_TIMEOUT(): the time at which the window of a run that timed out ended.

        NULL if the run did not time out.
        """
        match_kind = self.add_read(ReadMatchKind())
        within = self.plan.within
        if within is None:  # nothing times out
            return ("NULL",)
        window = build_window_columns(self.plan, within.interval)
        first = Navigation(end=End.FIRST, semantics=Semantics.FINAL)
        end: SqlPieces
        if within.distance is None:
            end = (self.add_read(ReadNavigation(self.add_column(window.end), first)),)
        else:
            start = self.add_read(ReadNavigation(self.add_column(window.order), first))
            end = f"{SUM_OR_NULL}(", start, f", {write_window_length(within.interval)})"
        return write_case(match_kind, [(TIMED_OUT, end)])

    def translate_timeouts(self, timeouts: Timeouts) -> SqlPieces:
        """Translate the time at which a window of a run of stages ended.

        NULL if the run did not time out. A run times out at the end of the match's window or of a
        window between neighbours, whichever is earlier.

        Args:
            timeouts: the ends of the windows, as measures.
        """
        match_kind = self.add_read(ReadMatchKind())
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
        return write_case(match_kind, ends_by_kind) if ends_by_kind else ("NULL",)


# Which aggregates of measures workers can compute. Each function leaves the types of the values to
# its caller.


def can_accumulate(plan: MatchPlan, aggregate: Aggregate) -> bool:
    """Return whether workers can add up an aggregate row by row, if its types allow it.

    That is a count of distinct values or a statistic, if each row of a match has an output row.

    Workers compute no statistic of distinct numbers: it depends on their order, because doubles are
    rounded. A count without DISTINCT is a basic aggregate.
    """
    is_count = aggregate.function == "count"
    return (
        current_shortcuts().accumulators
        and not (plan.rows_per_match.has_one_row_per_match or aggregate.ordering)
        and (is_count or aggregate.function in STATISTICS)
        and aggregate.distinct == is_count  # counts with DISTINCT, statistics without
        and len(aggregate.arguments) > 0
        and all(term.references and reads_columns_only(term) for term in list_inputs(aggregate))
    )


def can_choose_row(aggregate: Aggregate) -> bool:
    """Return whether workers can choose the row of an aggregate, if its types allow it."""
    choice = find_entry(aggregate.function).choice
    return (
        current_shortcuts().accumulators
        and choice is not None
        and len(aggregate.arguments) == 1 + choice.has_key
        and not (aggregate.distinct or aggregate.ordering)
        and all(term.references and reads_columns_only(term) for term in list_inputs(aggregate))
    )


def is_collected_list(aggregate: Aggregate) -> bool:
    """Return whether an aggregate is the array of a variable's values, in the order of the rows."""
    return (
        aggregate.function in ("collect_list", "array_agg")
        and len(aggregate.arguments) == 1
        and not (aggregate.distinct or aggregate.ordering or aggregate.ignore_nulls)
        and aggregate.condition is None
        and reads_columns_only(aggregate.arguments[0])
    )
