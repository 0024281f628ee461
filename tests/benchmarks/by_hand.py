"""What users would write instead of MATCH_RECOGNIZE: window SQL, and a function for applyInPandas.

The window SQL gives the same rows as the clause: a row of a match cannot begin the next match.
Every window of a query has the same partitions and the same order, or the reverse one, so that
Spark shuffles and sorts once. The texts have placeholders in braces for the table, its columns
(key, time, value, event) and the names of events. `{within}` of the funnel is the end of a
condition on the time of the purchase.
"""

from __future__ import annotations

import pandas as pd
from pyspark.sql import DataFrame

# Only the rows at which the price turns are kept. Three of them are a V: top, bottom, end.
#
# The end of a V can be the top of the next V. If the first V is a match, its end is taken. Then the
# next V begins one row later, and is a match only if it has another falling row (`is_long`). If it
# has none, it is not a match, and its end is free for the V after it. So in a chain of Vs that
# share rows, every second V is a match. The count starts again (`place` is 0) at each V that is a
# match in any case: it is long, or shares no row with the V before it.
VSHAPE = """
WITH steps AS (
  SELECT {key}, {time}, {value}, lag({value}) OVER w AS before, lead({value}) OVER w AS after,
    lead({value}, 2) OVER w AS later, lead({time}) OVER w AS next_ts
  FROM {table} WINDOW w AS (PARTITION BY {key} ORDER BY {time})),
turns AS (
  SELECT {key}, {time}, {value}, next_ts, later < after AS is_long,
    after < {value} AND NOT coalesce({value} < before, FALSE) AS is_top,
    {value} < before AND after > {value} AS is_bottom,
    {value} > before AND NOT coalesce(after > {value}, FALSE) AS is_end
  FROM steps),
shapes AS (
  SELECT * FROM (
    SELECT {key}, {time}, next_ts, is_long, is_top, lead(is_bottom) OVER w AS falls,
      lead({time}) OVER w AS bottom_ts, lead({value}) OVER w AS bottom,
      lead({time}, 2) OVER w AS end_ts
    FROM turns WHERE is_top OR is_bottom OR is_end
    WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
  WHERE is_top AND falls),
numbered AS (
  SELECT *, row_number() OVER w AS n, lag(end_ts) OVER w IS NOT DISTINCT FROM {time} AS adjoins
  FROM shapes
  WINDOW w AS (PARTITION BY {key} ORDER BY {time})),
chained AS (
  SELECT *, n - max(CASE WHEN is_long OR NOT adjoins THEN n END) OVER w AS place FROM numbered
  WINDOW w AS (PARTITION BY {key} ORDER BY {time})),
taken AS (
  SELECT *, adjoins AND lag(place) OVER w % 2 = 0 AS top_is_taken FROM chained
  WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
SELECT {key}, CASE WHEN top_is_taken THEN next_ts ELSE {time} END AS start_ts, bottom_ts, end_ts,
  bottom
FROM taken WHERE place % 2 = 0"""

SCAN = """
SELECT symbol, ts, b, c FROM (
  SELECT symbol, ts, price > 195 AS is_a,
    lead(volume) OVER w < 50 AS is_b, lead(price, 2) OVER w < 105 AS is_c,
    lead(ts) OVER w AS b, lead(ts, 2) OVER w AS c
  FROM ticks WINDOW w AS (PARTITION BY symbol ORDER BY ts))
WHERE is_a AND is_b AND is_c"""

# The windows go backwards in time, so the next cart after a view, and the next purchase after that
# cart, are the last ones seen. Several views can lead to one purchase, and the first one counts.
# But if the previous purchase ends a match, the views before it are in that match. So a purchase
# all of whose views come before the previous purchase ends a match only if the previous one does
# not: in a chain of such purchases, every second one (`place` is even) ends a match.
FUNNEL = """
WITH ahead AS (
  SELECT *,
    last_value(CASE WHEN {event} = '{third}' THEN {time} END) IGNORE NULLS OVER back
      AS next_purchase
  FROM {table} WHERE {event} IN ('{first}', '{second}', '{third}')
  WINDOW back AS (PARTITION BY {key} ORDER BY {time} DESC ROWS UNBOUNDED PRECEDING)),
carts AS (
  SELECT *, last_value(CASE WHEN {event} = '{second}' THEN struct({time} AS at, next_purchase) END)
    IGNORE NULLS OVER back AS cart
  FROM ahead WINDOW back AS (PARTITION BY {key} ORDER BY {time} DESC ROWS UNBOUNDED PRECEDING)),
found AS (
  SELECT {key}, {time} AS view_ts, cart.at AS cart_ts, cart.next_purchase AS purchase_ts FROM carts
  WHERE {event} = '{first}' AND cart.next_purchase {within}),
before AS (
  SELECT *, nullif(lag(purchase_ts) OVER w, purchase_ts) AS other FROM found
  WINDOW w AS (PARTITION BY {key} ORDER BY view_ts)),
marked AS (
  SELECT *, last_value(other) IGNORE NULLS OVER w AS previous FROM before
  WINDOW w AS (PARTITION BY {key} ORDER BY view_ts ROWS UNBOUNDED PRECEDING)),
purchases AS (
  SELECT {key}, purchase_ts, min(struct(view_ts, cart_ts)) AS first,
    min(CASE WHEN previous IS NULL OR view_ts > previous THEN struct(view_ts, cart_ts) END) AS free
  FROM marked GROUP BY {key}, purchase_ts),
numbered AS (
  SELECT *, row_number() OVER w AS n FROM purchases
  WINDOW w AS (PARTITION BY {key} ORDER BY purchase_ts)),
chained AS (
  SELECT *, n - max(CASE WHEN free IS NOT NULL THEN n END) OVER w AS place FROM numbered
  WINDOW w AS (PARTITION BY {key} ORDER BY purchase_ts)),
taken AS (
  SELECT *, CASE WHEN lag(place) OVER w % 2 = 0 THEN free ELSE first END AS start FROM chained
  WINDOW w AS (PARTITION BY {key} ORDER BY purchase_ts))
SELECT {key}, start.view_ts, start.cart_ts, purchase_ts FROM taken WHERE place % 2 = 0"""

# The window goes backwards in time: the next row that is not an A ends the match of every A before
# it.
OVERLAPS = """
SELECT symbol, ts AS s, coalesce(stop.e, last_ts) AS e, coalesce(stop.n, last_n + 1) - n AS n
FROM (
  SELECT symbol, ts, n, is_a, first(ts) OVER back AS last_ts, first(n) OVER back AS last_n,
    last_value(CASE WHEN NOT is_a THEN struct(before AS e, n) END) IGNORE NULLS OVER back AS stop
  FROM (
    SELECT symbol, ts, volume < 990 AS is_a, lag(ts) OVER w AS before, row_number() OVER w AS n
    FROM half WINDOW w AS (PARTITION BY symbol ORDER BY ts))
  WINDOW back AS (PARTITION BY symbol ORDER BY ts DESC ROWS UNBOUNDED PRECEDING))
WHERE is_a"""


def find_v_shapes_of_symbol(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the V-shapes of one symbol, found by a loop over its rows."""
    frame = frame.sort_values("ts")
    price = frame["price"].to_numpy()
    ts = frame["ts"].to_numpy()
    count = len(price)
    matches = []
    start = 0
    while start < count - 2:
        bottom = start
        while bottom + 1 < count and price[bottom + 1] < price[bottom]:
            bottom += 1
        end = bottom
        while bottom > start and end + 1 < count and price[end + 1] > price[end]:
            end += 1
        if end > bottom > start:
            matches.append((frame["symbol"].iloc[0], ts[start], ts[bottom], ts[end], price[bottom]))
            start = end + 1
        else:
            start += 1
    return pd.DataFrame(matches, columns=["symbol", "start_ts", "bottom_ts", "end_ts", "bottom"])


def find_v_shapes(table: DataFrame) -> DataFrame:
    """Return the V-shapes of all symbols, with applyInPandas."""
    schema = (
        "symbol string, start_ts timestamp, bottom_ts timestamp, end_ts timestamp, bottom double"
    )
    narrow = table.select("symbol", "ts", "price")
    return narrow.groupBy("symbol").applyInPandas(find_v_shapes_of_symbol, schema)
