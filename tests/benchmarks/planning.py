"""Measure how the time to plan grows: every family of `planning_texts` at sizes n, 2 n and 4 n.

    python -m tests.benchmarks.planning [--size N] [--only WORD] [--spark]

It prints CPU seconds as Markdown, because a busy machine hardly changes them. If a query is over a
limit, the cell shows the limit. With `--spark`, only SQL is measured: the elapsed seconds of
`matchrec.sql`, and how many of them it waits for Spark.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql import SparkSession

import matchrec
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.types import BIGINT, BOOLEAN, Family, ValueType
from matchrec.errors import MatchRecognizeError
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import open_session
from tests.benchmarks.planning_texts import (
    CALLS,
    COLUMNS,
    LANGUAGES,
    SASE,
    TABLE,
    define_b,
    lower_clauses,
    plan_pattern,
    plan_sase,
)
from tests.benchmarks.waiting import record_waits
from tests.tasks.linking import link, split_plan

STRING = ValueType(Family.STRING, "string")
INPUT = InputColumns(tuple(part.split()[0] for part in COLUMNS.split(", ")), "r")
TRUTH = re.compile(r"[<>=]|\bTRUE\b|\bexists\(")


@dataclass(frozen=True)
class QueryFamily:
    """Queries that grow in one respect."""

    name: str
    plans: Callable[[int], Iterable[MatchPlan]]  # returns the plans of the query of a size
    text: Callable[[int], str] | None = None  # returns the query of a size, if it is SQL


def list_families() -> Iterator[QueryFamily]:
    """Yield all families that are measured."""
    for language, texts in LANGUAGES.items():
        for name, text in texts.items():
            yield QueryFamily(f"{language}: {name}", make_planner(text), text)
    for name, text in SASE.items():
        yield QueryFamily(f"SASE+: {name}", lambda n, text=text: [plan_sase(text(n))])
    for name, pattern in CALLS.items():
        yield QueryFamily(f"patterns: {name}", lambda n, made=pattern: [plan_pattern(made(n))])


def make_planner(text: Callable[[int], str]) -> Callable[[int], Iterable[MatchPlan]]:
    """Return a function from a size to the plans of the query of that size."""
    return lambda n: lower_clauses(text(n))


def link_plan(plan: MatchPlan) -> CompiledQuery:
    """Compile a plan as in a session, with guessed types instead of the session's answers."""
    split = split_plan(plan, INPUT, str)
    types = {column: guess_type(column) for column in split.columns}
    return link(split, types, "auto", ansi=True)


def guess_type(column: RowColumn) -> ValueType:
    """Return the type that a column of this benchmark has, guessed from its text."""
    text = "".join(piece if isinstance(piece, str) else piece.argument for piece in column.pieces)
    if TRUTH.search(text):
        return BOOLEAN
    return STRING if text in ("`k`", "`event_type`") else BIGINT


def plan_family(family: QueryFamily, size: int) -> None:
    """Plan the query of a size without Spark.

    Raises:
        MatchRecognizeError: the query is over a limit.
    """
    for plan in family.plans(size):
        link_plan(plan)


def measure_planning(family: QueryFamily, size: int) -> str:
    """Return the CPU seconds of planning as text, or the limit that the query is over."""
    start = time.process_time()
    try:
        plan_family(family, size)
    except MatchRecognizeError as error:
        return describe_limit(error)
    return f"{time.process_time() - start:.2f}"


def describe_limit(error: MatchRecognizeError) -> str:
    """Return in few words the limit that an error names."""
    limit = re.search(r"(over|than) ([\d,]+ \w+)|too deeply nested", error.message)
    assert limit is not None, error
    return "too deeply nested" if limit[2] is None else f"over {limit[2]}"


def report_planning(sizes: list[int], word: str) -> Iterator[str]:
    """Yield the table of planning without Spark."""
    chosen = [family for family in list_families() if word in family.name]
    rows = [[family.name, *(measure_planning(family, size) for size in sizes)] for family in chosen]
    yield from format_table(["CPU seconds", *(f"n = {size:,}" for size in sizes)], rows)


def report_planning_on_spark(sizes: list[int], word: str) -> Iterator[str]:
    """Yield the table of `matchrec.sql` in a session of Spark."""
    with open_session() as spark:
        spark.sparkContext.setLogLevel("OFF")
        spark.sql(TABLE).createOrReplaceTempView("r")
        matchrec.sql(spark, define_b("x > 1"))
        sql_families = [family for family in list_families() if family.text is not None]
        chosen = [family for family in sql_families if word in family.name]
        rows = [
            [family.name, *(measure_on_spark(spark, family, size) for size in sizes)]
            for family in chosen
        ]
    yield from format_table(
        ["seconds, of these in Spark", *(f"n = {size:,}" for size in sizes)], rows
    )


def measure_on_spark(spark: SparkSession, family: QueryFamily, size: int) -> str:
    """Return the seconds of `matchrec.sql` and those that it waits for Spark, or the error."""
    assert family.text is not None
    text = family.text(size)
    with record_waits(spark) as waits:
        start = time.perf_counter()
        try:
            matchrec.sql(spark, text)
        except MatchRecognizeError as error:
            return "Spark refuses" if "Spark" in error.message else describe_limit(error)
    return f"{time.perf_counter() - start:.1f}, {sum(waits):.1f}"


def main() -> None:
    """Measure what the command line names and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=1000, metavar="N")
    parser.add_argument("--only", default="", metavar="WORD", help="families with this word")
    parser.add_argument("--spark", action="store_true", help="in a session")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # they warn about clauses without DEFINE
    measure = report_planning_on_spark if arguments.spark else report_planning
    for line in measure([arguments.size * times for times in (1, 2, 4)], arguments.only):
        print(line)


if __name__ == "__main__":
    main()
