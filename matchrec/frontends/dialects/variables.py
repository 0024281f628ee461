"""Names of variables as they were written, where a product's CLASSIFIER gives them so.

Elsewhere a name without quotes is upper case; so the names get quotes, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from sqlglot import exp

from matchrec.frontends.dialects.marks import name_of
from matchrec.frontends.dialects.product import Rules
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


def quoted_variables(written: Mapping[str, str]) -> Rules:
    """The rule that quotes variables in expressions; none where nothing is to be quoted."""
    return (partial(_quoted, written),) if written else ()


def _quoted(written: Mapping[str, str], node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.Identifier) or not isinstance(node.parent, exp.Column):
        return node
    column = node.parent
    qualifies = node.arg_key == "table"
    names = node.arg_key == "this" and name_of(column.parent or column) == "CLASSIFIER"
    text = written.get(node.name.upper())
    if text is None or not (qualifies or names):
        return node
    return exp.to_identifier(text, quoted=True)
