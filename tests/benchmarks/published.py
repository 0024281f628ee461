"""Shapes of queries that others have published, over crimes made anew (`crimes`).

The ten of Humboldt-Universität zu Berlin look at all crimes in one partition: 03 is two of them.
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
from tests.benchmarks.drawn_tables import Drawn
from tests.benchmarks.kinds_compared import compare_workloads, report_comparisons
from tests.benchmarks.markdown import format_table
from tests.benchmarks.options import Options
from tests.benchmarks.workloads import Workload, write_clause

WINDOW = 30 * 60 * 1000  # milliseconds from the first crime on
NEAR = 0.025  # degrees
AIM = 1.0


@dataclass(frozen=True)
class Shape:
    """The parts of a clause. partitions: PARTITION BY and ORDER BY. rest: from PATTERN on.

    reads: the columns that the query names. rows: what comes before PATTERN, of rows per match and
    of where to go on.
    """

    name: str
    table: str
    measures: str
    pattern: str
    definitions: str
    rows: str = ""
    reads: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    order: tuple[str, ...] = ("at", "id")

    def workload(self) -> Workload:
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
PLACES = ("near", "in a beat", "in a district")


def templates(drawn: Drawn) -> Iterator[Shape]:
    """Each row pattern in each way, with the kinds that a seed has drawn."""
    for place in PLACES:
        for name, pattern in PATTERNS.items():
            yield template(f"{name}, {place}", pattern, place, drawn)


def template(name: str, pattern: str, place: str, drawn: Drawn) -> Shape:
    """Variables but Z are of a kind each; after the first one, in its window and its place."""
    variables = sorted(set(pattern) & set("ABCDEFG"))
    firsts = "AB" if pattern.startswith("(") else "A"
    first = "U" if len(firsts) > 1 else "A"
    window = f"at <= {first}.at + {WINDOW}"
    conditions = {one: [f"kind = {drawn.words[one]}"] for one in variables}
    for one, terms in conditions.items():
        if place == "in a district":
            terms.append(f"district = {drawn.words['district']}")
        if one not in firsts:
            terms.append(window)
        if one not in firsts and place == "near":
            terms += [f"{axis} - {first}.{axis} BETWEEN -{NEAR} AND {NEAR}" for axis in AXES]
    if "Z" in pattern:
        conditions["Z"] = [window]
    defined = ",\n    ".join(f"{one} AS {' AND '.join(all_)}" for one, all_ in conditions.items())
    subset = "SUBSET U = (A, B) " if first == "U" else ""
    measures = ", ".join(f"{one}.id AS {one}_id" for one in variables)
    reads = ("kind", *READS[place])
    keys = ("beat",) if place == "in a beat" else ()
    defined = f"{subset}DEFINE {defined}"
    return Shape(name, "crimes", measures, pattern, defined, NEXT_ROW, reads, keys)


AXES = ("lat", "lon")
READS = {"near": AXES, "in a beat": (), "in a district": ("district",)}


SUMS = "{0} sum(x) AS total, {0} count(*) AS n"
FORMS = {
    "ONE ROW": (SUMS.format("FINAL"), "ONE ROW PER MATCH"),
    "ALL ROWS, RUNNING": (SUMS.format("RUNNING"), "ALL ROWS PER MATCH"),
    "ALL ROWS, FINAL": (SUMS.format("FINAL"), "ALL ROWS PER MATCH"),
}


def of_lengths() -> Iterator[Shape]:
    """Matches of so many rows each, with sums that grow with every row or are the match's."""
    for length in LENGTHS:
        for name, (sums, rows) in FORMS.items():
            table = f"lengths_{length}"
            define = "DEFINE B AS k >= A.k"
            yield Shape(
                f"{name}, {length:,}", table, sums, "A B*", define, rows, ("k", "x"), (), ("id",)
            )


def berlin_compared(options: Options) -> Iterator[str]:
    """The ten queries of Humboldt-Universität zu Berlin."""
    drawn = draw_crimes(options.seed, options.rows)
    workloads = [one.workload() for one in BERLIN]
    return report_comparisons(options, compare_workloads(options, drawn, workloads))


def templates_compared(options: Options) -> Iterator[str]:
    """The eighteen templates of Zhu, Huang and Chaudhuri."""
    drawn = draw_crimes(options.seed, options.rows)
    workloads = [one.workload() for one in templates(drawn)]
    return report_comparisons(options, compare_workloads(options, drawn, workloads))


def lengths_compared(options: Options) -> Iterator[str]:
    """What a row costs, by how long the matches are."""
    drawn = draw_crimes(options.seed, options.rows)
    rows = round(options.rows * options.scale)
    cells: dict[str, dict[str, str]] = {}
    for one in print_each(
        compare_workloads(options, drawn, [shape.workload() for shape in of_lengths()])
    ):
        form, _, length = one.workload.name.rpartition(", ")
        for name, entry in one.entries.items():
            seconds = (entry.times.median, entry.times.median_cpu)
            per_row = "; ".join(f"{taken / rows * 1e9:,.0f}" for taken in seconds)
            column = form if name == OURS else f"{name}, {form}"
            cells.setdefault(length, {})[column] = per_row
    yield f"{rows:,} rows; nanoseconds a row."
    yield ""
    columns = list(dict.fromkeys(column for line in cells.values() for column in line))
    lines = ([length, *(line.get(one, "") for one in columns)] for length, line in cells.items())
    yield from format_table(["rows of a match", *columns], lines)
