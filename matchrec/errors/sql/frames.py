"""Errors about frames of rows: OVER in conditions."""

from matchrec.errors.kinds import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.errors.language import part
from matchrec.source import Span

EXAMPLE = "OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"


def no_frame(span: Span) -> MatchRecognizeUnsupportedError:
    """OVER without a frame of rows, or with more than that."""
    return MatchRecognizeUnsupportedError(
        f"OVER in {part('DEFINE')} without a frame of rows, and nothing else, is not supported",
        span,
        notes=("the rows are those of the clause's PARTITION BY and ORDER BY",),
        hint=f"write {EXAMPLE}",
    ).named("MATCH_RECOGNIZE_UNSUPPORTED_WINDOW_FUNCTION")


def frame_without_rows(span: Span) -> MatchRecognizePlanError:
    """A frame that ends before it starts."""
    return MatchRecognizePlanError(
        "this frame ends before it starts", span, hint=f"write {EXAMPLE}, the earlier row first"
    )


def frame_of_variable(name: str, span: Span) -> MatchRecognizeUnsupportedError:
    """OVER after an aggregate of one variable's rows."""
    return MatchRecognizeUnsupportedError(
        f"OVER after an aggregate over the rows of `{name}` is not supported",
        span,
        notes=("a frame is made of the rows of the partition, whatever is mapped",),
        hint=f"remove `{name}.`, or remove OVER",
    )


def distinct_with_frame(span: Span) -> MatchRecognizeUnsupportedError:
    """DISTINCT with OVER, which Spark does not have."""
    return MatchRecognizeUnsupportedError(
        "DISTINCT in an aggregate with OVER is not supported",
        span,
        hint="write size(collect_set(x) OVER (...)) for the count of distinct values",
    )
