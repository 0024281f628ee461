"""The function of a rule set that runs inside Spark's Python workers: all rules over each piece.

Rows come once for all rules; one that divides the partitions further sees them divided. Of each
rule come its matches, with what is asked of every match and what the rule reads, or its failure:

    __rule      the number of the rule       __kind    what the row is, see `RowKind`
    __k0 ...    the partition's keys         __n       the number of the match
    __first, __last     the order of its first and last row
    __events    its rows, an array           __message why the rule failed in the partition
    __r0 ...    slots

A rule's reads come in slots, columns of their types. Rules have them in common: a set needs as many
slots of a type as the rule that reads most of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache, partial

import numpy as np
import pyarrow as pa

from matchrec.arguments import OnError
from matchrec.compile.rule_set import RuleSet, Version
from matchrec.errors import MatchRecognizeError
from matchrec.errors.run.failures import of_rule
from matchrec.output.measures import Reader
from matchrec.output.rows import OutputRows, one_row_each
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import End, Navigation, Semantics
from matchrec.search.matches import Matches, Numbering
from matchrec.search.nearby import set_nearby_bits
from matchrec.search.partitions import BoolArray, Frontier, IntArray, Partitions, WordArray
from matchrec.worker import wire
from matchrec.worker.arrays import as_integers, codes_of, column, number_equal, validity
from matchrec.worker.batches import Piece
from matchrec.worker.encode import WORD, partitions_of, satisfied_words
from matchrec.worker.gather import Gatherer, make_lists_of_structs
from matchrec.worker.match import Worker
from matchrec.worker.matching import Incoming

FIRST = Navigation(end=End.FIRST, semantics=Semantics.FINAL)
LAST = Navigation(semantics=Semantics.FINAL)
VARIABLE = "variable"
ROWS_A_BATCH = 1 << 14
Columns = dict[str, pa.Array]
SearchSome = Callable[[range], Iterator[pa.RecordBatch]]


class RowKind(IntEnum):
    """What a row of the workers is."""

    MATCH = 0  # and its reads where the rule has one row for each
    ROW = 1  # of a rule that has several rows for a match
    FAILURE = 2  # a rule that failed in a partition
    PARTIAL = 3  # as MATCH, of a run that is no match and comes out beside them


@dataclass(frozen=True)
class RuleSetWorker:
    """Runs all rules over one task's stream of batches. schema: of the rows that come out."""

    rule_set: RuleSet
    slots: tuple[tuple[int, ...], ...]
    schema: pa.Schema
    on_error: OnError = "raise"
    incoming: Incoming = Incoming()

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of rows, rule after rule for each piece."""
        for piece in self.incoming.read_pieces(batches, None):
            yield from joined(self.rows_of_piece(piece))

    def batches(
        self,
        number: int,
        table: pa.Table,
        partitions: Partitions,
        matches: Matches,
        rows: OutputRows,
    ) -> Iterator[pa.RecordBatch]:
        """Batches of a rule's matches. rows: that come out for them. Raises RunFailure."""
        executable = self.rule_set.rules[number].executable
        task, events = executable.task, self.rule_set.events.values()

        def gatherers(rows: OutputRows, events: Collection[int] = ()) -> Iterator[Gatherer]:
            reader = Reader(matches, rows, partitions, task.members)
            return Gatherer(executable, table, reader).divide(events)

        if executable.rows_per_match is RowsPerMatch.ONE_ROW:
            for one in gatherers(rows, events):
                yield filled(self.schema, number, self.of_matches(one) | self.reads(number, one))
            return
        for one in gatherers(one_row_each(matches), events):
            yield filled(self.schema, number, self.of_matches(one))
        for one in gatherers(rows):
            kind = {wire.KIND: constant(RowKind.ROW, one.reader.rows.count)}
            yield filled(self.schema, number, kind | self.reads(number, one))

    def reads(self, number: int, gatherer: Gatherer) -> Columns:
        pairs = zip(self.slots[number], gatherer.executable.reads, strict=True)
        return {wire.read(slot): gatherer.column(read) for slot, read in pairs}

    def of_matches(self, gatherer: Gatherer) -> Columns:
        reader, own, take = gatherer.reader, self.rule_set, gatherer.take_values
        keys = {wire.key(i): take(place, reader.rows.row) for i, place in enumerate(own.keys)}
        numbers = reader.match_numbers()
        kinds = np.where(numbers < 0, RowKind.PARTIAL, RowKind.MATCH)
        found, offsets = reader.collect(~reader.matches.excluded, Semantics.FINAL)
        values = gatherer.take_mapped_rows(found, own.events.values())
        return {
            wire.KIND: pa.array(kinds.astype(np.int32)),
            **keys,
            wire.ROW_NUMBER: pa.array(numbers, mask=numbers < 0),
            wire.FIRST: take(own.order, reader.positions(FIRST)),
            wire.LAST: take(own.order, reader.positions(LAST)),
            wire.EVENTS: make_lists_of_structs(offsets, values, [*own.events, VARIABLE]),
        }

    def rows_of_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        words = satisfied_words(piece.table, len(self.rule_set.conditions), self.rule_set.bits)
        whole = SharedRows(piece.table, piece.starts, words)
        divide = cache(whole.divide)
        for number, rule in enumerate(self.rule_set.rules):
            if rule.version.covers_all_time:
                shared, rows = whole, divide(rule.dividing_columns)
            else:
                shared = whole.of_version(rule.version, self.rule_set.order)
                rows = shared.divide(rule.dividing_columns)
            if len(rows.words):
                yield from self.rows_of_rule(number, shared, rows)

    def rows_of_rule(
        self, number: int, shared: SharedRows, rows: SharedRows
    ) -> Iterator[pa.RecordBatch]:
        """The rows of one rule. rows: the same as the rule divides them."""
        rule, output = self.rule_set.rules[number], partial(self.batches, number)
        every = range(len(shared.starts) - 1)

        def search(some: range) -> Iterator[pa.RecordBatch]:
            own = rows if some == every else shared.between(some).divide(rule.dividing_columns)
            return RuleWorker(rule.executable, output=output, rows=own).match_rows()

        def first_row(partition: int) -> pa.Table:
            return shared.table.slice(int(shared.starts[partition]), 1)

        yield from self.without_failures(number, every, search, first_row)

    def without_failures(
        self, number: int, asked: range, search: SearchSome, give_up: Callable[[int], pa.Table]
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a rule over several partitions; where failures are kept, of those without.

        search: some of them. give_up: the one that fails, which halving finds; gives a row of it.
        """
        try:
            found = search(asked)
            yield from found if self.on_error == "raise" else list(found)
        except MatchRecognizeError as error:
            if self.on_error == "raise":
                raise of_rule(self.rule_set.rules[number].name, error) from error.__cause__
            if len(asked) == 1:
                yield self.failure_row(number, give_up(asked[0]), error)
                return
            half = len(asked) // 2
            for some in (asked[:half], asked[half:]):
                yield from self.without_failures(number, some, search, give_up)

    def failure_row(self, number: int, row: pa.Table, error: MatchRecognizeError) -> pa.RecordBatch:
        keys = enumerate(self.rule_set.keys)
        found = {wire.key(i): column(row, wire.column(place)) for i, place in keys}
        kind, message = constant(RowKind.FAILURE, 1), pa.array([str(error)], pa.string())
        return filled(self.schema, number, {wire.KIND: kind, wire.MESSAGE: message} | found)


@dataclass(frozen=True)
class SharedRows:
    """Rows of whole partitions. starts: as of `Partitions`.

    words: uint64[n, w], the bits of all conditions; computed: those over neighbours that they have.
    outer: int64[p], where partitions are divided for a rule, the one that each is a part of.
    """

    table: pa.Table
    starts: IntArray
    words: WordArray
    outer: IntArray | None = None
    computed: set[int] = field(default_factory=set)

    def between(self, some: range) -> SharedRows:
        """Those of some partitions of the set, which follow each other."""
        begin, end = int(self.starts[some.start]), int(self.starts[some.stop])
        starts = self.starts[some.start : some.stop + 1] - begin
        return SharedRows(self.table.slice(begin, end - begin), starts, self.words[begin:end])

    def of_version(self, version: Version, order: int) -> SharedRows:
        """Those of the time of a version, in whole partitions. order: the place of its column."""
        values = column(self.table, wire.column(order))
        own = rows_of_version(version, as_integers(values), validity(values))
        if own.all():
            return self
        sizes = np.diff(np.append(0, np.cumsum(own))[self.starts])
        starts = np.append(0, np.cumsum(sizes[sizes > 0])).astype(np.int64)
        table = self.table.filter(pa.array(own)).combine_chunks()
        words = self.words[own]
        for bit in self.computed:  # of rows that have other neighbours here
            words[:, bit // WORD] &= ~np.uint64(1 << bit % WORD)
        return SharedRows(table, starts, words)

    def divide(self, places: tuple[int, ...]) -> SharedRows:
        """These rows, partitions divided by equal values of columns, in the order of first rows."""
        if not places:
            return self
        outer = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        codes = (codes_of(column(self.table, wire.column(place))) for place in places)
        number, _ = number_equal([outer, *codes])
        order = np.argsort(number, kind="stable")
        begins = np.flatnonzero(np.diff(number[order], prepend=-1))
        starts = np.append(begins, len(order)).astype(np.int64)
        table = self.table.take(pa.array(order)).combine_chunks()
        return SharedRows(table, starts, self.words[order], outer[order[begins]])


@dataclass(frozen=True, kw_only=True)
class RuleWorker(Worker):
    """Searches for one rule. rows: those of a piece, divided as the rule needs them."""

    rows: SharedRows

    def match_rows(self) -> Iterator[pa.RecordBatch]:
        table, starts, count = self.rows.table, self.rows.starts, self.rows.table.num_rows
        piece = Piece(table, starts, Frontier.of(starts), 0, np.zeros(count, np.bool_), count)
        words, frontier = self.rows.words, piece.frontier
        partitions = partitions_of(self.executable, table, starts, frontier, words)
        yield from self.match_partitions(piece, partitions)

    def satisfy_nearby(self, partitions: Partitions) -> Partitions:
        """Those over neighbours that no other rule has asked for are noted for all of them."""
        computed = self.rows.computed
        missing = [one for one in self.executable.nearby if one.bit not in computed]
        set_nearby_bits(partitions, missing)
        computed.update(condition.bit for condition in missing)
        return partitions

    def find_matches(self, partitions: Partitions, piece: Piece) -> Iterator[Matches]:
        """Matches with all of their rows, numbered by the partitions of the set."""
        numbering, outer = Numbering(), self.rows.outer
        for matches in super().find_matches(partitions, piece):
            if outer is None:
                yield matches
            else:
                of_outer = replace(matches, partition=outer[matches.partition])
                yield replace(matches, number=numbering.number_matches(of_outer).number)


def rows_of_version(version: Version, order: IntArray, known: BoolArray) -> BoolArray:
    """bool[n], the rows that are its own. known: where the order is not NULL, which is first."""
    found = np.ones(len(order), np.bool_)
    if version.since is not None:
        found &= known & (order >= version.since)
    if version.until is not None:
        found &= ~known | (order < version.until)
    return found


def constant(number: int, count: int) -> pa.Array:
    return pa.array(np.full(count, number, np.int32))


def filled(schema: pa.Schema, number: int, columns: Columns) -> pa.RecordBatch:
    """A batch of a rule's rows with all columns of a schema, those that are not given NULL."""
    count = len(columns[wire.KIND])
    known = {wire.RULE: constant(number, count)} | columns
    found = ((known.get(one.name), one.type) for one in schema)
    arrays = [pa.nulls(count, kind) if one is None else one.cast(kind) for one, kind in found]
    return pa.RecordBatch.from_arrays(arrays, names=schema.names)


def joined(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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
    if batches:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()
