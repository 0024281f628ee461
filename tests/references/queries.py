"""The rows of a whole query in plain Python: the reference matcher's matches, then measures on each
output row, empty matches and unmatched rows. Slow and obvious.

It shares with matchrec what the reference does: nodes of row patterns, names of options.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.plan.clauses import RowsPerMatch
from tests.generators.expressions import Row, Seen
from tests.generators.queries import Batch, Query
from tests.references.matcher import Failure, Match, find_all
from tests.references.sql_values import Value

TESTS_A_PARTITION = 20_000


class TooManyWords(Exception):  # noqa: N818
    """The reference matcher would take too long over a partition."""


@dataclass(frozen=True)
class Answer:
    """What a query gives. failures: by the key of the partition that ends the query, why."""

    rows: dict[tuple[Value, ...], list[tuple[Value, ...]]]
    failures: dict[tuple[Value, ...], str]

    def all_rows(self) -> list[tuple[Value, ...]]:
        return [row for rows in self.rows.values() for row in rows]


def answer(batch: Batch, query: Query) -> Answer:
    """The rows of every partition, or its failure. Raises TooManyWords."""
    rows: dict[tuple[Value, ...], list[tuple[Value, ...]]] = {}
    failures: dict[tuple[Value, ...], str] = {}
    for key, partition in batch.partitions().items():
        found = rows_or_failure(batch, query, partition)
        if isinstance(found, str):
            failures[key] = found
        else:
            rows[key] = found
    return Answer(rows, failures)


def rows_or_failure(
    batch: Batch, query: Query, partition: list[Row]
) -> list[tuple[Value, ...]] | str:
    try:
        return list(partition_rows(batch, query, partition))
    except Failure as failure:
        return failure.kind


def partition_rows(
    batch: Batch, query: Query, rows: list[Row], until: int | None = None
) -> Iterator[tuple[Value, ...]]:
    """until: the row before which matches begin that come out, and unmatched rows stand."""
    members = query.members
    until = len(rows) if until is None else until
    tests = 0

    def may(number: int, start: int, variables: tuple[str, ...]) -> bool:
        nonlocal tests
        tests += 1
        if tests > TESTS_A_PARTITION:
            raise TooManyWords
        inside = batch.in_window(query, rows[start], rows[start + len(variables) - 1])
        inside = inside and (query.window_rows is None or len(variables) <= query.window_rows)
        return inside and satisfies(number, start, variables)

    def satisfies(number: int, start: int, variables: tuple[str, ...]) -> bool:
        condition = query.definitions.get(variables[-1])
        seen = Seen(rows, start, variables, len(variables), number, members)
        return condition is None or condition.value(seen) is True

    covered: set[int] = set()
    columns = batch.columns(query)
    matches = find_all(
        query.pattern, len(rows), may, query.after_match, members, satisfies=satisfies
    )
    for found in matches:
        if found.start >= until:
            break
        covered.update(range(found.start, found.start + max(1, len(found.word))))
        for row, running in places(found, query.rows_per_match):
            variables = tuple(name for name, _ in found.word)
            seen = Seen(rows, found.start, variables, running, found.number, members)
            measures = [measure.value(seen) for measure in query.measures]
            yield output(columns, rows[row], measures)
    if query.rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        for row in sorted(set(range(until)) - covered):
            yield output(columns, rows[row], [None] * len(query.measures))


def places(found: Match, rows_per_match: RowsPerMatch) -> Iterator[tuple[int, int]]:
    """The input row of each output row, and how many rows of the match it looks back on."""
    length = len(found.word)
    if rows_per_match is RowsPerMatch.ONE_ROW:
        yield found.start, length
    elif length:
        for place, (_, excluded) in enumerate(found.word):
            if not excluded:
                yield found.start + place, place + 1
    elif rows_per_match is not RowsPerMatch.ALL_ROWS_OMIT_EMPTY:
        yield found.start, 0


def output(columns: tuple[str, ...], row: Row, measures: list[Value]) -> tuple[Value, ...]:
    named = {f"m{i}": value for i, value in enumerate(measures)}
    return tuple(named[name] if name in named else row[name] for name in columns)
