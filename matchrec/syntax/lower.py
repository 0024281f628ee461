"""Lower a parsed clause to a `MatchPlan`.

Defaults are filled in, and expressions are parsed: references to rows of the match become nodes.

With ONE ROW PER MATCH every measure is computed at the last row of the match. Running and final
semantics give the same value there, so every measure is FINAL in the plan. What the standard
forbids is rejected by `plan.rules`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

from matchrec.arguments import is_column, is_number
from matchrec.errors.sql import pattern as errors
from matchrec.errors.sql.clause import initial_or_seek_outside_window, skip_with_all_matches
from matchrec.plan import expression
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import (
    ONE_MATCH_PER_START,
    Absence,
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
from matchrec.syntax.durations import WrittenDuration, build_interval, read_positive_duration
from matchrec.syntax.expressions.expression import parse_row_expression, parse_scalar
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.row_pattern import ParameterValues, fill_bounds, look_up_value, read_number
from matchrec.syntax.tokenize import read_tokens

# NOT in PATTERN if rows may be skipped: it names rows that must not be between two rows of a match.
#
#     A NOT B C       no B between the last row of A and the first row of C
#     A C NOT B       no B after the match, in its window
#     NOT B A C       no B before the match, in its window
#
# As negation in SASE+, it is checked once a match is found. So NOT is allowed only between two
# parts of the whole pattern. If the rows of a match follow each other, no row is between them, and
# NOT stays in the pattern.

PatternParts = Sequence[patterns.RowPattern]


def take_out_negations(
    pattern: patterns.RowPattern, selection: EventSelection, output: MatchOutput, *, windowed: bool
) -> tuple[patterns.RowPattern, tuple[Absence, ...]]:
    """Return the pattern without its NOTs, and an absence for each variable under a NOT.

    With strict contiguity the pattern is returned as it is: its NOTs are compiled.

    Args:
        pattern: the row pattern.
        selection: which rows may be skipped.
        output: which matches are returned.
        windowed: whether WITHIN bounds a whole match.

    Raises:
        MatchRecognizeError: a NOT cannot be checked once a match is found.
    """
    negations = patterns.list_negations(pattern)
    if not negations or selection is EventSelection.STRICT_CONTIGUITY:
        return pattern, ()
    if output in ONE_MATCH_PER_START:
        raise errors.negation_with_preferred_matches(negations[0].span)
    parts = patterns.list_top_level_parts(pattern)
    without_nots = patterns.make_concatenation(_drop_negations(parts), pattern.span)
    names = patterns.list_variable_names(without_nots)
    nested = patterns.list_negations(without_nots)
    if nested or not names:
        raise errors.negation_inside_group((nested or negations)[0].span)
    for negation in negations:
        for name in negation.names:
            if name in names:
                locations = "under NOT and by itself"
                raise errors.variable_reused_beside_negation(
                    negation.span, name=name, positions=locations
                )
    return without_nots, tuple(_find_absences(parts, windowed=windowed))


def _drop_negations(parts: PatternParts) -> tuple[patterns.RowPattern, ...]:
    """Return the parts without those that are a NOT."""
    return tuple(part for part in parts if not isinstance(part, patterns.Negation))


def _find_absences(parts: PatternParts, *, windowed: bool) -> Iterator[Absence]:
    """Yield the absence for each variable under NOT.

    Args:
        parts: the parts of the whole pattern, NOTs included.
        windowed: as for `take_out_negations`.
    """
    for index, part in enumerate(parts):
        if not isinstance(part, patterns.Negation):
            continue
        before = _drop_negations(parts[:index])
        after = _drop_negations(parts[index:])
        if not windowed and not (before and after):
            end = "end" if before else "beginning"
            raise errors.negation_without_within(part.span, name=part.names[0], end=end)
        names_before = _find_nearest_variables(before[::-1], "before", part)
        names_after = _find_nearest_variables(after, "after", part)
        all_names_after = patterns.list_variable_names(patterns.make_concatenation(after))
        for name in names_before or ():
            if name in all_names_after:
                locations = "before NOT and after it"
                raise errors.variable_reused_beside_negation(
                    part.span, name=name, positions=locations
                )
        for name in part.names:
            yield Absence(name, names_before, names_after, part.span)


def _find_nearest_variables(
    parts: PatternParts, side: str, negation: patterns.Negation
) -> tuple[str, ...] | None:
    """Return the variables to which the row nearest to a NOT may be mapped.

    Args:
        parts: the parts of the pattern on one side of the NOT, nearest first.
        side: "before" or "after", for messages.
        negation: the NOT.

    Returns:
        The variables of all parts up to the first one that has a row in every match; None if there
        are no parts on that side.

    Raises:
        MatchRecognizeError: every part may be empty.
    """
    if not parts:
        return None
    names: dict[str, None] = {}  # a set that keeps the order
    for part in parts:
        names.update(dict.fromkeys(patterns.list_variable_names(part)))
        if not patterns.may_be_empty(part):
            return tuple(names)
    raise errors.negation_beside_optional(negation.span, side=side)


def add_variable_to_columns(condition: expression.Scalar, variable: str) -> expression.Scalar:
    """Return the condition of a variable under NOT, with the variable added to columns of its row.

    For B, `price > A.price` becomes `B.price > A.price`, because the row that B forbids is not
    mapped.
    """

    def add_variable(reference: expression.Reference) -> expression.Reference:
        """Add the variable to a column of the current row that has none."""
        if not isinstance(reference, expression.ColumnReference):
            return reference
        navigation = reference.navigation
        if not navigation.is_last:
            return reference
        named = replace(navigation, variable=navigation.variable or variable)
        return replace(reference, navigation=named)

    return expression.map_references(condition, add_variable)


def check_absent_rows(plan: MatchPlan) -> None:
    """Check that conditions under NOT read nothing that depends on the row being mapped.

    Raises:
        MatchRecognizeUnsupportedError: one does, such as by counting rows or with CLASSIFIER().
    """
    hint = "read rows of one variable of the match, such as LAST(A.x) or count(A.*)"
    absent_variables = {absence.variable for absence in plan.absences}
    for definition in plan.definitions:
        name = definition.variable
        if name not in absent_variables:
            continue
        for reference in definition.condition.references:
            what = _find_unknown_value(reference, name)
            if what is not None:
                raise errors.reads_row_under_negation(
                    reference.span, what=what, name=name, hint=hint
                )


def _find_unknown_value(reference: expression.Reference, name: str) -> str | None:
    """Return the description of a reference whose value a found match does not determine, or None.

    None if it does.

    Args:
        reference: a reference in the condition of a variable under NOT.
        name: that variable.
    """
    match reference:
        case expression.ColumnReference(navigation=navigation) if not navigation.is_last:
            if navigation.variable == name:
                return "FIRST and LAST of the row itself"
            if navigation.variable is None and navigation.end is expression.End.LAST:
                return "LAST of all variables"
        case expression.Classifier():
            return "CLASSIFIER()"
        case expression.Aggregate(frame=None) if reference.variable in (None, name):
            return f"{reference.function} over the row itself"
    return None


def lower_clause(
    clause: nodes.MatchRecognize, values: ParameterValues = MappingProxyType({})
) -> MatchPlan:
    """Return the plan of a clause.

    Without values, the plan is made once and cached in the node.

    Args:
        clause: the clause.
        values: the values of parameters that replace numbers and lengths of time.

    Raises:
        MatchRecognizeError: an expression is malformed, options do not go together, a parameter
            has no suitable value, or see `plan.rules.check_plan`.

    >>> from matchrec.syntax.grammar import parse_clause
    >>> plan = lower_clause(parse_clause("PATTERN (a b*) DEFINE b AS x > PREV(x)"))
    >>> plan.variables, plan.rows_per_match.value, plan.after_match.to.value
    (('A', 'B'), 'ONE ROW PER MATCH', 'PAST LAST ROW')
    """
    if clause.plans and not values:
        return clause.plans[0]
    _check_options(clause)
    selection = clause.selection or EventSelection.STRICT_CONTIGUITY
    output = clause.output or MatchOutput.PREFERRED
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    filled_pattern = fill_bounds(clause.pattern, values)
    negated_names = patterns.list_negated_names(filled_pattern)
    pattern = filled_pattern
    absences: tuple[Absence, ...] = ()
    if negated_names:
        windowed = any(not window.is_gap for window in clause.windows)
        pattern, absences = take_out_negations(filled_pattern, selection, output, windowed=windowed)
    scope = _make_scope(clause, filled_pattern, values)
    plan = MatchPlan(
        pattern=pattern,
        partition_by=tuple(_lower_partition_key(key) for key in clause.partition_by),
        order_by=tuple(_lower_sort_key(key) for key in clause.order_by),
        measures=tuple(_lower_measures(clause, scope, rows_per_match)),
        rows_per_match=rows_per_match,
        partial=clause.partial,
        columns=clause.columns,
        after_match=clause.after_match or AfterMatchSkip(),
        within_rows=_find_window_rows(clause, values),
        within=_lower_within(clause, values),
        gaps=tuple(_lower_gaps(clause, values)),
        selection=selection,
        output=output,
        first_matches=_fill_first_matches(clause.first_matches, values),
        subsets=clause.subsets,
        definitions=tuple(_lower_definitions(clause, scope, negated_names)),
        absences=absences,
    )
    if absences:
        check_absent_rows(plan)
    check_plan(plan)
    if not values:
        clause.plans.append(plan)
    return plan


def _make_scope(
    clause: nodes.MatchRecognize, pattern: patterns.RowPattern, values: ParameterValues
) -> Scope:
    """Return the scope of the measures of a clause. The pattern still has its NOTs."""
    names = (*patterns.list_variable_names(pattern), *patterns.list_negated_names(pattern))
    return Scope(
        ClausePart.MEASURES,
        primary=tuple(dict.fromkeys(names)),
        unions=tuple(union.name for union in clause.subsets),
        values=values,
    )


def _fill_first_matches(first: FirstMatches | None, values: ParameterValues) -> FirstMatches | None:
    """Return `FIRST k MATCHES` with the value of its parameter, if it has one."""
    if first is None or first.parameter is None:
        return first
    number = read_number(first.parameter, values, "the number of matches in FIRST", 1)
    return FirstMatches(number, first.span)


def _find_window_rows(clause: nodes.MatchRecognize, values: ParameterValues) -> int | None:
    """Return n of `WITHIN n ROWS`, the value of its parameter if it has one; None without it."""
    window = clause.window_of_rows
    if window is None:
        return None
    if window.parameter is None:
        return window.rows
    return read_number(window.parameter, values, "the number of rows in WITHIN", 1)


def _lower_within(clause: nodes.MatchRecognize, values: ParameterValues) -> Within | None:
    """Return the window of a whole match; None without it."""
    if clause.within is None:
        return None
    return Within(_read_interval(clause.within, values))


def _lower_gaps(clause: nodes.MatchRecognize, values: ParameterValues) -> Iterator[Gap]:
    """Yield the windows between rows of a match."""
    for window in clause.windows:
        if window.is_gap:
            yield Gap(
                _read_interval(window, values),
                window.from_variable,
                window.to_variable,
                window.span,
            )


def _check_options(clause: nodes.MatchRecognize) -> None:
    """Raise an error for options that do not go together."""
    if clause.search:
        raise initial_or_seek_outside_window(
            clause.search_span or clause.span, word=clause.search.value
        )
    if clause.output not in (None, *ONE_MATCH_PER_START) and clause.after_match is not None:
        raise skip_with_all_matches(
            clause.after_match.span or clause.span, output=clause.output.value
        )


def _read_interval(window: nodes.WindowNode, values: ParameterValues) -> RowExpression:
    """Return the interval of a window.

    The value of a parameter is filled in if it is a length of time. Spark fills in other values:
    a number in the unit of ORDER BY, or a Column.

    Raises:
        MatchRecognizeError: the value is missing or not a positive length.
    """
    parameter = window.parameter
    if parameter is None:
        return parse_row_expression(window.interval, ClausePart.WITHIN)
    if window.has_interval_word:
        value = look_up_value(parameter, values)
    else:
        value = values.get(parameter.name)
    call = f"{parameter.text} in WITHIN"
    is_length = window.has_interval_word or isinstance(value, str | timedelta)
    if is_length and not is_column(value):
        duration = WrittenDuration(
            value, text=parameter.text, has_interval_word=window.has_interval_word, unit=window.unit
        )
        return build_interval(duration, call, window.interval.full_span)
    name = read_tokens(parameter.text, offset=window.interval.offset)
    read = parse_row_expression(name, ClausePart.WITHIN)
    if not is_number(value):
        return read
    # A number is checked here, so that the engine need not compute it.
    read_positive_duration(value, call, window.interval.full_span)
    return replace(read, is_constant=False)


def _lower_definitions(
    clause: nodes.MatchRecognize, measures_scope: Scope, negated_names: Container[str]
) -> Iterator[Definition]:
    """Yield the conditions of DEFINE.

    Args:
        clause: the clause.
        measures_scope: the scope of its measures.
        negated_names: the variables under NOT.
    """
    scope = replace(measures_scope, part=ClausePart.DEFINE)
    for node in clause.definitions:
        condition = expression.cast_nulls_to_boolean(parse_scalar(node.expression, scope))
        if node.name in negated_names:
            condition = add_variable_to_columns(condition, node.name)
        yield Definition(node.name, condition, node.span)


def _lower_partition_key(key: nodes.PartitionKey) -> RowExpression:
    """Return the expression of a PARTITION BY key, with its name."""
    return replace(parse_row_expression(key.expression, ClausePart.PARTITION_BY), name=key.name)


def _lower_sort_key(key: nodes.SortKey) -> SortItem:
    """Return the sort item of an ORDER BY key."""
    order = parse_row_expression(key.expression, ClausePart.ORDER_BY)
    return SortItem(order, bool(key.descending), key.nulls_first)


def _lower_measures(
    clause: nodes.MatchRecognize, scope: Scope, rows: RowsPerMatch
) -> Iterator[Measure]:
    """Yield the measures."""
    for node in clause.measures:
        value = parse_scalar(node.expression, scope)
        if rows.summarizes_matches:
            value = expression.set_final_semantics(value)
        yield Measure(node.name, value, node.span)
