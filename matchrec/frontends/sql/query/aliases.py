"""Asks the stock sqlglot parser what kind of relation each clause follows.

Each clause is cut out of the token list and a marker that the stock parser attaches to one relation
of FROM, PIVOT, takes its place; the tree then says which relation that is. Nothing of sqlglot is
extended, and no text is taken from its tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import Token as StockToken
from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import query as errors
from matchrec.frontends.lexing.sqlglot_columns import frame_at, reason_in, reason_of, stock_parse
from matchrec.frontends.lexing.tokens import renamed
from matchrec.frontends.sql.query.outline import Cut, Outline
from matchrec.frontends.sql.query.relation import Relation
from matchrec.source import Span

_MARKER = "__match_"


@dataclass(frozen=True, slots=True)
class Placed:
    """A clause and the relation before it, as far as brackets tell."""

    cut: Cut
    relation: Relation


def aliases(
    text: str, stock: Sequence[StockToken], outline: Outline, placed: Sequence[Placed]
) -> tuple[str | None, ...]:
    """The alias of each clause's relation, or None; refuses clauses that follow anything else."""
    given = list(_marked(stock, outline, placed))
    try:
        trees = stock_parse(lambda parser: parser.parse(given, text))
    except ParseError as error:
        raise _unreadable(error, given, outline, placed) from error
    except RecursionError as error:
        span = Span(0, len(text))
        raise errors.unreadable_query("nested too deep", span) from error
    pivots = dict(_pivots(trees))
    return tuple(_alias_of(pivots.get(i), outline, at) for i, at in enumerate(placed))


def _marked(
    stock: Sequence[StockToken], outline: Outline, placed: Sequence[Placed]
) -> Iterator[StockToken]:
    """The stock tokens of the query proper, with a marker for each clause and names for frames.

    A table's name stands for VALUES; samples and versions are left out.
    """
    place = {token.span.start: index for index, token in enumerate(outline.tokens)}
    markers = {at.cut.word: number for number, at in enumerate(placed)}
    tables = {at.relation.table[0] for at in placed if at.relation.table}
    silent = frozenset(_silent(placed))
    start = _query_start(outline)
    skip_to = 0
    for index, token in enumerate(stock):
        own = place.get(token.start, -1)
        if own in tables:
            yield renamed(token, TokenType.VAR, "__relation")
        if token.start < start or own in silent or index < skip_to:
            continue
        if own in markers:
            yield from _marker(token, markers[own])
        elif frame := frame_at(stock, index):
            yield renamed(token, TokenType.VAR, frame)
            skip_to = index + 3
        elif _is_recursion_limit(stock, index):
            skip_to = index + 4
        else:
            yield token


def _silent(placed: Sequence[Placed]) -> Iterator[int]:
    """The tokens that the stock parser does not see."""
    for at in placed:
        yield from range(at.cut.opening, at.cut.closing + 1)
        table = (at.relation.table,) if at.relation.table else ()
        for first, end in (*at.relation.left_out, *table):
            yield from range(first, end)


def _is_recursion_limit(stock: Sequence[StockToken], index: int) -> bool:
    """`MAX RECURSION LEVEL 10`, which sqlglot does not know."""
    words = [token.text.upper() for token in stock[index : index + 3]]
    return words == ["MAX", "RECURSION", "LEVEL"]


def _query_start(outline: Outline) -> int:
    """Where the query of an INSERT, CREATE, CACHE or EXPLAIN starts; sqlglot knows few of those."""
    if outline.key(0) not in ("INSERT", "CREATE", "CACHE", "EXPLAIN"):
        return 0
    for index in outline.level(0, len(outline.tokens)):
        definition = outline.key(index) == "WITH" and (
            outline.key(index + 2) in ("AS", "(") or outline.key(index + 1) == "RECURSIVE"
        )
        if outline.key(index) in ("SELECT", "FROM") or definition:
            return outline.tokens[index].span.start
    return 0


def _marker(token: StockToken, number: int) -> Iterator[StockToken]:
    for part in Spark().tokenize(f"PIVOT(max({_MARKER}{number}) FOR {_MARKER} IN (0))"):
        yield renamed(token, part.token_type, part.text)


def _pivots(trees: Sequence[exp.Expr | None]) -> Iterator[tuple[int, exp.Pivot]]:
    for tree in trees:
        for pivot in tree.find_all(exp.Pivot) if tree else ():
            for column in pivot.find_all(exp.Column):
                number = column.name.removeprefix(_MARKER)
                if number.isdigit() and column.name.startswith(_MARKER):
                    yield int(number), pivot


def _alias_of(pivot: exp.Pivot | None, outline: Outline, at: Placed) -> str | None:
    relation = pivot.parent if pivot else None
    if pivot is None or not isinstance(relation, exp.Table | exp.Subquery):
        raise errors.clause_in_wrong_place(outline.tokens[at.cut.word].span)
    _refuse_correlation(relation)
    pivots: list[exp.Pivot] = relation.args["pivots"]
    position = next(i for i, other in enumerate(pivots) if other is pivot)
    if position:  # the alias of the clause, or of the PIVOT, just before this one
        return pivots[position - 1].alias or None
    nameless = outline.key(at.relation.start) == "{" or at.relation.table is not None
    return relation.alias or (None if nameless else relation.name) or None


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
    error: ParseError, given: Sequence[StockToken], outline: Outline, placed: Sequence[Placed]
) -> MatchRecognizeError:
    """The stock parser's complaint, at the token where it gave up."""
    detail = error.errors[0] if error.errors else {}
    place = (detail.get("line"), detail.get("col"))
    token = next((token for token in given if (token.line, token.col) == place), given[-1])
    span = Span(token.start, token.end + 1)
    for at in placed:
        if outline.tokens[at.cut.word].span.start == span.start:
            return errors.clause_in_wrong_place(span)
    unexpected = "Unexpected token" in reason_in(error)
    reason = f"unexpected `{token.text}`" if unexpected else reason_of(error)
    return errors.unreadable_query(reason, span)
