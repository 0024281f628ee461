"""The order of matches: sorted, each once, numbered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from matchrec.engine.matches import Matches, Numbering
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels.order import mark_equal, settle_ties


def sort_matches(matches: Matches, *, by_start: bool = False) -> Matches:
    """Sort matches by partition, kind, completing row, first row, positions, variables; once each.

    by_start: first row before completing row.
    """
    assert matches.rows is not None
    assert matches.completed is not None
    if matches.count < 2:
        return matches
    assert matches.kind is not None
    times = [matches.completed, matches.start]
    keys = np.stack([matches.partition, matches.kind, *(times[::-1] if by_start else times)])
    order = np.lexsort(keys[::-1]).astype(np.int64)
    keys = keys[:, order]
    new = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
    groups = np.concatenate([[0], new, [matches.count]]).astype(np.int64)
    if len(groups) <= matches.count:
        again = np.zeros(matches.count, np.bool_)
        found = matches.offsets, matches.rows, matches.classifiers
        if not mark_equal(groups, order, again, *found):
            settle_ties(groups, order, np.empty_like(order), *found)
            mark_equal(groups, order, again, *found)
        order = order[~again]
    return take_matches(matches, order)


def take_matches(matches: Matches, order: IntArray) -> Matches:
    """The matches at some places, in their order; chains keep the rows of all."""
    if len(order) == matches.count and bool(np.all(order[1:] > order[:-1])):
        return matches
    lengths = np.diff(matches.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if matches.chains is not None:
        return replace(
            matches,
            partition=matches.partition[order],
            number=matches.number[order],
            start=matches.start[order],
            offsets=offsets,
            chains=replace(matches.chains, first=matches.chains.first[order]),
        )
    places = np.arange(offsets[-1]) + np.repeat(matches.offsets[:-1][order] - offsets[:-1], lengths)
    return Matches(
        matches.partition[order],
        matches.number[order],
        matches.start[order],
        offsets,
        matches.classifiers[places],
        matches.excluded[places],
        None if matches.rows is None else matches.rows[places],
        completed=None if matches.completed is None else matches.completed[order],
        kind=None if matches.kind is None else matches.kind[order],
    )


def number_chunks(ordered: Iterator[Matches]) -> Iterator[Matches]:
    """Number the matches of sorted chunks."""
    numbering = Numbering()
    for matches in ordered:
        yield numbering.number_matches(matches)
