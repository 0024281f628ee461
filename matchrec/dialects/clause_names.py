"""Write the names of a clause with the quotes that a product reads, except in its expressions.

    MEASURES ... AS `first price`      Spark      MEASURES ... AS "first price"      Trino

In BigQuery and Azure, CLASSIFIER returns a variable as it was written. In other products, a name
without quotes is in upper case. For these products, the translation quotes the variables:

    PATTERN (Down+)                    BigQuery   PATTERN ("Down"+)                  Trino

A name that the product reserves is quoted, too: see `reserved_names`.

    MEASURES ... AS date               Spark      MEASURES ... AS "DATE"             Oracle
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from matchrec.dialects.edits import Edit
from matchrec.dialects.reserved_names import choose_quoted_name
from matchrec.dialects.rules.context import RuleContext
from matchrec.plan.pattern import Variable, walk_pattern
from matchrec.source import Span
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.tokens import TokenKind


def find_written_names(tokens: ClauseTokens, clause: MatchRecognize) -> dict[str, str]:
    """Return the names of a clause's variables as the user wrote them, by the names in upper case.

    If a name has several cases in the clause, the result has the name in DEFINE, or else the first
    name in PATTERN. Quoted variables are left out, because they keep their case. If the clause does
    not call CLASSIFIER, the result is empty, because the case does not matter.

        PATTERN (Down+ up) DEFINE DOWN AS ...      {"DOWN": "DOWN", "UP": "up"}
    """
    if not any(token.key == "CLASSIFIER" for token in tokens.tokens):
        return {}
    names = {definition.name: tokens.text_at(definition.span) for definition in clause.definitions}
    for node in walk_pattern(clause.pattern):
        if isinstance(node, Variable) and node.span is not None:
            names.setdefault(node.name, tokens.text_at(node.span))
    return {variable: text for variable, text in names.items() if text.upper() == variable}


def find_variable_spans(
    clause: MatchRecognize, written_names: Mapping[str, str]
) -> dict[Span, str]:
    """Return the spans of variables outside of expressions, each with its name as written.

    Args:
        clause: the clause.
        written_names: the variables whose case counts, as from `find_written_names`. All other
            variables are left out of the result.
    """
    return {
        span: written_names[variable]
        for variable, span in _walk_uses(clause)
        if variable in written_names
    }


class _VariableUse(NamedTuple):
    """A use of a variable outside of expressions."""

    # The variable: in upper case unless it is quoted.
    variable: str
    # Where the variable is written.
    span: Span


def _walk_uses(clause: MatchRecognize) -> Iterator[_VariableUse]:
    """Yield each use of a variable outside of expressions.

    The definitions of union variables in SUBSET are left out.
    """
    skip = clause.after_match
    if skip is not None and skip.variable is not None and skip.span is not None:
        yield _VariableUse(skip.variable, skip.span)
    for node in walk_pattern(clause.pattern):
        if isinstance(node, Variable) and node.span is not None:
            yield _VariableUse(node.name, node.span)
    for definition in clause.definitions:
        yield _VariableUse(definition.name, definition.span)
    for subset in clause.subsets:
        for member, span in zip(subset.members, subset.member_spans, strict=True):
            yield _VariableUse(member, span)


def find_name_spans(tokens: ClauseTokens, clause: MatchRecognize) -> frozenset[Span]:
    """Return the spans of the names of a clause outside of expressions.

    These are its variables, its measures, and the names of the keys of PARTITION BY.
    """
    spans = [use.span for use in _walk_uses(clause)]
    spans += [measure.span for measure in clause.measures]
    spans += [subset.span for subset in clause.subsets if subset.span is not None]
    for key in clause.partition_by:
        if key.name is not None:
            spans += [token.span for token in tokens.tokens if key.span.contains(token.span)][-1:]
    return frozenset(spans)


def edit_names(
    tokens: ClauseTokens,
    clause: MatchRecognize,
    expression_spans: tuple[Span, ...],
    context: RuleContext,
    exact_names: Mapping[Span, str],
) -> Iterator[Edit]:
    """Yield the edits that quote names outside of expressions as a product does.

    Args:
        tokens: the tokens of the clause.
        clause: the clause.
        expression_spans: the expressions, whose names are not edited here.
        context: the product that is read, and the product that is written.
        exact_names: the variables without quotes that need them, as from `find_variable_spans`.
    """
    read = context.read
    write = context.write
    name_spans = find_name_spans(tokens, clause)
    for token in tokens.tokens:
        is_quoted = token.kind is TokenKind.QUOTED or token.is_string_in_double_quotes
        is_expression = any(span.contains(token.span) for span in expression_spans)
        if is_expression or not (is_quoted or token.span in name_spans):
            continue
        exact_name = exact_names.get(token.span)
        name = exact_name or choose_quoted_name(
            token.name, is_quoted=is_quoted, read=read, write=write
        )
        if name is None and not is_quoted:
            continue  # it needs no quotes
        written = quote_name(token.name if name is None else name, write.quote)
        if written != tokens.text_at(token.span):
            yield Edit(token.span, written)


def quote_name(name: str, quote: str) -> str:
    """Return a name in quotes; quotation marks in it are doubled.

    >>> quote_name("a`b", "`")
    '`a``b`'
    """
    return f"{quote}{name.replace(quote, quote * 2)}{quote}"
