"""The reference for row pattern windows: search the frame of each row.

It is slow and obvious:

1. For each row in turn that no earlier match has skipped, `list_frame` copies the rows of its frame
   into a list. Conditions and measures read only this list, so rows outside the frame do not exist.
2. `find_match_of_frame` looks for a match with the reference matcher: at the first row of the
   frame, and with SEEK at each of its rows until there is a match.
3. `compute_calls` computes the calls in the SELECT list over the match.

Source: ISO/IEC 19075-5, row pattern recognition in windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.plan.clauses import SkipTo
from tests.generators.expressions import MatchContext, Row
from tests.generators.windows import WindowQuery
from tests.references.matcher import Failure, Word, WordSearch, list_variables
from tests.references.queries import ConditionBudget
from tests.references.sql_values import Value


@dataclass(frozen=True)
class FrameMatch:
    """The match of a frame."""

    # The rows of the frame.
    frame: list[Row]
    # The starting row, counted from the beginning of the frame.
    start: int
    # The variables of its rows.
    word: Word


def compute_window_rows(query: WindowQuery, rows: list[Row]) -> Iterator[tuple[Value, ...]]:
    """Yield for each row of a partition its `n` and the values of the calls.

    Raises:
        Failure: the rows cause an error.
        TooManyWords: the partition takes too long.
    """
    first_searched = 0  # rows before it are skipped
    budget = ConditionBudget()
    for row in range(len(rows)):
        match = None
        if row >= first_searched:
            match = find_match_of_frame(query, list_frame(query, rows, row), budget)
        yield (rows[row]["n"], *compute_calls(query, match))
        if match is not None:
            first_searched = max(row + 1, find_next_row(query, match, row))


def list_frame(query: WindowQuery, rows: list[Row], row: int) -> list[Row]:
    """Return the rows of a frame: the current row, and as many after it as ROWS or RANGE says."""
    length = query.frame.length(rows[row])
    return rows[row:] if length is None else rows[row : row + length + 1]


def find_match_of_frame(
    query: WindowQuery, frame: list[Row], budget: ConditionBudget
) -> FrameMatch | None:
    """Return the first match of a frame; None if there is none.

    Args:
        query: the query.
        frame: the rows of the frame.
        budget: the number of conditions that may be tested in the partition.
    """

    def can_map(number: int, start: int, variables: tuple[str, ...]) -> bool:
        """Return whether the last row satisfies the condition of the last variable."""
        budget.count_test()
        condition = query.definitions.get(variables[-1])
        context = make_context(query, frame, start, variables, number)
        return condition is None or condition.value(context) is True

    for start in range(len(frame) if query.seeks else 1):
        word = next(WordSearch(len(frame), start, can_map).list_words(query.pattern), None)
        if word is not None:
            return FrameMatch(frame, start, word)
    return None


def compute_calls(query: WindowQuery, match: FrameMatch | None) -> Iterator[Value]:
    """Yield the values of the calls: measures over a window first, then window functions.

    Without a match measures are NULL, and functions are computed over no rows.
    """
    if match is None:
        for _ in query.measures:
            yield None
        for function in query.functions:
            yield function.value([])
        return
    # Measures read the whole match, from its last row.
    variables = list_variables(match.word)
    context = make_context(query, match.frame, match.start, variables, number=1)
    for measure in query.measures:
        yield measure.value(context)
    for function in query.functions:
        yield function.value(match.frame[match.start : match.start + len(match.word)])


def make_context(
    query: WindowQuery, frame: list[Row], start: int, variables: tuple[str, ...], number: int
) -> MatchContext:
    """Return what an expression can read on the last row of a match or run.

    Args:
        query: the query.
        frame: the rows of the frame.
        start: the starting row, counted from the beginning of the frame.
        variables: the variables of its rows.
        number: the number of the match.
    """
    return MatchContext(
        rows=frame,
        start=start,
        variables=variables,
        running=len(variables),
        number=number,
        primary_variables=query.primary_variables,
    )


def find_next_row(query: WindowQuery, match: FrameMatch, row: int) -> int:
    """Return the first row of the partition that the match of row `row` does not skip.

    Raises:
        Failure: no row is mapped to the variable to skip to, or the match begins with that row.
    """
    to = query.after_match.to
    if not match.word or to is SkipTo.NEXT_ROW:
        return row + 1
    if to is SkipTo.PAST_LAST_ROW:
        return row + match.start + len(match.word)
    assert query.after_match.variable is not None
    targets = query.primary_variables[query.after_match.variable]
    indexes = [index for index, (name, _) in enumerate(match.word) if name in targets]
    if not indexes:
        raise Failure("skip_to_missing_row", row)
    index = indexes[0] if to is SkipTo.FIRST else indexes[-1]
    if index == 0:
        raise Failure("skip_to_first_row", row)
    return row + match.start + index
