"""Errors of queries over a streaming DataFrame."""

from __future__ import annotations

from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
)


def clause_over_stream() -> MatchRecognizeUnsupportedError:
    """MATCH_RECOGNIZE over a streaming DataFrame."""
    return MatchRecognizeUnsupportedError(
        "MATCH_RECOGNIZE over a streaming DataFrame",
        hint="use matchrec.detect or matchrec.sase, which go on from batch to batch; "
        "or match each batch on its own in foreachBatch",
    )


def no_watermark(order: str) -> MatchRecognizePlanError:
    """The first order column of a stream has no watermark."""
    return MatchRecognizePlanError(
        f"order_by {order} has no watermark",
        notes=("events of a stream are put in order once the watermark has passed them",),
        hint='write df.withWatermark("<time column>", "<delay>"), and order by that column first',
    )


def cannot_stream(what: str, why: str, hint: str) -> MatchRecognizeUnsupportedError:
    """An option or a form that a stream does not have."""
    return MatchRecognizeUnsupportedError(
        f"{what} over a streaming DataFrame", notes=(why,), hint=hint
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
