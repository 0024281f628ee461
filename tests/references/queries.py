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
from dataclasses import dataclass, field

from matchrec.plan.clauses import RowsPerMatch
from tests.generators.expressions import MatchContext, Row
from tests.generators.queries import Batch, Query
from tests.references.matcher import Failure, Match, find_all
from tests.references.sql_values import Value

# The number of conditions that may be tested in a partition.
TESTS_PER_PARTITION = 20_000


class TooManyWords(Exception):  # noqa: N818
    """The reference matcher would take too long over a partition."""


@dataclass
class ConditionBudget:
    """The number of conditions that may still be tested in a partition."""

    tests: int = TESTS_PER_PARTITION

    def count_test(self) -> None:
        """Count a test of a condition.

        Raises:
            TooManyWords: too many conditions have been tested.
        """
        if self.tests == 0:
            raise TooManyWords
        self.tests -= 1


@dataclass(frozen=True)
class Answer:
    """The result of a query, by the key of the partition."""

    # The output rows of each partition in which the query does not fail.
    rows: dict[tuple[Value, ...], list[tuple[Value, ...]]]
    # The `kind` of the Failure in each other partition.
    failures: dict[tuple[Value, ...], str]

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
        batch: the batch of the query.
        query: the query.
        rows: the rows of the partition, in order.
        until: only matches that start before this row are output, and only unmatched rows before
            it. None means all.

    Raises:
        Failure: the rows cause an error.
        TooManyWords: the partition takes too long.
    """
    until = len(rows) if until is None else until
    search = QuerySearch(batch, query, rows)
    columns = batch.columns(query)
    covered: set[int] = set()
    for match in search.find_matches():
        if match.start >= until:
            break
        # An empty match covers its starting row: that row is not unmatched.
        covered.update(range(match.start, match.start + max(1, len(match.word))))
        for row, row_count in list_output_rows(match, query.rows_per_match):
            context = search.make_context(match.number, match.start, match.variables, row_count)
            measures = [measure.value(context) for measure in query.measures]
            yield make_output_row(columns, rows[row], measures)
    if query.rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        no_measures = [None] * len(query.measures)
        for row in sorted(set(range(until)) - covered):
            yield make_output_row(columns, rows[row], no_measures)


@dataclass(frozen=True)
class QuerySearch:
    """The search for the matches of a query in a partition."""

    batch: Batch
    query: Query
    # The rows of the partition, in order.
    rows: list[Row]
    budget: ConditionBudget = field(default_factory=ConditionBudget)

    def find_matches(self) -> Iterator[Match]:
        """Yield the matches of the partition.

        Raises:
            Failure: the rows cause an error.
            TooManyWords: the partition takes too long.
        """
        return find_all(
            self.query.pattern,
            len(self.rows),
            self.can_map,
            self.query.after_match,
            self.query.primary_variables,
            satisfies=self.satisfies,
        )

    def can_map(self, number: int, start: int, variables: tuple[str, ...]) -> bool:
        """Return whether the last row may be mapped: it is in the window and satisfies DEFINE.

        The arguments are those of `matcher.CanMap`.
        """
        self.budget.count_test()
        query = self.query
        if query.window_rows is not None and len(variables) > query.window_rows:
            return False
        last_row = self.rows[start + len(variables) - 1]
        if not self.batch.is_in_window(query, self.rows[start], last_row):
            return False
        return self.satisfies(number, start, variables)

    def satisfies(self, number: int, start: int, variables: tuple[str, ...]) -> bool:
        """Return whether the last row satisfies the condition of the last variable."""
        condition = self.query.definitions.get(variables[-1])
        context = self.make_context(number, start, variables, len(variables))
        return condition is None or condition.value(context) is True

    def make_context(
        self, number: int, start: int, variables: tuple[str, ...], row_count: int
    ) -> MatchContext:
        """Return what expressions can read of a match.

        Args:
            number: the number of the match.
            start: the starting row.
            variables: the variables of its rows.
            row_count: the number of its rows that running semantics sees.
        """
        return MatchContext(
            rows=self.rows,
            start=start,
            variables=variables,
            running=row_count,
            number=number,
            primary_variables=self.query.primary_variables,
        )


def list_output_rows(match: Match, rows_per_match: RowsPerMatch) -> Iterator[tuple[int, int]]:
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


def make_output_row(columns: tuple[str, ...], row: Row, measures: list[Value]) -> tuple[Value, ...]:
    """Return an output row.

    Args:
        columns: the columns of the result. Measures are named m0, m1, ...
        row: the input row, which has the other columns.
        measures: the values of the measures.
    """
    values = {**row, **{f"m{index}": value for index, value in enumerate(measures)}}
    return tuple(values[name] for name in columns)
