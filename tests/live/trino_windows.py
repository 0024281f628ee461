"""Run random row pattern windows on a live Trino, and print where it differs from the reference.

    python -m tests.live.trino_windows --url http://localhost:8080 --count 300 --seed 0

Trino runs each query as `matchrec.transpile` writes it for Trino. `properties/test_windows.py` runs
such queries on matchrec. Queries that `trino_random.py` does not draw are not drawn here either.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from random import Random

from tests.generators.queries import Batch, random_batch, write_values
from tests.generators.windows import WindowQuery, random_window
from tests.live.trino_check import Trino, TrinoError
from tests.live.trino_random import (
    LIMITS,
    THREADS,
    can_repeat_without_row,
    list_different_rows,
    show_value,
    translate_to_trino,
)
from tests.properties.test_windows import Texts, find_rows, respell_doubles
from tests.references.queries import TooManyWords

WINDOWS_PER_BATCH = 50


@dataclass(frozen=True)
class Case:
    """A query with a window over some partitions, and the rows that the reference expects."""

    batch: Batch
    query: WindowQuery
    expected: Texts

    @property
    def sql(self) -> str:
        """Return the query in Trino's SQL, with its rows."""
        return translate_to_trino(self.query.text(self.batch, write_values(self.batch.rows)))


def draw_cases(seed: int, count: int) -> Iterator[Case]:
    """Yield cases that fail in no partition.

    Args:
        seed: the seed of the first batch. Each later batch has the next seed.
        count: the number of cases.
    """
    while count > 0:
        batch = random_batch(seed, 0, LIMITS, with_nan=False)
        random = Random(seed)
        for _ in range(min(count, WINDOWS_PER_BATCH)):
            yield draw_case(random, batch)
        count -= WINDOWS_PER_BATCH
        seed += 1


def draw_case(random: Random, batch: Batch) -> Case:
    """Draw a query until the reference has rows for it."""
    while True:
        query = random_window(random, LIMITS)
        if can_repeat_without_row(query.pattern):
            continue
        with suppress(TooManyWords):
            rows = find_rows(query, batch)
            if rows is not None:
                return Case(batch, query, rows)


def run_on_trino(trino: Trino, case: Case) -> Texts | str:
    """Return the rows of a case on Trino, or Trino's message if it refuses the query."""
    try:
        _, rows = trino.query(case.sql)
    except TrinoError as error:
        return str(error)
    return Counter(respell_doubles(tuple(map(show_value, row)), case.query) for row in rows)


def show_difference(case: Case, result: Texts | str) -> str:
    """Return the query of a case, and the rows that only the reference or only Trino has."""
    if isinstance(result, str):
        return f"{case.sql}\n    refused: {result}"
    return "\n".join([case.sql, *list_different_rows(case.expected, result)])


def main() -> int:
    """Run the windows that the command line asks for, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="for instance http://localhost:8080")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    trino = Trino(arguments.url)
    counts: Counter[str] = Counter()
    cases = list(draw_cases(arguments.seed, arguments.count))
    with ThreadPoolExecutor(THREADS) as threads:
        results = threads.map(partial(run_on_trino, trino), cases)
        for case, result in zip(cases, results, strict=True):
            counts["windows"] += 1
            counts["rows"] += case.expected.total()
            if result != case.expected:
                counts["Trino differs"] += 1
                print(show_difference(case, result))
    print(dict(counts))
    return int(counts["Trino differs"] > 0)


if __name__ == "__main__":
    sys.exit(main())
