"""The reference for whole queries: compute the output rows in plain Python.

It is slow and obvious:

1. The reference matcher finds the matches of a partition.
2. The measures are computed for each output row of a match. Empty matches and unmatched rows are
   output as ROWS PER MATCH says.

From matchrec it uses only what the reference matcher uses: the trees of row patterns and the names
of options.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.plan.clauses import RowsPerMatch
from tests.generators.expressions import MatchContext, Row
from tests.generators.queries import Batch, Query
from tests.references.matcher import Failure, Match, find_all
from tests.references.sql_values import Value

TESTS_PER_PARTITION = 20_000  # number of conditions that may be tested


class TooManyWords(Exception):  # noqa: N818
    """The reference matcher would take too long over a partition."""


@dataclass(frozen=True)
class Answer:
    """The result of a query by the key of the partition: its output rows, or its error."""

    rows: dict[tuple[Value, ...], list[tuple[Value, ...]]]
    failures: dict[tuple[Value, ...], str]  # the `kind` of the Failure

    def all_rows(self) -> list[tuple[Value, ...]]:
        """Return the output rows of all partitions."""
        return [row for rows in self.rows.values() for row in rows]


def answer(batch: Batch, query: Query) -> Answer:
    """Compute a query over every partition.

    Raises:
        TooManyWords: a partition takes too long.
    """
    rows: dict[tuple[Value, ...], list[tuple[Value, ...]]] = {}
    failures: dict[tuple[Value, ...], str] = {}
    for key, partition in batch.partitions().items():
        result = compute_rows_or_failure(batch, query, partition)
        if isinstance(result, str):
            failures[key] = result
        else:
            rows[key] = result
    return Answer(rows, failures)


def compute_rows_or_failure(
    batch: Batch, query: Query, partition: list[Row]
) -> list[tuple[Value, ...]] | str:
    """Return the output rows of a partition, or the `kind` of its Failure."""
    try:
        return list(compute_partition_rows(batch, query, partition))
    except Failure as failure:
        return failure.kind


def compute_partition_rows(
    batch: Batch, query: Query, rows: list[Row], until: int | None = None
) -> Iterator[tuple[Value, ...]]:
    """Yield the output rows of a partition.

    Args:
        until: if given, only matches that start before this row are output, and only unmatched rows
            before it.

    Raises:
        Failure: the rows cause an error.
        TooManyWords: the partition takes too long.
    """
    members = query.members
    until = len(rows) if until is None else until
    tests = 0

    def can_map(number: int, start: int, variables: tuple[str, ...]) -> bool:
        """Return whether the last row may be mapped: it is in the window and satisfies DEFINE."""
        nonlocal tests
        tests += 1
        if tests > TESTS_PER_PARTITION:
            raise TooManyWords
        if query.window_rows is not None and len(variables) > query.window_rows:
            return False
        if not batch.in_window(query, rows[start], rows[start + len(variables) - 1]):
            return False
        return satisfies(number, start, variables)

    def satisfies(number: int, start: int, variables: tuple[str, ...]) -> bool:
        """Return whether the last row satisfies the condition of the last variable."""
        condition = query.definitions.get(variables[-1])
        context = MatchContext(rows, start, variables, len(variables), number, members)
        return condition is None or condition.value(context) is True

    covered: set[int] = set()
    columns = batch.columns(query)
    matches = find_all(
        query.pattern, len(rows), can_map, query.after_match, members, satisfies=satisfies
    )
    for match in matches:
        if match.start >= until:
            break
        # An empty match covers its starting row: that row is not unmatched.
        covered.update(range(match.start, match.start + max(1, len(match.word))))
        for row, running in output_rows(match, query.rows_per_match):
            variables = tuple(name for name, _ in match.word)
            context = MatchContext(rows, match.start, variables, running, match.number, members)
            measures = [measure.value(context) for measure in query.measures]
            yield output(columns, rows[row], measures)
    if query.rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        for row in sorted(set(range(until)) - covered):
            yield output(columns, rows[row], [None] * len(query.measures))


def output_rows(match: Match, rows_per_match: RowsPerMatch) -> Iterator[tuple[int, int]]:
    """Yield the input row of each output row, and the number of rows for running semantics."""
    length = len(match.word)
    if rows_per_match is RowsPerMatch.ONE_ROW:
        yield match.start, length
    elif length:
        for index, (_, excluded) in enumerate(match.word):
            if not excluded:
                yield match.start + index, index + 1
    elif rows_per_match is not RowsPerMatch.ALL_ROWS_OMIT_EMPTY:
        yield match.start, 0


def output(columns: tuple[str, ...], row: Row, measures: list[Value]) -> tuple[Value, ...]:
    """Return an output row: measures are named m0, m1, ..., other columns are the input row's."""
    named = {f"m{i}": value for i, value in enumerate(measures)}
    return tuple(named[name] if name in named else row[name] for name in columns)
