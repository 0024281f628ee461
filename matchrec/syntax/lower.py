"""Lower a parsed clause to a `MatchPlan`: from what is written to what it means.

`lower_clause`

1. checks that the options of the clause go together,
2. fills in the defaults and the values of parameters,
3. takes NOTs out of the pattern if rows may be skipped (see `negations`),
4. parses the expressions to trees with references to rows of the match,
5. lets `plan.rules` reject everything else that the standard forbids.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

from matchrec.arguments import is_column, is_number
from matchrec.errors.kinds import blame_argument
from matchrec.errors.lengths import LengthLocation, LengthSource
from matchrec.errors.sql.clause import initial_or_seek_outside_window, skip_with_all_matches
from matchrec.plan import build_expressions, change_expressions
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import (
    ONE_MATCH_PER_START,
    AfterMatchSkip,
    Definition,
    EventSelection,
    FirstMatches,
    Gap,
    MatchOutput,
    Measure,
    RowExpression,
    RowsPerMatch,
    SortItem,
    Within,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.rules import check_plan
from matchrec.syntax import nodes
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.durations import WrittenDuration, build_interval, read_positive_duration
from matchrec.syntax.expressions.expression import parse_row_expression, parse_scalar
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.negations import (
    add_variable_to_columns,
    check_absence_conditions,
    take_out_negations,
)
from matchrec.syntax.parameter_values import (
    ParameterValues,
    WatchedValues,
    fill_bounds,
    look_up_number,
    look_up_value,
)
from matchrec.syntax.tokenize import read_tokens


def lower_clause(
    clause: nodes.MatchRecognize, values: ParameterValues = MappingProxyType({})
) -> MatchPlan:
    """Return the plan of a clause.

    A plan that depends on no value is built only once: the node keeps it.

    Args:
        clause: the clause.
        values: the values of parameters that replace numbers and lengths of time.

    Raises:
        MatchRecognizeError: an expression is malformed, options do not go together, a parameter
            has no suitable value, a NOT is not allowed, or the plan breaks a rule of `plan.rules`.

    >>> from matchrec.syntax.grammar import parse_clause
    >>> plan = lower_clause(parse_clause("PATTERN (a b*) DEFINE b AS x > PREV(x)"))
    >>> plan.variables, plan.rows_per_match.value, plan.after_match.to.value
    (('A', 'B'), 'ONE ROW PER MATCH', 'PAST LAST ROW')
    """
    if not clause.plans:
        watched_values = WatchedValues(values)
        plan = _build_plan(clause, watched_values)
        if watched_values.are_used:
            return plan
        clause.plans.append(plan)
    return clause.plans[0]


def _build_plan(clause: nodes.MatchRecognize, values: ParameterValues) -> MatchPlan:
    """Return the plan of a clause, as `lower_clause` does, but never from the cache."""
    _check_options(clause)
    selection = clause.selection or EventSelection.STRICT_CONTIGUITY
    output = clause.output or MatchOutput.PREFERRED
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    pattern_with_nots = fill_bounds(clause.pattern, values)
    pattern, absences = take_out_negations(
        pattern_with_nots,
        selection,
        output,
        has_match_window=any(not window.is_gap for window in clause.windows),
    )
    negated_names = patterns.list_negated_names(pattern_with_nots)
    measures_scope = _make_measures_scope(clause, pattern_with_nots, values)
    plan = MatchPlan(
        pattern=pattern,
        partition_by=tuple(_lower_partition_key(key) for key in clause.partition_by),
        order_by=tuple(_lower_sort_key(key) for key in clause.order_by),
        measures=tuple(_lower_measures(clause, measures_scope, rows_per_match)),
        rows_per_match=rows_per_match,
        partial=clause.partial,
        column_order=clause.column_order,
        after_match=clause.after_match or AfterMatchSkip(),
        within_rows=_find_window_rows(clause, values),
        within=_lower_within(clause, values),
        gaps=tuple(_lower_gaps(clause, values)),
        selection=selection,
        output=output,
        first_matches=_fill_first_matches(clause.first_matches, values),
        subsets=clause.subsets,
        definitions=tuple(_lower_definitions(clause, measures_scope, negated_names)),
        absences=absences,
        part_after_keys=clause.part_after_keys,
    )
    check_absence_conditions(plan)
    check_plan(plan)
    return plan


def _check_options(clause: nodes.MatchRecognize) -> None:
    """Check that the options of a clause go together.

    Raises:
        MatchRecognizeError: INITIAL or SEEK is written in a clause, or AFTER MATCH SKIP with an
            output that has several matches for a starting row.
    """
    if clause.search:
        raise initial_or_seek_outside_window(
            clause.search_span or clause.span, word=clause.search.value
        )
    if clause.output not in (None, *ONE_MATCH_PER_START) and clause.after_match is not None:
        raise skip_with_all_matches(
            clause.after_match.span or clause.span, output=clause.output.value
        )


def _make_measures_scope(
    clause: nodes.MatchRecognize, pattern_with_nots: patterns.RowPattern, values: ParameterValues
) -> Scope:
    """Return what the measures of a clause may refer to, before `plan.rules` checks it.

    The scope includes variables under NOT, so that `plan.rules` can explain why a measure may not
    read them.
    """
    names = (
        *patterns.list_variable_names(pattern_with_nots),
        *patterns.list_negated_names(pattern_with_nots),
    )
    return Scope(
        ClausePart.MEASURES,
        primary=tuple(dict.fromkeys(names)),
        unions=tuple(union.name for union in clause.subsets),
        parameter_values=values,
    )


def _fill_first_matches(
    first_matches: FirstMatches | None, values: ParameterValues
) -> FirstMatches | None:
    """Return `FIRST k MATCHES` with the value of its parameter instead of the parameter."""
    if first_matches is None or first_matches.parameter is None:
        return first_matches
    what = "the number of matches in FIRST"
    count = look_up_number(first_matches.parameter, values, what, least=1)
    return FirstMatches(count, first_matches.span)


def _find_window_rows(clause: nodes.MatchRecognize, values: ParameterValues) -> int | None:
    """Return the number of `WITHIN n ROWS`, perhaps from a parameter; None without `n ROWS`."""
    window = clause.window_of_rows
    if window is None:
        return None
    if window.parameter is None:
        return window.rows
    return look_up_number(window.parameter, values, "the number of rows in WITHIN", least=1)


def _lower_within(clause: nodes.MatchRecognize, values: ParameterValues) -> Within | None:
    """Return the window of the whole match; None if `WITHIN interval` is not written."""
    if clause.within is None:
        return None
    return Within(_lower_interval(clause.within, values))


def _lower_gaps(clause: nodes.MatchRecognize, values: ParameterValues) -> Iterator[Gap]:
    """Yield the windows between rows of a match."""
    for window in clause.windows:
        if window.is_gap:
            yield Gap(
                _lower_interval(window, values),
                after=window.from_variable,
                to=window.to_variable,
                span=window.span,
            )


def _lower_interval(window: nodes.WindowNode, values: ParameterValues) -> RowExpression:
    """Return the length of a window as SQL.

    If the value of a parameter is a length of time, it replaces the parameter. Spark fills in any
    other value: a number, which is in the unit of ORDER BY, a Column, or a value that is not known
    yet.

        WITHIN INTERVAL 1 HOUR                                  INTERVAL 1 HOUR
        WITHIN :gap                     '90 seconds'            INTERVAL 90 SECOND
        WITHIN :gap                     timedelta(minutes=5)    INTERVAL 5 MINUTE
        WITHIN INTERVAL :gap MINUTES    5                       INTERVAL 5 MINUTE
        WITHIN :gap                     500                     :gap

    Raises:
        MatchRecognizeError: the parameter after INTERVAL has no value, or the value is neither a
            positive length nor a Column.
    """
    parameter = window.parameter
    if parameter is None:
        interval = parse_row_expression(window.interval, ClausePart.WITHIN)
        return replace(interval, span=window.interval_span)
    if window.has_interval_word:
        value = look_up_value(parameter, values)
    else:
        value = values.get(parameter.name)
    location = LengthLocation(LengthSource.PARAMETER, f"{parameter.text} in WITHIN", parameter.text)
    is_length_of_time = window.has_interval_word or isinstance(value, str | timedelta)
    if is_length_of_time and not is_column(value):
        duration = WrittenDuration(
            value, text=parameter.text, has_interval_word=window.has_interval_word, unit=window.unit
        )
        with blame_argument("args"):
            return build_interval(duration, location, window.interval.full_span)
    # A Column is the whole length, so INTERVAL and the unit around the parameter are left out.
    parameter_tokens = read_tokens(parameter.text, offset=window.interval.offset)
    interval = parse_row_expression(parameter_tokens, ClausePart.WITHIN)
    if not is_number(value):
        return interval
    # The number is checked here, so the engine need not compute it as it does for other constants.
    with blame_argument("args"):
        read_positive_duration(value, location, window.interval.full_span)
    return replace(interval, is_constant=False)


def _lower_definitions(
    clause: nodes.MatchRecognize, measures_scope: Scope, negated_names: Container[str]
) -> Iterator[Definition]:
    """Yield the conditions of DEFINE.

    Args:
        clause: the clause.
        measures_scope: the scope of its measures. DEFINE has the same variables.
        negated_names: the variables under NOT.
    """
    scope = replace(measures_scope, part=ClausePart.DEFINE)
    for node in clause.definitions:
        condition = build_expressions.cast_nulls_to_boolean(parse_scalar(node.expression, scope))
        if node.name in negated_names:
            condition = add_variable_to_columns(condition, node.name)
        yield Definition(node.name, condition, node.span)


def _lower_partition_key(key: nodes.PartitionKey) -> RowExpression:
    """Return the expression of a PARTITION BY key, with its name."""
    return replace(
        parse_row_expression(key.expression, ClausePart.PARTITION_BY), output_name=key.name
    )


def _lower_sort_key(key: nodes.SortKey) -> SortItem:
    """Return the sort item of an ORDER BY key."""
    return SortItem(
        parse_row_expression(key.expression, ClausePart.ORDER_BY),
        is_descending=bool(key.is_descending),
        nulls_first=key.nulls_first,
        span=key.span,
    )


def _lower_measures(
    clause: nodes.MatchRecognize, scope: Scope, rows_per_match: RowsPerMatch
) -> Iterator[Measure]:
    """Yield the measures.

    ONE ROW PER MATCH computes measures at the last row of the match, where running and final
    semantics give the same value. So all of its measures become FINAL.
    """
    for node in clause.measures:
        value = parse_scalar(node.expression, scope)
        if rows_per_match.summarizes_matches:
            value = change_expressions.set_final_semantics(value)
        yield Measure(node.name, value, node.span)
