"""Write stages as the calls of `Pattern` that build them."""

from __future__ import annotations

from matchrec.patterns.stages.tree import Stage
from matchrec.plan.stages import Contiguity


def show_pattern(stages: tuple[Stage, ...]) -> str:
    """Return the calls that build the stages, in an order in which each call is allowed.

    >>> stages = (Stage("a", Contiguity.STRICT), Stage("b", Contiguity.RELAXED, is_greedy=True))
    >>> show_pattern(stages)
    "Pattern.begin('a').followed_by('b').greedy()"
    """
    calls = ["Pattern"]
    for index, stage in enumerate(stages):
        calls += show_stage_calls(stage, is_first=index == 0)
    return ".".join(calls)


def show_stage_calls(stage: Stage, *, is_first: bool) -> list[str]:
    """Return the calls that build one stage: `["begin('a')", "where('x > 1')", "greedy()"]`."""
    content = show_pattern(stage.stages) if stage.is_group else repr(stage.name)
    calls = [f"{name_append_call(stage, is_first=is_first)}({content})"]
    for condition in stage.conditions:
        call = "or_where" if condition.is_alternative else "where"
        calls.append(f"{call}({condition.python_code})")
    if stage.is_quantified:
        calls.append(show_quantifier(stage))
    if stage.is_optional and not is_repeated_from_zero(stage):
        calls.append("optional()")
    if stage.is_greedy:
        calls.append("greedy()")
    if stage.inner_contiguity is not None:
        is_strict = stage.inner_contiguity is Contiguity.STRICT
        calls.append("consecutive()" if is_strict else "allow_combinations()")
    if stage.until is not None:
        calls.append(f"until({stage.until.python_code})")
    if stage.match_window is not None:
        calls.append(f"within('{stage.match_window}')")
    if stage.neighbour_window is not None:
        calls.append(f"within('{stage.neighbour_window}', 'previous_to_current')")
    return calls


def name_append_call(stage: Stage, *, is_first: bool) -> str:
    """Return the name of the call that appends a stage: `followed_by` or `not_next`."""
    if is_first:
        return "begin"
    if not stage.is_negated:
        return stage.contiguity.value
    return "not_next" if stage.contiguity is Contiguity.STRICT else "not_followed_by"


def is_repeated_from_zero(stage: Stage) -> bool:
    """Return whether `times(0, n)` builds the stage, because this call also makes it optional."""
    return stage.is_optional and stage.least == 1 and stage.most not in (1, None)


def show_quantifier(stage: Stage) -> str:
    """Return the call that repeats a stage: `times(2, 3)` or `one_or_more(gap='5 minutes')`.

    The stage must be quantified.
    """
    arguments: list[str] = []
    if stage.most is None and stage.least == 1:
        call = "one_or_more"
    elif stage.most is None:
        call = "times_or_more"
        arguments.append(str(stage.least))
    else:
        call = "times"
        least = 0 if is_repeated_from_zero(stage) else stage.least
        arguments.append(str(least))
        if stage.most != least:
            arguments.append(str(stage.most))
    if stage.repetition_window is not None:
        arguments.append(f"gap='{stage.repetition_window}'")
    return f"{call}({', '.join(arguments)})"
