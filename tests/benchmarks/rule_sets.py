"""What 1, 10 and 50 rules cost in one `match_rules`: `python -m tests.benchmarks.rule_sets`.

    python -m tests.benchmarks.rule_sets [--scale S] [--rounds N] [--rules 1,10,50] [--one-by-one]

At scale 1 the ticks have 2,000,000 rows. The rules are six kinds of alerts with other thresholds:
three clauses, two Patterns, a SASE+ text. Seconds are medians, of the clock and of processors over
Spark and its Python workers; ratios are those to one rule in the same round. With `--one-by-one`
the same rules also run as queries of their own, one after the other.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.benchmarks.compare import written_table
from tests.benchmarks.markdown import table
from tests.benchmarks.measure import Taken, Times, run, session

Rule = str | matchrec.Pattern
STREAMS = {"order_by": "ts", "partition_by": "symbol"}
HEAD = ["rules", "matches", "clock, s", "ratio", "processor, s", "ratio"]


def rules(count: int) -> dict[str, Rule]:
    """So many of them, by name."""
    return {f"{number}": rule(*divmod(number, 6)) for number in range(count)}


def rule(step: int, kind: int) -> Rule:
    """A rule of one of six kinds; the larger the step, the rarer its matches."""
    high, low, small = 195 + 0.3 * step, 105 - 0.3 * step, 60 - 4 * step
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


def together(ticks: DataFrame, count: int) -> DataFrame:
    """The matches of so many rules."""
    return matchrec.match_rules(ticks, rules(count), **STREAMS).matches


def alone(ticks: DataFrame, one: Rule) -> DataFrame:
    """The matches of one rule as a query of its own."""
    if isinstance(one, matchrec.Pattern):
        return matchrec.match_pattern(ticks, one, **STREAMS)
    if "SEQ" in one:
        return matchrec.match_sase(ticks, one, **STREAMS)
    return matchrec.match_recognize(ticks, f"PARTITION BY symbol ORDER BY ts {one}")


def one_by_one(ticks: DataFrame, count: int) -> Taken:
    """All rules as queries of their own."""
    taken = [run(lambda one=one: alone(ticks, one)) for one in rules(count).values()]
    return Taken(sum(one.clock for one in taken), sum(one.processor for one in taken))


def lines(ticks: DataFrame, counts: list[int], rounds: int, *, separate: bool) -> Iterator[str]:
    """The table; the first round is not counted."""
    runs: dict[str, list[Taken]] = {}
    for _ in range(rounds + 1):
        for count in counts:
            runs.setdefault(f"{count}", []).append(run(lambda n=count: together(ticks, n)))
            if separate:
                runs.setdefault(f"{count} one by one", []).append(one_by_one(ticks, count))
    times = {name: Times(tuple(taken[1:])) for name, taken in runs.items()}
    base = times[f"{counts[0]}"]
    found = {f"{count}": together(ticks, count).count() for count in counts}
    yield from table(HEAD, [cells(name, one, base, found) for name, one in times.items()])


def cells(name: str, own: Times, base: Times, found: dict[str, int]) -> list[str]:
    """A line of the table."""
    pairs = zip(own.runs, base.runs, strict=True)
    processor = statistics.median(one.processor / other.processor for one, other in pairs)
    clock = [f"{own.median:.2f}", f"{own.ratio(base):.2f}"]
    matches = f"{found[name.split(maxsplit=1)[0]]:,}"
    return [name, matches, *clock, f"{own.processor:.2f}", f"{processor:.2f}"]


def ticks_in(spark: SparkSession, scale: float, folder: Path) -> DataFrame:
    """The rows."""
    written_table(spark, "ticks", scale, folder)
    return spark.table("ticks")


def main() -> None:
    """Parses the arguments, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rules", default="1,10,50", metavar="N,...")
    parser.add_argument("--one-by-one", action="store_true")
    asked = parser.parse_args()
    counts = [int(one) for one in asked.rules.split(",")]
    with session() as spark, tempfile.TemporaryDirectory() as folder:
        ticks = ticks_in(spark, asked.scale, Path(folder))
        for line in lines(ticks, counts, asked.rounds, separate=asked.one_by_one):
            print(line)


if __name__ == "__main__":
    main()
