"""Edit the clause of one product so that it means the same in another one.

`edit_clause` takes these steps. A row pattern window is a clause, too: `edit_window` also edits the
calls over it.

1. Drop definitions that only the first product allows, and check what the other product lacks.
2. Translate the expressions (`fragments`).
3. Edit the rest: names (`clause_names`), bounds of quantifiers, defaults (`clause_defaults`), and
   the quantifiers of Flink SQL (`exclusive_loops`).
4. Note what still differs (`output_differences`, `alternatives`, `exclusive_loops`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from matchrec.dialects.alternatives import note_alternatives
from matchrec.dialects.clause_defaults import edit_defaults
from matchrec.dialects.clause_names import (
    edit_names,
    find_variable_spans,
    find_written_names,
    quote_name,
)
from matchrec.dialects.edits import Edit
from matchrec.dialects.exclusive_loops import (
    edit_exclusive_loops,
    edit_optional_parts,
    note_exclusive_loops,
)
from matchrec.dialects.fragments import FragmentTranslator
from matchrec.dialects.limits import note_limits
from matchrec.dialects.output_differences import note_output_differences
from matchrec.dialects.products import AZURE, SPARK, Product
from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.visible_columns import ColumnKinds, VisibleColumns
from matchrec.errors.sql import products as errors
from matchrec.plan import pattern
from matchrec.source import Span
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.grammar import read_clause
from matchrec.syntax.nodes import MatchRecognize, NamedExpression
from matchrec.syntax.parameter_values import walk_parameters
from matchrec.syntax.pattern_windows import (
    CallTokens,
    PatternWindow,
    cut_out_window_tokens,
    is_unnamed_item,
)
from matchrec.syntax.sections import find_sections
from matchrec.syntax.tokens import TokenKind, TokenSequence


def edit_clause(
    tokens: ClauseTokens, translator: FragmentTranslator, look_up_inputs: Callable[[], ColumnKinds]
) -> Iterator[Edit]:
    """Yield the edits of a clause. Notes on it are added to `translator.log`.

    Args:
        tokens: the tokens of the clause.
        translator: translates its expressions.
        look_up_inputs: returns the kinds of the columns of its input; empty if they are not known.

    Raises:
        MatchRecognizeError: the clause is wrong, or the product that is written lacks a part of it.
    """
    read = translator.read
    write = translator.write
    clause = read_clause(tokens)
    if read is AZURE and not clause.order_by:
        raise errors.missing_timestamp_by(clause.span, product=read.title)
    if read.allows_unused_definitions and not write.allows_unused_definitions:
        used_definitions = find_used_definitions(clause)
        for span in find_unused_definition_spans(tokens, clause, used_definitions):
            yield Edit(span, "")
        clause = replace(clause, definitions=used_definitions)
    notes = translator.log.notes
    notes.extend(note_limits(clause, read, write))
    # Variables whose case would be lost, see `clause_names`.
    written_names: dict[str, str] = {}
    if read.classifier_keeps_case and not write.classifier_keeps_case:
        written_names = find_written_names(tokens, clause)
    context = RuleContext(
        read, write, clause, columns=VisibleColumns(look_up_inputs), quoted_variables=written_names
    )
    expressions = tuple(walk_expressions(clause))
    for expression in expressions:
        part_context = context.make_part_context(expression.part)
        yield from translator.edit_expression(expression.span, part_context)
    expression_spans = tuple(expression.span for expression in expressions)
    variables = find_variable_spans(clause, written_names)
    yield from edit_names(tokens, clause, expression_spans, context, variables)
    yield from edit_bounds(clause, write)
    yield from edit_defaults(tokens, clause, read, write)
    yield from edit_optional_parts(clause, read, write)
    if read.has_exclusive_loops and not write.has_exclusive_loops:
        define_context = context.make_part_context(ClausePart.DEFINE)
        translate = partial(translator.translate_expression, context=define_context)
        yield from edit_exclusive_loops(clause, write, translate)
    notes.extend(note_output_differences(tokens, clause, read, write))
    notes.extend(note_alternatives(translator.text, clause.pattern, read, write))
    if write.has_exclusive_loops and not read.has_exclusive_loops:
        notes.extend(note_exclusive_loops(clause, write))


class ClauseExpression(NamedTuple):
    """An expression of a clause."""

    # The part that the expression is in.
    part: ClausePart
    # Where the expression is, without its name.
    span: Span


def walk_expressions(clause: MatchRecognize) -> Iterator[ClauseExpression]:
    """Yield each expression of a clause, part by part."""
    for key in clause.partition_by:
        yield ClauseExpression(ClausePart.PARTITION_BY, key.expression.full_span)
    for item in clause.order_by:
        yield ClauseExpression(ClausePart.ORDER_BY, item.expression.full_span)
    for measure in clause.measures:
        yield ClauseExpression(ClausePart.MEASURES, measure.expression.full_span)
    for definition in clause.definitions:
        yield ClauseExpression(ClausePart.DEFINE, definition.expression.full_span)
    for window in clause.windows:
        yield ClauseExpression(ClausePart.WITHIN, window.interval_span)


def edit_bounds(clause: MatchRecognize, write: Product) -> Iterator[Edit]:
    """Yield the edits that write parameters in quantifiers as the other product does.

    `{:n}` becomes `{@n}` for BigQuery. A `?` stays.
    """
    # `{:n}` is a lower and an upper bound, so its span occurs twice.
    bounds = {bound.span: bound for bound in walk_parameters(clause.pattern)}
    for span, bound in bounds.items():
        if bound.mark not in ("?", write.parameter_prefix) and span is not None:
            yield Edit(span, f"{write.parameter_prefix}{bound.name}")


def find_used_definitions(clause: MatchRecognize) -> tuple[NamedExpression, ...]:
    """Return the definitions of the variables that PATTERN uses."""
    variables = pattern.list_variable_names(clause.pattern)
    return tuple(definition for definition in clause.definitions if definition.name in variables)


def find_unused_definition_spans(
    tokens: ClauseTokens, clause: MatchRecognize, used_definitions: Sequence[NamedExpression]
) -> Iterator[Span]:
    """Yield the spans to remove, so that only the used definitions remain, and their commas.

    If no definition is used, the word DEFINE is removed, too.
    """
    if len(used_definitions) == len(clause.definitions):
        return
    first_definition = clause.definitions[0]
    if not used_definitions:
        keyword = find_sections(tokens)[ClausePart.DEFINE].keyword
        yield Span(keyword.start, clause.definitions[-1].expression.full_span.end)
        return
    first_used = used_definitions[0]
    if first_used is not first_definition:
        yield Span(first_definition.span.start, first_used.span.start)
    # Each unused definition after the first used one is removed with the comma before it.
    from_first_used = clause.definitions[clause.definitions.index(first_used) :]
    for previous, definition in pairwise(from_first_used):
        if definition not in used_definitions:
            end_before = previous.expression.full_span.end
            yield Span(end_before, definition.expression.full_span.end)


def edit_window(
    tokens: TokenSequence,
    window: PatternWindow,
    translator: FragmentTranslator,
    look_up_inputs: Callable[[], ColumnKinds],
) -> Iterator[Edit]:
    """Yield the edits of a row pattern window and of the calls over it.

    Notes on them are added to `translator.log`.

    Args:
        tokens: the tokens of the query.
        window: the window.
        translator: translates the expressions of the window, and the calls.
        look_up_inputs: returns the kinds of the columns of its input; empty if they are not known.

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
            yield from translator.edit_expression(
                span, context.make_part_context(ClausePart.MEASURES)
            )
        else:
            yield from _edit_measure_over_window(tokens, window, call, translator.write)


def _edit_measure_over_window(
    tokens: TokenSequence, window: PatternWindow, call: CallTokens, write: Product
) -> Iterator[Edit]:
    """Yield the edits of a measure of a window in SELECT.

        SELECT `my price` OVER w      SELECT "my price" OVER w AS "my price"

    Args:
        tokens: the tokens of the query.
        window: the window.
        call: where the name of the measure and OVER are.
        write: the product that is written.
    """
    name = tokens[call.start]
    text = name.text
    if name.kind is TokenKind.QUOTED:
        text = quote_name(text, write.quote)
        yield Edit(name.span, text)
    if write is not SPARK and is_unnamed_item(tokens, call, window.select):
        end = tokens[call.end - 1].span.end
        yield Edit(Span(end, end), f" AS {text}")  # the name that the column has in Spark
