"""Measures → reads: each reference of a measure becomes a column that the engine's host fills.

The text around the references stays as it is; Spark evaluates it over the columns read.
"""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.errors.conditions import aggregate_not_yet
from matchrec.output.reads import (
    Read,
    ReadAt,
    ReadAverage,
    ReadClassifierAt,
    ReadCount,
    ReadExtreme,
    ReadIsMatched,
    ReadMatchNumber,
    ReadRow,
    ReadSum,
)
from matchrec.plan.aggregates import check_form
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    MatchNumber,
    Piece,
    Reference,
    Scalar,
)
from matchrec.plan.row_column import RowColumn, row_column
from matchrec.plan.types import Family, ValueType

NUMBERS = frozenset({Family.INTEGER, Family.FLOATING, Family.DECIMAL})


class MeasureReader:
    """Collects the reads of one query and the columns that they need, each once."""

    def __init__(self, types: Mapping[RowColumn, ValueType]) -> None:
        self.types = types
        self.columns: list[RowColumn] = []
        self.reads: list[Read] = []

    def row(self, column: RowColumn) -> int:
        """The read of a column on the output row's own input row."""
        return self.read(ReadRow(self.place(column)))

    def pieces(self, scalar: Scalar) -> tuple[str | int, ...]:
        """The text of a measure, each reference replaced by the index of its read."""
        return tuple(part for piece in scalar.pieces for part in self.piece(piece))

    def piece(self, piece: Piece) -> tuple[str | int, ...]:
        return (piece,) if isinstance(piece, str) else self.reference(piece)

    def reference(self, reference: Reference) -> tuple[str | int, ...]:
        match reference:
            case ColumnReference(navigation, argument):
                return (self.read(ReadAt(self.place(row_column(argument)), navigation)),)
            case Classifier(navigation):
                return (self.read(ReadClassifierAt(navigation)),)
            case MatchNumber():
                return (self.read(ReadMatchNumber()),)
            case Aggregate():
                return self.aggregate(reference)

    def aggregate(self, aggregate: Aggregate) -> tuple[str | int, ...]:
        """count, sum, avg, min, max as reads; the average of a decimal is a division after it."""
        check_form(aggregate)
        variable, semantics = aggregate.variable, aggregate.semantics
        if not aggregate.arguments:
            return (self.read(ReadCount(variable, None, semantics)),)
        column = row_column(aggregate.arguments[0])
        place = self.place(column)
        match aggregate.function:
            case "count":
                return (self.read(ReadCount(variable, place, semantics)),)
            case "min" | "max" as function:
                return (self.read(ReadExtreme(variable, place, semantics, function == "max")),)
            case function:
                type_ = self.types[column]
                if type_.family not in NUMBERS:
                    raise aggregate_not_yet(function, f"of {type_.name}", aggregate.span)
                total = ReadSum(variable, place, semantics)
                if function == "sum":
                    return (self.read(total),)
                if type_.family is not Family.DECIMAL:
                    return (self.read(ReadAverage(variable, place, semantics)),)
                count = ReadCount(variable, place, semantics)
                return self.decimal_average(self.read(total), self.read(count), type_)

    def decimal_average(self, total: int, count: int, type_: ValueType) -> tuple[str | int, ...]:
        """Spark's avg(decimal(p,s)): the sum over the count, as decimal(p+4,s+4)."""
        precision, scale = min(38, type_.precision + 4), min(38, type_.scale + 4)
        divisor = ("CAST(NULLIF(", count, ", 0) AS DECIMAL(20,0))")
        return ("CAST(", total, " / ", *divisor, f" AS DECIMAL({precision},{scale}))")

    def all_reads(self, rows_per_match: RowsPerMatch) -> tuple[Read, ...]:
        """The reads, with the mark of unmatched rows last where they come out."""
        if rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
            return (*self.reads, ReadIsMatched())
        return tuple(self.reads)

    def read(self, read: Read) -> int:
        if read not in self.reads:
            self.reads.append(read)
        return self.reads.index(read)

    def place(self, column: RowColumn) -> int:
        if column not in self.columns:
            self.columns.append(column)
        return self.columns.index(column)
