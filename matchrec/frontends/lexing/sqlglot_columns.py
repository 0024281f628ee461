"""What the sqlglot parser says of an expression: that it is SQL, where its columns are.

sqlglot is called, never extended: the functions of a match and some others get names that it does
not know (it drops the offset of `LAST(x, 1)`), RUNNING and FINAL are left out, `{frame}` is a name.
Only positions are taken from its tree; all text is the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from sqlglot import ErrorLevel, Parser, TokenType, exp
from sqlglot import Token as SqlglotToken
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError

from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import clause as errors
from matchrec.frontends.lexing.token_sequence import TokenSequence, frame_at, renamed
from matchrec.frontends.lexing.tokens import OF_THE_MATCH
from matchrec.source import Span

Trees = list[exp.Expr | None]
_STUMBLES = (TokenError, LookupError, AttributeError, TypeError, ValueError, AssertionError)

_ABOUT_ARGUMENTS = re.compile(
    r"number of provided arguments|missing for <class 'sqlglot\.expressions\.(?!core\.)"
)


def sqlglot_parse(parse: Callable[[Parser], Trees]) -> Trees:
    """What `parse` gives with the sqlglot parser.

    How many arguments a function takes is for Spark to say, whose functions sqlglot does not know
    in every version; only its errors of syntax count. On some texts that are no SQL it fails by
    itself.
    """
    try:
        return _parsed(parse, Spark().parser())
    except ParseError as error:
        if not _ABOUT_ARGUMENTS.search(_description(error)):
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


def stopped_at(error: ParseError, tokens: Sequence[SqlglotToken]) -> SqlglotToken | None:
    """The token at which the parser gave up, or None where it does not say."""
    detail = error.errors[0] if error.errors else {}
    place = (detail.get("line"), detail.get("col"))
    return next((token for token in tokens if (token.line, token.col) == place), None)


def is_unexpected_token(error: ParseError) -> bool:
    """Whether the parser found nothing wrong but the token at which it gave up."""
    return "Unexpected token" in _description(error)


def reason_of(error: ParseError) -> str:
    """What the parser says, without the names of its classes."""
    reason = _description(error)
    if "Required keyword" in reason:
        return "something is missing before the end, or between two operators"
    return reason


def _description(error: ParseError) -> str:
    return str((error.errors[0] if error.errors else {}).get("description") or error)


UNKNOWN_TO_SQLGLOT = OF_THE_MATCH | {"DATE_TRUNC", "PERCENTILE", "TRUNC"}
"""Functions whose names it does not get to see, as it would drop one of their arguments."""


@dataclass(frozen=True, slots=True)
class WrittenColumn:
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


def find_columns(
    text: TokenSequence, left_out: frozenset[int], where: str
) -> tuple[WrittenColumn, ...]:
    """The columns of an expression, in order.

    left_out: where RUNNING and FINAL stand that are no columns. where: the clause, for messages.
    """
    known = list(_renamed(text, left_out))
    try:
        trees = sqlglot_parse(lambda parser: parser.parse_into(exp.Condition, known, text.text))
    except ParseError as error:
        raise _unreadable(error, known, text, where) from error
    except RecursionError as error:
        raise errors.expression_nested_too_deep(where, text.whole) from error
    semicolons = [one for one in known if one.token_type is TokenType.SEMICOLON]
    if semicolons or not trees or trees[0] is None:
        unexpected = (semicolons or known)[0]
        first = Span(unexpected.start, unexpected.end + 1).shifted(text.offset)
        raise errors.unexpected_token(text.text_at(first), where, first)
    places = {place.span.start: place for place in _places(trees[0], text.offset)}
    _refuse_bare_in(trees[0], text, where)
    return tuple(places[start] for start in sorted(places))


def _refuse_bare_in(tree: exp.Expr, text: TokenSequence, where: str) -> None:
    """`x IN y`, which sqlglot reads, and Spark does not."""
    for one in tree.find_all(exp.In):
        value = one.args.get("field")
        if isinstance(value, exp.Column) and "start" in value.parts[0].meta:
            first, last = (value.parts[at].meta for at in (0, -1))
            span = Span(first["start"], last["end"] + 1).shifted(text.offset)
            raise errors.in_without_parentheses(text.text_at(span), where, span)


def _renamed(text: TokenSequence, left_out: frozenset[int]) -> Iterator[SqlglotToken]:
    tokens = text.sqlglot
    index = 0
    while index < len(tokens):
        token = tokens[index]
        following = tokens[index + 1].token_type if index + 1 < len(tokens) else None
        if frame := frame_at(tokens, index):
            yield renamed(token, TokenType.VAR, frame, tokens[index + 2].end)
            index += 2
        elif (
            token.text.upper() in UNKNOWN_TO_SQLGLOT
            and following is TokenType.L_PAREN
            and token.token_type is not TokenType.IDENTIFIER
            and not (index and tokens[index - 1].token_type is TokenType.DOT)
        ):
            yield renamed(token, TokenType.VAR, f"__match_{token.text.lower()}")
        elif _names_parameter(tokens, index):
            yield renamed(token, TokenType.VAR, token.text)
        elif token.start + text.offset not in left_out and not _is_all(tokens, index):
            yield token
        index += 1


def _names_parameter(tokens: Sequence[SqlglotToken], index: int) -> bool:
    """The name of a parameter marker, `:end`, also where it is a keyword; no type of a field."""
    colon = tokens[index - 1] if index else None
    if colon is None or colon.token_type is not TokenType.COLON:
        return False
    before = tokens[index - 2] if index > 1 else None
    of_field = before is not None and (
        before.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        or (before.end + 1 == colon.start and before.text.isidentifier())
    )
    return not of_field and tokens[index].text.isidentifier()


def _is_all(tokens: Sequence[SqlglotToken], index: int) -> bool:
    """ALL of `count(ALL x)`, which sqlglot did not always know."""
    opened = index > 0 and tokens[index - 1].token_type is TokenType.L_PAREN
    return opened and tokens[index].token_type is TokenType.ALL


def _places(tree: exp.Expr, offset: int) -> Iterator[WrittenColumn]:
    relations = _relations_around(tree)
    for column in tree.find_all(exp.Column):
        parts = tuple(
            Span(part.meta["start"], part.meta["end"] + 1).shifted(offset)
            for part in column.parts
            if "start" in part.meta
        )
        names = relations.get(id(column))
        if parts and (names is None or not _is_of_its_query(column, names)):
            yield WrittenColumn(parts, names is not None, isinstance(column.this, exp.Star))


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
    error: ParseError, known: Sequence[SqlglotToken], text: TokenSequence, where: str
) -> MatchRecognizeError:
    """The sqlglot parser's complaint, at the token where it gave up."""
    token = stopped_at(error, known)
    if token is None:
        return errors.unreadable_expression(reason_of(error), where, text.whole)
    span = Span(token.start, token.end + 1).shifted(text.offset)
    if is_unexpected_token(error):
        return errors.unexpected_token(text.text_at(span), where, span)
    return errors.unreadable_expression(reason_of(error), where, span)
