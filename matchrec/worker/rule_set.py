"""The worker of a rule set: runs all rules over the rows that they share.

The rows are sent and sorted once for all rules, and cut into pieces of whole partitions. For each
piece and each rule, a worker

1. chooses the rows that the rule sees, in the partitions of the rule (`worker.shared_rows`),
2. searches them as the worker of a single query does (`worker.match`),
3. turns the matches into rows of the output that all rules share (`worker.rule_batches`).

If a rule fails in a partition, the argument `on_error` of `matchrec.match_rules` decides: either
the output has the error instead of matches of the rule in this partition, or the task fails.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from typing_extensions import override

from matchrec.arguments import OnError
from matchrec.compile.rule_set import RuleSet
from matchrec.errors import MatchRecognizeError
from matchrec.errors.rule_sets import add_rule_name
from matchrec.output.match_reader import MatchReader
from matchrec.output.rows import OutputRows, find_one_row_per_match
from matchrec.plan.expression import End, Navigation, Semantics
from matchrec.search.matches import Matches
from matchrec.search.partitions import Partitions
from matchrec.worker import internal_names
from matchrec.worker.arrays import take_column
from matchrec.worker.encode import encode_partitions
from matchrec.worker.gather import Gatherer, make_lists_of_structs
from matchrec.worker.match import PieceWorker
from matchrec.worker.pieces import Piece
from matchrec.worker.row_locations import name_large_partitions
from matchrec.worker.rule_batches import (
    VARIABLE,
    Columns,
    RowKind,
    join_batches,
    make_batch,
    repeat_number,
)
from matchrec.worker.shared_rows import SharedRows
from matchrec.worker.task_input import TaskInput

# Navigations to the first and the last row of a match.
FIRST_ROW = Navigation(end=End.FIRST, semantics=Semantics.FINAL)
LAST_ROW = Navigation(semantics=Semantics.FINAL)


class RuleSearch(ABC):
    """The search of one rule in some partitions. It can fail in each of them."""

    @abstractmethod
    def search(self, partitions: range) -> Iterator[pa.RecordBatch]:
        """Search consecutive partitions for the matches of the rule, and yield the output.

        Args:
            partitions: the indices of the partitions; one or more.

        Raises:
            MatchRecognizeError: the rule fails in one of these partitions.
        """

    @abstractmethod
    def report_failure(self, partition: int, error: MatchRecognizeError) -> pa.RecordBatch:
        """Return the output row that says why the rule has failed in a partition.

        Args:
            partition: the index of the partition.
            error: the error that `search` has raised for this partition alone.
        """


@dataclass(frozen=True)
class RuleSetWorker:
    """A worker that runs all rules of a set over the batches of one task. Picklable."""

    output: RuleSetOutput
    # How the rows arrive.
    task_input: TaskInput

    @property
    def rule_set(self) -> RuleSet:
        """Return the rules."""
        return self.output.rule_set

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the output of all rules for each piece of the rows, rule after rule.

        Raises:
            MatchRecognizeError: a rule fails, and `on_error` is "raise". The error names the rule.
            MatchRecognizeRunError: there is too little memory for the rows of a partition.
        """
        pieces = self.task_input.read_pieces(batches, None)
        # all rules have the same partition keys
        for piece in name_large_partitions(self.rule_set.rules[0].compiled_query, pieces):
            yield from join_batches(self.search_piece(piece))

    # From rows to matches.

    def search_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """Yield the output of all rules for a piece of whole partitions.

        Raises:
            MatchRecognizeError: a rule fails, and `on_error` is "raise". The error names the rule.
        """
        all_rows = SharedRows.create(piece.table, piece.starts, self.rule_set)
        # Rules that divide the partitions by the same columns share the divided rows, by the
        # indices of these columns.
        divided_rows: dict[tuple[int, ...], SharedRows] = {}
        for rule_number, rule in enumerate(self.rule_set.rules):
            columns = rule.dividing_columns
            if rule.version.covers_all_time:
                undivided_rows = all_rows
                if columns not in divided_rows:
                    divided_rows[columns] = all_rows.divide(columns)
                rule_rows = divided_rows[columns]
            else:
                undivided_rows = all_rows.select_version(rule.version, self.rule_set)
                rule_rows = undivided_rows.divide(columns)
            if rule_rows.table.num_rows:
                yield from self.search_rule(rule_number, undivided_rows, rule_rows)

    def search_rule(
        self, rule_number: int, undivided_rows: SharedRows, rule_rows: SharedRows
    ) -> Iterator[pa.RecordBatch]:
        """Yield the output of a rule for the rows of a piece that it sees.

        A failure of the rule counts for a whole partition of the set, even if the rule divides it
        further: reports of failures have the keys of the set.

        Args:
            rule_number: the number of the rule, from 0.
            undivided_rows: the rows that the rule sees, in the partitions of the set.
            rule_rows: the same rows, in the partitions of the rule.

        Raises:
            MatchRecognizeError: the rule fails, and `on_error` is "raise". The error names the
                rule.
        """
        rule_search = PieceRuleSearch(self, rule_number, undivided_rows, rule_rows)
        yield from self.output.handle_failures(rule_number, rule_search.all_partitions, rule_search)

    def match_rule(self, rule_number: int, rule_rows: SharedRows) -> Iterator[pa.RecordBatch]:
        """Search rows for the matches of a rule, and yield the output of the rule.

        Args:
            rule_number: the number of the rule, from 0.
            rule_rows: the rows that the rule sees, in the partitions of the rule.

        Raises:
            MatchRecognizeRunError: the rows do not allow the search or a measure.
        """
        compiled_query = self.rule_set.rules[rule_number].compiled_query
        worker = PieceWorker(
            compiled_query,
            batch_maker=partial(self.output.make_batches, rule_number),
            order_columns=self.task_input.order_columns,
        )
        piece = Piece.create_whole(rule_rows.table, rule_rows.starts)
        partitions = encode_partitions(
            compiled_query, piece.table, piece.starts, piece.frontier, rule_rows.condition_bits
        )
        yield from worker.match_partitions(
            piece, partitions, rule_rows.add_nearby_bits, rule_rows.number_matches
        )


@dataclass(frozen=True)
class PieceRuleSearch(RuleSearch):
    """The search of one rule in the partitions of a piece, as the set divides the rows."""

    worker: RuleSetWorker
    # The number of the rule, from 0.
    rule_number: int
    # The rows that the rule sees, in the partitions of the set.
    undivided_rows: SharedRows
    # The same rows, in the partitions of the rule.
    rule_rows: SharedRows

    @property
    def all_partitions(self) -> range:
        """Return the indices of all partitions of the set in the piece."""
        return range(len(self.undivided_rows.starts) - 1)

    @override
    def search(self, partitions: range) -> Iterator[pa.RecordBatch]:
        rows = self.rule_rows
        if partitions != self.all_partitions:
            rule = self.worker.rule_set.rules[self.rule_number]
            rows = self.undivided_rows.select_partitions(partitions).divide(rule.dividing_columns)
        return self.worker.match_rule(self.rule_number, rows)

    @override
    def report_failure(self, partition: int, error: MatchRecognizeError) -> pa.RecordBatch:
        first_row = int(self.undivided_rows.starts[partition])
        row = self.undivided_rows.table.slice(first_row, 1)
        return self.worker.output.make_failure_row(self.rule_number, row, error)


@dataclass(frozen=True)
class RuleSetOutput:
    """The maker of a rule set's output rows, from matches and failures of its rules. Picklable.

    The rules run over whole partitions, or over a stream: `spark.streaming.stream_worker`.
    """

    rule_set: RuleSet
    # For each rule, the number of the slot of each of its reads.
    slots: tuple[tuple[int, ...], ...]
    # The schema of the output, see `worker.rule_batches`.
    schema: pa.Schema
    # What to do if a rule fails in a partition: the argument of `matchrec.match_rules`.
    on_error: OnError

    def handle_failures(
        self, rule_number: int, partitions: range, rule_search: RuleSearch
    ) -> Iterator[pa.RecordBatch]:
        """Yield the output of a rule, whose search may fail in some partitions.

        If `on_error` is not "raise", a partition in which the rule fails has only the report of the
        failure.

        Args:
            rule_number: the number of the rule, from 0.
            partitions: the indices of the partitions to search.
            rule_search: the search of the rule.

        Raises:
            MatchRecognizeError: the rule fails, and `on_error` is "raise". The error names the
                rule.
        """
        if self.on_error != "raise":
            yield from isolate_failures(partitions, rule_search)
            return
        try:
            yield from rule_search.search(partitions)
        except MatchRecognizeError as error:
            raise add_rule_name(self.rule_set.rules[rule_number].name, error) from error.__cause__

    def make_failure_row(
        self, rule_number: int, row: pa.Table, error: MatchRecognizeError
    ) -> pa.RecordBatch:
        """Return the output row that says why a rule has failed in a partition.

        Args:
            rule_number: the number of the rule, from 0.
            row: a row of the partition, from which the keys are read.
            error: the error of the rule.
        """
        keys = {
            internal_names.name_rule_key(index): take_column(row, internal_names.name_column(key))
            for index, key in enumerate(self.rule_set.keys)
        }
        columns = {
            internal_names.ROW_KIND: repeat_number(RowKind.FAILURE, 1),
            internal_names.FAILURE_MESSAGE: pa.array([str(error)], pa.string()),
            **keys,
        }
        return make_batch(self.schema, rule_number, columns)

    # From matches to output rows.

    def make_batches(
        self,
        rule_number: int,
        table: pa.Table,
        partitions: Partitions,
        matches: Matches,
        rows: OutputRows,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the output of a rule for some matches.

        With `rule_number` filled in, this is a `worker.match.BatchMaker`.

        Args:
            rule_number: the number of the rule, from 0.
            table: the input rows, with the columns that are sent.
            partitions: the same rows as the search sees them.
            matches: matches in these partitions.
            rows: the output rows of the rule for these matches.

        Raises:
            RunFailure: a measure is too large for its type, or a row is too large for Arrow.
        """
        compiled_query = self.rule_set.rules[rule_number].compiled_query
        members = compiled_query.task.members
        event_columns = self.rule_set.events.values()
        output_rows = Gatherer(
            compiled_query, table, MatchReader(matches, rows, partitions, members)
        )
        if compiled_query.rows_per_match.summarizes_matches:
            for gatherer in output_rows.divide_into_batches(event_columns):
                columns = self.describe_matches(gatherer) | self.fill_slots(rule_number, gatherer)
                yield make_batch(self.schema, rule_number, columns)
            return
        # The matches and the rows of the rule's result are separate output rows.
        match_rows = Gatherer(
            compiled_query,
            table,
            MatchReader(matches, find_one_row_per_match(matches), partitions, members),
        )
        for gatherer in match_rows.divide_into_batches(event_columns):
            yield make_batch(self.schema, rule_number, self.describe_matches(gatherer))
        for gatherer in output_rows.divide_into_batches():
            kinds = repeat_number(RowKind.ROW, gatherer.reader.output_rows.count)
            columns = {internal_names.ROW_KIND: kinds} | self.fill_slots(rule_number, gatherer)
            yield make_batch(self.schema, rule_number, columns)

    def fill_slots(self, rule_number: int, gatherer: Gatherer) -> Columns:
        """Return the columns of the slots that a rule uses, filled with the values of its reads."""
        reads = gatherer.compiled_query.reads
        return {
            internal_names.name_read(slot): gatherer.fill_column(read)
            for slot, read in zip(self.slots[rule_number], reads, strict=True)
        }

    def describe_matches(self, gatherer: Gatherer) -> Columns:
        """Return the columns that every match has.

        Args:
            gatherer: gathers for one output row per match.
        """
        reader = gatherer.reader
        rule_set = self.rule_set
        keys = {
            internal_names.name_rule_key(index): gatherer.take_values(
                key, reader.output_rows.input_rows
            )
            for index, key in enumerate(rule_set.keys)
        }
        match_numbers = reader.find_match_numbers()
        is_match = match_numbers >= 0
        kinds = np.where(is_match, RowKind.MATCH, RowKind.PARTIAL)
        mapped, offsets = reader.collect_rows(~reader.matches.is_excluded, Semantics.FINAL)
        values = gatherer.take_mapped_rows(mapped, rule_set.events.values())
        return {
            internal_names.ROW_KIND: pa.array(kinds.astype(np.int32)),
            **keys,
            internal_names.MATCH_NUMBER: pa.array(match_numbers, mask=~is_match),
            internal_names.FIRST_ROW_ORDER: gatherer.take_values(
                rule_set.order, reader.find_row_positions(FIRST_ROW)
            ),
            internal_names.LAST_ROW_ORDER: gatherer.take_values(
                rule_set.order, reader.find_row_positions(LAST_ROW)
            ),
            internal_names.MATCHED_ROWS: make_lists_of_structs(
                offsets, values, [*rule_set.events, VARIABLE]
            ),
        }


def isolate_failures(partitions: range, rule_search: RuleSearch) -> Iterator[pa.RecordBatch]:
    """Yield the output of a search. For a partition in which the search fails, yield its report.

    If the search of several partitions fails, each half of the partitions is searched by itself, so
    that only the partitions in which the rule fails have no matches.

    Args:
        partitions: the indices of the partitions; one or more.
        rule_search: the search of the rule.
    """
    try:
        # A list, so that a search that fails has no output.
        output = list(rule_search.search(partitions))
    except MatchRecognizeError as error:
        if len(partitions) > 1:
            half = len(partitions) // 2
            yield from isolate_failures(partitions[:half], rule_search)
            yield from isolate_failures(partitions[half:], rule_search)
            return
        output = [rule_search.report_failure(partitions[0], error)]
    yield from output
