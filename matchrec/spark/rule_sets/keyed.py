"""The rules of a set over the events of one key: each event is kept once, each rule's search apart.

Events wait for the watermark together. Then each rule goes on by itself, with those that it looks
at again and the new ones; what some rule still needs is kept. A rule that has neither new events
nor a window that has ended is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import RuleSet
from matchrec.engine.partitions import IntArray
from matchrec.errors import MatchRecognizeError
from matchrec.errors.run.rule_sets import of_rule
from matchrec.spark import wire
from matchrec.spark.rule_sets.worker import OnError, columns_of_failure, filled, joined
from matchrec.spark.streaming.arrival import Arrived, Order, arrange, times
from matchrec.spark.streaming.group import FOREVER, Group, wake
from matchrec.spark.streaming.memory import Arrays, Memory, dump, load
from matchrec.spark.streaming.search import KeySearch, Left, Searching
from matchrec.spark.worker.arrays import as_integers, column

NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Needs:
    """What a rule needs further on. places: its rows among those that are kept; see `Left`."""

    arrays: Arrays
    places: IntArray
    next_end: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept for all rules. rows: how many, apart from those that wait. failed: for good."""

    rows: int
    needs: Mapping[int, Needs]
    failed: frozenset[int]

    def arrays(self) -> Arrays:
        """It as plain arrays by name."""
        ends = [(number, one.next_end) for number, one in sorted(self.needs.items())]
        found = {
            "rows": np.array([self.rows], np.int64),
            "ends": np.array(ends, np.int64).reshape(-1, 2),
            "failed": np.array(sorted(self.failed), np.int64),
        }
        for number, one in self.needs.items():
            found[f"{number}.places"] = one.places
            found |= {f"{number}.of.{name}": array for name, array in one.arrays.items()}
        return found

    @staticmethod
    def of(arrays: Arrays) -> Kept:
        """What `arrays` has taken apart."""
        states: dict[int, dict[str, IntArray]] = {}
        for name, array in arrays.items():
            number, of, inner = name.partition(".of.")
            if of:
                states.setdefault(int(number), {})[inner] = array
        needs = {
            number: Needs(states[number], arrays[f"{number}.places"], end)
            for number, end in arrays["ends"].tolist()
        }
        return Kept(int(arrays["rows"][0]), needs, frozenset(arrays["failed"].tolist()))


NOTHING = Kept(0, {}, frozenset())


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a key in one micro-batch, for all rules: see `Arrived`."""

    arrived: Arrived
    watermark: int

    def of_rule(self, places: IntArray, searched: int) -> Arrived:
        """Those of one rule. places: of the rows that it needs; searched: how many of them are."""
        arrived = self.arrived
        rows = arrived.known.num_rows
        taken = np.append(places, np.arange(rows - arrived.new, rows))
        new = len(taken) - searched
        return replace(arrived, known=arrived.known.take(pa.array(taken)), new=new)


@dataclass(frozen=True)
class RulesOfKey:
    """Runs all rules over the events of one key. Picklable.

    rule_set: over all columns. searches: of its rules. sends: the schema of the rows that come out.
    schema, orders, query: see `KeySearch`.
    """

    rule_set: RuleSet
    searches: tuple[KeySearch, ...]
    sends: pa.Schema
    on_error: OnError
    schema: pa.Schema
    orders: tuple[Order, ...]
    query: str

    def batch(self, new: Iterable[pa.RecordBatch], group: Group) -> Iterator[pa.RecordBatch]:
        """The rows of what is decided now; the state is kept in the group."""
        return joined(self.rows(new, group))

    def rows(self, new: Iterable[pa.RecordBatch], group: Group) -> Iterator[pa.RecordBatch]:
        """The same in small batches."""
        memory, watermark = self.memory(group), group.getCurrentWatermarkMs() * 1000
        kept = Kept.of(memory.arrays)
        arrived = arrange(memory, kept.rows, new, self.orders, watermark)
        events = Events(replace(arrived, known=with_places(arrived.known)), watermark)
        needs, failed = dict(kept.needs), set(kept.failed)
        for number in self.called(kept, events):
            own = needs.pop(number, None)
            try:
                found, left = collected(self.search(number, own, events))
            except MatchRecognizeError as error:
                yield self.failure(number, error, arrived)
                failed.add(number)
                continue
            yield from found
            if left.rows.num_rows or not left.is_idle:
                needs[number] = Needs(left.arrays, places_of(left.rows), left.next_end)
        self.keep(Kept(kept.rows, needs, frozenset(failed)), events, group)

    def called(self, kept: Kept, events: Events) -> Iterator[int]:
        """The numbers of the rules that have something to search."""
        for number in range(len(self.searches)):
            own = kept.needs.get(number)
            ended = own is not None and own.next_end <= events.watermark
            if (events.arrived.new or ended) and number not in kept.failed:
                yield number

    def search(self, number: int, own: Needs | None, events: Events) -> Searching:
        """Let a rule go on."""
        search = self.searches[number]
        needs = own or Needs(search.nothing(), NO_ROWS, FOREVER)
        arrived = events.of_rule(needs.places, search.searched(needs.arrays))
        return search.search(needs.arrays, arrived, events.watermark)

    def failure(self, number: int, error: MatchRecognizeError, arrived: Arrived) -> pa.RecordBatch:
        """The row that says that a rule has failed, if that is to be told so. Raises the error."""
        if self.on_error is OnError.RAISE:
            raise of_rule(self.rule_set.rules[number].name, error) from error.__cause__
        row = arrived.known.slice(0, 1)
        return filled(self.sends, number, columns_of_failure(self.rule_set, row, error))

    def keep(self, kept: Kept, events: Events, group: Group) -> None:
        """Store what rules need, and ask to be called when something may end."""
        arrived, needs = events.arrived, kept.needs
        union = np.unique(np.concatenate([NO_ROWS, *(one.places for one in needs.values())]))
        searched = arrived.known.take(pa.array(union)).select(self.schema.names)
        rows = pa.concat_tables([searched, arrived.later]).combine_chunks()
        if not (needs or kept.failed or rows.num_rows):
            if group.exists:
                group.remove()
            return
        now = {
            number: replace(one, places=np.searchsorted(union, one.places))
            for number, one in needs.items()
        }
        state = Kept(len(union), now, kept.failed).arrays()
        group.update((dump(Memory(arrived.passed, state, rows), self.query),))
        ends = [one.next_end for one in needs.values()] + times(arrived.later)[:1].tolist()
        wake(group, min(ends, default=FOREVER), events.watermark)

    def memory(self, group: Group) -> Memory:
        """What is known of a key."""
        if group.exists:
            return load(group.get[0], self.query)
        return Memory(None, NOTHING.arrays(), self.schema.empty_table())


def collected(searching: Searching) -> tuple[list[pa.RecordBatch], Left]:
    """All that a search yields, and what it leaves."""
    ends: list[Left] = []

    def noted() -> Iterator[pa.RecordBatch]:
        ends.append((yield from searching))

    found = list(noted())
    return found, ends[0]


def with_places(rows: pa.Table) -> pa.Table:
    """The rows with the place of each."""
    return rows.append_column(wire.PLACE, pa.array(np.arange(rows.num_rows)))


def places_of(rows: pa.Table) -> IntArray:
    """The places of rows that a search has left."""
    if not rows.num_rows:
        return NO_ROWS
    return as_integers(column(rows.combine_chunks(), wire.PLACE))
