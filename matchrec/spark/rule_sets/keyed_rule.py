"""One rule of a set over the events of some keys: a search that goes on, with the rows of a set."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import pyarrow as pa

from matchrec.compile.rule_set import LinkedRule, RuleSet
from matchrec.dataclass import dataclass
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import Partitions
from matchrec.output.rows import OutputRows, output_rows
from matchrec.spark.rule_sets.rows import SharedRows
from matchrec.spark.rule_sets.search import RuleSearch
from matchrec.spark.rule_sets.worker import filled
from matchrec.spark.streaming.contiguous import ContiguousSearch
from matchrec.spark.streaming.selecting import KnownRows, SelectingSearch
from matchrec.spark.worker.batches import Piece
from matchrec.spark.worker.match import Worker


@dataclass(frozen=True)
class RuleOutput:
    """What makes rows of a set of a rule's matches.

    rule_set: over all columns. number: of the rule. slots: its own. schema: of the rows.
    """

    rule_set: RuleSet
    number: int
    slots: tuple[int, ...]
    schema: pa.Schema

    @property
    def rule(self) -> LinkedRule:
        """The rule, linked."""
        return self.rule_set.rules[self.number]

    def batches(
        self, table: pa.Table, partitions: Partitions, matches: Matches, rows: OutputRows
    ) -> Iterator[pa.RecordBatch]:
        """Raises SumOverflow. rows: that come out for the matches."""
        shared = SharedRows(table, partitions.starts, partitions.satisfied)
        search = RuleSearch(self.rule_set, self.rule, self.slots, shared, table, partitions)
        for columns in search.rows_of(matches, rows):
            yield filled(self.schema, self.number, columns)


@dataclass(frozen=True, kw_only=True)
class RuleWorker(Worker):
    """Searches for one rule."""

    output: RuleOutput

    def find_matches(self, partitions: Partitions, _piece: Piece) -> Iterator[Matches]:
        """Matches with all of their rows, which are asked of each."""
        return self.executable.algorithm.search(self.executable.task, partitions)

    def output_of(
        self, piece: Piece, partitions: Partitions, matches: Matches, rows: OutputRows
    ) -> Iterator[pa.RecordBatch]:
        return self.output.batches(piece.table, partitions, matches, rows)


@dataclass(frozen=True, kw_only=True)
class ContiguousRule(ContiguousSearch):
    """A rule whose matches are rows in a row."""

    output: RuleOutput

    @cached_property
    def worker(self) -> RuleWorker:
        return RuleWorker(self.open_executable, output=self.output)

    @cached_property
    def counts(self) -> bool:
        """Each match of a set has its number."""
        return True


@dataclass(frozen=True, kw_only=True)
class SelectingRule(SelectingSearch):
    """A rule whose matches may skip rows."""

    output: RuleOutput

    @property
    def counts(self) -> bool:
        """Each match of a set has its number."""
        return True

    def gather(self, rows: KnownRows, matches: Matches) -> Iterator[pa.RecordBatch]:
        out = output_rows(matches, self.executable.rows_per_match)
        return self.output.batches(rows.table, rows.partitions, matches, out)
