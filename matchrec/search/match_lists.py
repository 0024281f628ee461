"""Put matches of event selection in order: sort, filter, join and number them.

Equal matches are returned once. `selection` runs the searches, and uses these functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from matchrec.search.flat_arrays import find_group_starts, list_positions
from matchrec.search.kernels.match_order import MappedRows, mark_repeated_matches, sort_groups
from matchrec.search.matches import Matches, Numbering
from matchrec.search.partitions import BoolArray, IntArray
from matchrec.search.task import Task

# A chunk of `join_chunks` has at least this many mapped rows, except for the last one.
LARGE_CHUNK = 1 << 16


def sort_matches(matches: Matches, *, by_start: bool = False) -> Matches:
    """Sort matches, and return equal matches once.

    The order is by partition, kind, completing row, first row, row positions, then variables.

    Args:
        matches: matches of event selection.
        by_start: whether the first row counts before the completing row.
    """
    assert matches.rows is not None
    assert matches.completing_rows is not None
    if matches.count < 2:
        return matches
    assert matches.kind is not None
    if by_start:
        keys = np.stack([matches.partition, matches.kind, matches.start, matches.completing_rows])
    else:
        keys = np.stack([matches.partition, matches.kind, matches.completing_rows, matches.start])
    order = np.lexsort(keys[::-1]).astype(np.int64)
    keys = keys[:, order]
    # The rows and variables of matches are compared only within groups of equal keys.
    begins_group = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    later_groups = np.flatnonzero(begins_group) + 1
    group_bounds = np.concatenate([[0], later_groups, [matches.count]]).astype(np.int64)
    has_equal_keys = len(group_bounds) - 1 < matches.count
    if has_equal_keys:
        is_repeated = np.zeros(matches.count, np.bool_)
        mapped_rows = MappedRows(matches.offsets, matches.rows, matches.classifiers)
        # Searches find most matches in order, which then need not be sorted.
        is_in_order = mark_repeated_matches(group_bounds, order, is_repeated, mapped_rows)
        if not is_in_order:
            sort_groups(group_bounds, order, np.empty_like(order), mapped_rows)
            mark_repeated_matches(group_bounds, order, is_repeated, mapped_rows)
        order = order[~is_repeated]
    return take_matches(matches, order)


def take_matches(matches: Matches, order: IntArray) -> Matches:
    """Return the matches with the indices in `order`, in this order."""
    is_all_in_order = len(order) == matches.count and bool(np.all(order[1:] > order[:-1]))
    if is_all_in_order:
        return matches
    lengths = np.diff(matches.offsets)[order]
    # The old index of each mapped row of the result.
    indices = list_positions(matches.offsets[:-1][order], lengths)
    return replace(
        matches,
        offsets=find_group_starts(lengths),
        partition=matches.partition[order],
        number=matches.number[order],
        start=matches.start[order],
        completing_rows=take_from(matches.completing_rows, order),
        kind=take_from(matches.kind, order),
        totals=take_from(matches.totals, order),
        classifiers=matches.classifiers[indices],
        is_excluded=matches.is_excluded[indices],
        rows=take_from(matches.rows, indices),
    )


def take_from(column: IntArray | None, indices: IntArray) -> IntArray | None:
    """Return the elements of a column at some indices; None if there is no column."""
    return None if column is None else column[indices]


def number_chunks(task: Task, sorted_chunks: Iterator[Matches]) -> Iterator[Matches]:
    """Set the numbers of matches in sorted chunks, and drop matches after `Task.max_matches`."""
    numbering = Numbering()
    for matches in sorted_chunks:
        yield keep_first_matches(task, numbering.number_matches(matches))


def keep_first_matches(task: Task, matches: Matches) -> Matches:
    """Return numbered matches without those whose number is above `Task.max_matches`."""
    if task.max_matches is None:
        return matches
    return filter_matches(matches, matches.number <= task.max_matches)


def filter_matches(matches: Matches, is_kept: BoolArray) -> Matches:
    """Return the matches that are marked in bool[m]."""
    return take_matches(matches, np.flatnonzero(is_kept))


def concatenate_matches(chunks: Sequence[Matches]) -> Matches:
    """Return the matches of one or more chunks, one chunk after the other."""
    chunks = [chunk for chunk in chunks if chunk.count] or chunks[:1]
    first = chunks[0]
    if len(chunks) == 1:
        return first
    sizes = [chunk.offsets[-1] for chunk in chunks]
    rows_before = np.cumsum([0, *sizes[:-1]])
    offsets = [chunk.offsets[:-1] + rows for chunk, rows in zip(chunks, rows_before, strict=True)]
    return replace(
        first,
        offsets=np.concatenate([*offsets, [sum(sizes)]]).astype(np.int64),
        partition=np.concatenate([chunk.partition for chunk in chunks]),
        number=np.concatenate([chunk.number for chunk in chunks]),
        start=np.concatenate([chunk.start for chunk in chunks]),
        completing_rows=join_columns([chunk.completing_rows for chunk in chunks]),
        kind=join_columns([chunk.kind for chunk in chunks]),
        totals=join_columns([chunk.totals for chunk in chunks]),
        classifiers=np.concatenate([chunk.classifiers for chunk in chunks]),
        is_excluded=np.concatenate([chunk.is_excluded for chunk in chunks]),
        rows=join_columns([chunk.rows for chunk in chunks]),
    )


def join_columns(columns: Sequence[IntArray | None]) -> IntArray | None:
    """Return the values of columns, one column after the other; None if all columns are None."""
    present_columns = [column for column in columns if column is not None]
    return np.concatenate(present_columns) if present_columns else None


def join_chunks(chunks: Iterator[Matches]) -> Iterator[Matches]:
    """Yield the matches in fewer, larger chunks, because the output of a chunk has a fixed cost."""
    joined_chunks: list[Matches] = []
    for matches in chunks:
        joined_chunks.append(matches)
        if sum(int(chunk.offsets[-1]) for chunk in joined_chunks) >= LARGE_CHUNK:
            yield concatenate_matches(joined_chunks)
            joined_chunks = []
    if joined_chunks:
        yield concatenate_matches(joined_chunks)
