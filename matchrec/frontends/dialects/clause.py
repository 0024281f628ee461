"""The clause of one product → the same clause as another one reads it, as edits of the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.frontends.dialects.additions import without_additions
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.exclusive_loops import exclusive_loop_edits
from matchrec.frontends.dialects.fragments import Fragments
from matchrec.frontends.dialects.limits import check_limits
from matchrec.frontends.dialects.product import Nulls, Product
from matchrec.frontends.dialects.typed.context import Kinds
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.frontends.sql.clause.grammar import read_clause
from matchrec.frontends.sql.clause.nodes import ExpressionText, MatchRecognize
from matchrec.frontends.sql.clause.sections import ClauseTokens
from matchrec.plan.clauses import RowsPerMatch
from matchrec.source import Span

_LEAST_TIME = "INTERVAL '0.000001' SECOND"
_ONE_ROW = (None, RowsPerMatch.ONE_ROW)


def clause_edits(
    tokens: ClauseTokens, fragments: Fragments, columns: Kinds | None = None
) -> Iterator[Edit]:
    """The edits of a clause. columns: of its input, None where they are not known."""
    tokens, additions = without_additions(tokens)
    clause = read_clause(tokens)
    for one in additions:
        yield from one.edits(clause.pattern_span)
    if fragments.write is not fragments.read:
        check_limits(clause, fragments.write)
    spans = tuple(one.span for one in expressions(clause))
    order = clause.order_by[0].expression.text if clause.order_by else None
    own = fragments.of_clause(columns or {}, order)
    seen_from_rows = clause.measures if clause.rows_per_match not in _ONE_ROW else ()
    of_rows = {measure.expression.span for measure in seen_from_rows}
    in_define = {definition.condition.span for definition in clause.definitions}
    for span in spans:
        there = replace(own, of_rows=span in of_rows, in_define=span in in_define)
        yield from there.edits(span)
    yield from names_edits(tokens, spans, fragments.write.quote)
    yield from default_edits(tokens, clause, fragments)
    if fragments.read.has_exclusive_loops and not fragments.write.has_exclusive_loops:
        yield from exclusive_loop_edits(clause, replace(own, in_define=True).written)


def expressions(clause: MatchRecognize) -> Iterator[ExpressionText]:
    """Every expression of a clause."""
    yield from clause.partition_by
    yield from (key.expression for key in clause.order_by)
    yield from (measure.expression for measure in clause.measures)
    yield from (definition.condition for definition in clause.definitions)
    if clause.within:
        yield clause.within


def names_edits(tokens: ClauseTokens, spans: tuple[Span, ...], quote: str) -> Iterator[Edit]:
    """Other quotes around the names of variables and measures. spans: of the expressions."""
    for token in tokens.tokens:
        is_quoted = token.kind is TokenKind.QUOTED or token.in_double_quotes
        if not is_quoted or any(one.holds(token.span) for one in spans):
            continue
        if tokens.text_at(token.span)[0] != quote:
            yield Edit(token.span, f"{quote}{token.name.replace(quote, quote * 2)}{quote}")


def default_edits(
    tokens: ClauseTokens, clause: MatchRecognize, fragments: Fragments
) -> Iterator[Edit]:
    """What is not written and would mean something else in the other product."""
    read, write = fragments.read, fragments.write
    for key in clause.order_by:
        here, there = (nulls_first(one, descends=bool(key.descending)) for one in (read, write))
        if key.nulls_first is None and here is not there:
            yield Edit(Span(key.span.end, key.span.end), f" NULLS {'FIRST' if here else 'LAST'}")
    if clause.within and read.within_includes is not write.within_includes:
        sign = "+" if read.within_includes else "-"
        end = clause.within.span.end
        yield Edit(Span(end, end), f" {sign} {_LEAST_TIME}")
    if clause.after_match is None and read.skip is not write.skip:
        start = tokens[tokens.index_at[clause.pattern_span.start] - 1].span.start
        yield Edit(Span(start, start), f"AFTER MATCH SKIP {read.skip.value}\n")


def nulls_first(product: Product, *, descends: bool) -> bool:
    """Whether NULL comes before all values where nothing is said."""
    return {Nulls.SMALL: not descends, Nulls.LARGE: descends, Nulls.LAST: False}[product.nulls]
