"""Random row pattern windows over the table of `tests/generators/queries`."""

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
    """`text FOLLOWING`. length: of a row's frame; None: up to the end of the partition."""

    text: str
    length: Callable[[Row], int | None]


@dataclass(frozen=True)
class Function:
    """A function over the rows of a match."""

    text: str
    value: Callable[[Sequence[Row]], Value]


@dataclass(frozen=True, eq=False)
class WindowQuery:
    """A query with one window: n, then what is called over it."""

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
    def members(self) -> dict[str, frozenset[str]]:
        """The primary variables behind every name."""
        own = {name: frozenset([name]) for name in list_variable_names(self.pattern)}
        return {**own, UNION: frozenset(self.union)} if self.union else own

    def text(self, batch: Batch, relation: str) -> str:
        """The SQL over a table or a subquery."""
        by = f"PARTITION BY {', '.join(batch.by)} " if batch.by else ""
        order = ", ".join(item.text for item in batch.order)
        measures = ", ".join(f"{one.text} AS m{i}" for i, one in enumerate(self.measures))
        calls = [f"m{i} OVER w" for i in range(len(self.measures))]
        calls += [f"{one.text} OVER w AS f{i}" for i, one in enumerate(self.functions)]
        union = f" SUBSET {UNION} = ({', '.join(self.union)})" if self.union else ""
        define = ", ".join(f"{name} AS {one.text}" for name, one in self.definitions.items())
        return (
            f"SELECT n, {', '.join(calls)} FROM {relation} WINDOW w AS ({by}ORDER BY {order} "
            f"MEASURES {measures} ROWS BETWEEN CURRENT ROW AND {self.frame.text} "
            f"AFTER MATCH SKIP {self.skip_text} {'SEEK' if self.seeks else 'INITIAL'} "
            f"PATTERN ({show_pattern(self.pattern)}){union} DEFINE {define})"
        )


def column(rows: Sequence[Row], name: str) -> list[Value]:
    return [row[name] for row in rows]


def nth(rows: Sequence[Row], name: str, place: int) -> Value:
    return rows[place][name] if -len(rows) <= place < len(rows) else None


FUNCTIONS = (
    Function("count(*)", len),
    Function("count(x)", lambda rows: aggregate("count", column(rows, "x"))),
    Function("sum(x)", lambda rows: aggregate("sum", column(rows, "x"))),
    Function("max(s)", lambda rows: aggregate("max", column(rows, "s"))),
    Function("first_value(s)", lambda rows: nth(rows, "s", 0)),
    Function("last_value(n)", lambda rows: nth(rows, "n", -1)),
    Function("nth_value(n, 2)", lambda rows: nth(rows, "n", 1)),
)


def fixed(text: str, rows: int | None) -> FrameLength:
    """A frame that is as long for each row."""
    return FrameLength(text, lambda _: rows)


def by_column(row: Row) -> int:
    length = row["x"]
    return length if isinstance(length, int) else 1


FRAMES = (
    *[fixed("UNBOUNDED FOLLOWING", None)] * 3,
    fixed("CURRENT ROW", 0),
    *(fixed(f"{rows} FOLLOWING", rows) for rows in (1, 2, 3)),
    FrameLength("coalesce(x, 1) FOLLOWING", by_column),
)


def random_window(random: Random, limits: Limits = NO_LIMITS) -> WindowQuery:
    """A window without what windows do not have: anchors and MATCH_NUMBER()."""
    pattern = Patterns(random, "ABC").pattern(random.randint(2, 4))
    names = list_variable_names(pattern)
    if not names or any(
        isinstance(one, PartitionStart | PartitionEnd) for one in walk_pattern(pattern)
    ):
        return random_window(random, limits)
    union = tuple(random.sample(names, random.randint(1, len(names))))
    union = union if random.random() < 0.4 else ()
    expressions = Expressions(random, names, [UNION] if union else [], limits)
    measures = Measures(expressions, all_rows=False)
    defined = [name for name in names if random.random() < 0.7] or [names[0]]
    after_match, skip_text = random_skip(random, [*names, UNION] if union else names)
    found = WindowQuery(
        pattern,
        {name: Conditions(expressions, name).condition() for name in defined},
        tuple(measures.measure() for _ in range(random.randint(1, 3))),
        tuple(random.sample(FUNCTIONS, 2)),
        union,
        random.choice(FRAMES),
        after_match,
        skip_text,
        random.random() < 0.4,
    )
    texts = [*(one.text for one in found.measures), *(d.text for d in found.definitions.values())]
    return random_window(random, limits) if any("MATCH_NUMBER" in one for one in texts) else found
