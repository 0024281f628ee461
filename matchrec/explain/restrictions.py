"""Say in words which rows and matches a plan allows besides its row pattern and conditions.

These are the event selection strategy, the windows, and the rows that must be absent.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors.wording import show_count
from matchrec.explain.condition_texts import show_conditions
from matchrec.plan.clauses import Absence, Gap, MatchOutput, Within
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.stages import Skip


def describe_selection(plan: MatchPlan) -> Iterator[str]:
    """Yield lines that say which rows can be skipped and which matches are output.

    Yield nothing about what is as in plain SQL.
    """
    staging = plan.staging
    if staging is not None:
        yield "each stage has its own rule for skipping events: see the ignore edges"
        if staging.skip is not None:
            yield describe_next_start(staging.skip)
        if staging.timeouts is not None:
            yield "runs that time out are output, too"
    elif plan.needs_event_selection:
        yield f"{plan.selection.words}: {plan.selection.meaning}"
    says_next_start = staging is not None and staging.skip is not None
    is_plain_sql = not plan.needs_event_selection and plan.output is MatchOutput.PREFERRED
    if not says_next_start and not is_plain_sql:
        yield f"{plan.output.words}: {plan.output.meaning}"
    if plan.first_matches is not None:
        yield f"{plan.first_matches.words}: {plan.first_matches.meaning}"


def describe_next_start(skip: Skip) -> str:
    """Return a line that says where the next match of stages can begin after a match."""
    qualifier = "" if skip.variable is None else f" of {skip.variable}"
    event = f"its {skip.to.end.value.lower()} event{qualifier}"
    begins = f"after {event}" if skip.to.past else f"at or after {event}"
    result = "is an error" if skip.fails_on_miss else "excludes no other match"
    note = f"; a match without such an event {result}" if skip.variable is not None else ""
    return f"in the order of first events, a match is followed by one that begins {begins}{note}"


def has_window(plan: MatchPlan) -> bool:
    """Return whether a run ends because of the distance between its rows."""
    return plan.within_rows is not None or plan.within is not None or len(plan.gaps) > 0


def describe_windows(plan: MatchPlan) -> Iterator[str]:
    """Yield lines that say how far apart the rows of a match can be, and where that is tested."""
    if not has_window(plan):
        return
    if plan.within_rows is not None:
        yield f"a match spans at most {show_count(plan.within_rows, 'row')} of the partition"
    if plan.within is not None:
        yield describe_match_window(plan, plan.within)
    for gap in plan.gaps:
        yield describe_gap(gap)
    yield "the search tests this at every row, as `in the window`"


def describe_match_window(plan: MatchPlan, within: Within) -> str:
    """Return a line that says how far apart the first and the last row of a match can be.

    If conditions form the window, the line names their variables.
    """
    order = plan.order_by[0].expression.text
    distance = within.distance
    if distance is None or not distance.variables:
        interval = within.interval.text
        return f"the last row is less than {interval} after the first row, by {order}"
    variables = ", ".join(distance.variables)
    conditions = "conditions" if len(distance.variables) > 1 else "condition"
    source = f"from the {conditions} of {variables}"
    return f"the last row is {distance.text} after the first row, by {order} ({source})"


def describe_gap(gap: Gap) -> str:
    """Return a line that says how far apart two rows of a match can be."""
    if gap.to is None:
        return f"each row is less than {gap.interval.text} after the row before it in the match"
    before = f"the last row of {gap.after} before it"
    return f"each row of {gap.to} is less than {gap.interval.text} after {before}"


def describe_absences(plan: MatchPlan) -> Iterator[str]:
    """Yield a line for each negated component, with its condition, and the closing condition."""
    conditions = show_conditions(plan)
    for absence in plan.absences:
        condition = conditions.get(absence.variable, "true")
        yield f"no row for {absence.variable} {locate_absence(absence)}: {condition}"
    if plan.match_condition is not None:
        yield f"the whole match, when it is complete: {conditions[plan.match_condition]}"


def locate_absence(absence: Absence) -> str:
    """Return where no row is allowed to satisfy the condition of a negated component."""
    if absence.after is None:
        return "before the match, less than a window before its last row"
    if absence.before is None:
        return "after the match, in its window"
    after, before = (" | ".join(names) for names in (absence.after, absence.before))
    return f"between the last row of {after} and the first row of {before}"
