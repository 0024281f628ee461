"""The answers to questions about one clause: `Query.why` and `Query.coverage`."""

from __future__ import annotations

from dataclasses import replace

from matchrec.api.clause import Clause
from matchrec.automaton.compile import compile_pattern
from matchrec.compile.negation import find_negation_tests
from matchrec.compile.pruning.gap_conditions import replace_gaps_by_conditions
from matchrec.errors.run.location import RowLocation
from matchrec.explain.clause_coverage import ClauseCoverage
from matchrec.explain.coverage_summary import compute_clause_coverage
from matchrec.explain.tracing.condition_parts import (
    ConditionParts,
    WriteExpression,
    split_into_parts,
)
from matchrec.explain.tracing.explainer import Explainer, choose_trials, make_matches_of_trials
from matchrec.explain.tracing.story import StoryWriter, TracedRows
from matchrec.explain.tracing.trace import Trace, trace_search
from matchrec.explain.tracing.why import Why
from matchrec.plan.expression import Scalar
from matchrec.plan.match_plan import (
    EVERYTHING,
    MatchPlan,
    add_equivalence_keys,
    drop_output_options,
)
from matchrec.plan.show import show_scalar
from matchrec.search.matches import RunFailure
from matchrec.spark.collected_partition import CollectedPartition, collect_partition
from matchrec.spark.coverage import count_starting_rows
from matchrec.spark.request import MatchRequest, Options, Purpose
from matchrec.spark.targets import Target
from matchrec.spark.traced_measures import compute_measures


def cover(clause: Clause) -> ClauseCoverage:
    """Count how far the starting rows of a clause come, as `Query.coverage` does. Runs a job."""
    # All keys of the partitions name a starting row, as they do in `why`.
    plan = add_equivalence_keys(clause.choose_explained_plan("coverage"))
    use = clause.result_use
    if use.columns is None and not plan.measures:
        use = replace(use, columns=frozenset())  # coverage needs no column of the result
    request = clause.build_request(plan, clause.options, result_use=use, purpose=Purpose.COVERAGE)
    first_matches = None if plan.first_matches is None else plan.first_matches.words
    return replace(
        compute_clause_coverage(count_starting_rows(request)), ignored_option=first_matches
    )


def explain_partition(clause: Clause, target: Target, limit: int) -> Why:
    """Explain the search in one partition of a clause, as `Query.why` does. Runs jobs.

    1. Split each condition into parts, so that the answer can say which part was false.
    2. Bring the rows of the partition to the driver, and search them as a worker does, with a
       trace of each attempt.
    3. Let the engine compute the values that the parts had in the attempts that are shown.
    4. Put both into words.

    Args:
        clause: the clause.
        target: the partition, and the row from which to show the search.
        limit: the largest number of attempts in the answer.

    Raises:
        MatchRecognizeError: there is no such partition or row, or the search fails.
    """
    plan = clause.choose_explained_plan("why")
    parts = find_condition_parts(clause, plan)
    partition = collect_partition(build_trace_request(clause, plan, parts), target)
    search = trace_partition(partition, target, limit)
    explainer = build_explainer(partition, parts, search)
    rows = TracedRows(
        partition.key_values,
        partition.order_names,
        partition.order_values,
        partition.irrelevant_rows,
    )
    task = partition.compiled_query.task
    writer = StoryWriter(plan, task, rows, search, explainer.explain_conditions())
    return Why(writer.write_story())


def find_condition_parts(clause: Clause, plan: MatchPlan) -> ConditionParts:
    """Split the conditions of a clause into parts that are true or false by themselves."""
    pattern = compile_pattern(plan)
    negation_tests = find_negation_tests(plan, pattern)
    plan_of_conditions = plan
    if plan.gaps:
        # The search checks a gap between rows as a condition if it can. Explain it like that, too.
        plan_of_conditions = replace_gaps_by_conditions(plan, pattern.follow_sets)
    return split_into_parts(plan_of_conditions, build_writer(clause, plan), negation_tests)


def build_trace_request(clause: Clause, plan: MatchPlan, parts: ConditionParts) -> MatchRequest:
    """Return the request for the rows of one partition, and for a search of them on the driver.

    Of the options, only the algorithm decides how the story goes. The search runs over rows that
    are collected in order: nobody sorts or packs rows for workers, counters would stay empty, and
    the search that exceeds `max_steps` is often the one to explain.
    """
    options = Options(algorithm=clause.options.algorithm)
    # FIRST n MATCHES ends the search, so the rows after the last match start no attempt.
    searched_plan = replace(
        drop_output_options(plan, parts.measures), first_matches=plan.first_matches
    )
    use = EVERYTHING
    if not parts.measures:
        use = replace(use, columns=frozenset())  # a plan without measures may have no column
    return clause.build_request(searched_plan, options, result_use=use, purpose=Purpose.TRACE)


def trace_partition(partition: CollectedPartition, target: Target, limit: int) -> Trace:
    """Search a partition as a worker does, and trace each attempt.

    Raises:
        MatchRecognizeError: the search fails. The error names the row.
    """
    query = partition.compiled_query
    try:
        return trace_search(
            query.task, query.strategy, partition.partitions, partition.target_rows, limit
        )
    except RunFailure as failure:
        location = RowLocation(target.partition or {}, failure.row + 1)
        raise failure.build_error(location) from failure


def build_explainer(
    partition: CollectedPartition, parts: ConditionParts, search: Trace
) -> Explainer:
    """Return an explainer of the conditions of the attempts that are shown.

    Runs a job for the values that their parts had, if there are such attempts.
    """
    task = partition.compiled_query.task
    trials = choose_trials(search.attempts)
    values = {}
    if trials:
        matches = make_matches_of_trials(task, search.attempts, trials)
        values_by_index = compute_measures(partition, matches)
        values = {trials[index]: texts for index, texts in values_by_index.items()}
    return Explainer(
        task, parts, search.attempts, trials, values, row_count=partition.partitions.row_count
    )


def build_writer(clause: Clause, plan: MatchPlan) -> WriteExpression | None:
    """Return a function that writes a condition as the user wrote it; None if it was not SQL.

    Args:
        clause: the clause.
        plan: its plan. A window between two of its rows is written as `WITHIN ...`.
    """
    if clause.language is not None:
        return None
    window_spans = {gap.interval.span for gap in plan.gaps}

    def write(scalar: Scalar) -> str:
        """Return a condition or a window in one line."""
        source, span = clause.source.trace_to_author(scalar.span)
        text = " ".join(source.text_at(span).split()) or show_scalar(scalar)
        return f"WITHIN {text}" if scalar.span in window_spans else text

    return write
