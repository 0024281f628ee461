"""The function that runs a rule set inside Spark's Python workers: rows in, matches out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import RuleSet
from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors.run.rule_sets import of_rule
from matchrec.spark import wire
from matchrec.spark.rule_sets.packing import word_columns, words_of
from matchrec.spark.rule_sets.rows import SharedRows
from matchrec.spark.rule_sets.schema import RowKind
from matchrec.spark.rule_sets.search import Columns, RuleFailure, RuleSearch, constant
from matchrec.spark.sorting.sort import sorted_batches
from matchrec.spark.sorting.sorting import Sorting
from matchrec.spark.wire import Struct
from matchrec.spark.worker.arrays import column, with_structs
from matchrec.spark.worker.batches import Piece, pieces
from matchrec.spark.worker.matching import ROWS_A_CALL

ROWS_A_BATCH = 1 << 14


class OnError(Enum):
    """What becomes of a rule that fails in a partition.

    RAISE: the query fails. KEEP: the partition has no matches of the rule, but its failure.
    """

    RAISE = "raise"
    KEEP = "keep"


@dataclass(frozen=True)
class RuleSetWorker:
    """Runs all rules over one task's stream of batches.

    slots: of each rule. schema: of the rows that come out. sorting: how the rows are to be sorted,
    None of rows that Spark has sorted. structs: columns that cross in parts. rows_a_call: see
    `worker.batches`.
    """

    rule_set: RuleSet
    slots: tuple[tuple[int, ...], ...]
    schema: pa.Schema
    on_error: OnError = OnError.RAISE
    sorting: Sorting | None = None
    structs: tuple[Struct, ...] = ()
    rows_a_call: int = ROWS_A_CALL

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of rows, rule after rule for each piece."""
        keys = tuple(map(wire.column, self.rule_set.once))
        if self.sorting is not None:
            batches = sorted_batches(batches, self.sorting)
        for piece in pieces(batches, None, keys, rows_a_call=self.rows_a_call):
            yield from joined(self.rows_of_piece(piece))

    def rows_of_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """The rows of all rules, in small batches."""
        names = word_columns(len(self.rule_set.columns), self.rule_set.conditions)
        words = words_of(piece.table, names, self.rule_set.bits)
        shared = SharedRows(with_structs(piece.table, self.structs), piece.starts, words)
        divided: dict[tuple[int, ...], SharedRows] = {(): shared}
        for number, rule in enumerate(self.rule_set.rules):
            if rule.equal not in divided:
                divided[rule.equal] = shared.divide(rule.equal)
            for columns in self.rows_of_rule(number, shared, divided[rule.equal]):
                yield self.batch(number, columns)

    def rows_of_rule(
        self, number: int, shared: SharedRows, rows: SharedRows | None = None
    ) -> Iterator[Columns]:
        """The rows of one rule; where failures are kept, those of the partitions without one.

        rows: the same as the rule divides them, if that is known.
        """
        rule = self.rule_set.rules[number]
        if rows is None:
            rows = shared.divide(rule.equal) if rule.equal else shared
        found = RuleSearch.of(self.rule_set, rule, self.slots[number], rows).columns()
        try:
            yield from found if self.on_error is OnError.RAISE else list(found)
        except RuleFailure as failure:
            if self.on_error is OnError.RAISE:
                raise of_rule(rule.name, failure.error) from failure
            yield from self.rows_without(number, shared, failure)

    def rows_without(
        self, number: int, shared: SharedRows, failure: RuleFailure
    ) -> Iterator[Columns]:
        """The rows of a rule in all partitions but that of a failure, and the failure itself."""
        failed = int(np.searchsorted(shared.starts, failure.row, side="right")) - 1
        row = shared.table.slice(int(shared.starts[failed]), 1)
        yield columns_of_failure(self.rule_set, row, failure.error)
        for first, last in ((0, failed), (failed + 1, len(shared.starts) - 1)):
            if first < last:
                yield from self.rows_of_rule(number, shared.between(first, last))

    def batch(self, number: int, columns: Columns) -> pa.RecordBatch:
        """A batch with all columns, those that are not given NULL."""
        return filled(self.schema, number, columns)


def columns_of_failure(rule_set: RuleSet, row: pa.Table, error: MatchRecognizeError) -> Columns:
    """The columns of a failed rule. row: one of the partition."""
    keys = {wire.key(i): column(row, wire.column(place)) for i, place in enumerate(rule_set.keys)}
    message = pa.array([str(error)], pa.string())
    return {wire.KIND: constant(RowKind.FAILURE, 1), **keys, wire.MESSAGE: message}


def filled(schema: pa.Schema, number: int, columns: Columns) -> pa.RecordBatch:
    """A batch of a rule's rows with all columns of a schema, those that are not given NULL."""
    count = len(columns[wire.KIND])
    given = {wire.RULE: constant(number, count)} | columns
    arrays = [
        cast(given[field.name], field.type) if field.name in given else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, names=schema.names)


def cast(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """The values as a type that differs at most in the names and marks of its parts."""
    return values if values.type == kind else values.cast(kind)


def joined(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in larger batches."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= ROWS_A_BATCH:
            yield from together(waiting)
            waiting, rows = [], 0
    yield from together(waiting)


def together(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One batch of several; none of none."""
    if batches:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()
