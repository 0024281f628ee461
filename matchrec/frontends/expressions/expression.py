"""Scalar syntax → expression: what reads rows of a match becomes references, the rest stays text.

    LAST(A.price) * 1.1 > price      →      > ( * (?, 1.1), ?)   over   `? * 1.1 > ?`

Three steps: `analysis` finds tokens and columns, `references` takes out what reads rows,
`operations` finds the operations between them.
"""

from __future__ import annotations

from matchrec.errors.language import part
from matchrec.errors.sql import syntax as errors
from matchrec.errors.sql.expression import constant_key
from matchrec.frontends.expressions.analysis import Analysis, Clause, Scope, analyse
from matchrec.frontends.expressions.operations.precedence import (
    read_operations,
    with_row_operations,
)
from matchrec.frontends.expressions.references.holes import find_holes, refuse_references
from matchrec.frontends.lexing.dialect import SPARK, Dialect
from matchrec.frontends.lexing.function_names import CONSTANT_CALLS, NONDETERMINISTIC
from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import Scalar
from matchrec.source import Span


def parse_scalar(text: str, offset: int, scope: Scope) -> Scalar:
    """The expression `text`, which starts at character `offset` of its query.

    >>> from matchrec.plan.expression import render
    >>> scope = Scope(Clause.DEFINE, ("A",))
    >>> tree = parse_scalar("A.price > 2 * PREV(a.price)", 0, scope)
    >>> tree.operator, render(tree, lambda reference: f"<{reference.argument}>")
    ('>', '<price> > 2 * <price>')
    """
    try:
        analysis = analyse(text, offset, scope)
        return with_row_operations(analysis, read_operations(analysis, find_holes(analysis)))
    except RecursionError as error:
        span = Span(offset, offset + len(text))
        raise errors.expression_nested_too_deep(part(scope.clause.value), span) from error


def parse_row_expression(
    text: str, offset: int, clause: Clause, dialect: Dialect = SPARK
) -> RowExpression:
    """SQL over one row of the input, or over none."""
    analysis = analyse(text, offset, Scope(clause, dialect=dialect))
    refuse_references(analysis)
    span = analysis.span(0, len(analysis.tokens))
    if clause is not Clause.WITHIN and _is_constant(analysis):
        raise constant_key(analysis.text_at(span), analysis.clause, span)
    return RowExpression(analysis.written(span), span)


def _is_constant(analysis: Analysis) -> bool:
    """Whether an expression has one value for all rows; what `f()` gives may be anything."""
    calls = [index for index in range(len(analysis.tokens)) if analysis.is_call(index)]
    return not analysis.columns and not any(
        analysis.key(index) in NONDETERMINISTIC
        or (analysis.key(index + 2) == ")" and analysis.key(index) not in CONSTANT_CALLS)
        for index in calls
    )
