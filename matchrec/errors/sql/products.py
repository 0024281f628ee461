"""Errors of queries of other products, which `dialects` reads and writes.

In the arguments, `product` is the title of the product, such as "Oracle".
"""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeParseError, MatchRecognizeUnsupportedError
from matchrec.errors.wording import name_sql, uncapitalise
from matchrec.source import Span


def unreadable_in_product(
    span: Span, *, product: str, reason: str = "", hint: str | None = None
) -> MatchRecognizeParseError:
    """Return the error for a query that is not valid in the product whose SQL it should be.

    Args:
        span: the location in the text of the query.
        product: the product.
        reason: why the query is not valid; "" if `hint` is enough.
        hint: what to write instead, or None for the general advice.
    """
    return MatchRecognizeParseError(
        f"this is not valid {name_sql(product)}",
        span,
        notes=(uncapitalise(reason),),
        hint=hint or f"correct it, or name another product if the query is not for {product}",
        code="unreadable-in-product",
    )


def no_equivalent_in_product(
    span: Span, *, product: str, what: str, reason: object, hint: str | None
) -> MatchRecognizeUnsupportedError:
    """Return the error for a part of a query that another product cannot express.

    Args:
        span: the location in the text of the query.
        product: the product to which the query is translated.
        what: the part of the query.
        reason: why the product has no equivalent.
        hint: what to write instead; None if that is not known.
    """
    return MatchRecognizeUnsupportedError(
        f"{name_sql(product)} has no equivalent of {what}",
        span,
        notes=(str(reason),),
        hint=hint,
        code="no-equivalent-in-product",
    )


def translation_reorders_parts(span: Span, *, product: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a query whose parts sqlglot writes in another order for the product."""
    return MatchRecognizeUnsupportedError(
        f"this cannot be translated to {name_sql(product)} without reordering its parts",
        span,
        hint="write the query around the clause as Spark SQL",
        code="translation-reorders-parts",
    )


def unknown_clause_option(span: Span, *, option: str) -> MatchRecognizeUnsupportedError:
    """Return the error for an option in OPTIONS (...) of BigQuery that the clause does not have."""
    return MatchRecognizeUnsupportedError(
        "unknown option of MATCH_RECOGNIZE",
        span,
        hint=f"write {option} = TRUE, or remove it",
        code="unknown-clause-option",
    )


def product_without_pattern_windows(span: Span, *, product: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a window with PATTERN if one of two products has no such windows."""
    return MatchRecognizeUnsupportedError(
        f"{name_sql(product)} has no PATTERN in windows",
        span,
        hint="write FROM t MATCH_RECOGNIZE (...)",
        code="product-without-pattern-windows",
    )


def malformed_limit_duration(span: Span) -> MatchRecognizeParseError:
    """Return the error for LIMIT DURATION of Azure Stream Analytics without a unit and a number."""
    return MatchRecognizeParseError(
        "LIMIT DURATION is malformed",
        span,
        hint="write LIMIT DURATION (minute, 5)",
        code="malformed-limit-duration",
    )


def missing_timestamp_by(span: Span, *, product: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a clause without TIMESTAMP BY, which sorts events by their arrival."""
    return MatchRecognizeUnsupportedError(
        f"{product} orders events by their time of arrival, which a table does not have",
        span,
        hint="write TIMESTAMP BY and a column of the table after its name",
        code="missing-timestamp-by",
    )


def timestamp_over_other_key(span: Span, *, key: str) -> MatchRecognizeUnsupportedError:
    """Return the error for TIMESTAMP BY ... OVER with a key that PARTITION BY does not have."""
    return MatchRecognizeUnsupportedError(
        f"each `{key}` has its own time, but PARTITION BY does not have `{key}`",
        span,
        hint=f"add {key} to PARTITION BY, or leave OVER out",
        code="timestamp-over-other-key",
    )


def product_not_written(*, product: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a translation to a product that can only be read."""
    return MatchRecognizeUnsupportedError(
        f"writing queries for {product} is not supported",
        hint="translate to another product; queries for this one can only be read",
        code="product-not-written",
    )


def unsupported_by_product(
    span: Span, *, product: str, what: str, hint: str | None
) -> MatchRecognizeUnsupportedError:
    """Return the error for a part of a clause that the product does not have.

    Args:
        span: the location in the text of the query.
        product: the product.
        what: the part of the clause.
        hint: what to write instead; None if the product has no other way.
    """
    return MatchRecognizeUnsupportedError(
        f"{product} has no {what}", span, hint=hint, code="unsupported-by-product"
    )


def product_without_within(
    span: Span, *, product: str, condition: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for WITHIN in a translation to a product that does not have it.

    Args:
        span: the location in the text of the query.
        product: the product.
        condition: a condition in DEFINE with the same meaning.
    """
    return MatchRecognizeUnsupportedError(
        f"{product} has no WITHIN",
        span,
        hint=f"write it as a condition of each variable in DEFINE: {condition}",
        code="product-without-within",
    )


def any_row_without_name(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for `.` in PATTERN beside Classifier(), of Azure Stream Analytics."""
    return MatchRecognizeUnsupportedError(
        "`.` in PATTERN has no name that Classifier() could give",
        span,
        hint="write a variable that DEFINE does not mention",
        code="any-row-without-name",
    )


def partition_by_after_input(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for FROM input PARTITION BY key MATCH_RECOGNIZE, of Azure."""
    return MatchRecognizeUnsupportedError(
        "PARTITION BY of an input is not supported",
        span,
        hint="leave it out here, and write PARTITION BY in the clause",
        code="partition-by-after-input",
    )


def misplaced_timestamp_by(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for TIMESTAMP BY that no clause follows, of Azure Stream Analytics."""
    return MatchRecognizeUnsupportedError(
        "TIMESTAMP BY is not supported without MATCH_RECOGNIZE after it",
        span,
        hint="write it right before MATCH_RECOGNIZE, as in FROM step TIMESTAMP BY time",
        code="misplaced-timestamp-by",
    )
