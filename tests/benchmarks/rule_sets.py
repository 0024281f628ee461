"""Measure what 1, 10 and 50 rules cost in one `match_rules`.

    python -m tests.benchmarks.rule_sets [--scale S] [--rounds N] [--rules 1,10,50] [--one-by-one]

At scale 1 the ticks have 2,000,000 rows. The rules are six kinds of alerts with different
thresholds: three clauses, two Patterns, and a SASE+ text. Seconds are medians of the elapsed time
and of the CPU time of Spark and its Python workers. Ratios are relative to the first number of
rules in the same round. With `--one-by-one`, the same rules also run one after the other, each as a
query of its own.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.benchmarks.compare import create_table_view
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import RunTime, Times, open_session, run_query

Rule = str | matchrec.Pattern
STREAMS = {"order_by": "ts", "partition_by": "symbol"}
HEAD = ["rules", "matches", "elapsed s", "times one rule", "CPU s", "times one rule"]


def make_rules(count: int) -> dict[str, Rule]:
    """Return that many rules by name."""
    return {f"{number}": make_rule(*divmod(number, 6)) for number in range(count)}


def make_rule(step: int, kind: int) -> Rule:
    """Return a rule of one of six kinds; the larger the step, the rarer are its matches."""
    high = 195 + 0.3 * step
    low = 105 - 0.3 * step
    small = 60 - 4 * step
    match kind:
        case 0:
            return f"""MEASURES LAST(DOWN.price) AS bottom, count(*) AS n
                PATTERN (STRT DOWN{{3,}} UP{{2,}}) DEFINE STRT AS price > {high},
                DOWN AS price < PREV(price), UP AS price > PREV(price)"""
        case 1:
            return f"""MEASURES A.ts AS ts, C.volume AS v PATTERN (A B C)
                DEFINE A AS price > {high}, B AS volume < {small}, C AS price < PREV(price)"""
        case 2:
            return f"""MEASURES FIRST(A.price) AS p, max(B.price) AS q PATTERN (A B+ C)
                DEFINE A AS price < {low}, B AS price > 1.02 * A.price, C AS volume < {small}"""
        case 3:
            first = matchrec.Pattern.begin("first").where(f"price > {high}")
            return first.next("second").where(f"volume < {small}")
        case 4:
            first = matchrec.Pattern.begin("low").where(f"price < {low} AND volume < {small}")
            return first.followed_by("high").where(f"price > {high}").within("INTERVAL 50 SECONDS")
        case _:
            return f"""PATTERN SEQ(ANY a, ANY b) WHERE skip_till_next_match {{
                a.price > {high} AND a.volume < {small} AND b.price < a.price - 5 }}
                WITHIN 20 EVENTS RETURN a.ts AS t, b.price AS p"""


def match_together(ticks: DataFrame, count: int) -> DataFrame:
    """Return the matches of that many rules in one `match_rules`."""
    return matchrec.match_rules(ticks, make_rules(count), **STREAMS).matches


def match_alone(ticks: DataFrame, rule: Rule) -> DataFrame:
    """Return the matches of one rule in a query of its own."""
    if isinstance(rule, matchrec.Pattern):
        return matchrec.match_pattern(ticks, rule, **STREAMS)
    if "SEQ" in rule:
        return matchrec.match_sase(ticks, rule, **STREAMS)
    return matchrec.match_recognize(ticks, f"PARTITION BY symbol ORDER BY ts {rule}")


def run_one_by_one(ticks: DataFrame, count: int) -> RunTime:
    """Run that many rules one after the other and return the sum of their times."""
    runs = [
        run_query(lambda rule=rule: match_alone(ticks, rule)) for rule in make_rules(count).values()
    ]
    return RunTime(sum(run.clock for run in runs), sum(run.cpu for run in runs))


def report(ticks: DataFrame, counts: list[int], rounds: int, *, separate: bool) -> Iterator[str]:
    """Measure each number of rules and yield the table; the first round is not counted."""
    runs: dict[str, list[RunTime]] = {}
    for _ in range(rounds + 1):
        for count in counts:
            runs.setdefault(f"{count}", []).append(
                run_query(lambda n=count: match_together(ticks, n))
            )
            if separate:
                runs.setdefault(f"{count} one by one", []).append(run_one_by_one(ticks, count))
    times_by_name = {name: Times(tuple(all_runs[1:])) for name, all_runs in runs.items()}
    base = times_by_name[f"{counts[0]}"]
    matches = {f"{count}": match_together(ticks, count).count() for count in counts}
    rows = [format_cells(name, times, base, matches) for name, times in times_by_name.items()]
    yield from format_table(HEAD, rows)


def format_cells(name: str, times: Times, base: Times, matches: dict[str, int]) -> list[str]:
    """Return the cells of a row: see HEAD.

    Args:
        name: the number of rules, and how they run if not together.
        base: the times that the ratios are relative to.
        matches: how many matches each number of rules has.
    """
    pairs = zip(times.runs, base.runs, strict=True)
    cpu_ratio = statistics.median(run.cpu / base_run.cpu for run, base_run in pairs)
    match_count = matches[name.split(maxsplit=1)[0]]
    elapsed = [f"{times.median:.2f}", f"{times.ratio(base):.2f}"]
    return [name, f"{match_count:,}", *elapsed, f"{times.median_cpu:.2f}", f"{cpu_ratio:.2f}"]


def open_ticks(spark: SparkSession, scale: float, folder: Path) -> DataFrame:
    """Return the ticks, written to Parquet files first."""
    create_table_view(spark, "ticks", scale, folder)
    return spark.table("ticks")


def main() -> None:
    """Measure what the command line names and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rules", default="1,10,50", metavar="N,...")
    parser.add_argument("--one-by-one", action="store_true")
    arguments = parser.parse_args()
    counts = [int(number) for number in arguments.rules.split(",")]
    with open_session() as spark, tempfile.TemporaryDirectory() as folder:
        ticks = open_ticks(spark, arguments.scale, Path(folder))
        for line in report(ticks, counts, arguments.rounds, separate=arguments.one_by_one):
            print(line)


if __name__ == "__main__":
    main()
