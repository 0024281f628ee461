"""Errors that only the rows can show; they name the partition and the row."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeRunError
from matchrec.errors.run.place import Place


def skip_to_no_row(variable: str, place: Place) -> MatchRecognizeRunError:
    """SKIP TO a variable to which the match maps no row."""
    return MatchRecognizeRunError(
        f"AFTER MATCH SKIP TO `{variable}`: the match has no row of {variable}",
        notes=(f"the match starts {place}",),
        hint=f"make {variable} match at least one row, or write AFTER MATCH SKIP PAST LAST ROW",
    ).at(place)


def skip_to_first_row(variable: str, place: Place) -> MatchRecognizeRunError:
    """SKIP TO the match's own first row would find the same match for ever."""
    return MatchRecognizeRunError(
        f"AFTER MATCH SKIP TO `{variable}` goes to the first row of the match, and would not end",
        notes=(f"the match starts {place}",),
        hint="skip to a later variable, or write AFTER MATCH SKIP TO NEXT ROW",
    ).at(place)


def stage_missed(stage: str, place: Place) -> MatchRecognizeRunError:
    """throw_on_miss, and a match has no event of the stage."""
    return MatchRecognizeRunError(
        f"skip to stage `{stage}`: the match has no event of it",
        notes=(f"the match starts {place}",),
        hint="leave out throw_on_miss(), or make the stage mandatory",
    ).at(place)


def stage_is_first(stage: str, place: Place) -> MatchRecognizeRunError:
    """throw_on_miss, and the stage's event is the first one of the match."""
    return MatchRecognizeRunError(
        f"skip to stage `{stage}` goes to the first event of the match, and would not go on",
        notes=(f"the match starts {place}",),
        hint="leave out throw_on_miss(), or skip to a later stage",
    ).at(place)


def overflow_in_condition(variable: str, place: Place) -> MatchRecognizeRunError:
    """Integer arithmetic in a condition left its type."""
    return MatchRecognizeRunError(
        f"a number in the condition of `{variable}` is too large for its type",
        notes=(str(place),),
        hint="write a CAST to BIGINT or DOUBLE, or set spark.sql.ansi.enabled to false",
    ).at(place)


def window_wraps(variables: str, place: Place) -> MatchRecognizeRunError:
    """Without ANSI mode, a distance along the order column would wrap around."""
    return MatchRecognizeRunError(
        f"the distance in the conditions of {variables} is too large for the type of the order "
        "column, and would wrap around",
        notes=(str(place),),
        hint="order by a wider type, or set spark.sql.ansi.enabled to true",
    ).at(place)


def division_by_zero(variable: str, place: Place) -> MatchRecognizeRunError:
    """A condition divided by zero."""
    return MatchRecognizeRunError(
        f"the condition of `{variable}` divides by zero",
        notes=(str(place),),
        hint="write NULLIF(divisor, 0), or set spark.sql.ansi.enabled to false",
    ).at(place)


def function_failed(variable: str, reason: str, place: Place) -> MatchRecognizeRunError:
    """A function in a condition has no result for its values; `reason` is Spark's."""
    cure = f"write other arguments of the function, or {_LEAVE_OUT}"
    return _not_computed(variable, reason, place, cure)


def function_failed_under_ansi(variable: str, reason: str, place: Place) -> MatchRecognizeRunError:
    """A function in a condition has no result for its values, and outside ANSI it would be NULL."""
    cure = f"{_LEAVE_OUT}, or set spark.sql.ansi.enabled to false"
    return _not_computed(variable, reason, place, cure)


_LEAVE_OUT = "leave such rows out by another condition"


def _not_computed(variable: str, reason: str, place: Place, cure: str) -> MatchRecognizeRunError:
    return MatchRecognizeRunError(
        f"the condition of `{variable}` cannot be computed: {reason}",
        notes=(str(place),),
        hint=cure,
    ).at(place)


def too_many_steps(limit: str, place: Place) -> MatchRecognizeRunError:
    """The search of a partition went beyond max_steps."""
    return MatchRecognizeRunError(
        f"conditions that depend on the run were asked more than {limit} times in a partition",
        notes=(f"the search has come to a match that would begin {place}",),
        hint="bound the quantifiers, write WITHIN, or let a condition look at rows and not at the "
        "run; if the query is worth it, pass a larger max_steps",
    ).at(place)


def sum_too_large(type_name: str, place: Place) -> MatchRecognizeRunError:
    """A sum in MEASURES left the type that Spark gives it."""
    wider = "DECIMAL(38, 0) or DOUBLE" if type_name == "BIGINT" else "DOUBLE"
    return MatchRecognizeRunError(
        f"a sum in MEASURES is too large for {type_name}",
        notes=(str(place),),
        hint=f"write a CAST to {wider} inside the sum",
    ).at(place)
