"""Random queries on a live Trino, on matchrec and on the oracle, and every disagreement.

    python -m tests.live.trino_random --url http://localhost:8080 --count 5000 --seed 0

With --converted, Trino runs what `matchrec.transpile` makes of each query for Trino, and matchrec
runs what `matchrec.transpile` makes of that.

Queries that run into a known difference of Trino's are not drawn: `LIMITS` and `deviates` say
which, docs/how-to/migration/trino.md says why. Not collected by pytest: it needs a server.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import matchrec
from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Exclusion,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    walk_pattern,
)
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
THREADS = 8  # Trino's time is mostly waiting
LIMITS = Limits(
    running_first=False,
    final_classifier=False,
    filled_navigation=False,
    distinct=False,
    within=False,
    lists=False,
)
ERRORS = {
    "SKIP_TO_NO_ROW": "pattern variable is not present in match",
    "SKIP_TO_FIRST_ROW": "cannot skip to first row of match",
}
Rows = Counter[tuple[str | None, ...]]
Respell = Callable[[str], str]


def for_trino(text: str) -> str:
    """A query in Trino's SQL."""
    return matchrec.transpile(text, write="trino").text


def and_back(text: str) -> str:
    """A query in Spark's SQL that has been in Trino's."""
    return matchrec.transpile(for_trino(text), read="trino").text


def deviates(pattern: RowPattern) -> bool:
    """Whether a loop may go on after an iteration that consumes no row."""
    return any(
        isinstance(node, Quantified)
        and nullable(node.part)
        and (node.most is None or node.most > max(node.least, 1))
        for node in walk_pattern(pattern)
    )


def nullable(pattern: RowPattern) -> bool:
    """Whether the pattern has a word without rows."""
    match pattern:
        case Variable():
            return False
        case Concatenation(parts) | Permutation(parts):
            return all(map(nullable, parts))
        case Alternation(parts):
            return any(map(nullable, parts))
        case Quantified(part=part, least=least):
            return least == 0 or nullable(part)
        case Exclusion(part=part):
            return nullable(part)
        case _:
            return True


@dataclass(frozen=True)
class Case:
    """One query over some partitions, and what the oracle says."""

    batch: Batch
    query: Query
    expected: Rows | set[str]

    respell: Respell

    @property
    def sql(self) -> str:
        return self.respell(self.batch.text(self.query, write_values(self.batch.rows)))


def cases(batch: Batch, found: dict[Query, Answer], respell: Respell) -> Iterator[Case]:
    """A query that fails is asked twice: over all partitions, and over those that do not fail."""
    for query, one in found.items():
        if one.failures:
            yield Case(batch, query, {ERRORS[kind] for kind in one.failures.values()}, respell)
        if one.rows:
            part = take_part(batch, list(one.rows), [query])
            yield Case(part, query, count_expected_rows(batch, query, one), respell)


def ask(trino: Trino, case: Case) -> Rows | str:
    """Trino's rows, or its message."""
    try:
        _, rows = trino.query(case.sql)
    except TrinoError as error:
        return str(error)
    result = count_rows(case.batch, case.query, [tuple(map(plain, row)) for row in rows])
    assert isinstance(result, Counter)
    return result


def plain(value: Any) -> str | None:
    """A value of Trino's JSON as Spark casts it to a string."""
    text = cast_to_text(value)
    return (
        text.removesuffix(" UTC").removesuffix(".000") if isinstance(value, str) and text else text
    )


def agrees(case: Case, answer: Rows | str) -> bool:
    if isinstance(answer, str):
        return isinstance(case.expected, set) and any(one in answer for one in case.expected)
    return answer == case.expected


def shown(case: Case, answer: Rows | str) -> str:
    """What the oracle expects and what came instead."""
    lines = [case.sql]
    if isinstance(answer, str) or isinstance(case.expected, set):
        lines += [f"    expected {case.expected}", f"    has      {answer}"]
        return "\n".join(lines)
    lines += [f"    only expected: {row}" for row in (case.expected - answer).elements()]
    lines += [f"    only there:    {row}" for row in (answer - case.expected).elements()]
    return "\n".join(lines)


def smallest(trino: Trino, case: Case, answer: Rows | str) -> str:
    """The disagreement on the first partition that shows it alone."""
    for key in case.batch.partitions():
        if isinstance(case.expected, set):
            break
        part = take_part(case.batch, [key], [case.query])
        found = compute_answers(part)[case.query]
        alone = next(cases(part, {case.query: found}, case.respell))
        other = ask(trino, alone)
        if not agrees(alone, other):
            return shown(alone, other)
    return shown(case, answer)


def random_cases(seed: int, count: int) -> Iterator[tuple[Batch, dict[Query, Answer]]]:
    """Batches with `count` queries in all, and the oracle's answers."""
    while count > 0:
        batch = random_batch(seed, QUERIES_PER_BATCH, LIMITS, with_nan=False)
        found = {q: a for q, a in compute_answers(batch).items() if not deviates(q.pattern)}
        found = dict(list(found.items())[:count])
        count -= len(found)
        seed += 1
        yield batch, found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="for instance http://localhost:8080")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--converted", action="store_true")
    options = parser.parse_args(arguments)
    there, back = (for_trino, and_back) if options.converted else (str, str)
    trino, spark = Trino(options.url), start_small_session()
    outcome: Counter[str] = Counter()
    for batch, found in random_cases(options.seed, options.count):
        outcome["queries"] += len(found)
        asked = list(cases(batch, found, there))
        outcome["asked"] += len(asked)
        with ThreadPoolExecutor(THREADS) as threads:
            replies = threads.map(lambda case: ask(trino, case), asked)
            for message in find_differences(spark, batch, found, back):
                outcome["matchrec differs"] += 1
                print("MATCHREC", message, sep="\n")
        for case, reply in zip(asked, replies, strict=True):
            outcome["rows"] += 0 if isinstance(reply, str) else reply.total()
            if not agrees(case, reply):
                outcome["Trino differs"] += 1
                print("TRINO", smallest(trino, case, reply), sep="\n")
        print(dict(outcome), flush=True)
    spark.stop()
    return int(bool(outcome["matchrec differs"] or outcome["Trino differs"]))


if __name__ == "__main__":
    sys.exit(main())
