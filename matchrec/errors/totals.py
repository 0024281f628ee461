"""Why an aggregate over all matches cannot be computed without building them."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeUnsupportedError
from matchrec.errors.message import plan_error, run_error
from matchrec.errors.streams import over_stream


class NotCarriedError(MatchRecognizeUnsupportedError):
    """An aggregate over all matches that only matches which are built can tell. reason: why."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"matches cannot be counted without building them: {reason}",
            hint="add up the matches in what reads them",
        )
        self.reason = reason


# What `aggregate` of a query takes.
no_aggregate = plan_error(
    "`{text:short}` is no aggregate over matches",
    notes=("measures: {measures}",),
    hint="write count(*), or count, sum, avg, min or max of a measure, such as sum(n); a count or "
    "a sum may be in CAST(... AS DOUBLE) or CAST(... AS DECIMAL(38, 0))",
)
rounding_cast = plan_error(
    "`{asked}` asks for a type that has not its digits", hint="write {exact}"
)
unknown_measure = plan_error(
    "no measure is called `{name}`", notes=("measures: {measures}",), hint="name one of these"
)
no_column_of_order = plan_error(
    "rows are not sorted by a column, which would say with which row a match has its {by}",
    hint='leave out by="{by}", or sort by a column',
)

# `aggregate` of a query over a stream; `by` is what matches are grouped by.
unfinished_groups = over_stream(
    'aggregates over all matches by="{by}"',
    "further matches of such a group may still come",
    'write by="end", whose rows are final, and add these up in what reads them',
)

NOT_TAKEN = "each match is to be built"

# An aggregate over all matches left its type, of one group or as the rows of groups are added up.
total_too_large = run_error(
    "an aggregate over all matches is too large for {type_name}",
    notes=("it is {asked}", "{place}"),
    hint="write a CAST to DOUBLE in MEASURES, or a sum as CAST(... AS DECIMAL(38, ...))",
    hints={
        "BIGINT": "write it as CAST(... AS DECIMAL(38, 0)) or CAST(... AS DOUBLE)",
        "DECIMAL(38, 0)": "write it as CAST(... AS DOUBLE)",
        "DOUBLE": "bound the quantifiers or write WITHIN, so that there are fewer matches",
    },
)


def too_large_together(type_name: str, asked: str) -> str:
    """The message of an error of Spark's: the rows of several groups come to too much."""
    error = total_too_large(type_name=type_name, asked=asked, place="together")
    return f"{error.message}: {asked}; {error.hint}"


BY_ONE_AT_A_TIME = "the engine that is asked for finds one match at a time"
MEASURE_BY_SPARK = "Spark computes a measure after the match"
FIRST_MATCHES = "only the first matches of a partition are asked for"
NOT_ALL_MATCHES = "not all matches are asked for"
RUNS_THAT_ARE_NO_MATCH = "runs that are no match come out as well"
SKIP_STRATEGY = "a skip strategy leaves some of them out"
ABSENT_ROWS = "where rows must be absent depends on the whole match"
ABSENCE_BY_LATER_ROW = "a row that must be absent is compared with a later row of the match"
ABSENCE_MAY_FAIL = "the condition of a row that must be absent may fail, so only matches ask it"
COMPLETE_LATER = "a match that waits for the end of its window is not told by its last row"
MAPPED_TWICE = "PATTERN has several ways to map the same rows to the same variables"
ROW_BESIDE = "a measure reads a row that is not the first or last one of a variable"


def not_carried(function: str, inside: str, type_name: str) -> NotCarriedError:
    """An aggregate over all matches that runs do not carry."""
    return NotCarriedError(f"no run carries {function} over matches of {inside} of {type_name}")
