"""Select some columns of random queries: the columns that are left out change nothing.

The tests select subsets of the columns of a result, or count its rows, with and without WHERE, with
each algorithm and transport. They compare the result with the rows that the reference
(`tests/references/queries`) finds for the whole query. A long run:

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
ALGORITHMS_AND_TRANSPORTS = tuple(product(ALGORITHMS, ("arrow", "pandas")))
# A measure that reads no row. If only it is selected, a worker needs no column of the input.
CONSTANT = Expression("'hit'", Type.TEXT, lambda _: "hit")

# The values of a row, as texts.
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

    def project(self, rows: list[dict[str, Value]]) -> list[tuple[Value, ...]]:
        """Return the rows of the projection.

        Args:
            rows: the rows of the whole result, as values by column name.
        """
        selected_rows = [row for row in rows if self.filter.passes(row)]
        if not self.columns:
            return [(len(selected_rows),)]
        return [tuple(row[name] for name in self.columns) for row in selected_rows]


@dataclass(frozen=True)
class Case:
    """A projection of a query of a batch, and how the query is run."""

    batch: Batch
    query: Query
    # The rows that the reference finds for the query.
    answer: Answer
    projection: Projection
    options: matchrec.Options

    def write_sql(self) -> str:
        """Return the SQL of the projection, over the view `random_rows`."""
        return self.projection.write_sql(self.batch.text(self.query, "random_rows"))

    def compute_expected_rows(self) -> list[Texts]:
        """Return the rows of the projection that the reference gives."""
        names = self.batch.columns(self.query)
        rows = [dict(zip(names, row, strict=True)) for row in self.answer.all_rows()]
        return [tuple(map(cast_to_text, row)) for row in self.projection.project(rows)]

    def count_rows(self, rows: list[Texts]) -> Counter[Texts]:
        """Count equal rows of the projection, after doubles are written as in Python."""
        names = self.batch.columns(self.query)
        types = dict(zip(names, find_column_types(self.batch, self.query), strict=True))
        are_doubles = [types[name] is Type.FLOATING for name in self.projection.columns]
        are_doubles = are_doubles or [False]  # `count(*)`
        return Counter(
            tuple(
                str(float(text)) if is_double and text is not None else text
                for text, is_double in zip(row, are_doubles, strict=True)
            )
            for row in rows
        )


ALL_ROWS = Filter("TRUE", lambda _: True)


def draw_batch(seed: int) -> Batch:
    """Draw a batch in which the last measure of each query is a constant."""
    batch = random_batch(seed, QUERIES_PER_BATCH)
    some_queries = some_of(batch.queries)
    queries = tuple(replace(query, measures=(*query.measures, CONSTANT)) for query in some_queries)
    return replace(batch, queries=queries)


def name_constant(query: Query) -> str:
    """Return the name of the last measure, which is the constant."""
    return f"m{len(query.measures) - 1}"


def draw_cases(batch: Batch, random: Random) -> list[Case]:
    """Draw projections of the queries of a batch that do not fail; empty if all of them fail."""
    cases = []
    for query, answer in compute_answers(batch).items():
        if answer.failures:
            continue
        for index, projection in enumerate(draw_projections(batch, query, random)):
            options = choose_options(batch, query, index)
            cases.append(Case(batch, query, answer, projection, options))
    return cases


def draw_projections(batch: Batch, query: Query, random: Random) -> Iterator[Projection]:
    """Yield `count(*)`, the constant, and some subsets of the columns; most have a filter."""
    names = batch.columns(query)
    subsets = list(
        chain.from_iterable(combinations(names, size) for size in range(1, len(names) + 1))
    )
    # In a long run, more examples are also more projections of each query.
    most = min(len(subsets), max(PROJECTIONS_PER_QUERY, EXAMPLES // 100))
    filters = draw_filters(batch, query, random)
    yield Projection((), ALL_ROWS)
    yield Projection((name_constant(query),), random.choice(filters))
    for subset in random.sample(subsets, most - 2):
        yield Projection(subset, random.choice(filters))


def draw_filters(batch: Batch, query: Query, random: Random) -> list[Filter]:
    """Draw conditions on any column, on the constant, and on each partition key.

    Conditions on partition keys are tested before the match.
    """
    name = random.choice(batch.columns(query))
    filters = [
        ALL_ROWS,
        Filter(f"r.{name} IS NULL", lambda row: row[name] is None),
        Filter(f"{name} IS NOT NULL", lambda row: row[name] is not None),
        make_equality(name_constant(query), "hit"),
    ]
    for key_name in batch.by:
        key = random.choice([row[key_name] for row in batch.rows if row[key_name] is not None])
        filters.append(make_equality(key_name, key))
    return filters


def make_equality(name: str, value: Value) -> Filter:
    """Return the condition that a column has a value."""
    return Filter(f"{name} = {write_constant(value)}", lambda row: row[name] == value)


def choose_options(batch: Batch, query: Query, index: int) -> matchrec.Options:
    """Return an algorithm and a transport: Arrow, if pandas does not support the query.

    Args:
        batch: the batch of the query.
        query: the query.
        index: the index of its projection. The projections of a query go round all combinations.
    """
    algorithm, transport = ALGORITHMS_AND_TRANSPORTS[index % len(ALGORITHMS_AND_TRANSPORTS)]
    if has_interval(batch, query):
        transport = "arrow"
    return matchrec.Options(algorithm=algorithm, transport=transport)


def run_cases(spark: SparkSession, cases: list[Case]) -> list[list[Texts]]:
    """Return the rows of each case, with one job for all of them. The cases have one batch."""
    with temporary_view(spark, cases[0].batch, "random_rows"), settings(spark, **INTERPRETED):
        frames = []
        for index, case in enumerate(cases):
            frame = matchrec.sql(spark, case.write_sql(), options=case.options)
            casts = ", ".join(f"CAST({name} AS STRING)" for name in frame.columns)
            frames.append(frame.selectExpr(f"{index} AS case_index", f"array({casts}) AS texts"))
        rows = reduce(DataFrame.unionAll, frames).collect()
    rows_by_case: list[list[Texts]] = [[] for _ in cases]
    for row in rows:
        rows_by_case[row.case_index].append(tuple(row.texts))
    return rows_by_case


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // 200)))
def test_a_projection_gives_what_the_whole_result_gives(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    batch_seed = seed + 300_000  # so that these batches are not those of other modules
    cases: list[Case] = []
    while not cases:  # every query of a batch may fail
        cases = draw_cases(draw_batch(batch_seed), random)
        batch_seed += 1_000_000
    for case, rows in zip(cases, run_cases(spark, cases), strict=True):
        expected = case.count_rows(case.compute_expected_rows())
        assert case.count_rows(rows) == expected, (case.write_sql(), case.options)
