"""Which plans and executables can take their rows little by little; others are refused by name."""

from __future__ import annotations

from matchrec.compile.executable import Executable
from matchrec.engine.incremental import keeps_values
from matchrec.engine.records import compile_task
from matchrec.errors.calls import backwards_in_time, cannot_stream, no_time
from matchrec.output.reads import ReadAt
from matchrec.plan.clauses import MatchOutput, RowsPerMatch
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import PartitionEnd, negations, walk
from matchrec.spark.question import Options


def check_plan(plan: MatchPlan) -> None:
    """Raises MatchRecognizeError for a plan whose rows cannot come little by little."""
    if not plan.order_by:
        raise no_time(plan.pattern.span)
    first = plan.order_by[0]
    if first.descending:
        raise backwards_in_time(first.expression.text, first.expression.span)
    if plan.rows_per_match is RowsPerMatch.EACH_ROW:
        raise cannot_stream(
            "PATTERN in a window",
            "each row comes out once, and whether a match begins there later rows may decide",
            "write FROM t MATCH_RECOGNIZE (...), which gives the matches",
            plan.pattern.span,
        )
    if plan.output is MatchOutput.GRAPH:
        raise cannot_stream(
            'form="compressed"', "the graph of all matches has no last row", 'write form="all"'
        )
    check_ends(plan)
    if plan.row_gap is not None and not plan.selects:
        raise cannot_stream(
            "WITHIN BETWEEN ROWS",
            "which rows follow each other is known of whole partitions",
            "write ts < LAST(ts, 1) + ... in the conditions of all variables but the first",
            plan.row_gap.span,
        )


def check_ends(plan: MatchPlan) -> None:
    """Raises MatchRecognizeError for what only the last row of a partition decides."""
    if plan.partial is not None:
        raise cannot_stream(
            plan.partial.words,
            "runs that are no matches are looked for once a partition is there as a whole",
            'use matchrec.detect with form="matches_and_timeouts"',
            plan.partial.span,
        )
    if any(isinstance(one, PartitionEnd) for one in walk(plan.pattern)):
        raise cannot_stream(
            "`$` in PATTERN",
            "a stream has no last row",
            "leave `$` out; with WITHIN a match also ends with its window",
            plan.pattern.span,
        )
    if negations(plan.pattern) and not plan.selects:
        raise cannot_stream(
            "NOT in PATTERN",
            "whether a row that must not follow does is not known before it comes",
            "write the condition on the row before, as in NEXT(x) IS NULL OR NEXT(x) < 3",
            plan.pattern.span,
        )
    if plan.selects and plan.output is MatchOutput.PREFERRED:
        raise cannot_stream(
            "one match for each starting row where rows may be skipped",
            "of these, what is preferred is not known before the last row",
            "write ALL MATCHES or NON-OVERLAPPING MATCHES after PATTERN (...)",
            plan.pattern.span,
        )


def check_options(options: Options) -> None:
    """Raises MatchRecognizeError for options that a stream does not have."""
    if options.transport == "arrow":
        raise cannot_stream(
            'transport="arrow"',
            "Spark's stateful operator hands events over in pandas",
            "leave transport out",
        )
    if options.counters is not None:
        raise cannot_stream(
            "counters", "they are of one action", "see StreamingQuery.lastProgress instead"
        )
    if options.sort != "auto":
        raise cannot_stream(
            f'sort="{options.sort}"',
            "events are sorted as the watermark lets them go",
            "leave sort out",
        )


def ranks(executable: Executable) -> frozenset[int]:
    """The integer columns that are ranks, by their place among those that conditions read."""
    places = enumerate(executable.crossing.integers)
    return frozenset(place for place, column in places if column in executable.crossing.ranked)


def check_executable(executable: Executable, plan: MatchPlan) -> None:
    """Raises MatchRecognizeError for what needs all rows at once."""
    if executable.aggregates:
        raise cannot_stream(
            "an aggregate that only Spark knows",
            "it needs a GROUP BY after the matches, which a stream cannot have there",
            "use count, sum, avg, min, max or collect_list, or aggregate arrays of events",
        )
    if plan.selects:
        check_selection(executable)


def check_selection(executable: Executable) -> None:
    """Raises MatchRecognizeError for event selection that needs all rows at once."""
    if executable.algorithm.engine != "breadth_first":
        raise cannot_stream(
            f'engine="{executable.algorithm.engine}"',
            "it goes back to rows that a stream no longer has",
            'write engine="breadth_first", or leave it out',
        )
    if executable.task.keeps_lists:
        raise cannot_stream(
            "an aggregate over a list of events in a condition",
            "lists are not kept between two micro-batches",
            "use count, sum, avg, min or max of numbers, without DISTINCT",
        )
    if keeps_values(executable.task, ranks(executable)):
        raise cannot_stream(
            "min or max of strings, or of other values that are not numbers, in a condition,",
            "they are compared by their rank among all events",
            "compare with first or last instead",
        )
    if reads_neighbours(executable):
        raise cannot_stream(
            "PREV or NEXT of a row of a match that may skip rows",
            "rows that are skipped are not kept",
            "read the rows of the match, as in LAST(A.x, 1)",
        )


def reads_neighbours(executable: Executable) -> bool:
    """Whether rows beside those of a match are read."""
    reads = (one.navigation.physical_offset for one in executable.reads if isinstance(one, ReadAt))
    compiled = compile_task(executable.task, len(executable.crossing.integers))
    return any(compiled.offsets) or any(reads)
