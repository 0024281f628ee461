"""What is asked of one clause: why its rows match or not, how far its starting rows come."""

from __future__ import annotations

from matchrec.api.clause import Clause
from matchrec.automaton.compile import compile_pattern
from matchrec.compile.negation import find_negation_tests
from matchrec.compile.pruning.condition_windows import gaps_as_conditions
from matchrec.errors.run.place import RowPlace
from matchrec.explain.coverage import ClauseCoverage, summarise
from matchrec.explain.tracing.explained import Explainer, as_matches, wanted_trials
from matchrec.explain.tracing.parts import Write, parts_of
from matchrec.explain.tracing.story import Teller, TracedRows
from matchrec.explain.tracing.trace import trace_search
from matchrec.explain.tracing.why import Why
from matchrec.plan.expression import Scalar
from matchrec.plan.match_plan import MatchPlan, search_only
from matchrec.plan.show import show_scalar
from matchrec.search.matches import RunFailure
from matchrec.spark.coverage import count_starting_rows
from matchrec.spark.question import Options
from matchrec.spark.tracing import Target, collect_partition, measure_values


def cover(clause: Clause) -> ClauseCoverage:
    plan = clause.plan_searched("coverage")
    return summarise(count_starting_rows(clause.build_question(plan, clause.options, clause.use)))


def trace(clause: Clause, target: Target, limit: int) -> Why:
    """The rows of a partition, their search, its values, words. Runs jobs."""
    asked = clause.plan_searched("why")
    tests = ((test.mapped, test.definition) for test in find_negation_tests(asked))
    # with the windows that rows alone do not tell, as they are asked
    told = gaps_as_conditions(asked, compile_pattern(asked).follow) if asked.gaps else asked
    parts = parts_of(told, writing(clause, asked), tests)
    plan = search_only(asked, parts.measures)
    found = collect_partition(
        clause.build_question(plan, Options(clause.options.algorithm)), target
    )
    task, strategy = found.executable.task, found.executable.strategy
    try:
        traced = trace_search(task, strategy, found.partitions, found.asked, limit)
    except RunFailure as failure:
        place = RowPlace(target.partition or {}, failure.row + 1)
        raise failure.error(place) from failure
    keys = wanted_trials(traced.attempts)
    values = measure_values(found, as_matches(task, traced.attempts, keys)) if keys else {}
    count = found.partitions.rows
    conditions = Explainer(task, parts, traced.attempts, keys, values, count).conditions()
    rows = TracedRows(found.keys, found.orders, found.places, found.irrelevant)
    return Why(Teller(asked, task, rows, traced, conditions).story())


def writing(clause: Clause, plan: MatchPlan) -> Write | None:
    """A condition as its author wrote it in SQL; windows between rows are such, too."""
    if clause.language is not None:
        return None
    windows = {gap.interval.span for gap in plan.gaps}

    def write(scalar: Scalar) -> str:
        own, span = clause.source.written(scalar.span)
        text = " ".join(own.at(span).split()) or show_scalar(scalar)
        return f"{'WITHIN ' if scalar.span in windows else ''}{text}"

    return write
