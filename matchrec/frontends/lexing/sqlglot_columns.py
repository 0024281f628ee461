"""What the stock sqlglot parser says of an expression: that it is SQL, where its columns are.

sqlglot is asked, never extended: the functions of a match get names that it does not know (it drops
the offset of `LAST(x, 1)`), RUNNING and FINAL are left out, `{frame}` is a name. Only positions are
taken from its tree; all text is the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import ErrorLevel, Parser, TokenType, exp
from sqlglot import Token as StockToken
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import syntax as errors
from matchrec.frontends.expressions.function_names import OF_THE_MATCH
from matchrec.frontends.lexing.tokens import renamed
from matchrec.source import Span

Trees = list[exp.Expr | None]
_STUMBLES = (TokenError, IndexError, KeyError, AttributeError, TypeError, AssertionError)

_ABOUT_ARGUMENTS = re.compile(
    r"number of provided arguments|missing for <class 'sqlglot\.expressions\.(?!core\.)"
)


@dataclass(frozen=True, slots=True)
class ColumnPlace:
    """A column in an expression's text. parts: where each of its names stands.

    in_query: it stands in a subquery but is of none of its relations. star: its last part is `*`.
    """

    parts: tuple[Span, ...]
    in_query: bool
    star: bool

    @property
    def span(self) -> Span:
        """From the first name to the last."""
        return self.parts[0].to(self.parts[-1])


def columns(
    text: str, offset: int, stock: Sequence[StockToken], left_out: frozenset[int], where: str
) -> tuple[ColumnPlace, ...]:
    """The columns of the expression that starts at `offset` of the query, in order.

    stock: its tokens. left_out: where, in the text, RUNNING and FINAL stand that are no columns.
    """
    given = list(_renamed(stock, left_out))
    try:
        trees = stock_parse(lambda parser: parser.parse_into(exp.Condition, given, text))
    except ParseError as error:
        raise _unreadable(error, given, text, offset, where) from error
    except RecursionError as error:
        whole = Span(offset, offset + len(text))
        raise errors.expression_nested_too_deep(where, whole) from error
    if not trees or trees[0] is None:
        first = Span(given[0].start, given[0].end + 1)
        written = text[first.start : first.end]
        raise errors.unexpected_token(written, where, first.shifted(offset))
    found = {place.span.start: place for place in _places(trees[0], offset)}
    return tuple(found[start] for start in sorted(found))


def stock_parse(parse: Callable[[Parser], Trees]) -> Trees:
    """What `parse` gives with the stock parser.

    How many arguments a function takes is for Spark to say, whose functions sqlglot does not know
    in every version; only its errors of syntax count. On some texts that are no SQL it fails by
    itself.
    """
    try:
        return _parsed(parse, Spark().parser())
    except ParseError as error:
        if not _ABOUT_ARGUMENTS.search(reason_in(error)):
            raise
        lenient = Spark().parser(error_level=ErrorLevel.IGNORE)
        try:
            trees = _parsed(parse, lenient)
        except ParseError:  # the compiled build, on a tree that lacks a part
            raise error from None
        if lenient.errors:
            raise
        return trees


def _parsed(parse: Callable[[Parser], Trees], parser: Parser) -> Trees:
    """What the parser gives; where it stumbles, such as over `map('a' x)`, that is no SQL."""
    try:
        return parse(parser)
    except _STUMBLES as error:
        raise ParseError("this is no SQL") from error


def _renamed(stock: Sequence[StockToken], left_out: frozenset[int]) -> Iterator[StockToken]:
    index = 0
    while index < len(stock):
        token = stock[index]
        following = stock[index + 1].token_type if index + 1 < len(stock) else None
        if frame := frame_at(stock, index):
            yield renamed(token, TokenType.VAR, frame, stock[index + 2].end)
            index += 2
        elif (
            token.text.upper() in OF_THE_MATCH
            and following is TokenType.L_PAREN
            and token.token_type is not TokenType.IDENTIFIER
            and not (index and stock[index - 1].token_type is TokenType.DOT)
        ):
            yield renamed(token, TokenType.VAR, f"__match_{token.text.lower()}")
        elif _names_parameter(stock, index):
            yield renamed(token, TokenType.VAR, token.text)
        elif token.start not in left_out and not _is_all(stock, index):
            yield token
        index += 1


def _names_parameter(stock: Sequence[StockToken], index: int) -> bool:
    """The name of a parameter marker, `:end`, also where it is a keyword; no type of a field."""
    colon = stock[index - 1] if index else None
    if colon is None or colon.token_type is not TokenType.COLON:
        return False
    before = stock[index - 2] if index > 1 else None
    of_field = before is not None and (
        before.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        or (before.end + 1 == colon.start and before.text.isidentifier())
    )
    return not of_field and stock[index].text.isidentifier()


def _is_all(stock: Sequence[StockToken], index: int) -> bool:
    """ALL of `count(ALL x)`, which sqlglot did not always know."""
    opened = index > 0 and stock[index - 1].token_type is TokenType.L_PAREN
    return opened and stock[index].token_type is TokenType.ALL


def frame_at(stock: Sequence[StockToken], index: int) -> str | None:
    """The name in `{name}`, when three tokens from `index` on are written so."""
    if index + 2 >= len(stock):
        return None
    opening, name, closing = stock[index : index + 3]
    is_frame = (
        opening.token_type is TokenType.L_BRACE
        and closing.token_type is TokenType.R_BRACE
        and name.text.isidentifier()
        and name.start == opening.end + 1
        and closing.start == name.end + 1
        and name.end - name.start + 1 == len(name.text)
    )
    return name.text if is_frame else None


def _places(tree: exp.Expr, offset: int) -> Iterator[ColumnPlace]:
    relations = _relations_around(tree)
    for column in tree.find_all(exp.Column):
        parts = tuple(
            Span(part.meta["start"], part.meta["end"] + 1).shifted(offset)
            for part in column.parts
            if "start" in part.meta
        )
        names = relations.get(id(column))
        if parts and (names is None or not _is_of_its_query(column, names)):
            yield ColumnPlace(parts, names is not None, isinstance(column.this, exp.Star))


def _relations_around(tree: exp.Expr) -> dict[int, frozenset[str]]:
    """The relations in the outermost subquery around each column that stands in one, by its id."""
    found: dict[int, frozenset[str]] = {}
    for query in tree.find_all(exp.Query, bfs=True):  # outer ones come first
        inside = [id(column) for column in query.find_all(exp.Column)]
        if any(column not in found for column in inside):
            relations = query.find_all(exp.Table, exp.Query)
            names = frozenset(relation.alias_or_name.upper() for relation in relations)
            found = dict.fromkeys(inside, names) | found
    return found


def _is_of_its_query(column: exp.Column, relations: frozenset[str]) -> bool:
    """Whether a column in a subquery has no qualifier, or that of one of the query's relations."""
    return len(column.parts) == 1 or column.parts[0].name.upper() in relations


def _unreadable(
    error: ParseError, given: Sequence[StockToken], text: str, offset: int, where: str
) -> MatchRecognizeError:
    """The stock parser's complaint, at the token where it gave up."""
    detail = error.errors[0] if error.errors else {}
    at = (detail.get("line"), detail.get("col"))
    reason = reason_of(error)
    token = next((token for token in given if (token.line, token.col) == at), None)
    if token is None:
        return errors.unreadable_expression(reason, where, Span(offset, offset + len(text)))
    span = Span(token.start, token.end + 1).shifted(offset)
    written = text[token.start : token.end + 1]
    if "Unexpected token" in reason:
        return errors.unexpected_token(written, where, span)
    return errors.unreadable_expression(reason, where, span)


def reason_of(error: ParseError) -> str:
    """What the stock parser says, without the names of its classes."""
    reason = reason_in(error)
    if "Required keyword" in reason:
        return "something is missing before the end, or between two operators"
    return reason


def reason_in(error: ParseError) -> str:
    """What the stock parser says."""
    return str((error.errors[0] if error.errors else {}).get("description") or error)
