"""Random queries with a projection: unused columns never change the other columns.

The tests select subsets of the columns of a result, or count its rows, with and without WHERE, with
each algorithm and transport. They are compared with the rows of the reference
(`tests/references/queries`), which is called the oracle here. A long run:

    MATCHREC_EXAMPLES=5000 MATCHREC_SEED=1000 pytest tests/properties/test_projections.py
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
    cast_to_text,
    compute_answers,
    find_column_types,
    has_interval,
    settings,
    temporary_view,
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

    # The condition as SQL.
    text: str
    # Returns whether a row passes, given its values by column name.
    passes: Callable[[dict[str, Value]], bool]


@dataclass(frozen=True)
class Projection:
    """A SELECT list over the result of a query, and its WHERE."""

    # The columns; empty for `count(*)`.
    columns: tuple[str, ...]
    # The condition of WHERE.
    filter: Filter

    def write_sql(self, query_text: str) -> str:
        """Return the SQL of the projection of a query, whose text begins with `SELECT *`."""
        select_list = ", ".join(self.columns) or "count(*) AS n"
        select = query_text.replace("SELECT *", f"SELECT {select_list}", 1)
        return f"{select} WHERE {self.filter.text}"

    def project(self, batch: Batch, query: Query, answer: Answer) -> list[tuple[Value, ...]]:
        """Return the rows of the projection, given the answer of the oracle to the query."""
        names = batch.columns(query)
        rows = [dict(zip(names, row, strict=True)) for row in answer.all_rows()]
        selected_rows = [row for row in rows if self.filter.passes(row)]
        if not self.columns:
            return [(len(selected_rows),)]
        return [tuple(row[name] for name in self.columns) for row in selected_rows]


@dataclass(frozen=True)
class Case:
    """A projection of a query, and how the query is run."""

    query: Query
    # The rows that the oracle finds for the query.
    answer: Answer
    projection: Projection
    options: matchrec.Options


ALL_ROWS = Filter("TRUE", lambda _: True)


def draw_filters(batch: Batch, query: Query, random: Random) -> list[Filter]:
    """Draw conditions on keys, which are tested before the match, a constant and any column."""
    name = random.choice(batch.columns(query))
    filters = [
        ALL_ROWS,
        Filter(f"r.{name} IS NULL", lambda row: row[name] is None),
        Filter(f"{name} IS NOT NULL", lambda row: row[name] is not None),
        make_equality(name_constant(query), "hit"),
    ]
    for by in batch.by:
        key = random.choice([row[by] for row in batch.rows if row[by] is not None])
        filters.append(make_equality(by, key))
    return filters


def make_equality(name: str, value: Value) -> Filter:
    """Return the condition that a column has a value."""
    return Filter(f"{name} = {write_constant(value)}", lambda row: row[name] == value)


def draw_projections(batch: Batch, query: Query, random: Random) -> Iterator[Projection]:
    """Yield a count, and some subsets of the columns, each with a filter or without."""
    names = batch.columns(query)
    subsets = list(chain.from_iterable(combinations(names, n) for n in range(1, len(names) + 1)))
    most = min(len(subsets), max(PROJECTIONS_PER_QUERY, EXAMPLES // 100))
    conditions = draw_filters(batch, query, random)
    yield Projection((), ALL_ROWS)
    yield Projection((name_constant(query),), random.choice(conditions))
    for subset in random.sample(subsets, most - 2):
        yield Projection(subset, random.choice(conditions))


def name_constant(query: Query) -> str:
    """Return the name of the last measure, which is the constant."""
    return f"m{len(query.measures) - 1}"


def draw_batch(seed: int) -> Batch:
    """Draw a batch in which the last measure of each query is a constant."""
    batch = random_batch(seed, QUERIES_PER_BATCH)
    some_queries = some_of(batch.queries)
    queries = tuple(replace(query, measures=(*query.measures, CONSTANT)) for query in some_queries)
    return replace(batch, queries=queries)


def normalize_doubles(batch: Batch, query: Query, names: tuple[str, ...], row: Texts) -> Texts:
    """Return a row with doubles written as in Python."""
    kinds = dict(zip(batch.columns(query), find_column_types(batch, query), strict=True))
    return tuple(
        str(float(text)) if kinds.get(name) is Type.FLOATING and text is not None else text
        for name, text in zip(names or ("n",), row, strict=True)
    )


def choose_options(batch: Batch, query: Query, index: int) -> matchrec.Options:
    """Return an algorithm and a transport, which is Arrow if pandas does not support the query.

    Args:
        batch: the batch of the query.
        query: the query.
        index: the index of its projection. Each projection runs in another way.
    """
    algorithm, transport = WAYS[index % len(WAYS)]
    return matchrec.Options(
        algorithm=algorithm, transport="arrow" if has_interval(batch, query) else transport
    )


def draw_cases(batch: Batch, random: Random) -> list[Case]:
    """Draw projections of the queries of a batch that do not fail; empty if all of them fail."""
    return [
        Case(query, answer, projection, choose_options(batch, query, index))
        for query, answer in compute_answers(batch).items()
        if not answer.failures
        for index, projection in enumerate(draw_projections(batch, query, random))
    ]


def run_cases(spark: SparkSession, batch: Batch, cases: list[Case]) -> list[list[Texts]]:
    """Return the rows of each projection, with their values as texts. Runs one job for all."""
    with temporary_view(spark, batch, "random_rows"), settings(spark, **INTERPRETED):
        frames = []
        for index, case in enumerate(cases):
            text = case.projection.write_sql(batch.text(case.query, "random_rows"))
            frame = matchrec.sql(spark, text, options=case.options)
            casts = ", ".join(f"CAST({name} AS STRING)" for name in frame.columns)
            frames.append(frame.selectExpr(f"{index} AS case_index", f"array({casts}) AS texts"))
        rows = reduce(DataFrame.unionAll, frames).collect()
    texts_by_case: list[list[Texts]] = [[] for _ in cases]
    for row in rows:
        texts_by_case[row.case_index].append(tuple(row.texts))
    return texts_by_case


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // 200)))
def test_a_projection_gives_what_the_whole_result_gives(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    batch_seed = seed + 300_000  # not a seed of another module
    cases: list[Case] = []
    while not cases:  # every query of a batch may fail
        batch = draw_batch(batch_seed)
        cases = draw_cases(batch, random)
        batch_seed += 1_000_000
    for case, actual_rows in zip(cases, run_cases(spark, batch, cases), strict=True):
        names = case.projection.columns
        actual = [normalize_doubles(batch, case.query, names, row) for row in actual_rows]
        expected = [
            normalize_doubles(batch, case.query, names, tuple(map(cast_to_text, row)))
            for row in case.projection.project(batch, case.query, case.answer)
        ]
        text = case.projection.write_sql(batch.text(case.query, "random_rows"))
        assert Counter(actual) == Counter(expected), (text, case.options)
