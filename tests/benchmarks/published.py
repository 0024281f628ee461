"""Queries that others have published, and queries with matches of different lengths.

Their tables come from `crimes`. There are three groups:

- BERLIN: the ten queries of Humboldt-Universität zu Berlin. They have no PARTITION BY. Two of them
  have the number 03. The original ORDER BY leaves the order of crimes in the same minute open;
  here, the id decides it.
  Source: Row Pattern Recognition: Benchmarking Suite,
  github.com/Asterbons/Row-Pattern-Recognition-Trino-benchmark (MIT licence).
- `list_templates`: six row patterns, each with three restrictions on the location of the crimes:
  near the first crime, in the same beat (PARTITION BY), or in one district.
  Source: Zhu, Huang, Chaudhuri: High Performance Row Pattern Recognition Using Joins,
  PVLDB 16(5), 2023, and github.com/ekzhu/match-recognize-vldb2023.
- `list_length_queries`: our own queries, whose matches have the lengths in `crimes.LENGTHS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.benchmarks.compare import OURS, print_each
from tests.benchmarks.crimes import LENGTHS, draw_crimes
from tests.benchmarks.drawn_tables import DrawnTables
from tests.benchmarks.kinds_compared import compare_workloads, report_comparisons
from tests.benchmarks.markdown import format_table
from tests.benchmarks.options import Options
from tests.benchmarks.workloads import Workload, write_clause

# Milliseconds: a match of a template lasts at most half an hour.
WINDOW = 30 * 60 * 1000
# Degrees: the largest difference in latitude, and in longitude, of two crimes that are near.
NEAR = 0.025
# The aim of all workloads: at most as slow as the identity query.
AIM = 1.0


@dataclass(frozen=True, kw_only=True)
class PublishedQuery:
    """A query of a benchmark, in parts."""

    name: str
    table: str
    measures: str
    # The subclauses between MEASURES and PATTERN.
    row_options: str = ""
    pattern: str
    # The text of the clause from WITHIN, SUBSET or DEFINE on.
    definitions: str
    # The columns that the query reads besides `keys` and `order`; empty if it reads all columns.
    read_columns: tuple[str, ...] = ()
    # The columns of PARTITION BY.
    keys: tuple[str, ...] = ()
    # The columns of ORDER BY.
    order: tuple[str, ...] = ("at", "id")

    def make_workload(self) -> Workload:
        """Return the query as a workload."""
        partition_by = f"PARTITION BY {', '.join(self.keys)} " if self.keys else ""
        text = f"""{partition_by}ORDER BY {", ".join(self.order)}
  MEASURES {self.measures}
  {self.row_options} PATTERN ({self.pattern})
  {self.definitions}"""
        reads: tuple[str, ...] = ()  # all columns
        if self.read_columns:
            reads = (*self.keys, *self.order, *self.read_columns)
        return Workload(
            name=self.name,
            table=self.table,
            query=write_clause(self.table, text),
            aim=AIM,
            keys=self.keys,
            order=self.order,
            reads=reads,
        )


NEXT_ROW = "AFTER MATCH SKIP TO NEXT ROW"

# Parts of the queries of Humboldt-Universität.
TIMES_OF_ENDS = "FIRST(at) AS start_at, LAST(at) AS end_at"
LATITUDES_OF_A = "FIRST(A.lat) AS start_lat, LAST(A.lat) AS top_lat"
DEFINE_BY_LATITUDE = "DEFINE A AS A.lat > 52.4, B AS B.lat < 52.6, C AS C.lat > 52.5"
DEFINE_RISING = (
    "DEFINE A AS LAST(A.lat, 1) IS NULL OR A.lat > LAST(A.lat, 1), B AS B.lat < LAST(A.lat)"
)
DEFINE_ALL_LATITUDES = "SUBSET X = (A, B) DEFINE A AS lat < 53.0, B AS lat < 53.0, C AS lat < 53.0"
BERLIN = (
    PublishedQuery(
        name="01 pairs",
        table="berlin",
        measures=TIMES_OF_ENDS,
        pattern="A A",
        definitions="DEFINE A AS kind IS NOT NULL",
        read_columns=("kind",),
    ),
    PublishedQuery(
        name="02 pairs that overlap",
        table="berlin",
        measures=TIMES_OF_ENDS,
        row_options=NEXT_ROW,
        pattern="A A",
        definitions="DEFINE A AS kind IS NOT NULL",
        read_columns=("kind",),
    ),
    PublishedQuery(
        name="03 greedy",
        table="berlin",
        measures="C.lat AS last_lat",
        row_options="AFTER MATCH SKIP TO FIRST B",
        pattern="A B B* C",
        definitions=DEFINE_BY_LATITUDE,
        read_columns=("lat",),
    ),
    PublishedQuery(
        name="03 reluctant",
        table="berlin",
        measures="C.lat AS last_lat",
        row_options=NEXT_ROW,
        pattern="(A? | B*?) C",
        definitions=DEFINE_BY_LATITUDE,
        read_columns=("lat",),
    ),
    PublishedQuery(
        name="04 alternatives",
        table="berlin",
        measures=f"FIRST(lat) AS start_lat, LAST(lat) AS end_lat, {TIMES_OF_ENDS}",
        pattern="UP+ | DOWN+ | SPECIAL*",
        definitions="""DEFINE UP AS PREV(lat) IS NOT NULL AND lat > PREV(lat) + 0.01,
    DOWN AS PREV(lat) IS NOT NULL AND lat < PREV(lat) - 0.01,
    SPECIAL AS kind IN ('BURGLARY', 'ROBBERY') AND lat BETWEEN 52.5 AND 52.55""",
        read_columns=("kind", "lat"),
    ),
    PublishedQuery(
        name="05 ONE ROW PER MATCH",
        table="berlin",
        measures=LATITUDES_OF_A,
        pattern="A+ B",
        definitions=DEFINE_RISING,
        read_columns=("lat",),
    ),
    PublishedQuery(
        name="06 ALL ROWS PER MATCH",
        table="berlin",
        measures=LATITUDES_OF_A,
        row_options="ALL ROWS PER MATCH",
        pattern="A+ B",
        definitions=DEFINE_RISING,
    ),
    PublishedQuery(
        name="07 SUBSET",
        table="berlin",
        measures="min(X.lat) AS least_lat, max(X.lat) AS most_lat",
        pattern="A (B | A) C",
        definitions=DEFINE_ALL_LATITUDES,
        read_columns=("lat",),
    ),
    PublishedQuery(
        name="08 WITHIN",
        table="berlin",
        measures="FIRST(A.at) AS start_at, LAST(B.at) AS end_at",
        pattern="A B",
        definitions="WITHIN INTERVAL '1' HOUR DEFINE A AS A.lat > 0, B AS B.lat > 0",
        read_columns=("lat",),
    ),
    PublishedQuery(
        name="09 NULL",
        table="berlin",
        measures="FIRST(A.at) AS start_at, LAST(B.at) AS end_at",
        pattern="A B*",
        definitions="DEFINE A AS lat IS NOT NULL, B AS lat > PREV(lat)",
        read_columns=("lat",),
    ),
)

# The row patterns of the templates, by name. A variable stands for a kind of crime; Z is any crime.
PATTERNS = {
    "in a row": "A B C D E F G",
    "others between": "A Z* B Z* C",
    "alternatives": "(A | B) (C | D)",
    "loops": "A B+ C D+ E F+",
    "nested loops": "A (B+ C)+ D",
    "alternative loops": "A Z* (B+ | C+) Z* D",
}
COORDINATES = ("lat", "lon")
# For each restriction on the location, the columns that its conditions read.
COLUMNS_BY_LOCATION = {"near": COORDINATES, "in a beat": (), "in a district": ("district",)}


def list_templates(drawn: DrawnTables) -> Iterator[PublishedQuery]:
    """Yield a template for each row pattern and location.

    Args:
        drawn: the tables of a seed, which chooses the kinds of crimes.
    """
    for location in COLUMNS_BY_LOCATION:
        for name, pattern in PATTERNS.items():
            yield make_template(f"{name}, {location}", pattern, location, drawn)


def make_template(name: str, pattern: str, location: str, drawn: DrawnTables) -> PublishedQuery:
    """Return a template, in which every variable except Z maps crimes of one kind.

    All later crimes happen within WINDOW of the first one. Those of a variable except Z are also at
    the location.

    Args:
        name: the name of the query.
        pattern: a row pattern of PATTERNS.
        location: a key of COLUMNS_BY_LOCATION.
        drawn: the tables of a seed, which chooses the kinds of crimes and the district.
    """
    variables = sorted(set(pattern) & set("ABCDEFG"))
    # The variables that can map the first crime. U is their union.
    first_variables = ("A", "B") if pattern.startswith("(") else ("A",)
    has_union = len(first_variables) > 1
    first = "U" if has_union else "A"
    conditions = {}
    for variable in variables:
        terms = [f"kind = {drawn.replacements[variable]}"]
        if location == "in a district":
            terms.append(f"district = {drawn.replacements['district']}")
        if variable not in first_variables:
            terms += list_distance_conditions(first, location)
        conditions[variable] = " AND ".join(terms)
    if "Z" in pattern:
        conditions["Z"] = write_window_condition(first)
    subset = "SUBSET U = (A, B) " if has_union else ""
    definitions = ",\n    ".join(f"{variable} AS {text}" for variable, text in conditions.items())
    return PublishedQuery(
        name=name,
        table="crimes",
        measures=", ".join(f"{variable}.id AS {variable}_id" for variable in variables),
        row_options=NEXT_ROW,
        pattern=pattern,
        definitions=f"{subset}DEFINE {definitions}",
        read_columns=("kind", *COLUMNS_BY_LOCATION[location]),
        keys=("beat",) if location == "in a beat" else (),
    )


def list_distance_conditions(first: str, location: str) -> list[str]:
    """Return the conditions on the distance of a later crime from the first one, in time and space.

    Args:
        first: the variable of the first crime.
        location: a key of COLUMNS_BY_LOCATION.
    """
    conditions = [write_window_condition(first)]
    if location == "near":
        conditions += [
            f"{column} - {first}.{column} BETWEEN -{NEAR} AND {NEAR}" for column in COORDINATES
        ]
    return conditions


def write_window_condition(first: str) -> str:
    """Return the condition that a crime happens within WINDOW of the crime of variable `first`."""
    return f"at <= {first}.at + {WINDOW}"


SUMS = "{0} sum(x) AS total, {0} count(*) AS n"
# For each form of the output: the measures and the subclause for the output rows.
SUMS_AND_ROW_OPTIONS = {
    "ONE ROW": (SUMS.format("FINAL"), "ONE ROW PER MATCH"),
    "ALL ROWS, RUNNING": (SUMS.format("RUNNING"), "ALL ROWS PER MATCH"),
    "ALL ROWS, FINAL": (SUMS.format("FINAL"), "ALL ROWS PER MATCH"),
}


def list_length_queries() -> Iterator[PublishedQuery]:
    """Yield a query for each length of matches in LENGTHS and each form in SUMS_AND_ROW_OPTIONS.

    Its name is the form, a comma and the length.
    """
    for length in LENGTHS:
        for form, (sums, row_options) in SUMS_AND_ROW_OPTIONS.items():
            yield PublishedQuery(
                name=f"{form}, {length:,}",
                table=f"lengths_{length}",
                measures=sums,
                row_options=row_options,
                pattern="A B*",
                definitions="DEFINE B AS k >= A.k",
                read_columns=("k", "x"),
                order=("id",),
            )


def report_berlin(options: Options) -> Iterator[str]:
    """Yield the table of the ten queries of Humboldt-Universität zu Berlin."""
    drawn = draw_crimes(options.seed, options.rows)
    workloads = [query.make_workload() for query in BERLIN]
    return report_comparisons(options, compare_workloads(options, drawn, workloads))


def report_templates(options: Options) -> Iterator[str]:
    """Yield the table of the eighteen templates of Zhu, Huang and Chaudhuri."""
    drawn = draw_crimes(options.seed, options.rows)
    workloads = [query.make_workload() for query in list_templates(drawn)]
    return report_comparisons(options, compare_workloads(options, drawn, workloads))


def report_lengths(options: Options) -> Iterator[str]:
    """Yield a table of the time per row, with a line for each length of matches.

    A cell has the elapsed time and the CPU time: `12; 20`.
    """
    drawn = draw_crimes(options.seed, options.rows)
    row_count = round(options.rows * options.scale)
    workloads = [query.make_workload() for query in list_length_queries()]
    # By the length of matches, and by the heading of the column.
    cells: dict[str, dict[str, str]] = {}
    for comparison in print_each(compare_workloads(options, drawn, workloads)):
        form, _, length = comparison.workload.name.rpartition(", ")
        for name, entry in comparison.entries.items():
            elapsed = entry.times.median / row_count * 1e9
            cpu = entry.times.median_cpu / row_count * 1e9
            column = form if name == OURS else f"{name}, {form}"
            cells.setdefault(length, {})[column] = f"{elapsed:,.0f}; {cpu:,.0f}"
    yield f"{row_count:,} rows. A cell has nanoseconds per row: elapsed time; CPU time."
    yield ""
    columns = list(dict.fromkeys(column for line in cells.values() for column in line))
    lines = [
        [length, *(cells_by_column.get(column, "") for column in columns)]
        for length, cells_by_column in cells.items()
    ]
    yield from format_table(["rows of a match", *columns], lines)
