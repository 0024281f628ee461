"""The columns, values and forms of random conditions over several rows of a run.

`run_conditions` fills the forms: `{i}` is a value of the type of column i, `{0}` the first operand
that was drawn before, and `{c}` a condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Columns = Mapping[str, tuple[str, Sequence[object]]]

COLUMNS: Columns = {
    "i": ("INT", [0, 1, 2, -3, 7, 2**31 - 1, -(2**31)]),
    "l": ("BIGINT", [0, 1, 2, -3, 2**40, 2**63 - 1, -(2**63) + 1]),
    "d": ("DOUBLE", [0.0, -0.0, 0.5, 1.0, -3.25, 1e300, float("nan"), float("inf")]),
    "f": ("FLOAT", [0.0, 0.1, 0.35, -2.5, 16777216, 3e38, float("nan")]),
    "m": ("DECIMAL(7, 2)", ["0", "1.25", "0.01", "-3", "99999.99"]),
    "w": ("DECIMAL(30, 4)", ["0", "1.2500", "-7.0001", "9999999999999999999999.9999"]),
    "b": ("BOOLEAN", ["true", "false"]),
    "day": ("DATE", ["2024-02-29", "2024-03-01", "1969-12-31", "2023-11-05"]),
    "ts": (
        "TIMESTAMP",
        ["2024-02-29 00:00:00", "2024-03-01 12:34:56.000001", "1999-12-31 23:59:59"],
    ),
    "e": ("INTERVAL DAY TO SECOND", ["0 00:00:00", "1 02:03:04.000001", "-3 00:00:01"]),
    "name": ("STRING", ["a", "b", "", "Aé", "aab", "12", " 7 ", "x,y"]),
    "xs": ("ARRAY<INT>", ["[]", "[1]", "[1, null]", "[null]", "[2, 1, 7]", "[-3, 1]"]),
    "ds": ("ARRAY<DOUBLE>", ["[]", "[0.0, -0.0]", "[0.5, null]", '["NaN"]', "[1, 0.5]"]),
    "names": ("ARRAY<STRING>", ["[]", '["a"]', '["a", "b"]', '[null, "a"]', '["12", "x,y"]']),
    "p": (
        "STRUCT<u: INT, v: STRING>",
        ['{"u": 1, "v": "a"}', '{"u": 1}', '{"v": "b"}', "{}", '{"u": -3, "v": "a"}'],
    ),
    "mp": ("MAP<STRING, INT>", ["{}", '{"a": 1, "b": null}', '{"": 7, "12": 2}', '{"a": 2}']),
}
NESTED = ("ARRAY", "STRUCT", "MAP")
UNORDERED = ("mp",)
# The same columns with values for which most operations do not fail in ANSI mode.
TAME: Columns = COLUMNS | {
    "i": ("INT", [0, 1, 2, -3, 7]),
    "l": ("BIGINT", [0, 1, 2, -3, 2**33]),
    "d": ("DOUBLE", [0.0, 0.5, 1.0, -3.25]),
    "f": ("FLOAT", [0.0, 0.1, 0.35, -2.5]),
    "name": ("STRING", ["12", "7", "0", "3"]),
}
NUMBERS = ("i", "l", "d", "f", "m", "w")
LITERALS = {
    "i": ["1", "-3", "2"],
    "l": ["2", "5000000000"],
    "d": ["0.5D", "1.5"],
    "f": ["1", "CAST(0.3 AS FLOAT)"],
    "m": ["1.25", "3"],
    "w": ["1.2500", "-7.0001"],
    "b": ["TRUE"],
    "day": ["DATE'2024-03-01'"],
    "ts": ["TIMESTAMP'2024-03-01 12:00:00'"],
    "e": ["INTERVAL '1 02:00:00' DAY TO SECOND"],
    "name": ["'a'", "'12'"],
    "xs": ["array(1)", "array(1, NULL)"],
    "ds": ["array(0.5D)"],
    "names": ["array('a')", "split('a,b', ',')"],
    "p": ["named_struct('u', 1, 'v', 'a')"],
    "mp": ["map('a', 1)"],
}
# NULL, in a form that Spark does not fold to a constant.
NO_ROW = "IF(t < 0, {0}, NULL)"
READS = [
    ("{0}", "{0}"),
    ("C.{0}", "{0}"),
    ("A.{0}", "lag({0}, 1) OVER (o)"),
    ("LAST(A.{0})", "lag({0}, 1) OVER (o)"),
    ("PREV({0})", "lag({0}, 1) OVER (o)"),
    ("FIRST(A.{0})", "lag({0}, 2) OVER (o)"),
    ("FIRST({0})", "lag({0}, 2) OVER (o)"),
    ("LAST(A.{0}, 1)", "lag({0}, 2) OVER (o)"),
    ("LAST(A.{0}, 2)", NO_ROW),
]
FRAMES = [("A.", "rows_of_a"), ("", "all_rows"), ("C.", "this_row")]
WINDOWS = """WINDOW o AS (PARTITION BY k ORDER BY t),
    rows_of_a AS (PARTITION BY k ORDER BY t ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING),
    all_rows AS (PARTITION BY k ORDER BY t ROWS BETWEEN 2 PRECEDING AND CURRENT ROW),
    this_row AS (PARTITION BY k ORDER BY t ROWS BETWEEN CURRENT ROW AND CURRENT ROW)"""

FORMS_OF_ONE_TYPE = [
    "coalesce({0}, {1})",
    "nvl({0}, {1})",
    "CASE WHEN {c} THEN {0} ELSE {1} END",
    "greatest({0}, {1})",
    "least({0}, {1})",
    "nullif({0}, {1})",
    "IF({c}, {0}, {1})",
    "nvl2({1}, {0}, {1})",
    "CASE {0} WHEN {1} THEN {1} ELSE {0} END",
]
FORMS: dict[str, list[str]] = {
    "i": [
        "({i} + {i})",
        "({i} - {i})",
        "({i} * {i})",
        "({i} % {i})",
        "abs({i})",
        "-({i})",
        "datediff({day}, {day})",
        "levenshtein({name}, {name})",
        "CAST({d} AS INT)",
        "CAST({m} AS INT)",
        "CAST({name} AS INT)",
        "CAST({b} AS INT)",
        "INT({l})",
        "sign({d})::INT",
        "try_add({i}, {i})",
        "try_subtract({i}, {i})",
        "try_multiply({i}, {i})",
        "try_mod({i}, {i})",
        "size({xs})",
        "round({i}, -1)",
        "decode({i}, {i}, {i}, {i}, {i}, {i})",
    ],
    "l": [
        "({l} + {i})",
        "({l} - {l})",
        "({i} * {l})",
        "({l} DIV {i})",
        "floor({d})",
        "ceil({d})",
        "CAST({i} AS BIGINT)",
        "bigint({name})",
        "timestampdiff(HOUR, {ts}, {ts})",
        "(-{l})",
        "try_multiply({l}, {l})",
        "try_add({l}, {i})",
    ],
    "d": [
        "({d} + {i})",
        "({d} - {f})",
        "({d} * {d})",
        "({i} / {i})",
        "({d} / {l})",
        "({d} % {d})",
        "sqrt({d})",
        "ln({d})",
        "exp({f})",
        "power({d}, {i})",
        "round({d}, 1)",
        "sign({d})",
        "CAST({m} AS DOUBLE)",
        "CAST({name} AS DOUBLE)",
        "CAST({l} AS DOUBLE)",
        "nanvl({d}, {f})",
        "log10({d})",
        "abs({d})",
        "radians({d})",
        "try_divide({i}, {i})",
        "try_divide({d}, {i})",
        "try_add({d}, {d})",
    ],
    "f": [
        "({f} + {f})",
        "({f} * {f})",
        "CAST({d} AS FLOAT)",
        "abs({f})",
        "CAST({i} AS FLOAT)",
        "-({f})",
    ],
    "m": [
        "CAST({i} AS DECIMAL(7, 2))",
        "CAST({d} AS DECIMAL(7, 2))",
        "abs({m})",
        "CAST({w} AS DECIMAL(7, 2))",
        "CAST({name} AS DECIMAL(7, 2))",
        "CAST({m} + {m} AS DECIMAL(7, 2))",
        "CAST({m} * {i} AS DECIMAL(7, 2))",
        "CAST({m} / {m} AS DECIMAL(7, 2))",
        "CAST(round({m}, 1) AS DECIMAL(7, 2))",
        "CAST(round({m}, -1) AS DECIMAL(7, 2))",
        "CAST(round({w}, 3) AS DECIMAL(7, 2))",
        "CAST(floor({m}) - ceil({w}) AS DECIMAL(7, 2))",
        "CAST(try_divide({m}, {m}) AS DECIMAL(7, 2))",
        "CAST(try_add({m}, {m}) AS DECIMAL(7, 2))",
    ],
    "w": [
        "CAST({w} + {m} AS DECIMAL(30, 4))",
        "CAST({w} - {w} AS DECIMAL(30, 4))",
        "CAST({m} * {w} AS DECIMAL(30, 4))",
        "CAST({w} % {m} AS DECIMAL(30, 4))",
        "CAST({l} AS DECIMAL(30, 4))",
        "-({w})",
        "CAST(try_subtract({w}, {m}) AS DECIMAL(30, 4))",
    ],
    "b": [
        "CAST({name} AS BOOLEAN)",
        "CAST({i} AS BOOLEAN)",
        "(NOT {b})",
        "array_contains({names}, {name})",
        "array_contains({xs}, {l})",
        "arrays_overlap({xs}, {xs})",
        "arrays_overlap({ds}, {ds})",
        "equal_null({d}, {d})",
        "equal_null({p}, {p})",
    ],
    "e": ["({ts} - {ts})", "({e} + {e})", "({e} - {e})", "-({e})"],
    "xs": ["array_intersect({xs}, {xs})"],
    "ds": ["array_intersect({ds}, {ds})"],
    "names": ["array_intersect({names}, {names})"],
    "p": ["IF({c}, {p}, {p})", "coalesce({p}, {p})"],
    "mp": ["IF({c}, {mp}, {mp})"],
    "day": [
        "date_add({day}, {i} % 1000)",
        "date_sub({day}, 3)",
        "CAST({ts} AS DATE)",
        "to_date({ts})",
        "({day} + 3)",
    ],
    "ts": [
        "({ts} + INTERVAL '1' HOUR)",
        "({ts} - INTERVAL '1 02:03:04' DAY TO SECOND)",
        "CAST({day} AS TIMESTAMP)",
        "({ts} + ({ts} - {ts}))",
    ],
    "name": [
        "({name} || {name})",
        "concat({name}, '-', {name})",
        "CAST({i} AS STRING)",
        "CAST({m} AS STRING)",
        "CAST({b} AS STRING)",
        "CAST({l} AS STRING)",
        "CAST({w} AS STRING)",
    ],
}
AGGREGATES: dict[str, list[str]] = {
    "i": [
        "size(collect_list({i}))",
        "size(collect_set({name}))",
        "max_by({i}, {d})",
        "max_by({i}, {xs})",
        "size(array_agg({p}))",
    ],
    "l": ["count({i})", "sum({i})", "count_if({b})", "count(*)", "sum({l})"],
    "d": [
        "avg({i})",
        "sum({d})",
        "avg({d})",
        "stddev({d})",
        "var_pop({i})",
        "stddev_pop({f})",
        "avg({l})",
        "sum({f})",
        "percentile({d}, 0.3)",
        "percentile({i}, 0.5)",
        "regr_slope({i}, {d})",
    ],
    "m": ["CAST(sum({m}) AS DECIMAL(7, 2))", "CAST(avg({m}) AS DECIMAL(7, 2))"],
    "w": ["CAST(sum({w}) AS DECIMAL(30, 4))", "CAST(avg({w}) AS DECIMAL(30, 4))"],
    "b": ["bool_and({b})", "bool_or({b})"],
    "name": ["min_by({name}, {i})"],
    "day": ["max_by({day}, {l})"],
    "e": ["sum({e})"],
    "xs": ["collect_list({i})"],
    "ds": ["collect_list({d})", "max_by({ds}, {i})"],
    "names": ["collect_list({name})"],
    "p": ["min_by({p}, {l})"],
    "mp": ["max_by({mp}, {i})"],
}
AGGREGATES_OF_ANY_TYPE = [
    "min({0})",
    "max({0})",
    "first_value({0})",
    "last_value({0})",
    "any_value({0})",
]
AGGREGATES_OF_UNORDERED = AGGREGATES_OF_ANY_TYPE[2:]
# Calls that may be around the aggregate of a form.
OUTER = ("size(", "CAST(")

# Aggregates that Spark does not allow over a frame: the form in DEFINE, an equivalent form in
# Spark, and the column whose type the value has. `{a}` is the variable and a point, `{w}` its
# frame, and `{0}` a column that can be a key.
REWRITTEN_AGGREGATES = [
    ("count(DISTINCT {a}{0})", "CAST(size(collect_set({0}) OVER ({w})) AS BIGINT)", "l"),
    ("count({a}{0}) FILTER (WHERE {a}b)", "count(IF(b, {0}, NULL)) OVER ({w})", "l"),
    ("count(*) FILTER (WHERE {a}b)", "count_if(b) OVER ({w})", "l"),
    ("sum({a}i) FILTER (WHERE {a}l > 0)", "sum(IF(l > 0, i, NULL)) OVER ({w})", "l"),
    ("avg({a}d) FILTER (WHERE {a}b)", "avg(IF(b, d, NULL)) OVER ({w})", "d"),
    ("collect_list({a}i) FILTER (WHERE {a}b)", "collect_list(IF(b, i, NULL)) OVER ({w})", "xs"),
    ("max({a}xs) FILTER (WHERE {a}b)", "max(IF(b, xs, NULL)) OVER ({w})", "xs"),
    ("median({a}i)", "percentile(i, 0.5) OVER ({w})", "d"),
    ("min(DISTINCT {a}d)", "min(d) OVER ({w})", "d"),
    ("max(IF(CLASSIFIER() = 'A', i, NULL))", "max(i) OVER (rows_of_a)", "i"),
    ("count_if(CLASSIFIER() = 'A')", "CAST(2 AS BIGINT)", "l"),
    ("min({a}i + 0 * MATCH_NUMBER())", "min(CAST(i AS BIGINT)) OVER ({w})", "l"),
    (
        "sum(DISTINCT {a}i)",
        "aggregate(nullif(collect_set(i) OVER ({w}), array()), 0L, (x, y) -> x + y)",
        "l",
    ),
]
