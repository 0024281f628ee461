"""Errors of queries over a streaming DataFrame, such as one that needs rows still to come."""

from __future__ import annotations

from matchrec.errors.message import give_codes, plan_error, run_error, unsupported

no_time = plan_error("""missing ORDER BY in MATCH_RECOGNIZE over a streaming DataFrame
    code: stream-without-order
    note: rows of a stream are sorted once the watermark has passed them
    add ORDER BY and the column that has the watermark""")
backwards_in_time = plan_error("""{part[ORDER BY]} {order} DESC is not allowed over a streaming
        DataFrame
    code: descending-over-stream
    note: the rows of a stream come in ascending order of time
    order by {order} first, ascending; further columns may be descending""")
no_watermark = plan_error("""{part[ORDER BY]} {order} has no watermark
    code: missing-watermark
    note: events of a stream are sorted once the watermark has passed them
    write df.withWatermark("<time column>", "<delay>"), and order by that column first""")
another_clause_over_a_stream = unsupported("""a second MATCH_RECOGNIZE is not supported over a
        streaming DataFrame
    code: second-clause-over-stream
    note: Spark allows one such operator in a streaming query
    start one streaming query for each clause; the second may read what the first writes""")
altered_in_stream = unsupported("""column {column} of type {type_name} is not supported over a
        streaming DataFrame
    code: column-altered-in-stream
    note: events of a stream pass through pandas, which would change its values
    leave the column out, or cast it: write to_json(x) for an array, a map or a VARIANT, and CAST(x
        AS TIMESTAMP) for a TIMESTAMP_NTZ""")
state_of_another_query = run_error("""the checkpoint has the state of another query, or of another
        version of matchrec
    code: checkpoint-of-other-query
    start this query with a checkpoint directory of its own""")

# The rules differ from those that the checkpoint was written with. `time` is the time of the newest
# row that the stream has read.
changed_in_the_past = run_error("""rule `{name}` has changed for rows that the stream has already
        read, up to {time}
    code: rule-changed-in-the-past
    note: only versions that begin or end after all rows read so far may be added, changed or
        removed
    write a later valid_from, and keep the earlier versions as they were; or start this query with
        its own checkpoint directory""")

_FEWER_RUNS = (
    "write WITHIN, or a tighter pattern, so that fewer runs live at a time: SKIP TILL ANY MATCH "
    "and allow_combinations() try every combination of events. "
)
_LIMIT_OF_WORKER = (
    "If spark.executor.pyspark.memory is set, a worker uses all memory that it allows"
)
stream_without_room = run_error(
    "the search over a stream would take {mebibytes:,} MiB at once for the runs of a partition, or "
    "for the matches that one event completes, and no more than {limit:,} are allowed",
    notes=("the search has reached an event {place}",),
    hint=f"{_FEWER_RUNS}Numbers of matches and sums over them, by "
    f"`matchrec.query(...).aggregate(...)`, build no match. {_LIMIT_OF_WORKER}",
    code="stream-out-of-memory",
)
state_without_room = run_error(
    "the stream would keep {mebibytes:,} MiB of state for partitions of one bucket, and no more "
    "than {limit:,} are allowed",
    notes=("{rows:,} rows of {keys:,} partitions wait for later ones",),
    hint=f"{_FEWER_RUNS}{_LIMIT_OF_WORKER}, below 2,048 MiB",
    code="stream-state-too-large",
)
divided_over_stream = unsupported("""an equivalence test over {column} in a rule set is not
        supported over a streaming DataFrame
    code: equivalence-test-over-stream
    note: it would divide the partitions of this rule further, but matches are numbered by partition
    name the column in partition_by, or call matchrec.match_sase for this query""")
cached_stream = unsupported("""cache() of a rule set is not supported over a streaming DataFrame
    code: cache-over-stream
    note: rows of a stream are not kept
    write `matches` to a table, and read that table""")

# Parts of a query. The span is where the query has the part.

window_over_stream = unsupported("""PATTERN in a window is not supported over a streaming DataFrame
    code: pattern-window-over-stream
    note: each row is returned once, but later rows may decide whether a match begins there
    write FROM t MATCH_RECOGNIZE (...), which gives the matches""")
graph_over_stream = unsupported("""output="graph" is not supported over a streaming DataFrame
    note: the graph of all matches has no last row
    write output="matches"
""")
row_gap_over_stream = unsupported("""WITHIN BETWEEN ROWS is not supported over a streaming DataFrame
    note: which rows follow each other is known only in complete partitions
    write ts < LAST(ts, 1) + ... in the conditions of all variables but the first""")
partial_over_stream = unsupported("""{words} is not supported over a streaming DataFrame
    code: timeouts-over-stream
    note: matchrec looks for runs that are not matches once a partition is complete
    use matchrec.match_pattern with timeouts=True""")
end_over_stream = unsupported("""`$` in PATTERN is not supported over a streaming DataFrame
    note: a stream has no last row
    leave `$` out; with WITHIN a match also ends with its window""")
negation_over_stream = unsupported("""NOT in PATTERN is not supported over a streaming DataFrame
    code: not-over-stream
    note: whether a forbidden row follows is unknown until the next row comes
    write the condition on the row before, as in NEXT(x) IS NULL OR NEXT(x) < 3""")
preferred_over_stream = unsupported("""preferred matches that may skip rows are not supported over a
        streaming DataFrame
    note: which match is preferred is known only at the last row
    write ALL MATCHES or NON-OVERLAPPING MATCHES after PATTERN (...)""")
neighbours_over_stream = unsupported("""a condition on neighbouring rows is not supported over a
        streaming DataFrame
    note: an event's neighbours may not have come yet
    write it as a stage with `next`""")
frame_over_stream = unsupported("""an aggregate OVER rows of the partition is not supported over a
        streaming DataFrame
    note: Spark has no such window functions over a stream
    aggregate the rows of a pattern variable, as in avg(A.x)""")

# Options.

arrow_over_stream = unsupported("""transport="arrow" is not supported over a streaming DataFrame
    note: Spark's stateful operator passes events through pandas
    leave transport out""")
counters_over_stream = unsupported("""counters are not supported over a streaming DataFrame
    note: counters belong to one action
    read StreamingQuery.lastProgress instead""")
sort_over_stream = unsupported("""sort="{sort}" is not supported over a streaming DataFrame
    note: events are sorted as the watermark passes them
    leave sort out""")
algorithm_over_stream = unsupported("""algorithm="{algorithm}" is not supported over a streaming
        DataFrame
    note: it goes back to rows that a stream no longer has
    write algorithm="breadth_first", or leave it out""")

# Needs of a search or of its results.

aggregate_over_stream = unsupported("""an aggregate that only Spark can compute is not supported
        over a streaming DataFrame
    note: it needs a GROUP BY after the matches, which Spark does not allow there in a stream
    use count, sum, avg, min, max or collect_list, or aggregate arrays of events""")
list_over_stream = unsupported("""an aggregate over a list of events in a condition is not supported
        over a streaming DataFrame
    note: lists are not kept between two micro-batches
    use count, sum, avg, min or max of numbers, without DISTINCT""")
rank_over_stream = unsupported("""min or max of values that are not numbers, in a condition, is not
        supported over a streaming DataFrame
    code: min-of-strings-over-stream
    note: they are compared by their rank among all events
    compare with first or last instead""")
skipped_over_stream = unsupported("""PREV or NEXT of a row of a match that may skip rows is not
        supported over a streaming DataFrame
    code: skipped-row-over-stream
    note: skipped rows are not kept
    read the rows of the match, as in LAST(A.x, 1)""")

give_codes(globals())
