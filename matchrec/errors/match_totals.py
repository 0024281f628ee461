"""Errors of aggregates over all matches, and reasons why each match must be built for one."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
    about_argument,
)
from matchrec.errors.misspellings import find_nearest_or_part
from matchrec.errors.run.location import RowLocation
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_names, shorten


class MustBuildMatchesError(MatchRecognizeUnsupportedError):
    """The error for an aggregate over all matches that needs each match to be built.

    The search can count and add up matches without building them only if each run carries the
    values that the aggregate needs. `reason` says why a run cannot, or why that is not enough.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"matches cannot be counted without building them: {reason}",
            hint="aggregate the matches instead, in a query over the result",
            code="matches-must-be-built",
        )
        self.reason = reason


def not_an_aggregate(*, text: str, measures: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a text that is not an aggregate over matches."""
    return MatchRecognizePlanError(
        f"`{shorten(text)}` is not an aggregate over matches",
        notes=(_list_measures(measures),),
        hint=(
            "write count(*), or count, sum, avg, min or max of a measure, such as sum(n); a count "
            "or a sum may be in CAST(... AS DOUBLE) or CAST(... AS DECIMAL(38, 0))"
        ),
        code="not-an-aggregate",
    )


def inexact_cast(*, aggregate: object, exact: object) -> MatchRecognizePlanError:
    """Return the error for an aggregate over matches in a CAST that would round its value.

    Args:
        aggregate: the aggregate as the user wrote it.
        exact: the aggregate with a CAST that keeps all digits.
    """
    return MatchRecognizePlanError(
        f"`{aggregate}` casts to a type that cannot hold all digits of the value",
        hint=f"write {exact}",
        code="inexact-cast",
    )


def unknown_measure(*, name: str, measures: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for an aggregate over a measure that the query does not have."""
    near = find_nearest_or_part(name, measures)
    if near:
        hint = f"write {near}"
    else:
        hint = f"name one of these, or add a measure, such as LAST({name}) AS {name}, to MEASURES"
    return MatchRecognizePlanError(
        f"unknown measure `{name}`",
        notes=(_list_measures(measures),),
        hint=hint,
        code="unknown-measure",
    )


def no_sort_column(*, per: str) -> MatchRecognizePlanError:
    """Return the error for groups of time of a query that is not sorted by a column.

    Args:
        per: the value of `per`, such as "day".
    """
    option = current_surface().write_option("per", per)
    return about_argument(
        MatchRecognizePlanError(
            f"{option} is not supported unless the rows are sorted by a column",
            hint=f"leave out {option}, or sort by a column",
            code="no-sort-column",
        ),
        "per",
    )


def unfinished_groups_over_stream(*, per: str) -> MatchRecognizeUnsupportedError:
    """Return the error for groups over a stream that later matches could still change."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        f'aggregates over all matches with per="{per}" are not supported over a streaming '
        "DataFrame",
        notes=("more matches of such a group may still come",),
        hint=(
            f"write {surface.write_option('per', 'end')}, whose rows are final, and add these up "
            "afterwards"
        ),
        code="unfinished-groups-over-stream",
    )


EACH_MATCH_MUST_BE_BUILT = "each match must be built"


def total_too_large(
    *, type_name: str, aggregate: str, location: RowLocation
) -> MatchRecognizeRunError:
    """Return the error for an aggregate over all matches that overflows its type.

    Args:
        type_name: the type.
        aggregate: the aggregate as the user wrote it.
        location: the first row of the group whose aggregate overflows.
    """
    notes = (f"the aggregate is {aggregate}", str(location))
    return _make_total_too_large(type_name, notes, location)


def infinite_values_in_total(*, aggregate: str, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for the least or greatest sum if values are infinite, or add up to infinity.

    Args:
        aggregate: the aggregate as the user wrote it.
        location: the first row of the group.
    """
    return MatchRecognizeRunError(
        "the least or greatest sum of all matches cannot be computed if a sum is infinite",
        notes=(
            f"the aggregate is {aggregate}",
            str(location),
            "an infinity and its opposite make NaN, so the search would have to build the matches",
        ),
        hint=(
            "build them: write the query as SQL, with the aggregate in the SELECT around the "
            "clause; or filter infinite values out before"
        ),
        code="infinite-values-in-total",
        location=location,
    )


def large_values_in_total(*, aggregate: str, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for the least or greatest sum if a sum of BIGINT may have overflowed.

    Runs carry sums of 64 bits, which can wrap around, and the sum of the absolute values.

    Args:
        aggregate: the aggregate as the user wrote it.
        location: the first row of the group.
    """
    return MatchRecognizeRunError(
        "the least or greatest sum of all matches cannot be computed if the absolute values in a "
        "match add up to more than BIGINT",
        notes=(f"the aggregate is {aggregate}", str(location)),
        hint="write a CAST to DECIMAL(38, 0) or DOUBLE inside the sum",
        code="large-values-in-total",
        location=location,
    )


def write_total_message(type_name: str, aggregate: str) -> str:
    """Return the message for an aggregate that is too large over several groups together.

    The result is a text, because Spark raises the error, by `raise_error` in a query.
    """
    error = _make_total_too_large(type_name)
    return f"{error.message}: {aggregate} [{error.code}]; {error.hint}"


def _make_total_too_large(
    type_name: str, notes: tuple[str, ...] = (), location: RowLocation | None = None
) -> MatchRecognizeRunError:
    """Return the error for an aggregate over all matches that overflows its type."""
    match type_name:
        case "BIGINT":
            hint = "write it as CAST(... AS DECIMAL(38, 0)) or CAST(... AS DOUBLE)"
        case "DECIMAL(38, 0)":
            hint = "write it as CAST(... AS DOUBLE)"
        case "DOUBLE":
            hint = "bound the quantifiers or write WITHIN, so that there are fewer matches"
        case _:
            hint = "write a CAST to DOUBLE in MEASURES, or a sum as CAST(... AS DECIMAL(38, ...))"
    return MatchRecognizeRunError(
        f"an aggregate over all matches is too large for {type_name}",
        notes=notes,
        hint=hint,
        location=location,
        code="total-too-large",
    )


# Reasons why the matches must be built, for `MustBuildMatchesError`.
BY_ONE_AT_A_TIME = "the chosen algorithm finds one match at a time"
MEASURE_BY_ENGINE = "the engine computes a measure after the match"
MEASURE_NOT_CARRIED = "a run carries only values of columns, counts, sums, averages and extremes"
FIRST_MATCHES = "the query returns only the first matches of a partition"
NOT_ALL_MATCHES = "the query does not return all matches"
RUNS_THAT_ARE_NO_MATCH = "the query also returns runs that are not matches"
SKIP_STRATEGY = "a skip strategy leaves some matches out"
ENDS_WITHIN_ABSENCE = "a match can end before the row up to which NOT forbids rows"
OVERLAPPING_ABSENCES = "two NOTs forbid rows at once, and different variables end them"
_FORBIDDEN_CONDITION = "the condition of a row that NOT forbids"
ABSENCE_BY_LATER_ROW = f"{_FORBIDDEN_CONDITION} reads a later row of the match"
ABSENCE_BY_CLASSIFIER = f"{_FORBIDDEN_CONDITION} has CLASSIFIER"
ABSENCE_BY_MATCH_NUMBER = f"{_FORBIDDEN_CONDITION} has MATCH_NUMBER"
ABSENCE_BY_PYTHON_CALL = f"{_FORBIDDEN_CONDITION} has a function that is computed in Python"
ABSENCE_BY_PYTHON_AGGREGATE = f"{_FORBIDDEN_CONDITION} has an aggregate that is computed in Python"
ABSENCE_BY_SUM = f"{_FORBIDDEN_CONDITION} has a sum, which may overflow in runs that never match"
ABSENCE_BY_OPERATION = (
    f"{_FORBIDDEN_CONDITION} has an operation that may raise an error in runs that never match"
)
COMPLETE_LATER = "a match that waits for the end of its window is not complete at its last row"
MAPPED_TWICE = "PATTERN has several ways to map the same rows to the same variables"
FOUND_TWICE_BY_NOT = "NOT tests the next row, so the search may find a match in two ways"
ROW_BESIDE = "a measure reads a row that is not the first or last row of a variable"


def not_carried(function: str, inside: str, type_name: str) -> MustBuildMatchesError:
    """Return the error for a function over values of a type that a run cannot carry.

    Args:
        function: the aggregate over matches, such as max.
        inside: the function of the measure, such as sum.
        type_name: the type of the measure, or "rows".
    """
    return MustBuildMatchesError(
        f"the search cannot compute {function} over matches of {inside} of {type_name}"
    )


def _list_measures(measures: Sequence[str]) -> str:
    """Return the note that lists the measures of a query."""
    if not measures:
        return "the query has no measures"
    return f"the query has the measures: {join_names(measures)}"
