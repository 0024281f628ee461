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
from matchrec.errors import query as errors
from matchrec.frontends.sql.outline import Cut, Outline, needs_alias, relation_start
from matchrec.frontends.stock import frame_at, reason_in, reason_of, renamed, stock_parse
from matchrec.source import Span

_MARKER = "__match_"
_NO_ALIAS = "__relation"


@dataclass(frozen=True, slots=True)
class Factor:
    """The relation before a clause. alias: its own, or None."""

    is_values: bool
    alias: str | None


def factors(
    text: str, stock: Sequence[StockToken], outline: Outline, cuts: Sequence[Cut]
) -> tuple[Factor, ...]:
    """The relation before each clause; refuses clauses that follow anything else."""
    given = list(_marked(stock, outline, cuts))
    try:
        trees = stock_parse(lambda parser: parser.parse(given, text))
    except ParseError as error:
        raise _unreadable(error, given, outline, cuts) from error
    except RecursionError as error:
        span = Span(0, len(text))
        raise errors.unreadable_query("nested too deep", span) from error
    pivots = dict(_pivots(trees))
    return tuple(_factor(pivots.get(i), outline, cut) for i, cut in enumerate(cuts))


def _marked(
    stock: Sequence[StockToken], outline: Outline, cuts: Sequence[Cut]
) -> Iterator[StockToken]:
    """The stock tokens of the query proper, with a marker for each clause and names for frames."""
    at = {outline.tokens[cut.word].span.start: (i, cut) for i, cut in enumerate(cuts)}
    index = 0
    start = _query_start(outline)
    while index < len(stock):
        token = stock[index]
        if token.start < start:
            index += 1
        elif token.start in at:
            number, cut = at[token.start]
            yield from _marker(token, number, outline, cut)
            end = outline.tokens[cut.closing].span.start
            index = next(i for i, after in enumerate(stock) if after.start == end) + 1
        elif frame := frame_at(stock, index):
            yield renamed(token, TokenType.VAR, frame)
            index += 3
        elif _is_recursion_limit(stock, index):
            index += 4
        else:
            yield token
            index += 1


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


def _marker(token: StockToken, number: int, outline: Outline, cut: Cut) -> Iterator[StockToken]:
    alias = (
        f"{_NO_ALIAS} " if needs_alias(outline, relation_start(outline, cut, False), cut) else ""
    )
    for part in Spark().tokenize(f"{alias}PIVOT(max({_MARKER}{number}) FOR {_MARKER} IN (0))"):
        yield renamed(token, part.token_type, part.text)


def _pivots(trees: Sequence[exp.Expr | None]) -> Iterator[tuple[int, exp.Pivot]]:
    for tree in trees:
        for pivot in tree.find_all(exp.Pivot) if tree else ():
            for column in pivot.find_all(exp.Column):
                number = column.name.removeprefix(_MARKER)
                if number.isdigit() and column.name.startswith(_MARKER):
                    yield int(number), pivot


def _factor(pivot: exp.Pivot | None, outline: Outline, cut: Cut) -> Factor:
    relation = pivot.parent if pivot else None
    word = outline.tokens[cut.word].span
    if pivot is None or not isinstance(
        relation, exp.Table | exp.Subquery | exp.Values | exp.Unnest
    ):
        start = relation_start(outline, cut, False)
        if outline.key(start) == "LATERAL":
            raise errors.lateral_relation(outline.tokens[start].span)
        raise errors.clause_in_wrong_place(word)
    _refuse_correlation(relation)
    start = relation_start(outline, cut, False)
    wrapped = any(
        outline.key(index) == "(" and outline.key(index + 1) == "VALUES"
        for index in outline.level(start, cut.word)
    )
    is_frame = outline.key(start) == "{"
    alias = _alias(pivot, relation, is_frame)
    return Factor(isinstance(relation, exp.Values) and not wrapped, alias)


def _alias(pivot: exp.Pivot, relation: exp.Expr, is_frame: bool) -> str | None:
    """The alias just before the clause: of the clause before it, or the relation's own."""
    pivots: list[exp.Pivot] = relation.args["pivots"]
    position = next(i for i, other in enumerate(pivots) if other is pivot)
    if position:
        return pivots[position - 1].alias or None
    alias = relation.alias.removeprefix(_NO_ALIAS)
    return alias or (None if is_frame else relation.name) or None


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
    error: ParseError, given: Sequence[StockToken], outline: Outline, cuts: Sequence[Cut]
) -> MatchRecognizeError:
    """The stock parser's complaint, at the token where it gave up."""
    detail = error.errors[0] if error.errors else {}
    at = (detail.get("line"), detail.get("col"))
    token = next((token for token in given if (token.line, token.col) == at), given[-1])
    span = Span(token.start, token.end + 1)
    for cut in cuts:
        if outline.tokens[cut.word].span.start == span.start:
            return errors.clause_in_wrong_place(span)
    unexpected = "Unexpected token" in reason_in(error)
    reason = f"unexpected `{token.text}`" if unexpected else reason_of(error)
    return errors.unreadable_query(reason, span)
