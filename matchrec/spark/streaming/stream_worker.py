"""The workers of a stream: what Spark's operator runs for each bucket of keys.

A `StreamWorker` is pickled once, and runs for all buckets. One call is for one bucket in one
micro-batch. Its steps:

1. Read the state of the bucket, if it has one.
2. Sort the events that the watermark has passed. The other events wait.
3. Run the searches: the search of a query, or a search for each rule of a set. A search continues
   with the keys that have new events or a window that has ended. It reads the rows that it has
   kept, then the new rows. The states of all other keys stay as they are.
4. Write the state: the rows and runs that some search still needs, and the events that wait.
5. Set an event-time timer for all keys: to the next end of a window, or the time of the first event
   that waits.

The end of a micro-batch does not end a window: a window ends when the watermark passes its end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from typing_extensions import override

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.rule_set import Version
from matchrec.errors import MatchRecognizeError
from matchrec.errors.streams import rule_changed_in_the_past, stream_state_too_large
from matchrec.memory import can_take
from matchrec.search.partitions import IntArray
from matchrec.spark.order_numbers import show_instant
from matchrec.spark.streaming.arrival import (
    ArrivedRows,
    EventLayout,
    SearchRows,
    arrange_events,
    read_times,
)
from matchrec.spark.streaming.bucket_state import (
    Arrays,
    BucketState,
    read_bucket_state,
    write_bucket_state,
)
from matchrec.spark.streaming.event_selection import EventSelectionSearch
from matchrec.spark.streaming.key_states import (
    NO_KEYS,
    build_bucket_state,
    make_key_states,
    read_all_key_states,
)
from matchrec.spark.streaming.search import (
    NEVER,
    ContiguousSearch,
    KeyStates,
    RunningSearch,
    StreamSearch,
)
from matchrec.worker import internal_names
from matchrec.worker.arrays import write_batches
from matchrec.worker.rule_set import RuleSearch, RuleSetOutput

if TYPE_CHECKING:
    from pyspark.sql.streaming.state import GroupState


MICROSECONDS_PER_MILLISECOND = 1000


@dataclass(frozen=True)
class StreamWorker:
    """A worker that searches the events of one bucket after the other. Picklable.

    This class has one search, for a query; `RuleSetStreamWorker` has one for each rule of a set.
    """

    # The columns of the events.
    event_layout: EventLayout
    # A digest of the query, or of what all rules of a set share. A stored state has it, too.
    query_digest: str
    # The search of the query, or a search for each rule.
    searches: tuple[StreamSearch[Any], ...]
    # The version of each rule, by the name of its search. Empty for a query.
    versions: Mapping[str, Version]
    # Whether to store the watermark even if no row and no key is needed any more.
    stores_watermark: bool

    def run(
        self, _bucket: object, frames: Iterable[pd.DataFrame], group: GroupState
    ) -> Iterator[pd.DataFrame]:
        """Yield the output rows that are decided now, as the bytes of Arrow streams.

        Args:
            _bucket: the number of the bucket.
            frames: the new events, encoded for pandas.
            group: Spark's state of the bucket.
        """
        batches = (self.event_layout.encoding.decode_frame(frame) for frame in frames if len(frame))
        for batch in self.search_events(batches, group):
            yield pd.DataFrame({"rows": [write_batches([batch])]})

    def search_events(
        self, events: Iterable[pa.RecordBatch], group: GroupState
    ) -> Iterator[pa.RecordBatch]:
        """Yield the output rows that are decided now, and store the state.

        Args:
            events: the new events.
            group: Spark's state of the bucket.

        Raises:
            MatchRecognizeRunError: the state belongs to another query, a rule has changed for
                events that have arrived, or the state is too large.
            MatchRecognizeError: the rows of a key do not allow a search or a measure.
        """
        watermark = group.getCurrentWatermarkMs() * MICROSECONDS_PER_MILLISECOND
        stored_state = self.load_state(group)
        arrived = arrange_events(stored_state, events, self.event_layout, watermark)
        states_by_search = yield from self.run_searches(stored_state.arrays, arrived, watermark)
        column_map = self.event_layout.column_map
        new_state = build_bucket_state(states_by_search, arrived, column_map, self.versions)
        if new_state.keys.num_rows or new_state.rows.num_rows or self.stores_watermark:
            state_bytes = write_bucket_state(new_state, self.query_digest)
            check_size(len(state_bytes), new_state)
            group.update((state_bytes,))
            set_timer(group, find_wake_up_time(states_by_search, arrived), watermark)
        elif group.exists:
            group.remove()

    def load_state(self, group: GroupState) -> BucketState:
        """Return the state of the bucket, with the columns of the rows that arrive now.

        Raises:
            MatchRecognizeRunError: the state belongs to another query, or a rule has changed for
                events that have arrived.
        """
        if not group.exists:
            return self.event_layout.make_empty_state()
        stored_state = read_bucket_state(group.get[0], self.query_digest)
        check_versions(stored_state, self.versions)
        return self.event_layout.convert_state(stored_state)

    def run_searches(
        self, arrays: Arrays, arrived: ArrivedRows, watermark: int
    ) -> Generator[pa.RecordBatch, None, dict[str, KeyStates[Any]]]:
        """Run all searches. Yield their output rows, and return the new states of their keys.

        Args:
            arrays: the arrays of the stored states; empty for a new bucket.
            arrived: the rows of the bucket.
            watermark: in microseconds.

        Returns:
            The states that are still needed, by the names of the searches.
        """
        stored_by_search = read_all_key_states(arrays, self.searches)
        needed_by_search: dict[str, KeyStates[Any]] = {}
        for index, search in enumerate(self.searches):
            stored_states = stored_by_search.get(search.name)
            if stored_states is None:
                stored_states = make_key_states(search, NO_KEYS)
            due_keys = find_due_keys(search, stored_states, arrived, watermark)
            new_keys = np.setdiff1d(due_keys, stored_states.keys)
            key_states = stored_states.merge(make_key_states(search, new_keys))
            is_due = np.isin(key_states.keys, due_keys)
            needed_states = key_states.take(np.flatnonzero(~is_due))
            if len(due_keys):
                due_states = key_states
                if not is_due.all():  # otherwise nothing is copied
                    due_states = key_states.take(np.flatnonzero(is_due))
                new_states = yield from self.continue_search(index, due_states, arrived, watermark)
                needed_states = needed_states.merge(new_states)
            if len(needed_states.keys) and search.end_time > watermark:
                needed_by_search[search.name] = needed_states
        return needed_by_search

    def continue_search(
        self, search_index: int, key_states: KeyStates[Any], arrived: ArrivedRows, watermark: int
    ) -> RunningSearch[Any]:
        """Continue a search with some keys. Yield output rows, and return the new states.

        Args:
            search_index: the index of the search.
            key_states: the states of these keys.
            arrived: the rows of the bucket.
            watermark: in microseconds.
        """
        return (
            yield from continue_search(self.searches[search_index], key_states, arrived, watermark)
        )


def continue_search(
    search: StreamSearch[Any], key_states: KeyStates[Any], arrived: ArrivedRows, watermark: int
) -> RunningSearch[Any]:
    """Continue a search with some keys. Yield output rows, and return the new states.

    Args:
        search: the search.
        key_states: the states of these keys.
        arrived: the rows of the bucket.
        watermark: in microseconds.
    """
    rows = select_rows(search, key_states, arrived, watermark)
    return (yield from search.search(key_states, rows))


def find_due_keys(
    search: StreamSearch[Any], stored_states: KeyStates[Any], arrived: ArrivedRows, watermark: int
) -> IntArray:
    """Return the keys with which a search continues, ascending, as indices of `arrived.keys`.

    These keys have new rows, or a window that has ended. Keys for which the search has failed are
    left out.

    Args:
        search: the search.
        stored_states: the stored states of the keys of this search.
        arrived: the rows of the bucket.
        watermark: in microseconds.
    """
    keys_with_rows = np.flatnonzero(arrived.find_new_rows(search.version).sizes)
    keys_to_wake = stored_states.keys[stored_states.wake_up_times <= watermark]
    failed_keys = stored_states.keys[stored_states.has_failed]
    return np.setdiff1d(np.append(keys_with_rows, keys_to_wake), failed_keys)


def find_wake_up_time(states_by_search: Mapping[str, KeyStates[Any]], arrived: ArrivedRows) -> int:
    """Return when to run a bucket again even if no event arrives: microseconds, or NEVER.

    Args:
        states_by_search: the states that are kept of each search. Each has at least one key.
        arrived: the rows of the bucket. Those that wait have to be searched later.
    """
    wake_up_times = [int(states.wake_up_times.min()) for states in states_by_search.values()]
    earliest_of_keys = min(wake_up_times, default=NEVER)
    return int(read_times(arrived.waiting).min(initial=earliest_of_keys))


def set_timer(group: GroupState, wake_up_time: int, watermark: int) -> None:
    """Let Spark run the bucket again once the watermark has reached a time, even without events.

    Args:
        group: Spark's state of the bucket.
        wake_up_time: the time in microseconds; NEVER for no timer.
        watermark: in microseconds.
    """
    if wake_up_time == NEVER:
        return
    # Spark runs the bucket once the watermark, in milliseconds, is beyond the timer. The timer must
    # not be before the watermark, and must be positive.
    last_millisecond_before = (wake_up_time - 1) // MICROSECONDS_PER_MILLISECOND
    watermark_in_milliseconds = watermark // MICROSECONDS_PER_MILLISECOND
    group.setTimeoutTimestamp(max(last_millisecond_before, watermark_in_milliseconds, 1))


@dataclass(frozen=True)
class RuleSetStreamWorker(StreamWorker):
    """A worker that searches for all rules of a set. Picklable.

    The search of a rule that fails for one key continues with the other keys. To the rules, a key
    is a partition.
    """

    # The rules, and how a worker makes output rows of their matches.
    output: RuleSetOutput

    def continue_search(
        self, search_index: int, key_states: KeyStates[Any], arrived: ArrivedRows, watermark: int
    ) -> RunningSearch[Any]:
        """Continue a search as `StreamWorker` does, and mark keys for which the rule fails."""
        rule_search = KeyRuleSearch(
            output=self.output,
            rule_number=search_index,
            stream_search=self.searches[search_index],
            key_states=key_states,
            arrived=arrived,
            watermark=watermark,
        )
        all_keys = range(len(key_states.keys))
        yield from self.output.handle_failures(search_index, all_keys, rule_search)
        return reduce(KeyStates.merge, rule_search.new_states)


@dataclass(frozen=True)
class KeyRuleSearch(RuleSearch):
    """The search of one rule in some keys of a bucket. To the rule, a key is a partition.

    `handle_failures` calls the methods until each key is either searched or reported. Then
    `new_states` has the states of all keys.
    """

    output: RuleSetOutput
    # The number of the rule, from 0.
    rule_number: int
    stream_search: StreamSearch[Any]
    # The states of the keys. The index of a partition is an index of these keys.
    key_states: KeyStates[Any]
    # The rows of the bucket.
    arrived: ArrivedRows
    # In microseconds.
    watermark: int
    # The new states of keys, in parts. Each call of a method adds a part, unless its search fails.
    new_states: list[KeyStates[Any]] = field(default_factory=list)

    @override
    def search(self, partitions: range) -> Iterator[pa.RecordBatch]:
        some_states = self.key_states
        if len(partitions) < len(self.key_states.keys):  # otherwise nothing is copied
            some_states = self.key_states.take(np.array(partitions))
        searched_states = yield from continue_search(
            self.stream_search, some_states, self.arrived, self.watermark
        )
        self.new_states.append(searched_states)

    @override
    def report_failure(self, partition: int, error: MatchRecognizeError) -> pa.RecordBatch:
        failed_state = self.key_states.take(np.array([partition]))
        self.new_states.append(
            make_key_states(self.stream_search, failed_state.keys, has_failed=True)
        )
        rows = select_rows(self.stream_search, failed_state, self.arrived, self.watermark)
        return self.output.make_failure_row(self.rule_number, rows.table.slice(0, 1), error)


def select_rows(
    search: StreamSearch[Any], key_states: KeyStates[Any], arrived: ArrivedRows, watermark: int
) -> SearchRows:
    """Return the rows that a search reads of some keys: for each, the kept rows, then new rows.

    Args:
        search: the search.
        key_states: the states of the keys.
        arrived: the rows of the bucket.
        watermark: in microseconds.
    """
    new_rows = arrived.find_new_rows(search.version).take(key_states.keys)
    return arrived.select_rows(key_states.kept_rows, new_rows, watermark)


def build_query_worker(compiled_query: CompiledQuery, event_layout: EventLayout) -> StreamWorker:
    """Return the worker that runs a query over a stream.

    Args:
        compiled_query: the query.
        event_layout: the columns of the events.
    """
    return StreamWorker(
        event_layout=event_layout,
        query_digest=compute_digest(compiled_query, event_layout),
        searches=(choose_search(compiled_query)(compiled_query),),
        versions={},
        stores_watermark=False,
    )


def build_rules_worker(output: RuleSetOutput, event_layout: EventLayout) -> RuleSetStreamWorker:
    """Return the worker that runs the rules of a set over a stream.

    Args:
        output: the rules, and how a worker makes output rows of their matches.
        event_layout: the columns of the events.
    """
    rule_set = output.rule_set
    searches = tuple(
        choose_search(rule.compiled_query)(
            rule.compiled_query,
            batch_maker=partial(output.make_batches, index),
            version=rule.version,
            name=rule.identity,
        )
        for index, rule in enumerate(rule_set.rules)
    )
    # The stored state stays valid if rules change, but not if what they share changes.
    columns = [
        internal_names.name_column(index) for index in (rule_set.order, *rule_set.events.values())
    ]
    events = tuple(rule_set.events), event_layout.describe_columns(columns)
    partitions = event_layout.describe_partitions()
    query_digest = compute_digest(partitions, events, output.on_error, rule_set.has_versions)
    # For errors, the name of a version is the name of the linked rule: the rule with its time.
    versions = {rule.identity: replace(rule.version, rule=rule.name) for rule in rule_set.rules}
    return RuleSetStreamWorker(
        event_layout=event_layout,
        query_digest=query_digest,
        searches=searches,
        versions=versions,
        stores_watermark=rule_set.has_versions,
        output=output,
    )


def choose_search(compiled_query: CompiledQuery) -> type[StreamSearch[Any]]:
    """Return the class of the search for a compiled query."""
    if compiled_query.task.needs_event_selection:
        return EventSelectionSearch
    return ContiguousSearch


def compute_digest(*parts: object) -> str:
    """Return a digest of the `repr` of some values, as 64 hexadecimal digits."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


# Checks.


# The most bytes of a state. Reading and writing a state takes several times as much memory.
MAX_STATE_BYTES = 1 << 28
# The most bytes of one value in Spark.
MAX_SPARK_VALUE_BYTES = (1 << 31) - (1 << 20)


def check_size(size: int, bucket_state: BucketState) -> None:
    """Check that the state of a bucket is not too large.

    Args:
        size: the size of the state in bytes.
        bucket_state: the state, whose rows and keys the error counts.

    Raises:
        MatchRecognizeRunError: the state is too large.
    """
    if size <= MAX_SPARK_VALUE_BYTES and can_take(size, MAX_STATE_BYTES):
        return
    raise stream_state_too_large(
        mebibytes=size >> 20,
        limit=MAX_STATE_BYTES >> 20,
        rows=bucket_state.rows.num_rows,
        keys=bucket_state.keys.num_rows,
    )


def check_versions(stored_state: BucketState, versions: Mapping[str, Version]) -> None:
    """Check that rules have not changed for the rows that have arrived.

    A rule is allowed to be missing if its time has ended.

    Args:
        stored_state: the stored state, with the versions of the rules at that time.
        versions: the versions of the rules now, by the names of their searches.

    Raises:
        MatchRecognizeRunError: a rule has changed for these rows, so they would have been searched
            in another way.
    """
    if stored_state.versions == versions:
        return
    ordered_until = stored_state.ordered_until
    assert ordered_until is not None, "every stored state has a watermark"
    last_time = int(read_times(stored_state.rows).max(initial=ordered_until))
    for name in dict.fromkeys((*stored_state.versions, *versions)):
        stored_version = stored_state.versions.get(name)
        new_version = versions.get(name)
        version = stored_version or new_version
        assert version is not None
        has_ended = version.until is not None and version.until <= ordered_until
        if new_version is None and has_ended:
            continue
        if clip_version(stored_version, last_time) != clip_version(new_version, last_time):
            raise rule_changed_in_the_past(name=version.rule, time=show_instant(last_time))


def clip_version(version: Version | None, time: int) -> tuple[int | None, int | None] | None:
    """Return the times at which a version begins and ends, as known at a time.

    Versions with equal results read the same rows up to this time.

    Args:
        version: the version; None if there is none.
        time: in microseconds.

    Returns:
        The two times in microseconds. The beginning is None if the version has none, and the end is
        None if the version has none up to `time`. The result is None if there is no version or it
        begins after `time`.
    """
    if version is None or (version.since is not None and version.since > time):
        return None
    ends_later = version.until is None or version.until > time
    return version.since, None if ends_later else version.until
