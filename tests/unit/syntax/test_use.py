"""The parts of a clause's rows that a query uses, found from its text."""

from __future__ import annotations

import pytest

from matchrec.plan.match_plan import ColumnTest
from matchrec.syntax.locate import parse_sql

CLAUSE = "t MATCH_RECOGNIZE (PARTITION BY k ORDER BY o MEASURES A.x AS a, A.y AS b PATTERN (A))"


@pytest.mark.parametrize(
    ("query", "read", "unread"),
    [
        (f"SELECT a FROM {CLAUSE}", "a", "b k x"),
        (f"SELECT m.`A`, count(*), 2 * max(m.b) * 3 FROM {CLAUSE} AS m", "a b", "k"),
        (f"SELECT a FROM {CLAUSE} ORDER BY b", "a b", "k"),
        (f"SELECT a FROM d JOIN {CLAUSE} USING (k)", "a k", "b"),
        (f"SELECT a FROM {CLAUSE} WHERE (a > 1)", "a", "b k"),
        (f"WITH m AS (SELECT a, b FROM {CLAUSE}) SELECT a FROM m", "a b", "k"),
        (f'SELECT "a" FROM {CLAUSE}', "a", "b"),
        (f"SELECT count(*) FROM {CLAUSE}", "", "a b k"),
    ],
)
def test_a_query_reads_only_the_columns_that_it_names(query: str, read: str, unread: str) -> None:
    use = parse_sql(query).sites[0].result_use
    assert all(use.may_read(name) for name in read.split())
    assert not any(use.may_read(name) for name in unread.split())


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM {CLAUSE}",
        f"SELECT a, m.* FROM {CLAUSE} m",
        f"SELECT DISTINCT * FROM {CLAUSE}",
        f"SELECT count(DISTINCT *) FROM {CLAUSE}",
        f"SELECT * EXCEPT (a) FROM {CLAUSE}",
        f"SELECT p FROM {CLAUSE} AS m (n, p, q)",
        f"SELECT p FROM {CLAUSE} m (n, p, q)",
        f"SELECT a FROM d NATURAL JOIN {CLAUSE}",
        f"SELECT IDENTIFIER('b') FROM {CLAUSE}",
        f"SELECT a FROM {CLAUSE} PIVOT (max(b) FOR k IN (1, 2))",
        f"FROM {CLAUSE} |> WHERE a > 1",
    ],
)
def test_queries_that_may_read_every_column(query: str) -> None:
    assert parse_sql(query).sites[0].result_use.may_read("x")


K_IS_X = ColumnTest("k", "= 'x'")


@pytest.mark.parametrize(
    ("after_clause", "column_tests"),
    [
        ("WHERE k = 'x'", [K_IS_X]),
        ("AS m WHERE m.k = 'x' AND a > b", [K_IS_X]),
        ("m WHERE a > 1 AND M.k = 'x' ORDER BY a", [ColumnTest("a", "> 1"), K_IS_X]),
        ("WHERE k IN ('x', 'y') GROUP BY k", [ColumnTest("k", "IN ('x', 'y')")]),
        ("WHERE k BETWEEN -1 AND 5 AND b = a", [ColumnTest("k", "BETWEEN -1 AND 5")]),
        ("WHERE k >= DATE '2024-01-01'", [ColumnTest("k", ">= DATE '2024-01-01'")]),
        ("WHERE k = 'x' OR a = 1", []),
        ("WHERE NOT k = 'x'", []),
        ("WHERE k NOT IN ('x')", []),
        ("WHERE k IN (SELECT k FROM d)", []),
        ("WHERE k = a", []),
        ("WHERE k = upper('x')", []),
        ("AS m WHERE s.k = 'x'", []),  # a field of a struct
        ("AS m JOIN d ON true WHERE k = 'x'", []),
        ("AS m, d WHERE k = 'x'", []),
        ("LIMIT 5", []),
    ],
)
def test_comparisons_of_columns_with_constants_are_found(
    after_clause: str, column_tests: list[ColumnTest]
) -> None:
    query = f"SELECT a FROM {CLAUSE} {after_clause}"
    for text in (query, f"SELECT (SELECT 1 WHERE k = 'z'), c FROM ({query}) WHERE k = 'y'"):
        assert list(parse_sql(text).sites[0].result_use.column_tests) == column_tests


def test_after_a_left_join_no_comparison_limits_the_rows_of_the_clause() -> None:
    query = f"SELECT a FROM d LEFT JOIN {CLAUSE} m WHERE k = 'x'"
    assert parse_sql(query).sites[0].result_use.column_tests == ()
