"""The messages of warnings about arguments and calls that have no effect.

In the arguments, `stage` is a text that names a stage of a Pattern, such as "stage `a`".
"""

from __future__ import annotations

from matchrec.errors.surface import current_surface
from matchrec.errors.warning_classes import NoEffectWarning


def timeouts_without_window() -> NoEffectWarning:
    """Return the warning for timeouts=True and a Pattern without a window."""
    timeouts = current_surface().name_option("timeouts")
    return NoEffectWarning(
        f"`{timeouts}` has no effect, because the pattern has no window",
        notes=("without a window, no run times out",),
        hint=f'add .within("10 minutes") to the pattern, or leave {timeouts} out',
    )


def gap_without_repetition(*, stage: str) -> NoEffectWarning:
    """Return the warning for times(1, gap=...).

    Args:
        stage: the label of the stage, such as "stage `b`".
    """
    return NoEffectWarning(
        f"`gap` of {stage} has no effect, because the stage occurs only once",
        notes=("a gap limits the time from one repetition to the next",),
        hint="leave gap out, or raise the number of repetitions",
    )


def gap_beyond_window(*, stage: str, gap: str, window: str) -> NoEffectWarning:
    """Return the warning for a gap that is not shorter than the window of the match.

    Args:
        stage: the label of the stage, such as "stage `b`".
        gap: the gap.
        window: the window from the first to the last event of the match.
    """
    return NoEffectWarning(
        f"`gap` of {stage} has no effect, because the window of the match is not longer "
        "than the gap",
        notes=(f"the gap is {gap}, and the window of the match is {window}",),
        hint="write a shorter gap, or leave gap out",
    )


def neighbour_window_of_first_event(*, stage: str) -> NoEffectWarning:
    """Return the warning for within(..., "previous_to_current") at the first event of matches.

    Args:
        stage: the label of the stage, such as "stage `a`".
    """
    return NoEffectWarning(
        f'`within(..., "previous_to_current")` at {stage} has no effect, because no event comes '
        "before it",
        notes=("this window limits the time since the event accepted before",),
        hint="write it after a later stage, or leave it out",
    )


def window_of_one_event() -> NoEffectWarning:
    """Return the warning for a window of a Pattern whose matches have one event."""
    return NoEffectWarning(
        "`within` has no effect, because a match has only one event",
        notes=("the window limits the time from the first to the last event of a match",),
        hint="leave within(...) out, or add a stage",
    )


# For a query in SQL: the arguments of `transpile` that have no effect, and why.
_IDLE_FOR_SQL = {
    "events": "a query in SQL names its tables itself",
    "order_by": "a query in SQL has its own ORDER BY",
    "partition_by": "a query in SQL has its own PARTITION BY",
    "output": "a query in SQL says itself which matches it returns",
}


def argument_not_for_conversion(*, argument: str, is_pattern: bool) -> NoEffectWarning | None:
    """Return the warning for an argument of `transpile` that it does not use.

    Args:
        argument: the name of the argument.
        is_pattern: whether the query is a Pattern; otherwise the query is SQL.

    Returns:
        None if `transpile` uses the argument for such a query.
    """
    if argument == "type_column":
        reason = "only events of SASE+ have a type"
    elif argument in _IDLE_FOR_SQL and not is_pattern:
        reason = _IDLE_FOR_SQL[argument]
    else:
        return None
    return argument_without_effect(argument=argument, reason=reason)


def per_without_aggregates() -> NoEffectWarning:
    """Return the warning for explain(per=...) without aggregates."""
    aggregates = current_surface().name_option("aggregates")
    return argument_without_effect(
        argument="per", reason=f"without `{aggregates}` the query itself is explained"
    )


def match_with_between() -> NoEffectWarning:
    """Return the warning for plot(between=..., match=...)."""
    between = current_surface().name_option("between")
    return argument_without_effect(
        argument="match", reason=f"`{between}` says where each match begins and ends"
    )


def allow_anyone_with_token() -> NoEffectWarning:
    """Return the warning for serve(allow_anyone=True, token=...)."""
    return argument_without_effect(
        argument="allow_anyone", reason="clients must send the token anyway"
    )


def allow_anyone_on_this_machine(*, host: str) -> NoEffectWarning:
    """Return the warning for serve(allow_anyone=True) on an address of this machine only.

    Args:
        host: the address, such as 127.0.0.1.
    """
    option = current_surface().name_option("host")
    return argument_without_effect(
        argument="allow_anyone",
        reason=f"other machines cannot reach {host}",
        hint=f"pass {option} with an address of this machine in the network, or 0.0.0.0 for all",
    )


def argument_without_effect(*, argument: str, reason: str, hint: str = "") -> NoEffectWarning:
    """Return the warning for an argument that a call does not use.

    Args:
        argument: the name of the argument.
        reason: why the call does not use the argument, to follow "because".
        hint: what the user should do; empty for the advice to leave the argument out.
    """
    option = current_surface().name_option(argument)
    return NoEffectWarning(
        f"`{option}` has no effect, because {reason}", hint=hint or f"leave {option} out"
    )
