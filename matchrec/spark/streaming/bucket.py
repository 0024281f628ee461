"""The events of a bucket of keys from micro-batch to micro-batch: what Spark's operator runs.

Events wait until the watermark has passed them; then they are put in order and searched, those of
all keys that have any at once. Of several searches, one for each rule of a set, each goes on by
itself, with the events that it looks at again and the new ones; what some search still needs is
kept with its state. Keys that have neither new events nor a window that has ended are left alone.
Nothing is at its end because a batch is: a window ends when the watermark passes its end, for which
an event-time timer is set, one for all keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql.types import TimestampType

from matchrec.compile.executable import Executable
from matchrec.compile.rule_set import Version
from matchrec.errors.streams import changed_in_the_past, state_without_room
from matchrec.memory import may_take
from matchrec.search.partitions import IntArray
from matchrec.spark.streaming.arrival import (
    Array,
    Arrays,
    ArrivedRows,
    Arriving,
    ByKey,
    ColumnMap,
    Known,
    Memory,
    States,
    arrange,
    dump,
    join,
    load,
    take,
    times,
)
from matchrec.spark.streaming.search import IDLE, KEPT, NEVER, NEXT_END, ContiguousSearch, KeySearch
from matchrec.spark.streaming.selecting import SelectingSearch
from matchrec.spark.types import OrderTimes
from matchrec.worker import wire
from matchrec.worker.arrays import to_bytes
from matchrec.worker.matching import QueryWorker
from matchrec.worker.rule_set import RuleSetWorker

if TYPE_CHECKING:
    from pyspark.sql.streaming.state import GroupState

KnownOfBucket = tuple[ColumnMap, Mapping[str, Version]]
NO_KEYS = np.zeros(0, np.int64)
PLACES = "places"
FAILED = "failed"  # whether a search has failed for a key, and leaves it alone for good


@dataclass(frozen=True, slots=True)
class KeyState:
    """What a search needs of some keys of the bucket. keys: int64[p], ascending.

    states: of its search, NEXT_END, FAILED, and PLACES, its rows among all that have arrived.
    """

    keys: IntArray
    states: States

    @property
    def next_end(self) -> IntArray:
        """int64[p], when to go on with each key, though no event comes."""
        return self.states[NEXT_END].values

    def take(self, places: IntArray) -> KeyState:
        return KeyState(self.keys[places], take(self.states, places))

    def merged_with(self, others: KeyState) -> KeyState:
        """What is needed of these keys and of others, in their order."""
        if not len(self.keys) or not len(others.keys):
            return self if len(self.keys) else others
        keys = np.append(self.keys, others.keys)
        return KeyState(keys, join(self.states, others.states)).take(np.argsort(keys))

    def after(self, known: Known, left: States, end: int) -> KeyState:
        """What is needed once the search has gone on with the rows `known`. left: by the search."""
        stay = np.flatnonzero(~left[IDLE].values | (left[KEPT].sizes > 0))
        states = dict(take(left, stay))
        kept = states.pop(KEPT)
        del states[IDLE]
        states[PLACES] = ByKey(known.places[kept.values], kept.sizes)
        states[FAILED] = ByKey.one_each(np.zeros(len(stay), np.bool_))
        states[NEXT_END] = ByKey.one_each(np.minimum(states[NEXT_END].values, end))
        return KeyState(self.keys[stay], states)


def store(searches: Mapping[str, KeyState], arrived: ArrivedRows, known: KnownOfBucket) -> Memory:
    """What several searches need: the keys of which anything is kept, and each row once."""
    keys = np.unique(np.concatenate([NO_KEYS, *(one.keys for one in searches.values())]))
    places = (one.states[PLACES].values for one in searches.values())
    union = np.unique(np.concatenate([NO_KEYS, *places]))
    every = np.arange(len(arrived.new))
    key = np.append(np.repeat(every, arrived.kept), np.repeat(every, arrived.new))[union]
    order = np.argsort(key, kind="stable")
    place = np.empty(arrived.rows.num_rows, np.int64)
    place[union[order]] = np.arange(len(union))
    arrays: dict[str, Array] = {}
    for search, needs in searches.items():
        own = needs.states[PLACES]
        states = {**needs.states, PLACES: ByKey(place[own.values], own.sizes)}
        arrays[f"{search} keys"] = np.searchsorted(keys, needs.keys)
        for name, state in states.items():
            arrays[f"{search} {name}"] = state.values
            if (state.sizes != 1).any():
                arrays[f"{search} {name} sizes"] = state.sizes
    arrays["rows"] = np.bincount(np.searchsorted(keys, key), minlength=len(keys)).astype(np.int64)
    rows = pa.concat_tables([arrived.rows.take(pa.array(union[order])), arrived.later])
    own_keys = arrived.keys.take(pa.array(keys)).combine_chunks()
    return Memory(arrived.passed, arrays, own_keys, rows.combine_chunks(), *known)


def needs_in(arrays: Arrays, searches: tuple[KeySearch, ...]) -> dict[str, KeyState]:
    """What `store` has made plain, by the names of searches that need it; others' is let go."""
    found = {}
    for search in searches:
        if f"{search.name} keys" in arrays:
            states = states_in(arrays, search.name, nothing_needed(search, NO_KEYS).states)
            ends = np.minimum(states[NEXT_END].values, search.end)  # which may have been unknown
            states = {**states, NEXT_END: ByKey.one_each(ends)}
            found[search.name] = KeyState(arrays[f"{search.name} keys"], states)
    return found


def states_in(arrays: Arrays, search: str, names: Iterable[str]) -> States:
    """The states of a search, by their names, that `store` has made plain."""
    found = {}
    for name in names:
        values, sizes = arrays[f"{search} {name}"], arrays.get(f"{search} {name} sizes")
        found[name] = ByKey.one_each(values) if sizes is None else ByKey(values, sizes)
    return found


# The output rows of what is decided, and in the end what is needed of keys.
GoingOn = Generator[pa.RecordBatch, None, KeyState]


@dataclass(frozen=True)
class Bucket:
    """What goes on with the events of a bucket. Picklable.

    query: a digest of what is asked, of a set of what all rules share. versions: the rules, by the
    names of their searches; none of a query. remembers: whether it is to be known how far the rows
    have come, though no row is needed.
    """

    arriving: Arriving
    query: str
    searches: tuple[KeySearch, ...]
    versions: Mapping[str, Version]
    remembers: bool

    def run(
        self, _: object, frames: Iterable[pd.DataFrame], group: GroupState
    ) -> Iterator[pd.DataFrame]:
        """Output rows of what is complete now, as the bytes of an Arrow stream."""
        batches = (self.arriving.encoding.batch(frame) for frame in frames if len(frame))
        for batch in self.batch(batches, group):
            yield pd.DataFrame({"rows": [to_bytes([batch])]})

    def batch(self, new: Iterable[pa.RecordBatch], group: GroupState) -> Iterator[pa.RecordBatch]:
        """The output rows of what is decided now; the state is kept in the group."""
        watermark = group.getCurrentWatermarkMs() * 1000
        memory = self.recall(group)
        arrived = arrange(memory, new, self.arriving, watermark)
        needs = yield from self.go_on(memory.arrays, arrived, watermark)
        memory = store(needs, arrived, (self.arriving.column_map, self.versions))
        if memory.keys.num_rows or memory.rows.num_rows or self.remembers:
            group.update((checked(dump(memory, self.query), memory),))
            next_end = min((int(one.next_end.min()) for one in needs.values()), default=NEVER)
            wanted = int(times(arrived.later).min(initial=next_end))
            if wanted != NEVER:  # Spark calls when the watermark is beyond the timer
                group.setTimeoutTimestamp(max(-(-wanted // 1000) - 1, watermark // 1000, 1))
        elif group.exists:
            group.remove()

    def recall(self, group: GroupState) -> Memory:
        """What is known of the bucket, with the columns of the rows that arrive."""
        if not group.exists:
            return self.arriving.nothing()
        memory = load(group.get[0], self.query)
        check_versions(memory, self.versions)
        return self.arriving.adopt(memory)

    def go_on(
        self, arrays: Arrays, arrived: ArrivedRows, watermark: int
    ) -> Generator[pa.RecordBatch, None, dict[str, KeyState]]:
        """Search what has arrived. arrays: what was kept, none in the beginning."""
        needs = needs_in(arrays, self.searches)
        for number, search in enumerate(self.searches):
            own = needs.pop(search.name, None) or nothing_needed(search, NO_KEYS)
            new = np.flatnonzero(arrived.new_of(search.version).sizes)
            wanted = np.append(new, own.keys[own.next_end <= watermark])
            wanted = np.setdiff1d(wanted, own.keys[own.states[FAILED].values])
            whole = own.merged_with(nothing_needed(search, np.setdiff1d(wanted, own.keys)))
            is_wanted = np.isin(whole.keys, wanted)
            others = whole.take(np.flatnonzero(~is_wanted))
            if len(wanted):
                found = whole.take(np.flatnonzero(is_wanted)) if len(others.keys) else whole
                found = yield from self.search(number, found, arrived, watermark)
                others = others.merged_with(found)
            if len(others.keys) and search.end > watermark:
                needs[search.name] = others
        return needs

    def search(self, number: int, needs: KeyState, arrived: ArrivedRows, watermark: int) -> GoingOn:
        search = self.searches[number]
        new = arrived.new_of(search.version).take(needs.keys)
        known = arrived.known(needs.states[PLACES], new, watermark)
        left = yield from search.search(needs.states, known)
        return needs.after(known, left, search.end)


def bucket_of(worker: QueryWorker | RuleSetWorker, arriving: Arriving) -> Bucket:
    """What a worker of whole partitions does with the events of a bucket."""
    if isinstance(worker, QueryWorker):
        query = digest(worker.executable, arriving)
        return Bucket(arriving, query, (search_of(worker.executable),), {}, remembers=False)
    rule_set = worker.rule_set
    searches = tuple(
        search_of(rule.executable, partial(worker.batches, number), rule.version, rule.identity)
        for number, rule in enumerate(rule_set.rules)
    )
    columns = map(wire.column, (rule_set.order, *rule_set.events.values()))
    events = tuple(rule_set.events), arriving.of_columns(columns)
    query = digest(arriving.partitions, events, worker.on_error, rule_set.has_versions)
    versions = {rule.identity: replace(rule.version, rule=rule.name) for rule in rule_set.rules}
    return RulesOfBucket(arriving, query, searches, versions, rule_set.has_versions, worker)


def search_of(executable: Executable, *of_rule: Any) -> KeySearch:
    """What searches the events of keys. of_rule: see `KeySearch`."""
    return (SelectingSearch if executable.task.selects else ContiguousSearch)(executable, *of_rule)


MOST_STATE = 1 << 28  # bytes; several times as many are held while it is read and written
MOST_OF_SPARK = (1 << 31) - (1 << 20)  # bytes of one value


def checked(state: bytes, memory: Memory) -> bytes:
    """The state of a bucket. Raises MatchRecognizeRunError where it is too large."""
    size = len(state)
    if size <= MOST_OF_SPARK and may_take(size, MOST_STATE):
        return state
    rows, keys = memory.rows.num_rows, memory.keys.num_rows
    raise state_without_room(mebibytes=size >> 20, limit=MOST_STATE >> 20, rows=rows, keys=keys)


def check_versions(memory: Memory, versions: Mapping[str, Version]) -> None:
    """Raises where rules are not what they were for rows that have come; ended ones may be gone."""
    if memory.versions == versions:
        return
    assert memory.passed is not None
    seen = int(times(memory.rows).max(initial=memory.passed))
    for name in dict.fromkeys((*memory.versions, *versions)):
        before, now = memory.versions.get(name), versions.get(name)
        known = before or now
        assert known is not None
        is_gone = now is None and known.until is not None and known.until <= memory.passed
        parts = (part_before(seen, version) for version in (before, now))
        if len(set(parts)) > 1 and not is_gone:
            raise changed_in_the_past(name=known.rule, time=OrderTimes(TimestampType()).shown(seen))


def part_before(time: int, version: Version | None) -> tuple[int | None, int | None] | None:
    """When a version begins and ends, as far as it does so up to a time; None if not even begun."""
    if version is None or (version.since is not None and version.since > time):
        return None
    return version.since, None if version.until is None or version.until > time else version.until


def digest(*asked: object) -> str:
    """What tells one query from all others."""
    return hashlib.sha256(repr(asked).encode()).hexdigest()


def nothing_needed(search: KeySearch, keys: IntArray, *, failed: bool = False) -> KeyState:
    """What a search needs of keys without events, or of those for which it has failed."""
    nothing = {
        **search.nothing(),
        NEXT_END: ByKey.one_each(np.array([search.end])),
        FAILED: ByKey.one_each(np.array([failed])),
        PLACES: ByKey.joined([NO_KEYS]),
    }
    return KeyState(keys, take(nothing, np.zeros(len(keys), np.int64)))


# The rules of a set over a bucket's events. One that fails for one key goes on with the others.


@dataclass(frozen=True)
class RulesOfBucket(Bucket):
    """Runs all rules over the events of a bucket. Picklable. rules: over whole partitions."""

    rules: RuleSetWorker

    def search(self, number: int, needs: KeyState, arrived: ArrivedRows, watermark: int) -> GoingOn:
        """Let a rule go on with some keys, without those for which it fails."""
        every, go_on = range(len(needs.keys)), super().search
        parts: list[KeyState] = []

        def search(some: range) -> Iterator[pa.RecordBatch]:
            own = needs if some == every else needs.take(np.array(some))
            parts.append((yield from go_on(number, own, arrived, watermark)))

        def give_up(place: int) -> pa.Table:
            own, given_up = needs.take(np.array([place])), self.searches[number]
            parts.append(nothing_needed(given_up, own.keys, failed=True))
            new = arrived.new_of(given_up.version).take(own.keys)
            return arrived.known(own.states[PLACES], new, watermark).rows.slice(0, 1)

        yield from self.rules.without_failures(number, every, search, give_up)
        return reduce(KeyState.merged_with, parts)
