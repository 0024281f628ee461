"""Errors that appear while a query runs, with the partition and the row at which they happened."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeRunError, with_source
from matchrec.errors.run.location import RowLocation
from matchrec.errors.run.origins import OperationOrigin
from matchrec.errors.run.repairs import guard_divisors
from matchrec.errors.wording import show_count
from matchrec.source import Source


def skip_to_missing_row(*, variable: str, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for AFTER MATCH SKIP TO a variable that has no row in the match."""
    return MatchRecognizeRunError(
        f"AFTER MATCH SKIP TO `{variable}`: the match has no row of {variable}",
        notes=(f"the match starts {location}",),
        hint=f"make {variable} match at least one row, or write AFTER MATCH SKIP PAST LAST ROW",
        code="skip-to-missing-row",
        location=location,
    )


def skip_to_first_row(*, variable: str, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for AFTER MATCH SKIP TO the first row of the match.

    The search would find the same match forever.
    """
    return MatchRecognizeRunError(
        f"AFTER MATCH SKIP TO `{variable}` goes to the first row of the match, so the search "
        "would not end",
        notes=(f"the match starts {location}",),
        hint="skip to a later variable, or write AFTER MATCH SKIP TO NEXT ROW",
        code="skip-to-first-row",
        location=location,
    )


def skip_to_missing_stage(*, stage: str, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for throw_on_miss() if the match has no event of the stage."""
    return MatchRecognizeRunError(
        f"the skip to stage `{stage}` fails: the match has no event of it",
        notes=(f"the match starts {location}",),
        hint="remove throw_on_miss(), or make the stage mandatory",
        code="skip-to-missing-stage",
        location=location,
    )


def skip_to_first_event(*, stage: str, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for throw_on_miss() if the stage's event is the first of the match."""
    return MatchRecognizeRunError(
        f"the skip to stage `{stage}` goes to the first event of the match, so the search would "
        "not end",
        notes=(f"the match starts {location}",),
        hint="remove throw_on_miss(), or skip to a later stage",
        code="skip-to-first-event",
        location=location,
    )


def row_not_computed(*, reason: str, hint: str | None) -> MatchRecognizeRunError:
    """Return the error for a row that the engine failed to prepare for the workers.

    The error of the engine says what has failed, but not at which row.

    Args:
        reason: why the row cannot be computed.
        hint: what to write instead; None if that is not known.
    """
    return MatchRecognizeRunError(
        f"a row of the input cannot be computed: {reason}", hint=hint, code="row-not-computed"
    )


def value_not_computed(*, reason: str, hint: str | None) -> MatchRecognizeRunError:
    """Return the error for a value around the clause, or in a query without a clause.

    Args:
        reason: why the value cannot be computed.
        hint: what to write instead; None if that is not known.
    """
    return MatchRecognizeRunError(
        f"a value of the query cannot be computed: {reason}", hint=hint, code="value-not-computed"
    )


def engine_failed(*, sentence: str) -> MatchRecognizeRunError:
    """Return the error for any other failure of the engine, in the engine's words.

    The command line shows it while a query runs.
    """
    return MatchRecognizeRunError(sentence, code="engine-failed")


# The note and the hint for a query whose input has changed since it was built.
_QUERY_IS_OLD = (
    "the input has changed since this DataFrame was made, such as a view that was replaced"
)
_BUILD_AGAIN = "build the query again, by the call that made this DataFrame"


def column_type_changed(*, column: str, arrived: str, planned: str) -> MatchRecognizeRunError:
    """Return the error for a column whose type has changed since the query was built.

    An example is a view that was replaced by one with other columns.

    Args:
        column: the column.
        arrived: the type of the column in the rows that a worker gets.
        planned: the type of the column when the query was built.
    """
    return MatchRecognizeRunError(
        f"column {column} is {arrived}, and was {planned} when the query was built",
        notes=(_QUERY_IS_OLD,),
        hint=_BUILD_AGAIN,
        code="column-type-changed",
    )


def column_has_null(*, column: str) -> MatchRecognizeRunError:
    """Return the error for a NULL in a column that was NOT NULL when the query was built."""
    return MatchRecognizeRunError(
        f"column {column} has a NULL, and was NOT NULL when the query was built",
        notes=(_QUERY_IS_OLD,),
        hint=_BUILD_AGAIN,
        code="column-has-null",
    )


def overflow_in_condition(
    *, variable: str, location: RowLocation, origin: OperationOrigin | None = None
) -> MatchRecognizeRunError:
    """Return the error for a number in a condition that overflows its type in ANSI mode.

    Args:
        variable: the variable of the condition.
        location: the row.
        origin: where the user wrote the operation; None if that is not known.
    """
    # The search has only numbers of 64 bits. A decimal of 19 or more digits is computed outside of
    # the search, where it has a wider range.
    hint = (
        "cast an operand to DOUBLE, or to DECIMAL(20, 0), or to DECIMAL(20, 2) if it has two "
        "decimal places"
    )
    wider = None if origin is None else origin.write_wider()
    return _point_at_operation(
        MatchRecognizeRunError(
            f"a number in the condition of `{variable}` is too large for its type",
            None if origin is None else origin.span,
            notes=(str(location),),
            hint=hint if wider is None else f"write {wider}",
            code="overflow-in-condition",
            location=location,
        ),
        origin,
    )


def _point_at_operation(
    error: MatchRecognizeRunError, origin: OperationOrigin | None
) -> MatchRecognizeRunError:
    """Return an error with the text of the query in which its operation is written."""
    return error if origin is None else with_source(error, Source(origin.text))


def window_overflow(*, variables: str, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for a distance along ORDER BY that overflows the type of its key.

    Args:
        variables: the variables whose conditions limit the distance.
        location: the row.
    """
    return MatchRecognizeRunError(
        f"the distance in the conditions of {variables} is too large for the type of the order "
        "column, and would wrap around",
        notes=(str(location),),
        hint="order by a wider type, or set spark.sql.ansi.enabled to true",
        code="window-overflow",
        location=location,
    )


def wrong_window_length(*, words: str, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for a row at which the length of WITHIN does not give an end of the window.

    Only SQL can compute a length that differs from row to row, or that has days and months, so the
    error appears when the query runs.

    Args:
        words: the words of the clause that has the length, such as WITHIN BETWEEN ROWS.
        location: the row.
    """
    return MatchRecognizeRunError(
        f"the length of {words} is NULL, negative or too large at this row",
        notes=(str(location),),
        hint="write a number or an INTERVAL of weeks to microseconds, or order by a wider type",
        code="wrong-window-length",
        location=location,
    )


def division_by_zero(
    *, variable: str, location: RowLocation, origin: OperationOrigin | None = None
) -> MatchRecognizeRunError:
    """Return the error for a condition that divides by zero in ANSI mode.

    Args:
        variable: the variable of the condition.
        location: the row.
        origin: where the user wrote the division; None if that is not known.
    """
    guarded = None if origin is None else guard_divisors(origin.operation)
    repair = "write NULLIF(..., 0) around the divisor" if guarded is None else f"write {guarded}"
    return _point_at_operation(
        MatchRecognizeRunError(
            f"the condition of `{variable}` divides by zero",
            None if origin is None else origin.span,
            notes=(str(location),),
            hint=f"{repair}, or set spark.sql.ansi.enabled to false",
            code="division-by-zero",
            location=location,
        ),
        origin,
    )


_EXCLUDE_ROWS = "add a condition that excludes such rows"


def function_failed(*, variable: str, reason: str, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for a function in a condition that fails for its arguments.

    Args:
        variable: the variable of the condition.
        reason: the engine's sentence.
        location: the row.
    """
    return MatchRecognizeRunError(
        f"the condition of `{variable}` cannot be computed: {reason}",
        notes=(str(location),),
        hint=f"change the arguments of the function, or {_EXCLUDE_ROWS}",
        code="function-failed",
        location=location,
    )


def function_failed_under_ansi(
    *, variable: str, reason: str, location: RowLocation
) -> MatchRecognizeRunError:
    """Return the error for a function that would return NULL if ANSI mode were off.

    Args:
        variable: the variable of the condition.
        reason: the engine's sentence.
        location: the row.
    """
    return MatchRecognizeRunError(
        f"the condition of `{variable}` cannot be computed: {reason}",
        notes=(str(location),),
        hint=f"{_EXCLUDE_ROWS}, or set spark.sql.ansi.enabled to false",
        code="function-failed",
        location=location,
    )


def too_many_steps(*, limit: int, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for a search that has evaluated more conditions than max_steps allows."""
    return MatchRecognizeRunError(
        f"the search in a partition takes more than {show_count(limit, 'step')}, the limit of "
        "`max_steps`",
        notes=(
            "a step is one test of a condition that depends on the run",
            f"the search has reached a match that would begin {location}",
        ),
        hint=(
            "write WITHIN, or quantifiers with an upper bound, such as {1,100}; or conditions on "
            "one row, such as price > 10; or raise max_steps in Options (--max-steps)"
        ),
        code="too-many-steps",
        location=location,
    )


_MORE_MEMORY = (
    "give workers more memory, by spark.executor.memoryOverhead (spark.executor.pyspark.memory "
    "if it is set) or by fewer tasks at a time on a machine"
)
_FEWER_RUNS = (
    "write WITHIN, or quantifiers with an upper bound, so that fewer runs are open at a time, or "
)


def no_room_for_search(*, mebibytes: int, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for a search that needs too much memory for its runs."""
    return MatchRecognizeRunError(
        "a Python worker has too little memory for the runs of a search: they need "
        f"{mebibytes:,} MiB more",
        notes=(f"the search has reached a match that would begin {location}",),
        hint=f"{_FEWER_RUNS}{_MORE_MEMORY}",
        code="search-out-of-memory",
        location=location,
    )


def no_room_for_matches(*, mebibytes: int, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for a search that needs too much memory for the matches of one row."""
    return MatchRecognizeRunError(
        "a Python worker has too little memory for the runs of a search: they need "
        f"{mebibytes:,} MiB more",
        notes=(f"the search has reached a match that would begin {location}",),
        hint=(
            "if counts of matches or sums over them are enough, use "
            "`matchrec.query(...).aggregate(...)` or `matchrec run --aggregate`, which build no "
            f"match; else {_FEWER_RUNS}{_MORE_MEMORY}"
        ),
        code="search-out-of-memory",
        location=location,
    )


def partition_out_of_memory(
    *, rows: int, mebibytes: int, location: RowLocation
) -> MatchRecognizeRunError:
    """Return the error for a partition that does not fit into memory as a whole.

    Args:
        rows: the number of rows of the partition that have arrived.
        mebibytes: the size of these rows.
        location: the last of these rows.
    """
    return MatchRecognizeRunError(
        "a Python worker has too little memory for a partition: this query needs the "
        f"whole partition, and {rows:,} rows of it take {mebibytes:,} MiB",
        notes=(f"the last of these rows is {location}",),
        hint=f"write a finer PARTITION BY, or {_MORE_MEMORY}",
        code="partition-out-of-memory",
        location=location,
    )


def waiting_rows_out_of_memory(
    *, rows: int, mebibytes: int, location: RowLocation
) -> MatchRecognizeRunError:
    """Return the error for rows that do not fit into memory while the first of them is undecided.

    Args:
        rows: the number of rows that wait.
        mebibytes: the size of these rows.
        location: the last of these rows.
    """
    return MatchRecognizeRunError(
        f"a Python worker has too little memory for a partition: {rows:,} rows of it, which take "
        f"{mebibytes:,} MiB, wait for the end of a match",
        notes=(f"the last of these rows is {location}",),
        hint=(
            "write WITHIN or bound the quantifiers, so that matches end sooner, or a finer "
            f"PARTITION BY, or {_MORE_MEMORY}"
        ),
        code="waiting-rows-out-of-memory",
        location=location,
    )


def row_too_large(*, mebibytes: int, limit: int, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for a row of the result that is too large to be sent to Spark.

    Args:
        mebibytes: the size of the row.
        limit: the largest size, in MiB.
        location: the row of the input from which the row of the result is made.
    """
    return MatchRecognizeRunError(
        f"a row of the result would take {mebibytes:,} MiB, but a Python worker can send at most "
        f"{limit:,} MiB to Spark",
        notes=(str(location),),
        hint=(
            "bound the quantifiers or write WITHIN, so that matches are shorter; or read fewer "
            "columns, in rules with event_columns"
        ),
        code="row-too-large",
        location=location,
    )


def rows_too_large(*, mebibytes: int, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for rows of the result that do not fit into memory together.

    An engine in this process returns the rows of a result together. They are large if each row has
    all rows of its match, as with FINAL collect_list(x) and ALL ROWS PER MATCH.
    """
    return MatchRecognizeRunError(
        f"rows of the result that are returned together take {mebibytes:,} MiB, which do not fit "
        "into memory",
        notes=(str(location), "some measures add all rows of a match to each of its rows"),
        hint=(
            "write ONE ROW PER MATCH and join it with the rows, bound the quantifiers or write "
            "WITHIN, so that matches are shorter, or read fewer columns of long values"
        ),
        code="rows-too-large",
        location=location,
    )


def sum_too_large(*, type_name: str, location: RowLocation) -> MatchRecognizeRunError:
    """Return the error for a sum in MEASURES that overflows its type."""
    wider_types = "DECIMAL(38, 0) or DOUBLE" if type_name == "BIGINT" else "DOUBLE"
    return MatchRecognizeRunError(
        f"a sum in MEASURES is too large for {type_name}",
        notes=(str(location),),
        hint=f"write a CAST to {wider_types} inside the sum",
        code="sum-too-large",
        location=location,
    )
