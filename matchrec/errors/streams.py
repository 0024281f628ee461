"""Errors of queries over a streaming DataFrame, such as a query that needs rows still to come.

In the arguments, `order` is the first key of ORDER BY as the query writes it.
"""

from __future__ import annotations

from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import name_part
from matchrec.errors.run.location import RowLocation
from matchrec.source import Span


def stream_without_order(span: Span | None) -> MatchRecognizePlanError:
    """Return the error for a clause without ORDER BY over a stream."""
    return MatchRecognizePlanError(
        "missing ORDER BY in MATCH_RECOGNIZE over a streaming DataFrame",
        span,
        notes=("rows of a stream are sorted once the watermark has passed them",),
        hint="add ORDER BY and the column that has the watermark",
        code="stream-without-order",
    )


def descending_over_stream(span: Span | None, *, order: str) -> MatchRecognizePlanError:
    """Return the error for ORDER BY ... DESC as the first key over a stream."""
    return MatchRecognizePlanError(
        f"{name_part('ORDER BY')} {order} DESC is not allowed over a streaming DataFrame",
        span,
        notes=("the rows of a stream come in ascending order of time",),
        hint=f"order by {order} first, ascending; further columns may be descending",
        code="descending-over-stream",
    )


def missing_watermark(span: Span | None, *, order: str) -> MatchRecognizePlanError:
    """Return the error for a first key of ORDER BY that has no watermark."""
    return MatchRecognizePlanError(
        f"{name_part('ORDER BY')} {order} has no watermark",
        span,
        notes=("events of a stream are sorted once the watermark has passed them",),
        hint='write df.withWatermark("<time column>", "<delay>"), and order by that column first',
        code="missing-watermark",
    )


def second_clause_over_stream(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for a clause that reads the result of another clause over a stream."""
    return MatchRecognizeUnsupportedError(
        "a second MATCH_RECOGNIZE is not supported over a streaming DataFrame",
        span,
        notes=("Spark allows one such operator in a streaming query",),
        hint="start one streaming query for each clause; the second may read what the first writes",
        code="second-clause-over-stream",
    )


def column_altered_in_stream(*, column: str, type_name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a column whose values a conversion to pandas would change."""
    return MatchRecognizeUnsupportedError(
        f"column {column} of type {type_name} is not supported over a streaming DataFrame",
        notes=("events of a stream pass through pandas, which would change its values",),
        hint=(
            "leave the column out, or write to_json(x), for an array, a map or a VARIANT, instead "
            "of it"
        ),
        code="column-altered-in-stream",
    )


def checkpoint_of_other_query() -> MatchRecognizeRunError:
    """Return the error for a checkpoint that another query has written."""
    return MatchRecognizeRunError(
        "the checkpoint has the state of another query, or of another version of matchrec",
        hint="start this query with its own checkpoint directory",
        code="checkpoint-of-other-query",
    )


def rule_changed_in_the_past(*, name: str, time: str) -> MatchRecognizeRunError:
    """Return the error for a rule that differs from the checkpoint for rows already read.

    Args:
        name: the rule that differs.
        time: the time of the newest row that the stream has read.
    """
    return MatchRecognizeRunError(
        f"rule `{name}` has changed for rows that the stream has already read, up to {time}",
        notes=(
            (
                "only versions that begin or end after all rows read so far may be added, changed "
                "or removed"
            ),
        ),
        hint=(
            "write a later valid_from, and keep the earlier versions as they were; or start this "
            "query with its own checkpoint directory"
        ),
        code="rule-changed-in-the-past",
    )


# A note and two hints on the memory of a stream.
_ALL_COMBINATIONS = "SKIP TILL ANY MATCH and allow_combinations() try every combination of events"
_FEWER_RUNS = "write WITHIN or a stricter pattern, so that fewer runs are open at a time"
_HIGHER_LIMIT = "or set spark.executor.pyspark.memory, whose value is then the limit"


def stream_out_of_memory(
    *, mebibytes: int, limit: int, location: RowLocation
) -> MatchRecognizeRunError:
    """Return the error for a search over a stream that needs too much memory.

    Args:
        mebibytes: the memory that the search would take.
        limit: the memory that it may take, in MiB.
        location: the event that the search has reached.
    """
    return MatchRecognizeRunError(
        f"the search over a stream needs {mebibytes:,} MiB for a partition, and the limit is "
        f"{limit:,} MiB",
        notes=(
            (
                "this is the memory for the runs of the partition, or for the matches that one "
                "event completes"
            ),
            f"the search has reached an event {location}",
            _ALL_COMBINATIONS,
        ),
        hint=(
            f"{_FEWER_RUNS}; if counts of matches or sums over them are enough, use "
            f"`matchrec.query(...).aggregate(...)`, which builds no match; {_HIGHER_LIMIT}"
        ),
        code="stream-out-of-memory",
        location=location,
    )


def stream_state_too_large(
    *, mebibytes: int, limit: int, rows: int, keys: int
) -> MatchRecognizeRunError:
    """Return the error for a stream whose waiting rows take too much memory.

    Args:
        mebibytes: the size of the state.
        limit: the largest size that is allowed, in MiB.
        rows: how many rows wait.
        keys: the number of their partitions.
    """
    return MatchRecognizeRunError(
        f"the state of the stream needs {mebibytes:,} MiB for a group of partitions, and the limit "
        f"is {limit:,} MiB",
        notes=(f"{rows:,} rows of {keys:,} partitions wait for later rows", _ALL_COMBINATIONS),
        hint=f"{_FEWER_RUNS}; {_HIGHER_LIMIT}, up to 2,048 MiB",
        code="stream-state-too-large",
    )


def equivalence_test_over_stream(*, column: str) -> MatchRecognizeUnsupportedError:
    """Return the error for an equivalence test in a rule set over a stream."""
    return MatchRecognizeUnsupportedError(
        f"an equivalence test over {column} in a rule set is not supported over a streaming "
        "DataFrame",
        notes=(
            (
                "it would divide the partitions of this rule further, but matches are numbered by "
                "partition"
            ),
        ),
        hint="name the column in partition_by, or call matchrec.match_sase for this query",
        code="equivalence-test-over-stream",
    )


def cache_over_stream() -> MatchRecognizeUnsupportedError:
    """Return the error for cache() of a rule set over a stream."""
    return MatchRecognizeUnsupportedError(
        "cache() of a rule set is not supported over a streaming DataFrame",
        notes=("rows of a stream are not kept",),
        hint="write `matches` to a table, and read that table",
        code="cache-over-stream",
    )


# Parts of a query. `span` is the location of the part in the text of the query.


def pattern_window_over_stream(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for PATTERN in OVER or WINDOW over a stream."""
    return MatchRecognizeUnsupportedError(
        "PATTERN in a window is not supported over a streaming DataFrame",
        span,
        notes=(
            "each row is returned once, but later rows may decide whether a match begins there",
        ),
        hint="write FROM t MATCH_RECOGNIZE (...), which gives the matches",
        code="pattern-window-over-stream",
    )


def graph_over_stream() -> MatchRecognizeUnsupportedError:
    """Return the error for output="graph" over a stream."""
    return MatchRecognizeUnsupportedError(
        'output="graph" is not supported over a streaming DataFrame',
        notes=("more events may add matches to the graph at any time",),
        hint='write output="matches"',
        code="graph-over-stream",
    )


def row_gap_over_stream(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for WITHIN ... BETWEEN ROWS without event selection, over a stream."""
    return MatchRecognizeUnsupportedError(
        "WITHIN BETWEEN ROWS without event selection is not supported over a streaming DataFrame",
        span,
        notes=("which rows follow each other is known only in complete partitions",),
        hint="write ts < LAST(ts, 1) + ... in the conditions of all variables but the first",
        code="row-gap-over-stream",
    )


def timeouts_over_stream(span: Span | None, *, words: str) -> MatchRecognizeUnsupportedError:
    """Return the error for SHOW TIMEOUT MATCHES or SHOW UNFINISHED MATCHES over a stream."""
    return MatchRecognizeUnsupportedError(
        f"{words} is not supported over a streaming DataFrame",
        span,
        notes=("matchrec looks for runs that are not matches once a partition is complete",),
        hint="use matchrec.match_pattern with timeouts=True",
        code="timeouts-over-stream",
    )


def end_anchor_over_stream(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for `$` in PATTERN over a stream."""
    return MatchRecognizeUnsupportedError(
        "`$` in PATTERN is not supported over a streaming DataFrame",
        span,
        notes=("a stream has no last row",),
        hint="leave `$` out; with WITHIN a match also ends with its window",
        code="end-anchor-over-stream",
    )


def negation_over_stream(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for NOT in PATTERN over a stream if the next row is needed to decide it."""
    return MatchRecognizeUnsupportedError(
        "NOT in PATTERN without event selection is not supported over a streaming DataFrame",
        span,
        notes=("whether a forbidden row follows is unknown until the next row comes",),
        hint="write the condition on the previous row, as in NEXT(x) IS NULL OR NEXT(x) < 3",
        code="negation-over-stream",
    )


def preferred_matches_over_stream(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for preferred matches that may skip rows, over a stream."""
    return MatchRecognizeUnsupportedError(
        "preferred matches that may skip rows are not supported over a streaming DataFrame",
        span,
        notes=("which match is preferred is known only at the last row",),
        hint="write ALL MATCHES or NON-OVERLAPPING MATCHES after PATTERN (...)",
        code="preferred-matches-over-stream",
    )


def neighbouring_rows_over_stream() -> MatchRecognizeUnsupportedError:
    """Return the error for PREV or NEXT in SASE+ or a Pattern over a stream."""
    return MatchRecognizeUnsupportedError(
        "a condition on neighbouring rows is not supported over a streaming DataFrame",
        notes=("an event's neighbours may not have come yet",),
        hint="write it as a stage with `next`",
        code="neighbouring-rows-over-stream",
    )


def frame_over_stream() -> MatchRecognizeUnsupportedError:
    """Return the error for an aggregate with OVER in a condition over a stream."""
    return MatchRecognizeUnsupportedError(
        "an aggregate OVER rows of the partition is not supported over a streaming DataFrame",
        notes=("Spark has no such window functions over a stream",),
        hint="aggregate the rows of a pattern variable, as in avg(A.x)",
        code="frame-over-stream",
    )


# Options.


def arrow_over_stream() -> MatchRecognizeUnsupportedError:
    """Return the error for transport="arrow" over a stream."""
    return MatchRecognizeUnsupportedError(
        'transport="arrow" is not supported over a streaming DataFrame',
        notes=("Spark's stateful operator passes events through pandas",),
        hint="leave transport out",
        code="arrow-over-stream",
    )


def counters_over_stream() -> MatchRecognizeUnsupportedError:
    """Return the error for counters of a query over a stream."""
    return MatchRecognizeUnsupportedError(
        "counters are not supported over a streaming DataFrame",
        notes=("counters belong to one action",),
        hint="read StreamingQuery.lastProgress instead",
        code="counters-over-stream",
    )


def sort_over_stream(*, sort: str) -> MatchRecognizeUnsupportedError:
    """Return the error for the option sort of a query over a stream."""
    return MatchRecognizeUnsupportedError(
        f'sort="{sort}" is not supported over a streaming DataFrame',
        notes=("events are sorted as the watermark passes them",),
        hint="leave sort out",
        code="sort-over-stream",
    )


def algorithm_over_stream(*, algorithm: str) -> MatchRecognizeUnsupportedError:
    """Return the error for an algorithm that goes back to earlier rows, over a stream."""
    return MatchRecognizeUnsupportedError(
        f'algorithm="{algorithm}" is not supported over a streaming DataFrame',
        notes=("it goes back to rows that a stream no longer has",),
        hint='write algorithm="breadth_first", or leave it out',
        code="algorithm-over-stream",
    )


# What a condition or a measure needs, but a stream does not keep.


def aggregate_over_stream() -> MatchRecognizeUnsupportedError:
    """Return the error for an aggregate in MEASURES that only Spark computes, over a stream."""
    return MatchRecognizeUnsupportedError(
        "an aggregate that only Spark can compute is not supported over a streaming DataFrame",
        notes=(
            "it needs a GROUP BY after the matches, which Spark does not allow there in a stream",
        ),
        hint="use count, sum, avg, min, max or collect_list, or aggregate arrays of events",
        code="aggregate-over-stream",
    )


def list_over_stream() -> MatchRecognizeUnsupportedError:
    """Return the error for a condition over a stream with an aggregate that collects values."""
    return MatchRecognizeUnsupportedError(
        "an aggregate over a list of events in a condition is not supported over a streaming "
        "DataFrame",
        notes=("lists are not kept between two micro-batches",),
        hint="use count, sum, avg, min or max of numbers, without DISTINCT",
        code="list-over-stream",
    )


def min_of_strings_over_stream() -> MatchRecognizeUnsupportedError:
    """Return the error for min or max of strings or the like in a condition over a stream."""
    return MatchRecognizeUnsupportedError(
        "min or max of values that are not numbers, in a condition, is not supported over a "
        "streaming DataFrame",
        notes=("they are compared by their rank among all events",),
        hint="compare with first or last instead",
        code="min-of-strings-over-stream",
    )


def skipped_row_over_stream() -> MatchRecognizeUnsupportedError:
    """Return the error for PREV or NEXT of a matched row over a stream if rows may be skipped."""
    return MatchRecognizeUnsupportedError(
        "PREV or NEXT of a row of a match that may skip rows is not supported over a streaming "
        "DataFrame",
        notes=("skipped rows are not kept",),
        hint="read the rows of the match, as in LAST(A.x, 1)",
        code="skipped-row-over-stream",
    )
