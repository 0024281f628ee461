"""`sweep`: a clause with every combination of some values, over rows that are sorted once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from pyspark.sql.types import DataType, IntegralType

from matchrec.api.clause import Clause
from matchrec.api.dialects import parse_clause_of
from matchrec.api.inputs import Frame, check_marker_names, markers, relation_of
from matchrec.api.query import resolve_options
from matchrec.api.remarks import find_clause_remarks
from matchrec.api.signatures import ARGUMENTS, convert_numpy_value
from matchrec.arguments import ArgumentKind, DialectName, by_name, checked, library_of
from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.errors.kinds import shown_in
from matchrec.errors.warnings import warn_caller
from matchrec.explain.charts.sweep import Sweep
from matchrec.patterns.stages.lower import measure
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import MATCH_NUMBER
from matchrec.plan.pattern import without_exclusions
from matchrec.plan.text import quoted
from matchrec.source import Source
from matchrec.spark.question import NO_OPTIONS, Options, Question, Rule, input_columns
from matchrec.spark.rule_sets.build import all_matches, build_rule_set
from matchrec.spark.types import has_distance, in_one_form
from matchrec.syntax.lower import lower

MOST_POINTS = 1000

Grid = Mapping[str, Sequence[Any]]
Point = dict[str, Any]  # a value for each name


def has_values(given: Any) -> bool:
    """Return whether a value is a list, or a one-dimensional array of NumPy or pandas, and not
    empty.
    """
    is_known = library_of(given) in ("numpy", "pandas")  # as a Column has all
    is_array = is_known and getattr(given, "ndim", 0) == 1
    return (is_array or isinstance(given, list | tuple | range)) and len(given) > 0


GRID = ArgumentKind(
    "a dict of lists of values by the names of markers",
    lambda given: by_name(has_values)(given) and bool(given) and all(map(str.isidentifier, given)),
    'write grid={"days": [3, 5, 8]}, and :days in the clause: a name without a colon, and a list',
    take=lambda _, given: {
        name: [*map(convert_numpy_value, values)] for name, values in given.items()
    },
)


@checked(**{**ARGUMENTS, "clause": ARGUMENTS["text"], "grid": GRID})
def sweep(
    df: Frame,
    clause: str,
    grid: Grid,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
) -> Sweep:
    """Count the matches of a clause for each combination of some values, in one pass.

    Spark reads and shuffles the rows once for all combinations. Runs a job.

    Args:
        df: the rows, as for `match_recognize`.
        clause: a clause as for `match_recognize`, with `:name` markers.
        grid: the values of each marker. They may have up to 1,000 combinations.
        dialect: the product whose SQL the clause is written in, as in `sql`.
        options: as for `match_rules`.

    Raises:
        MatchRecognizeError: the clause has a mistake.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95), (5, 90) AS t(day, price)")
    >>> print(matchrec.sweep(ticks, '''
    ...     ORDER BY day
    ...     PATTERN (DOWN{:days,}) DEFINE DOWN AS price < PREV(price) - :fall
    ... ''', {"days": [1, 2], "fall": [0, 5]}))
    days  fall  matches  partitions  rows  median_rows  median_span
       1     0        2           1     3          1.5          0.5
       1     5        1           1     2          2.0          1.0
       2     0        1           1     2          2.0          1.0
       2     5        1           1     2          2.0          1.0
    """
    how = resolve_options("sweep", options, "transport", "counters")
    points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if len(points) > MOST_POINTS:
        raise errors.too_many_points(count=len(points), limit=MOST_POINTS)
    check_marker_names(clause, grid)
    for name, span in markers(clause):
        if name not in grid:
            error = errors.marker_without_values(span, name=name, known=tuple(grid))
            raise error.located(Source(clause))
    check(df, rule_of(df, clause, points[0], "", dialect), points[0])
    named = {name_of(point): point for point in points}
    rules, args = [], dict[str, Any]()
    for number, (name, point) in enumerate(named.items()):
        own = {marker: f"{marker}__{number}" for marker in point}
        args |= {own[marker]: value for marker, value in point.items()}
        try:
            rules.append(rule_of(df, clause, point, name, dialect, own))
        except MatchRecognizeError:
            _ = rule_of(df, clause, point, name, dialect)  # says it with the marker's own name
            raise
    relation = relation_of(df, args)
    question = Question(tuple(rules), relation, input_columns(relation), how)
    built = build_rule_set(question.resolve(), ())
    return Sweep(tuple(grid), tuple(figures(all_matches(built), named)))


def name_of(point: Point) -> str:
    """Return a combination of values as a message names it.

    >>> name_of({"days": 3, "kind": "rise"})
    "days = 3, kind = 'rise'"
    """
    return ", ".join(f"{marker} = {value!r}" for marker, value in point.items())


def check(df: DataFrame, rule: Rule, point: Point) -> None:
    """Raise an error for a mistake in the clause, and warn of what is probably a mistake."""
    assert rule.source is not None
    clause = Clause(rule.plan, relation_of(df, point), NO_OPTIONS, rule.source)
    with shown_in(rule.source):
        result = clause.run()
    warn_caller(*find_clause_remarks(result, clause.source, clause.language))


def rule_of(  # noqa: PLR0913 -- what it is of, and how it is called
    df: DataFrame,
    clause: str,
    point: Point,
    name: str,
    dialect: str,
    own: Mapping[str, str] = MappingProxyType({}),
) -> Rule:
    """Return the clause for one combination of values, with one row for each match and all its
    rows.

    Args:
        df: the input of the clause.
        clause: the text of the clause.
        point: the combination of values.
        name: the name of the rule.
        dialect: the product whose SQL the clause is written in.
        own: the name of each marker in this rule, if the rules of a set must have different names.
    """
    renamed = {marker: f":{name}" for marker, name in own.items()} or None
    node, source = parse_clause_of(df, clause, dialect, renamed)
    args = {own.get(marker, marker): value for marker, value in point.items()}
    with shown_in(source):
        plan = lower(replace(node, measures=(), rows_per_match=RowsPerMatch.ONE_ROW), args)
    measures = (measure("match_number", MATCH_NUMBER),)
    counted = replace(plan, pattern=without_exclusions(plan.pattern), measures=measures)
    return Rule(name, counted, source)


def span_of(kind: DataType) -> str:
    """Return SQL of the distance between the ends of a match; NULL if the type has no distance."""
    if isinstance(kind, IntegralType):  # the distance between two need not be one of the type
        ends = (f"CAST({end} AS DECIMAL(20, 0))" for end in ("end_time", "start_time"))
        return f"CAST(abs({' - '.join(ends)}) AS DOUBLE)"
    return "abs(end_time - start_time)" if has_distance(kind) else "NULL"


def figures(matches: DataFrame, points: Mapping[str, Point]) -> Iterator[tuple[Any, ...]]:
    """Yield the values of each combination, then its figures. Runs a job."""
    keys = matches.columns[1 : matches.columns.index("match_number")]
    rows = "coalesce(size(events), 0)"
    spans = span_of(matches.schema["end_time"].dataType)
    alike = ", ".join(in_one_form(quoted(key), matches.schema[key].dataType) for key in keys)
    partitions = f"count(DISTINCT struct({alike}))" if keys else "1"
    asked = ("count(*)", partitions, f"sum({rows})", f"median({rows})", f"median({spans})")
    found = matches.groupBy("rule").agg(*map(expr, asked))
    by_name = {row[0]: tuple(row[1:]) for row in found.collect()}
    for name, point in points.items():
        yield (*point.values(), *by_name.get(name, (0, 0, 0, None, None)))
