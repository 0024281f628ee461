"""The queries of `published` over few rows, beside the reference matcher.

Its conditions and measures are written here once more, as functions in Python. Some of them run at
night, the others with `MATCHREC_FULL=night pytest -m bench`.
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
    FORMS,
    NEAR,
    WINDOW,
    Shape,
    list_length_shapes,
    list_templates,
)
from tests.references.matcher import find_all

pytestmark = pytest.mark.night  # tables of their own, in Python

SEED, ROWS = 3, 3_000
DRAWN = draw_crimes(SEED, ROWS)
SHAPES = {shape.name: shape for shape in (*BERLIN, *list_templates(DRAWN))}
EACH_NIGHT = {
    *("02 pairs that overlap", "03 greedy", "04 alternatives", "06 ALL ROWS PER MATCH"),
    *("08 WITHIN", "others between, near", "alternatives, in a beat", "loops, in a district"),
}
NAMES = [
    pytest.param(name, marks=[] if name in EACH_NIGHT else [pytest.mark.bench]) for name in SHAPES
]
Mapped = list[tuple[str, Row]]  # the rows of a match so far, the one that is tried among them
Condition = Callable[[Mapped, Sequence[Row], int], bool]  # with all rows, and which one it is


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[dict[str, list[Row]]]:
    rows = {}
    for name in ("berlin", "crimes"):
        frame = DRAWN.tables[name].frame(spark)
        frame.createOrReplaceTempView(name)
        rows[name] = frame.orderBy("id").collect()
    yield rows
    for name in rows:
        spark.catalog.dropTempView(name)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_the_reference(
    spark: SparkSession, tables: dict[str, list[Row]], name: str
) -> None:
    shape = SHAPES[name]
    conditions = BERLIN_CONDITIONS[name] if name in BERLIN_CONDITIONS else of_template(shape)
    expected: Counter[tuple[Any, ...]] = Counter()
    for rows in partitions(shape, tables[shape.table]):
        for found in matches(shape, rows, conditions):
            expected += Counter(values(shape, found))
    result = matchrec.sql(spark, shape.workload().query)
    shown = result.select("id", *measures(shape)) if "ALL ROWS" in shape.rows else result
    keys = 0 if "ALL ROWS" in shape.rows else len(shape.keys)
    assert Counter(tuple(row)[keys:] for row in shown.collect()) == expected
    assert expected


def partitions(shape: Shape, rows: list[Row]) -> list[list[Row]]:
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in shape.keys), []).append(row)
    return list(found.values())


def matches(shape: Shape, rows: list[Row], conditions: dict[str, Condition]) -> Iterator[Mapped]:
    def may(_: int, start: int, variables: tuple[str, ...]) -> bool:
        last = start + len(variables) - 1
        mapped = [(name, rows[start + place]) for place, name in enumerate(variables)]
        return conditions[variables[-1]](mapped, rows, last)

    members = {name: frozenset({name}) for name in conditions}
    pattern = parse_row_pattern(shape.pattern)
    for found in find_all(pattern, len(rows), may, SKIPS[shape.rows], members):
        yield [(name, rows[found.start + place]) for place, (name, _) in enumerate(found.word)]


SKIPS = {
    "": AfterMatchSkip(),
    "ALL ROWS PER MATCH": AfterMatchSkip(),
    "AFTER MATCH SKIP TO NEXT ROW": AfterMatchSkip(SkipTo.NEXT_ROW),
    "AFTER MATCH SKIP TO FIRST B": AfterMatchSkip(SkipTo.FIRST, "B"),
}


def measures(shape: Shape) -> list[str]:
    return [one.rpartition(" ")[2] for one in shape.measures.split(", ")]


def values(shape: Shape, found: Mapped) -> Iterator[tuple[Any, ...]]:
    """Of a match as a whole, or of each of its rows, with its id and all rows up to it."""
    if "ALL ROWS" not in shape.rows:
        yield tuple(value(one, found) for one in shape.measures.split(", "))
        return
    for place, (_, row) in enumerate(found, 1):
        so_far = found[:place]
        yield (row.id, *(value(one, so_far) for one in shape.measures.split(", ")))


def value(measure: str, found: Mapped) -> Any:
    """As its text says: FIRST(A.lat), LAST(at), min(X.lat), C.lat, A.id."""
    text = measure.partition(" AS ")[0].rstrip(")")
    function, _, column = text.rpartition("(")
    variable, _, column = column.rpartition(".")
    variables = {"": "ABC UP DOWN SPECIAL", "X": "AB"}.get(variable, variable)
    read = [row[column] for name, row in found if name in variables]
    if not read:
        return None
    return {"FIRST": read[0], "min": min(read), "max": max(read)}.get(function, read[-1])


def before(rows: Sequence[Row], place: int) -> float | None:
    return rows[place - 1].lat if place else None


def rises(mapped: Mapped) -> bool:
    earlier = [row.lat for name, row in mapped[:-1] if name == "A"]
    return not earlier or mapped[-1][1].lat > earlier[-1]


def differs(rows: Sequence[Row], place: int, sign: int, by: float) -> bool:
    lat = before(rows, place)
    return lat is not None and sign * rows[place].lat > sign * (lat + sign * by)


def here(holds: Callable[[Row], bool]) -> Condition:
    return lambda mapped, _, __: holds(mapped[-1][1])


PAIRS = {"A": here(lambda row: row.kind is not None)}
BY_LATITUDE = {
    "A": here(lambda row: row.lat > 52.4),
    "B": here(lambda row: row.lat < 52.6),
    "C": here(lambda row: row.lat > 52.5),
}
RISING: dict[str, Condition] = {
    "A": lambda mapped, _, __: rises(mapped),
    "B": lambda mapped, _, __: mapped[-1][1].lat < mapped[-2][1].lat,
}
BERLIN_CONDITIONS: dict[str, dict[str, Condition]] = {
    "01 pairs": PAIRS,
    "02 pairs that overlap": PAIRS,
    "03 greedy": BY_LATITUDE,
    "03 reluctant": BY_LATITUDE,
    "04 alternatives": {
        "UP": lambda _, rows, place: differs(rows, place, 1, 0.01),
        "DOWN": lambda _, rows, place: differs(rows, place, -1, 0.01),
        "SPECIAL": here(
            lambda row: row.kind in ("BURGLARY", "ROBBERY") and 52.5 <= row.lat <= 52.55
        ),
    },
    "05 ONE ROW PER MATCH": RISING,
    "06 ALL ROWS PER MATCH": RISING,
    "07 SUBSET": dict.fromkeys("ABC", here(lambda row: row.lat < 53.0)),
    "08 WITHIN": {
        "A": here(lambda row: row.lat > 0),
        "B": lambda mapped, _, __: mapped[1][1].at - mapped[0][1].at <= timedelta(hours=1),
    },
    "09 NULL": {
        "A": here(lambda row: row.lat is not None),
        "B": lambda _, rows, place: differs(rows, place, 1, 0.0),
    },
}


def of_template(shape: Shape) -> dict[str, Condition]:
    """Of the kinds that the seed has drawn; every variable but the first one looks back to it."""

    def condition(name: str) -> Condition:
        def holds(mapped: Mapped, _: Sequence[Row], __: int) -> bool:
            first, row = mapped[0][1], mapped[-1][1]
            later = row.at <= first.at + WINDOW
            if name == "Z":
                return later
            if "near" in shape.name and len(mapped) > 1:
                near = (abs(row[axis] - first[axis]) <= NEAR for axis in ("lat", "lon"))
                later = later and all(near)
            if "district" in shape.name:
                later = later and row.district == int(DRAWN.words["district"])
            return later and row.kind == int(DRAWN.words[name])

        return holds

    return {name: condition(name) for name in "ABCDEFGZ"}


@pytest.mark.parametrize("name", [shape.name for shape in list_length_shapes()][: len(FORMS)])
def test_sums_are_those_of_the_rows_of_a_length(spark: SparkSession, name: str) -> None:
    shape = {one.name: one for one in list_length_shapes()}[name]
    DRAWN.tables[shape.table].frame(spark).createOrReplaceTempView(shape.table)
    in_order = "ORDER BY id" if "RUNNING" in name else ""
    columns = ["total", "n"] if "ONE ROW" in name else ["id", "total", "n"]
    by_window = f"""SELECT DISTINCT * FROM (SELECT k, {"" if "ONE ROW" in name else "id,"}
  sum(x) OVER w AS total, count(*) OVER w AS n FROM {shape.table}
  WINDOW w AS (PARTITION BY k {in_order}))"""
    found = matchrec.sql(spark, shape.workload().query).select(columns)
    expected = spark.sql(by_window).select(columns)
    assert Counter(found.collect()) == Counter(expected.collect())
    spark.catalog.dropTempView(shape.table)
