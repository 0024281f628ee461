"""Asks the sqlglot parser what kind of relation each clause follows.

Each clause is cut out of the token list and a marker that the parser attaches to one relation of
FROM, PIVOT, takes its place; the tree then says which relation that is. Nothing of sqlglot is
extended, and no text is taken from its tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import Token as SqlglotToken
from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import query as errors
from matchrec.frontends.lexing.sqlglot_parser import (
    is_unexpected_token,
    reason_of,
    sqlglot_parse,
    stopped_at,
)
from matchrec.frontends.lexing.sqlglot_tokens import frame_at, renamed
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.sql.query.relation import Relation
from matchrec.source import Span

_MARKER = "__match_"


def find_aliases(
    tokens: TokenSequence, relations: Sequence[Relation], hidden: Sequence[Span] = ()
) -> tuple[str | None, ...]:
    """The alias of each clause's relation, or None; refuses clauses that follow anything else.

    hidden: what belongs to row pattern windows, which the sqlglot parser does not know.
    """
    marked = [
        token
        for token in _marked(tokens, relations)
        if not any(one.start <= token.start < one.end for one in hidden)
    ]
    try:
        trees = sqlglot_parse(lambda parser: parser.parse(marked, tokens.text))
    except ParseError as error:
        raise _unreadable(error, marked, tokens, relations) from error
    except RecursionError as error:
        span = Span(0, len(tokens.text))
        raise errors.unreadable_query("nested too deep", span) from error
    pivots = dict(_pivots(trees))
    return tuple(_alias_of(pivots.get(i), tokens, one) for i, one in enumerate(relations))


def _marked(tokens: TokenSequence, relations: Sequence[Relation]) -> Iterator[SqlglotToken]:
    """The tokens of the query proper, with a marker for each clause and names for frames.

    A table's name stands for VALUES; samples and versions are left out.
    """
    markers = {one.cut.word: number for number, one in enumerate(relations)}
    tables = {one.table[0] for one in relations if one.table}
    silent = frozenset(_silent(relations))
    start = _query_start(tokens)
    skip_to = 0
    for index, token in enumerate(tokens.sqlglot):
        own = tokens.index_at.get(token.start, -1)
        if own in tables:
            yield renamed(token, TokenType.VAR, "__relation")
        if token.start < start or own in silent or index < skip_to:
            continue
        if own in markers:
            yield from _marker(token, markers[own])
        elif frame := frame_at(tokens.sqlglot, index):
            yield renamed(token, TokenType.VAR, frame)
            skip_to = index + 3
        elif _is_recursion_limit(tokens.sqlglot, index):
            skip_to = index + 4
        else:
            yield token


def _silent(relations: Sequence[Relation]) -> Iterator[int]:
    """The tokens that the sqlglot parser does not see."""
    for relation in relations:
        yield from range(relation.cut.opening, relation.cut.closing + 1)
        table = (relation.table,) if relation.table else ()
        for first, end in (*relation.left_out, *table):
            yield from range(first, end)


def _is_recursion_limit(tokens: Sequence[SqlglotToken], index: int) -> bool:
    """`MAX RECURSION LEVEL 10`, which sqlglot does not know."""
    words = [token.text.upper() for token in tokens[index : index + 3]]
    return words == ["MAX", "RECURSION", "LEVEL"]


def _query_start(tokens: TokenSequence) -> int:
    """Where the query of an INSERT, CREATE, CACHE or EXPLAIN starts; sqlglot knows few of those."""
    if tokens.key(0) not in ("INSERT", "CREATE", "CACHE", "EXPLAIN"):
        return 0
    for index in tokens.level(0, len(tokens)):
        definition = tokens.key(index) == "WITH" and (
            tokens.key(index + 2) in ("AS", "(") or tokens.key(index + 1) == "RECURSIVE"
        )
        if tokens.key(index) in ("SELECT", "FROM") or definition:
            return tokens[index].span.start
    return 0


def _marker(token: SqlglotToken, number: int) -> Iterator[SqlglotToken]:
    for part in Spark().tokenize(f"PIVOT(max({_MARKER}{number}) FOR {_MARKER} IN (0))"):
        yield renamed(token, part.token_type, part.text)


def _pivots(trees: Sequence[exp.Expr | None]) -> Iterator[tuple[int, exp.Pivot]]:
    for tree in trees:
        for pivot in tree.find_all(exp.Pivot) if tree else ():
            for column in pivot.find_all(exp.Column):
                number = column.name.removeprefix(_MARKER)
                if number.isdigit() and column.name.startswith(_MARKER):
                    yield int(number), pivot


def _alias_of(pivot: exp.Pivot | None, tokens: TokenSequence, relation: Relation) -> str | None:
    node = pivot.parent if pivot else None
    if pivot is None or not isinstance(node, exp.Table | exp.Subquery):
        raise errors.clause_in_wrong_place(tokens[relation.cut.word].span)
    _refuse_correlation(node)
    pivots: list[exp.Pivot] = node.args["pivots"]
    position = next(i for i, other in enumerate(pivots) if other is pivot)
    if position:  # the alias of the clause, or of the PIVOT, just before this one
        return pivots[position - 1].alias or None
    nameless = tokens.key(relation.start) == "{" or relation.table is not None
    return node.alias or (None if nameless else node.name) or None


def _refuse_correlation(relation: exp.Expr) -> None:
    """A column in the relation that is qualified by a relation of the query around it."""
    inner = {name for node in relation.find_all(exp.Table, exp.Subquery) for name in _names(node)}
    outer = set(_outer_names(relation))
    for column in relation.find_all(exp.Column):
        first = column.parts[0]
        qualifier = first.name.upper()
        if len(column.parts) > 1 and qualifier in outer - inner and "start" in first.meta:
            span = Span(first.meta["start"], column.parts[-1].meta["end"] + 1)
            raise errors.correlated_relation(column.sql(), span)


def _outer_names(relation: exp.Expr) -> Iterator[str]:
    """Names that a correlated relation could use: of queries of whose FROM it is no plain part."""
    node = relation
    lateral = False
    while node.parent is not None:
        parent = node.parent
        lateral = lateral or isinstance(parent, exp.Lateral)
        if isinstance(parent, exp.Select):
            if lateral or node.arg_key not in ("from_", "joins"):
                for source in _sources(parent):
                    yield from _names(source)
            lateral = False
        node = parent


def _sources(select: exp.Select) -> Iterator[exp.Expr]:
    source = select.args.get("from_")
    if source is not None:
        yield source.this
    yield from (join.this for join in select.args.get("joins") or ())


def _names(node: exp.Expr) -> set[str]:
    names = {node.alias_or_name.upper()}
    names |= {pivot.alias.upper() for pivot in node.args.get("pivots") or ()}
    return names - {""}


def _unreadable(
    error: ParseError,
    marked: Sequence[SqlglotToken],
    tokens: TokenSequence,
    relations: Sequence[Relation],
) -> MatchRecognizeError:
    """The sqlglot parser's complaint, at the token where it gave up."""
    token = stopped_at(error, marked) or marked[-1]
    span = Span(token.start, token.end + 1)
    if any(tokens[one.cut.word].span.start == span.start for one in relations):
        return errors.clause_in_wrong_place(span)
    unexpected = is_unexpected_token(error)
    reason = f"unexpected `{token.text}`" if unexpected else reason_of(error)
    return errors.unreadable_query(reason, span)
