"""Collect the reads of one query, and the columns that they need.

`measure_translator` adds what each measure needs. A read, a column or an aggregate that is needed
twice is collected once, so every `add_...` method returns where the value is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from matchrec.conditions.row_column import RowColumn
from matchrec.output.measure_sql import AggregateInSql, ReadInSql, RowAggregate, name_row_value
from matchrec.output.reads import Read, ReadIsMatched, ReadNothing, ReadRow, ReadRowsForEngine
from matchrec.plan.clauses import RowsPerMatch

# The read of the rows of a match. Its columns serve all aggregates, which are known only
# after all measures are translated: `ReadCollector.list_reads` puts them in.
ROWS_FOR_ENGINE = ReadRowsForEngine(columns=())


@dataclass(eq=False, slots=True)
class ReadCollector:
    """A collector of what the output of one query reads, while its columns are translated."""

    # The columns that are sent to the workers, with their indices. All queries that share the rows
    # share this dictionary: columns that this query needs and that are missing are added to it.
    sent_columns: dict[RowColumn, int]
    # The columns that the output of this query reads, with their indices in `sent_columns`.
    columns: dict[RowColumn, int] = field(default_factory=dict)
    # The reads of this query, with their indices.
    reads: dict[Read, int] = field(default_factory=dict)
    # For each column that `aggregates` read, by its index in `sent_columns`: the number of its
    # field in the structs of `ReadRowsForEngine`.
    row_value_numbers: dict[int, int] = field(default_factory=dict)
    # The aggregates that the engine computes for each output row, over the rows of its match.
    aggregates: list[RowAggregate] = field(default_factory=list)

    def add_read(self, read: Read) -> ReadInSql:
        """Add a read to the reads of the query if it is new, and return a hole for its value."""
        return ReadInSql(self.reads.setdefault(read, len(self.reads)))

    def add_column(self, column: RowColumn) -> int:
        """Add a column to those that are sent if it is new, and return its index among them."""
        index = self.sent_columns.setdefault(column, len(self.sent_columns))
        return self.columns.setdefault(column, index)

    def add_row_value(self, column: RowColumn) -> ReadInSql:
        """Add the read of a column on the input row of the output row. Return a hole for its value.

        See `ReadRow`.
        """
        return self.add_read(ReadRow(self.add_column(column)))

    def add_value_of_match_rows(self, column: RowColumn) -> str:
        """Add a column to the rows of a match that the engine aggregates.

        Returns:
            SQL for the value of the column on one of these rows.
        """
        index = self.add_column(column)
        number = self.row_value_numbers.setdefault(index, len(self.row_value_numbers))
        return name_row_value(number)

    def add_row_aggregate(self, aggregate: RowAggregate) -> AggregateInSql:
        """Add an aggregate that the engine computes if it is new. Return a hole for its value.

        The caller must also add the read `ROWS_FOR_ENGINE`, over whose rows the engine computes it.
        """
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        return AggregateInSql(self.aggregates.index(aggregate))

    def list_reads(self, rows_per_match: RowsPerMatch) -> tuple[Read, ...]:
        """Return the reads of the query, by index, after all measures are translated.

        There is at least one read, because workers lose rows without a column. If unmatched rows
        are output, the last read says whether a row is matched.
        """
        reads = list(self.reads)
        if ROWS_FOR_ENGINE in self.reads:
            index = self.reads[ROWS_FOR_ENGINE]
            reads[index] = ReadRowsForEngine(tuple(self.row_value_numbers))
        if rows_per_match.shows_unmatched:
            reads.append(ReadIsMatched())
        return tuple(reads) or (ReadNothing(),)
