"""Draw random clauses with any options, as text, and rows for their input.

Together they reach every shortcut: conditions on neighbouring rows, conditions that
form a window, loops over irrelevant rows, aggregates that Spark computes, matches that overlap.
Some combinations of options are not allowed; then building the query raises an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

COLUMNS = "id int, k string, t int, x int, y double, s string"
Row = tuple[int, str | None, int | None, int | None, float | None, str | None]

PATTERNS = (
    "A B", "A B C", "A+ B", "A B+ C", "A Z*? C", "A Z* C", "A Z*? B Z*? C", "(A | B)+ C", "A? B",
    "A B*", "(A B)*", "A+? C?", "A{2}", "A{1,3} B", "^ A B", "A B+ $", "^ A* C $",
    "PERMUTE(A, B, C)", "A {- B+ -} C", "{- A -} B", "A NOT B C", "A+ NOT B", "(A B | A C) B?",
    "A (B | Z) C", "B+ C*",
    "A B A", "(A B? C)+", "A Z{0,4}? C",
)  # fmt: skip
SELECTED = (
    "A B", "A B C", "A+ B", "A B+ C", "A? B C", "(A | B) C", "NOT C A B", "A NOT B C", "A B NOT C",
    "A+ NOT C B", "A C*? B", "A B+", "A B?", "A (B C)*", "A B{1,2}",
)  # fmt: skip
CONDITIONS = (
    "x > 1", "x <= 2", "s = 'a'", "s <> 'b'", "x IS NULL OR x > 2", "{v}.x > 0 AND s < 'c'", "TRUE",
    "x > PREV(x)", "x >= NEXT(x)", "PREV({v}.x, 2) IS NULL", "PREV(x) < NEXT(x)", "x <> PREV(x)",
    "x > FIRST(x)", "{v}.t - FIRST(t) <= 4", "{v}.t <= FIRST({w}.t) + 3", "x >= {w}.x", "{w}.s = s",
    "x > PREV(FIRST(x))", "x > LAST({w}.x, 1)", "PREV({w}.x) = 1", "NEXT(FIRST(s)) = 'b'",
    "MATCH_NUMBER() <= 2", "MATCH_NUMBER() % 2 = 1 OR x > 1", "count({v}.*) <= 2", "sum(x) < 6",
    "avg({w}.x) >= 1", "CLASSIFIER({w}) = '{w}'", "max(x) = x", "count(*) < 4", "sum({w}.y) > y",
    "x + {w}.x > 3", "count(CASE WHEN MATCH_NUMBER() < 3 THEN 1 END) >= 0", "min({w}.s) <= s",
)  # fmt: skip
MEASURES = (
    "FIRST(id) AS f", "LAST(id) AS l", "count(*) AS n", "sum(x) AS sx", "A.x AS ax", "C.s AS cs",
    "LAST(B.id, 1) AS b1", "MATCH_NUMBER() AS m", "CLASSIFIER() AS c", "PREV(FIRST(x)) AS p",
    "NEXT(LAST(id)) AS nx", "collect_list(s) AS ss", "max(B.y) AS my", "avg(x) AS m2",
    "sum(y) AS sy", "count(DISTINCT x) AS dx", "FINAL LAST(x) AS fx", "A.x + LAST(x) AS both",
    "percentile(x, 0.5) AS md", "first(s) AS fs", "min(s) FILTER (WHERE x > 0) AS ms",
    "string(FIRST(t)) AS st", "avg(y) AS ay", "FIRST(id, 1) AS f1", "LAST(A.id, 1) AS a1",
    "max_by(id, x) AS mb", "min_by(s, x) FILTER (WHERE id > 3) AS nb", "any_value(y) AS av",
    "first_value(s) IGNORE NULLS AS fv", "last_value(A.x) AS lv",
)  # fmt: skip
FRACTIONS = (None, 0.0, -0.0, 0.5, 1.25, -2.0, 0.1)  # sums with the last are rounded


@dataclass(frozen=True)
class Clause:
    """A clause."""

    text: str  # the text between its parentheses
    keys: str  # its PARTITION BY; empty without one

    @property
    def query(self) -> str:
        """Return a query with the clause over the DataFrame `rows`."""
        return f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({self.text}) AS r"


def draw_option(random: Random, probability: float, *texts: str) -> str:
    """Return one of the texts and a blank, or nothing."""
    return f"{random.choice(texts)} " if random.random() < probability else ""


def draw_definitions(random: Random, pattern: str, *, has_numbers: bool) -> str:
    """Return DEFINE with most variables of a pattern.

    Args:
        random: the source of randomness.
        pattern: the text of the pattern.
        has_numbers: whether conditions may read MATCH_NUMBER().
    """
    names = [name for name in "ABC" if name in pattern]
    mapped_names = [name for name in names if f"NOT {name}" not in pattern]
    conditions = [text for text in CONDITIONS if has_numbers or "NUMBER" not in text]
    definitions = []
    for name in names:
        if random.random() < 0.8 or not definitions:
            other = random.choice(mapped_names or names)
            parts = random.sample(conditions, random.choice([1, 1, 2]))
            operator = random.choice([" AND ", " AND ", " OR "])
            condition = operator.join(f"({part})" for part in parts)
            definitions.append(f"{name} AS {condition.format(v=name, w=other)}")
    return f"DEFINE {', '.join(definitions)}"


def draw_measures(random: Random, pattern: str) -> str:
    """Return MEASURES that read variables of a pattern."""
    mapped_names = [name for name in "ABC" if name in pattern and f"NOT {name}" not in pattern]
    other_names = {*"ABC"} - {*mapped_names}
    measures = [text for text in MEASURES if not any(f"{name}." in text for name in other_names)]
    return f"MEASURES {', '.join(random.sample(measures, random.randint(1, 4)))} "


def random_clause(random: Random) -> Clause:
    """Return a clause, which may not be allowed."""
    keys = random.choice(["", "", "PARTITION BY k ", "PARTITION BY k, s "])
    selects = random.random() < 0.3
    pattern = random.choice(SELECTED if selects else PATTERNS)
    output = draw_option(
        random, 0.5 if not selects else 0.9, "ALL MATCHES", "NON-OVERLAPPING MATCHES"
    )
    output = output if selects else draw_option(random, 0.1, "ALL MATCHES", "LONGEST MATCH")
    selection = (
        draw_option(random, 1.0, "SKIP TILL NEXT MATCH", "SKIP TILL ANY MATCH") if selects else ""
    )
    rows = draw_option(
        random, 0.6, "ONE ROW PER MATCH", "ALL ROWS PER MATCH",
        "ALL ROWS PER MATCH OMIT EMPTY MATCHES", "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        "ALL ROWS PER MATCH SHOW EMPTY MATCHES",
    )  # fmt: skip
    mapped = [name for name in "AB" if name in pattern and f"NOT {name}" not in pattern]
    skip = draw_option(
        random, 0.6, "AFTER MATCH SKIP TO NEXT ROW", "AFTER MATCH SKIP PAST LAST ROW",
        f"AFTER MATCH SKIP TO LAST {mapped[0]}", f"AFTER MATCH SKIP TO FIRST {mapped[-1]}",
        "AFTER MATCH SKIP TO LAST U",
    )  # fmt: skip
    skip = "" if "ALL M" in output or "NON" in output else skip
    within = draw_option(
        random, 0.9 if selects else 0.6, "WITHIN 3", "WITHIN 5", "WITHIN 9", "WITHIN 4 ROWS",
        "WITHIN 2 BETWEEN ROWS", "WITHIN 6, 2 BETWEEN ROWS", "WITHIN 3 FROM A TO B",
    )  # fmt: skip
    within = within if "TO B" not in within or {*"AB"} <= {*mapped} else ""
    endings = ["SHOW UNFINISHED MATCHES", *["SHOW TIMEOUT MATCHES"] * ("WITHIN" in within)]
    partial = "" if "UNMATCHED" in rows or output else draw_option(random, 0.06, *endings)
    ascends = "WITHIN" in within and "4 ROWS" not in within
    order = "t, id" if ascends else random.choice(["t, id", "id", "t DESC, id"])
    first = draw_option(random, 0.08, "FIRST 1 MATCHES", "FIRST 3 MATCHES")
    is_named = "LAST U" in skip or random.random() < 0.1
    subset = f"SUBSET U = ({', '.join(mapped)}) " if is_named else ""
    rows = rows or "ONE ROW PER MATCH " * bool(partial)
    define = draw_definitions(random, pattern, has_numbers="ALL M" not in output)
    measures = draw_measures(random, pattern)
    text = (
        f"{keys}ORDER BY {order} {measures}{rows}{partial}{skip}PATTERN ({pattern}) "
        f"{selection}{output}{first}{within}{subset}{define}"
    )
    return Clause(text, keys)


def random_window(random: Random) -> str:
    """Return a query with a row pattern window. Its result has all input rows."""
    patterns = [text for text in PATTERNS if not any(sign in text for sign in "^$UN{")]
    pattern = random.choice(patterns)
    keys = random.choice(["", "PARTITION BY k "])
    skip = draw_option(
        random, 0.5, "AFTER MATCH SKIP TO NEXT ROW", "AFTER MATCH SKIP PAST LAST ROW"
    )
    frame = random.choice(["UNBOUNDED FOLLOWING", "3 FOLLOWING"])
    return (
        "SELECT id, low OVER w AS low, count(*) OVER w AS n FROM {rows} WINDOW w AS "
        f"({keys}ORDER BY t, id MEASURES LAST(x) AS low ROWS BETWEEN CURRENT ROW AND {frame} "
        f"{skip}PATTERN ({pattern}) {draw_definitions(random, pattern, has_numbers=False)})"
    )


def random_rows(random: Random, count: int) -> list[Row]:
    """Return rows in any order. `id` is unique; `t` has ties and gaps."""
    spread = random.choice([1, 2, 6])
    times = [random.randint(0, count * spread) for _ in range(count)]
    jumps = [random.randint(0, 3) * random.choice([1, 1, 50]) for _ in range(count)]
    ids = list(range(count))
    random.shuffle(ids)
    return [
        (
            ids[index],
            random.choice(["a", "b", "c", None]),
            None if random.random() < 0.03 else times[index] + jumps[index],
            random.choice([None, 0, 1, 1, 2, 3]),
            random.choice(FRACTIONS),
            random.choice(["a", "b", "c", None]),
        )
        for index in range(count)
    ]
