"""Compare the queries of `published`, over few rows, with the reference matcher.

Their conditions and measures are written here once more, as functions in Python. Some queries run
every night, the others with `MATCHREC_FULL=night pytest -m bench`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

import matchrec
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.benchmarks.crimes import draw_crimes
from tests.benchmarks.published import (
    BERLIN,
    NEAR,
    SUMS_AND_ROW_OPTIONS,
    WINDOW,
    PublishedQuery,
    list_length_queries,
    list_templates,
)
from tests.references.matcher import find_all

pytestmark = pytest.mark.night  # tables of their own, in Python

SEED, ROWS = 3, 3_000
DRAWN = draw_crimes(SEED, ROWS)
QUERIES = {query.name: query for query in (*BERLIN, *list_templates(DRAWN))}
EACH_NIGHT = {
    *("02 pairs that overlap", "03 greedy", "04 alternatives", "06 ALL ROWS PER MATCH"),
    *("08 WITHIN", "others between, near", "alternatives, in a beat", "loops, in a district"),
}
NAMES = [
    pytest.param(name, marks=[] if name in EACH_NIGHT else [pytest.mark.bench]) for name in QUERIES
]
Mapped = list[tuple[str, Row]]  # the rows of a match so far, including the row that is tried
# Gets the rows of a match so far, all rows, and the index of the row that is tried.
Condition = Callable[[Mapped, Sequence[Row], int], bool]


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[dict[str, list[Row]]]:
    rows = {}
    for name in ("berlin", "crimes"):
        frame = DRAWN.tables[name].create_frame(spark)
        frame.createOrReplaceTempView(name)
        rows[name] = frame.orderBy("id").collect()
    yield rows
    for name in rows:
        spark.catalog.dropTempView(name)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_the_reference(
    spark: SparkSession, tables: dict[str, list[Row]], name: str
) -> None:
    query = QUERIES[name]
    conditions = (
        BERLIN_CONDITIONS[name] if name in BERLIN_CONDITIONS else list_template_conditions(query)
    )
    expected: Counter[tuple[Any, ...]] = Counter()
    for rows in split_partitions(query, tables[query.table]):
        for match in find_matches(query, rows, conditions):
            expected += Counter(list_measure_values(query, match))
    result = matchrec.sql(spark, query.make_workload().query)
    output = (
        result.select("id", *list_measure_names(query))
        if "ALL ROWS" in query.row_options
        else result
    )
    keys = 0 if "ALL ROWS" in query.row_options else len(query.keys)
    assert Counter(tuple(row)[keys:] for row in output.collect()) == expected
    assert expected


def split_partitions(query: PublishedQuery, rows: list[Row]) -> list[list[Row]]:
    """Return the rows of each partition of a query."""
    rows_by_key: dict[Any, list[Row]] = {}
    for row in rows:
        rows_by_key.setdefault(tuple(row[key] for key in query.keys), []).append(row)
    return list(rows_by_key.values())


def find_matches(
    query: PublishedQuery, rows: list[Row], conditions: dict[str, Condition]
) -> Iterator[Mapped]:
    """Yield the matches that the reference matcher finds in a partition."""

    def can_map(_: int, start: int, variables: tuple[str, ...]) -> bool:
        last = start + len(variables) - 1
        mapped = [(name, rows[start + index]) for index, name in enumerate(variables)]
        return conditions[variables[-1]](mapped, rows, last)

    members = {name: frozenset({name}) for name in conditions}
    pattern = parse_row_pattern(query.pattern)
    for match in find_all(pattern, len(rows), can_map, SKIPS[query.row_options], members):
        yield [(name, rows[match.start + index]) for index, (name, _) in enumerate(match.word)]


SKIPS = {
    "": AfterMatchSkip(),
    "ALL ROWS PER MATCH": AfterMatchSkip(),
    "AFTER MATCH SKIP TO NEXT ROW": AfterMatchSkip(SkipTo.NEXT_ROW),
    "AFTER MATCH SKIP TO FIRST B": AfterMatchSkip(SkipTo.FIRST, "B"),
}


def list_measure_names(query: PublishedQuery) -> list[str]:
    """Return the names of the measures of a query."""
    return [measure.rpartition(" ")[2] for measure in query.measures.split(", ")]


def list_measure_values(query: PublishedQuery, mapped: Mapped) -> Iterator[tuple[Any, ...]]:
    """Yield the measures of a match: once, or for each row with its id and running values."""
    texts = query.measures.split(", ")
    if "ALL ROWS" not in query.row_options:
        yield tuple(compute_measure(text, mapped) for text in texts)
        return
    for length, (_, row) in enumerate(mapped, 1):
        so_far = mapped[:length]
        yield (row.id, *(compute_measure(text, so_far) for text in texts))


def compute_measure(measure: str, mapped: Mapped) -> Any:
    """Compute a measure from its text: FIRST(A.lat), LAST(at), min(X.lat), C.lat, A.id."""
    text = measure.partition(" AS ")[0].rstrip(")")
    function, _, column = text.rpartition("(")
    variable, _, column = column.rpartition(".")
    variables = {"": "ABC UP DOWN SPECIAL", "X": "AB"}.get(variable, variable)
    column_values = [row[column] for name, row in mapped if name in variables]
    if not column_values:
        return None
    match function:
        case "FIRST":
            return column_values[0]
        case "min":
            return min(column_values)
        case "max":
            return max(column_values)
        case _:
            return column_values[-1]


def read_previous_latitude(rows: Sequence[Row], index: int) -> float | None:
    """Return the latitude of the row before, or None for the first row."""
    return rows[index - 1].lat if index else None


def is_higher_than_last_a(mapped: Mapped) -> bool:
    """Return whether the last row is the first A or has a higher latitude than the last A."""
    earlier = [row.lat for name, row in mapped[:-1] if name == "A"]
    return not earlier or mapped[-1][1].lat > earlier[-1]


def moves_by(rows: Sequence[Row], index: int, sign: int, by: float) -> bool:
    """Return whether the latitude changes by more than `by` in the direction of `sign`."""
    lat = read_previous_latitude(rows, index)
    return lat is not None and sign * rows[index].lat > sign * (lat + sign * by)


def on_row(holds: Callable[[Row], bool]) -> Condition:
    """Return a condition that reads only the row that is tried."""
    return lambda mapped, _, __: holds(mapped[-1][1])


PAIRS = {"A": on_row(lambda row: row.kind is not None)}
BY_LATITUDE = {
    "A": on_row(lambda row: row.lat > 52.4),
    "B": on_row(lambda row: row.lat < 52.6),
    "C": on_row(lambda row: row.lat > 52.5),
}
RISING: dict[str, Condition] = {
    "A": lambda mapped, _, __: is_higher_than_last_a(mapped),
    "B": lambda mapped, _, __: mapped[-1][1].lat < mapped[-2][1].lat,
}
BERLIN_CONDITIONS: dict[str, dict[str, Condition]] = {
    "01 pairs": PAIRS,
    "02 pairs that overlap": PAIRS,
    "03 greedy": BY_LATITUDE,
    "03 reluctant": BY_LATITUDE,
    "04 alternatives": {
        "UP": lambda _, rows, index: moves_by(rows, index, 1, 0.01),
        "DOWN": lambda _, rows, index: moves_by(rows, index, -1, 0.01),
        "SPECIAL": on_row(
            lambda row: row.kind in ("BURGLARY", "ROBBERY") and 52.5 <= row.lat <= 52.55
        ),
    },
    "05 ONE ROW PER MATCH": RISING,
    "06 ALL ROWS PER MATCH": RISING,
    "07 SUBSET": dict.fromkeys("ABC", on_row(lambda row: row.lat < 53.0)),
    "08 WITHIN": {
        "A": on_row(lambda row: row.lat > 0),
        "B": lambda mapped, _, __: mapped[1][1].at - mapped[0][1].at <= timedelta(hours=1),
    },
    "09 NULL": {
        "A": on_row(lambda row: row.lat is not None),
        "B": lambda _, rows, index: moves_by(rows, index, 1, 0.0),
    },
}


def list_template_conditions(query: PublishedQuery) -> dict[str, Condition]:
    """Return the conditions of a template: kinds of crime, and distances from the first crime."""

    def make_condition(name: str) -> Condition:
        def holds(mapped: Mapped, _: Sequence[Row], __: int) -> bool:
            first, row = mapped[0][1], mapped[-1][1]
            is_mapped = row.at <= first.at + WINDOW
            if name == "Z":
                return is_mapped
            if "near" in query.name and len(mapped) > 1:
                near = (abs(row[axis] - first[axis]) <= NEAR for axis in ("lat", "lon"))
                is_mapped = is_mapped and all(near)
            if "district" in query.name:
                is_mapped = is_mapped and row.district == int(DRAWN.replacements["district"])
            return is_mapped and row.kind == int(DRAWN.replacements[name])

        return holds

    return {name: make_condition(name) for name in "ABCDEFGZ"}


@pytest.mark.parametrize(
    "name", [query.name for query in list_length_queries()][: len(SUMS_AND_ROW_OPTIONS)]
)
def test_sums_are_those_of_the_rows_of_a_length(spark: SparkSession, name: str) -> None:
    query = {query.name: query for query in list_length_queries()}[name]
    DRAWN.tables[query.table].create_frame(spark).createOrReplaceTempView(query.table)
    in_order = "ORDER BY id" if "RUNNING" in name else ""
    columns = ["total", "n"] if "ONE ROW" in name else ["id", "total", "n"]
    by_window = f"""SELECT DISTINCT * FROM (SELECT k, {"" if "ONE ROW" in name else "id,"}
  sum(x) OVER w AS total, count(*) OVER w AS n FROM {query.table}
  WINDOW w AS (PARTITION BY k {in_order}))"""
    result = matchrec.sql(spark, query.make_workload().query).select(columns)
    expected = spark.sql(by_window).select(columns)
    assert Counter(result.collect()) == Counter(expected.collect())
    spark.catalog.dropTempView(query.table)
