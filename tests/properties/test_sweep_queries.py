"""Sweeps of random clauses over random values, against brute force.

Each combination of values is searched by `references/matches_and_runs`, which shares nothing with
matchrec, and its figures are computed by Python's `statistics`. In the second size each row exists
under hundreds of other keys: counts grow by this factor, and medians stay. A long run, in which
each example is a sweep:

    MATCHREC_EXAMPLES=500 MATCHREC_SEED=1000 pytest tests/properties/test_sweep_queries.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from statistics import median
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.generators.small_clauses import (
    SCHEMA,
    Definition,
    list_variables,
    may_be_empty,
    random_definitions,
    random_pattern_with_a_and_b,
    random_rows,
    sort_partitions,
    write_clause_end,
)
from tests.quick.scale import batches, copies_of
from tests.references.matches_and_runs import (
    AnyOrder,
    Chain,
    Choice,
    Condition,
    Hidden,
    Loop,
    Node,
    Partition,
    Path,
    Query,
    Row,
    Skip,
)
from tests.tasks.many_keys import KEY, make_copies

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.warnings.MatchRecognizeWarning")

CLAUSES_PER_BATCH = 4
Point = Mapping[str, Any]
# Bounds of quantifiers that stand for the parameters :low and :high. No random pattern has them.
LOW, HIGH = 7, 8
GRID = {
    "low": (1, 2),
    "high": (2, 3, 4),
    "letters": ("a", "ab", "abd", "bcd"),
    "x": (0, 1, 3),
    "length": (1, 3, 5, 9),
}


@dataclass(frozen=True)
class MarkedClause:
    """A clause with parameters."""

    query: Query  # without a window; bounds of quantifiers may be `LOW` and `HIGH`
    definitions: Mapping[str, Definition]
    # By variable: returns the condition for values of the parameters.
    marked: Mapping[str, Callable[[Point], Condition]]
    has_window: bool  # whether it has WITHIN :length

    def text(self, key: str) -> str:
        """Return the text of the clause.

        Args:
            key: the columns of PARTITION BY.
        """
        pattern = str(self.query.pattern)
        pattern = pattern.replace(f"{{{LOW},", "{:low,").replace(f",{HIGH}}}", ",:high}")
        window = ":length" if self.has_window else None
        end = write_clause_end(self.query, pattern, window, self.definitions)
        return f"PARTITION BY {key} ORDER BY t NULLS LAST {end}"

    def fill_parameters(self, point: Point) -> Query:
        """Return the query that the reference answers for a combination of values."""
        conditions = {name: definition.holds for name, definition in self.definitions.items()}
        conditions |= {name: condition(point) for name, condition in self.marked.items()}
        return replace(
            self.query,
            pattern=fill_bounds(self.query.pattern, point),
            conditions=conditions,
            window=point["length"] if self.has_window else None,
        )


def fill_bounds(node: Node, point: Point) -> Node:
    """Return the pattern with values instead of `LOW` and `HIGH`."""
    match node:
        case Loop(part, least, most):
            least = point["low"] if least == LOW else least
            most = point["high"] if most == HIGH else most
            return replace(node, part=fill_bounds(part, point), least=least, most=most)
        case Chain(parts) | Choice(parts) | AnyOrder(parts):
            return replace(node, parts=tuple(fill_bounds(part, point) for part in parts))
    return node


def add_marked_loop(random: Random, node: Node) -> Node:
    """Return the pattern with a loop around it, or around one of its parts, that has parameters."""
    match node:
        case Chain(parts) if random.random() < 0.8:
            index = random.randrange(len(parts))
            part = add_marked_loop(random, parts[index])
            return Chain((*parts[:index], part, *parts[index + 1 :]))
    if may_be_empty(node) or isinstance(node, Loop | Hidden):
        return Chain((node, Loop("B", LOW, None)))
    return Loop(node, LOW, random.choice((HIGH, None)), random.random() < 0.7)


def is_of_letters(point: Point) -> Condition:
    """Return the condition `instr(:letters, kind) > 0`."""

    def holds(rows: Sequence[Row], path: Path) -> bool:
        """Return whether the letter of the row is one of the value's."""
        return rows[path[-1].position]["kind"] in point["letters"]

    return holds


def reaches_x(point: Point) -> Condition:
    """Return the condition `x >= :x`."""

    def holds(rows: Sequence[Row], path: Path) -> bool:
        """Return whether `x` of the row is at least the value."""
        x = rows[path[-1].position]["x"]
        return x is not None and x >= point["x"]

    return holds


MARKED = {"instr(:letters, kind) > 0": is_of_letters, "x >= :x": reaches_x}


def random_clause(random: Random) -> MarkedClause:
    """Draw a clause that has at least one parameter."""
    finds_all_matches = random.random() < 0.2
    pattern = random_pattern_with_a_and_b(
        random, 2, hides=True, finds_all_matches=finds_all_matches
    )
    has_window = finds_all_matches or random.random() < 0.4
    marks_pattern = random.random() < 0.6
    if marks_pattern:
        pattern = add_marked_loop(random, pattern)
    definitions = dict(random_definitions(random, list_variables(pattern)))
    marked = {}
    for name in random.sample(sorted(definitions), random.randint(not marks_pattern, 1)):
        text = random.choice(list(MARKED))
        marked[name] = MARKED[text]
        definitions[name] = Definition(text, definitions[name].holds)
    query = Query(
        pattern,
        {},
        None,
        random.choice((Skip.TO_NEXT_ROW, Skip.PAST_LAST_ROW)),
        finds_all_matches,
        finds_longest=not finds_all_matches and random.random() < 0.2,
        shows_timed_out=False,
    )
    return MarkedClause(query, definitions, marked, has_window)


def random_grid(random: Random, clause: MarkedClause) -> dict[str, list[Any]]:
    """Draw a few values for each parameter of a clause."""
    text = clause.text("k")
    names = [name for name in GRID if f":{name}" in text]
    random.shuffle(names)
    return {name: random.sample(GRID[name], random.choice((1, 2, 2))) for name in names}


def compute_expected_figures(query: Query, rows: Sequence[Row], copies: int) -> tuple[Any, ...]:
    """Return the figures that a sweep shows.

    They are the numbers of matches, partitions with a match and matched rows, and the medians of
    the number of rows and of the time span of a match.
    """
    lengths = []
    spans = []
    partitions = 0
    for partition in sort_partitions(rows):
        matches = Partition(query, partition).find_all()
        partitions += bool(matches)
        for match in matches:
            lengths.append(len(match.path))
            times = [partition[mapped_row.position]["t"] for mapped_row in match.path]
            if times and times[-1] is not None and times[0] is not None:
                spans.append(times[-1] - times[0])
    counts = (len(lengths) * copies, partitions * copies, sum(lengths) * copies)
    return (*counts, median(lengths) if lengths else None, median(spans) if spans else None)


@pytest.mark.parametrize("seed", batches(100, CLAUSES_PER_BATCH))
def test_figures_are_those_of_brute_force(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    rows = random_rows(random)
    table = spark.createDataFrame([tuple(row.values()) for row in rows], SCHEMA)
    copies = copies_of(len(rows))
    copied_table = make_copies(table, copies)
    for _ in range(CLAUSES_PER_BATCH):
        clause = random_clause(random)
        grid = random_grid(random, clause)
        check_sweep(table, clause, "k", grid, rows, 1)
        check_sweep(copied_table, clause, f"k, {KEY}", grid, rows, copies)


def check_sweep(
    table: DataFrame,
    clause: MarkedClause,
    key: str,
    grid: dict[str, list[Any]],
    rows: Sequence[Row],
    copies: int,
) -> None:
    """Compare each row of a sweep with the figures of the reference."""
    sweep = matchrec.sweep(table, clause.text(key), grid)
    points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    assert len(sweep.rows) == len(points)
    for row, point in zip(sweep.rows, points, strict=True):
        figures = compute_expected_figures(clause.fill_parameters(point), rows, copies)
        assert row == (*point.values(), *figures), f"{clause.text(key)}\n{point}, {copies} copies"
