"""The reference for coverage: find out how far the runs of each starting row get.

It is slow and obvious. From matchrec it uses only the trees that row patterns are written in.

1. `number_occurrences` gives each occurrence of a variable in the pattern a number: `A B A` has the
   occurrences 0, 1, 2.
2. `cover` lists every run of every starting row, as the occurrences that its rows are mapped to.
3. `Needs` counts the rows that a match still needs after a run. It removes the rows of the run from
   the pattern (Brzozowski's derivatives), and looks for the shortest way through the rest.
4. The nearest run of a starting row is the one that needs the fewest rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, permutations

from matchrec.plan.clauses import AfterMatchSkip
from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Empty,
    Exclusion,
    PartitionEnd,
    PartitionStart,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    make_concatenation,
    replace_children,
)
from tests.references.matcher import CanMap, WordSearch, find_next_start

# The number of rows that a run needs if it cannot become a match.
NEVER = 1 << 30

# The number of an occurrence of a variable in the pattern, from 0.
Occurrence = int

# The occurrences to which the rows of a run are mapped.
RunOccurrences = tuple[Occurrence, ...]


def number_occurrences(pattern: RowPattern) -> tuple[RowPattern, tuple[str, ...]]:
    """Return the pattern with a different variable for each occurrence, and the original names.

    `A B A` becomes `0 1 2`, and the names are A, B, A.
    """
    names: list[str] = []
    numbers = count()

    def number(node: RowPattern) -> RowPattern:
        """Replace each variable by its number."""
        if isinstance(node, Variable):
            names.append(node.name)
            return Variable(str(next(numbers)))
        return replace_children(node, number)

    return number(pattern), tuple(names)


def can_match_without_row(node: RowPattern, *, is_at_start: bool, may_be_at_end: bool) -> bool:
    """Return whether a pattern matches without a row.

    Args:
        node: the pattern.
        is_at_start: whether no row of the partition comes before it, so that `^` matches.
        may_be_at_end: whether the partition may end here, so that `$` matches.
    """

    def is_nullable(part: RowPattern) -> bool:
        """Return whether a part of the pattern matches without a row."""
        return can_match_without_row(part, is_at_start=is_at_start, may_be_at_end=may_be_at_end)

    match node:
        case Empty():
            return True
        case PartitionStart():
            return is_at_start
        case PartitionEnd():
            return may_be_at_end
        case Variable():
            return False
        case Concatenation(parts) | Permutation(parts):
            return all(map(is_nullable, parts))
        case Alternation(parts):
            return any(map(is_nullable, parts))
        case Quantified(part, least):
            return least == 0 or is_nullable(part)
        case Exclusion(part):
            return is_nullable(part)


def list_derivatives(
    node: RowPattern, occurrence: Occurrence, *, is_first_row: bool
) -> Iterator[RowPattern]:
    """Yield the patterns that may follow after a row is mapped to an occurrence: the derivatives.

    `A+ B` without A leaves `A* B`.

    Args:
        node: the pattern.
        occurrence: the occurrence of a variable to which the row is mapped.
        is_first_row: whether the row is the first one of the partition.
    """

    def derive(part: RowPattern) -> Iterator[RowPattern]:
        """Yield the derivatives of a pattern by the same row."""
        return list_derivatives(part, occurrence, is_first_row=is_first_row)

    def can_be_left_out(part: RowPattern) -> bool:
        """Return whether a pattern matches without a row before this row."""
        return can_match_without_row(part, is_at_start=is_first_row, may_be_at_end=False)

    match node:
        case Variable(name):
            if name == str(occurrence):
                yield Empty()
        case Concatenation(parts):
            remaining = make_concatenation(parts[1:])
            for left in derive(parts[0]):
                yield make_concatenation((left, remaining))
            if can_be_left_out(parts[0]):
                yield from derive(remaining)
        case Alternation(parts):
            for part in parts:
                yield from derive(part)
        case Permutation(parts):
            for order in permutations(parts):
                yield from derive(make_concatenation(order))
        case Exclusion(part):
            yield from derive(part)
        case Quantified(part, least, most):
            if most == 0:
                return
            fewer = replace(node, least=max(0, least - 1), most=None if most is None else most - 1)
            remaining = fewer if fewer.most != 0 else Empty()
            for left in derive(part):
                yield make_concatenation((left, remaining))
            if least > 0 and can_be_left_out(part):
                yield from derive(fewer)
        case _:
            return


@dataclass
class Needs:
    """A pattern for which the rows that a run still needs can be counted."""

    # The pattern, as `number_occurrences` returns it.
    pattern: RowPattern
    # The number of occurrences in it.
    occurrence_count: int

    def find_remaining(
        self, occurrences: RunOccurrences, *, is_at_start: bool
    ) -> frozenset[RowPattern]:
        """Return the patterns that may follow after a run.

        Args:
            occurrences: the run.
            is_at_start: whether the run begins at the first row of the partition.
        """
        if not occurrences:
            return frozenset([self.pattern])
        return self.find_remaining_after(
            self.find_remaining(occurrences[:-1], is_at_start=is_at_start),
            occurrences[-1],
            is_first_row=is_at_start and len(occurrences) == 1,
        )

    def find_remaining_after(
        self, patterns: frozenset[RowPattern], occurrence: Occurrence, *, is_first_row: bool
    ) -> frozenset[RowPattern]:
        """Return the patterns that may follow after one more row is mapped to an occurrence.

        Args:
            patterns: the patterns of which one must follow before the row.
            occurrence: the occurrence.
            is_first_row: whether the row is the first one of the partition.
        """
        return frozenset(
            remaining
            for node in patterns
            for remaining in list_derivatives(node, occurrence, is_first_row=is_first_row)
        )

    def count_rows(self, patterns: frozenset[RowPattern], *, is_at_start: bool) -> int:
        """Return the least number of rows that complete one of several patterns, or NEVER.

        Args:
            patterns: the patterns.
            is_at_start: whether the patterns begin at the first row of the partition.
        """
        tried: set[RowPattern] = set()
        for rows in count():
            if any(
                can_match_without_row(node, is_at_start=is_at_start, may_be_at_end=True)
                for node in patterns
            ):
                return rows
            if patterns <= tried:
                return NEVER
            tried |= patterns
            patterns = frozenset(
                node
                for occurrence in range(self.occurrence_count)
                for node in self.find_remaining_after(
                    patterns, occurrence, is_first_row=is_at_start
                )
            )
            is_at_start = False
        raise AssertionError("count() does not end")

    def count_needed(self, occurrences: RunOccurrences, start: int) -> int:
        """Return the number of rows that a run of a starting row needs.

        A run without rows is treated as if it were at the first row of the partition: `^` has not
        stopped it yet.
        """
        remaining = self.find_remaining(occurrences, is_at_start=start == 0)
        return self.count_rows(remaining, is_at_start=not occurrences)

    def find_nearer(self, occurrences: RunOccurrences, start: int) -> list[Occurrence]:
        """Return the occurrences that bring a run nearer to a match, unless an anchor fails."""
        needed = self.count_needed(occurrences, start)
        return [
            occurrence
            for occurrence in range(self.occurrence_count)
            if self.count_needed((*occurrences, occurrence), start) < needed
        ]


@dataclass(frozen=True)
class Ending:
    """The end of the nearest run of a starting row without a match."""

    # The starting row.
    start: int
    # The run.
    occurrences: RunOccurrences
    # How many more rows a match would have needed.
    needed: int
    # The occurrences that would have brought the run nearer to a match, unless an anchor fails.
    nearer: tuple[Occurrence, ...]
    # The first row after its window.
    window_end: int

    @property
    def last(self) -> Occurrence | None:
        """Return the occurrence that its last row is mapped to; None without a row."""
        return self.occurrences[-1] if self.occurrences else None

    @property
    def row(self) -> int:
        """Return the row after its last row."""
        return self.start + len(self.occurrences)

    def reason(self, rows: int) -> str:
        """Return why the run has ended: the name of a member of `clause_coverage.Reason`.

        Args:
            rows: the number of rows of the partition.
        """
        if not self.nearer:
            return "ANCHORED"
        if self.row < self.window_end:
            return "FALSE"
        return "NO_ROW" if self.window_end == rows else "OUT_OF_WINDOW"


@dataclass
class Covered:
    """How far the starting rows of a partition get."""

    # For each starting row, the occurrences of its match, or of its nearest run.
    furthest: list[RunOccurrences] = field(default_factory=list)
    # For each starting row without a match, the end of its nearest run.
    endings: list[Ending] = field(default_factory=list)
    # The starting rows of matches.
    matches: list[int] = field(default_factory=list)


@dataclass
class RunRecorder:
    """A record of the runs of one starting row, which the search for its match tries."""

    # Says whether a row may be mapped to a variable.
    can_map: CanMap
    # The variable of each occurrence.
    names: tuple[str, ...]
    # The runs, the empty run first.
    runs: list[RunOccurrences] = field(default_factory=lambda: [()])

    def can_take(self, number: int, start: int, occurrence_texts: tuple[str, ...]) -> bool:
        """Test a row as `can_map` does, and record the run if the row can be mapped.

        Args:
            number: the number that the match would have.
            start: the starting row.
            occurrence_texts: the occurrences of the run, as the variables of the numbered pattern.
        """
        occurrences = tuple(map(int, occurrence_texts))
        variables = tuple(self.names[occurrence] for occurrence in occurrences)
        holds = self.can_map(number, start, variables)
        if holds:
            self.runs.append(occurrences)
        return holds

    def find_nearest_ending(self, needs: Needs, start: int, window_end: int) -> Ending:
        """Return the end of the run that needs the fewest rows; of several, the longest run."""
        nearest = min(self.runs, key=lambda run: (needs.count_needed(run, start), -len(run)))
        return Ending(
            start=start,
            occurrences=nearest,
            needed=needs.count_needed(nearest, start),
            nearer=tuple(needs.find_nearer(nearest, start)),
            window_end=window_end,
        )


def cover(
    pattern: RowPattern,
    can_map: CanMap,
    after_match: AfterMatchSkip,
    primary_variables: dict[str, frozenset[str]],
    ends: Sequence[int],
) -> Covered:
    """Find out how far the starting rows of one partition get.

    Args:
        pattern: the row pattern.
        can_map: says whether a row may be mapped to a variable.
        after_match: where the search goes on after a match.
        primary_variables: the primary variables that each name stands for.
        ends: for each row, the first row after its window.

    Raises:
        Failure: the rows cause an error.
    """
    tree, names = number_occurrences(pattern)
    needs = Needs(tree, len(names))
    covered = Covered()
    start = 0
    while start < len(ends):
        number = len(covered.matches) + 1
        recorder = RunRecorder(can_map, names)
        words = WordSearch(len(ends), start, recorder.can_take, number).list_words(tree)
        word = next(words, None)
        if word is None:
            ending = recorder.find_nearest_ending(needs, start, ends[start])
            covered.furthest.append(ending.occurrences)
            covered.endings.append(ending)
            start += 1
            continue
        occurrences = tuple(int(name) for name, _ in word)
        covered.furthest.append(occurrences)
        covered.matches.append(start)
        variables = [names[occurrence] for occurrence in occurrences]
        mapped = tuple(enumerate(variables, start))
        start = find_next_start(mapped, start, after_match, primary_variables)
    return covered
