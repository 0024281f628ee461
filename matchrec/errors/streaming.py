"""Errors of queries over a streaming DataFrame."""

from __future__ import annotations

from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import part
from matchrec.source import Span


def no_time(span: Span | None) -> MatchRecognizePlanError:
    """A clause over a stream without ORDER BY; span: of the row pattern."""
    return MatchRecognizePlanError(
        "MATCH_RECOGNIZE over a streaming DataFrame without ORDER BY",
        span,
        notes=("rows of a stream are put in order once the watermark has passed them",),
        hint="add ORDER BY and the column that has the watermark",
    )


def backwards_in_time(order: str, span: Span | None) -> MatchRecognizePlanError:
    """ORDER BY ts DESC over a stream."""
    return MatchRecognizePlanError(
        f"{part('ORDER BY')} {order} DESC over a streaming DataFrame",
        span,
        notes=("rows of a stream come in the order of time",),
        hint=f"order by {order} first, ascending; further columns may be descending",
    )


def no_watermark(order: str, span: Span | None = None) -> MatchRecognizePlanError:
    """The first order column of a stream has no watermark."""
    return MatchRecognizePlanError(
        f"{part('ORDER BY')} {order} has no watermark",
        span,
        notes=("events of a stream are put in order once the watermark has passed them",),
        hint='write df.withWatermark("<time column>", "<delay>"), and order by that column first',
    )


def cannot_stream(
    what: str, why: str, hint: str, span: Span | None = None
) -> MatchRecognizeUnsupportedError:
    """An option or a form that a stream does not have."""
    return MatchRecognizeUnsupportedError(
        f"{what} over a streaming DataFrame", span, notes=(why,), hint=hint
    )


def another_clause_over_a_stream(span: Span | None) -> MatchRecognizeUnsupportedError:
    """A second clause in a streaming query; span: of its row pattern."""
    return cannot_stream(
        "a second MATCH_RECOGNIZE",
        "Spark takes one such operator in a streaming query",
        "start a streaming query for each clause; the second may read what the first writes",
        span,
    )


def altered_in_stream(column: str, type_name: str) -> MatchRecognizeUnsupportedError:
    """A column whose values would not survive the way to Spark's stateful operator."""
    return MatchRecognizeUnsupportedError(
        f"column {column} of type {type_name} over a streaming DataFrame",
        notes=("events of a stream pass through pandas, which would alter its values",),
        hint="leave the column out, or cast it, for instance with to_json",
    )


def state_of_another_query() -> MatchRecognizeRunError:
    """A checkpoint holds the state of something else."""
    return MatchRecognizeRunError(
        "the checkpoint holds the state of another query, or of another version of matchrec",
        hint="start this query with a checkpoint directory of its own",
    )
