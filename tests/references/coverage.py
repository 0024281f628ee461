"""How far starting rows come: every run of every starting row, one after the other. Slow, obvious.

It shares with matchrec the nodes of row patterns, and nothing else. What a match still needs after
some rows is found out by taking these rows off the pattern (Brzozowski's derivatives).
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
    concatenation,
    replace_children,
)
from tests.references.matcher import May, Words, next_start

NEVER = 1 << 30
Occurrence = int
Taken = tuple[Occurrence, ...]


def numbered(pattern: RowPattern) -> tuple[RowPattern, tuple[str, ...]]:
    """The pattern with a variable of its own for each occurrence of one, and what they were."""
    names: list[str] = []
    numbers = count()

    def number(node: RowPattern) -> RowPattern:
        if isinstance(node, Variable):
            names.append(node.name)
            return Variable(str(next(numbers)))
        return replace_children(node, number)

    return number(pattern), tuple(names)


def may_be_over(node: RowPattern, first: bool, last: bool) -> bool:
    """Whether no row is enough, before the first row of the partition or after its last one."""
    match node:
        case Empty():
            return True
        case PartitionStart():
            return first
        case PartitionEnd():
            return last
        case Variable():
            return False
        case Concatenation(parts) | Permutation(parts):
            return all(may_be_over(part, first, last) for part in parts)
        case Alternation(parts):
            return any(may_be_over(part, first, last) for part in parts)
        case Quantified(part, least):
            return least == 0 or may_be_over(part, first, last)
        case Exclusion(part):
            return may_be_over(part, first, last)


def without(node: RowPattern, taken: Occurrence, first: bool) -> Iterator[RowPattern]:
    """What may follow once a row has taken an occurrence."""
    match node:
        case Variable(name):
            if name == str(taken):
                yield Empty()
        case Concatenation(parts):
            rest = concatenation(parts[1:])
            yield from (concatenation((one, rest)) for one in without(parts[0], taken, first))
            if may_be_over(parts[0], first, False):
                yield from without(rest, taken, first)
        case Alternation(parts):
            for part in parts:
                yield from without(part, taken, first)
        case Permutation(parts):
            for order in permutations(parts):
                yield from without(concatenation(order), taken, first)
        case Exclusion(part):
            yield from without(part, taken, first)
        case Quantified(part, least, most):
            if most == 0:
                return
            fewer = replace(node, least=max(0, least - 1), most=None if most is None else most - 1)
            rest = fewer if fewer.most != 0 else Empty()
            yield from (concatenation((one, rest)) for one in without(part, taken, first))
            if least > 0 and may_be_over(part, first, False):
                yield from without(fewer, taken, first)
        case _:
            return


@dataclass
class Needs:
    """How many rows a match still needs."""

    pattern: RowPattern
    occurrences: int
    known: dict[Taken, frozenset[RowPattern]] = field(default_factory=dict)

    def left(self, taken: Taken, first: bool = True) -> frozenset[RowPattern]:
        """What may follow after some rows. first: whether they begin the partition."""
        if not taken:
            return frozenset([self.pattern])
        return self.further(self.left(taken[:-1], first), taken[-1], first and len(taken) == 1)

    def further(
        self, left: frozenset[RowPattern], taken: Occurrence, first: bool
    ) -> frozenset[RowPattern]:
        return frozenset(one for node in left for one in without(node, taken, first))

    def rows(self, left: frozenset[RowPattern], first: bool) -> int:
        """The least number of rows that end the pattern; NEVER where none do."""
        seen: set[RowPattern] = set()
        for rows in count():
            if any(may_be_over(one, first, True) for one in left):
                return rows
            if left <= seen:
                return NEVER
            seen |= left
            left = frozenset(
                one for taken in range(self.occurrences) for one in self.further(left, taken, first)
            )
            first = False
        raise AssertionError

    def of(self, taken: Taken, start: int) -> int:
        """What a run from a starting row needs; before its first row, `^` is no obstacle yet."""
        return self.rows(self.left(taken, start == 0), not taken)

    def nearer(self, taken: Taken, start: int) -> list[Occurrence]:
        """The occurrences that bring a run nearer to a match, as far as anchors let them."""
        now = self.of(taken, start)
        return [
            one
            for one in range(self.occurrences)
            if self.rows(self.left((*taken, one), start == 0), False) < now
        ]


@dataclass(frozen=True)
class Ending:
    """Where the nearest run of a starting row has ended that begins no match.

    needed: how many rows a match still needed. nearer: the occurrences that would have brought it
    nearer, as far as anchors let them. bound: the row after its window.
    """

    start: int
    taken: Taken
    needed: int
    nearer: tuple[Occurrence, ...]
    bound: int

    @property
    def last(self) -> Occurrence | None:
        """The occurrence that its last row has taken."""
        return self.taken[-1] if self.taken else None

    @property
    def row(self) -> int:
        """The row after its last one."""
        return self.start + len(self.taken)

    def reason(self, rows: int) -> str:
        """Why it has ended. rows: of the partition."""
        if not self.nearer:
            return "ANCHORED"
        if self.row < self.bound:
            return "FALSE"
        return "NO_ROW" if self.bound == rows else "OUT_OF_WINDOW"


@dataclass
class Covered:
    """came: what the match or the nearest run of each starting row has taken. matches: starts."""

    came: list[Taken] = field(default_factory=list)
    ended: list[Ending] = field(default_factory=list)
    matches: list[int] = field(default_factory=list)


def cover(
    pattern: RowPattern,
    may: May,
    after_match: AfterMatchSkip,
    members: dict[str, frozenset[str]],
    ends: Sequence[int],
) -> Covered:
    """How far the starting rows of one partition come. ends: of the window of each row.

    Raises Failure.
    """
    tree, names = numbered(pattern)
    needs, found, start = Needs(tree, len(names)), Covered(), 0
    while start < len(ends):
        number = len(found.matches) + 1
        runs: list[Taken] = [()]

        def asked(match: int, begin: int, taken: tuple[str, ...]) -> bool:
            holds = may(match, begin, tuple(names[int(one)] for one in taken))
            if holds:
                runs.append(tuple(map(int, taken)))  # noqa: B023
            return holds

        word = next(Words(len(ends), start, asked, number).of(tree, ()), None)
        if word is None:
            needed = [needs.of(taken, start) for taken in runs]
            best = min(range(len(runs)), key=lambda i: (needed[i], -len(runs[i])))
            nearer = tuple(needs.nearer(runs[best], start))
            found.came.append(runs[best])
            found.ended.append(Ending(start, runs[best], needed[best], nearer, ends[start]))
            start += 1
            continue
        taken = tuple(int(name) for name, _ in word)
        found.came.append(taken)
        found.matches.append(start)
        mapped = tuple((start + i, names[one]) for i, one in enumerate(taken))
        start = next_start(mapped, start, after_match, members)
    return found
