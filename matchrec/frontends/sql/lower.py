"""MatchRecognize → MatchPlan: defaults are filled in, navigation leaves the expressions.

With ONE ROW PER MATCH every measure is seen from the last row, where running and final semantics
give the same value; it is FINAL in the plan. What is forbidden is refused by `plan.rules`.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from matchrec.errors.sql.clause import search_outside_window, skip_among_all
from matchrec.frontends.expressions.analysis import Clause, Scope
from matchrec.frontends.expressions.expression import parse_row_expression, parse_scalar
from matchrec.frontends.lexing.dialect import Dialect
from matchrec.frontends.row_pattern.parameters import Values, fill_bounds
from matchrec.frontends.sql.absences import check_absent_rows, of_forbidden_row, take_out_negations
from matchrec.frontends.sql.clause.nodes import (
    DefinitionNode,
    ExpressionText,
    MatchRecognize,
    MeasureNode,
    PartitionKey,
    SortKey,
    WindowNode,
)
from matchrec.plan.clauses import (
    ONE_OF_A_ROW,
    AfterMatchSkip,
    Definition,
    EventSelection,
    Gap,
    MatchOutput,
    Measure,
    RowExpression,
    RowsPerMatch,
    SortItem,
    Within,
)
from matchrec.plan.expression import Scalar, with_final_semantics
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import RowPattern, negated_names, variable_names
from matchrec.plan.rules import check


def lower(clause: MatchRecognize, values: Values = MappingProxyType({})) -> MatchPlan:
    """The plan of a clause. values: of parameters, which PATTERN may have as bounds.

    >>> from matchrec.frontends.sql import parse_clause
    >>> plan = lower(parse_clause("PATTERN (a b*) DEFINE b AS x > PREV(x)"))
    >>> plan.variables, plan.rows_per_match.value, plan.after_match.to.value
    (('A', 'B'), 'ONE ROW PER MATCH', 'PAST LAST ROW')
    """
    _check_words(clause)
    selection = clause.selection or EventSelection.STRICT_CONTIGUITY
    output = clause.output or MatchOutput.PREFERRED
    written = fill_bounds(clause.pattern, values)
    windowed = clause.within is not None
    pattern, absences = take_out_negations(written, selection, output, windowed=windowed)
    dialect = clause.dialect
    define, measures = (_scope(clause, part, written) for part in (Clause.DEFINE, Clause.MEASURES))
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    plan = MatchPlan(
        pattern=pattern,
        partition_by=tuple(_partition_key(key, dialect) for key in clause.partition_by),
        order_by=tuple(_sort_item(key, dialect) for key in clause.order_by),
        measures=tuple(_measure(node, measures, rows_per_match) for node in clause.measures),
        rows_per_match=rows_per_match,
        partial=clause.partial,
        columns=clause.columns,
        after_match=clause.after_match or AfterMatchSkip(),
        within=Within(_row(clause.within, Clause.WITHIN, dialect)) if clause.within else None,
        gaps=tuple(_gap(node, dialect) for node in clause.gaps),
        selection=selection,
        output=output,
        subsets=clause.subsets,
        definitions=tuple(_definition(node, define, written) for node in clause.definitions),
        absences=absences,
    )
    check_absent_rows(plan)
    check(plan)
    return plan


def _scope(clause: MatchRecognize, part: Clause, pattern: RowPattern) -> Scope:
    """What a part of the clause may refer to. pattern: as it was written."""
    primary = tuple(dict.fromkeys((*variable_names(pattern), *negated_names(pattern))))
    unions = tuple(subset.name for subset in clause.subsets)
    return Scope(part, primary, unions, clause.dialect)


def _check_words(clause: MatchRecognize) -> None:
    """Raises MatchRecognizeError for words that do not go together."""
    if clause.search:
        raise search_outside_window(clause.search.value, clause.search_span or clause.span)
    if clause.output not in (None, *ONE_OF_A_ROW) and clause.after_match is not None:
        raise skip_among_all(clause.output.value, clause.after_match.span or clause.span)


def _row(node: ExpressionText, clause: Clause, dialect: Dialect) -> RowExpression:
    return parse_row_expression(node.text, node.span.start, clause, dialect)


def _gap(node: WindowNode, dialect: Dialect) -> Gap:
    return Gap(_row(node.interval, Clause.WITHIN, dialect), node.after, node.to, node.span)


def _scalar(node: ExpressionText, scope: Scope) -> Scalar:
    return parse_scalar(node.text, node.span.start, scope)


def _definition(node: DefinitionNode, scope: Scope, pattern: RowPattern) -> Definition:
    condition = of_forbidden_row(_scalar(node.condition, scope), node.variable, pattern)
    return Definition(node.variable, condition, node.span)


def _partition_key(key: PartitionKey, dialect: Dialect) -> RowExpression:
    return replace(_row(key.expression, Clause.PARTITION_BY, dialect), name=key.name)


def _sort_item(key: SortKey, dialect: Dialect) -> SortItem:
    expression = _row(key.expression, Clause.ORDER_BY, dialect)
    return SortItem(expression, bool(key.descending), key.nulls_first)


def _measure(node: MeasureNode, scope: Scope, rows: RowsPerMatch) -> Measure:
    value = _scalar(node.expression, scope)
    if rows is RowsPerMatch.ONE_ROW:
        value = with_final_semantics(value)
    return Measure(node.name, value, node.span)
