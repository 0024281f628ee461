"""Draw random queries whose conditions bound the distance between two rows in the order.

An order value is a fraction, in the unit of its column, or a float. Each conjunct has its SQL and a
Python function of two arguments: the order value of the candidate row, and that of the other row.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from random import Random

from tests.references.sql_values import make_sort_key

Number = Fraction | float
Truth = Callable[[Number, Number], bool]

KINDS = "vcpx"
PATTERNS = (
    "V X*? C",
    "V C+",
    "V X* C Y*? P",
    "V X*? C Y* P",
    "V (C | P)+",
    "V C?",
    "V C* P?",
    "V C{2,3}",
    "^ V C* P",
    "V (C P?)*",
    "V PERMUTE(C, P)",
    "(V C)+ P",
    "V+ C",
    "(V | C) P*",
    "C+ P",
    "C+",
    "(C P?)?",
    "V {- X*? -} C",
)
SKIPS = ("PAST LAST ROW", "TO NEXT ROW")
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
ROWS = {"V.ts": "V", "FIRST(V.ts)": "first V", "FIRST(ts)": "first", "C.ts": "C"}


@dataclass(frozen=True)
class OrderColumn:
    """A column that orders the rows."""

    type: str
    text: Callable[[Number], str] = str  # returns a value as CAST reads it
    length: str = "{}"  # a length as SQL, for a number of units
    difference: str = "{} - {}"  # the distance of two values as SQL
    fractions: tuple[str, ...] = ("0",)  # the fractional parts that values may have

    @property
    def is_exact(self) -> bool:
        """Return whether sums and differences of values are exact."""
        return self.type != "double"


def show_day(value: Number) -> str:
    """Return a number of days as a date."""
    return str(date(2024, 1, 1) + timedelta(int(value)))


def show_hour(value: Number) -> str:
    """Return a number of hours as a time."""
    return str(datetime(2024, 1, 1) + timedelta(hours=float(value)))


COLUMNS = (
    OrderColumn("bigint"),
    OrderColumn("double", fractions=("0", "0.1", "0.5")),
    OrderColumn("timestamp", show_hour, "INTERVAL '{}' HOUR", fractions=("0", "0.5")),
    OrderColumn("int"),
    OrderColumn("decimal(6,2)", lambda x: str(float(x)), fractions=("0", "0.25", "0.5")),
    OrderColumn("date", show_day, "INTERVAL '{}' DAY"),
    OrderColumn("timestamp_ntz", show_hour, "INTERVAL {} HOURS", fractions=("0", "0.5")),
    OrderColumn("date", show_day, "{}", "datediff({}, {})"),
)


@dataclass(frozen=True)
class Conjunct:
    """A conjunct of a condition."""

    sql: str
    row: str  # a value of `ROWS`: the row that the candidate row is compared with
    truth: Truth


@dataclass(frozen=True)
class RandomGap:
    """A window inside a match."""

    sql: str
    after: str | None  # see `matchrec.plan.clauses.Gap`
    to: str | None
    truth: Truth


@dataclass(frozen=True)
class BoundedQuery:
    """A query."""

    pattern: str
    skip: str
    order: str
    # For each variable, the kinds of rows that it takes, and its other conjuncts.
    conditions: dict[str, tuple[str, tuple[Conjunct, ...]]]
    gaps: tuple[RandomGap, ...] = ()

    def text(self, table: str) -> str:
        """Return the SQL of the query over a table."""
        definitions = []
        for name, (kinds, conjuncts) in self.conditions.items():
            parts = [conjunct.sql for conjunct in conjuncts]
            if kinds != KINDS:
                parts.append(f"kind IN ({', '.join(map(repr, kinds))})")
            if parts:
                definitions.append(f"{name} AS {' AND '.join(parts)}")
        define = f" DEFINE {', '.join(definitions)}" if definitions else ""
        within = f" WITHIN {', '.join(gap.sql for gap in self.gaps)}" if self.gaps else ""
        return (
            f"SELECT * FROM {table} MATCH_RECOGNIZE (PARTITION BY part ORDER BY {self.order}, id "
            "MEASURES FIRST(id) AS f, LAST(id) AS l, CLASSIFIER() AS c "
            f"AFTER MATCH SKIP {self.skip} PATTERN ({self.pattern}){within}{define})"
        )


def random_value(random: Random, column: OrderColumn) -> Number | None:
    """Draw an order value. Many values are equal."""
    if random.random() < 0.1:
        return None
    if not column.is_exact and random.random() < 0.15:
        return random.choice([math.nan, math.inf, -math.inf, -0.0, 1e16])
    value = random.randint(0, 8) + Fraction(random.choice(column.fractions))
    return value if column.is_exact else float(value)


def random_conjunct(random: Random, column: OrderColumn, names: list[str]) -> Conjunct:
    """Draw an upper bound on the distance from a row, or sometimes a lower bound.

    Args:
        random: the source of randomness.
        column: the order column.
        names: the keys of `ROWS` to choose from.
    """
    name = random.choice(names[: random.choice((1, 3, 3, 4))])
    number: Number = Fraction(random.choice((0, 1, 2, 2, 3, 3, 5)))
    number = number if column.is_exact else float(number)
    length = column.length.format(int(number))
    form = random.choice(("difference", "difference", "sum", "less", "between", "below"))
    sign = random.choice(("<", "<=", "<="))
    compare = COMPARISONS[sign]
    if column.difference.startswith("datediff") and form == "between":
        form = "difference"
    difference = column.difference.format("ts", name)
    match form:
        case "difference":
            near = difference
            far = length
            truth: Truth = lambda x, v: compare(make_sort_key(x - v), make_sort_key(number))  # noqa: E731
        case "sum":
            near = "ts"
            far = random.choice((f"{name} + {length}", f"{name} + {length}"))
            truth = lambda x, v: compare(make_sort_key(x), make_sort_key(v + number))  # noqa: E731
        case "less":
            near = f"ts - {length}"
            far = name
            truth = lambda x, v: compare(make_sort_key(x - number), make_sort_key(v))  # noqa: E731
        case "between":
            sql = f"{difference} BETWEEN {column.length.format(0)} AND {length}"
            return Conjunct(
                sql,
                ROWS[name],
                lambda x, v: make_sort_key(0) <= make_sort_key(x - v) <= make_sort_key(number),
            )
        case _:
            sign = "<="
            near = name
            far = "ts"
            truth = lambda x, v: make_sort_key(v) <= make_sort_key(x)  # noqa: E731
    sql = f"{near} {sign} {far}" if random.random() < 0.7 else f"{far} {MIRRORED[sign]} ({near})"
    return Conjunct(sql, ROWS[name], truth)


def random_query(random: Random, column: OrderColumn, order: str) -> BoundedQuery:
    """Draw a query. If the order ascends, its conditions mostly form a window."""
    pattern = random.choice(PATTERNS)
    variables = [name for name in "VCPXY" if name in pattern.replace("PERMUTE", "")]
    names = [text for text, row in ROWS.items() if row[-1] in variables or row == "first"]
    bound = random_conjunct(random, column, names)
    conditions = {}
    for name in variables:
        usual = random.choice(("c", "cp", KINDS)) if name in "CP" else KINDS
        kinds = random.choice(("v", "vc", KINDS)) if name == "V" else usual
        conjuncts = [bound] if name != "V" and random.random() < 0.85 else []
        conjuncts += [random_conjunct(random, column, names)] if random.random() < 0.3 else []
        conditions[name] = kinds, tuple(conjuncts)
    query = BoundedQuery(pattern, random.choice(SKIPS), order, conditions)
    if order == "ts DESC" or column.difference.startswith("datediff") or random.random() < 0.7:
        return query
    return replace(query, gaps=tuple(random_gaps(random, column, variables)))


def random_gaps(random: Random, column: OrderColumn, variables: list[str]) -> Iterator[RandomGap]:
    """Yield a window between rows, a window from a variable to another one, or both."""
    for between in random.choice(((True,), (False,), (True, False))):
        number: Number = Fraction(random.choice((1, 2, 3, 5)))
        number = number if column.is_exact else float(number)
        length = column.length.format(int(number))

        def is_near(x: Number, v: Number, number: Number = number) -> bool:
            """Return whether x is less than the length after v."""
            return make_sort_key(x) < make_sort_key(v + number)

        if between:
            yield RandomGap(f"{length} BETWEEN ROWS", None, None, is_near)
        elif len(variables) > 1:
            after, to = random.sample(variables, 2)
            yield RandomGap(f"{length} FROM {after} TO {to}", after, to, is_near)
