"""Queries that others have published, over random crimes (`crimes`).

The ten queries of Humboldt-Universität zu Berlin read all crimes in one partition; two of them are
numbered 03.
Source: Row Pattern Recognition: Benchmarking Suite, github.com/Asterbons/
Row-Pattern-Recognition-Trino-benchmark (MIT licence). Their order leaves crimes of one minute in
any order; here the id decides.

The templates are six row patterns, each with three ways to say where: within a distance of the
first crime, in its beat by PARTITION BY, in one district. Source: Zhu, Huang, Chaudhuri: High
Performance Row Pattern Recognition Using Joins, PVLDB 16(5), 2023, and
github.com/ekzhu/match-recognize-vldb2023.
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

WINDOW = 30 * 60 * 1000  # milliseconds from the first crime on
NEAR = 0.025  # degrees
AIM = 1.0


@dataclass(frozen=True)
class Shape:
    """The parts of a clause."""

    name: str
    table: str
    measures: str
    pattern: str
    definitions: str  # from SUBSET or DEFINE on
    rows: str = ""  # the subclauses between MEASURES and PATTERN
    reads: tuple[str, ...] = ()  # the columns that the query names; all if none
    keys: tuple[str, ...] = ()
    order: tuple[str, ...] = ("at", "id")

    def workload(self) -> Workload:
        """Return the clause as a workload."""
        by = f"PARTITION BY {', '.join(self.keys)} " if self.keys else ""
        text = f"""{by}ORDER BY {", ".join(self.order)}
  MEASURES {self.measures}
  {self.rows} PATTERN ({self.pattern})
  {self.definitions}"""
        reads = self.reads and (*self.keys, *self.order, *self.reads)
        return Workload(
            self.name,
            self.table,
            write_clause(self.table, text),
            AIM,
            self.keys,
            self.order,
            reads=reads,
        )


ENDS = "FIRST(at) AS start_at, LAST(at) AS end_at"
NEXT_ROW = "AFTER MATCH SKIP TO NEXT ROW"
BY_LATITUDE = "DEFINE A AS A.lat > 52.4, B AS B.lat < 52.6, C AS C.lat > 52.5"
RISING = "DEFINE A AS LAST(A.lat, 1) IS NULL OR A.lat > LAST(A.lat, 1), B AS B.lat < LAST(A.lat)"
SPAN = "FIRST(A.lat) AS start_lat, LAST(A.lat) AS top_lat"
ALL_LATITUDES = "SUBSET X = (A, B) DEFINE A AS lat < 53.0, B AS lat < 53.0, C AS lat < 53.0"
BERLIN = (
    Shape("01 pairs", "berlin", ENDS, "A A", "DEFINE A AS kind IS NOT NULL", reads=("kind",)),
    Shape(
        "02 pairs that overlap",
        "berlin",
        ENDS,
        "A A",
        "DEFINE A AS kind IS NOT NULL",
        NEXT_ROW,
        ("kind",),
    ),
    Shape(
        "03 greedy",
        "berlin",
        "C.lat AS last_lat",
        "A B B* C",
        BY_LATITUDE,
        "AFTER MATCH SKIP TO FIRST B",
        ("lat",),
    ),
    Shape(
        "03 reluctant",
        "berlin",
        "C.lat AS last_lat",
        "(A? | B*?) C",
        BY_LATITUDE,
        NEXT_ROW,
        ("lat",),
    ),
    Shape(
        "04 alternatives",
        "berlin",
        f"FIRST(lat) AS start_lat, LAST(lat) AS end_lat, {ENDS}",
        "UP+ | DOWN+ | SPECIAL*",
        """DEFINE UP AS PREV(lat) IS NOT NULL AND lat > PREV(lat) + 0.01,
    DOWN AS PREV(lat) IS NOT NULL AND lat < PREV(lat) - 0.01,
    SPECIAL AS kind IN ('BURGLARY', 'ROBBERY') AND lat BETWEEN 52.5 AND 52.55""",
        reads=("kind", "lat"),
    ),
    Shape("05 ONE ROW PER MATCH", "berlin", SPAN, "A+ B", RISING, reads=("lat",)),
    Shape("06 ALL ROWS PER MATCH", "berlin", SPAN, "A+ B", RISING, "ALL ROWS PER MATCH"),
    Shape(
        "07 SUBSET",
        "berlin",
        "min(X.lat) AS least_lat, max(X.lat) AS most_lat",
        "A (B | A) C",
        ALL_LATITUDES,
        reads=("lat",),
    ),
    Shape(
        "08 WITHIN",
        "berlin",
        "FIRST(A.at) AS start_at, LAST(B.at) AS end_at",
        "A B",
        "WITHIN INTERVAL '1' HOUR DEFINE A AS A.lat > 0, B AS B.lat > 0",
        reads=("lat",),
    ),
    Shape(
        "09 NULL",
        "berlin",
        "FIRST(A.at) AS start_at, LAST(B.at) AS end_at",
        "A B*",
        "DEFINE A AS lat IS NOT NULL, B AS lat > PREV(lat)",
        reads=("lat",),
    ),
)

PATTERNS = {
    "in a row": "A B C D E F G",
    "others between": "A Z* B Z* C",
    "alternatives": "(A | B) (C | D)",
    "loops": "A B+ C D+ E F+",
    "nested loops": "A (B+ C)+ D",
    "alternative loops": "A Z* (B+ | C+) Z* D",
}
LOCATIONS = ("near", "in a beat", "in a district")


def list_templates(drawn: DrawnTables) -> Iterator[Shape]:
    """Yield each row pattern with each location, with the kinds of crime of a seed."""
    for location in LOCATIONS:
        for name, pattern in PATTERNS.items():
            yield make_template(f"{name}, {location}", pattern, location, drawn)


def make_template(name: str, pattern: str, location: str, drawn: DrawnTables) -> Shape:
    """Return a template: each variable but Z is a crime of one kind.

    Crimes after the first one are in its window of time and at its location.
    """
    variables = sorted(set(pattern) & set("ABCDEFG"))
    firsts = "AB" if pattern.startswith("(") else "A"
    first = "U" if len(firsts) > 1 else "A"
    window = f"at <= {first}.at + {WINDOW}"
    conditions = {variable: [f"kind = {drawn.replacements[variable]}"] for variable in variables}
    for variable, terms in conditions.items():
        if location == "in a district":
            terms.append(f"district = {drawn.replacements['district']}")
        if variable not in firsts:
            terms.append(window)
        if variable not in firsts and location == "near":
            terms += [f"{axis} - {first}.{axis} BETWEEN -{NEAR} AND {NEAR}" for axis in AXES]
    if "Z" in pattern:
        conditions["Z"] = [window]
    definitions = [f"{variable} AS {' AND '.join(terms)}" for variable, terms in conditions.items()]
    subset = "SUBSET U = (A, B) " if first == "U" else ""
    measures = ", ".join(f"{variable}.id AS {variable}_id" for variable in variables)
    reads = ("kind", *READS[location])
    keys = ("beat",) if location == "in a beat" else ()
    define = f"{subset}DEFINE " + ",\n    ".join(definitions)
    return Shape(name, "crimes", measures, pattern, define, NEXT_ROW, reads, keys)


AXES = ("lat", "lon")
READS = {"near": AXES, "in a beat": (), "in a district": ("district",)}


SUMS = "{0} sum(x) AS total, {0} count(*) AS n"
FORMS = {
    "ONE ROW": (SUMS.format("FINAL"), "ONE ROW PER MATCH"),
    "ALL ROWS, RUNNING": (SUMS.format("RUNNING"), "ALL ROWS PER MATCH"),
    "ALL ROWS, FINAL": (SUMS.format("FINAL"), "ALL ROWS PER MATCH"),
}


def list_length_shapes() -> Iterator[Shape]:
    """Yield queries whose matches have that many rows, with running or final sums."""
    for length in LENGTHS:
        for name, (sums, rows) in FORMS.items():
            table = f"lengths_{length}"
            define = "DEFINE B AS k >= A.k"
            yield Shape(
                f"{name}, {length:,}", table, sums, "A B*", define, rows, ("k", "x"), (), ("id",)
            )


def report_berlin(options: Options) -> Iterator[str]:
    """Yield the table of the ten queries of Humboldt-Universität zu Berlin."""
    drawn = draw_crimes(options.seed, options.rows)
    workloads = [shape.workload() for shape in BERLIN]
    return report_comparisons(options, compare_workloads(options, drawn, workloads))


def report_templates(options: Options) -> Iterator[str]:
    """Yield the table of the eighteen templates of Zhu, Huang and Chaudhuri."""
    drawn = draw_crimes(options.seed, options.rows)
    workloads = [shape.workload() for shape in list_templates(drawn)]
    return report_comparisons(options, compare_workloads(options, drawn, workloads))


def report_lengths(options: Options) -> Iterator[str]:
    """Yield the table of what a row costs, by how long the matches are."""
    drawn = draw_crimes(options.seed, options.rows)
    rows = round(options.rows * options.scale)
    cells: dict[str, dict[str, str]] = {}
    for comparison in print_each(
        compare_workloads(options, drawn, [shape.workload() for shape in list_length_shapes()])
    ):
        form, _, length = comparison.workload.name.rpartition(", ")
        for name, entry in comparison.entries.items():
            seconds = (entry.times.median, entry.times.median_cpu)
            per_row = "; ".join(f"{time / rows * 1e9:,.0f}" for time in seconds)
            column = form if name == OURS else f"{name}, {form}"
            cells.setdefault(length, {})[column] = per_row
    yield f"{rows:,} rows; nanoseconds per row."
    yield ""
    columns = list(dict.fromkeys(column for line in cells.values() for column in line))
    lines = [
        [length, *(cells_of_length.get(column, "") for column in columns)]
        for length, cells_of_length in cells.items()
    ]
    yield from format_table(["rows of a match", *columns], lines)
