"""Why an aggregate over all matches cannot be computed without building them."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeUnsupportedError
from matchrec.errors.message import Message, plan_error


class NotCarriedError(MatchRecognizeUnsupportedError):
    """An aggregate over all matches that only matches which are built can tell."""


def _because(reason: str) -> Message[NotCarriedError]:
    return Message(
        NotCarriedError,
        f"matches cannot be counted without building them: {reason}",
        hint="aggregate the rows of the query, which builds each match",
    )


# What `aggregate` of a query takes.
no_aggregate = plan_error(
    "`{text:short}` is no aggregate over matches",
    notes=("measures: {measures}",),
    hint="write count(*), or count, sum, avg, min or max of a measure, such as sum(n)",
)
unknown_measure = plan_error(
    "no measure is called `{name}`", notes=("measures: {measures}",), hint="name one of these"
)
no_column_of_order = plan_error(
    "rows are not sorted by a column, which would say with which row a match has its {by}",
    hint='leave out by="{by}", or sort by a column',
)

measure_by_spark = _because("Spark computes a measure after the match")
not_all_matches = _because("not all matches are asked for")
runs_that_are_no_match = _because("runs that are no match come out as well")
skip_strategy = _because("a skip strategy leaves some of them out")
absent_rows = _because("rows that must be absent are looked for in each match")
mapped_twice = _because("PATTERN may map the same rows to the same variables in several ways")
row_beside = _because("a measure reads a row beside the first or last row of a variable")
not_carried = _because("{function} over all matches of {inside} over {type_name} in each of them")
over_a_stream = _because("the input is a stream")
