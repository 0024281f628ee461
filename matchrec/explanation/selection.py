"""Event selection, the window, what must not be there, and what can be switched off."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.compile.executable import Executable
from matchrec.engine.compiled import compile_task
from matchrec.engine.interface import Task
from matchrec.explanation.stage_conditions import stage_lines
from matchrec.plan.clauses import Absence, EventSelection, Gap, MatchOutput, Within
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_scalar

SKIPPED = {
    EventSelection.STRICT_CONTIGUITY: "no row of a partition may be skipped; theta_ignore = false",
    EventSelection.SKIP_TILL_NEXT_MATCH: (
        "a row that could be mapped may not be skipped; theta_ignore = not take, or else not begin"
    ),
    EventSelection.SKIP_TILL_ANY_MATCH: "any row may be skipped; theta_ignore = true",
}
COME_OUT = {
    MatchOutput.PREFERRED: "the preferred match at each starting row that AFTER MATCH SKIP leaves",
    MatchOutput.LONGEST: "of the matches at each starting row the one with the most rows",
    MatchOutput.ALL: "every match, once",
    MatchOutput.NON_OVERLAPPING: "the match that is complete first, then on behind it",
    MatchOutput.GRAPH: "the shared buffer of every match, a row per pointer",
}


def selection_lines(plan: MatchPlan) -> Iterator[str]:
    """The strategy and the matches that come out, where they are not those of plain SQL."""
    if plan.staging is not None:
        yield from stage_lines(plan.staging)
    elif plan.selects:
        yield f"{plan.selection.value}: {SKIPPED[plan.selection]}"
    if plan.selects or plan.output is MatchOutput.LONGEST:
        yield f"{plan.output.value}: {COME_OUT[plan.output]}"


def window_lines(plan: MatchPlan, task: Task) -> Iterator[str]:
    """How far the rows of a match may lie apart, and where that is tested."""
    if not has_window(plan):
        return
    if plan.within_rows is not None:
        yield f"the last row is one of the {plan.within_rows} rows from the first one on"
    if plan.within is not None:
        yield window_line(plan, plan.within)
    yield from map(gap_line, plan.gaps)
    pushed = task.optimisations.push_window
    yield f"tested {'on every edge' if pushed else 'on edges to the final state'}: `in the window`"


def window_line(plan: MatchPlan, within: Within) -> str:
    """How far apart the first and the last row may lie, and who says so."""
    order, said = plan.order_by[0].expression.text, within.found
    if said is None:
        interval = within.interval.text
        return f"the last row lies less than {interval} after the first one, along {order}"
    variables = ", ".join(said.variables)
    conditions = "conditions" if len(said.variables) > 1 else "condition"
    return (
        f"the last row lies {said.written} after the first one, along {order}: "
        f"from the {conditions} of {variables}"
    )


def gap_line(gap: Gap) -> str:
    """How far apart rows inside of the match may lie."""
    if gap.to is None:
        return f"each row lies less than {gap.interval.text} after the row before it in the match"
    return (
        f"each row of {gap.to} lies less than {gap.interval.text} after the last row of "
        f"{gap.after} before it"
    )


def has_window(plan: MatchPlan) -> bool:
    """Whether the engine keeps to a window."""
    return plan.within_rows is not None or plan.within is not None or len(plan.gaps) > 0


def absence_lines(plan: MatchPlan) -> Iterator[str]:
    """Each negated component, with its condition, and the closing condition."""
    written = {one.variable: show_scalar(one.condition) for one in plan.definitions}
    for absence in plan.absences:
        condition = written.get(absence.variable, "true")
        yield f"no row of {absence.variable} {where(absence)}: {condition}"
    if plan.closing is not None:
        yield f"of a whole match, on edges to the final state: {written[plan.closing]}"


def where(absence: Absence) -> str:
    """The part of the stream that an absence is about."""
    if absence.after is None:
        return "before the match, whose window reaches to its last row"
    if absence.before is None:
        return "behind the match, in its window"
    after, before = (" | ".join(names) for names in (absence.after, absence.before))
    return f"between the last row of {after} and the first row of {before}"


def optimisation_lines(plan: MatchPlan, executable: Executable) -> Iterator[str]:
    """What is switched on, in queries with event selection."""
    if not plan.selects:
        return
    asked = executable.task.optimisations
    window = said(asked.push_window) if has_window(plan) else "no window"
    if plan.staging is None:
        yield f"window pushed to every edge: {window}"
        yield f"constrained proceed edges: {said(asked.constrain_proceed)}"
    if executable.algorithm.engine != "breadth_first":
        yield f"run merging: none in engine {executable.algorithm.engine}"
    elif plan.output is MatchOutput.GRAPH:
        yield "run merging: none in the compressed form"
    elif ends_by_window(executable):
        yield "run merging: none, because runs come out when their window ends"
    else:
        yield f"run merging: {said(asked.merge_runs)}"


def merges_runs(executable: Executable) -> bool:
    """Whether runs of equal computation state merge."""
    return (
        executable.algorithm.engine == "breadth_first"
        and executable.task.optimisations.merge_runs
        and executable.task.output is not MatchOutput.GRAPH
        and not ends_by_window(executable)
    )


def ends_by_window(executable: Executable) -> bool:
    """Whether runs come out when their window ends."""
    return bool(compile_task(executable.task, len(executable.crossing.integers)).ends.any())


def said(on: object) -> str:
    """A switch in words."""
    return "on" if on else "off"
