"""Row pattern windows: the SQL that replaces them, and conditions that stay in the frame."""

from __future__ import annotations

from dataclasses import replace

import pytest

from matchrec.errors import MatchRecognizeError
from matchrec.plan.expression import render
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show_pattern
from matchrec.plan.show import show_reference
from matchrec.plan.templates import Replacement, Template, View
from matchrec.spark.streaming.stream_checks import check_plan
from matchrec.syntax.locate import QueryNode, parse_sql
from matchrec.syntax.lower_windows import lower_window
from matchrec.syntax.query_pieces import write_outer_query, write_relation_query
from tests.unit.syntax.test_query import select_from

QUERY = """SELECT t.*, low OVER w, sum(x) OVER w + 1 AS s
FROM a.t WHERE x > 0
WINDOW w AS (ORDER BY x MEASURES LAST(x) AS low
  ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING PATTERN (A+) DEFINE A AS x > 1)
ORDER BY x"""


def write_text(template: Template) -> str:
    """Return a template as text."""

    def write_piece(piece: str | View | Replacement) -> str:
        if isinstance(piece, Replacement):
            return piece.text
        return f"<{piece.name}>" if isinstance(piece, View) else piece

    return "".join(map(write_piece, template))


def make_plan(window: str, select: str = "m OVER w") -> MatchPlan:
    """Return the plan of a window."""
    (site,) = parse_sql(f"SELECT {select} FROM t WINDOW w AS (ORDER BY x {window})").sites
    assert site.calls is not None
    return lower_window(site.clause, site.calls)


def show_conditions(plan: MatchPlan) -> dict[str, str]:
    """Return the conditions of a plan as text, by variable."""
    return {
        definition.variable: render(definition.condition, show_reference)
        for definition in plan.definitions
    }


def set_columns(query: QueryNode, *names: str) -> QueryNode:
    """Return a query whose blocks have some columns."""
    return replace(query, blocks=tuple(replace(block, columns=names) for block in query.blocks))


def test_calls_become_columns_of_the_windows_rows() -> None:
    text = write_text(write_outer_query(set_columns(parse_sql(QUERY), "x", "y z")))
    assert " ".join(text.split()) == (
        "SELECT `t`.`x`, `t`.`y z`, `low OVER w` AS `low`, `sum(x) OVER w` + 1 AS s "
        "FROM <match_recognize_0> AS `t` WINDOW w AS (ORDER BY x) ORDER BY x"
    )


def test_the_rows_of_a_window_come_after_where_and_keep_their_place() -> None:
    query = parse_sql(QUERY)
    rows = write_text(write_relation_query(query, query.sites[0]))
    assert rows.split() == ["SELECT", "*", "FROM", "a.t", "WHERE", "x", ">", "0"]
    assert rows.index("a.t") == QUERY.index("a.t")
    assert write_text(select_from(query, query.sites[0], "1")) == "SELECT 1 FROM a.t WHERE x > 0"


def test_the_rows_of_a_window_keep_their_line_after_a_line_break() -> None:
    text = QUERY.replace("SELECT ", "SELECT\n", 1)
    query = parse_sql(text)
    rows = write_text(write_relation_query(query, query.sites[0]))
    assert rows.split() == ["SELECT", "*", "FROM", "a.t", "WHERE", "x", ">", "0"]
    before_relation = text[: text.index("a.t")]
    assert rows[: rows.index("a.t")].count("\n") == before_relation.count("\n") == 2


def test_several_windows_of_a_select_are_evaluated_one_after_the_other() -> None:
    frame = "ROWS BETWEEN CURRENT ROW AND CURRENT ROW PATTERN (A) DEFINE A AS x > 1"
    query = parse_sql(
        f"SELECT count(*) OVER w, count(*) OVER (v {frame}) FROM t "
        f"WINDOW v AS (ORDER BY x), w AS (v {frame})"
    )
    first, second = query.sites
    assert write_text(select_from(query, second, "1")) == "SELECT 1 FROM <match_recognize_0> AS `t`"
    assert [call.column for site in (first, second) for call in site.calls] == [  # type: ignore[union-attr]
        "count(*) OVER (window 1)",
        "count(*) OVER w",
    ]
    assert (
        write_text(write_outer_query(query)).split(" WINDOW ")[1]
        == "v AS (ORDER BY x), w AS (ORDER BY x)"
    )


@pytest.mark.parametrize(
    ("select", "stars"),
    [
        ("x * 2, count(*)", 0),
        ("*", 1),
        ("t.*, x", 1),
        ("s.*", 0),
        ("struct(*)", 1),
        ("(SELECT max(x) FROM (SELECT * FROM u))", 0),
    ],
)
def test_stars_of_the_select_list_are_found(select: str, stars: int) -> None:
    window = "PATTERN (A) DEFINE A AS x > 1"
    frame = f"ORDER BY x ROWS BETWEEN CURRENT ROW AND CURRENT ROW {window}"
    query = parse_sql(f"SELECT {select}, max(x) OVER ({frame}) FROM t")
    assert len(query.blocks[0].stars) == stars


def test_an_unclosed_parenthesis_in_the_select_list_is_left_to_spark() -> None:
    query = parse_sql(QUERY.replace("AS s", "AS (").replace("t.*, ", ""))  # `AS ( FROM a.t`
    assert [site.relation_alias for site in query.sites] == ["t"]


UNBOUNDED = "MEASURES LAST(x) AS m ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"
TWO = "MEASURES LAST(x) AS m ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING"


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        # before B, the match always has another row
        (f"{UNBOUNDED} PATTERN (A B+) DEFINE B AS x < PREV(x)", "x < PREV(x)"),
        (f"{UNBOUNDED} PATTERN (A? B+) DEFINE B AS x < PREV(x)", "x < LAST(x, 1)"),
        (f"{UNBOUNDED} PATTERN (A B+) DEFINE B AS x < PREV(x, 2)", "x < LAST(x, 2)"),
        (f"{UNBOUNDED} SEEK PATTERN (B) DEFINE B AS x < PREV(x)", "x < LAST(x, 1)"),
        (f"{UNBOUNDED} PATTERN (B) DEFINE B AS x < NEXT(x)", "x < NEXT(x)"),
        # B is the first row or the second one
        (f"{TWO} PATTERN (A? B) DEFINE B AS x < NEXT(x)", "x < NEXT(x)"),
        (
            f"{TWO} PATTERN (A? B) DEFINE B AS x < NEXT(x, 2)",
            "x < (CASE WHEN count(*) <= 1 THEN NEXT(x, 2) END)",
        ),
        (
            f"{TWO} PATTERN (A B+) DEFINE B AS upper(x) < upper(NEXT(x))",
            "upper(x) < upper((CASE WHEN count(*) <= 2 THEN NEXT(x) END))",
        ),
    ],
)
def test_conditions_see_the_rows_of_the_frame_only(window: str, expected: str) -> None:
    assert show_conditions(make_plan(window))["B"].replace("B.", "") == expected


def test_a_frame_of_a_number_of_rows_limits_the_match() -> None:
    plan = make_plan(f"{TWO} PATTERN (A B) DEFINE B AS x > 1")
    assert plan.within_rows == 3
    assert show_conditions(plan) == {"B": "x > 1"}


def test_a_frame_whose_length_is_a_column_limits_every_variable() -> None:
    window = "MEASURES LAST(x) AS m ROWS BETWEEN CURRENT ROW AND y FOLLOWING"
    plan = make_plan(f"{window} PATTERN (A B) DEFINE B AS x > 1 OR x < 0")
    conditions_by_variable = show_conditions(plan)
    limit = "count(*) - 1 <= FIRST(CASE WHEN (y) >= 0 THEN (y) ELSE raise_error("
    assert conditions_by_variable["A"].startswith(limit)
    assert conditions_by_variable["B"].startswith(f"(x > 1 OR x < 0) AND ({limit}")


def test_seek_skips_as_few_rows_as_possible() -> None:
    plan = make_plan(
        f"{UNBOUNDED} SEEK PATTERN (A | B+) DEFINE B AS x > FIRST(x)", "count(*) OVER w"
    )
    assert show_pattern(plan.pattern) == "`before the match`*? (A | B+)"
    assert show_conditions(plan) == {"B": "x > FIRST(`the match`.x)"}
    (count,) = [measure for measure in plan.measures if measure.has_value_without_match]
    assert render(count.value, show_reference) == "count(`the match`.*)"


@pytest.mark.parametrize(
    ("relation", "alias"),
    [
        ("t", "t"),
        ("db.t", "t"),
        ("db.`a t` AS q", "q"),
        ("(SELECT 1 AS x) q", "q"),
        ("(SELECT 1 AS x)", None),
        ("VALUES (1, 2), (3, 4) AS v(x, y)", "v"),
        ("(VALUES (1, 2)) v (x, y)", "v"),
        ("range(10)", None),
        ("range(10) AS r", "r"),
        ("{frame} q", "q"),
        ("t MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS x > 1) AS m", "m"),
    ],
)
def test_the_rows_of_a_window_keep_the_name_of_their_relation(
    relation: str, alias: str | None
) -> None:
    frame = "ROWS BETWEEN CURRENT ROW AND CURRENT ROW PATTERN (A) DEFINE A AS x > 1"
    query = parse_sql(f"SELECT max(x) OVER (ORDER BY x {frame}) FROM {relation}", ["frame"])
    assert query.source.text_at(query.blocks[0].rows) == relation
    query = parse_sql(f"SELECT max(x) OVER (ORDER BY x {frame}) FROM {relation} LIMIT 3", ["frame"])
    assert query.blocks[0].alias == alias
    assert write_text(write_outer_query(query)).split(" FROM ")[1].split() == [
        f"<match_recognize_{len(query.sites) - 1}>",
        *(() if alias is None else ("AS", f"`{alias}`")),
        *("LIMIT", "3"),
    ]


def test_windows_without_pattern_stay_windows_of_spark() -> None:
    texts = [
        "SELECT sum(x) OVER (ORDER BY pattern(x)) FROM t",
        "SELECT measures, define, pattern (x), row_number() OVER w FROM t WINDOW w AS (ORDER BY x)",
        "SELECT pattern(x) OVER (ORDER BY seek, initial ROWS 1 PRECEDING) FROM t",
    ]
    assert [parse_sql(text).sites for text in texts] == [(), (), ()]


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (f"{UNBOUNDED} PATTERN (A B) WITHIN 3 DEFINE A AS x > 1", "WITHIN is not supported"),
        (
            f"{UNBOUNDED} PATTERN (A B) LONGEST MATCH DEFINE A AS x > 1",
            "LONGEST MATCH is not supported",
        ),
        (f"{UNBOUNDED} SEEK PATTERN (`the match`) DEFINE `the match` AS x > 1", "a variable"),
    ],
)
def test_options_of_the_clause_in_from_are_rejected_in_windows(window: str, message: str) -> None:
    with pytest.raises(MatchRecognizeError, match=message):
        make_plan(window)


def test_a_stream_has_no_windows_with_patterns() -> None:
    plan = make_plan(f"{UNBOUNDED} PATTERN (A B) DEFINE A AS x > 1")
    with pytest.raises(MatchRecognizeError, match="PATTERN in a window"):
        check_plan(plan)


def test_a_superscript_is_not_a_number() -> None:
    pattern = "PATTERN (A B) DEFINE A AS x > 1"
    frame = "ROWS BETWEEN CURRENT ROW AND ² FOLLOWING"
    with pytest.raises(MatchRecognizeError, match="NEXT"):  # the length is an expression
        make_plan(f"MEASURES NEXT(x) AS m {frame} {pattern}")
    with pytest.raises(MatchRecognizeError, match="`NTH_VALUE` over a window with PATTERN"):
        make_plan(f"{UNBOUNDED} {pattern}", "NTH_VALUE(x, ²) OVER w")
