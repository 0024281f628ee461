"""Names in the clause: the quotes of the other product, and the case of variables.

Where CLASSIFIER gives names as they were written, they get quotes for a product in which a name
without quotes is upper case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.frontends.sql.clause.nodes import MatchRecognize
from matchrec.frontends.sql.clause.sections import ClauseTokens
from matchrec.plan.pattern import Variable, walk
from matchrec.source import Span


def calls_classifier(tokens: ClauseTokens) -> bool:
    """Whether a clause asks for names of variables."""
    return any(token.key == "CLASSIFIER" for token in tokens.tokens)


def variables_as_written(tokens: ClauseTokens, clause: MatchRecognize) -> dict[str, str]:
    """The names of a clause's variables: as in DEFINE, else where they first stand."""
    if not calls_classifier(tokens):
        return {}
    found = {one.variable: tokens.text_at(one.span) for one in clause.definitions}
    for node in walk(clause.pattern):
        if isinstance(node, Variable) and node.span is not None:
            found.setdefault(node.name, tokens.text_at(node.span))
    return {name: text for name, text in found.items() if text.upper() == name}


def variable_places(clause: MatchRecognize, written: Mapping[str, str]) -> dict[Span, str]:
    """Where variables stand outside of expressions, and how each was written."""
    places = {span: written.get(name or "") for name, span in _variables(clause)}
    return {span: text for span, text in places.items() if span is not None and text is not None}


def _variables(clause: MatchRecognize) -> Iterator[tuple[str | None, Span | None]]:
    for node in walk(clause.pattern):
        if isinstance(node, Variable):
            yield node.name, node.span
    yield from ((one.variable, one.span) for one in clause.definitions)
    if clause.after_match is not None:
        yield clause.after_match.variable, clause.after_match.span
    for subset in clause.subsets:
        yield from zip(subset.members, subset.member_spans, strict=True)


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
