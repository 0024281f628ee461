"""Draw random row pattern windows over the table of `tests/generators/queries`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from matchrec.plan.clauses import AfterMatchSkip
from matchrec.plan.pattern import (
    PartitionEnd,
    PartitionStart,
    RowPattern,
    list_variable_names,
    show_pattern,
    walk_pattern,
)
from tests.generators.conditions import Conditions, Measures
from tests.generators.expressions import Expression, Expressions, Limits, Row
from tests.generators.queries import NO_LIMITS, UNION, Batch, Patterns, random_skip
from tests.references.sql_values import Value, aggregate


@dataclass(frozen=True)
class FrameLength:
    """The end of a frame: `text FOLLOWING`."""

    text: str
    # Returns the length of the frame of a row, in rows; None up to the end of the partition.
    length: Callable[[Row], int | None]


@dataclass(frozen=True)
class Function:
    """A function over the rows of a match."""

    text: str
    value: Callable[[Sequence[Row]], Value]


@dataclass(frozen=True, eq=False)
class WindowQuery:
    """A query with one window. It returns the column n, then the measures and functions."""

    pattern: RowPattern
    definitions: dict[str, Expression]
    measures: tuple[Expression, ...]
    functions: tuple[Function, ...]
    union: tuple[str, ...]
    frame: FrameLength
    after_match: AfterMatchSkip
    skip_text: str
    seeks: bool

    @property
    def primary_variables(self) -> dict[str, frozenset[str]]:
        """Return the primary variables of each variable."""
        primary_variables = {name: frozenset([name]) for name in list_variable_names(self.pattern)}
        return (
            {**primary_variables, UNION: frozenset(self.union)} if self.union else primary_variables
        )

    def text(self, batch: Batch, relation: str) -> str:
        """Return the SQL of the query over a table or a subquery."""
        by = f"PARTITION BY {', '.join(batch.by)} " if batch.by else ""
        order = ", ".join(item.text for item in batch.order)
        measures = ", ".join(
            f"{measure.text} AS m{index}" for index, measure in enumerate(self.measures)
        )
        calls = [f"m{index} OVER w" for index in range(len(self.measures))]
        calls += [
            f"{function.text} OVER w AS f{index}" for index, function in enumerate(self.functions)
        ]
        union = f" SUBSET {UNION} = ({', '.join(self.union)})" if self.union else ""
        define = ", ".join(
            f"{name} AS {condition.text}" for name, condition in self.definitions.items()
        )
        return (
            f"SELECT n, {', '.join(calls)} FROM {relation} WINDOW w AS ({by}ORDER BY {order} "
            f"MEASURES {measures} ROWS BETWEEN CURRENT ROW AND {self.frame.text} "
            f"AFTER MATCH SKIP {self.skip_text} {'SEEK' if self.seeks else 'INITIAL'} "
            f"PATTERN ({show_pattern(self.pattern)}){union} DEFINE {define})"
        )


def take_column(rows: Sequence[Row], name: str) -> list[Value]:
    """Return the values of a column."""
    return [row[name] for row in rows]


def take_value(rows: Sequence[Row], name: str, index: int) -> Value:
    """Return the value of a column on one row; None if there is no such row."""
    return rows[index][name] if -len(rows) <= index < len(rows) else None


FUNCTIONS = (
    Function("count(*)", len),
    Function("count(x)", lambda rows: aggregate("count", take_column(rows, "x"))),
    Function("sum(x)", lambda rows: aggregate("sum", take_column(rows, "x"))),
    Function("max(s)", lambda rows: aggregate("max", take_column(rows, "s"))),
    Function("first_value(s)", lambda rows: take_value(rows, "s", 0)),
    Function("last_value(n)", lambda rows: take_value(rows, "n", -1)),
    Function("nth_value(n, 2)", lambda rows: take_value(rows, "n", 1)),
)


def make_fixed_length(text: str, rows: int | None) -> FrameLength:
    """Return a frame that has the same length for all rows."""
    return FrameLength(text, lambda _: rows)


def read_length(row: Row) -> int:
    """Return the frame's length in the column x; 1 for NULL."""
    length = row["x"]
    return length if isinstance(length, int) else 1


FRAMES = (
    *[make_fixed_length("UNBOUNDED FOLLOWING", None)] * 3,
    make_fixed_length("CURRENT ROW", 0),
    *(make_fixed_length(f"{rows} FOLLOWING", rows) for rows in (1, 2, 3)),
    FrameLength("coalesce(x, 1) FOLLOWING", read_length),
)


def random_window(random: Random, limits: Limits = NO_LIMITS) -> WindowQuery:
    """Return a window. It has no anchors and no MATCH_NUMBER(), which windows do not allow."""
    pattern = Patterns(random, "ABC").draw_pattern(random.randint(2, 4))
    names = list_variable_names(pattern)
    has_anchor = any(
        isinstance(node, PartitionStart | PartitionEnd) for node in walk_pattern(pattern)
    )
    if not names or has_anchor:
        return random_window(random, limits)
    union = tuple(random.sample(names, random.randint(1, len(names))))
    union = union if random.random() < 0.4 else ()
    expressions = Expressions(random, names, [UNION] if union else [], limits)
    measures = Measures(expressions, all_rows=False)
    defined_names = [name for name in names if random.random() < 0.7] or [names[0]]
    after_match, skip_text = random_skip(random, pattern, names, union)
    query = WindowQuery(
        pattern,
        {name: Conditions(expressions, name).draw_condition() for name in defined_names},
        tuple(measures.draw_measure() for _ in range(random.randint(1, 3))),
        tuple(random.sample(FUNCTIONS, 2)),
        union,
        random.choice(FRAMES),
        after_match,
        skip_text,
        random.random() < 0.4,
    )
    expressions_of_query = (*query.measures, *query.definitions.values())
    if any("MATCH_NUMBER" in expression.text for expression in expressions_of_query):
        return random_window(random, limits)
    return query
