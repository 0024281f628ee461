"""Errors and notes about queries of other products."""

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizeUnsupportedError,
)
from matchrec.source import Span


def unreadable(product: str, reason: str, span: Span) -> MatchRecognizeParseError:
    """A piece of a query that sqlglot cannot read in the product's dialect."""
    return MatchRecognizeParseError(
        f"cannot read this as SQL of {product}", span, notes=(reason[:1].lower() + reason[1:],)
    )


def moved(product: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A piece of a query whose parts come in another order in the other dialect."""
    return MatchRecognizeUnsupportedError(
        f"cannot translate this piece to SQL of {product}: its parts change places",
        span,
        hint="write the query around the clause as Spark SQL",
    )


def not_in(
    product: str, what: str, span: Span, hint: str | None = None
) -> MatchRecognizeUnsupportedError:
    """A part of the clause that the other product does not have."""
    return MatchRecognizeUnsupportedError(f"{product} has no {what}", span, hint=hint)
