"""Edit the clause of one product so that it means the same in another one.

`edit_clause` checks what the other product lacks, translates the expressions, and writes out
defaults in which the products differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

from matchrec.dialects.alternatives import note_alternatives
from matchrec.dialects.clause_names import (
    edit_names,
    find_variable_spans,
    find_written_names,
    quote_name,
)
from matchrec.dialects.edits import Edit, TranslationNote
from matchrec.dialects.exclusive_loops import (
    edit_exclusive_loops,
    edit_options,
    note_exclusive_loops,
)
from matchrec.dialects.fragments import FragmentTranslator
from matchrec.dialects.limits import check_limits
from matchrec.dialects.products import SPARK, Nulls, Product
from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.visible_columns import ColumnKinds, VisibleColumns
from matchrec.errors.sql import window as errors
from matchrec.plan import pattern
from matchrec.plan.clauses import RowsPerMatch
from matchrec.source import Span
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.expressions.reader import ClausePart
from matchrec.syntax.grammar import read_clause
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.parameter_values import walk_parameters
from matchrec.syntax.pattern_windows import PatternWindow, cut_out_window_tokens, is_unnamed_item
from matchrec.syntax.sections import find_sections
from matchrec.syntax.tokens import TokenKind, TokenSequence


def edit_clause(
    tokens: ClauseTokens, translator: FragmentTranslator, look_up_inputs: Callable[[], ColumnKinds]
) -> Iterator[Edit]:
    """Yield the edits of a clause. Notes on it are added to `translator.log`.

    Args:
        tokens: the tokens of the clause.
        translator: translates its expressions.
        look_up_inputs: returns the columns of its input.

    Raises:
        MatchRecognizeError: the clause is wrong, or the product that is written lacks a part of it.
    """
    read = translator.read
    write = translator.write
    clause = read_clause(tokens)
    if read.name == "azure" and not clause.order_by:
        raise errors.missing_timestamp_by(clause.span, product=read.title)
    if read.allows_unused_definitions and not write.allows_unused_definitions:
        clause, unused = drop_unused_definitions(tokens, clause)
        yield from (Edit(span, "") for span in unused)
    translator.log.notes.extend(check_limits(clause, read, write))
    written_names: dict[str, str] = {}
    if read.keeps_case and not write.keeps_case:
        written_names = find_written_names(tokens, clause)
    context = RuleContext(
        read, write, clause, columns=VisibleColumns(look_up_inputs), quoted_variables=written_names
    )
    expressions = tuple(walk_expressions(clause))
    for part, span in expressions:
        yield from translator.edit_expression(span, context.enter_part(part))
    expression_spans = tuple(span for _, span in expressions)
    variables = find_variable_spans(clause, written_names)
    yield from edit_names(tokens, expression_spans, write.quote, variables)
    yield from edit_bounds(clause, write)
    yield from edit_defaults(tokens, clause, read, write)
    yield from edit_options(clause, read, write)
    if read.has_exclusive_loops and not write.has_exclusive_loops:
        in_define = context.enter_part(ClausePart.DEFINE)
        translate = partial(translator.translate_expression, context=in_define)
        yield from edit_exclusive_loops(clause, write, translate)
    translator.log.notes.extend(note_output_differences(tokens, clause, read, write))
    translator.log.notes.extend(note_alternatives(translator.text, clause.pattern, read, write))
    if write.has_exclusive_loops and not read.has_exclusive_loops:
        translator.log.notes.extend(note_exclusive_loops(clause, write))


def walk_expressions(clause: MatchRecognize) -> Iterator[tuple[ClausePart, Span]]:
    """Yield the span of each expression of a clause, and the part that it is in."""
    for key in clause.partition_by:
        yield ClausePart.PARTITION_BY, key.expression.full_span
    for item in clause.order_by:
        yield ClausePart.ORDER_BY, item.expression.full_span
    for measure in clause.measures:
        yield ClausePart.MEASURES, measure.expression.full_span
    for definition in clause.definitions:
        yield ClausePart.DEFINE, definition.expression.full_span
    for window in clause.windows:
        yield ClausePart.WITHIN, window.interval_span


def edit_bounds(clause: MatchRecognize, write: Product) -> Iterator[Edit]:
    """Yield the edits that write parameters in quantifiers in the form of the other product."""
    # `{:n}` is a lower and an upper bound, so its span occurs twice.
    bounds = {bound.span: bound for bound in walk_parameters(clause.pattern)}
    for span, bound in bounds.items():
        if bound.mark not in ("?", write.parameter) and span is not None:
            yield Edit(span, f"{write.parameter}{bound.name}")


def edit_defaults(
    tokens: ClauseTokens, clause: MatchRecognize, read: Product, write: Product
) -> Iterator[Edit]:
    """Yield the edits that write out defaults that differ in the other product."""
    for key in clause.order_by:
        descends = bool(key.descending)
        nulls_first = _puts_nulls_first(read, descends=descends)
        nulls_first_there = _puts_nulls_first(write, descends=descends)
        if key.nulls_first is None and nulls_first is not nulls_first_there:
            word = "FIRST" if nulls_first else "LAST"
            yield Edit(Span(key.span.end, key.span.end), f" NULLS {word}")
    if clause.within and read.within_includes_end and not write.within_includes_end:
        end = clause.within.interval_span.end
        yield Edit(Span(end, end), " + INTERVAL '0.000001' SECOND")
    if read.has_rows_without_columns and not write.has_rows_without_columns:
        yield from _add_measure(tokens, clause)
    if clause.after_match is None and read.skip is not write.skip:
        pattern_keyword = tokens[tokens.index_at[clause.pattern_span.start] - 1]
        start = pattern_keyword.span.start
        yield Edit(Span(start, start), f"AFTER MATCH SKIP {read.skip.value}\n")
    if write.needs_as:
        for measure in clause.measures:
            start = measure.span.start
            if tokens[tokens.index_at[start] - 1].key != "AS":
                yield Edit(Span(start, start), "AS ")


def _puts_nulls_first(product: Product, *, descends: bool) -> bool:
    """Return whether NULL comes before all values by default."""
    match product.nulls:
        case Nulls.SMALL:
            return not descends
        case Nulls.LARGE:
            return descends
        case Nulls.LAST:
            return False


def _add_measure(tokens: ClauseTokens, clause: MatchRecognize) -> Iterator[Edit]:
    """Yield an edit that adds a measure to a clause whose rows would have no columns.

    In some products these rows can still be counted by a COUNT(*) around the clause.
    """
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    if clause.measures or clause.partition_by or not rows_per_match.summarizes_matches:
        return
    end = max((key.span.end for key in clause.order_by), default=tokens.inside.start)
    start = next(token.span.start for token in tokens.tokens if token.span.start >= end)
    yield Edit(Span(start, start), "MEASURES MATCH_NUMBER() AS match_number ")


def note_output_differences(
    tokens: ClauseTokens, clause: MatchRecognize, read: Product, write: Product
) -> Iterator[TranslationNote]:
    """Yield notes on what differs in the output, although the clause is the same."""
    calls_classifier = any(token.key == "CLASSIFIER" for token in tokens.tokens)
    if calls_classifier and write.keeps_case and not read.keeps_case:
        keeps = f"CLASSIFIER() keeps the case of a variable in {write.title}"
        yield TranslationNote(f"{keeps}, and is in upper case in {read.title}", clause.pattern_span)
    if clause.within and write.within_includes_end and not read.within_includes_end:
        yield TranslationNote(
            f"WITHIN includes its end in {write.title}", clause.within.interval_span
        )
    finds_differ = read.finds_empty_matches is not write.finds_empty_matches
    if finds_differ and pattern.may_be_empty(clause.pattern):
        finds, misses = (read, write) if read.finds_empty_matches else (write, read)
        message = f"{finds.title} finds empty matches, and {misses.title} does not"
        yield TranslationNote(message, clause.pattern_span)
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    if not rows_per_match.summarizes_matches:
        yield from _note_column_differences(clause, read, write)


def _note_column_differences(
    clause: MatchRecognize, read: Product, write: Product
) -> Iterator[TranslationNote]:
    """Yield notes on what differs in the columns of ALL ROWS PER MATCH."""
    if read.columns is not write.columns:
        orders = (f"{product.title}: {product.columns.value}" for product in (read, write))
        message = f"the columns of `*` have another order: {'; '.join(orders)}"
        yield TranslationNote(message, clause.pattern_span, is_compensated=True)
    if read.repeats_keys is not write.repeats_keys:
        twice, once = (read, write) if read.repeats_keys else (write, read)
        message = f"a repeated key gives two columns in {twice.title}, and one in "
        for span in _find_repeated_keys(clause):
            yield TranslationNote(message + once.title, span)


def _find_repeated_keys(clause: MatchRecognize) -> Iterator[Span]:
    """Yield the spans of keys of PARTITION BY and ORDER BY that are written a second time."""
    keys = [key.expression for key in clause.partition_by]
    keys += [item.expression for item in clause.order_by]
    texts = set()
    for key in keys:
        text = key.text.upper()
        if text in texts:
            yield key.full_span
        texts.add(text)


def drop_unused_definitions(
    tokens: ClauseTokens, clause: MatchRecognize
) -> tuple[MatchRecognize, list[Span]]:
    """Return the clause without definitions of variables that PATTERN does not use.

    The second result is the spans of text to remove, commas included.
    """
    used = set(pattern.list_variable_names(clause.pattern))
    kept = tuple(definition for definition in clause.definitions if definition.name in used)
    if len(kept) == len(clause.definitions):
        return clause, []
    if not kept:
        keyword = find_sections(tokens)[ClausePart.DEFINE].keyword
        end = clause.definitions[-1].expression.full_span.end
        return replace(clause, definitions=()), [Span(keyword.start, end)]
    first = clause.definitions[0]
    removed = [] if first is kept[0] else [Span(first.span.start, kept[0].span.start)]
    # After the first definition that is kept, each one is removed with the comma before it.
    from_first_kept = clause.definitions[clause.definitions.index(kept[0]) :]
    for previous, definition in pairwise(from_first_kept):
        if definition not in kept:
            end_before = previous.expression.full_span.end
            removed.append(Span(end_before, definition.expression.full_span.end))
    return replace(clause, definitions=kept), removed


# Row pattern windows of a query, which sqlglot cannot read.


def edit_window(
    tokens: TokenSequence,
    window: PatternWindow,
    translator: FragmentTranslator,
    look_up_inputs: Callable[[], ColumnKinds],
) -> Iterator[Edit]:
    """Yield the edits of a row pattern window and of the calls over it.

    Args:
        tokens: the tokens of the query.
        window: the window.
        translator: translates its expressions.
        look_up_inputs: returns the columns of its input.

    Raises:
        MatchRecognizeError: see `edit_clause`.
    """
    clause_tokens = cut_out_window_tokens(tokens, window)
    yield from edit_clause(clause_tokens, translator, look_up_inputs)
    clause = read_clause(clause_tokens)
    context = RuleContext(
        translator.read, translator.write, clause, columns=VisibleColumns(look_up_inputs)
    )
    for call in window.calls:
        is_function = tokens.key(call.over - 1) == ")"
        if is_function:
            span = tokens.span(call.start, call.over)
            yield from translator.edit_expression(span, context.enter_part(ClausePart.MEASURES))
            continue
        name = tokens[call.start]  # a measure, as in `SELECT price OVER w`
        text = name.text
        if name.kind is TokenKind.QUOTED:
            text = quote_name(text, translator.write.quote)
            yield Edit(name.span, text)
        if translator.write is not SPARK and is_unnamed_item(tokens, call, window.select):
            end = tokens[call.end - 1].span.end
            yield Edit(Span(end, end), f" AS {text}")  # the name that the column has in Spark
