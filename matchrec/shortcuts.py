"""What is done because it is faster: one record, all on, and the sizes from which each is worth it.

Results never depend on it. Users have no switch for it; tests have one, and compare on and off:
`tests/properties/test_shortcuts.py`. `compile.pruning.locality` says what each is proven for.

    with in_force(Shortcuts(ranges=False)):     a query that is built here, and its workers, have
        found = matchrec.sql(spark, query)      the record, whenever it runs
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Shortcuts:
    """Which shortcuts are taken.

    ranges: large partitions are cut where no match lies. partitions: those without a row that every
    match needs are not sorted. rows: those that no match can have do not cross. columns: those of a
    result that nobody reads are not computed. keys: tests of partition columns that follow the
    clause are made before it. windows: conditions that bound a match along its order are a window.
    neighbours: conditions on rows at a fixed distance are computed before the match. packing: the
    truth values of a row cross as bits of few columns. pieces: a large partition is searched before
    it is complete. beginnings: rows with which no match can begin are passed over. chains: matches
    that overlap share their rows. merging: runs with equal computation states merge. totals:
    matches that are aggregated are not built. folds: aggregates that only Spark knows are folds of
    arrays, where groups would give the same. accumulators: with ALL ROWS the worker adds up
    aggregates row by row, for which each row would bring its match. texts: a query text that was
    read before is not read again.

    range_bytes: of an input from which partitions are cut unasked. range_rows: of a range at least.
    few_steps: of a search that Python takes before the compiled code is waited for.
    large: a key is cut that has one of so many rows. few: rows for each one that every match needs,
    so that it pays to look for partitions without one. rows_a_call: of a piece. hashed_rows: from
    which on a hash of keys of many bits brings them together. sort_bytes: that are held before they
    are spilled; None for as many as there is room for.
    """

    ranges: bool = True
    partitions: bool = True
    rows: bool = True
    columns: bool = True
    keys: bool = True
    windows: bool = True
    neighbours: bool = True
    packing: bool = True
    pieces: bool = True
    beginnings: bool = True
    chains: bool = True
    merging: bool = True
    totals: bool = True
    folds: bool = True
    accumulators: bool = True
    texts: bool = True
    range_bytes: int = 1 << 27
    range_rows: int = 10_000
    few_steps: int = 1 << 14
    large: int = 16
    few: int = 32
    rows_a_call: int = 1 << 20
    hashed_rows: int = 1 << 15
    sort_bytes: int | None = None


ALL = Shortcuts()

_in_force = ContextVar("shortcuts", default=ALL)


def taken() -> Shortcuts:
    return _in_force.get()


@contextmanager
def in_force(shortcuts: Shortcuts) -> Iterator[None]:
    before = _in_force.set(shortcuts)
    try:
        yield
    finally:
        _in_force.reset(before)


def each_under(shortcuts: Shortcuts, items: Callable[[], Iterator[T]]) -> Iterator[T]:
    """The items, each made while these are taken: a generator would leave them behind it.

    >>> list(each_under(Shortcuts(few=1), lambda: iter([taken().few])))
    [1]
    """
    with in_force(shortcuts):
        found = items()
    while True:
        with in_force(shortcuts):
            try:
                item = next(found)
            except StopIteration:
                return
        yield item


MOST_TEXTS = 500


def once(read: Callable[..., T], most: int = 1 << 18) -> Callable[..., T]:
    """What reads texts, with the nodes of the newest of them: a node depends on nothing else.

    most: characters of all texts that are kept. Whatever else it takes tells equal texts apart.
    Frames, views, values and settings are asked of anew for each query.

    >>> numbers = iter(range(9))
    >>> read = once(lambda text: next(numbers), most=3)
    >>> [read(text) for text in ("a", "a", "bc", "def", "a")]
    [0, 0, 1, 2, 3]
    """
    kept: OrderedDict[tuple[str, tuple[Hashable, ...]], T] = OrderedDict()
    keeping = Lock()

    def read_once(text: str, *others: Hashable) -> T:
        key = text, others
        with keeping:
            if taken().texts and key in kept:
                kept.move_to_end(key)  # the newest is the last
                return kept[key]
        node = read(text, *others)
        with keeping:
            kept[key] = node
            while len(kept) > MOST_TEXTS or sum(len(known) for known, _ in kept) > most:
                kept.popitem(last=False)
        return node

    return read_once
