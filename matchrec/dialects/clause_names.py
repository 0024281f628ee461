"""Write the names of a clause with the quotes that a product reads, except in its expressions.

    MEASURES ... AS `first price`      Spark      MEASURES ... AS "first price"      Trino

In BigQuery and Azure, CLASSIFIER returns a variable as it was written. In other products, a name
without quotes is in upper case. For these products, the translation quotes the variables:

    PATTERN (Down+)                    BigQuery   PATTERN ("Down"+)                  Trino
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from matchrec.dialects.edits import Edit
from matchrec.plan.clauses import AfterMatchSkip
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
    skip = clause.after_match or AfterMatchSkip()
    # Each use: the variable in upper case, and where it is.
    uses: list[tuple[str | None, Span | None]] = [(skip.variable, skip.span)]
    uses += [
        (node.name, node.span)
        for node in walk_pattern(clause.pattern)
        if isinstance(node, Variable)
    ]
    uses += [(definition.name, definition.span) for definition in clause.definitions]
    for subset in clause.subsets:
        uses += zip(subset.members, subset.member_spans, strict=True)
    return {
        span: written_names[name]
        for name, span in uses
        if span is not None and name is not None and name in written_names
    }


def edit_names(
    tokens: ClauseTokens,
    expression_spans: tuple[Span, ...],
    quote: str,
    variables: Mapping[Span, str],
) -> Iterator[Edit]:
    """Yield the edits that quote names outside of expressions as a product does.

    Args:
        tokens: the tokens of the clause.
        expression_spans: the expressions, whose names are not edited here.
        quote: the quotation mark of the product that is written.
        variables: the variables without quotes that need them, as from `find_variable_spans`.
    """
    for token in tokens.tokens:
        is_quoted = token.kind is TokenKind.QUOTED or token.in_double_quotes
        name = token.name if is_quoted else variables.get(token.span)
        if name is None or any(span.contains(token.span) for span in expression_spans):
            continue
        if not is_quoted or tokens.text_at(token.span)[0] != quote:
            yield Edit(token.span, quote_name(name, quote))


def quote_name(name: str, quote: str) -> str:
    """Return a name in quotes; quotation marks in it are doubled.

    >>> quote_name("a`b", "`")
    '`a``b`'
    """
    return f"{quote}{name.replace(quote, quote * 2)}{quote}"
