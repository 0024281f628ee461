"""An explanation describes event selection in the words of the paper, and windows."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec

# Query 3 of the paper, over plain numbers.
RISING = """PATTERN SEQ(Stock+ a[], Stock b)
WHERE skip_till_next_match(a[], b) { [symbol] AND a[1].volume > 1000
      AND a[i].price > avg(a[..i-1].price) AND b.volume < 80%*a[a.LEN].volume }
WITHIN 3600"""


@pytest.fixture(scope="module")
def stock(spark: SparkSession) -> DataFrame:
    """Return an empty table of prices."""
    return spark.createDataFrame(
        [], "symbol string, ts int, event_type string, price double, volume int"
    )


def read_sections(explanation: matchrec.Explanation) -> dict[str, list[str]]:
    """Return the lines of each section."""
    sections: dict[str, list[str]] = {}
    title = ""
    for line in str(explanation).splitlines():
        if line.startswith("  "):
            sections[title].append(line[2:])
        else:
            title = line.partition(" (")[0].partition(",")[0]
            sections[title] = []
    return sections


def explain_query(
    stock: DataFrame, text: str = RISING, **options: Any
) -> tuple[dict[str, list[str]], matchrec.Explanation]:
    """Return the lines of each section, and the explanation."""
    options_of_query = matchrec.Options(**options)
    explanation = matchrec.query(stock, text, order_by="ts", options=options_of_query).explain()
    return read_sections(explanation), explanation


def read_edges(sections: dict[str, list[str]]) -> dict[str, str]:
    """Return the formula of each edge, such as "1 proceed -> 2": its last conjunct."""
    formulas = {}
    state = ""
    for line in sections["states of the search"]:
        if line.startswith("    "):
            edge, _, formula = line.strip().partition(" if ")
            formulas[f"{state} {edge}"] = formula.split(" AND ")[-1]
        else:
            state = line.split()[0]
    return formulas


def test_query_3_has_the_edges_of_the_paper(stock: DataFrame) -> None:
    sections, explanation = explain_query(stock)
    assert read_edges(sections) == {
        "0 begin a[1] -> 1": "(`a[1]`.`volume` > 1000)",
        "1 take a[i] -> 1": "(`a[i]`.`price` > avg(`a`.`price` so far)) and in the window",
        "1 proceed -> 2": "begin b",
        "1 ignore -> 1": "not (take a[i]) and in the window",
        "2 begin b -> 3": "(`b`.`volume` < 0.8*`a`.`volume`) and in the window",
    }
    assert '1 -> 1 [label="3: ignore\\nnot (take a[i]) and in the window", style=dashed]' in (
        explanation.dot()
    )


def test_query_3_has_the_value_vector_of_the_paper(stock: DataFrame) -> None:
    """Only `symbol` is missing, because it is a key of the partitions."""
    sections, _ = explain_query(stock)
    assert sections["values that a run keeps"] == [
        "V1 = 0.8*`volume` on the last row of a; read by b",
        "V2 = sum of `price` over the rows of a so far; read by a[i]",
        "V3 = count of `price` over the rows of a so far; read by a[i]",
        "state 1 needs: V1 V2 V3",
    ]


def test_later_states_need_less(stock: DataFrame) -> None:
    text = RISING.replace("Stock b)", "Stock b, Stock c)").replace("(a[], b)", "(a[], b, c)")
    vector = explain_query(stock, text)[0]["values that a run keeps"]
    assert vector[-2:] == ["state 1 needs: V1 V2 V3", "state 3 needs: nothing"]


@pytest.mark.parametrize(
    ("strategy", "sources", "cost"),
    [
        ("strict_contiguity", ["Take-Proceed"], "at most W^"),
        ("partition_contiguity", ["Take-Proceed"], "at most W^"),
        ("skip_till_next_match", ["Take-Proceed", "Ignore-Proceed"], "at most W^"),
        (
            "skip_till_any_match",
            ["Take-Proceed", "Ignore-Proceed", "Take-Ignore"],
            "exponential in W, the number of rows in a window, unless runs merge",
        ),
    ],
)
def test_explain_lists_states_with_several_ways_to_go_on(
    stock: DataFrame, strategy: str, sources: list[str], cost: str
) -> None:
    lines = explain_query(stock, RISING.replace("skip_till_next_match", strategy))[0][
        "states with several ways to go on"
    ]
    assert [line.split(" ")[0] for line in lines[:-1]] == sources
    assert cost in lines[-1]


def test_begin_ignore_and_none(stock: DataFrame) -> None:
    shelf = "PATTERN SEQ(Shelf a, ~(Register b), Exit c) WHERE skip_till_any_match WITHIN 9 EVENTS"
    sections, _ = explain_query(stock, shelf)
    assert sections["states with several ways to go on"] == [
        "Begin-Ignore in state 1: the number of runs can grow linearly with W",
        "number of runs: at most W^2; W is the number of rows in a window",
    ]
    (absent,) = sections["negation and conditions on the whole match"]
    assert absent.startswith("no row for b between the last row of a and the first row of c: `b`.")
    assert read_edges(sections)["1 ignore -> 1"] == "in the window"
    sections, _ = explain_query(stock, shelf.replace("any", "next"))
    assert sections["states with several ways to go on"][0].startswith("none")
    assert read_edges(sections)["1 ignore -> 1"] == "not (begin c) and in the window"


def test_one_run_at_a_time_merges_none(stock: DataFrame) -> None:
    text = RISING.replace("next", "any")
    at_once, _ = explain_query(stock, text)
    assert at_once["states with several ways to go on"][-1].endswith("unless runs merge")
    depth_first, _ = explain_query(stock, text, algorithm="backtracking")
    assert depth_first["states with several ways to go on"][-1].endswith(
        "and runs of this query do not merge"
    )


def test_the_closing_condition_is_on_the_last_edge(stock: DataFrame) -> None:
    text = "PATTERN SEQ(Stock+ a[]) WHERE skip_till_any_match { a[a.LEN].volume > 3 }"
    sections, _ = explain_query(stock, text)
    assert read_edges(sections)["1 proceed -> 2"] == "`a`.`volume` > 3"
    assert "the whole match" in sections["negation and conditions on the whole match"][0]


def test_counters_of_a_run(stock: DataFrame) -> None:
    text = matchrec.query(stock, RISING, order_by="ts").explain(analyze=True).text
    assert "\ncounters of the last execution\n  rows" in text


def test_a_window_of_plain_sql_is_no_condition(spark: SparkSession, stock: DataFrame) -> None:
    stock.createOrReplaceTempView("stock")
    query = """SELECT * FROM stock MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts
        MEASURES count(*) AS n PATTERN (A B+) WITHIN 60 DEFINE B AS price > PREV(price))"""
    sections = read_sections(matchrec.query(spark, query).explain())
    assert sections["window"][0] == ("the last row is less than 60 after the first row, by `ts`")
    assert sections["conditions"][-1] == "the conditions depend on the data only"
    assert read_edges(sections)["1 begin B -> 2"] == "`price` > PREV(`price`) and in the window"
    assert "time: linear in the number of rows" in sections["algorithm"]


LONGEST = """SELECT * FROM {stock} MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n
  PATTERN (A | A+ B) LONGEST MATCH DEFINE A AS volume > 1, B AS volume > 2)"""


def test_the_longest_match_is_named(spark: SparkSession, stock: DataFrame) -> None:
    on_data = read_sections(matchrec.query(spark, LONGEST, stock=stock).explain())
    assert on_data["event selection"] == [
        "LONGEST MATCH: for each starting row, the match with the most rows"
    ]
    first, time, *_ = on_data["algorithm"]
    assert first.startswith("backtracking, longest: for LONGEST MATCH")
    assert time == "time: linear in the number of rows"
    on_run = LONGEST.replace("volume > 2", "volume > FIRST(volume)")
    first, *_ = read_sections(matchrec.query(spark, on_run, stock=stock).explain())["algorithm"]
    assert first.startswith("breadth_first, longest: for LONGEST MATCH")
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="needs all runs at once"):
        matchrec.query(
            spark, on_run, stock=stock, options=matchrec.Options(algorithm="backtracking")
        ).explain()


def test_conditions_on_the_match_number(spark: SparkSession, stock: DataFrame) -> None:
    query = """SELECT * FROM {stock} MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n
      PATTERN (A+ B) DEFINE B AS MATCH_NUMBER() > 1) WHERE n > 1"""
    sections = read_sections(matchrec.query(spark, query, stock=stock).explain())
    first, time, *_ = sections["algorithm"]
    assert first.startswith("backtracking, memoised: ")
    assert first.endswith("failures are remembered until the next match")
    assert time.startswith("time: linear in the number of rows for each match, because")


def test_conditions_that_are_a_window(spark: SparkSession) -> None:
    explanation = matchrec.query(
        spark,
        """SELECT * FROM VALUES (1L, 'v') AS visits(ts, kind) MATCH_RECOGNIZE (ORDER BY ts
          MEASURES C.ts AS cart PATTERN (V X*? C)
          DEFINE V AS kind = 'v', C AS kind = 'c' AND C.ts - V.ts <= 1800,
            X AS X.ts - V.ts <= 1800 AND X.kind <> 'c')""",
    ).explain()
    sections = read_sections(explanation)
    window, tested = sections["window"]
    assert window.endswith(
        "at most 1800 after the first row, by `ts` (from the conditions of C, X)"
    )
    assert tested == "the search tests this at every row, as `in the window`"
    assert sections["conditions"] == [
        "V: condition 0",
        "X: condition 2",
        "C: condition 1",
        "the conditions depend on the data only",
    ]
    assert "only rows with condition 0 or not condition 2 or condition 1" in str(explanation)


def test_a_line_after_a_blank_line_stays_in_its_section(spark: SparkSession) -> None:
    text = "PARTITION BY id +\n\n  1 AS next_id ORDER BY id PATTERN (A)"
    rows = matchrec.query(spark.range(3), text).explain().toPandas()
    partitions = rows[rows["part"] == "partitions and order"]
    assert partitions["line"].tolist() == [
        "partition by id +",
        "",
        "  1 AS `next_id`",
        "order by `id`",
        "sorted by the workers; the engine only groups the rows by partition",
    ]
