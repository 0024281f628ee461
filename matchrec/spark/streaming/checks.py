"""Which plans and executables can take their rows little by little; others are refused by name."""

from __future__ import annotations

from matchrec.compile.executable import Executable
from matchrec.engine.incremental import keeps_values
from matchrec.engine.records import compile_task
from matchrec.errors import streams as errors
from matchrec.output.reads import ReadAt
from matchrec.plan.clauses import MatchOutput, RowsPerMatch
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import PartitionEnd, negations, walk
from matchrec.spark.question import Options


def check_plan(plan: MatchPlan) -> None:
    """Raises MatchRecognizeError for a plan whose rows cannot come little by little."""
    if not plan.order_by:
        raise errors.no_time(plan.pattern.span)
    first = plan.order_by[0]
    if first.descending:
        raise errors.backwards_in_time(first.expression.span, order=first.expression.text)
    if plan.rows_per_match is RowsPerMatch.EACH_ROW:
        raise errors.window_over_stream(plan.pattern.span)
    if plan.output is MatchOutput.GRAPH:
        raise errors.graph_over_stream()
    check_ends(plan)
    if plan.row_gap is not None and not plan.selects:
        raise errors.row_gap_over_stream(plan.row_gap.span)


def check_ends(plan: MatchPlan) -> None:
    """Raises MatchRecognizeError for what only the last row of a partition decides."""
    if plan.partial is not None:
        raise errors.partial_over_stream(plan.partial.span, words=plan.partial.words)
    if any(isinstance(one, PartitionEnd) for one in walk(plan.pattern)):
        raise errors.end_over_stream(plan.pattern.span)
    if negations(plan.pattern) and not plan.selects:
        raise errors.negation_over_stream(plan.pattern.span)
    if plan.selects and plan.output is MatchOutput.PREFERRED:
        raise errors.preferred_over_stream(plan.pattern.span)


def check_options(options: Options) -> None:
    """Raises MatchRecognizeError for options that a stream does not have."""
    if options.transport == "arrow":
        raise errors.arrow_over_stream()
    if options.counters is not None:
        raise errors.counters_over_stream()
    if options.sort != "auto":
        raise errors.sort_over_stream(sort=options.sort)


def check_executable(executable: Executable) -> None:
    """Raises MatchRecognizeError for what needs all rows at once."""
    task, crossing = executable.task, executable.crossing
    if executable.aggregates:
        raise errors.aggregate_over_stream()
    if not task.selects:
        return
    if executable.algorithm.engine != "breadth_first":
        raise errors.engine_over_stream(engine=executable.algorithm.engine)
    if task.keeps_lists:
        raise errors.list_over_stream()
    integers = enumerate(crossing.integers)
    if keeps_values(task, frozenset(n for n, one in integers if one in crossing.ranked)):
        raise errors.rank_over_stream()
    reads = (one.navigation.physical_offset for one in executable.reads if isinstance(one, ReadAt))
    if any(compile_task(task, len(crossing.integers)).offsets) or any(reads):
        raise errors.skipped_over_stream()
