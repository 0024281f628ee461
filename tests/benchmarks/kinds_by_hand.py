"""Window SQL for each kind of query, as one would write it who knows Spark well.

Rows are narrowed before the shuffle and dropped as early as the question allows. Every window of a
query has the same partitions and order (or the reverse), so that Spark shuffles once.
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

# The last row that began a run of LOW began the one before a HIGH. Sums from the partition's start
# on, here and there, make the run's.
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

# Backwards in time, the last row seen that is not LOW ends the run of a LOW.
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

# Tops, bottoms and ends as of the V-shape; a W is two shapes that adjoin, and every second one of a
# chain of shapes begins one.
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

# Only the first and the last rows of sessions are kept, so what follows a first one is its last.
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


def runs_in_a_row(joins: str, joined: str, column: str, least: int) -> str:
    """Runs of at least so many rows, in the way of the sessions. column: of the first row.

    joins, joined: whether a row goes on with the run of the one before, and the next one with its.
    """
    return f"""
SELECT {{key}}, s, IF(is_last, s, next) AS e, {column}, IF(is_last, n, next_n) - n + 1 AS n
FROM (
  SELECT {{key}}, {{time}} AS s, {column}, n, is_first, is_last, lead({{time}}) OVER w AS next,
    lead(n) OVER w AS next_n
  FROM (
    SELECT {{key}}, {{time}}, {column}, row_number() OVER w AS n,
      NOT coalesce({joins}, FALSE) AS is_first, NOT coalesce({joined}, FALSE) AS is_last
    FROM {{table}} WINDOW w AS (PARTITION BY {{key}} ORDER BY {{time}}))
  WHERE is_first OR is_last
  WINDOW w AS (PARTITION BY {{key}} ORDER BY {{time}}))
WHERE is_first AND IF(is_last, n, next_n) - n + 1 >= {least}"""


ISLANDS = runs_in_a_row(
    "{event} = lag({event}) OVER w", "lead({event}) OVER w = {event}", "{event}", 1
)
STUCK = runs_in_a_row(
    "{value} = lag({value}) OVER w", "lead({value}) OVER w = {value}", "{value}", 6
)
ROTATIONS = runs_in_a_row(
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

# Of a run of HI only the first row is kept, with how many HI there are before it, and of the others
# those that are LO: so a LO that follows a first HI ends its match.
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
