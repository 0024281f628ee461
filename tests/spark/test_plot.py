"""`plot` finds the ends of matches, draws a part of long series, and makes pages."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.explain.charts.plot import plot as draw
from matchrec.explain.charts.series import ChartSource, MatchSpan, Page

pytestmark = pytest.mark.one_of(2)

FIRST = date(2024, 1, 1)
PRICES = {"X": [5, 6, 7, 3, 4, 9], "Y": [9, 8, 7, 6, 7, 5]}
RISES = """PARTITION BY sym ORDER BY day {measures} {rows}
    PATTERN (LOW UP+) DEFINE UP AS price > PREV(price)"""


def add_days(number: int) -> date:
    """Return the day `number` days after the first one."""
    return FIRST + timedelta(days=number)


@pytest.fixture(scope="module")
def prices(spark: SparkSession) -> DataFrame:
    """Return the prices of X and Y on six days."""
    rows = [
        (sym, add_days(number), float(price))
        for sym, prices_of_sym in PRICES.items()
        for number, price in enumerate(prices_of_sym)
    ]
    return spark.createDataFrame(rows, "sym string, day date, price double")


EXPECTED = {
    ("X", add_days(0), add_days(2)),
    ("X", add_days(3), add_days(5)),
    ("Y", add_days(3), add_days(4)),
}


def make_source(matches: DataFrame, rows: DataFrame, **arguments: Any) -> ChartSource:
    """Return the source of a chart of prices."""
    return ChartSource(matches, rows, x="day", y="price", by="sym", **arguments)


@pytest.mark.parametrize(
    ("measures", "rows", "arguments"),
    [
        ("FIRST(day) AS first_day, LAST(day) AS last_day", "ONE ROW PER MATCH", {}),
        ("FIRST(day) AS low, LAST(day) AS high", "", {"between": ("low", "HIGH")}),
        ("FIRST(day) AS first_day, LAST(day) AS last_day", "ALL ROWS PER MATCH", {}),
        ("MATCH_NUMBER() AS match_number", "ALL ROWS PER MATCH", {}),
        ("MATCH_NUMBER() AS n", "ALL ROWS PER MATCH", {"match": "n"}),
    ],
)
def test_matches_of_sql(
    prices: DataFrame, measures: str, rows: str, arguments: dict[str, str]
) -> None:
    clause = RISES.format(measures=f"MEASURES {measures}", rows=rows)
    source = make_source(matchrec.match_recognize(prices, clause), prices, **arguments)
    spans = source.run_sql(source.spans_sql).collect()
    assert {(span.series, span.first, span.last) for span in spans} == EXPECTED


def test_a_page_has_the_rows_of_its_series(prices: DataFrame) -> None:
    matches = prices.selectExpr("sym", "day AS start_day", "day AS end_day").where("price > 8.5")
    page = make_source(matches, prices).read_page(1, 6)
    assert page.spans == (
        MatchSpan("Y", add_days(0), add_days(0)),
        MatchSpan("X", add_days(5), add_days(5)),
    )
    assert list(page.series) == ["X", "Y"]
    assert page.series["X"].times == [add_days(number) for number in range(6)]
    assert page.series["X"].values == PRICES["X"]


def test_matches_that_are_arrays_of_events(prices: DataFrame) -> None:
    pattern = (
        matchrec.Pattern.begin("low").where("price < 4").followed_by("high").where("price > 8")
    )
    matches = matchrec.match_pattern(prices, pattern, order_by="day", partition_by="sym")
    page = make_source(matches, prices).read_page(1, 6)
    assert page.spans == (MatchSpan("X", add_days(3), add_days(5), (add_days(3), add_days(5))),)
    text = """PATTERN SEQ(ANY a, ANY b)
        WHERE skip_till_next_match(a, b) { [sym] AND a.price < 4 AND b.price > 8 }"""
    events = prices.selectExpr("*", "'ANY' AS event_type")
    assert (
        make_source(matchrec.match_sase(events, text, order_by="day"), prices).read_page(1, 6).spans
        == page.spans
    )


def test_a_picture_is_saved_and_shown(prices: DataFrame, tmp_path: Path) -> None:
    clause = RISES.format(
        measures="MEASURES FIRST(day) AS first_day, LAST(day) AS last_day", rows=""
    )
    plot = matchrec.query(prices, clause).plot(x="day", y="price", by="sym")
    assert repr(plot) == "<Plot: 3 matches in 2 series, page 1 of 1>"
    assert 'src="data:image/png;base64,' in plot._repr_html_()
    plot.save(tmp_path / "rises.svg")
    svg = (tmp_path / "rises.svg").read_text()
    assert svg.count('id="match-') == 3
    assert 'id="match-Y-2024-01-04-2024-01-05"' in svg


SKIPPING = """PARTITION BY sym ORDER BY day
    MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
    PATTERN (LOW HIGH+) SKIP TILL NEXT MATCH {output}
    DEFINE LOW AS price < 6, HIGH AS price > 6"""


@pytest.mark.parametrize(
    ("output", "spans"),
    [
        # X is 5, 6, 7, 3, 4, 9: day 0, then 2, then the skipped 3 and 4, then 5. Y has no HIGH
        # after its only LOW, on day 5.
        ("NON-OVERLAPPING MATCHES", {(0, 2): (0, 2), (3, 5): (3, 5)}),
        ("ALL MATCHES", {(0, 2): (0, 2), (0, 5): (0, 2, 5), (3, 5): (3, 5), (4, 5): (4, 5)}),
    ],
)
def test_skipped_rows_are_not_in_the_picture_of_a_match(
    prices: DataFrame, output: str, spans: dict[tuple[int, int], tuple[int, ...]]
) -> None:
    query = matchrec.query(prices, SKIPPING.format(output=output))
    page = query.plot(x="day", y="price", by="sym")._page
    assert {(span.series, span.first, span.last): span.row_times for span in page.spans} == {
        ("X", add_days(first), add_days(last)): tuple(map(add_days, days))
        for (first, last), days in spans.items()
    }


def test_skipped_rows_are_found_if_a_query_is_around_the_clause(spark: SparkSession) -> None:
    query = matchrec.query(
        spark,
        """
        SELECT begins AS first_at, ends AS last_at, ends + INTERVAL '1' HOUR AS later
        FROM (SELECT TIMESTAMP '2024-05-01 10:00:00' + at * INTERVAL '1' MINUTE AS at, kind
            FROM VALUES (0, 'A'), (1, 'x'), (2, 'B'), (3, 'x') AS t(at, kind))
        MATCH_RECOGNIZE (ORDER BY at MEASURES A.at AS begins, B.at AS ends
            PATTERN (A B) SKIP TILL NEXT MATCH DEFINE A AS kind = 'A', B AS kind = 'B')
        """,
    )
    ten = datetime(2024, 5, 1, 10)
    (span,) = query.plot(x="at", y="kind")._page.spans
    assert span.row_times == (ten, ten + timedelta(minutes=2))
    # The result has another end than the match, so all rows between may belong to it.
    (span,) = query.plot(x="at", y="kind", between=("first_at", "later"))._page.spans
    assert span.row_times == ()


def test_dollars_in_names_are_drawn_as_written(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql("SELECT '$x_1$' AS k, id AS t, id AS `$v$` FROM range(3)")
    matches = spark.sql("SELECT '$x_1$' AS k, 1L AS start_t, 2L AS end_t")
    draw(ChartSource(matches, rows, "t", "$v$", "k"), 1, 6).save(tmp_path / "dollars.svg")
    svg = (tmp_path / "dollars.svg").read_text()
    assert ">$x_1$: 1 match</text>" in svg
    assert ">$v$</text>" in svg


def test_texts_are_drawn_on_lanes(spark: SparkSession) -> None:
    visits = spark.sql("SELECT id AS t, concat('{', id, '}') AS page FROM range(4)")
    matches = spark.sql("SELECT 1 AS start_t, 2 AS end_t")
    plot = draw(ChartSource(matches, visits, "t", "page"), 1, 6)
    (panel,) = plot.figure().axes
    assert [text.get_text() for text in panel.texts] == ["{0}", "{1}", "{2}", "{3}"]


def test_bytes_are_shown_in_hexadecimal(spark: SparkSession) -> None:
    values = [
        (bytearray(key), add_days(number), 1.0) for key in (b"\xfe", b"\xff") for number in range(2)
    ]
    rows = spark.createDataFrame(values, "sym binary, day date, price double")
    matches = rows.selectExpr("sym", "day AS start_day", "day AS end_day")
    page = make_source(matches, rows).read_page(1, 6)
    assert set(page.series) == {"X'FE'", "X'FF'"}
    assert {span.series for span in page.spans} == {"X'FE'", "X'FF'"}


def test_series_come_in_pages(spark: SparkSession) -> None:
    rows = spark.sql("SELECT CAST(id % 5 AS STRING) AS k, id AS t, id AS v FROM range(50)")
    matches = spark.sql(
        "SELECT '{1}' AS k, 1L AS start_t, 2L AS end_t FROM range(0) UNION ALL "
        "SELECT CAST(id AS STRING), id, id + 5 FROM range(4)"
    )
    source = ChartSource(matches, rows, "t", "v", "k")
    page = source.read_page(2, 3)
    assert (list(page.series), page.number, page.page_count) == (["3"], 2, 2)
    assert page.spans == (MatchSpan("3", 3, 8),)
    with pytest.raises(
        matchrec.MatchRecognizePlanError, match="unknown page 3 of `plot`: there are 2"
    ):
        source.read_page(3, 3)
    assert len(ChartSource(matches.limit(0), rows, "t", "v", "k").read_page(1, 9).series) == 5


def test_a_long_series_is_thinned_and_keeps_its_extremes(spark: SparkSession) -> None:
    rows = spark.sql(
        """SELECT TIMESTAMP '2024-01-01' + make_interval(0, 0, 0, 0, 0, 0, id) AS t,
        CASE id WHEN 77777 THEN 1e6 WHEN 88888 THEN -1e6 WHEN 5 THEN double('NaN')
        ELSE id % 10 END AS v FROM range(100000)"""
    )
    matches = spark.sql(
        "SELECT TIMESTAMP '2024-01-01' AS first_t, TIMESTAMP '2024-01-02' AS last_t"
    )
    page = ChartSource(matches, rows, "t", "v").read_page(1, 1)
    line = page.series[""]
    assert 2000 < len(line.times) <= 4 * 1001
    assert (min(line.values), max(line.values)) == (-1e6, 1e6)
    assert line.times == sorted(line.times)
    last = datetime(2024, 1, 1) + timedelta(seconds=99_999)
    assert (line.times[0], line.times[-1]) == (datetime(2024, 1, 1), last)
    assert page.spans[0].first == datetime(2024, 1, 1)


def test_both_zeros_are_one_series(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT DOUBLE(k) AS k, t, v FROM VALUES ('-0.0', 1, 9), ('0.0', 2, 8) AS t(k, t, v)"
    )
    clause = """PARTITION BY k ORDER BY t MEASURES FIRST(t) AS first_t, LAST(t) AS last_t
        PATTERN (A DOWN) DEFINE DOWN AS v < PREV(v)"""
    page_of_sql = read_page_by_key(matchrec.match_recognize(rows, clause), rows)
    pattern = matchrec.Pattern.begin("a").next("down").where("v < last(a.v)")
    events = matchrec.match_pattern(rows, pattern, order_by="t", partition_by="k")
    page_of_events = read_page_by_key(events.select("a", "down"), rows)
    for page in (page_of_sql, page_of_events):
        assert {name: line.values for name, line in page.series.items()} == {"0.0": [9, 8]}
        assert [(span.series, span.first, span.last) for span in page.spans] == [("0.0", 1, 2)]


def read_page_by_key(matches: DataFrame, rows: DataFrame) -> Page:
    """Return the first page of a chart with a series for each key."""
    return ChartSource(matches, rows, "t", "v", "k").read_page(1, 6)


@pytest.mark.parametrize("x", ["CAST(NULL AS INT)", "DOUBLE('NaN')", "DOUBLE('-Infinity')"])
def test_a_picture_without_finite_rows_is_empty(spark: SparkSession, x: str) -> None:
    rows = spark.sql(f"SELECT {x} AS t, 1 AS v")
    matches = spark.sql("SELECT 1 AS first_t, 2 AS last_t FROM range(0)")
    plot = draw(ChartSource(matches, rows, "t", "v"), 1, 6)
    assert repr(plot) == "<Plot: 0 matches in 0 series, page 1 of 1>"
    assert 'src="data:image/png;base64,' in plot._repr_html_()


def test_a_row_at_infinity_is_not_drawn(spark: SparkSession) -> None:
    rows = spark.sql("SELECT DOUBLE(t) AS t, 1 AS v FROM VALUES ('1'), ('Infinity') AS t(t)")
    matches = spark.sql("SELECT 1 AS first_t, 2 AS last_t")
    assert ChartSource(matches, rows, "t", "v").read_page(1, 6).series[""].times == [1.0]


@pytest.mark.parametrize(
    ("columns", "arguments", "message"),
    [
        ("sym, day AS low", {}, "the result has no columns that say where a match begins"),
        ("sym, day AS low", {}, "only low has the type of `day`, but two columns are needed"),
        ("sym", {}, r"help: add FIRST\(day\) AS first_day, LAST\(day\) AS last_day to MEASURES$"),
        ("sym, day", {}, r"for ONE ROW PER MATCH, add FIRST\(day\) AS first_day, LAST\(day\) AS"),
        ("sym, day", {}, r"; for ALL ROWS PER MATCH, add MATCH_NUMBER\(\) AS match_number$"),
        ("sym, day AS low, day AS end", {}, "columns with the type of `day`: low, end"),
        ("sym, day AS low, day AS end", {}, r'write between=\("low", "end"\) if matches begin at'),
        ("sym, day AS low, day AS end", {}, r"begin at low and end at end; or add FIRST\(day\) AS"),
        ("sym, day", {"between": ("dai", "day")}, "unknown column `dai` in `between` of `plot`"),
        ("day AS first_day, day AS last_day", {}, "no column `sym`, which `by` of `plot` names"),
    ],
)
def test_results_that_cannot_be_drawn_are_rejected(
    prices: DataFrame, columns: str, arguments: dict[str, Any], message: str
) -> None:
    matches = prices.selectExpr(*columns.split(", "))
    with pytest.raises(matchrec.MatchRecognizePlanError, match=message):
        draw(ChartSource(matches, prices, "day", "price", "sym", **arguments), 1, 6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": "dai", "y": "price"}, "unknown column `dai` in `x` of `plot`"),
        ({"x": "sym", "y": "price"}, "column `sym` in `x` of `plot` has type string"),
        ({"x": "day", "y": "prices"}, "write price"),
    ],
)
def test_columns_of_the_rows_are_checked(
    prices: DataFrame, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match=message):
        draw(ChartSource(prices, prices, **arguments), 1, 6)


def test_null_and_the_string_null_are_two_series(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (NULL, 1), ('NULL', 2), ('x', 3) AS t(sym, day)")
    clause = """PARTITION BY sym ORDER BY day
        MEASURES FIRST(day) AS first_day, LAST(day) AS last_day PATTERN (A) DEFINE A AS day > 0"""
    plot = matchrec.query(rows, clause).plot(x="day", y="day", by="sym")
    assert list(plot._page.series) == ["'NULL'", "NULL", "x"]
