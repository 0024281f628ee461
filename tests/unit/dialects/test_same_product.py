"""A query that is translated to its own product does not change by a character."""

import pytest

from matchrec.dialects.products import PRODUCTS
from matchrec.dialects.translate import translate_query

QUERIES = [
    (
        "oracle",
        """SELECT a.*, sysdate - d "Days#", x || y, TRUNC(d, 'HH24') FROM dual d, t
        MATCH_RECOGNIZE (PARTITION BY k# ORDER BY d DESC
            MEASURES FIRST(d) + 1/24 AS "f g", TO_CHAR(LAST(d), 'DD-MON-YY') l
            ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST up
            PATTERN ("strt" {- down* -} up+?) SUBSET s = (down, up)
            DEFINE up AS up.d - PREV(up.d) < '0 01:00:00.00') a ORDER BY 1""",
    ),
    (
        "trino",
        """SELECT count(), "x y" FROM (VALUES (1, 2)) AS t(id, v) MATCH_RECOGNIZE (
            ORDER BY id MEASURES array_agg(v) AS a, FIRST(v, 2) AS f, START.v / 2 AS h
            ALL ROWS PER MATCH PATTERN (START "b"{,3}) DEFINE "b" AS date_add('hour', 1, d) > e)""",
    ),
    (
        "flink",
        """SELECT * FROM Ticker MATCH_RECOGNIZE (PARTITION BY `a b` ORDER BY rowtime
            MEASURES MATCH_ROWTIME() AS t, AVG(A.x) / 2 AS q
            PATTERN (A+ B*? C) WITHIN INTERVAL '1' HOUR DEFINE A AS SUM(A.x) < 3)""",
    ),
]


@pytest.mark.parametrize(("product", "query"), QUERIES)
def test_a_query_for_its_own_product_stays_as_it_is(product: str, query: str) -> None:
    translation = translate_query(query, PRODUCTS[product], PRODUCTS[product])
    assert translation.text == query
    assert translation.notes == ()
