"""Run random queries on a live Trino and on matchrec, and print what differs from the reference.

    python -m tests.live.trino_random --url http://localhost:8080 --count 5000 --seed 0

The reference is `tests.references.queries`, which computes the rows in plain Python. With
--converted, Trino runs each query as `matchrec.transpile` writes it for Trino, and matchrec runs
that query translated back to Spark's SQL.

Queries that meet a known difference of Trino are not drawn: see `LIMITS` and
`can_repeat_without_row`. docs/how-to/migration/trino.md explains the differences.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import matchrec
from matchrec.plan.pattern import Quantified, RowPattern, can_be_empty, walk_pattern
from tests.conftest import start_small_session
from tests.generators.expressions import Limits
from tests.generators.queries import Batch, Query, random_batch, take_part, write_values
from tests.live.trino_check import Trino, TrinoError
from tests.properties.test_queries import (
    cast_to_text,
    compute_answers,
    count_expected_rows,
    count_rows,
    find_differences,
)
from tests.references.queries import Answer

QUERIES_PER_BATCH = 150
# The number of queries that Trino runs at a time. Most of their time is waiting.
THREADS = 8
# The parts of queries that are not drawn.
LIMITS = Limits(
    running_first=False,
    final_classifier=False,
    filled_navigation=False,
    distinct=False,
    within=False,
    lists=False,
)
# Parts of Trino's messages, by the failures of the reference.
ERRORS = {
    "skip_to_missing_row": "pattern variable is not present in match",
    "skip_to_first_row": "cannot skip to first row of match",
}
# How often each row is in a result. Values are texts.
Rows = Counter[tuple[str | None, ...]]

# Returns a query in another dialect.
Translate = Callable[[str], str]


def translate_to_trino(text: str) -> str:
    """Return a query of Spark in Trino's SQL."""
    return matchrec.transpile(text, write="trino").text


def translate_there_and_back(text: str) -> str:
    """Return a query in Spark's SQL, translated to Trino's SQL and back."""
    return matchrec.transpile(translate_to_trino(text), read="trino").text


def can_repeat_without_row(pattern: RowPattern) -> bool:
    """Return whether a loop of a pattern can go on after an iteration that maps no row."""
    return any(
        isinstance(node, Quantified)
        and can_be_empty(node.part)
        and (node.most is None or node.most > max(node.least, 1))
        for node in walk_pattern(pattern)
    )


@dataclass(frozen=True)
class Case:
    """A query over some partitions, and what the reference expects."""

    batch: Batch
    query: Query
    # The rows; or parts of messages, one of which Trino's message must contain.
    expected: Rows | set[str]
    # Returns the query in Trino's SQL.
    translate: Translate

    @property
    def sql(self) -> str:
        """Return the query in Trino's SQL, with its rows."""
        return self.translate(self.batch.text(self.query, write_values(self.batch.rows)))


def list_cases(batch: Batch, answers: dict[Query, Answer], translate: Translate) -> Iterator[Case]:
    """Yield the cases of the queries of a batch.

    A query that fails in a partition has two cases: over all partitions, and over the partitions in
    which it does not fail.

    Args:
        batch: the partitions.
        answers: the queries with the reference's answers.
        translate: returns a query in Trino's SQL.
    """
    for query, answer in answers.items():
        if answer.failures:
            messages = {ERRORS[kind] for kind in answer.failures.values()}
            yield Case(batch, query, messages, translate)
        if answer.rows:
            part = take_part(batch, list(answer.rows), [query])
            yield Case(part, query, count_expected_rows(batch, query, answer), translate)


def run_on_trino(trino: Trino, case: Case) -> Rows | str:
    """Return the rows of a case on Trino, or Trino's message if it refuses the query."""
    try:
        _, rows = trino.query(case.sql)
    except TrinoError as error:
        return str(error)
    counts = count_rows(case.batch, case.query, [tuple(map(show_value, row)) for row in rows])
    assert isinstance(counts, Counter)
    return counts


def show_value(value: Any) -> str | None:
    """Return a value of Trino's JSON as Spark casts it to a string."""
    text = cast_to_text(value)
    if text is None or not isinstance(value, str):
        return text
    return text.removesuffix(" UTC").removesuffix(".000")


def is_right(case: Case, result: Rows | str) -> bool:
    """Return whether Trino's result is what the reference expects."""
    if isinstance(result, str):
        return isinstance(case.expected, set) and any(part in result for part in case.expected)
    return result == case.expected


def show_difference(case: Case, result: Rows | str) -> str:
    """Return the query of a case, what the reference expects, and Trino's result."""
    if isinstance(result, str) or isinstance(case.expected, set):
        lines = [f"    expected {case.expected}", f"    has      {result}"]
    else:
        lines = list_different_rows(case.expected, result)
    return "\n".join([case.sql, *lines])


def list_different_rows(expected: Rows, actual: Rows) -> list[str]:
    """Return a line for each row that only one of two results has."""
    return [
        *(f"    only expected: {row}" for row in (expected - actual).elements()),
        *(f"    only there:    {row}" for row in (actual - expected).elements()),
    ]


def show_smallest_difference(trino: Trino, case: Case, result: Rows | str) -> str:
    """Return the difference in the first partition that has one if the query runs over it alone.

    If there is no such partition, or if the query should fail, return the whole difference.
    """
    for key in case.batch.partitions():
        if isinstance(case.expected, set):
            break
        part = take_part(case.batch, [key], [case.query])
        answer = compute_answers(part)[case.query]
        small_case = next(list_cases(part, {case.query: answer}, case.translate))
        small_result = run_on_trino(trino, small_case)
        if not is_right(small_case, small_result):
            return show_difference(small_case, small_result)
    return show_difference(case, result)


def draw_batches(seed: int, count: int) -> Iterator[tuple[Batch, dict[Query, Answer]]]:
    """Yield batches with `count` queries in all, each with the reference's answers to its queries.

    Args:
        seed: the seed of the first batch. Each later batch has the next seed.
        count: the number of queries.
    """
    while count > 0:
        batch = random_batch(seed, QUERIES_PER_BATCH, LIMITS, with_nan=False)
        answers: dict[Query, Answer] = {}
        for query, answer in compute_answers(batch).items():
            if len(answers) < count and not can_repeat_without_row(query.pattern):
                answers[query] = answer
        count -= len(answers)
        seed += 1
        yield batch, answers


def main() -> int:
    """Run the queries that the command line asks for, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="for instance http://localhost:8080")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--converted", action="store_true")
    arguments = parser.parse_args()
    translate: Translate = str
    translate_back: Translate = str
    if arguments.converted:
        translate = translate_to_trino
        translate_back = translate_there_and_back
    trino = Trino(arguments.url)
    spark = start_small_session()
    counts: Counter[str] = Counter()
    for batch, answers in draw_batches(arguments.seed, arguments.count):
        cases = list(list_cases(batch, answers, translate))
        counts["queries"] += len(answers)
        counts["asked"] += len(cases)
        with ThreadPoolExecutor(THREADS) as threads:
            # Trino runs the cases while matchrec runs the queries.
            results = threads.map(partial(run_on_trino, trino), cases)
            for message in find_differences(spark, batch, answers, translate_back):
                counts["matchrec differs"] += 1
                print("MATCHREC", message, sep="\n")
        for case, result in zip(cases, results, strict=True):
            counts["rows"] += 0 if isinstance(result, str) else result.total()
            if not is_right(case, result):
                counts["Trino differs"] += 1
                print("TRINO", show_smallest_difference(trino, case, result), sep="\n")
        print(dict(counts), flush=True)
    spark.stop()
    return int(counts["matchrec differs"] + counts["Trino differs"] > 0)


if __name__ == "__main__":
    sys.exit(main())
