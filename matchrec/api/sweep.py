"""`sweep`: count the matches of a clause for every combination of parameter values, in one pass.

    FALL{:days,}, :fall   with {"days": [1, 2], "fall": [0, 5]}

1. Each combination becomes a rule of one rule set, with its own names of parameters: `:days__0` and
   `:fall__0`, `:days__1` and `:fall__1`, and so on.
2. The rule set finds the matches of all rules. The rows are read, shuffled and sorted once.
3. Spark counts the matches of each rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from pyspark.sql.types import DataType, IntegralType

from matchrec.api.argument_kinds import ARGUMENTS, convert_numpy_value
from matchrec.api.clause import Clause
from matchrec.api.clause_warnings import find_clause_warnings
from matchrec.api.dialects import parse_clause_in_dialect
from matchrec.api.frames import Frame, cast_to_dataframe
from matchrec.api.front_end import resolve_options
from matchrec.api.inputs import build_relation, find_quote_dialect
from matchrec.api.parameters import check_parameter_names, find_clause_parameters
from matchrec.arguments import (
    ArgumentKind,
    DialectName,
    Grid,
    check_arguments,
    find_library,
    make_dict_test,
)
from matchrec.errors import MatchRecognizeError
from matchrec.errors import arguments as argument_errors
from matchrec.errors import calls as errors
from matchrec.errors import parameters as parameter_errors
from matchrec.errors.kinds import locate_errors, with_source
from matchrec.errors.warn_caller import warn_caller
from matchrec.explain.charts.sweep import FIGURE_COLUMNS, Sweep
from matchrec.patterns.stages.lower import make_measure
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import MATCH_NUMBER
from matchrec.plan.pattern import unwrap_exclusions
from matchrec.plan.text import quote_name
from matchrec.public_names import public
from matchrec.source import Source
from matchrec.spark.request import NO_OPTIONS, MatchRequest, Options, Rule, find_input_columns
from matchrec.spark.rule_sets.build import build_rule_set, select_matches
from matchrec.spark.types import has_distance, normalize_value
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.tokens import QuoteDialect

# The largest number of combinations in one sweep.
MAX_COMBINATIONS = 1000

# The figures of a combination without matches, which is not in the result of Spark.
FIGURES_WITHOUT_MATCHES = {
    "matches": 0,
    "partitions": 0,
    "rows": 0,
    "median_rows": None,
    "median_span": None,
}

# A value for each parameter, by the names of the parameters: `{"days": 3, "fall": 5}`.
Combination = dict[str, Any]


def is_list_of_values(values: Any) -> bool:
    """Return whether an object is a list, or an array of NumPy or pandas, with at least one value.

    Tuples, ranges and Series of pandas count, too.
    """
    if isinstance(values, list | tuple | range):
        return len(values) > 0
    # The library is tested first, because a Column of PySpark has every attribute.
    is_array = find_library(values) in ("numpy", "pandas") and getattr(values, "ndim", 0) == 1
    return is_array and len(values) > 0


def is_grid(grid: Any) -> bool:
    """Return whether an object is a dict of parameters, with a list of values for each.

    The names of the parameters must be identifiers. An empty dict is accepted here, because the
    error for it names the parameters of the clause: see `check_parameters`.
    """
    has_lists = make_dict_test(is_list_of_values)
    return has_lists(grid) and all(name.isidentifier() for name in grid)


def convert_grid(_argument: str, grid: Grid) -> Grid:
    """Return a grid with NumPy values as Python values, which Spark accepts, each value once.

    Two values are the same if messages and the result show them alike.

    Args:
        _argument: the name of the argument, which every converter gets.
        grid: a dict that `is_grid` accepts.
    """
    return {name: list_distinct_values(values) for name, values in grid.items()}


def list_distinct_values(values: Iterable[Any]) -> list[Any]:
    """Return values as Python values, each once, in their order.

    >>> list_distinct_values([3, 5, 3, 3.0])
    [3, 5, 3.0]
    """
    python_values = [convert_numpy_value(value) for value in values]
    return list({repr(value): value for value in python_values}.values())


# The values of one parameter.
CANDIDATES = ArgumentKind(
    "a list with at least one value",
    is_list_of_values,
    "write the values in brackets: [{value}]",
    right_types=(list,),
)
# The values of all parameters.
GRID = ArgumentKind(
    "a dict that maps parameter names to lists of values",
    is_grid,
    'write grid={"days": [3, 5, 8]}, without a colon in the key, and :days in the clause',
    converter=convert_grid,
    value_kind=CANDIDATES,
    right_types=(dict,),
)


@public
@check_arguments(**{**ARGUMENTS, "clause": ARGUMENTS["text"], "grid": GRID})
def sweep(
    df: Frame,
    clause: str,
    grid: Grid,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
) -> Sweep:
    """Count the matches of a clause for each combination of parameter values, in one pass.

    Spark reads and shuffles the rows once for all combinations. It runs one Spark job.

    Args:
        df: the rows to search: a DataFrame of Spark, or a frame of pandas, Polars or Arrow.
        clause: the text between the parentheses of MATCH_RECOGNIZE, with `:name` parameters.
        grid: a dict with a list of values for each parameter, such as `{"days": [1, 2]}`. The
            lists may have up to 1,000 combinations. A value that is listed twice counts once.
        dialect: the product whose SQL the clause is written in, as in `sql`.
        options: how the query runs. None means the defaults.

    Returns:
        A table with a row for each combination of values, which prints as text.
        `matchrec.Sweep.columns` explains its figures, such as `median_span`.

    Raises:
        MatchRecognizeError: the clause has a mistake, a parameter of the clause has no values or
            the clause does not have it, or there are more than 1,000 combinations.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95), (5, 90) AS t(day, price)")
    >>> print(matchrec.sweep(ticks, '''
    ...     ORDER BY day
    ...     PATTERN (FALL{:days,}) DEFINE FALL AS price < PREV(price) - :fall
    ... ''', {"days": [1, 2], "fall": [0, 5]}))
    days  fall  matches  partitions  rows  median_rows  median_span
       1     0        2           1     3          1.5          0.5
       1     5        1           1     2          2.0          1.0
       2     0        1           1     2          2.0          1.0
       2     5        1           1     2          2.0          1.0
    """
    rows = cast_to_dataframe(df)
    options = resolve_options("sweep", options, unsupported=("transport", "counters"))
    combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if len(combinations) > MAX_COMBINATIONS:
        raise errors.too_many_combinations(count=len(combinations), limit=MAX_COMBINATIONS)
    check_parameters(clause, grid)
    swept_clause = SweptClause(rows, clause, dialect)
    swept_clause.check(combinations[0])

    combinations_by_name = {format_combination(values): values for values in combinations}
    rules, args = swept_clause.build_rules(combinations_by_name)
    relation = build_relation(rows, args)
    columns = find_input_columns(relation)
    request = MatchRequest.build(rules, relation, columns, options, event_columns=())
    built_set = build_rule_set(request)

    result_rows = count_matches(select_matches(built_set), combinations_by_name)
    return Sweep(parameters=tuple(grid), rows=tuple(result_rows))


def check_parameters(clause: str, grid: Grid) -> None:
    """Check that a clause has the parameters of a grid, and no others.

    Raises:
        MatchRecognizePlanError: a parameter has no values, or values have no parameter.
    """
    parameters = tuple(find_clause_parameters(clause))
    if not grid:
        raise argument_errors.empty_grid(grid, parameters=[name for name, _ in parameters])
    check_parameter_names(clause, grid)
    for name, span in parameters:
        if name not in grid:
            error = parameter_errors.sweep_parameter_without_values(
                span, name=name, parameters=tuple(grid)
            )
            raise with_source(error, Source(clause))


def format_combination(combination: Combination) -> str:
    """Return a combination as messages show it. The text is also the name of its rule.

    >>> format_combination({"days": 3, "kind": "rise"})
    "days = 3, kind = 'rise'"
    """
    return ", ".join(f"{parameter} = {value!r}" for parameter, value in combination.items())


@dataclass(frozen=True)
class SweptClause:
    """A clause with parameters, and the rows to which it applies."""

    rows: DataFrame
    # The text of the clause.
    text: str
    # The product whose SQL the text is written in.
    dialect: DialectName

    @cached_property
    def quote_dialect(self) -> QuoteDialect:
        """Return what double quotes mean in the text."""
        return find_quote_dialect(self.rows.sparkSession, self.text)

    def check(self, combination: Combination) -> None:
        """Plan the clause for one combination, and raise its errors and issue its warnings.

        The clause has the parameters that the user wrote. The errors of a rule set would show other
        names instead: see `build_rules`.

        Raises:
            MatchRecognizeError: the clause has a mistake.
        """
        rule = self.build_rule(name="", combination=combination)
        assert rule.source is not None
        clause = Clause(
            plan=rule.plan,
            relation=build_relation(self.rows, combination),
            options=NO_OPTIONS,
            source=rule.source,
        )
        with locate_errors(rule.source):
            result = clause.evaluate()
        warn_caller(*find_clause_warnings(result, clause.source, clause.language))

    def build_rules(
        self, combinations: Mapping[str, Combination]
    ) -> tuple[tuple[Rule, ...], dict[str, Any]]:
        """Return a rule for each combination, and the values of the parameters of all rules.

        All rules get one dict of values, so the names of the parameters differ between rules:
        `:days` becomes `:days__0` in the first rule.

        Args:
            combinations: the combinations, by the names of their rules.
        """
        rules = []
        args: dict[str, Any] = {}
        for rule_index, (name, combination) in enumerate(combinations.items()):
            new_names = {parameter: f"{parameter}__{rule_index}" for parameter in combination}
            for parameter, value in combination.items():
                args[new_names[parameter]] = value
            try:
                rule = self.build_rule(name, combination, new_names)
            except MatchRecognizeError:
                # Raise the same error with the names that the user wrote.
                self.build_rule(name, combination)
                raise
            rules.append(rule)
        return tuple(rules), args

    def build_rule(
        self,
        name: str,
        combination: Combination,
        new_names: Mapping[str, str] = MappingProxyType({}),
    ) -> Rule:
        """Return the rule for one combination.

        Its result has one row for each match. The events of a match are all of its rows, also those
        in exclusions.

        Args:
            name: the name of the rule.
            combination: the values of the parameters.
            new_names: the names that the parameters get in this rule; empty to keep their names.

        Raises:
            MatchRecognizeError: the clause has a mistake.
        """
        replacements = {parameter: f":{new_name}" for parameter, new_name in new_names.items()}
        node, source = parse_clause_in_dialect(
            self.rows, self.text, self.dialect, self.quote_dialect, replacements or None
        )
        one_row_node = replace(node, measures=(), rows_per_match=RowsPerMatch.ONE_ROW)
        values = {
            new_names.get(parameter, parameter): value for parameter, value in combination.items()
        }
        with locate_errors(source):
            plan = lower_clause(one_row_node, values)
        plan = replace(
            plan,
            pattern=unwrap_exclusions(plan.pattern),
            measures=(make_measure("match_number", MATCH_NUMBER),),
        )
        return Rule(name, plan, source)


def write_match_span(time_type: DataType) -> str:
    """Return SQL for the span of a match: the time from its first to its last row.

    The SQL reads the columns `start_time` and `end_time`. It is NULL if values of the type have no
    distance.

    Args:
        time_type: the type of the first ORDER BY column.
    """
    if isinstance(time_type, IntegralType):
        # The distance between two numbers of a type may be too large for the type.
        start = "CAST(start_time AS DECIMAL(20, 0))"
        end = "CAST(end_time AS DECIMAL(20, 0))"
        return f"CAST(abs({end} - {start}) AS DOUBLE)"
    return "abs(end_time - start_time)" if has_distance(time_type) else "NULL"


def count_matches(
    matches: DataFrame, combinations: Mapping[str, Combination]
) -> list[tuple[Any, ...]]:
    """Return the rows of a `Sweep`: for each combination its values, then its figures.

    Runs one Spark job.

    Args:
        matches: the matches of all rules, as in `RuleMatches.matches`.
        combinations: the combinations, by the names of their rules.
    """
    figures = [expr(text).alias(name) for name, text in write_figures(matches).items()]
    rows_of_rules = matches.groupBy("rule").agg(*figures).collect()
    figures_by_rule = {row["rule"]: row.asDict() for row in rows_of_rules}
    result_rows = []
    for rule, combination in combinations.items():
        figures_of_rule = figures_by_rule.get(rule, FIGURES_WITHOUT_MATCHES)
        figure_values = [figures_of_rule[column] for column in FIGURE_COLUMNS]
        result_rows.append((*combination.values(), *figure_values))
    return result_rows


def write_figures(matches: DataFrame) -> dict[str, str]:
    """Return SQL of the figures of a rule, by the names in `FIGURE_COLUMNS`.

    Each figure is an aggregate over the matches of the rule.

    Args:
        matches: the matches of all rules, as in `RuleMatches.matches`.
    """
    # The columns are: rule, the PARTITION BY columns, match_number, and others.
    keys = matches.columns[1 : matches.columns.index("match_number")]
    key_values = [normalize_value(quote_name(key), matches.schema[key].dataType) for key in keys]
    row_count = "coalesce(size(events), 0)"  # an empty match has no events
    span = write_match_span(matches.schema["end_time"].dataType)
    return {
        "matches": "count(*)",
        "partitions": f"count(DISTINCT struct({', '.join(key_values)}))" if keys else "1",
        "rows": f"sum({row_count})",
        "median_rows": f"median({row_count})",
        "median_span": f"median({span})",
    }
