"""`coverage` counts how far starting rows get, and names the row that came closest to a match."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.api.inputs import build_relation
from matchrec.errors import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.explain.funnel_picture import draw_funnels
from matchrec.spark.coverage import build_counts_schema, plan_coverage
from matchrec.spark.request import MatchRequest, Options, Purpose, Rule, find_input_columns
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause
from matchrec.worker.coverage import CoverageWorker

pytestmark = pytest.mark.one_of(2)

VISITS = """
    CREATE OR REPLACE TEMPORARY VIEW covered_visits AS
    SELECT INTERVAL '1' MONTH * k AS k, DATE '2024-01-01' + d AS day, page FROM VALUES
        (1, 1, 'view'), (1, 2, 'cart'), (1, 2, 'help'), (1, 3, 'view'), (1, 4, 'cart'),
        (2, 1, 'view'), (2, 2, 'view'), (2, 3, 'cart'), (2, 4, 'pay'), (3, 1, NULL)
        AS t(k, d, page)"""
FUNNEL = """
    SELECT * FROM covered_visits MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY day MEASURES P.day AS paid
        PATTERN (V C P) DEFINE V AS page = 'view', C AS page = 'cart',
            P AS page = :last AND day > FIRST(day)) AS found"""
KEY = "INTERVAL '0-1' YEAR TO MONTH"
NESTED = """
    SELECT * FROM ({funnel}) MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY paid PATTERN (A B) DEFINE A AS k > INTERVAL '1' MONTH)"""


@pytest.fixture(scope="module", autouse=True)
def visits(spark: SparkSession) -> None:
    """Create the view of the visits."""
    spark.sql(VISITS)


def list_rows(covered: matchrec.Coverage) -> list[tuple[object, ...]]:
    """Return the rows of `toPandas`, with None for a missing text."""
    return [tuple(row) for row in covered.toPandas().astype(object).itertuples(index=False)]


def test_coverage_says_that_partitions_are_not_cut_into_ranges(spark: SparkSession) -> None:
    line = "partitions were not cut into ranges, because each row is a starting row"
    for sort, is_expected in (("ranges", True), ("auto", False)):
        options = matchrec.Options(sort=sort)
        covered = matchrec.query(spark, FUNNEL, {"last": "pay"}, options=options).coverage()
        assert (f"\n  {line}\n" in str(covered)) is is_expected
        assert covered.clauses[1].figures.rows == 10


def test_a_funnel_has_the_counts_found_by_hand(spark: SparkSession) -> None:
    """Partition 1 has no P after its two carts, and ends with one; 2 has the match; 3 has no V."""
    covered = matchrec.query(spark, FUNNEL, {"last": "pay"}).coverage()
    (clause,) = covered.clauses.values()
    assert clause.figures.rows == 10
    assert (clause.figures.partitions, clause.figures.matched_partitions) == (3, 1)
    figures = clause.figures
    assert (figures.matches, figures.rows_in_matches, figures.longest_match) == (1, 3, 3)
    assert (figures.ties, figures.largest_partition, clause.tried) == (1, 5, 8)
    assert list_rows(covered) == [
        (1, 0, None, 0, 8, 4, "V's condition was not true", 4),
        (1, 1, "V", 1, 4, 1, "C's condition was not true", 1),
        (1, 2, "C", 1, 3, 2, "P's condition was not true", 1),
        (1, 2, "C", 1, 3, 2, "the partition ended before P", 1),
        (1, 3, "P", 1, 1, 0, None, 0),
    ]
    assert clause.nearest is not None
    assert clause.nearest.remaining == 1
    assert clause.nearest.partition == {"k": KEY}
    assert clause.nearest.order == {"day": "2024-01-02"}
    assert "<svg" in covered._repr_html_()
    (panel,) = draw_funnels(covered.clauses.values()).axes
    widths = [bar.datavalues.tolist() for bar in panel.containers]
    assert widths == [[1], [4 / 8], [3 / 8], [1 / 8], [1 / 8]]


def test_all_conditions_that_stopped_a_run_are_named(spark: SparkSession) -> None:
    """There is no cart and no P. The last of the four views in partition 1 has no next row."""
    query = FUNNEL.replace("(V C P)", "(PERMUTE(V+, C, P))").replace(
        "FROM covered_visits", "FROM (SELECT * FROM covered_visits WHERE page <> 'cart')"
    )
    rows = list_rows(matchrec.query(spark, query, {"last": "buy"}).coverage())
    assert [row[2:] for row in rows] == [
        (None, 0, 6, 2, "the conditions of V, C, P were not true", 2),
        ("V", 1, 4, 4, "the conditions of C, P were not true", 3),
        ("V", 1, 4, 4, "the partition ended before C or P", 1),
        ("C", 1, 0, 0, None, 0),
        ("P", 1, 0, 0, None, 0),
    ]


def test_without_a_match_the_text_ends_with_the_nearest_run(spark: SparkSession) -> None:
    text = str(matchrec.query(spark, FUNNEL, {"last": "buy"}).coverage())
    assert text.splitlines()[-8:] == [
        "where and why most of them stopped",
        "  no match; 3 of 10 starting rows came closest and stopped after C",
        "  P's condition was not true: 2",
        "  the partition ended before P: 1",
        "    P: page = :last was not true: 2",
        f"  closest to a match: the starting row day = 2024-01-02, in the partition k = {KEY}",
        "    it needed at least 1 more row; this shows why:",
        f"    query.why(partition={ {'k': KEY} }, row='2024-01-02')",
    ]


@pytest.mark.parametrize("order", ["at", "`at`"])
def test_the_nearest_row_is_named_by_numbers(spark: SparkSession, order: str) -> None:
    """Row 2 is an A, and row 3 is no B. Row 3 is no A."""
    covered = matchrec.query(
        spark,
        f"""SELECT * FROM VALUES ('x', 1, 2, 5), ('x', 1, 3, 4) AS t(s, k, at, price)
        MATCH_RECOGNIZE (PARTITION BY s, k ORDER BY {order}
            PATTERN (A B) DEFINE A AS price > 4, B AS price > 9)""",
    ).coverage()
    (clause,) = covered.clauses.values()
    assert clause.nearest is not None
    assert clause.nearest.partition == {"s": "x", "k": 1}
    assert clause.nearest.order == {"at": 2}
    assert str(covered).endswith("query.why(partition={'s': 'x', 'k': 1}, row=2)")


RISES = """
    SELECT * FROM VALUES
        (1, 1, 5), (1, 2, 6), (1, 3, 7), (1, 4, 8), (1, 5, 3), (1, 6, 4),
        (2, 1, 9), (2, 2, 10), (2, 3, 11), (2, 4, 2) AS t(k, at, price)
    MATCH_RECOGNIZE (PARTITION BY k ORDER BY at
        PATTERN (LOW {loop}) DEFINE UP AS price > PREV(price))"""


def test_a_loop_says_how_many_rows_were_reached(spark: SparkSession) -> None:
    """Rows 1 to 4 of partition 1 are the match. Row 5 gets one UP, and row 6, the last, gets none.

    In partition 2 the four rows get two, one, none and none; the last one has no next row.
    """
    covered = matchrec.query(spark, RISES.replace("{loop}", "UP{3,}")).coverage()
    lines = covered.text.splitlines()
    first = lines.index("starting rows that reached each variable, and why others stopped") + 1
    assert lines[first : first + 6] == [
        "  tried   7 ████████████████████",
        (
            "  LOW     7 ████████████████████ 3 stopped: 2 because the partition ended before UP, "
            "1 because UP's condition was not true"
        ),
        (
            "  UP      4 ███████████          2 stopped: 1 because UP's condition was not true, "
            "1 because the partition ended before UP"
        ),
        "  UP{2}   2 ██████               1 stopped: UP's condition was not true",
        "  UP{3}   1 ███",
        "  matches 1 ███",
    ]
    assert sorted(row[3:] for row in list_rows(covered) if row[2] == "UP") == [
        (1, 4, 2, "UP's condition was not true", 1),
        (1, 4, 2, "the partition ended before UP", 1),
        (2, 2, 1, "UP's condition was not true", 1),
        (3, 1, 0, None, 0),
    ]


@pytest.mark.parametrize("loop", ["UP+", "(UP{3} X)*", "PERMUTE(UP{3}, X)", "UP UP UP"])
def test_rows_of_other_loops_are_not_distinguished(spark: SparkSession, loop: str) -> None:
    (clause,) = matchrec.query(spark, RISES.replace("{loop}", loop)).coverage().clauses.values()
    assert [occurrence.loop for occurrence in clause.occurrences] == [()] * len(clause.occurrences)


def test_rows_before_and_after_a_loop_do_not_count_in_it(spark: SparkSession) -> None:
    """UP gets two rows from row 1 of each partition, one from row 5 of 1 and from row 2 of 2."""
    query = RISES.replace("{loop}", "X? UP{2} TOP").replace(
        "DEFINE", "DEFINE X AS FALSE, TOP AS price = 8,"
    )
    (clause,) = matchrec.query(spark, query).coverage().clauses.values()
    (up,) = (occurrence for occurrence in clause.occurrences if occurrence.variable == "UP")
    assert [(step.rows, step.reached) for step in up.loop] == [(1, 4), (2, 2)]


def test_coverage_is_of_each_clause_or_of_one(spark: SparkSession) -> None:
    query = NESTED.format(funnel=FUNNEL)
    both = matchrec.query(spark, query, {"last": "pay"}).coverage()
    assert [clause.pattern for clause in both.clauses.values()] == ["V C P", "A B"]
    assert str(both).startswith("clause 1\n  row pattern\n    V C P\n")
    second = matchrec.query(spark, query, {"last": "pay"}).coverage(clause=2)
    assert list(second.clauses) == [2]
    explained = matchrec.query(spark, query, {"last": "pay"}).explain()
    assert {
        number: clause.summary.split(" (")[0] for number, clause in explained.clauses.items()
    } == {1: "V C P", 2: "A B"}
    explained = matchrec.query(spark, query, {"last": "pay"}).explain(clause=2)
    assert list(explained.clauses) == [2]
    assert set(explained.toPandas()["clause"]) == {2}
    assert second.clauses[2] == both.clauses[2]
    assert [occurrence.reached for occurrence in second.clauses[2].occurrences] == [1, 1, 0]


SORTED_CLAUSE = """
    PARTITION BY k ORDER BY {order} MEASURES P.day AS paid PATTERN (V C+ P)
    DEFINE V AS page = 'view', C AS page IS NOT NULL AND page <> PREV(page),
        P AS page = 'pay' AND PREV(day) < day AND day > FIRST(day)"""


def run_coverage(spark: SparkSession, order: str, sort: str) -> object:
    """Return the coverage of SORTED_CLAUSE."""
    clause = SORTED_CLAUSE.format(order=order)
    query = f"SELECT * FROM covered_visits MATCH_RECOGNIZE ({clause})"
    return matchrec.query(spark, query, options=matchrec.Options(sort=sort)).coverage().clauses


def test_coverage_does_not_depend_on_who_sorts(spark: SparkSession) -> None:
    """If only Spark can sort, it does. Two of the ten visits are on one day."""
    by_workers = run_coverage(spark, "day, page DESC NULLS LAST", "worker")
    assert by_workers == run_coverage(spark, "day, page DESC NULLS LAST", "engine")
    with pytest.raises(MatchRecognizeUnsupportedError, match="only the engine can sort by array"):
        run_coverage(spark, "array(day)", "worker")
    by_array = FUNNEL.replace("ORDER BY day", "ORDER BY array(day)")
    (clause,) = matchrec.query(spark, by_array, {"last": "pay"}).coverage().clauses.values()
    assert (clause.figures.matches, clause.figures.ties) == (1, 1)


@pytest.mark.parametrize("sort", ["worker", "engine"])
def test_a_part_is_evaluated_only_if_earlier_parts_are_true(spark: SparkSession, sort: str) -> None:
    """Otherwise it would divide by zero: x is 0 on the second of four days."""
    query = """SELECT * FROM (SELECT day, day - 2 AS x FROM VALUES (1), (2), (3), (4) AS t(day))
        MATCH_RECOGNIZE (ORDER BY day MEASURES B.day AS last PATTERN (A B)
            DEFINE B AS x <> 0 AND 10 / x > 1 AND PREV(x) <> 0 AND 10 / PREV(x) > 1)"""
    (clause,) = (
        matchrec.query(spark, query, options=matchrec.Options(sort=sort))
        .coverage()
        .clauses.values()
    )
    assert clause.figures.matches == 1


def test_spark_shuffles_and_does_not_sort(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = lower_clause(parse_clause(SORTED_CLAUSE.format(order="day")))
    relation = build_relation(spark.table("covered_visits"))
    request = MatchRequest.build(
        (Rule("", plan),),
        relation,
        find_input_columns(relation),
        Options(),
        purpose=Purpose.COVERAGE,
    )
    planned = plan_coverage(request, CoverageWorker, build_counts_schema)
    planned.rows.explain()
    printed_plan = capsys.readouterr().out
    assert printed_plan.count("Exchange") == 1
    assert "Sort" not in printed_plan
    assert "Window" not in printed_plan


def test_coverage_says_that_there_are_no_rows(spark: SparkSession) -> None:
    empty = FUNNEL.replace("covered_visits", "(SELECT * FROM covered_visits WHERE FALSE)")
    text = str(matchrec.query(spark, empty, {"last": "pay"}).coverage())
    assert text.endswith("where and why most of them stopped\n  there are no rows")


@pytest.mark.parametrize("pattern", ["()", "^"])
def test_a_pattern_without_variables_has_no_rows_in_matches(
    spark: SparkSession, pattern: str
) -> None:
    """Of the rows with at = 1, 2 and 2, the third one is a tie. Empty matches have no rows."""
    rows = spark.sql("VALUES (1), (2), (2) AS t(at)")
    covered = matchrec.query(rows, f"ORDER BY at PATTERN ({pattern})").coverage()
    figures = covered.clauses[1].figures
    assert (figures.rows, figures.ties, figures.rows_in_matches) == (3, 1, 0)


def test_a_condition_can_be_the_test_of_ties(spark: SparkSession) -> None:
    """The condition compares `at` like the test of ties, but only on rows with x > 100.

    Two rows equal the row before them in `at`. One of them has x > 100, and is an A.
    """
    rows = spark.sql("VALUES (1, 0), (1, 0), (2, 200), (2, 200) AS t(at, x)")
    clause = "ORDER BY at PATTERN (A) DEFINE A AS x > 100 AND at <=> PREV(at)"
    figures = matchrec.query(rows, clause).coverage().clauses[1].figures
    assert (figures.ties, figures.matches) == (2, 1)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(V NOT C)", "coverage is not supported for a query with NOT in PATTERN"),
        ("(V C) LONGEST MATCH", "coverage is not supported for LONGEST MATCH"),
    ],
)
def test_patterns_without_coverage_are_rejected(
    spark: SparkSession, pattern: str, message: str
) -> None:
    clause = f"ORDER BY day MEASURES V.day AS d PATTERN {pattern} DEFINE V AS page = 'view'"
    query = f"SELECT * FROM covered_visits MATCH_RECOGNIZE ({clause})"
    with pytest.raises(MatchRecognizeUnsupportedError, match=message):
        matchrec.query(spark, query).coverage()


def test_a_pattern_has_the_counts_found_by_hand(spark: SparkSession) -> None:
    """Four views have a cart after them: one before help, one on the last row, two with a pay."""
    pattern = (
        matchrec.Pattern.begin("v")
        .where("page = 'view'")
        .followed_by("c")
        .where("page = 'cart'")
        .not_next("h")
        .where("page = 'help'")
        .followed_by("p")
        .where("page = 'pay' AND k = INTERVAL '2' MONTH")
    )
    visits = spark.table("covered_visits").where("page <> 'nothing'").repartition(2)
    covered = matchrec.query(visits, pattern, order_by=["day", "page"], partition_by="k").coverage()
    assert [row[2:] for row in list_rows(covered)] == [
        (None, 0, 9, 5, "v's condition was not true", 5),
        ("v", 1, 4, 0, None, 0),
        ("c", 1, 4, 2, "the partition ended before p", 1),
        ("c", 1, 4, 2, "a forbidden row came before p", 1),
        ("p", 1, 2, 0, None, 0),
    ]
    endings = covered.clauses[1].occurrences[2].stop_reasons
    assert str(endings[1]) == "a forbidden row came before p"
    assert "2 starting rows begin a match" in str(covered)
    summary = "`v` `c` `p`, 2 of 9 starting rows begin a match"
    assert repr(covered) == f"<Coverage: {summary}>"
    assert repr(covered.clauses[1]) == f"<ClauseCoverage: {summary}>"


def test_a_sase_text_has_the_counts_found_by_hand(spark: SparkSession) -> None:
    """Four of five views have a cart within two days. One of these has a payment in that time."""
    text = """
        PATTERN SEQ(view a, cart b, pay c) WHERE skip_till_any_match { c.day > a.day }
        WITHIN 2 days"""
    visits = spark.table("covered_visits")
    streams = {"order_by": "day", "partition_by": "k", "type_column": "page"}
    covered = matchrec.query(visits, text, **streams).coverage()
    clause = covered.clauses[1]
    assert [occurrence.reached for occurrence in clause.occurrences] == [10, 4, 3, 0]
    assert clause.nearest is not None
    assert "query.why(partition={'k'" in str(covered)


def test_the_nearest_row_is_named_by_an_equivalence_test(spark: SparkSession) -> None:
    """Gate G has an A and a B with a lower v; gate H has only a B. Only G's row 1 is an A."""
    rows = spark.sql(
        "VALUES ('G', 1, 'A', 5), ('G', 2, 'B', 4), ('H', 1, 'B', 9) AS t(gate, at, kind, v)"
    )
    query = matchrec.query(
        rows,
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [gate] AND b.v > a.v } WITHIN 9",
        order_by="at",
        type_column="kind",
    )
    covered = query.coverage()
    nearest = covered.clauses[1].nearest
    assert nearest is not None
    assert (nearest.partition, nearest.order) == ({"gate": "G"}, {"at": 1})
    assert str(covered).splitlines()[-3:] == [
        "  closest to a match: the starting row at = 1, in the partition gate = G",
        "    it needed at least 1 more row; this shows why:",
        "    query.why(partition={'gate': 'G'}, row=1)",
    ]
    assert "at = 1" in str(query.why(partition={"gate": "G"}, row=1))


def test_a_query_without_the_requested_clause_is_rejected(spark: SparkSession) -> None:
    with pytest.raises(MatchRecognizePlanError, match="SASE\\+ is not a SQL query"):
        matchrec.query(spark, "PATTERN SEQ(Login a, Error b)").coverage()
    with pytest.raises(MatchRecognizePlanError, match="`query` of `query` must be a string"):
        matchrec.query(spark, matchrec.Pattern.begin("a"))  # type: ignore[call-overload]
    with pytest.raises(MatchRecognizePlanError, match="unknown clause 2"):
        matchrec.query(spark, FUNNEL, {"last": "pay"}).coverage(clause=2)


def test_explain_suggests_coverage_after_a_query_has_run(spark: SparkSession) -> None:
    explained = matchrec.query(spark, FUNNEL, {"last": "pay"}).explain(analyze=True)
    assert str(explained).endswith(
        "coverage() of the query shows how far starting rows get, and what stops them"
    )


def test_a_clause_without_columns_has_a_coverage(spark: SparkSession) -> None:
    query = matchrec.query(spark.range(4), "ORDER BY id PATTERN (A) DEFINE A AS id > 1")
    covered = query.coverage().toPandas()
    # Rows 0 and 1 fail at A, rows 2 and 3 match.
    assert covered["reached"].tolist() == [4, 2]
    assert covered["stopped"].tolist() == [2, 0]


def test_first_matches_do_not_limit_the_counts(spark: SparkSession) -> None:
    """Of the rows 1 to 4, 1 begins a match of one row, as do 2, 3 and 4; the query returns one."""
    clause = "ORDER BY id MEASURES A.id AS found PATTERN (A) FIRST 1 MATCHES DEFINE A AS id > 0"
    query = matchrec.query(spark.range(1, 5), clause)
    covered = query.coverage()
    assert query.count() == 1
    assert covered.clauses[1].figures.matches == 4
    assert "\n  all matches are counted: FIRST 1 MATCHES is ignored\n" in str(covered)


def test_the_only_row_without_a_match(spark: SparkSession) -> None:
    clause = "ORDER BY id MEASURES A.id AS found PATTERN (A B) DEFINE B AS id > 0"
    covered = matchrec.query(spark.range(3), clause).coverage()
    assert "\n  the only starting row without a match stopped after A\n" in str(covered)
