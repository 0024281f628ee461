"""Parts of a query around a clause that are rewritten for Sail."""

from __future__ import annotations

import pytest

from matchrec.errors import MatchRecognizeError
from matchrec.syntax.spellings import find_spellings

WRITTEN = {
    # PIVOT of one column, at any depth and of any name
    "FROM t PIVOT (sum(v) FOR k IN (1))": "FROM t PIVOT (sum(v) FOR (k) IN (1))",
    "FROM (SELECT * FROM t pivot (max(v) AS m for `a b` in ('x')))": (
        "FROM (SELECT * FROM t pivot (max(v) AS m for (`a b`) in ('x')))"
    ),
    "FROM t PIVOT (sum(v) FOR (k) IN (1))": None,
    "FROM t PIVOT (sum(v) FOR (k, j) IN ((1, 2)))": None,
    "SELECT 'PIVOT (sum(v) FOR k IN (1))' FROM t": None,
    # aliases of relations, and no others
    "FROM t time, (SELECT 1) AS user JOIN u AS Format ON 1 = 1": (
        "FROM t `time`, (SELECT 1) AS `user` JOIN u AS `Format` ON 1 = 1"
    ),
    "FROM t MATCH_RECOGNIZE (PATTERN (A)) time (a, b)": (
        "FROM t MATCH_RECOGNIZE (PATTERN (A)) `time` (a, b)"
    ),
    "SELECT v AS time FROM t `time` WHERE time.v > 1": None,
    "SELECT * FROM time": None,
    # WITH queries in another case: the innermost one that is defined before
    "WITH Up AS (SELECT 1) SELECT * FROM up u JOIN UP ON up.x = u.x": (
        "WITH Up AS (SELECT 1) SELECT * FROM `Up` u JOIN `Up` ON up.x = u.x"
    ),
    "WITH A AS (SELECT 1) SELECT * FROM (WITH a AS (SELECT * FROM a) SELECT * FROM A)": (
        "WITH A AS (SELECT 1) SELECT * FROM (WITH a AS (SELECT * FROM `A`) SELECT * FROM `a`)"
    ),
    "WITH Up AS (SELECT 1) SELECT * FROM Up, s.up, up(1)": None,
    "WITH `Up` AS (SELECT 1) SELECT * FROM `up`": "WITH `Up` AS (SELECT 1) SELECT * FROM `Up`",
    "SELECT * FROM (WITH Up AS (SELECT 1) SELECT 2) JOIN up": None,
}


@pytest.mark.parametrize(("text", "written"), WRITTEN.items(), ids=WRITTEN.keys())
def test_words_are_spelled_for_sail(text: str, written: str | None) -> None:
    result = text
    for span, spelling in sorted(find_spellings(text), key=lambda item: -item[0].start):
        result = f"{result[: span.start]}{spelling}{result[span.end :]}"
    assert result == (text if written is None else written)


@pytest.mark.parametrize("nulls", ["", "INCLUDE NULLS ", "EXCLUDE NULLS "])
def test_an_alias_in_unpivot_is_rejected(nulls: str) -> None:
    text = f"SELECT * FROM t UNPIVOT {nulls}(v FOR name IN (top, low AS bottom))"
    with pytest.raises(MatchRecognizeError, match="an alias in UNPIVOT is not supported on Sail"):
        find_spellings(text)
    assert find_spellings(text.replace(" AS bottom", "")) == ()
