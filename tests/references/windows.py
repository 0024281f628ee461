"""Row pattern windows in plain Python. Slow and obvious: the frame of a row is a list of its own.

For each row in turn that no match before it has skipped, the rows of its frame are taken out of the
partition, and the reference matcher looks for a match there: from the first of them, with SEEK from
each, until there is one. What is not in the list is not there, for conditions as for measures.
Source: ISO/IEC 19075-5, row pattern recognition in windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.plan.clauses import SkipTo
from tests.generators.expressions import Row, Seen
from tests.generators.windows import WindowQuery
from tests.references.matcher import Failure, Word, Words
from tests.references.queries import TESTS_A_PARTITION, TooManyWords
from tests.references.sql_values import Value


@dataclass(frozen=True)
class Attempt:
    """The match of one frame. start: of its first row in the frame."""

    frame: list[Row]
    start: int
    word: Word


def window_rows(query: WindowQuery, rows: list[Row]) -> Iterator[tuple[Value, ...]]:
    """For each row of a partition its `n` and the values of the calls. Raises Failure."""
    skipped = -1
    tests = [0]
    for row in range(len(rows)):
        found = None if row <= skipped else attempt(query, frame_of(query, rows, row), tests)
        yield (rows[row]["n"], *values(query, found))
        if found is not None:
            skipped = max(skipped, row, next_row(query, found, row) - 1)


def frame_of(query: WindowQuery, rows: list[Row], row: int) -> list[Row]:
    """The rows of a frame: the current one and so many after it."""
    length = query.frame.length(rows[row])
    return rows[row:] if length is None else rows[row : row + length + 1]


def attempt(query: WindowQuery, frame: list[Row], tests: list[int]) -> Attempt | None:
    """The first match of a frame."""
    members = query.members

    def may(number: int, start: int, variables: tuple[str, ...]) -> bool:
        tests[0] += 1
        if tests[0] > TESTS_A_PARTITION:
            raise TooManyWords
        condition = query.definitions.get(variables[-1])
        seen = Seen(frame, start, variables, len(variables), number, members)
        return condition is None or condition.value(seen) is True

    for start in range(len(frame) if query.seeks else 1):
        word = next(Words(len(frame), start, may).of(query.pattern, ()), None)
        if word is not None:
            return Attempt(frame, start, word)
    return None


def values(query: WindowQuery, found: Attempt | None) -> Iterator[Value]:
    """What the calls give: measures are NULL without a match, functions are over no row."""
    for measure in query.measures:
        yield None if found is None else measure.value(seen_of(query, found))
    matched = [] if found is None else found.frame[found.start : found.start + len(found.word)]
    for function in query.functions:
        yield function.value(matched)


def seen_of(query: WindowQuery, found: Attempt) -> Seen:
    """What measures see: all of the match, from its last row."""
    variables = tuple(name for name, _ in found.word)
    return Seen(found.frame, found.start, variables, len(variables), 1, query.members)


def next_row(query: WindowQuery, found: Attempt, row: int) -> int:
    """The first row of the partition that the match does not skip."""
    to = query.after_match.to
    if not found.word or to is SkipTo.NEXT_ROW:
        return row + 1
    if to is SkipTo.PAST_LAST_ROW:
        return row + found.start + len(found.word)
    assert query.after_match.variable is not None
    wanted = query.members[query.after_match.variable]
    places = [place for place, (name, _) in enumerate(found.word) if name in wanted]
    if not places:
        raise Failure("skip_to_no_row", row)
    place = places[0] if to is SkipTo.FIRST else places[-1]
    if place == 0:
        raise Failure("skip_to_first_row", row)
    return row + found.start + place
