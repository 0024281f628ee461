"""Run a first query although Spark would start its workers with another interpreter.

    python first_contact.py [connect | TRANSPORT ...]

Prints the rows, and the interpreter with which a function of the user would run.
"""

from __future__ import annotations

import sys
import warnings

from pyspark.sql import SparkSession

import matchrec

warnings.simplefilter("ignore")


def main() -> None:
    """Run one query of each kind that needs Python functions."""
    builder = SparkSession.builder.config("spark.ui.enabled", "false")
    connect = sys.argv[1:] == ["connect"]
    spark = (builder.remote("local[1]") if connect else builder.master("local[1]")).getOrCreate()
    rows = spark.createDataFrame([(1, 5), (2, 6)], "t int, v int")
    clause = "ORDER BY t MEASURES FIRST(t) AS a PATTERN (S U+) DEFINE U AS v > PREV(v)"
    try:
        for transport in ["arrow"] if connect else sys.argv[1:]:
            print(
                matchrec.match_recognize(
                    rows, clause, options=matchrec.Options(transport=transport)
                ).collect()
            )
        graph = matchrec.match_sase(rows, "PATTERN SEQ(ANY a)", order_by="t", output="graph")
        print(matchrec.explode_graph(graph).count())
    except matchrec.MatchRecognizeError as error:
        print(str(error).split("\n")[0])
    if not connect:
        print(spark.sparkContext.pythonExec)
    spark.stop()


if __name__ == "__main__":
    main()
