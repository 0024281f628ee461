"""The rows of one piece as all rules of a set see them, and as one of them does."""

from __future__ import annotations

from dataclasses import field

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import LinkedRule
from matchrec.dataclass import dataclass
from matchrec.engine.partitions import BoolArray, Frontier, IntArray, WordArray
from matchrec.spark import wire
from matchrec.spark.worker.arrays import codes_of, column, number_equal
from matchrec.spark.worker.batches import Piece


@dataclass(frozen=True)
class SharedRows:
    """Rows of whole partitions.

    table: the columns of the set. starts: as of `Partitions`. words: uint64[n, w], the bits of all
    conditions. outer: int64[p], where partitions are divided for a rule, the one of the set that
    each is a part of. computed: the bits of conditions over neighbours that the words have.
    """

    table: pa.Table
    starts: IntArray
    words: WordArray
    outer: IntArray | None = None
    computed: set[int] = field(default_factory=set)

    def between(self, first: int, last: int) -> SharedRows:
        """Those of some partitions of the set, from one on and before another one."""
        begin, end = int(self.starts[first]), int(self.starts[last])
        starts = self.starts[first : last + 1] - begin
        return SharedRows(self.table.slice(begin, end - begin), starts, self.words[begin:end])

    def divide(self, places: tuple[int, ...]) -> SharedRows:
        """The same with partitions divided by equal values of some columns.

        Those of one partition come in the order of their first rows.
        """
        outer = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        codes = (codes_of(column(self.table, wire.column(place))) for place in places)
        number, _ = number_equal([outer, *codes])
        order = np.argsort(number, kind="stable")
        begins = np.flatnonzero(np.diff(number[order], prepend=-1))
        starts = np.append(begins, len(order)).astype(np.int64)
        table = self.table.take(pa.array(order)).combine_chunks()
        return SharedRows(table, starts, self.words[order], outer[order[begins]])

    def view(self, rule: LinkedRule) -> pa.Table:
        """The columns of a rule's crossing; if none, a column of bits that says how many rows."""
        columns = [column(self.table, wire.column(place)) for place in rule.columns]
        if not columns:
            return pa.table({wire.FIRST_BITS: np.zeros(self.table.num_rows, np.int8)})
        return pa.Table.from_arrays(columns, list(map(wire.column, range(len(columns)))))

    def piece(self, view: pa.Table) -> Piece:
        """The rows as a worker of one query has them."""
        covered: BoolArray = np.zeros(view.num_rows, np.bool_)
        return Piece(view, self.starts, Frontier.of(self.starts), 0, covered, view.num_rows)
