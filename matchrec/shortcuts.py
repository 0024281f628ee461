"""Shortcuts: everything that matchrec does only because it is faster, in one record.

Results never depend on shortcuts. All are on, and users have no switch. Tests switch them off and
compare the results: see `tests/properties/test_shortcuts.py`. `compile.pruning.proven_shortcuts`
lists what each shortcut is proven for.

    with use_shortcuts(Shortcuts(ranges=False)):
        matches = matchrec.sql(spark, query)

A query that is built inside the `with` block has the record, and so have its workers, whenever the
query runs.

The shortcut `parsed_texts` is implemented here, by `keep_parsed`. All other shortcuts are in the
packages that take them.
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
    """Which shortcuts are taken, and the sizes from which some of them pay.

    A size whose name begins with `min_` or `max_` is the smallest or the largest size at which a
    shortcut is taken. A size whose name ends with `_one_in` is a share: 16 means one row in 16.
    """

    # Large partitions are cut into ranges at places that no match crosses.
    ranges: bool = True
    # Partitions without a row that every match needs are not sorted.
    partitions: bool = True
    # Rows that cannot be in any match are not sent to the workers.
    rows: bool = True
    # Columns of the result that nobody reads are not computed.
    columns: bool = True
    # Tests of partition columns in the query around the clause are made before the match.
    partition_filters: bool = True
    # Conditions that bound a match along its order become a window.
    windows: bool = True
    # Conditions on rows at a fixed distance are computed before the match.
    neighbours: bool = True
    # The truth values of a row are sent as bits of a few columns.
    packing: bool = True
    # The search in a large partition begins before all of its rows are there.
    search_in_pieces: bool = True
    # Rows with which no match can begin are skipped.
    starting_rows: bool = True
    # Matches that overlap share their rows.
    shared_rows: bool = True
    # Runs with equal computation states merge.
    merging: bool = True
    # Matches that are only aggregated are not built.
    totals: bool = True
    # Aggregates that only Spark knows are folds of arrays if groups would give the same result.
    folds: bool = True
    # The worker finds the rows that aggregates such as `max_by` choose, and with ALL ROWS PER MATCH
    # it adds up aggregates row by row. Otherwise each output row would hold all rows of its match.
    accumulators: bool = True
    # The text of a query that was parsed before is not parsed again.
    parsed_texts: bool = True
    # The types of rows are inferred from the input's schema if it decides them, so that the
    # session is not asked.
    types: bool = True

    # Partitions are cut into ranges if the input has at least this many bytes, unless the user
    # decides.
    min_bytes_to_cut: int = 1 << 27
    # Ranges have about this many rows or more, on average.
    min_rows_of_range: int = 10_000
    # A search takes at most this many steps in Python before it waits for the compiled code.
    max_python_steps: int = 1 << 17
    # The partition of a key is cut into ranges if at least one in this many rows has the key.
    large_key_one_in: int = 16
    # The worker looks for partitions without a needed row if at most one in this many rows is
    # needed.
    needed_rows_one_in: int = 32
    # An input with at most this many rows is one task on Sail.
    max_rows_of_single_task: int = 1 << 12
    # A call of the search gets about this many rows.
    rows_per_call: int = 1 << 20
    # Rows are grouped by a hash or a number of keys of many bits if there are at least this many.
    min_rows_to_hash: int = 1 << 15
    # A column of texts gets a dictionary before a sort if each text occurs at least this often, on
    # average: to find a text in a large dictionary takes longer than to move the text.
    min_repeats_of_text: int = 32
    # A sort holds at most this many bytes of rows before it spills them to disk; None for as many
    # bytes as there is room for.
    max_sort_bytes: int | None = None


ALL = Shortcuts()

_current = ContextVar("shortcuts", default=ALL)


def current_shortcuts() -> Shortcuts:
    """Return the shortcuts that are in force."""
    return _current.get()


@contextmanager
def use_shortcuts(shortcuts: Shortcuts) -> Iterator[None]:
    """Put shortcuts in force inside the `with` block."""
    token = _current.set(shortcuts)
    try:
        yield
    finally:
        _current.reset(token)


def yield_under(shortcuts: Shortcuts, items: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Yield items, and compute each item while some shortcuts are in force.

    A generator with a loop inside of `with use_shortcuts(...)` would leave the shortcuts in force
    for the code that consumes the generator.

    Args:
        shortcuts: the shortcuts.
        items: returns the iterator over the items.

    >>> def count_rows():
    ...     yield current_shortcuts().rows_per_call
    >>> list(yield_under(Shortcuts(rows_per_call=1), count_rows))
    [1]
    """
    with use_shortcuts(shortcuts):
        iterator = items()
    while True:
        with use_shortcuts(shortcuts):
            try:
                item = next(iterator)
            except StopIteration:
                return
        yield item


# The largest number of texts that are kept with their nodes.
MAX_KEPT_TEXTS = 500


def keep_parsed(parse: Callable[..., T], max_characters: int = 1 << 18) -> Callable[..., T]:
    """Return a function that parses a text as `parse` does, but keeps the nodes of recent texts.

    Several threads may call the function. Without the shortcut `parsed_texts`, it parses each time.

    >>> numbers = iter(range(9))
    >>> parse_once = keep_parsed(lambda text: next(numbers), max_characters=3)
    >>> [parse_once(text) for text in ("a", "a", "bc", "too long", "a", "def", "a")]
    [0, 0, 1, 2, 0, 3, 4]

    Args:
        parse: parses a text, its first argument, to a node, which must depend on nothing but the
            arguments. A text has one kept node for each choice of the other arguments.
        max_characters: the largest number of characters of all kept texts together. A longer text
            is not kept, so that it does not replace all others.
    """
    # The nodes by the text and the other arguments, the node that was used last at the end.
    nodes: OrderedDict[tuple[str, tuple[Hashable, ...]], T] = OrderedDict()
    character_count = 0  # of all kept texts
    lock = Lock()

    def parse_once(text: str, *others: Hashable) -> T:
        """Return the kept node of a text, or parse the text and keep its node."""
        nonlocal character_count
        key = text, others
        with lock:
            if current_shortcuts().parsed_texts and key in nodes:
                nodes.move_to_end(key)
                return nodes[key]
        node = parse(text, *others)
        if len(text) > max_characters:
            return node
        with lock:
            if key not in nodes:  # another thread may have parsed it, too
                character_count += len(text)
            nodes[key] = node
            while len(nodes) > MAX_KEPT_TEXTS or character_count > max_characters:
                (oldest_text, _), _ = nodes.popitem(last=False)
                character_count -= len(oldest_text)
        return node

    return parse_once
