"""MatchRecognize → MatchPlan: defaults are filled in, navigation leaves the expressions.

With ONE ROW PER MATCH every measure is seen from the last row, where running and final semantics
give the same value; it is FINAL in the plan. What is forbidden is refused by `plan.rules`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from matchrec.arguments import is_column, is_number
from matchrec.errors.sql import pattern as errors
from matchrec.errors.sql.clause import search_outside_window, skip_among_all
from matchrec.plan import expression
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import (
    ONE_OF_A_ROW,
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
from matchrec.plan.rules import check
from matchrec.syntax import nodes
from matchrec.syntax.durations import duration, interval
from matchrec.syntax.expressions.expression import parse_row_expression, parse_scalar
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.row_pattern import Values, fill_bounds, number_of, value_given
from matchrec.syntax.tokens import read_tokens

# NOT in PATTERN where rows may be skipped: what must not lie between two rows of a match.
#
#     A NOT B C       no B between the last row of A and the first row of C
#     A C NOT B       no B after the match, in its window; NOT B A C: none before it
#
# It is asked of finished matches, as negation in SASE+ is, so it stands between two parts of the
# whole pattern. Where rows follow each other nothing lies between them, and NOT stays in the
# pattern.

Parts = Sequence[patterns.RowPattern]


def take_out_negations(
    pattern: patterns.RowPattern, selection: EventSelection, output: MatchOutput, *, windowed: bool
) -> tuple[patterns.RowPattern, tuple[Absence, ...]]:
    """The pattern of the rows, and what must be absent. windowed: whether there is a WITHIN.

    Raises MatchRecognizeError for a NOT that cannot be asked of a finished match.
    """
    found = patterns.negations(pattern)
    if not found or selection is EventSelection.STRICT_CONTIGUITY:
        return pattern, ()
    if output in ONE_OF_A_ROW:
        raise errors.preferred_negation(found[0].span)
    parts = patterns.top(pattern)
    rest = patterns.concatenation(_of_rows(parts), pattern.span)
    mapped = patterns.variable_names(rest)
    if nested := patterns.negations(rest) or (() if mapped else found):
        raise errors.nested_negation(nested[0].span)
    for negation in found:
        for name in negation.names:
            if name in mapped:
                places = "under NOT and by itself"
                raise errors.variable_beside_negation(negation.span, name=name, places=places)
    return rest, tuple(_absences(parts, windowed=windowed))


def _of_rows(parts: Parts) -> Iterator[patterns.RowPattern]:
    return (part for part in parts if not isinstance(part, patterns.Negation))


def _absences(parts: Parts, *, windowed: bool) -> Iterator[Absence]:
    for place, part in enumerate(parts):
        if isinstance(part, patterns.Negation):
            before, after = tuple(_of_rows(parts[:place])), tuple(_of_rows(parts[place:]))
            if not windowed and not (before and after):
                end = "end" if before else "beginning"
                raise errors.negation_without_window(part.span, name=part.names[0], end=end)
            names = _beside(before[::-1], "before", part), _beside(after, "after", part)
            for name in names[0] or ():
                if name in patterns.variable_names(patterns.concatenation(after)):
                    places = "before NOT and after it"
                    raise errors.variable_beside_negation(part.span, name=name, places=places)
            yield from (Absence(name, *names, part.span) for name in part.names)


def _beside(parts: Parts, side: str, negation: patterns.Negation) -> tuple[str, ...] | None:
    """The variables of which one has the nearest row; None where no part stands there."""
    if not parts:
        return None
    names: dict[str, None] = {}
    for part in parts:
        names.update(dict.fromkeys(patterns.variable_names(part)))
        if not patterns.may_be_empty(part):
            return tuple(names)
    raise errors.negation_beside_optional(negation.span, side=side)


def of_forbidden_row(condition: expression.Scalar, name: str) -> expression.Scalar:
    """The condition of a variable under NOT, which names its row where it reads a column of it."""

    def named(one: expression.Reference) -> expression.Reference:
        if isinstance(one, expression.ColumnReference) and one.navigation.is_last:
            own = one.navigation.variable or name
            return replace(one, navigation=replace(one.navigation, variable=own))
        return one

    return expression.with_references(condition, named)


def check_absent_rows(plan: MatchPlan) -> None:
    """Raises MatchRecognizeUnsupportedError for what counts a row that is not mapped."""
    hint = "read rows of one variable of the match, such as LAST(A.x) or count(A.*)"
    absent = {absence.variable for absence in plan.absences}
    for definition in plan.definitions:
        name = definition.variable
        for reference in definition.condition.references if name in absent else ():
            if what := _unread(reference, name):
                raise errors.reads_forbidden_row(reference.span, what=what, name=name, hint=hint)


def _unread(reference: expression.Reference, name: str) -> str | None:
    """What of a reference is not known of a finished match, or None."""
    match reference:
        case expression.ColumnReference(navigation=navigation) if not navigation.is_last:
            if navigation.variable == name:
                return "FIRST and LAST of the row itself"
            counts_back = navigation.variable is None and navigation.end is expression.End.LAST
            return "LAST of all variables" if counts_back else None
        case expression.Classifier():
            return "CLASSIFIER()"
        case expression.Aggregate(frame=None) if reference.variable in (None, name):
            return f"{reference.function} over the row itself"
    return None


def lower(clause: nodes.MatchRecognize, values: Values = MappingProxyType({})) -> MatchPlan:
    """The plan of a clause, made once. values: of parameters in the places of numbers.

    >>> from matchrec.syntax.grammar import parse_clause
    >>> plan = lower(parse_clause("PATTERN (a b*) DEFINE b AS x > PREV(x)"))
    >>> plan.variables, plan.rows_per_match.value, plan.after_match.to.value
    (('A', 'B'), 'ONE ROW PER MATCH', 'PAST LAST ROW')
    """
    if clause.plans and not values:
        return clause.plans[0]
    _check_words(clause)
    selection = clause.selection or EventSelection.STRICT_CONTIGUITY
    output = clause.output or MatchOutput.PREFERRED
    written = fill_bounds(clause.pattern, values)
    pattern, absences, negated = written, tuple[Absence, ...](), patterns.negated_names(written)
    if negated:
        windowed = not all(window.is_gap for window in clause.windows)
        pattern, absences = take_out_negations(written, selection, output, windowed=windowed)
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    names = tuple(dict.fromkeys((*patterns.variable_names(written), *negated)))
    unions = tuple(union.name for union in clause.subsets)
    scope = Scope(ClausePart.MEASURES, names, unions, values=values)
    plan = MatchPlan(
        pattern=pattern,
        partition_by=tuple(map(_partition_key, clause.partition_by)),
        order_by=tuple(map(_sort_item, clause.order_by)),
        measures=tuple(_measures(clause, scope, rows_per_match)),
        rows_per_match=rows_per_match,
        partial=clause.partial,
        columns=clause.columns,
        after_match=clause.after_match or AfterMatchSkip(),
        **(_windows(clause, values) if clause.windows else {}),
        selection=selection,
        output=output,
        first_matches=_first_matches(clause.first_matches, values),
        subsets=clause.subsets,
        definitions=tuple(_definitions(clause, scope, negated)),
        absences=absences,
    )
    if absences:
        check_absent_rows(plan)
    check(plan)
    if not values:
        clause.plans.append(plan)
    return plan


def _first_matches(asked: FirstMatches | None, values: Values) -> FirstMatches | None:
    if asked is None or asked.parameter is None:
        return asked
    number = number_of(asked.parameter, values, "the number of matches in FIRST", 1)
    return FirstMatches(number, asked.span)


def _windows(clause: nodes.MatchRecognize, values: Values) -> dict[str, Any]:
    """What a plan says of how far rows lie apart, by the names of its fields."""
    within, of_rows = clause.within, clause.window_of_rows
    rows = of_rows and of_rows.rows
    if of_rows and of_rows.parameter:
        rows = number_of(of_rows.parameter, values, "the number of rows in WITHIN", 1)
    gaps = (one for one in clause.windows if one.is_gap)
    return {
        "within": Within(_interval(within, values)) if within else None,
        "within_rows": rows,
        "gaps": tuple(Gap(_interval(one, values), one.after, one.to, one.span) for one in gaps),
    }


def _check_words(clause: nodes.MatchRecognize) -> None:
    """Raises MatchRecognizeError for words that do not go together."""
    if clause.search:
        raise search_outside_window(clause.search_span or clause.span, word=clause.search.value)
    if clause.output not in (None, *ONE_OF_A_ROW) and clause.after_match is not None:
        raise skip_among_all(clause.after_match.span or clause.span, output=clause.output.value)


def _interval(node: nodes.WindowNode, values: Values) -> RowExpression:
    """The interval of a window, with the value of a parameter that is a length of time.

    Other values are Spark's to fill in: a number in the unit of ORDER BY, or a Column.
    """
    given, written = node.parameter, node.interval
    if given is None:
        return parse_row_expression(written, ClausePart.WITHIN)
    value = values.get(given.name) if node.unit is None else value_given(given, values)
    if is_column(value) or (node.unit is None and not isinstance(value, str | timedelta)):
        name = read_tokens(given.written, offset=written.offset)
        found = parse_row_expression(name, ClausePart.WITHIN)
        if not is_number(value):
            return found
        # A number is checked here, so that the engine need not compute it.
        duration(value, f"{given.written} in WITHIN", written.whole)
        return replace(found, is_constant=False)
    return interval(value, f"{given.written} in WITHIN", written.whole, given.written, node.unit)


def _definitions(
    clause: nodes.MatchRecognize, measured: Scope, negated: Container[str]
) -> Iterator[Definition]:
    """The conditions. measured: what measures may refer to. negated: the variables under NOT."""
    scope = replace(measured, clause=ClausePart.DEFINE)
    for node in clause.definitions:
        condition = expression.of_a_condition(parse_scalar(node.expression, scope))
        if node.name in negated:
            condition = of_forbidden_row(condition, node.name)
        yield Definition(node.name, condition, node.span)


def _partition_key(key: nodes.PartitionKey) -> RowExpression:
    return replace(parse_row_expression(key.expression, ClausePart.PARTITION_BY), name=key.name)


def _sort_item(key: nodes.SortKey) -> SortItem:
    written = parse_row_expression(key.expression, ClausePart.ORDER_BY)
    return SortItem(written, bool(key.descending), key.nulls_first)


def _measures(clause: nodes.MatchRecognize, scope: Scope, rows: RowsPerMatch) -> Iterator[Measure]:
    for node in clause.measures:
        value = parse_scalar(node.expression, scope)
        if rows is RowsPerMatch.ONE_ROW:
            value = expression.with_final_semantics(value)
        yield Measure(node.name, value, node.span)
