"""What an engine is asked: the program, the conditions by variable, the engine that is able."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from matchrec.compile.draft import Draft
from matchrec.compile.nearby import find_row_conditions
from matchrec.conditions.run_condition import RunExpression
from matchrec.engine.interface import (
    Absent,
    Condition,
    NearbyCondition,
    Staged,
    Task,
)
from matchrec.plan.clauses import Absence
from matchrec.plan.match_plan import MatchPlan


def build_task(
    drafted: Draft,
    run_conditions: Mapping[str, RunExpression],
    nearby: tuple[NearbyCondition, ...] = (),
) -> Task:
    """What an engine is asked. run_conditions: by variable. nearby: see `Executable`."""
    plan = drafted.plan
    bits = find_row_conditions(drafted, nearby)
    variables = drafted.pattern.program.variables
    return Task(
        drafted.pattern,
        tuple(Condition(bits.get(one), run_conditions.get(one)) for one in variables),
        {name: plan.members(name) for name in names(plan)},
        plan.after_match,
        plan.selection,
        plan.output,
        tuple(absent(plan, absence) for absence in plan.absences),
        None if plan.closing is None else plan.variables.index(plan.closing),
        drafted.optimisations,
        any(one is not None for one in (plan.within, plan.within_rows, plan.row_gap)),
        staged(plan),
        plan.partial,
    )


def staged(plan: MatchPlan) -> Staged | None:
    """What an engine is told of stages, if the pattern is one of stages."""
    if plan.staging is None:
        return None
    return Staged(plan.staging.skip, plan.staging.timeouts is not None)


def absent(plan: MatchPlan, absence: Absence) -> Absent:
    """An absence by ids."""
    after, before = (
        None if names is None else frozenset[int]().union(*map(plan.members, names))
        for names in (absence.after, absence.before)
    )
    return Absent(plan.variables.index(absence.variable), after, before)


def names(plan: MatchPlan) -> Iterator[str]:
    """Every primary and union variable."""
    yield from plan.variables
    yield from (subset.name for subset in plan.subsets)
