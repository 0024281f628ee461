"""Errors that Spark's own analysis of a part of the query brings up."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import MatchRecognizePlanError, listed, nearest
from matchrec.source import Span


def unknown_column(
    name: str,
    clause: str,
    columns: Iterable[str],
    variables: Iterable[str],
    span: Span | None,
) -> MatchRecognizePlanError:
    """A name that is neither a column of the input nor qualified by a pattern variable."""
    columns, variables = list(columns), list(variables)
    qualifier, _, column = name.rpartition(".")
    notes = [f"the input has: {listed(columns)}"]
    if qualifier and column in columns:
        notes = [f"PATTERN has: {listed(variables)}"]
        near = nearest(qualifier, variables)
        hint = (
            f"write {near}.{column}" if near else f"write {column}, or add {qualifier} to PATTERN"
        )
        return MatchRecognizePlanError(
            f"unknown pattern variable `{qualifier}` in {clause}",
            span,
            notes=tuple(notes),
            hint=hint,
        )
    near = nearest(column, columns)
    return MatchRecognizePlanError(
        f"unknown column `{name}` in {clause}",
        span,
        notes=tuple(notes),
        hint=f"write {near}" if near else None,
    )


def refused_by_spark(clause: str, sentence: str, span: Span | None) -> MatchRecognizePlanError:
    """An expression that Spark's analyzer does not accept, in its own words."""
    return MatchRecognizePlanError(f"Spark refuses an expression in {clause}: {sentence}", span)
