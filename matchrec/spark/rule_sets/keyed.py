"""The rules of a set over the events of a bucket of keys: searches that give rows of a set.

A rule that fails for one key goes on with the others.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import RuleSet
from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors.run.failures import of_rule
from matchrec.spark.rule_sets.worker import (
    OnError,
    RuleSetWorker,
    columns_of_failure,
    filled,
)
from matchrec.spark.streaming.arrival import Arrived, Arriving
from matchrec.spark.streaming.bucket import (
    NO_KEYS,
    PLACES,
    Bucket,
    GoingOn,
    Needs,
    Outcome,
    digest,
    search_of,
)


@dataclass(frozen=True)
class StreamedRules(RuleSetWorker):
    """Runs all rules over a stream's events."""

    def bucket(self, arriving: Arriving) -> RulesOfBucket:
        """What goes on with the events of a bucket."""
        searches = tuple(
            search_of(rule.executable, self.output_of(number))
            for number, rule in enumerate(self.rule_set.rules)
        )
        query = digest(self.rule_set, arriving)
        return RulesOfBucket(arriving, query, searches, self.rule_set, self.schema, self.on_error)


@dataclass(frozen=True)
class RulesOfBucket(Bucket):
    """Runs all rules over the events of a bucket. Picklable.

    rule_set: over all columns. sends: the schema of the rows that come out.
    """

    rule_set: RuleSet
    sends: pa.Schema
    on_error: OnError

    def search(self, number: int, needs: Needs, arrived: Arrived, watermark: int) -> GoingOn:
        """Let a rule go on with some keys; if it fails, with half of them, to leave out the key."""
        going_on = super().search(number, needs, arrived, watermark)
        try:
            if self.on_error is OnError.RAISE:
                return (yield from going_on)
            found, outcome = collected(going_on)
        except MatchRecognizeError as error:
            if self.on_error is OnError.RAISE:
                raise of_rule(self.rule_set.rules[number].name, error) from error.__cause__
            if len(needs.keys) > 1:
                return (yield from self.search_halves(number, needs, arrived, watermark))
            row = arrived.known(needs.keys, needs.states[PLACES], watermark).rows.slice(0, 1)
            yield filled(self.sends, number, columns_of_failure(self.rule_set, row, error))
            return needs.take(NO_KEYS), needs.keys
        yield from found
        return outcome

    def search_halves(self, number: int, needs: Needs, arrived: Arrived, watermark: int) -> GoingOn:
        """The same with the first half of the keys, then with the others."""
        places = np.arange(len(needs.keys))
        outcomes = []
        for half in np.array_split(places, 2):
            one = yield from self.search(number, needs.take(half), arrived, watermark)
            outcomes.append(one)
        (first, failed), (second, others) = outcomes
        return first.merged_with(second), np.append(failed, others)


def collected(going_on: GoingOn) -> tuple[list[pa.RecordBatch], Outcome]:
    """All that a search yields, and what comes of it."""
    ends: list[Outcome] = []

    def noted() -> Iterator[pa.RecordBatch]:
        ends.append((yield from going_on))

    found = list(noted())
    return found, ends[0]
