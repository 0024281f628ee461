"""A pattern as the calls that build it."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.frontends.pattern.tree import All, Condition, Contiguity, Either, Stage, Test


def shown(stages: tuple[Stage, ...]) -> str:
    """The calls, in an order in which each is allowed."""
    return "Pattern." + ".".join(
        call for place, stage in enumerate(stages) for call in calls(stage, first=place == 0)
    )


def calls(stage: Stage, *, first: bool) -> Iterator[str]:
    """The calls of one stage."""
    content = repr(stage.content) if isinstance(stage.content, str) else shown(stage.content)
    yield f"{'begin' if first else append_call(stage)}({content})"
    yield from conditions(stage.condition)
    if stage.quantified:
        yield quantifier(stage)
    if stage.optional and not is_from_none(stage):
        yield "optional()"
    if stage.greedy:
        yield "greedy()"
    if stage.inner is not None:
        yield "consecutive()" if stage.inner is Contiguity.STRICT else "allow_combinations()"
    if stage.until is not None:
        yield f"until({value(stage.until)})"
    if stage.within is not None:
        yield f"within('{stage.within}')"
    if stage.near is not None:
        yield f"within('{stage.near}', 'previous_to_current')"


def append_call(stage: Stage) -> str:
    """The call that appends a stage."""
    if not stage.negated:
        return stage.contiguity.value
    return "not_next" if stage.contiguity is Contiguity.STRICT else "not_followed_by"


def is_from_none(stage: Stage) -> bool:
    """Whether it is written `times(0, n)`."""
    return stage.optional and stage.least == 1 and stage.most not in (1, None)


def quantifier(stage: Stage) -> str:
    """The call that repeats a stage."""
    gap = f", gap='{stage.gap}'" if stage.gap is not None else ""
    if stage.most is None and stage.least == 1:
        return f"one_or_more({gap.removeprefix(', ')})"
    if stage.most is None:
        return f"times_or_more({stage.least}{gap})"
    least = 0 if is_from_none(stage) else stage.least
    most = "" if stage.most == least else f", {stage.most}"
    return f"times({least}{most}{gap})"


def conditions(condition: Condition | None) -> Iterator[str]:
    """The calls of where and or_where, which are read from left to right."""
    match condition:
        case All((first, *others)):
            yield from conditions(first)
            yield from (f"where({value(one)})" for one in others)
        case Either((first, *others)):
            yield from conditions(first)
            yield from (f"or_where({value(one)})" for one in others)
        case Test():
            yield f"where({value(condition)})"


def value(condition: Condition) -> str:
    """The argument of a call."""
    assert isinstance(condition, Test), condition
    return repr(condition.expression)
