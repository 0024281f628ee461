"""What the sqlglot parser makes of tokens, and what it says where it gives up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import ErrorLevel, Parser, exp
from sqlglot import Token as SqlglotToken
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError

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
