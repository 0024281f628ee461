"""How the time to plan grows with a query: every family of `planning_texts` at n, 2 n and 4 n.

    python -m tests.benchmarks.planning [--size N] [--only WORD] [--spark]

Prints Markdown: processor seconds, which a busy machine changes least; a limit that was met stands
in place of a figure. With `--spark`, of SQL only: seconds of `matchrec.sql` on the clock, and how
many of them Spark had the word.
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
from matchrec.compile.executable import Executable
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
    defined,
    plan_of_pattern,
    plan_of_sase,
    plans_of_query,
)
from tests.benchmarks.waiting import waiting_for
from tests.tasks.linking import draft_query, link

STRING = ValueType(Family.STRING, "string")
INPUT = InputColumns(tuple(part.split()[0] for part in COLUMNS.split(", ")), "r")
TRUTH = re.compile(r"[<>=]|\bTRUE\b|\bexists\(")


@dataclass(frozen=True)
class Queries:
    """Queries of one kind. plans: of the query of a size."""

    name: str
    plans: Callable[[int], Iterable[MatchPlan]]
    text: Callable[[int], str] | None = None


def families() -> Iterator[Queries]:
    """All that is measured."""
    for language, texts in LANGUAGES.items():
        for name, text in texts.items():
            yield Queries(f"{language}: {name}", of_text(text), text)
    for name, text in SASE.items():
        yield Queries(f"SASE+: {name}", lambda n, text=text: [plan_of_sase(text(n))])
    for name, pattern in CALLS.items():
        yield Queries(f"patterns: {name}", lambda n, made=pattern: [plan_of_pattern(made(n))])


def of_text(text: Callable[[int], str]) -> Callable[[int], Iterable[MatchPlan]]:
    """The plans of a query of a size."""
    return lambda n: plans_of_query(text(n))


def linked(plan: MatchPlan) -> Executable:
    """A plan planned to its end as in a session, whose answers about types are guessed."""
    drafted = draft_query(plan, INPUT, str)
    types = {column: type_of(column) for column in drafted.columns()}
    return link(drafted, types, "auto", ansi=True)


def type_of(column: RowColumn) -> ValueType:
    """What the texts of this benchmark compute."""
    text = "".join(piece if isinstance(piece, str) else piece.argument for piece in column.pieces)
    if TRUTH.search(text):
        return BOOLEAN
    return STRING if text in ("`k`", "`event_type`") else BIGINT


def planned(family: Queries, size: int) -> None:
    """Plans the query of a size without Spark. Raises MatchRecognizeError at a limit."""
    for plan in family.plans(size):
        linked(plan)


def in_seconds(family: Queries, size: int) -> str:
    """Processor seconds of planning, or the limit that was met."""
    began = time.process_time()
    try:
        planned(family, size)
    except MatchRecognizeError as error:
        return limit_in(error)
    return f"{time.process_time() - began:.2f}"


def limit_in(error: MatchRecognizeError) -> str:
    """The limit that an error states, in few words."""
    found = re.search(r"(over|than) ([\d,]+ \w+)|too deeply nested", error.message)
    assert found is not None, error
    return "too deeply nested" if found[2] is None else f"over {found[2]}"


def without_spark(sizes: list[int], word: str) -> Iterator[str]:
    """The table of planning alone."""
    chosen = [family for family in families() if word in family.name]
    rows = [[one.name, *(in_seconds(one, size) for size in sizes)] for one in chosen]
    yield from format_table(["processor seconds", *(f"n = {size:,}" for size in sizes)], rows)


def with_spark(sizes: list[int], word: str) -> Iterator[str]:
    """The table of `matchrec.sql`."""
    with open_session() as spark:
        spark.sparkContext.setLogLevel("OFF")
        spark.sql(TABLE).createOrReplaceTempView("r")
        matchrec.sql(spark, defined("x > 1"))
        chosen = [one for one in families() if one.text is not None and word in one.name]
        rows = [[one.name, *(asked(spark, one, size) for size in sizes)] for one in chosen]
    yield from format_table(["seconds, Spark's", *(f"n = {size:,}" for size in sizes)], rows)


def asked(spark: SparkSession, family: Queries, size: int) -> str:
    """Seconds of `matchrec.sql`, and how many of them went to Spark, or the error."""
    assert family.text is not None
    text = family.text(size)
    with waiting_for(spark) as waited:
        began = time.perf_counter()
        try:
            matchrec.sql(spark, text)
        except MatchRecognizeError as error:
            return "Spark refuses" if "Spark" in error.message else limit_in(error)
    return f"{time.perf_counter() - began:.1f}, {sum(waited):.1f}"


def main() -> None:
    """Parses the arguments, measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=1000, metavar="N")
    parser.add_argument("--only", default="", metavar="WORD", help="families with this word")
    parser.add_argument("--spark", action="store_true", help="in a session")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of clauses without DEFINE
    measure = with_spark if arguments.spark else without_spark
    for line in measure([arguments.size * times for times in (1, 2, 4)], arguments.only):
        print(line)


if __name__ == "__main__":
    main()
