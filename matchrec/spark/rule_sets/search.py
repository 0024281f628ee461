"""One rule over some rows: its matches, with what is asked of every match and what it reads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import LinkedRule, RuleSet
from matchrec.dataclass import dataclass
from matchrec.engine.matches import Matches, RunFailure, no_matches
from matchrec.engine.nearby import set_nearby_bits
from matchrec.engine.partitions import Frontier, Partitions
from matchrec.errors import MatchRecognizeError
from matchrec.errors.run.failures import sum_too_large
from matchrec.errors.run.place import Place
from matchrec.output.aggregates import SumOverflow
from matchrec.output.measures import Reader, counts_before
from matchrec.output.rows import (
    OutputRows,
    matched_rows,
    one_row_each,
    output_rows,
    unmatched_rows,
)
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import End, Navigation, Semantics
from matchrec.spark import wire
from matchrec.spark.rule_sets.rows import SharedRows
from matchrec.spark.rule_sets.schema import VARIABLE, RowKind
from matchrec.spark.worker.arrays import arrow_of, offsets_of
from matchrec.spark.worker.contiguous_runs import ContiguousRuns
from matchrec.spark.worker.encode import partitions_of
from matchrec.spark.worker.failures import place_of, run_error
from matchrec.spark.worker.gather import Gatherer
from matchrec.spark.worker.windows import check_window

Columns = dict[str, pa.Array]

FIRST = Navigation(end=End.FIRST, semantics=Semantics.FINAL)
LAST = Navigation(semantics=Semantics.FINAL)


class RuleFailure(Exception):  # noqa: N818 -- the worker decides whether it is an error
    """A rule failed at a row. error: what a user is told."""

    def __init__(self, row: int, error: MatchRecognizeError) -> None:
        super().__init__(row, error)
        self.row = row
        self.error = error


@dataclass(frozen=True)
class RuleSearch:
    """A rule over the rows of some partitions, which are divided as the rule needs them.

    view: the table of the rule's own columns. slots: of its reads.
    """

    rule_set: RuleSet
    rule: LinkedRule
    slots: tuple[int, ...]
    rows: SharedRows
    view: pa.Table
    partitions: Partitions

    @classmethod
    def of(
        cls, rule_set: RuleSet, rule: LinkedRule, slots: tuple[int, ...], rows: SharedRows
    ) -> RuleSearch:
        """slots: of the rule. rows: divided as the rule needs them."""
        view = rows.view(rule)
        partitions = partitions_of(rule.executable, view, rows.starts, satisfied=rows.words)
        return cls(rule_set, rule, slots, rows, view, partitions)

    def columns(self) -> Iterator[Columns]:
        """The columns of the workers' rows, in batches. Raises RuleFailure."""
        try:
            yield from self.found()
        except RunFailure as failure:
            error = run_error(failure, self.place(failure.row))
            raise RuleFailure(failure.row, error) from failure
        except SumOverflow as overflow:
            error = sum_too_large(overflow.type_name, self.place(overflow.row))
            raise RuleFailure(overflow.row, error) from overflow

    def place(self, row: int) -> Place:
        """A row, for a message."""
        piece = self.rows.piece(self.view)
        return place_of(self.rule.executable, row, piece, self.partitions)

    def found(self) -> Iterator[Columns]:
        """The same; a failure is as the engine says it."""
        check_window(self.rule.executable, self.view, self.rows.starts)
        rows_per_match = self.rule.executable.rows_per_match
        covered = np.zeros(self.partitions.rows, np.bool_)
        for matches in self.matches():
            yield from self.rows_of(matches, output_rows(matches, rows_per_match))
            if rows_per_match.shows_unmatched:
                covered |= matched_rows(matches, self.partitions.rows)
        if rows_per_match.shows_unmatched:
            yield from self.further_rows(no_matches(), unmatched_rows(covered, self.partitions))

    def rows_of(self, matches: Matches, rows: OutputRows) -> Iterator[Columns]:
        """The columns of some matches. rows: that come out for them."""
        if self.rule.executable.rows_per_match is RowsPerMatch.ONE_ROW:
            each = self.reader(matches, rows)
            yield self.of_matches(each) | self.reads(each)
            return
        if matches.count:
            yield self.of_matches(self.reader(matches, one_row_each(matches)))
        yield from self.further_rows(matches, rows)

    def matches(self) -> Iterator[Matches]:
        """The matches, numbered by partitions of the set."""
        executable = self.rule.executable
        self.satisfy_nearby()
        found = executable.algorithm.search(executable.task, self.partitions)
        if self.rows.outer is None:
            return found
        runs = ContiguousRuns(self.rows.starts, self.rows.outer)
        return runs.number_matches(found, Frontier.of(self.rows.starts))

    def satisfy_nearby(self) -> None:
        """Compute the conditions over neighbours that no other rule has asked for."""
        own = zip(self.rule.nearby, self.rule.executable.nearby, strict=True)
        missing = {bit: one for bit, one in own if bit not in self.rows.computed}
        set_nearby_bits(self.partitions, missing)
        self.rows.computed.update(missing)

    def further_rows(self, matches: Matches, rows: OutputRows) -> Iterator[Columns]:
        """The rows of a rule that has others than one for each match."""
        if rows.count:
            kind = constant(RowKind.ROW, rows.count)
            yield {wire.KIND: kind} | self.reads(self.reader(matches, rows))

    def reader(self, matches: Matches, rows: OutputRows) -> Reader:
        task = self.rule.executable.task
        return Reader(matches, rows, self.partitions, task.members, len(task.variables))

    def reads(self, reader: Reader) -> Columns:
        """What the rule reads, by its slots."""
        executable = self.rule.executable
        gatherer = Gatherer(executable, self.view, reader)
        pairs = zip(self.slots, executable.reads, strict=True)
        return {wire.read(slot): gatherer.column(read) for slot, read in pairs}

    def of_matches(self, reader: Reader) -> Columns:
        """What is asked of every match."""
        gatherer, own = Gatherer(self.rule.executable, self.rows.table, reader), self.rule_set
        keys = {
            wire.key(i): gatherer.take_values(place, reader.rows.row)
            for i, place in enumerate(own.keys)
        }
        numbers = reader.match_numbers()
        kinds = np.where(numbers < 0, RowKind.PARTIAL, RowKind.MATCH)
        return {
            wire.KIND: pa.array(kinds.astype(np.int32)),
            **keys,
            wire.ROW_NUMBER: pa.array(numbers, mask=numbers < 0),
            wire.FIRST: gatherer.take_values(own.order, reader.positions(FIRST)),
            wire.LAST: gatherer.take_values(own.order, reader.positions(LAST)),
            wire.EVENTS: self.events(gatherer, reader),
        }

    def events(self, gatherer: Gatherer, reader: Reader) -> pa.Array:
        """For each match the array of its rows, without those of an exclusion."""
        matches, shown = reader.matches, ~reader.matches.excluded
        offsets, rows = matches.offsets, reader.mapped_rows()
        classifiers = matches.classifiers
        if not shown.all():
            offsets = counts_before(shown)[offsets]
            rows, classifiers = rows[shown], classifiers[shown]
        index, places = arrow_of(rows), self.rule_set.events
        fields = {name: gatherer.values(place).take(index) for name, place in places.items()}
        fields[VARIABLE] = gatherer.variables.take(arrow_of(classifiers))
        structs = pa.StructArray.from_arrays(list(fields.values()), list(fields))
        return pa.ListArray.from_arrays(offsets_of(offsets), structs)


def constant(number: int, count: int) -> pa.Array:
    """The same number so many times."""
    return pa.array(np.full(count, number, np.int32))
