"""Errors of writing a query in another language. `language` is its name, such as SASE+."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.source import Span


def cannot_write(
    language: str, what: str, span: Span | None, hint: str | None = None
) -> MatchRecognizeUnsupportedError:
    """A part of a query that the other language has no words for."""
    return MatchRecognizeUnsupportedError(f"{language} cannot say {what}", span, hint=hint)


def means_something_else(
    language: str, what: str, span: Span | None, hint: str | None = None
) -> MatchRecognizeUnsupportedError:
    """What was written in the other language and, read again, asks for something else."""
    return MatchRecognizeUnsupportedError(
        f"{language} cannot say this: {what} would mean something else there", span, hint=hint
    )


def not_one_clause(language: str, count: int, span: Span | None) -> MatchRecognizePlanError:
    """A query with no MATCH_RECOGNIZE, or with several."""
    return MatchRecognizePlanError(
        f"{language} is written of one MATCH_RECOGNIZE, the query has {count or 'none'}",
        span,
        hint="convert each clause by itself",
    )


def pattern_as_text() -> MatchRecognizePlanError:
    """read="pattern", or a Pattern where a language is named."""
    return MatchRecognizePlanError(
        "a Pattern is converted as an object, without read=",
        hint='write convert(matchrec.Pattern.begin("a"), write="spark", order_by="time")',
    )
