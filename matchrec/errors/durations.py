"""Errors in the windows of a Pattern: their lengths, and the events that they lie between."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.arguments import shown
from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    listed,
    nearest,
)


def not_a_duration(value: object, call: str) -> MatchRecognizePlanError:
    """No length of time."""
    return MatchRecognizePlanError(
        f"{call} of {shown(value)}, which is no length of time",
        hint='write e.g. "10 minutes", "1 hour 30 minutes", timedelta(minutes=10), or a number in '
        "the unit of the order column",
    )


def not_a_positive_duration(value: object, call: str) -> MatchRecognizePlanError:
    """A window that holds nothing."""
    return MatchRecognizePlanError(
        f"{call} of {shown(value)}: no event lies less than that after another",
        hint="write a length of more than 0",
    )


def too_long_duration(value: object, call: str) -> MatchRecognizeUnsupportedError:
    """A window that no column of times or numbers can reach over."""
    return MatchRecognizeUnsupportedError(
        f"{call} of {shown(value)}: the window is longer than Spark can measure",
        notes=("a time is at most 292,271 years, a number less than 2 to the power of 63",),
        hint="write a smaller one, or leave it out",
    )


def unknown_unit(unit: str, known: Iterable[str], call: str) -> MatchRecognizePlanError:
    """A word after a number that is no unit of fixed length."""
    known = list(known)
    meant = nearest(unit, known)
    return MatchRecognizePlanError(
        f"{call}: unknown unit `{unit}`",
        notes=(f"units: {listed(known)}",),
        hint=f"write {meant}" if meant else 'write e.g. "10 minutes"',
    )


def near_without_event(stage: str, *, is_group: bool) -> MatchRecognizePlanError:
    """A distance to the event before, of what is no single event."""
    why = "a group has several events" if is_group else "no event is accepted for a NOT"
    where = "on a stage inside of it" if is_group else "on the next stage"
    return MatchRecognizePlanError(
        f"within previous_to_current of {stage}",
        notes=(f"it is the distance from the event before to one of the stage; {why}",),
        hint=f"call within(..., 'previous_to_current') {where}",
    )


def near_exceeds_whole(stage: str, near: str, whole: str) -> MatchRecognizePlanError:
    """A window between neighbours that is larger than that of the match."""
    return MatchRecognizePlanError(
        f"within previous_to_current of {stage} is {near}, that of the whole pattern {whole}",
        notes=("neighbours lie no further apart than the first and the last event",),
        hint=f"write at most {whole}, or leave it out",
    )


def mixed_durations(one: str, other: str) -> MatchRecognizePlanError:
    """A time and a number in one pattern."""
    return MatchRecognizePlanError(
        f"windows of {one} and of {other} in one pattern",
        notes=("a number is in the unit of the order column, a time is not",),
        hint="write all of them as times, or all of them as numbers",
    )
