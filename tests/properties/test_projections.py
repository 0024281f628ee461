"""Random queries under a projection: columns that are not asked for never change those that are.

Every subset of a result's columns, the number of its rows, and both behind a WHERE, on either
engine and transport, are what the oracle's rows give.
A long run: MATCHREC_EXAMPLES=5000 MATCHREC_SEED=1000 pytest tests/properties/test_projections.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, combinations, product
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.generators.expressions import Expression, Type
from tests.generators.queries import Batch, Query, random_batch
from tests.properties.test_queries import (
    ALGORITHMS,
    INTERPRETED,
    answers,
    has_interval,
    settings,
    table,
    text_of,
    types,
)
from tests.quick.scale import SEED, examples, some_of
from tests.references.queries import Answer
from tests.references.sql_values import Value, write_constant

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

EXAMPLES = examples(20)
QUERIES_PER_BATCH = 6
PROJECTIONS_PER_QUERY = 4
WAYS = tuple(product(ALGORITHMS, ("arrow", "pandas")))
CONSTANT = Expression("'hit'", Type.TEXT, lambda _: "hit")

Texts = tuple[str | None, ...]


@dataclass(frozen=True)
class Filter:
    """A condition of WHERE, and whether a row passes it."""

    text: str
    passes: Callable[[dict[str, Value]], bool]


@dataclass(frozen=True)
class Projection:
    """What is asked of a query's result. columns: some of its columns, or none for a count."""

    columns: tuple[str, ...]
    filter: Filter

    def text(self, query: str) -> str:
        selected = ", ".join(self.columns) or "count(*) AS n"
        return query.replace("SELECT *", f"SELECT {selected}", 1) + f" WHERE {self.filter.text}"

    def rows(self, batch: Batch, query: Query, answer: Answer) -> list[tuple[Value, ...]]:
        names = batch.columns(query)
        rows = [dict(zip(names, row, strict=True)) for row in answer.all_rows()]
        kept = [row for row in rows if self.filter.passes(row)]
        if not self.columns:
            return [(len(kept),)]
        return [tuple(row[name] for name in self.columns) for row in kept]


ALL_ROWS = Filter("TRUE", lambda _: True)


def filters(batch: Batch, query: Query, random: Random) -> list[Filter]:
    """Conditions on keys, which are tested before the match, on a constant and on any column."""
    name = random.choice(batch.columns(query))
    found = [
        ALL_ROWS,
        Filter(f"r.{name} IS NULL", lambda row: row[name] is None),
        Filter(f"{name} IS NOT NULL", lambda row: row[name] is not None),
        equal_to(name_constant(query), "hit"),
    ]
    for by in batch.by:
        key = random.choice([row[by] for row in batch.rows if row[by] is not None])
        found.append(equal_to(by, key))
    return found


def equal_to(name: str, value: Value) -> Filter:
    return Filter(f"{name} = {write_constant(value)}", lambda row: row[name] == value)


def projections(batch: Batch, query: Query, random: Random) -> Iterator[Projection]:
    """Yield the count, and some of the subsets of columns; each with a filter or without."""
    names = batch.columns(query)
    subsets = list(chain.from_iterable(combinations(names, n) for n in range(1, len(names) + 1)))
    most = min(len(subsets), max(PROJECTIONS_PER_QUERY, EXAMPLES // 100))
    conditions = filters(batch, query, random)
    yield Projection((), ALL_ROWS)
    yield Projection((name_constant(query),), random.choice(conditions))
    for subset in random.sample(subsets, most - 2):
        yield Projection(subset, random.choice(conditions))


def name_constant(query: Query) -> str:
    """Return the name of the last measure, which is the constant."""
    return f"m{len(query.measures) - 1}"


def batch_of(seed: int) -> Batch:
    drawn = random_batch(seed, QUERIES_PER_BATCH)
    chosen = some_of(drawn.queries)
    queries = tuple(replace(query, measures=(*query.measures, CONSTANT)) for query in chosen)
    return replace(drawn, queries=queries)


def as_texts(batch: Batch, query: Query, names: tuple[str, ...], row: Texts) -> Texts:
    """Return the values of a row; doubles as Python writes them."""
    kinds = dict(zip(batch.columns(query), types(batch, query), strict=True))
    return tuple(
        str(float(text)) if kinds.get(name) is Type.FLOATING and text is not None else text
        for name, text in zip(names or ("n",), row, strict=True)
    )


def choose_way(batch: Batch, query: Query, number: int) -> tuple[str, str]:
    """Return an engine and a transport: Arrow if pandas refuses the query, else either of them."""
    algorithm, transport = WAYS[number % len(WAYS)]
    return algorithm, "arrow" if has_interval(batch, query) else transport


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // 200)))
def test_a_projection_gives_what_the_whole_result_gives(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    first = seed + 300_000
    cases = []
    while not cases:  # every query of a batch may fail
        batch = batch_of(first)
        for query, found in answers(batch).items():
            if not found.failures:
                for number, projection in enumerate(projections(batch, query, random)):
                    cases.append((query, found, projection, choose_way(batch, query, number)))
        first += 1_000_000
    with table(spark, batch, "random_rows"), settings(spark, **INTERPRETED):
        frames = []
        for number, (query, _, projection, (algorithm, transport)) in enumerate(cases):
            text = projection.text(batch.text(query, "random_rows"))
            frame = matchrec.sql(
                spark, text, options=matchrec.Options(algorithm=algorithm, transport=transport)
            )
            casts = ", ".join(f"CAST({name} AS STRING)" for name in frame.columns)
            frames.append(frame.selectExpr(f"{number} AS run", f"array({casts}) AS texts"))
        rows = reduce(DataFrame.unionAll, frames).collect()
    for number, (query, found, projection, way) in enumerate(cases):
        names = projection.columns
        actual = [
            as_texts(batch, query, names, tuple(row.texts)) for row in rows if row.run == number
        ]
        expected = [
            as_texts(batch, query, names, tuple(map(text_of, row)))
            for row in projection.rows(batch, query, found)
        ]
        text = projection.text(batch.text(query, "random_rows"))
        assert Counter(actual) == Counter(expected), (text, way)
