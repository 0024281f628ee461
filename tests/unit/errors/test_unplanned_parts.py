"""The part of a query that Sail cannot run is found, and no part that it can run."""

from __future__ import annotations

import pytest

from matchrec.errors.sql.unplanned_parts import find_in_subquery, find_star_over_groups

IN_SUBQUERY = "Physical plan does not support logical expression InSubquery(InSubquery { ... })"
WILDCARD = "Physical plan does not support logical expression Wildcard { qualifier: None, ... }"


@pytest.mark.parametrize(
    ("text", "condition", "hint"),
    [
        (
            "abs(price - 1) NOT IN (SELECT low FROM t WHERE day > 3) OR day = 1",
            "abs(price - 1) NOT IN (SELECT low FROM t WHERE day > 3)",
            (
                "write NOT array_contains((SELECT collect_list(low) FROM t WHERE day > 3), "
                "abs(price - 1))"
            ),
        ),
        (
            "day = 1 AND price IN (SELECT max(low) FROM t GROUP BY day)",  # not a list of rows of t
            "price IN (SELECT max(low) FROM t GROUP BY day)",
            "write array_contains((SELECT collect_list(COLUMN) FROM TABLE), VALUE)",
        ),
    ],
)
def test_the_only_in_with_a_subquery_is_found(text: str, condition: str, hint: str) -> None:
    error = find_in_subquery(IN_SUBQUERY, text, "DEFINE")
    assert error is not None
    (span,) = error.spans
    assert text[span.start : span.end] == condition
    assert error.hint == hint


def test_one_of_several_in_with_subqueries_is_not_blamed() -> None:
    text = "SELECT a IN (SELECT x FROM t) FROM t WHERE a IN (SELECT x FROM t)"
    assert find_in_subquery(IN_SUBQUERY, text) is None


@pytest.mark.parametrize(
    ("text", "star", "hint"),
    [
        ("SELECT *, 1 FROM (SELECT * FROM t) GROUP BY a, b HAVING a > 1", 7, "SELECT a, b, count"),
        ("SELECT * FROM t UNION SELECT t.* FROM t GROUP BY abs(a)", 29, "SELECT KEY, count(*)"),
        ("SELECT 1 FROM (SELECT * FROM t HAVING max(a) > 1)", 22, "write WHERE"),
    ],
)
def test_the_star_of_the_query_with_groups_is_found(text: str, star: int, hint: str) -> None:
    error = find_star_over_groups(WILDCARD, text)
    assert error is not None
    assert [span.start for span in error.spans] == [star]
    assert error.hint is not None
    assert hint in error.hint


def test_a_star_in_another_select_than_the_groups_is_not_blamed() -> None:
    text = "SELECT a, count(*) FROM (SELECT * FROM t) GROUP BY a"
    assert find_star_over_groups(WILDCARD, text) is None
