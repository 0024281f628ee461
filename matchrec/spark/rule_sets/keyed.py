"""The rules of a set over the events of a bucket of keys: each event is kept once for all rules.

Events wait for the watermark together. Then each rule goes on by itself, with those that it looks
at again and the new ones; what some rule still needs is kept. Keys that have neither new events nor
a window that has ended are left alone, rule by rule. A rule that fails for one key goes on with the
others.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import RuleSet
from matchrec.dataclass import dataclass
from matchrec.engine.partitions import IntArray
from matchrec.errors import MatchRecognizeError
from matchrec.errors.run.rule_sets import of_rule
from matchrec.spark.rule_sets.worker import OnError, columns_of_failure, filled
from matchrec.spark.streaming.arrival import Arrived
from matchrec.spark.streaming.bucket import NO_KEYS, Bucket, GoingOn, Kept
from matchrec.spark.streaming.by_key import Array, ByKey, OfKeys, States, flat, states_in, take
from matchrec.spark.streaming.memory import Arrays
from matchrec.spark.streaming.search import FOREVER, KeySearch, Left, Searching

PLACES = "places"


@dataclass(frozen=True, slots=True)
class Needs(OfKeys):
    """What a rule needs of some keys of the bucket.

    keys: int64[p], ascending. states: of its search, and PLACES, its rows among all that have
    arrived. next_end: see `Left`.
    """

    keys: IntArray
    states: States
    next_end: IntArray

    def merged_with(self, others: Needs) -> Needs:
        """The same with other keys, in their order."""
        both = self.followed_by(others)
        return both.take(np.argsort(both.keys))


@dataclass(frozen=True, slots=True)
class KeptRules:
    """What is kept for all rules.

    needs: of rules. failed: int64[f] of rules, the keys for which they have failed for good.
    """

    needs: Mapping[int, Needs]
    failed: Mapping[int, IntArray]

    def arrays(self) -> dict[str, Array]:
        """What is needed as plain arrays by name."""
        found = {"rules": np.array(sorted(self.needs), np.int64)}
        for number, one in self.needs.items():
            own = {"keys": one.keys, "next end": one.next_end, **flat(one.states)}
            found |= {f"{number} {name}": array for name, array in own.items()}
        pairs = [(number, key) for number, keys in self.failed.items() for key in keys.tolist()]
        return found | {"failed": np.array(pairs, np.int64).reshape(-1, 2)}

    @staticmethod
    def of(arrays: Arrays, searches: tuple[KeySearch, ...]) -> KeptRules:
        """What `arrays` has made plain; nothing of no arrays."""
        needs = {}
        for number in arrays["rules"].tolist() if arrays else ():
            names = [f"{number} {name}" for name in (*searches[number].nothing(), PLACES)]
            states = states_in(arrays, names)
            own = {name.partition(" ")[2]: one for name, one in states.items()}
            needs[number] = Needs(arrays[f"{number} keys"], own, arrays[f"{number} next end"])
        rules, keys = arrays["failed"].T if arrays else (NO_KEYS, NO_KEYS)
        return KeptRules(needs, {one: keys[rules == one] for one in np.unique(rules).tolist()})


@dataclass(frozen=True, slots=True)
class Called:
    """The keys for which a rule has something to search. needs: of these; others: of all others."""

    needs: Needs
    others: Needs

    @staticmethod
    def of(own: Needs, search: KeySearch, wanted: IntArray) -> Called:
        """own: what the rule needs. wanted: the keys, ascending."""
        whole = own.merged_with(nothing_needed(search, np.setdiff1d(wanted, own.keys)))
        is_called = np.isin(whole.keys, wanted)
        return Called(whole.take(np.flatnonzero(is_called)), whole.take(np.flatnonzero(~is_called)))


Outcome = tuple[Needs, IntArray]  # what is needed of keys, and those for which the rule has failed
RuleSearching = Generator[pa.RecordBatch, None, Outcome]


@dataclass(frozen=True)
class RulesOfBucket(Bucket):
    """Runs all rules over the events of a bucket. Picklable.

    rule_set: over all columns. searches: of its rules. sends: the schema of the rows that come out.
    """

    rule_set: RuleSet
    searches: tuple[KeySearch, ...]
    sends: pa.Schema
    on_error: OnError

    def go_on(self, arrays: Arrays, arrived: Arrived, watermark: int) -> GoingOn:
        kept = KeptRules.of(arrays, self.searches)
        needs, failed = dict(kept.needs), dict(kept.failed)
        for number, search in enumerate(self.searches):
            own = needs.pop(number, None) or nothing_needed(search, NO_KEYS)
            apart = failed.get(number, NO_KEYS)
            wanted = np.append(np.flatnonzero(arrived.new), own.keys[own.next_end <= watermark])
            called = Called.of(own, search, np.setdiff1d(wanted, apart))
            found, added = yield from self.search(number, called.needs, arrived, watermark)
            after = called.others.merged_with(found)
            if len(after.keys):
                needs[number] = after
            if len(added):
                failed[number] = np.append(apart, added)
        return stored(KeptRules(needs, failed), arrived)

    def search(self, number: int, needs: Needs, arrived: Arrived, watermark: int) -> RuleSearching:
        """Let a rule go on with some keys; if it fails, with half of them, to leave out the key."""
        if not len(needs.keys):
            return needs, NO_KEYS
        known = arrived.known(needs.keys, needs.states[PLACES], watermark)
        try:
            found, left = collected(self.searches[number].search(needs.states, known))
        except MatchRecognizeError as error:
            if self.on_error is OnError.RAISE:
                raise of_rule(self.rule_set.rules[number].name, error) from error.__cause__
            if len(needs.keys) > 1:
                return (yield from self.search_halves(number, needs, arrived, watermark))
            row = known.rows.slice(0, 1)
            yield filled(self.sends, number, columns_of_failure(self.rule_set, row, error))
            return needs.take(NO_KEYS), needs.keys
        yield from found
        stay, left = left.without_idle()
        places = ByKey(known.places[left.kept.values], left.kept.sizes)
        states = dict(left.states) | {PLACES: places}
        return Needs(needs.keys[stay], states, left.next_end), NO_KEYS

    def search_halves(
        self, number: int, needs: Needs, arrived: Arrived, watermark: int
    ) -> RuleSearching:
        """The same with the first half of the keys, then with the others."""
        places = np.arange(len(needs.keys))
        outcomes = []
        for half in np.array_split(places, 2):
            one = yield from self.search(number, needs.take(half), arrived, watermark)
            outcomes.append(one)
        (first, failed), (second, others) = outcomes
        return first.merged_with(second), np.append(failed, others)


def nothing_needed(search: KeySearch, keys: IntArray) -> Needs:
    """What a rule needs of keys without events."""
    nothing = dict(search.nothing()) | {PLACES: ByKey.joined([NO_KEYS])}
    states = take(nothing, np.zeros(len(keys), np.int64))
    return Needs(keys, states, np.full(len(keys), FOREVER))


def stored(kept: KeptRules, arrived: Arrived) -> Kept:
    """What is kept of the bucket: the keys of which anything is, and each row once."""
    of_rules = [*kept.needs.values()]
    keys = np.unique(
        np.concatenate([NO_KEYS, *(one.keys for one in of_rules), *kept.failed.values()])
    )
    union = np.unique(np.concatenate([NO_KEYS, *(one.states[PLACES].values for one in of_rules)]))
    key = arrived.key_of_rows()[union]
    order = np.argsort(key, kind="stable")
    place = np.empty(arrived.rows.num_rows, np.int64)
    place[union[order]] = np.arange(len(union))

    def renumbered(one: Needs) -> Needs:
        places = one.states[PLACES]
        states = dict(one.states) | {PLACES: ByKey(place[places.values], places.sizes)}
        return Needs(np.searchsorted(keys, one.keys), states, one.next_end)

    needs = {number: renumbered(one) for number, one in kept.needs.items()}
    failed = {number: np.searchsorted(keys, one) for number, one in kept.failed.items()}
    rows = np.bincount(np.searchsorted(keys, key), minlength=len(keys)).astype(np.int64)
    arrays = KeptRules(needs, failed).arrays() | {"rows": rows}
    next_end = min((int(one.next_end.min()) for one in of_rules), default=FOREVER)
    return Kept(keys, union[order], arrays, next_end)


def collected(searching: Searching) -> tuple[list[pa.RecordBatch], Left]:
    """All that a search yields, and what it leaves."""
    ends: list[Left] = []

    def noted() -> Iterator[pa.RecordBatch]:
        ends.append((yield from searching))

    found = list(noted())
    return found, ends[0]
