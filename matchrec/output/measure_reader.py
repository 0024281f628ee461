"""Turns measures into reads: each reference of a measure becomes a column that a worker fills.

The text around the references stays as it is; the engine evaluates it over the columns read. An
aggregate of a basic form is a read, too. Any other aggregate is the engine's: it runs over the rows
of the match, which are read as one array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from typing_extensions import assert_never

from matchrec.automaton.program import A_MATCH, FIRST_NEAR, TIMED_OUT
from matchrec.conditions.aggregates import basic, framed
from matchrec.conditions.functions.function import AggregateUse, Settings
from matchrec.conditions.residual import RunningAggregate
from matchrec.conditions.row_column import (
    RowColumn,
    length_of,
    row_column,
    term_column,
    window_columns,
)
from matchrec.conditions.types import NUMBERS, SPARKS_OWN, TIMES, Family, ValueType, average_type
from matchrec.errors import calls as errors
from matchrec.output.reads import (
    CHOSEN,
    Read,
    ReadAccumulated,
    ReadAt,
    ReadBasicAggregate,
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
    OF_ENDINGS,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    MatchFunction,
    MatchValue,
    Navigation,
    Piece,
    Reference,
    Scalar,
    Semantics,
    looks_at_columns_only,
    row_text,
    terms,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import SUM_OR_NULL
from matchrec.plan.totals import AskedTotal
from matchrec.shortcuts import taken

if TYPE_CHECKING:
    from matchrec.plan.stages import Timeouts


# What Spark evaluates after the match: SQL text with places for reads and for aggregates.
#
# An aggregate that the workers do not compute is Spark's: `RowAggregate` says over which rows of
# the match it runs, and what it evaluates on each of them.


@dataclass(frozen=True, slots=True)
class AggregatePlace:
    """The place of an aggregate of Spark's, by index."""

    index: int


SqlPiece = str | int | AggregatePlace  # a number is the index of a read
Pieces = tuple[SqlPiece, ...]


RowTerm = tuple[str | int, ...]  # SQL over a row of the match; a number is the index of a read

# A row of the match in such SQL, the name of its variable, and its position from 0.
ROW = "__e"
VARIABLE, POSITION = f"{ROW}.v", f"{ROW}.p"


@dataclass(frozen=True, slots=True)
class RowAggregate:
    """An aggregate that Spark computes over the rows of each match.

    call: its function, and what is said beside it. variables: whose rows it is over. ordering: of
    WITHIN GROUP, each with the words after it. last: the index of the read that says up to which
    position of the match it looks; None for all of it.
    """

    call: Aggregate
    variables: tuple[str, ...]
    arguments: tuple[RowTerm, ...]
    ordering: tuple[tuple[RowTerm, str], ...]
    condition: RowTerm | None
    last: int | None


STATISTICS = frozenset(
    {
        *("std", "stddev", "stddev_pop", "stddev_samp", "var_pop", "var_samp", "variance"),
        *("median", "regr_slope"),
    }
)

# Types of values that are the same in Python and in a column.
SIMPLE = NUMBERS | {Family.BOOLEAN, Family.STRING, *TIMES}


@dataclass(eq=False, slots=True)
class MeasureReader:
    """Collects the reads of one query and the columns that they need, each once.

    columns: those of this query by their places among all that cross, to which they are added.
    reads, fields: each with its index; fields are the columns of the match's rows. aggregates:
    those that Spark computes, for each output row, over the rows of its match.
    """

    plan: MatchPlan
    types: Mapping[RowColumn, ValueType]
    crossing: dict[RowColumn, int]
    session: Settings
    columns: dict[RowColumn, int] = field(default_factory=dict)
    reads: dict[Read, int] = field(default_factory=dict)
    fields: dict[int, int] = field(default_factory=dict)
    aggregates: list[RowAggregate] = field(default_factory=list)

    def total(self, asked: AskedTotal, measure: Scalar | None) -> int:
        """The read of an aggregate over all matches. Raises NotCarriedError for one of Spark's."""
        if measure is None:
            return self.read(ReadTotal(asked, None))
        alone = MeasureReader(self.plan, self.types, self.crossing, self.session, self.columns)
        pieces, reads = alone.pieces(measure), list(alone.reads)
        of = reads[pieces[0]] if len(pieces) == 1 and isinstance(pieces[0], int) else None
        if isinstance(of, ReadAt | ReadBasicAggregate):
            return self.read(ReadTotal(asked, of))
        raise errors.NotCarriedError(errors.MEASURE_BY_SPARK)

    def row(self, column: RowColumn) -> int:
        return self.read(ReadRow(self.place(column)))

    def pieces(self, scalar: Scalar) -> Pieces:
        """The text of a measure, each reference replaced by the index of its read."""
        return tuple(
            part
            for piece in scalar.pieces
            for part in ((piece,) if isinstance(piece, str) else self.reference(piece))
        )

    def reference(self, reference: Reference) -> Pieces:
        match reference:
            case ColumnReference(navigation, argument):
                return (self.read(ReadAt(self.place(row_column(argument)), navigation)),)
            case Classifier(navigation):
                return (self.read(ReadClassifierAt(navigation)),)
            case MatchValue(MatchFunction.NUMBER):
                return (self.read(ReadMatchNumber()),)
            case MatchValue(function):
                return ending_pieces(function, self)
            case Aggregate():
                return self.aggregate(reference)
            case _:
                assert_never(reference)

    def aggregate(self, aggregate: Aggregate) -> Pieces:
        """An aggregate as a read where its form and its type allow, else as Spark's own."""
        if aggregate.frame is not None:  # in measures of `why` alone: that of the last row
            last = Navigation(semantics=Semantics.FINAL)
            return (self.read(ReadAt(self.place(RowColumn((framed(aggregate),))), last)),)
        if aggregate.function == MATCHED_ROWS:
            row = self.place(row_column(row_text(aggregate.arguments[0])))
            return (self.read(ReadMatchedRows(aggregate.variable, row, aggregate.semantics)),)
        if is_collected(aggregate):
            read = self.collected(aggregate)
        else:
            form = basic(aggregate)
            read = None if form is None else self.basic_read(form)
            read = self.accumulated(aggregate) if read is None else read
        return self.by_spark(aggregate) if read is None else read

    def collected(self, aggregate: Aggregate) -> Pieces | None:
        """The read of `collect_list`; None of what crosses in disguise or is always NULL."""
        column = term_column(aggregate.arguments[0])
        type_ = self.types[column]
        if type_.family in (Family.MONTHS, Family.INTERVAL) or type_.name in ("interval", "void"):
            return None
        values = ReadList(aggregate.variable, self.place(column), aggregate.semantics)
        return (self.read(values),)

    def basic_read(self, form: RunningAggregate) -> Pieces | None:
        """The reads of a basic aggregate, or None for a type that is Spark's to aggregate."""
        function, column, own = form.function, form.column, form.aggregate
        assert function is not None
        if column is None:
            return (self.read_basic("count", own),)
        kind = self.types[column]
        if function in ("min", "max") and kind.family in SPARKS_OWN:
            return None
        if function in ("sum", "avg") and kind.family not in NUMBERS:
            return None
        if function != "avg" or kind.family is not Family.DECIMAL:
            return (self.read_basic(function, own, column),)
        # the sum has ten digits more than a value, the average four places more; of a quotient that
        # might not fit 38 digits Spark leaves out all places but six
        places = kind.scale + 4
        if places > 6 and kind.precision + 10 - kind.scale + places > 38:
            return None
        total = self.read_basic("sum", own, column)
        count = self.read_basic("count", own, column)
        return decimal_average(total, count, kind)

    def accumulated(self, aggregate: Aggregate) -> Pieces | None:
        """The read of an aggregate that is added up on the way to the last row of a match.

        Where each row of a match comes out, Spark would have the whole match for each of them: that
        takes the square of its length. None of what may fail, or not be the same to the last bit.
        """
        if not may_accumulate(self.plan, aggregate):
            return None
        from matchrec.conditions.accumulators import AGGREGATES  # few queries need it

        columns = [*map(term_column, aggregate.arguments)]
        types = tuple(self.types[column] for column in columns)
        function = aggregate.function
        use = AggregateUse(types, aggregate.distinct, aggregate.ignore_nulls).under(self.session)
        simple = NUMBERS if function in STATISTICS else SIMPLE
        if not {type_.family for type_ in types} <= simple or not AGGREGATES[function].result(use):
            return None
        condition = None if aggregate.condition is None else term_column(aggregate.condition)
        if condition is not None and self.types[condition].family is not Family.BOOLEAN:
            return None
        places = tuple(map(self.place, columns))
        counted = None if condition is None else self.place(condition)
        variable, semantics = aggregate.variable, aggregate.semantics
        return (self.read(ReadAccumulated(function, variable, places, semantics, use, counted)),)

    def read_basic(self, function: str, of: Aggregate, column: RowColumn | None = None) -> int:
        """Return the index of the read of a basic aggregate of a column, or of the rows."""
        place = None if column is None else self.place(column)
        return self.read(ReadBasicAggregate(function, of.variable, place, of.semantics))

    def by_spark(self, aggregate: Aggregate) -> Pieces:
        self.read(ReadRowsForSpark(()))
        condition, members = aggregate.condition, sorted(self.plan.members[aggregate.variable])
        names = tuple(self.plan.variables[member] for member in members)
        arguments = tuple(map(self.term, aggregate.arguments))
        ordering = tuple((self.term(one), words) for one, words in aggregate.ordering)
        counted = None if condition is None else self.term(condition)
        last = self.read(ReadPosition()) if aggregate.semantics is Semantics.RUNNING else None
        found = RowAggregate(aggregate, names, arguments, ordering, counted, last)
        if found not in self.aggregates:
            self.aggregates.append(found)
        return (AggregatePlace(self.aggregates.index(found)),)

    def term(self, term: Scalar) -> RowTerm:
        """What an aggregate evaluates on each row of the match."""
        if term.references and looks_at_columns_only(term):
            return (self.field(term_column(term)),)
        return tuple(self.term_piece(piece) for piece in term.pieces)

    def term_piece(self, piece: Piece) -> str | int:
        match piece:
            case str():
                return piece
            case ColumnReference(argument=argument):
                return self.field(row_column(argument))
            case Classifier():
                return VARIABLE
            case MatchValue(MatchFunction.NUMBER):
                return self.read(ReadMatchNumber())
            case MatchValue(MatchFunction.ROW_NUMBER):
                return f"({POSITION} + 1)"
            case Aggregate() | MatchValue():
                raise AssertionError(piece)
            case _:
                assert_never(piece)

    def field(self, column: RowColumn) -> str:
        return f"{ROW}.c{self.fields.setdefault(self.place(column), len(self.fields))}"

    def all_reads(self, rows_per_match: RowsPerMatch) -> tuple[Read, ...]:
        """The reads, at least one; last the mark of unmatched rows, where they come out."""
        rows = ReadRowsForSpark(tuple(self.fields))
        reads = tuple(rows if isinstance(read, ReadRowsForSpark) else read for read in self.reads)
        if rows_per_match.shows_unmatched:
            return (*reads, ReadIsMatched())
        return reads or (ReadNothing(),)

    def read(self, read: Read) -> int:
        return self.reads.setdefault(read, len(self.reads))

    def place(self, column: RowColumn) -> int:
        place = self.crossing.setdefault(column, len(self.crossing))
        return self.columns.setdefault(column, place)


def timeout_pieces(timeouts: Timeouts, measures: MeasureReader) -> Pieces:
    """When the window of a run ended, that of the match or one between neighbours; else NULL."""
    kind = measures.read(ReadKind())
    whole = None if timeouts.whole is None else measures.pieces(timeouts.whole)
    pieces: Pieces = ("CASE ", kind)
    if whole is not None:
        pieces = (*pieces, f" WHEN {TIMED_OUT} THEN ", *whole)
    for number, near in enumerate(timeouts.near):
        end = measures.pieces(near)
        earlier = end if whole is None else ("least(", *whole, ", ", *end, ")")
        pieces = (*pieces, f" WHEN {FIRST_NEAR + number} THEN ", *earlier)
    return (*pieces, " END") if len(pieces) > 2 else ("NULL",)


def ending_pieces(asked: MatchFunction, measures: MeasureReader) -> Pieces:
    """MATCH_STATUS(), or MATCH_TIMEOUT(): when the window of a run ended that timed out."""
    kind = measures.read(ReadKind())
    assert asked in OF_ENDINGS, asked
    if asked is MatchFunction.STATUS:
        names = f" WHEN {A_MATCH} THEN 'MATCHED' WHEN {TIMED_OUT} THEN 'TIMED OUT'"
        return ("CASE ", kind, f"{names} ELSE 'UNFINISHED' END")
    within = measures.plan.within
    if within is None:  # nothing times out
        return ("NULL",)
    window = window_columns(measures.plan, within)
    first = Navigation(end=End.FIRST, semantics=Semantics.FINAL)
    if within.distance is None:
        end: Pieces = (measures.read(ReadAt(measures.place(window[1]), first)),)
    else:
        start = measures.read(ReadAt(measures.place(window[0]), first))
        end = f"{SUM_OR_NULL}(", start, f", {length_of(within.interval)})"
    return ("CASE ", kind, f" WHEN {TIMED_OUT} THEN ", *end, " END")


def may_accumulate(plan: MatchPlan, aggregate: Aggregate) -> bool:
    """Whether an aggregate is one that is added up row by row, if its types are fit for it."""
    is_counted = aggregate.function == "count"  # a sum of numbers depends on which comes first
    return (
        taken().accumulators
        and not (plan.rows_per_match.is_one_row or aggregate.ordering)
        and (is_counted or aggregate.function in CHOSEN | STATISTICS)
        and aggregate.distinct is is_counted
        and len(aggregate.arguments) > 0
        and all(one.references and looks_at_columns_only(one) for one in terms(aggregate))
    )


def is_collected(aggregate: Aggregate) -> bool:
    """Whether an aggregate is the array of a variable's values."""
    return (
        aggregate.function in ("collect_list", "array_agg")
        and len(aggregate.arguments) == 1
        and not (aggregate.distinct or aggregate.ordering or aggregate.ignore_nulls)
        and aggregate.condition is None
        and looks_at_columns_only(aggregate.arguments[0])
    )


def decimal_average(total: int, count: int, type_: ValueType) -> Pieces:
    """Spark's avg(decimal(p,s)): the sum over the count, as decimal(p+4,s+4)."""
    divisor = ("CAST(NULLIF(", count, ", 0) AS DECIMAL(20,0))")
    return ("CAST(", total, " / ", *divisor, f" AS {average_type(type_).name.upper()})")
