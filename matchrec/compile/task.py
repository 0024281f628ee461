"""What an engine is asked: the program, the conditions by variable, the engine that is able."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from matchrec.compile.draft import Draft
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.run_condition import RunExpression
from matchrec.engine.choose import choose
from matchrec.engine.interface import (
    Absent,
    Condition,
    Engine,
    Optimisations,
    Staged,
    Task,
)
from matchrec.errors.calls import engine_cannot, unconstrained_proceed
from matchrec.nfa.compile import compile_pattern
from matchrec.nfa.places import windows_of
from matchrec.nfa.program import Program
from matchrec.nfa.stages import compile_stages
from matchrec.plan.clauses import Absence, EventSelection
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.simplify import simplify
from matchrec.plan.stages import Staging


def linked_task(
    drafted: Draft, run_conditions: Mapping[str, RunExpression], optimisations: Optimisations
) -> Task:
    """What an engine is asked. run_conditions: by variable."""
    plan = drafted.plan
    return Task(
        compiled_program(plan, optimisations),
        plan.variables,
        tuple(task_conditions(plan, drafted.conditions, drafted.row_conditions, run_conditions)),
        {name: plan.members(name) for name in names(plan)},
        plan.after_match,
        plan.selection,
        plan.output,
        tuple(absent(plan, absence) for absence in plan.absences),
        None if plan.closing is None else plan.variables.index(plan.closing),
        optimisations,
        plan.within is not None or plan.within_rows is not None,
        None if plan.staging is None else staged(plan, plan.staging),
    )


def compiled_program(plan: MatchPlan, optimisations: Optimisations) -> Program:
    """The program of a plan's pattern."""
    if plan.staging is not None:
        return compile_stages(plan.staging.steps, plan.variables)
    constrained = optimisations.constrain_proceed
    if not constrained and plan.selection is EventSelection.SKIP_TILL_NEXT_MATCH:
        raise unconstrained_proceed()
    return compile_pattern(
        simplify(plan.pattern), plan.variables, plan.selection, constrain_proceed=constrained
    )


def staged(plan: MatchPlan, staging: Staging) -> Staged:
    """What an engine is told of stages."""
    windows = windows_of(plan, staging)
    return Staged(staging.steps, windows, staging.skip, staging.timeouts is not None)


def absent(plan: MatchPlan, absence: Absence) -> Absent:
    """An absence by ids."""
    return Absent(
        plan.variables.index(absence.variable),
        None if absence.after is None else plan.members(absence.after),
        None if absence.before is None else plan.members(absence.before),
    )


def able_engine(task: Task, name: str) -> tuple[Engine, str]:
    """The engine of that name, which can run the task, and the reason for it."""
    engine, reason = choose(task, name)
    obstacle = engine.supports(task)
    if obstacle is not None:
        raise engine_cannot(engine.name, obstacle)
    return engine, reason


def names(plan: MatchPlan) -> Iterator[str]:
    """Every primary and union variable."""
    yield from plan.variables
    yield from (subset.name for subset in plan.subsets)


def task_conditions(
    plan: MatchPlan,
    split_conditions: tuple[SplitCondition, ...],
    row_conditions: tuple[RowColumn, ...],
    run_conditions: Mapping[str, RunExpression],
) -> Iterator[Condition]:
    """The condition of every variable, by id; one without DEFINE is true everywhere."""
    before = {one.variable: one.before for one in split_conditions}
    bits = {column: bit for bit, column in enumerate(row_conditions)}
    for variable in plan.variables:
        column = before.get(variable)
        bit = None if column is None else bits[column]
        yield Condition(bit, run_conditions.get(variable))
