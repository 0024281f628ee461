"""The worker of a rule set: runs all rules over each piece of the rows.

The rows are sent and sorted once for all rules. A rule that divides the partitions further gets
them divided. For each rule the output has its matches, or the error with which it failed in a
partition. A match has the columns that every match has, and what the rule itself reads:

    __rule              the number of the rule
    __kind              what the output row is, see `RowKind`
    __k0 ...            the keys of the partition
    __n                 the number of the match
    __first, __last     the order of its first and last row
    __events            its rows, an array
    __message           why the rule failed in the partition
    __r0 ...            slots

What a rule reads is put into slots, which are columns with a type. Rules share them: a set has as
many slots of a type as the rule that reads most values of this type.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache, partial

import numpy as np
import pyarrow as pa

from matchrec.arguments import OnError
from matchrec.compile.rule_set import RuleSet, Version
from matchrec.errors import MatchRecognizeError
from matchrec.errors.rule_sets import name_rule
from matchrec.output.match_reader import MatchReader
from matchrec.output.rows import OutputRows, find_one_row_per_match
from matchrec.plan.expression import End, Navigation, Semantics
from matchrec.search.matches import Matches, Numbering
from matchrec.search.nearby import set_nearby_bits
from matchrec.search.partitions import BoolArray, Frontier, IntArray, Partitions, WordArray
from matchrec.worker import wire
from matchrec.worker.arrays import encode_equal, find_valid, number_rows, read_integers, take_column
from matchrec.worker.batches import Piece
from matchrec.worker.encode import encode_partitions, unpack_conditions
from matchrec.worker.gather import Gatherer, make_lists_of_structs
from matchrec.worker.match import PieceWorker, name_large_partitions
from matchrec.worker.query_worker import TaskInput

FIRST = Navigation(end=End.FIRST, semantics=Semantics.FINAL)
LAST = Navigation(semantics=Semantics.FINAL)
# The field of __events that has the name of the variable of a row.
VARIABLE = "variable"
# Small batches of several rules are joined to batches of at least this many rows.
MIN_BATCH_ROWS = 1 << 14

# The names of the columns of an output batch, and the columns.
Columns = dict[str, pa.Array]


class RowKind(IntEnum):
    """The kind of an output row of the worker."""

    # A match. It has what the rule reads if the rule has one output row for each match.
    MATCH = 0
    # One of several output rows of a match.
    ROW = 1
    # The error of a rule that has failed in a partition.
    FAILURE = 2
    # A run that is not a match and is output in addition to the matches. It has what a match has.
    PARTIAL = 3


@dataclass(frozen=True)
class RuleSetWorker:
    """A worker that runs all rules of a set over the batches of one task. Picklable."""

    rule_set: RuleSet
    # For each rule, the slots of what it reads.
    slots: tuple[tuple[int, ...], ...]
    # The schema of the output.
    schema: pa.Schema
    # What to do if a rule fails in a partition, see `Options`.
    on_error: OnError = "raise"
    task_input: TaskInput = TaskInput()

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
        """Yield the output of all rules for a piece."""
        all_rows = self.share_rows(piece.table, piece.starts)
        divide_once = cache(all_rows.divide)
        for number, rule in enumerate(self.rule_set.rules):
            if rule.version.covers_all_time:
                shared = all_rows
                rows = divide_once(rule.dividing_columns)
            else:
                shared = self.select_version(all_rows, rule.version)
                rows = shared.divide(rule.dividing_columns)
            if len(rows.words):
                rule_search = PieceRuleSearch(self, number, shared, rows)
                yield from rule_search.run(rule_search.all_partitions)

    def share_rows(self, table: pa.Table, starts: IntArray) -> SharedRows:
        """Return rows for all rules, with the bits of the conditions that the engine has computed.

        Args:
            table: rows of whole partitions.
            starts: int64[p + 1], the row at which each partition starts, then the number of rows.
        """
        words = unpack_conditions(table, len(self.rule_set.row_conditions), self.rule_set.bits)
        return SharedRows(table, starts, words)

    def select_version(self, all_rows: SharedRows, version: Version) -> SharedRows:
        """Return the rows that a version of a rule sees. Partitions without such rows are dropped.

        The bits of conditions on neighbouring rows are not copied, because the rows have other
        neighbours here.
        """
        table = all_rows.table
        order = take_column(table, wire.name_column(self.rule_set.order))
        is_seen = select_rows_of_version(version, read_integers(order), find_valid(order))
        if is_seen.all():
            return all_rows
        rows_before = np.append(0, np.cumsum(is_seen))
        sizes = np.diff(rows_before[all_rows.starts])
        starts = np.append(0, np.cumsum(sizes[sizes > 0])).astype(np.int64)
        return self.share_rows(table.filter(pa.array(is_seen)).combine_chunks(), starts)

    def make_failure_row(
        self, number: int, row: pa.Table, error: MatchRecognizeError
    ) -> pa.RecordBatch:
        """Return the output row that says why a rule has failed.

        Args:
            number: the number of the rule.
            row: a row of the partition in which it has failed.
            error: the error.
        """
        keys = {
            wire.name_rule_key(index): take_column(row, wire.name_column(key))
            for index, key in enumerate(self.rule_set.keys)
        }
        columns = {
            wire.ROW_KIND: repeat_number(RowKind.FAILURE, 1),
            wire.FAILURE_MESSAGE: pa.array([str(error)], pa.string()),
            **keys,
        }
        return make_batch(self.schema, number, columns)

    # From matches to output rows.

    def make_batches(
        self,
        number: int,
        table: pa.Table,
        partitions: Partitions,
        matches: Matches,
        rows: OutputRows,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the output of a rule for some matches.

        With the number of the rule filled in, it is a `BatchMaker`.

        Args:
            number: the number of the rule.
            table: the rows.
            partitions: the same rows as the search sees them.
            matches: matches in these partitions.
            rows: the output rows of the rule for these matches.

        Raises:
            RunFailure: a measure is too large for its type, or a row is too large for Arrow.
        """
        compiled_query = self.rule_set.rules[number].compiled_query
        events = self.rule_set.events.values()

        def make_gatherers(rows: OutputRows, events: Collection[int] = ()) -> Iterator[Gatherer]:
            """Yield gatherers that together gather some output rows."""
            reader = MatchReader(matches, rows, partitions, compiled_query.task.members)
            return Gatherer(compiled_query, table, reader).divide(events)

        if compiled_query.rows_per_match.summarizes_matches:
            for gatherer in make_gatherers(rows, events):
                columns = self.describe_matches(gatherer) | self.fill_slots(number, gatherer)
                yield make_batch(self.schema, number, columns)
            return
        for gatherer in make_gatherers(find_one_row_per_match(matches), events):
            yield make_batch(self.schema, number, self.describe_matches(gatherer))
        for gatherer in make_gatherers(rows):
            kind = {wire.ROW_KIND: repeat_number(RowKind.ROW, gatherer.reader.rows.count)}
            yield make_batch(self.schema, number, kind | self.fill_slots(number, gatherer))

    def fill_slots(self, number: int, gatherer: Gatherer) -> Columns:
        """Return the columns of what a rule reads."""
        pairs = zip(self.slots[number], gatherer.compiled_query.reads, strict=True)
        return {wire.name_read(slot): gatherer.fill_column(read) for slot, read in pairs}

    def describe_matches(self, gatherer: Gatherer) -> Columns:
        """Return the columns that every match has. Each match is one output row."""
        reader = gatherer.reader
        rule_set = self.rule_set
        keys = {
            wire.name_rule_key(index): gatherer.take_values(key, reader.rows.row)
            for index, key in enumerate(rule_set.keys)
        }
        match_numbers = reader.find_match_numbers()
        is_match = match_numbers >= 0
        kinds = np.where(is_match, RowKind.MATCH, RowKind.PARTIAL)
        mapped, offsets = reader.collect(~reader.matches.excluded, Semantics.FINAL)
        values = gatherer.take_mapped_rows(mapped, rule_set.events.values())
        return {
            wire.ROW_KIND: pa.array(kinds.astype(np.int32)),
            **keys,
            wire.ROW_NUMBER: pa.array(match_numbers, mask=~is_match),
            wire.FIRST_ROW_ORDER: gatherer.take_values(
                rule_set.order, reader.find_positions(FIRST)
            ),
            wire.LAST_ROW_ORDER: gatherer.take_values(rule_set.order, reader.find_positions(LAST)),
            wire.MATCHED_ROWS: make_lists_of_structs(offsets, values, [*rule_set.events, VARIABLE]),
        }


@dataclass(frozen=True)
class RuleSearch(ABC):
    """A search of some partitions for the matches of one rule, which may fail in some of them."""

    worker: RuleSetWorker
    number: int  # the number of the rule

    @abstractmethod
    def search(self, partitions: range) -> Iterator[pa.RecordBatch]:
        """Search consecutive partitions, and yield the output of the rule.

        Raises:
            MatchRecognizeError: the rule fails in one of them.
        """

    @abstractmethod
    def take_failed_row(self, partition: int) -> pa.Table:
        """Return a row of a partition in which the rule has failed, for the error."""

    def run(self, partitions: range) -> Iterator[pa.RecordBatch]:
        """Yield the output of the rule over some partitions.

        Raises:
            MatchRecognizeError: the rule fails, and `on_error` is "raise". The error names the
                rule.
        """
        if self.worker.on_error != "raise":
            yield from self.isolate_failures(partitions)
            return
        try:
            yield from self.search(partitions)
        except MatchRecognizeError as error:
            rule = self.worker.rule_set.rules[self.number]
            raise name_rule(rule.name, error) from error.__cause__

    def isolate_failures(self, partitions: range) -> Iterator[pa.RecordBatch]:
        """Yield the output of the rule, in which partitions that fail have their errors.

        Such partitions are found by halving: if the search of several partitions fails, each half
        is searched by itself.
        """
        try:
            output = list(self.search(partitions))  # a search that fails has no output
        except MatchRecognizeError as error:
            if len(partitions) > 1:
                half = len(partitions) // 2
                yield from self.isolate_failures(partitions[:half])
                yield from self.isolate_failures(partitions[half:])
                return
            failed_row = self.take_failed_row(partitions[0])
            output = [self.worker.make_failure_row(self.number, failed_row, error)]
        yield from output


@dataclass(frozen=True)
class PieceRuleSearch(RuleSearch):
    """A search of a piece for the matches of one rule, over partitions of the set."""

    # The rows that the rule sees, in the partitions of the set.
    shared: SharedRows
    # The same rows, in the partitions of the rule.
    rows: SharedRows

    @property
    def all_partitions(self) -> range:
        """Return all partitions of the set in the piece."""
        return range(len(self.shared.starts) - 1)

    def search(self, partitions: range) -> Iterator[pa.RecordBatch]:
        """Search some of the partitions, see `RuleSearch.search`."""
        rule = self.worker.rule_set.rules[self.number]
        if partitions == self.all_partitions:
            rows = self.rows
        else:
            rows = self.shared.select_partitions(partitions).divide(rule.dividing_columns)
        return RuleWorker(
            rule.compiled_query,
            output=partial(self.worker.make_batches, self.number),
            orders=self.worker.task_input.orders,
            rows=rows,
        ).match_rows()

    def take_failed_row(self, partition: int) -> pa.Table:
        """Return the first row of a partition."""
        return self.shared.table.slice(int(self.shared.starts[partition]), 1)


@dataclass(frozen=True)
class SharedRows:
    """Rows of whole partitions, with the bits of the conditions of all rules."""

    table: pa.Table
    # int64[p + 1], the row at which each partition starts, then the number of rows.
    starts: IntArray
    # uint64[n, w], which conditions hold on each row, as in `Partitions.satisfied`.
    words: WordArray
    # int64[p], the partition of the set that each partition is a part of; None if the partitions of
    # the set are not divided.
    outer: IntArray | None = None
    # The bits of conditions on neighbouring rows that `words` already has.
    computed: set[int] = field(default_factory=set)

    def select_partitions(self, partitions: range) -> SharedRows:
        """Return the rows of some consecutive partitions of the set."""
        begin = int(self.starts[partitions.start])
        end = int(self.starts[partitions.stop])
        starts = self.starts[partitions.start : partitions.stop + 1] - begin
        return SharedRows(self.table.slice(begin, end - begin), starts, self.words[begin:end])

    def divide(self, columns: tuple[int, ...]) -> SharedRows:
        """Return the rows with partitions divided by equal values of some columns.

        The new partitions are in the order of their first rows.
        """
        if not columns:
            return self
        outer = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        codes = [
            encode_equal(take_column(self.table, wire.name_column(index))) for index in columns
        ]
        number, _ = number_rows([outer, *codes])
        order = np.argsort(number, kind="stable")
        first_rows = np.flatnonzero(np.diff(number[order], prepend=-1))
        starts = np.append(first_rows, len(order)).astype(np.int64)
        table = self.table.take(pa.array(order)).combine_chunks()
        return SharedRows(table, starts, self.words[order], outer[order[first_rows]])


@dataclass(frozen=True, kw_only=True)
class RuleWorker(PieceWorker):
    """A worker that searches rows for the matches of one rule."""

    # The rows of a piece, in the partitions of the rule.
    rows: SharedRows

    def match_rows(self) -> Iterator[pa.RecordBatch]:
        """Search the rows, and yield the output of the rule."""
        table = self.rows.table
        starts = self.rows.starts
        row_count = table.num_rows
        piece = Piece(
            table=table,
            starts=starts,
            frontier=Frontier.create(starts),
            rows_before=0,
            covered=np.zeros(row_count, np.bool_),
            new_rows=row_count,
        )
        words = self.rows.words
        partitions = encode_partitions(self.compiled_query, table, starts, piece.frontier, words)
        yield from self.match_partitions(piece, partitions)

    def satisfy_nearby(self, partitions: Partitions) -> Partitions:
        """Compute the conditions on neighbouring rows that no other rule has computed.

        Their bits are noted in the rows, so that all rules have them.

        Raises:
            RunFailure: a condition cannot be computed on a row.
        """
        computed = self.rows.computed
        missing = [
            condition for condition in self.compiled_query.nearby if condition.bit not in computed
        ]
        set_nearby_bits(partitions, missing)
        computed.update(condition.bit for condition in missing)
        return partitions

    def find_matches(self, partitions: Partitions, piece: Piece) -> Iterator[Matches]:
        """Yield the matches, numbered in the partitions of the set and not of the rule."""
        numbering = Numbering()
        outer = self.rows.outer
        for matches in super().find_matches(partitions, piece):
            if outer is None:
                yield matches
            else:
                in_outer = replace(matches, partition=outer[matches.partition])
                yield replace(matches, number=numbering.number_matches(in_outer).number)


def select_rows_of_version(version: Version, order: IntArray, has_order: BoolArray) -> BoolArray:
    """Return which rows a version of a rule sees, by the order of the rows: bool[n].

    Args:
        version: the version.
        order: int64[n], the order of each row.
        has_order: bool[n], false where the order is NULL, which is before all values.
    """
    is_seen = np.ones(len(order), np.bool_)
    if version.since is not None:
        is_seen &= has_order & (order >= version.since)
    if version.until is not None:
        is_seen &= ~has_order | (order < version.until)
    return is_seen


# Batches.


def repeat_number(number: int, count: int) -> pa.Array:
    """Return a column of INT that has the same number in each row."""
    return pa.array(np.full(count, number, np.int32))


def make_batch(schema: pa.Schema, number: int, columns: Columns) -> pa.RecordBatch:
    """Return output rows of a rule with all columns of the schema; missing ones are NULL.

    Args:
        schema: the schema of the output.
        number: the number of the rule.
        columns: the columns that there are. One of them has the kinds.
    """
    count = len(columns[wire.ROW_KIND])
    columns = {wire.RULE_NUMBER: repeat_number(number, count)} | columns
    arrays = []
    for output_field in schema:
        values = columns.get(output_field.name)
        if values is None:
            arrays.append(pa.nulls(count, output_field.type))
        else:
            arrays.append(values.cast(output_field.type))
    return pa.RecordBatch.from_arrays(arrays, names=schema.names)


def join_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches in larger batches: all but the last have MIN_BATCH_ROWS or more."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= MIN_BATCH_ROWS:
            yield from combine_batches(waiting)
            waiting = []
            rows = 0
    if waiting:
        yield from combine_batches(waiting)


def combine_batches(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return the rows of one or more batches as one batch, or as none if there are no rows."""
    return pa.Table.from_batches(batches).combine_chunks().to_batches()  # type: ignore[no-any-return]
