"""Translate measures to SQL over reads.

The reads, and the columns that they need, are added to a `ReadCollector`.

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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from typing_extensions import assert_never

from matchrec.automaton.run_endings import A_MATCH, FIRST_NEIGHBOUR_WINDOW, TIMED_OUT
from matchrec.conditions.aggregate_table import STATISTICS
from matchrec.conditions.aggregates import build_framed_aggregate, find_basic_form
from matchrec.conditions.functions.function import AggregateUse, SessionSettings
from matchrec.conditions.row_column import RowColumn, build_aggregate_term_column, build_row_column
from matchrec.conditions.run_condition import Reduction
from matchrec.conditions.types import (
    COMPARED_BY_ENGINE,
    DIGITS_OF_AVERAGE,
    NUMBERS,
    TIMES,
    VOID,
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
    ReadInSql,
    RowAggregate,
    RowTerm,
    SqlPiece,
    SqlPieces,
    write_case,
)
from matchrec.output.read_collector import ROWS_FOR_ENGINE, ReadCollector
from matchrec.output.reads import (
    ReadAccumulated,
    ReadBasicAggregate,
    ReadChosenValue,
    ReadClassifierName,
    ReadEndingKind,
    ReadList,
    ReadMatchedRows,
    ReadMatchNumber,
    ReadNavigation,
    ReadPosition,
    ReadRowsForEngine,
    ReadTotal,
)
from matchrec.output.worker_aggregates import can_accumulate, can_choose_row, is_collected_list
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
    reads_columns_only,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import SUM_OR_NULL, write_decimal_average
from matchrec.plan.totals import TotalAggregate

if TYPE_CHECKING:
    from matchrec.plan.stages import Timeouts


# The families of types whose values workers get unchanged, and compare as the engine does.
FAMILIES_SAME_IN_PYTHON = NUMBERS | {Family.BOOLEAN, Family.STRING, *TIMES}


@dataclass(frozen=True)
class MeasureTranslator:
    """A translator of the measures of one query to SQL over reads."""

    plan: MatchPlan
    # The types of all columns that measures may need.
    types: Mapping[RowColumn, ValueType]
    # The settings on which the types of some aggregates depend.
    session: SessionSettings
    # Collects the reads, columns and aggregates that the SQL needs.
    collector: ReadCollector

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
        """Return the SQL of a reference: for most references, a single read."""
        match reference:
            case ColumnReference(navigation, argument):
                column = self.collector.add_column(build_row_column(argument))
                return (self.collector.add_read(ReadNavigation(column, navigation)),)
            case Classifier(navigation):
                return (self.collector.add_read(ReadClassifierName(navigation)),)
            case MatchValue(MatchFunction.NUMBER):
                return (self.collector.add_read(ReadMatchNumber()),)
            case MatchValue(MatchFunction.STATUS):
                return self.translate_status()
            case MatchValue(MatchFunction.TIMEOUT):
                return self.translate_match_timeout()
            case Aggregate():
                return self.translate_aggregate(reference)
            case MatchValue():  # ROW_NUMBER is only in terms of aggregates: `translate_term_piece`
                raise AssertionError(reference)
            case _:
                assert_never(reference)

    def translate_aggregate(self, aggregate: Aggregate) -> SqlPieces:
        """Translate an aggregate to reads if workers can compute it; if not, to SQL of the engine.

        The forms of aggregates that workers can compute are tried one after the other.
        """
        if aggregate.frame is not None:
            # Only measures of `why` have frames. They read the value on the match's last row.
            last = Navigation(semantics=Semantics.FINAL)
            column = self.collector.add_column(RowColumn((build_framed_aggregate(aggregate),)))
            return (self.collector.add_read(ReadNavigation(column, last)),)
        if aggregate.function == MATCHED_ROWS:
            row = self.collector.add_column(build_row_column(write_row_sql(aggregate.arguments[0])))
            return (
                self.collector.add_read(
                    ReadMatchedRows(aggregate.variable, row, aggregate.semantics)
                ),
            )
        for translate in (
            self.translate_list,
            self.translate_basic_aggregate,
            self.translate_chosen_value,
            self.translate_accumulated,
        ):
            pieces = translate(aggregate)
            if pieces is not None:
                return pieces
        return self.translate_engine_aggregate(aggregate)

    # Aggregates that workers compute. Each method `translate_...` returns None if only the engine
    # can compute the aggregate, or if it has another form.

    def translate_list(self, aggregate: Aggregate) -> SqlPieces | None:
        """Translate the array of a variable's values, such as `collect_list(A.price)`, to a read.

        Only the engine can build the array if workers get the values as another type, as they do
        for intervals, or if the values are NULL without a type.
        """
        if not is_collected_list(aggregate):
            return None
        column = build_aggregate_term_column(aggregate.arguments[0])
        type_ = self.types[column]
        is_interval = type_.family in (Family.MONTHS, Family.INTERVAL) or type_.name == "interval"
        if is_interval or type_ == VOID:
            return None
        values = ReadList(
            aggregate.variable, self.collector.add_column(column), aggregate.semantics
        )
        return (self.collector.add_read(values),)

    def translate_basic_aggregate(self, aggregate: Aggregate) -> SqlPieces | None:
        """Translate a count, sum, average or extreme to reads.

        An average of decimals is a sum and a count, which the engine divides as its own `avg` does.
        """
        form = find_basic_form(aggregate)
        if form is None:
            return None
        function = form.function
        assert function is not None, "a basic form has a function"
        column = form.column
        if column is None:
            return (self.add_basic_aggregate(Reduction.COUNT, form.aggregate),)
        type_ = self.types[column]
        if function.is_extreme and type_.family in COMPARED_BY_ENGINE:
            return None
        if function.is_additive and type_.family not in NUMBERS:
            return None
        if function is not Reduction.AVG or type_.family is not Family.DECIMAL:
            return (self.add_basic_aggregate(function, form.aggregate, column),)
        average_type = find_average_type(type_)
        if not keeps_digits(average_type.precision, average_type.scale, DIGITS_OF_AVERAGE):
            return None  # the engine would round the quotient, so only its own `avg` is exact
        total = self.add_basic_aggregate(Reduction.SUM, form.aggregate, column)
        count = self.add_basic_aggregate(Reduction.COUNT, form.aggregate, column)
        return write_decimal_average(total, count, average_type.name.upper())

    def add_basic_aggregate(
        self, function: Reduction, aggregate: Aggregate, column: RowColumn | None = None
    ) -> ReadInSql:
        """Add the read of a basic aggregate, and return it as SQL.

        Args:
            function: the count, sum, average or extreme to read.
            aggregate: the aggregate of the measure. The read has the same variable and semantics.
            column: the column of the values; None to count rows.
        """
        index = None if column is None else self.collector.add_column(column)
        return self.collector.add_read(
            ReadBasicAggregate(function, aggregate.variable, index, aggregate.semantics)
        )

    def translate_chosen_value(self, aggregate: Aggregate) -> SqlPieces | None:
        """Translate an aggregate that chooses a row, such as `max_by(A.name, A.price)`, to a read.

        Only the engine can choose the row if workers compare values of the type differently, or
        get them as another type.
        """
        if not can_choose_row(aggregate):
            return None
        columns = [build_aggregate_term_column(argument) for argument in aggregate.arguments]
        if not all(self.types[column].family in FAMILIES_SAME_IN_PYTHON for column in columns):
            return None
        if not self.can_test_filter(aggregate):
            return None
        has_key = len(columns) > 1
        read = ReadChosenValue(
            function=aggregate.function,
            variable=aggregate.variable,
            column=self.collector.add_column(columns[0]),
            semantics=aggregate.semantics,
            key=self.collector.add_column(columns[1]) if has_key else None,
            condition=self.add_filter(aggregate),
            ignores_nulls=aggregate.ignore_nulls,
        )
        return (self.collector.add_read(read),)

    def translate_accumulated(self, aggregate: Aggregate) -> SqlPieces | None:
        """Translate an aggregate that workers add up row by row, in Python, to a read.

        The engine would get the whole match for each row of a match, so its work would grow with
        the square of the number of rows. Only the engine can compute the aggregate if no
        accumulator has its types, or if Python compares its values differently.
        """
        if not can_accumulate(self.plan, aggregate):
            return None
        from matchrec.conditions.accumulators.table import AGGREGATES  # few queries need it

        columns = [build_aggregate_term_column(argument) for argument in aggregate.arguments]
        types = tuple(self.types[column] for column in columns)
        function = aggregate.function
        aggregate_use = AggregateUse(
            types, distinct=aggregate.is_distinct, ignore_nulls=aggregate.ignore_nulls
        ).with_settings(self.session)
        families = NUMBERS if function in STATISTICS else FAMILIES_SAME_IN_PYTHON
        if not all(type_.family in families for type_ in types):
            return None
        if not AGGREGATES[function].find_type(aggregate_use) or not self.can_test_filter(aggregate):
            return None
        read = ReadAccumulated(
            function=function,
            variable=aggregate.variable,
            columns=tuple(self.collector.add_column(column) for column in columns),
            semantics=aggregate.semantics,
            aggregate_use=aggregate_use,
            condition=self.add_filter(aggregate),
        )
        return (self.collector.add_read(read),)

    def can_test_filter(self, aggregate: Aggregate) -> bool:
        """Return whether workers can test the FILTER of an aggregate. True if it has none."""
        if aggregate.condition is None:
            return True
        condition = build_aggregate_term_column(aggregate.condition)
        return self.types[condition].family is Family.BOOLEAN

    def add_filter(self, aggregate: Aggregate) -> int | None:
        """Add the column of an aggregate's FILTER, and return its index; None without FILTER."""
        if aggregate.condition is None:
            return None
        return self.collector.add_column(build_aggregate_term_column(aggregate.condition))

    # Aggregates that the engine computes.

    def translate_engine_aggregate(self, aggregate: Aggregate) -> SqlPieces:
        """Translate an aggregate to one that the engine computes over the rows of the match."""
        self.collector.add_read(ROWS_FOR_ENGINE)
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
            last_position=self.collector.add_read(ReadPosition()) if is_running else None,
        )
        return (self.collector.add_row_aggregate(row_aggregate),)

    def translate_term(self, term: Scalar) -> RowTerm:
        """Translate a term of an aggregate that the engine evaluates on each row of the match.

        A term that reads only columns is computed before the match, as one column. Otherwise each
        of its references is translated.
        """
        if term.references and reads_columns_only(term):
            return (self.collector.add_value_of_match_rows(build_aggregate_term_column(term)),)
        return tuple(self.translate_term_piece(piece) for piece in term.pieces)

    def translate_term_piece(self, piece: TextPiece) -> str | ReadInSql:
        """Translate a text or a reference in a term of `translate_term`."""
        match piece:
            case str():
                return piece
            case ColumnReference(argument=argument):
                return self.collector.add_value_of_match_rows(build_row_column(argument))
            case Classifier():
                return ROW_VARIABLE
            case MatchValue(MatchFunction.NUMBER):
                return self.collector.add_read(ReadMatchNumber())
            case MatchValue(MatchFunction.ROW_NUMBER):
                return f"({ROW_POSITION} + 1)"
            case Aggregate() | MatchValue():
                raise AssertionError(piece)
            case _:
                assert_never(piece)

    def translate_total(self, total: TotalAggregate, measure: Scalar | None) -> ReadInSql:
        """Translate an aggregate over all matches to a read.

        Args:
            total: the aggregate, which names the measure.
            measure: the measure that is aggregated; None to count matches.

        Raises:
            MustBuildMatchesError: the engine computes the measure or a part of it, or workers need
                the built match for it.
        """
        if measure is None:
            return self.collector.add_read(ReadTotal(total, measure=None))
        # The workers return no column of what the measure itself reads, so another collector gets
        # its reads. It shares the columns.
        measure_collector = ReadCollector(
            sent_columns=self.collector.sent_columns, columns=self.collector.columns
        )
        measure_translator = replace(self, collector=measure_collector)
        pieces = measure_translator.translate_measure(measure)
        if len(pieces) == 1 and isinstance(pieces[0], ReadInSql):
            read = list(measure_collector.reads)[pieces[0].index]
            if isinstance(read, ReadNavigation | ReadBasicAggregate):
                return self.collector.add_read(ReadTotal(total, read))
            if not isinstance(read, ReadRowsForEngine):
                raise errors.MustBuildMatchesError(errors.MEASURE_NOT_CARRIED)
        raise errors.MustBuildMatchesError(errors.MEASURE_BY_ENGINE)

    # Why a run ended: the run is a match, its window ended (it timed out), or its partition ended.

    def translate_status(self) -> SqlPieces:
        """Translate MATCH_STATUS(): 'MATCHED', 'TIMED OUT' or 'UNFINISHED'."""
        ending_kind = self.collector.add_read(ReadEndingKind())
        texts_by_kind: list[tuple[int, SqlPieces]] = [
            (A_MATCH, ("'MATCHED'",)),
            (TIMED_OUT, ("'TIMED OUT'",)),
        ]
        return write_case(ending_kind, texts_by_kind, otherwise=("'UNFINISHED'",))

    def translate_match_timeout(self) -> SqlPieces:
        """Translate MATCH_TIMEOUT(): the time at which the window of a run that timed out ended.

        NULL if the run did not time out.
        """
        within = self.plan.within
        if within is None:  # nothing times out
            return ("NULL",)
        ending_kind = self.collector.add_read(ReadEndingKind())
        window = build_window_columns(self.plan, within.interval)
        first = Navigation(end=End.FIRST, semantics=Semantics.FINAL)
        end: SqlPieces
        if within.distance is None:  # a length of time, which a column adds to the time of a row
            end_column = self.collector.add_column(window.end)
            end = (self.collector.add_read(ReadNavigation(end_column, first)),)
        else:
            order_column = self.collector.add_column(window.order)
            start = self.collector.add_read(ReadNavigation(order_column, first))
            end = f"{SUM_OR_NULL}(", start, f", {write_window_length(within.interval)})"
        return write_case(ending_kind, [(TIMED_OUT, end)])

    def translate_stage_timeouts(self, timeouts: Timeouts) -> SqlPieces:
        """Translate the time at which a window of a run of stages ended.

        NULL if the run did not time out. A run times out at the end of the match's window or of a
        window between neighbours, whichever is earlier.

        Args:
            timeouts: the ends of the windows, as measures.
        """
        if timeouts.match_end is None and not timeouts.neighbour_windows:  # nothing times out
            return ("NULL",)
        ending_kind = self.collector.add_read(ReadEndingKind())
        ends_by_kind: list[tuple[int, SqlPieces]] = []
        match_end = None
        if timeouts.match_end is not None:
            match_end = self.translate_measure(timeouts.match_end)
            ends_by_kind.append((TIMED_OUT, match_end))
        for index, window in enumerate(timeouts.neighbour_windows):
            end = self.translate_measure(window.end)
            if match_end is not None:
                end = ("least(", *match_end, ", ", *end, ")")
            ends_by_kind.append((FIRST_NEIGHBOUR_WINDOW + index, end))
        return write_case(ending_kind, ends_by_kind)
