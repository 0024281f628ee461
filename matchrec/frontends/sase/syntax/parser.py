"""SASE+ text → nodes: `grammar.lark` by the LALR parser of lark, and what a syntax error says."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from matchrec.errors.kinds import MatchRecognizeError, shown_in
from matchrec.errors.sase import query as errors
from matchrec.errors.sql import syntax as syntax_errors
from matchrec.frontends.sase.syntax.expected import in_words
from matchrec.frontends.sase.syntax.nodes import SaseQuery
from matchrec.frontends.sase.syntax.strategy import strategy_named
from matchrec.source import Source, Span

if TYPE_CHECKING:
    from lark import Lark


def parse(text: str) -> SaseQuery:
    """The nodes of a query.

    >>> query = parse("PATTERN SEQ(Shelf a, ~(Register b), Exit c) WITHIN 12 hours")
    >>> [component.written for component in query.components], query.window.sql
    (['a', 'b', 'c'], 'INTERVAL 12 HOUR')
    """
    from lark.exceptions import UnexpectedInput, VisitError

    from matchrec.frontends.sase.syntax.tree import Nodes

    with shown_in(Source(text)):
        try:
            return Nodes(text).transform(_grammar().parse(text))
        except UnexpectedInput as error:
            raise _syntax_error(error, text) from error
        except VisitError as error:
            if isinstance(error.orig_exc, RecursionError):
                raise _too_deep(text) from error
            raise error.orig_exc from None
        except RecursionError as error:
            raise _too_deep(text) from error


@cache
def _grammar() -> Lark:
    """The parser; it is made, and lark imported, when the first query is read."""
    from lark import Lark

    package = "matchrec.frontends.sase.syntax"
    return Lark.open_from_package(
        package, "grammar.lark", parser="lalr", start="query", propagate_positions=True
    )


def _too_deep(text: str) -> MatchRecognizeError:
    return syntax_errors.expression_nested_too_deep("the query", Span(0, len(text)))


CLAUSES = {"_PATTERN": "PATTERN", "_WHERE": "WHERE", "_WITHIN": "WITHIN", "_RETURN": "RETURN"}


def _syntax_error(error: Any, text: str) -> MatchRecognizeError:
    """What stands where, and what could stand there instead.

    error: lark's UnexpectedInput, half of whose fields have no types.
    """
    from lark import Token
    from lark.exceptions import UnexpectedToken

    from matchrec.frontends.sase.syntax.tree import span_of

    stack = error.interactive_parser.parser_state.value_stack
    before = [part for part in stack if isinstance(part, Token)]
    accepted = frozenset(error.interactive_parser.accepts())
    clauses = [CLAUSES[token.type] for token in before if token.type in CLAUSES]
    where = clauses[-1] if clauses else "the query"
    found = error.token if isinstance(error, UnexpectedToken) else None
    if found is not None and found.type == "$END":
        return errors.unexpected_end(where, in_words(accepted), Span(len(text), len(text) + 1))
    start = error.pos_in_stream
    written = text[start] if found is None else str(found)
    span = Span(start, start + len(written))
    if found is None and written in "'\"`":
        return syntax_errors.unreadable_text(span)
    if text.startswith("/*", start - 1):
        return syntax_errors.unreadable_text(Span(start - 1, start))
    if before and before[-1].type == "STRATEGY" and "LBRACE" in accepted:
        strategy = before[-1]
        strategy_named(strategy, span_of(strategy))
    return errors.unexpected_token(written, where, in_words(accepted), span)
