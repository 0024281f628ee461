"""Random clauses with SHOW TIMEOUT and SHOW UNFINISHED MATCHES, from SQL text to rows.

They are compared with a reference that shares nothing with matchrec. In the second size each row
has hundreds of copies, which differ in a key. A long run, in which each example is a clause:

    MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/properties/test_partial_queries.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.generators.small_clauses import (
    SCHEMA,
    Definition,
    list_variables,
    random_definitions,
    random_pattern_with_a_and_b,
    random_rows,
    sort_partitions,
    write_clause_end,
)
from tests.quick.scale import batches, copies_of
from tests.references.matches_and_runs import MatchOrRun, Partition, Query, Row, Skip
from tests.tasks.many_keys import KEY, make_copies, take_one_copy

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.warnings.MatchRecognizeWarning")

CLAUSES_PER_BATCH = 8
OutputRow = tuple[str | None, ...]  # each value as text


@dataclass(frozen=True)
class Clause:
    """A random clause, and the query that the reference answers for it."""

    query: Query
    definitions: Mapping[str, Definition]
    all_rows: str

    @property
    def measures(self) -> str:
        """Return the measures. A clause without WITHIN may not call MATCH_TIMEOUT."""
        timeout = ["MATCH_TIMEOUT() AS due"] if self.query.window is not None else []
        # MATCH_NUMBER orders all matches by positions, which the reference does not model
        number = "CAST(NULL AS INT)" if self.query.finds_all_matches else "MATCH_NUMBER()"
        return ", ".join(
            [
                f"{number} AS number",
                "MATCH_STATUS() AS status",
                *timeout,
                "FINAL FIRST(t) AS first_t",
                "FINAL LAST(t) AS last_t",
                "count(*) AS rows",
                "FINAL count(A.*) AS rows_of_a",
                "FINAL LAST(B.x) AS last_b",
                "CLASSIFIER() AS variable",
            ]
        )

    def text(self, key: str) -> str:
        """Return the text of the clause.

        Args:
            key: the columns of PARTITION BY.
        """
        query = self.query
        shown = ["TIMEOUT"] * query.shows_timed_out + ["UNFINISHED"] * query.shows_unfinished
        rows = f"{self.all_rows or 'ONE ROW PER MATCH'} SHOW {' AND '.join(shown)} MATCHES"
        pattern = f"{query.pattern} $" if query.ends_with_anchor else str(query.pattern)
        direction = "DESC" if query.is_descending else "ASC"
        end = write_clause_end(query, pattern, query.window, self.definitions)
        return f"""PARTITION BY {key} ORDER BY t {direction} NULLS LAST
            MEASURES {self.measures} {rows} {end}"""


def random_clause(random: Random) -> Clause:
    """Draw a clause with the variables A and B, which its measures read."""
    all_rows = random.choice(
        ("", "", "ALL ROWS PER MATCH", "ALL ROWS PER MATCH OMIT EMPTY MATCHES")
    )
    finds_all_matches = random.random() < 0.2
    pattern = random_pattern_with_a_and_b(
        random, 3, hides=bool(all_rows), finds_all_matches=finds_all_matches
    )
    timed_out, unfinished = random.choice(((True, False), (False, True), (True, True)))
    if finds_all_matches:
        timed_out, unfinished = True, False
    window = random.choice((3, 5, 9)) if timed_out or random.random() < 0.5 else None
    definitions = random_definitions(random, list_variables(pattern))
    query = Query(
        pattern,
        {name: definition.holds for name, definition in definitions.items()},
        window,
        random.choice((Skip.TO_NEXT_ROW, Skip.PAST_LAST_ROW)),
        finds_all_matches,
        finds_longest=not finds_all_matches and random.random() < 0.2,
        ends_with_anchor=not finds_all_matches and random.random() < 0.15,
        shows_timed_out=timed_out,
        shows_unfinished=unfinished,
        is_descending=window is None and random.random() < 0.5,
    )
    return Clause(query, definitions, all_rows)


def compute_expected_rows(clause: Clause, rows: Sequence[Row]) -> Counter[OutputRow]:
    """Count the output rows of the reference."""
    expected: Counter[OutputRow] = Counter()
    for partition in sort_partitions(rows, descending=clause.query.is_descending):
        for match in Partition(clause.query, partition).find_all():
            for values in list_rows_of_match(clause, partition, match):
                expected[tuple(None if value is None else str(value) for value in values)] += 1
    return expected


def list_rows_of_match(
    clause: Clause, partition: Sequence[Row], match: MatchOrRun
) -> Iterator[tuple[Any, ...]]:
    """Yield the output rows of a match or run."""
    rows = [partition[mapped_row.position] for mapped_row in match.path]
    variables = [mapped_row.variable for mapped_row in match.path]
    b_values = [row["x"] for row, name in zip(rows, variables, strict=True) if name == "B"]
    last_b = b_values[-1] if b_values else None
    rows_of_a = variables.count("A")
    number = None if clause.query.finds_all_matches else match.number
    due = [match.due] if clause.query.window is not None else []
    ends = (rows[0]["t"], rows[-1]["t"]) if rows else (None, None)
    shared = (number, match.status.value, *due, *ends)
    first = partition[match.start]
    if not clause.all_rows:
        variable = variables[-1] if rows else None
        yield (first["k"], *shared, len(rows), rows_of_a, last_b, variable)
        return
    if not rows and "OMIT" not in clause.all_rows:
        yield (first["k"], first["t"], *shared, 0, 0, None, None, first["kind"], first["x"])
    for index, (row, mapped_row) in enumerate(zip(rows, match.path, strict=True)):
        if not mapped_row.is_hidden:
            measures = (*shared, index + 1, rows_of_a, last_b, mapped_row.variable)
            yield (row["k"], row["t"], *measures, row["kind"], row["x"])


def query_all(table: DataFrame, clauses: Sequence[Clause], key: str) -> DataFrame:
    """Return the rows of all clauses: the number of the clause, and the values as texts."""
    results = []
    for number, clause in enumerate(clauses):
        result = matchrec.match_recognize(table, clause.text(key))
        texts = ", ".join(f"CAST({name} AS STRING)" for name in result.columns if name != KEY)
        results.append(result.selectExpr(f"{number} AS clause", f"array({texts}) AS texts"))
    return reduce(DataFrame.unionAll, results)


@pytest.mark.parametrize("seed", batches(160, CLAUSES_PER_BATCH))
def test_matches_and_runs_are_those_of_the_reference(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    rows = random_rows(random)
    clauses = [random_clause(random) for _ in range(CLAUSES_PER_BATCH)]
    table = spark.createDataFrame([tuple(row.values()) for row in rows], SCHEMA)
    copies = copies_of(len(rows))
    copied_table = make_copies(table, copies)
    results = {
        "one copy": query_all(table, clauses, "k").collect(),
        f"{copies} copies": take_one_copy(query_all(copied_table, clauses, f"k, {KEY}"), copies),
    }
    for number, clause in enumerate(clauses):
        expected = compute_expected_rows(clause, rows)
        for size, result in results.items():
            counts = Counter(tuple(row.texts) for row in result if row.clause == number)
            difference = f"missing {expected - counts}\nextra {counts - expected}"
            assert counts == expected, f"{size}: {clause.text('k')}\n{difference}"
