"""Window SQL for each kind of query, as an expert in Spark would write it.

Columns are dropped before the shuffle, and rows as early as possible. Every window of a query has
the same partitions and the same order, or the reverse one, so that Spark shuffles once. The texts
have placeholders in braces, like the texts in `kinds`.
"""

from __future__ import annotations

from tests.benchmarks import by_hand

FIXED = """
SELECT {key}, a, b, c FROM (
  SELECT {key}, {time} AS a, is_a, lead(is_b) OVER w AS then_b, lead(is_c, 2) OVER w AS then_c,
    lead({time}) OVER w AS b, lead({time}, 2) OVER w AS c
  FROM (SELECT {key}, {time}, {value} > {most} AS is_a, {amount} < {few} AS is_b,
      {value} < {least} AS is_c
    FROM {table})
  WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
WHERE is_a AND then_b AND then_c"""

STEPS = """
SELECT {key}, s, e, {value} - x0 AS rise FROM (
  SELECT {key}, lag({time}, 3) OVER w AS s, lag({time}, 2) OVER w AS t1,
    lag({time}) OVER w AS t2, {time} AS e,
    lag({value}, 3) OVER w AS x0, lag({value}, 2) OVER w AS x1, lag({value}) OVER w AS x2, {value}
  FROM {table} WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
WHERE x1 > x0 + {jump} AND x2 > x1 + {jump} AND {value} < x2 - {jump}
  AND t1 - s <= {near} AND t2 - t1 <= {near} AND e - t2 <= {near}"""

# The run of LOW before a HIGH began with the last row that begins a run of LOW. The count and the
# sum of the run are differences: the totals of the partition up to the HIGH, less the totals up to
# the row before the run.
RUNS = """
SELECT {key}, run.s, {time} AS e, n - run.n AS n, total - run.total AS total FROM (
  SELECT {key}, {time}, is_high, was_low, n, total,
    last_value(CASE WHEN is_low AND NOT coalesce(was_low, FALSE)
      THEN struct({time} AS s, n, total - amount AS total) END) IGNORE NULLS OVER so_far AS run
  FROM (
    SELECT *, lag(is_low) OVER w AS was_low, row_number() OVER w AS n,
      sum(amount) OVER so_far AS total
    FROM (SELECT {key}, {time}, {value} < {low} AS is_low, {value} > {high} AS is_high,
      CASE WHEN {value} < {low} THEN {amount} ELSE 0 END AS amount FROM {table})
    WINDOW w AS (PARTITION BY {key} ORDER BY {time}),
      so_far AS (PARTITION BY {key} ORDER BY {time} ROWS UNBOUNDED PRECEDING))
  WINDOW so_far AS (PARTITION BY {key} ORDER BY {time} ROWS UNBOUNDED PRECEDING))
WHERE is_high AND was_low"""

# The innermost window goes backwards in time, so the last row seen that is not LOW is the row that
# ends the run of a LOW.
RUNS_ALL_ROWS = """
SELECT {key}, {time}, CASE WHEN is_low THEN 'LOW' ELSE 'HIGH' END AS c, s, {value}, {amount} FROM (
  SELECT *, last_value(CASE WHEN is_low AND NOT coalesce(was_low, FALSE) THEN {time} END)
    IGNORE NULLS OVER (PARTITION BY {key} ORDER BY {time} ROWS UNBOUNDED PRECEDING) AS s
  FROM (
    SELECT *, lag(is_low) OVER (PARTITION BY {key} ORDER BY {time}) AS was_low FROM (
      SELECT *, last_value(CASE WHEN NOT is_low THEN is_high END) IGNORE NULLS OVER (
        PARTITION BY {key} ORDER BY {time} DESC ROWS UNBOUNDED PRECEDING) AS ends_high
      FROM (SELECT *, {value} < {low} AS is_low, {value} > {high} AS is_high FROM {table}))))
WHERE ends_high AND (is_low OR was_low)"""

# The same over a table with more columns, all of which are returned.
RUNS_ALL_ROWS_WIDE = RUNS_ALL_ROWS.replace(
    "{value}, {amount} FROM", "{value}, {amount}, {rest} FROM"
)

# The V-shape with a second ORDER BY column, which every subquery passes on.
VSHAPE_OF_TWO = by_hand.VSHAPE.replace("{key}, {time}", "{key}, {group}, {time}").replace(
    "ORDER BY {time}", "ORDER BY {group}, {time}"
)

# Tops, bottoms and ends are found as for the V-shape (see `by_hand`). A W is two Vs that share a
# row. In a chain of Vs that share rows, every second V begins a W.
WSHAPE = """
WITH steps AS (
  SELECT {key}, {time}, {value}, lag({value}) OVER w AS before, lead({value}) OVER w AS after
  FROM {table} WINDOW w AS (PARTITION BY {key} ORDER BY {time})),
turns AS (
  SELECT {key}, {time}, {value},
    after < {value} AND NOT coalesce({value} < before, FALSE) AS is_top,
    {value} < before AND after > {value} AS is_bottom,
    {value} > before AND NOT coalesce(after > {value}, FALSE) AS is_end
  FROM steps),
shapes AS (
  SELECT * FROM (
    SELECT {key}, {time}, is_top, lead(is_bottom) OVER w AS falls, lead({time}) OVER w AS bottom_ts,
      lead({value}) OVER w AS bottom, lead({time}, 2) OVER w AS end_ts
    FROM turns WHERE is_top OR is_bottom OR is_end
    WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
  WHERE is_top AND falls),
numbered AS (
  SELECT *, row_number() OVER w AS n, lag(end_ts) OVER w <=> {time} AS adjoins,
    lead({time}) OVER w AS next_top, lead(bottom) OVER w AS next_bottom,
    lead(end_ts) OVER w AS next_end
  FROM shapes WINDOW w AS (PARTITION BY {key} ORDER BY {time})),
chained AS (
  SELECT *, n - max(CASE WHEN NOT adjoins THEN n END) OVER w AS place FROM numbered
  WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
SELECT {key}, {time} AS s, bottom, end_ts AS middle, next_bottom, next_end AS e
FROM chained WHERE place % 2 = 0 AND next_top = end_ts"""

# Only the first and the last row of each session are kept, so the next row after a first row is the
# last row of the session.
SESSIONS = """
SELECT {key}, s, IF(is_last, s, next) AS e, IF(is_last, n, next_n) - n + 1 AS n,
  IF(is_last, total, next_total) - total + {amount} AS total
FROM (
  SELECT {key}, {time} AS s, {amount}, n, total, is_first, is_last, lead({time}) OVER w AS next,
    lead(n) OVER w AS next_n, lead(total) OVER w AS next_total
  FROM (
    SELECT *, coalesce({time} - before > {pause}, TRUE) AS is_first,
      coalesce(after - {time} > {pause}, TRUE) AS is_last
    FROM (
      SELECT {key}, {time}, {amount}, lag({time}) OVER w AS before, lead({time}) OVER w AS after,
        row_number() OVER w AS n,
        sum({amount}) OVER (PARTITION BY {key} ORDER BY {time} ROWS UNBOUNDED PRECEDING) AS total
      FROM {table} WINDOW w AS (PARTITION BY {key} ORDER BY {time})))
  WHERE is_first OR is_last
  WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
WHERE is_first"""

LONG = """
SELECT {key}, e, last_a, least(n - stop - 1, {longest}) AS n FROM (
  SELECT {key}, {time} AS e, is_b, n, lag({time}) OVER w AS last_a,
    coalesce(lag(stop) OVER w, 0) AS stop
  FROM (
    SELECT *, max(CASE WHEN NOT is_a THEN n END) OVER (
      PARTITION BY {key} ORDER BY {time} ROWS UNBOUNDED PRECEDING) AS stop
    FROM (SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY {time}) AS n
      FROM (SELECT {key}, {time}, {value} < {nearly_all} AS is_a,
        {value} >= {nearly_all} AND {amount} >= {few} AS is_b FROM {table})))
  WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
WHERE is_b AND n - stop - 1 >= {shortest}"""


def write_runs(joins_previous: str, joined_by_next: str, column: str, least: int) -> str:
    """Return window SQL for the runs of consecutive rows that belong together.

    Only the first and the last row of each run are kept, as for the sessions.

    Args:
        joins_previous: SQL that is true if a row continues the run of the row before it.
        joined_by_next: SQL that is true if the next row continues the run of a row.
        column: a column of the first row that is returned.
        least: the least number of rows of a run.
    """
    return f"""
SELECT {{key}}, s, IF(is_last, s, next) AS e, {column}, IF(is_last, n, next_n) - n + 1 AS n
FROM (
  SELECT {{key}}, {{time}} AS s, {column}, n, is_first, is_last, lead({{time}}) OVER w AS next,
    lead(n) OVER w AS next_n
  FROM (
    SELECT {{key}}, {{time}}, {column}, row_number() OVER w AS n,
      NOT coalesce({joins_previous}, FALSE) AS is_first,
      NOT coalesce({joined_by_next}, FALSE) AS is_last
    FROM {{table}} WINDOW w AS (PARTITION BY {{key}} ORDER BY {{time}}))
  WHERE is_first OR is_last
  WINDOW w AS (PARTITION BY {{key}} ORDER BY {{time}}))
WHERE is_first AND IF(is_last, n, next_n) - n + 1 >= {least}"""


ISLANDS = write_runs(
    "{event} = lag({event}) OVER w", "lead({event}) OVER w = {event}", "{event}", 1
)
STUCK = write_runs("{value} = lag({value}) OVER w", "lead({value}) OVER w = {value}", "{value}", 6)
ROTATIONS = write_runs(
    "{origin} = lag({destination}) OVER w AND {value} >= lag({value}) OVER w",
    "lead({origin}) OVER w = {destination} AND lead({value}) OVER w >= {value}",
    "{value}",
    3,
)

OVERLAPS = """
SELECT {key}, s, e, amount FROM (
  SELECT {key}, {time} AS s, is_a, lead(is_b) OVER w AS then_b, lead(is_c, 2) OVER w AS then_c,
    lead(is_d, 3) OVER w AS then_d, lead({time}, 3) OVER w AS e, lead({amount}, 2) OVER w AS amount
  FROM (SELECT {key}, {time}, {amount}, {value} > {high} AS is_a, {value} < {high} AS is_b,
      {value} < {low} AS is_c,
    {amount} >= {few} AS is_d FROM {table})
  WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
WHERE is_a AND then_b AND then_c AND then_d"""

SIGN_INS = """
SELECT {key}, s, e FROM (
  SELECT {key}, {time} AS e, has_passed, lag({time}, 4) OVER w AS s,
    lag(has_failed, 1) OVER w AND lag(has_failed, 2) OVER w AND lag(has_failed, 3) OVER w
      AND lag(has_failed, 4) OVER w AS had_failed
  FROM (SELECT {key}, {time}, {event} = '{failed}' AS has_failed, {event} = '{passed}' AS has_passed
    FROM {table})
  WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
WHERE has_passed AND had_failed AND e - s <= {spell}"""

# The subquery keeps the first row of each run of HI, with the number of HI before it, and every LO.
# So a LO directly after a kept HI ends a match.
HYSTERESIS = """
SELECT {key}, run.s, e, highs - run.highs AS n FROM (
  SELECT {key}, {time} AS e, is_low, highs,
    lag(CASE WHEN is_high THEN struct({time} AS s, highs - 1 AS highs) END) OVER w AS run
  FROM (
    SELECT {key}, {time}, is_low, is_high, lag(is_high) OVER w AS was_high,
      count(CASE WHEN is_high THEN 1 END) OVER (
        PARTITION BY {key} ORDER BY {time} ROWS UNBOUNDED PRECEDING) AS highs
    FROM (SELECT {key}, {time}, {value} < {low} AS is_low, {value} > {high} AS is_high FROM {table})
    WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
  WHERE is_low OR is_high AND NOT coalesce(was_high, FALSE)
  WINDOW w AS (PARTITION BY {key} ORDER BY {time}))
WHERE is_low AND run IS NOT NULL"""
