"""Errors of SQL syntax outside PATTERN: in expressions, in the clause, around it."""

from matchrec.errors.kinds import MatchRecognizeParseError, MatchRecognizeUnsupportedError
from matchrec.source import Span


def unreadable_text(span: Span) -> MatchRecognizeParseError:
    """A string, quoted name or comment without end."""
    return MatchRecognizeParseError(
        "text that is opened here and never closed",
        span,
        hint="close the string, the quoted name or the comment",
    )


def unexpected_token(text: str, where: str, span: Span) -> MatchRecognizeParseError:
    """A token that cannot stand where it does."""
    return MatchRecognizeParseError(f"unexpected `{text}` in {where}", span)


def unreadable_expression(reason: str, where: str, span: Span) -> MatchRecognizeParseError:
    """An expression that is no SQL; `reason` is the parser's."""
    return MatchRecognizeParseError(
        f"cannot read the expression in {where}", span, notes=(reason[:1].lower() + reason[1:],)
    )


def unclosed_bracket(opening: str, where: str, span: Span) -> MatchRecognizeParseError:
    """A bracket in an expression that nothing closes."""
    return MatchRecognizeParseError(f"`{opening}` is not closed in {where}", span)


def missing_expression(where: str, span: Span) -> MatchRecognizeParseError:
    """Nothing where an expression should stand."""
    return MatchRecognizeParseError(f"expression missing in {where}", span)


def expression_nested_too_deep(where: str, span: Span) -> MatchRecognizeUnsupportedError:
    """Parentheses in parentheses beyond the parser's stack."""
    return MatchRecognizeUnsupportedError(
        f"expression in {where} is nested too deep to read",
        span,
        hint="remove parentheses, or compute parts of it as columns of the input",
    )
