"""Random conditions over three rows of a run, for matchrec and for window functions of Spark.

They are for C of PATTERN (A{2} C): Spark finds the rows of A by LAG, and what is over the rows
of the match by a frame. Values have types; functions are those that `docs/supported.md` lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

COLUMNS = {
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
    "name": ("STRING", ["a", "b", "", "Aé", "aab", "12", " 7 ", "x,y"]),
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
    "name": ["'a'", "'12'"],
}
READS = [
    ("{0}", "{0}"),
    ("C.{0}", "{0}"),
    ("A.{0}", "lag({0}, 1) OVER (o)"),
    ("LAST(A.{0})", "lag({0}, 1) OVER (o)"),
    ("PREV({0})", "lag({0}, 1) OVER (o)"),
    ("FIRST(A.{0})", "lag({0}, 2) OVER (o)"),
    ("FIRST({0})", "lag({0}, 2) OVER (o)"),
    ("LAST(A.{0}, 1)", "lag({0}, 2) OVER (o)"),
    ("LAST(A.{0}, 2)", "IF(FALSE, {0}, NULL)"),
]
FRAMES = [("A.", "rows_of_a"), ("", "all_rows"), ("C.", "this_row")]
WINDOWS = """WINDOW o AS (PARTITION BY k ORDER BY t),
    rows_of_a AS (PARTITION BY k ORDER BY t ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING),
    all_rows AS (PARTITION BY k ORDER BY t ROWS BETWEEN 2 PRECEDING AND CURRENT ROW),
    this_row AS (PARTITION BY k ORDER BY t ROWS BETWEEN CURRENT ROW AND CURRENT ROW)"""

OF_ONE_TYPE = [
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
        "pmod({i}, {i})",
        "abs({i})",
        "-({i})",
        "length({name})",
        "datediff({day}, {day})",
        "year({day})",
        "month({ts})",
        "hour({ts})",
        "dayofweek({day})",
        "quarter({ts})",
        "ascii({name})",
        "instr({name}, {name})",
        "levenshtein({name}, {name})",
        "CAST({d} AS INT)",
        "CAST({m} AS INT)",
        "CAST({name} AS INT)",
        "CAST({b} AS INT)",
        "INT({l})",
        "unix_date({day})",
        "extract(SECOND FROM {ts})::INT",
        "sign({d})::INT",
        "bround({i}, -1)",
        "round({i}, -1)",
    ],
    "l": [
        "({l} + {i})",
        "({l} - {l})",
        "({i} * {l})",
        "({l} DIV {i})",
        "floor({d})",
        "ceil({d})",
        "CAST({i} AS BIGINT)",
        "unix_micros({ts})",
        "CAST({ts} AS BIGINT)",
        "bigint({name})",
        "timestampdiff(HOUR, {ts}, {ts})",
        "(-{l})",
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
        "cbrt({d})",
        "round({d}, 1)",
        "rint({d})",
        "sign({d})",
        "CAST({m} AS DOUBLE)",
        "CAST({name} AS DOUBLE)",
        "CAST({l} AS DOUBLE)",
        "nanvl({d}, {f})",
        "months_between({day}, {ts})",
        "log10({d})",
        "hypot({d}, {f})",
        "abs({d})",
        "degrees({d})",
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
    ],
    "w": [
        "CAST({w} + {m} AS DECIMAL(30, 4))",
        "CAST({w} - {w} AS DECIMAL(30, 4))",
        "CAST({m} * {w} AS DECIMAL(30, 4))",
        "CAST({w} % {m} AS DECIMAL(30, 4))",
        "CAST({l} AS DECIMAL(30, 4))",
        "-({w})",
    ],
    "b": ["CAST({name} AS BOOLEAN)", "CAST({i} AS BOOLEAN)", "(NOT {b})"],
    "day": [
        "date_add({day}, {i} % 1000)",
        "date_sub({day}, 3)",
        "last_day({day})",
        "CAST({ts} AS DATE)",
        "trunc({day}, 'MONTH')",
        "add_months({day}, {i} % 100)",
        "CAST({name} AS DATE)",
        "to_date({ts})",
        "({day} + 3)",
        "next_day({day}, 'MON')",
    ],
    "ts": [
        "({ts} + INTERVAL '1' HOUR)",
        "({ts} - INTERVAL '1 02:03:04' DAY TO SECOND)",
        "CAST({day} AS TIMESTAMP)",
        "date_trunc('HOUR', {ts})",
        "timestampadd(MINUTE, {i} % 1000, {ts})",
        "({ts} + ({ts} - {ts}))",
        "timestamp_micros({i})",
        "CAST({name} AS TIMESTAMP)",
    ],
    "name": [
        "upper({name})",
        "lower({name})",
        "({name} || {name})",
        "concat({name}, '-', {name})",
        "trim({name})",
        "substr({name}, {i} % 9, 2)",
        "left({name}, 2)",
        "lpad({name}, 4, {name})",
        "replace({name}, {name}, '_')",
        "reverse({name})",
        "repeat({name}, 2)",
        "CAST({i} AS STRING)",
        "CAST({day} AS STRING)",
        "CAST({m} AS STRING)",
        "CAST({ts} AS STRING)",
        "CAST({b} AS STRING)",
        "initcap({name})",
        "md5({name})",
        "split_part({name}, ',', 1)",
        "translate({name}, 'a1', 'z')",
        "hex({name})",
        "CAST({l} AS STRING)",
        "CAST({w} AS STRING)",
    ],
}
AGGREGATES: dict[str, list[str]] = {
    "i": [
        "size(collect_list({i}))",
        "size(collect_set({name}))",
        "array_position(collect_list({i}), 1)::INT",
        "bit_xor({i})",
        "max_by({i}, {d})",
    ],
    "l": ["count({i})", "sum({i})", "count_if({b})", "count(*)", "sum({l})"],
    "d": [
        "avg({i})",
        "sum({d})",
        "avg({d})",
        "stddev({d})",
        "var_pop({i})",
        "stddev_pop({f})",
        "corr({d}, {i})",
        "avg({l})",
        "skewness({i})",
        "sum({f})",
        "covar_samp({i}, {d})",
    ],
    "m": ["CAST(sum({m}) AS DECIMAL(7, 2))", "CAST(avg({m}) AS DECIMAL(7, 2))"],
    "w": ["CAST(sum({w}) AS DECIMAL(30, 4))", "CAST(avg({w}) AS DECIMAL(30, 4))"],
    "b": ["bool_and({b})", "bool_or({b})"],
    "name": [
        "array_join(collect_list({name}), '/')",
        "min_by({name}, {i})",
        "array_max(collect_list({name}))",
    ],
    "day": ["element_at(collect_list({day}), 1)"],
}
OF_ANY = ["min({0})", "max({0})", "first_value({0})", "last_value({0})", "any_value({0})"]


@dataclass(frozen=True)
class Both:
    """An expression as matchrec reads it in DEFINE, and as Spark does in SELECT."""

    ours: str
    sparks: str


class Conditions:
    """Draws conditions of C."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def form(self, form: str, depth: int, parts: Sequence[Both] = ()) -> Both:
        """A form with drawn operands: `{i}` is a value of the type of i, `{c}` a condition."""
        ours, sparks, rest = "", "", form
        while "{" in rest:
            before, _, after = rest.partition("{")
            name, _, rest = after.partition("}")
            if name == "c":
                drawn = self.condition(depth)
            else:
                drawn = parts[int(name)] if name.isdigit() else self.value(name, depth)
            ours, sparks = ours + before + drawn.ours, sparks + before + drawn.sparks
        return Both(ours + rest, sparks + rest)

    def value(self, column: str, depth: int) -> Both:
        """A value of the type of a column."""
        choice = self.random.random()
        if choice < 0.1:
            literal = self.random.choice([*LITERALS[column], f"CAST(NULL AS {COLUMNS[column][0]})"])
            return Both(literal, literal)
        if choice < 0.25:
            return self.aggregate(column)
        if depth <= 0 or choice < 0.5:
            ours, sparks = self.random.choice(READS)
            return Both(ours.format(column), sparks.format(column))
        if choice < 0.65:
            parts = [self.value(column, depth - 1) for _ in range(2)]
            return self.form(self.random.choice(OF_ONE_TYPE), depth - 1, parts)
        return self.form(self.random.choice(FORMS[column]), depth - 1)

    def aggregate(self, column: str) -> Both:
        """An aggregate over the rows of A, of C or of both."""
        forms = [*AGGREGATES.get(column, []), *OF_ANY]
        form = self.random.choice(forms).replace("{0}", f"{{{column}}}")
        prefix, frame = self.random.choice(FRAMES)
        ours, sparks = form, form
        for name in COLUMNS:
            argument = self.random.choice(
                [name, name, name, f"nullif({name}, {LITERALS[name][0]})"]
            )
            mine = (
                argument.replace(name, prefix + name, 1)
                if argument == name
                else (f"nullif({prefix}{name}, {LITERALS[name][0]})")
            )
            ours, sparks = (
                ours.replace(f"{{{name}}}", mine),
                sparks.replace(f"{{{name}}}", argument),
            )
        if prefix:
            ours = ours.replace("(*)", f"({prefix}*)")
        inner, over = ("", f" OVER ({frame})")
        for outer in (
            "size(",
            "array_position(",
            "CAST(",
            "array_join(",
            "array_max(",
            "element_at(",
        ):
            if sparks.startswith(outer):
                inner, sparks = outer, sparks[len(outer) :]
        end = closing(sparks) + 1
        return Both(ours, inner + sparks[:end] + over + sparks[end:])

    def condition(self, depth: int = 2) -> Both:
        """Anything that is true, false or unknown."""
        if depth > 0 and self.random.random() < 0.35:
            word = self.random.choice(
                ["({c} AND {c})", "({c} OR {c})", "(NOT {c})", "({c} AND {c} AND {c})"]
            )
            return self.form(word, depth - 1)
        column = self.random.choice(list(COLUMNS))
        near = self.random.choice(NUMBERS) if column in NUMBERS else column
        parts = [
            self.value(column, depth),
            self.value(near, depth - 1),
            self.value(column, depth - 1),
        ]
        forms = [f"({{0}} {one} {{1}})" for one in ("=", "<>", "<", "<=", ">", ">=", "<=>")]
        forms += [
            "({0} BETWEEN {2} AND {1})",
            "({0} IN ({1}, {2}))",
            "({0} IS NULL)",
            "({0} IS NOT NULL)",
        ]
        forms += ["({0} NOT IN ({2}, {2}))", "({0} IS DISTINCT FROM {1})"]
        if column == "name":
            forms += [
                "({0} LIKE {1} || '%')",
                "contains({0}, {1})",
                "startswith({0}, {1})",
                "({0} RLIKE '^[a-z]')",
            ]
        if column == "b":
            forms += ["({0} IS TRUE)", "({0} IS NOT FALSE)", "({0})"]
        if column == "ts":
            forms += ["({0} - {1} > INTERVAL '1' DAY)"]
        return self.form(self.random.choice(forms), depth, parts)


def closing(text: str) -> int:
    """Where the first call of a text ends."""
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == ")" and depth == 0:
            return place
    raise AssertionError(text)
