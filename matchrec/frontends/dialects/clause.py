"""The clause of one product → the same clause as another one reads it, as edits of the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from matchrec.errors.sql import dialects as errors
from matchrec.frontends.dialects.additions import without_additions
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.exclusive_loops import exclusive_loop_edits
from matchrec.frontends.dialects.fragments import Fragments
from matchrec.frontends.dialects.limits import check_limits
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.product import Addition, Nulls, Place, Product
from matchrec.frontends.dialects.variables import (
    calls_classifier,
    quoted_variables,
    variable_places,
    variables_as_written,
)
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.frontends.sql.clause.grammar import read_clause
from matchrec.frontends.sql.clause.nodes import ExpressionText, MatchRecognize, SortKey
from matchrec.frontends.sql.clause.sections import ClauseTokens, Part, find_sections
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.pattern import variable_names
from matchrec.source import Span

_LEAST_TIME = "INTERVAL '0.000001' SECOND"
_ONE_ROW = (None, RowsPerMatch.ONE_ROW)


def clause_edits(
    tokens: ClauseTokens, fragments: Fragments, time: Span | None = None
) -> Iterator[Edit]:
    """The edits of a clause. time: the expression of TIMESTAMP BY before it, if there is one."""
    read, write = fragments.read, fragments.write
    tokens, additions = without_additions(tokens, read.additions)
    clause = read_clause(tokens)
    for one in additions:
        yield from one.edits(clause.pattern_span)
    if read.defines_more and not write.defines_more:
        clause, unused = without_unused(tokens, clause)
        yield from (Edit(span, "") for span in unused)
    check_limits(clause, write)
    if Addition.TIMESTAMP_BY in read.additions:
        yield from time_edits(tokens, clause, fragments, time)
    keeps = read.keeps_case and not write.keeps_case
    written = variables_as_written(tokens, clause) if keeps else {}
    places = tuple(expressions(clause))
    seen = clause if time is None else replace(clause, order_by=(sorted_by(fragments, time),))
    own = fragments.ordered(seen.order_by[0].expression.text if seen.order_by else None)
    sees_rows = clause.rows_per_match not in _ONE_ROW
    for part, node in places:
        rules = read.reads_part(Place(seen, part, write))
        of_rows, in_define = sees_rows and part is Part.MEASURES, part is Part.DEFINE
        there = replace(own, of_rows=of_rows, in_define=in_define)
        yield from there.expression(node.span, (*quoted_variables(written), *rules))
    spans = tuple(node.span for _, node in places)
    yield from names_edits(tokens, spans, write.quote, variable_places(clause, written))
    yield from default_edits(tokens, clause, fragments)
    if read.has_exclusive_loops and not write.has_exclusive_loops:
        yield from exclusive_loop_edits(clause, replace(own, in_define=True).written)
    fragments.notes.extend(output_notes(tokens, clause, read, write))


def output_notes(
    tokens: ClauseTokens, clause: MatchRecognize, read: Product, write: Product
) -> Iterator[Note]:
    """What of the rows that come out differs in the other product."""
    if write.keeps_case and not read.keeps_case and calls_classifier(tokens):
        case = f"CLASSIFIER() names a variable as it is written in {write.title}, in upper case in "
        yield Note(case + read.title, clause.pattern_span)
    all_rows = clause.rows_per_match not in (None, RowsPerMatch.ONE_ROW)
    if all_rows and read.columns is not write.columns:
        orders = (f"{one.title}: {one.columns.value}" for one in (read, write))
        message = f"`*` has its columns in another order: {'; '.join(orders)}"
        yield Note(message, clause.pattern_span, is_met=True)


def without_unused(
    tokens: ClauseTokens, clause: MatchRecognize
) -> tuple[MatchRecognize, list[Span]]:
    """The clause without definitions of variables that PATTERN has not, and what to take out."""
    used = set(variable_names(clause.pattern))
    kept = tuple(one for one in clause.definitions if one.variable in used)
    if len(kept) == len(clause.definitions):
        return clause, []
    if not kept:
        keyword = find_sections(tokens)[Part.DEFINE].keyword
        end = clause.definitions[-1].condition.span.end
        return replace(clause, definitions=()), [Span(keyword.start, end)]
    spans, before = [], None
    following = (*(one.span.start for one in clause.definitions[1:]), None)
    for one, after in zip(clause.definitions, following, strict=True):
        if one in kept:
            before = one.condition.span.end
        elif after is not None and before is None:
            spans.append(Span(one.span.start, after))
        else:
            spans.append(Span(before or one.span.start, one.condition.span.end))
            before = one.condition.span.end
    return replace(clause, definitions=kept), spans


def time_edits(
    tokens: ClauseTokens, clause: MatchRecognize, fragments: Fragments, time: Span | None
) -> Iterator[Edit]:
    """ORDER BY the time of TIMESTAMP BY."""
    if time is None:
        raise errors.ordered_by_arrival(fragments.read.title, clause.span)
    text = fragments.expression_text(time)
    yield Edit(after_partition_by(tokens), f"ORDER BY {text}\n")


def sorted_by(fragments: Fragments, time: Span) -> SortKey:
    """The time of TIMESTAMP BY as a key of ORDER BY."""
    return SortKey(ExpressionText(fragments.text[time.start : time.end], time), span=time)


def expressions(clause: MatchRecognize) -> Iterator[tuple[Part, ExpressionText]]:
    """Every expression of a clause, and in which part it stands."""
    yield from ((Part.PARTITION_BY, key) for key in clause.partition_by)
    yield from ((Part.ORDER_BY, key.expression) for key in clause.order_by)
    yield from ((Part.MEASURES, measure.expression) for measure in clause.measures)
    yield from ((Part.DEFINE, definition.condition) for definition in clause.definitions)
    if clause.within:
        yield Part.WITHIN, clause.within


def after_partition_by(tokens: ClauseTokens) -> Span:
    """Where ORDER BY would be inserted."""
    sections = find_sections(tokens).values()
    later = [one.keyword.start for one in sections if one.part is not Part.PARTITION_BY]
    return Span(min(later), min(later))


def names_edits(
    tokens: ClauseTokens, spans: tuple[Span, ...], quote: str, variables: Mapping[Span, str]
) -> Iterator[Edit]:
    """Other quotes around the names of variables and measures. spans: of the expressions.

    variables: places of variables without quotes, and what to quote there.
    """
    for token in tokens.tokens:
        is_quoted = token.kind is TokenKind.QUOTED or token.in_double_quotes
        name = token.name if is_quoted else variables.get(token.span)
        if name is None or any(one.holds(token.span) for one in spans):
            continue
        if not is_quoted or tokens.text_at(token.span)[0] != quote:
            yield Edit(token.span, f"{quote}{name.replace(quote, quote * 2)}{quote}")


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
