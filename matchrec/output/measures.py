"""What a measure reads on each output row: row positions for navigation, counts and sums of rows.

All of it is array arithmetic over the classifiers of many matches at once. With running semantics
an output row sees its match up to the row it stands for, with final semantics all of it.
Source: ISO/IEC 19075-5, row pattern navigation operations; running and final semantics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import allocating
from matchrec.output.rows import OutputRows
from matchrec.plan.expression import End, Frame, Navigation, Semantics
from matchrec.search.matches import Matches
from matchrec.search.partitions import BoolArray, IntArray, Partitions, at, ranges, starts_of

Links = npt.NDArray[np.int32]
Variables = npt.NDArray[np.int16]


@allocating
def find_mapped(
    classifiers: Variables, belongs: BoolArray, base: IntArray, limit: IntArray, step: int
) -> IntArray:
    """int64[r], index of a mapped row that counts, among base .. limit - 1, or -1 for none.

    classifiers: int16[k]. belongs: by variable, whether its rows count. step: 0 for the first of
    those rows, 1 for the one after it, -1 for the last.
    """
    before = np.empty(len(classifiers) + 1, np.int32)
    counted = np.empty(len(classifiers) + 1, np.int32)
    count = 0
    for place in range(len(classifiers)):  # without a branch, which is six times as fast
        before[place] = count
        counted[count] = place
        count += int(belongs[classifiers[place]])
    before[len(classifiers)] = count
    found = np.full(len(base), -1)
    for row in range(len(base)):
        begin, end = before[base[row]], before[limit[row]]
        nth = (begin if step >= 0 else end) + step
        if begin <= nth < end:
            found[row] = counted[nth]
    return found


@allocating
def find_marked(mask: BoolArray, following: Links, first: bool) -> IntArray:
    """int64[k], from each mapped row on the first or the last one that is marked, or -1."""
    found = np.empty(len(mask), np.int64)
    for node in range(len(mask)):
        further = found[following[node]] if following[node] >= 0 else -1
        if mask[node] and (first or further < 0):
            further = node
        found[node] = further
    return found


@dataclass(frozen=True)
class Reader:
    """Answers what the references of one query's measures read on some output rows.

    members: by variable, ids of primary ones. frame: of a row pattern window, from the match's
    first row on: all rows that are seen. Matches may share their rows (`Chains`): then there is one
    output row for each match, and running and final semantics are the same.
    """

    matches: Matches
    rows: OutputRows
    partitions: Partitions
    members: dict[str, frozenset[int]]
    frame: Frame | None = None

    def between(self, begin: int, end: int) -> Reader:
        return replace(self, rows=self.rows.take(slice(begin, end)))

    def mask(self, variable: str | None) -> BoolArray:
        """bool[k], which mapped rows belong to a variable; None is the universal one."""
        if variable is None:
            return np.ones(len(self.matches.classifiers), np.bool_)
        return np.asarray(self.belongs(variable)[self.matches.classifiers], np.bool_)

    def belongs(self, variable: str) -> BoolArray:
        """bool[v], which primary variables belong to a variable."""
        belongs = np.zeros(1 + max(map(max, self.members.values())), np.bool_)
        belongs[list(self.members[variable])] = True
        return belongs

    def look(self, semantics: Semantics) -> tuple[IntArray, IntArray]:
        """int64[r], base and limit of the mapped rows that output rows see: equal where none."""
        return self.seen_running if semantics is Semantics.RUNNING else self.seen_finally

    @cached_property
    def seen_running(self) -> tuple[IntArray, IntArray]:
        base, limit = self.seen_finally
        return base, np.where(self.rows.current >= 0, self.rows.current + 1, limit)

    @cached_property
    def seen_finally(self) -> tuple[IntArray, IntArray]:
        seen, offsets = self.rows.current >= 0, self.matches.offsets
        base, limit = offsets[self.rows.match], offsets[self.rows.match + 1]
        return np.where(seen, base, 0), np.where(seen, limit, 0)

    @cached_property
    def shifts(self) -> IntArray:
        """int64[r], from a mapped row to its row position, where a match's rows are neighbours."""
        return at(self.matches.start - self.matches.offsets[:-1], self.rows.match, 0)

    def step(self, positions: IntArray, navigation: Navigation) -> IntArray:
        """Row positions after the physical step from those of the logical one, -1 for none."""
        matches, partitions = self.matches, self.partitions
        if navigation.physical_offset == 0:
            return positions
        partition = at(matches.partition, self.rows.match, 0)
        first, end = partitions.starts[partition], partitions.starts[partition + 1]
        if self.frame is not None:
            first = at(matches.start, self.rows.match, 0)
            end = end if self.frame.end is None else np.minimum(end, first + self.frame.end + 1)
        target = positions + navigation.physical_offset
        return np.where((positions >= 0) & (target >= first) & (target < end), target, -1)

    def mapped(self, navigation: Navigation) -> IntArray:
        """int64[r], index among the mapped rows that the logical step finds, or -1."""
        offset, is_first = navigation.logical_offset, navigation.end is End.FIRST
        if self.matches.chains is not None:
            mask = self.mask(navigation.variable)
            found = find_marked(mask, self.matches.chains.following, is_first)
            return at(found, self.rows.current, -1)
        base, limit = self.look(navigation.semantics)
        if navigation.variable is None:
            nth = base + offset if is_first else limit - 1 - offset
            return np.where((nth >= base) & (nth < limit), nth, -1)
        step = offset if is_first else -1 - offset
        belongs = self.belongs(navigation.variable)
        return find_mapped(self.matches.classifiers, belongs, base, limit, step)

    def positions(self, navigation: Navigation) -> IntArray:
        """int64[r], row position that a navigation reads, or -1."""
        matches, mapped = self.matches, self.mapped(navigation)
        if matches.rows is not None:
            return self.step(at(matches.rows, mapped, -1), navigation)
        return self.step(np.where(mapped >= 0, mapped + self.shifts, -1), navigation)

    def classifiers(self, navigation: Navigation) -> IntArray:
        """int64[r], variable id of the row that a navigation finds, -1 when it is not mapped.

        A row that a physical step reaches has a classifier if the same match maps it, later rows
        included: a step to NEXT leaves what running semantics sees.
        """
        mapped = self.mapped(navigation)
        if navigation.physical_offset:
            mapped = self.step_rows(mapped, navigation.physical_offset)
        return at(self.matches.classifiers, mapped, -1)

    def step_rows(self, mapped: IntArray, distance: int) -> IntArray:
        """int64[r], index of the mapped row `distance` rows from another, -1 where none is."""
        target = mapped + distance
        if self.matches.rows is None:
            base, limit = self.look(Semantics.FINAL)
            inside = (mapped >= 0) & (target >= base) & (target < limit)
            return np.where(inside, target, -1)
        rows, lengths = self.matches.rows, np.diff(self.matches.offsets)
        if not len(rows):
            return mapped
        # where rows were skipped, the mapped row beside may be further away
        width = self.partitions.rows + abs(distance) + 1
        keys = np.repeat(np.arange(self.matches.count), lengths) * width + rows
        wanted = self.rows.match * width + rows[mapped] + distance
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((mapped >= 0) & (keys[found] == wanted), found, -1)

    def match_numbers(self) -> IntArray:
        """int64[r], match number, -1 for an unmatched row."""
        return at(self.matches.number, self.rows.match, -1)

    def positions_in_match(self) -> IntArray:
        """int64[k], position of every mapped row in its match, from 0."""
        lengths = np.diff(self.matches.offsets)
        first = np.repeat(self.matches.offsets[:-1], lengths)
        return np.asarray(np.arange(len(self.matches.classifiers)) - first, np.int64)

    def current_positions(self) -> IntArray:
        """int64[r], position in its match of the row from which measures look, or -1."""
        base, _ = self.look(Semantics.FINAL)
        return np.where(self.rows.current >= 0, self.rows.current - base, -1)

    def collect(self, mask: BoolArray, semantics: Semantics) -> tuple[IntArray, IntArray]:
        """Indices of the marked mapped rows that each output row sees, and where its own begin,
        int64[r + 1]. mask: bool[k].
        """
        before = starts_of(mask)
        first, end = (before[place] for place in self.look(semantics))
        return np.flatnonzero(mask)[ranges(first, end - first)], starts_of(end - first)

    def add_up(self, values: BoolArray | IntArray, semantics: Semantics) -> IntArray:
        """int64[r], the sum of values int64[k] of the mapped rows that each output row sees."""
        before = starts_of(values)
        base, limit = self.look(semantics)
        return np.asarray(before[limit] - before[base], np.int64)
