"""Every workload on Spark, beside an identity over the same shuffle and sort.

    python -m tests.benchmarks.spark [--scale S] [--rounds N] [--only WORD]

Every round runs every contender of a workload once, so that a change of the machine's speed meets
all of them; the table shows medians, and the median of the ratios to the identity in the same
rounds. The sink is `noop`. `--scale 0.01 --rounds 1` checks that it runs.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.benchmarks.vshape import Contender, measured, session
from tests.benchmarks.workloads import TABLES, Workload, workloads


def identity(table: DataFrame, workload: Workload) -> DataFrame:
    """mapInPandas that gives back what it gets, over the shuffle and sort that the query needs."""

    def same(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from frames

    ordered = table.repartition(workload.keys)
    ordered = ordered.sortWithinPartitions(workload.keys, workload.order)
    return ordered.mapInPandas(same, ordered.schema)


def contenders(spark: SparkSession, workload: Workload) -> dict[str, Contender]:
    """What is measured, by name; the identity first."""
    table = spark.table(workload.table)
    named: dict[str, Contender] = {
        "identity": lambda: identity(table, workload),
        "matchrec": lambda: matchrec.sql(spark, workload.query),
    }
    by_window, by_pandas = workload.by_window, workload.by_pandas
    if by_window is not None:
        named["window SQL"] = lambda: spark.sql(by_window)
    if by_pandas is not None:
        named["applyInPandas"] = lambda: by_pandas(table)
    return named


def line(workload: Workload, times: dict[str, list[float]]) -> str:
    """The figures of a workload."""
    floor = times["identity"]
    parts = [f"{workload.name:34}{statistics.median(floor):7.2f} s"]
    for name, runs in times.items():
        if name == "identity":
            continue
        ratio = statistics.median(run / base for run, base in zip(runs, floor, strict=True))
        aim = f" (aim {workload.limit:.2f})" if name == "matchrec" else ""
        parts.append(f"{name} {statistics.median(runs):.2f} s = {ratio:.2f}{aim}")
    return "   ".join(parts)


def main() -> None:
    """Parses the arguments, writes the data, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    spark = session()
    chosen = [one for one in workloads() if arguments.only in one.name]
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted({workload.table for workload in chosen}):
            path = str(Path(folder) / name)
            frame = TABLES[name](spark, arguments.scale)
            frame.repartition(4).write.parquet(path)
            spark.read.parquet(path).createOrReplaceTempView(name)
        for workload in chosen:
            named = contenders(spark, workload)
            print(line(workload, measured(named, arguments.rounds)), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
