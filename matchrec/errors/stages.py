"""Errors in how a Pattern is built. `stage` is what to call a stage, e.g. "stage `a`"."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    listed,
    nearest,
)
from matchrec.source import Span

# Names


def bad_name(name: str, call: str) -> MatchRecognizePlanError:
    """A name that no stage can have."""
    return MatchRecognizePlanError(
        f"{call}: `{name}` cannot be the name of a stage",
        notes=("a name is not empty, has no colon, and is not `$endState$`",),
        hint=f'write e.g. {call}("a")',
    )


def duplicate_name(name: str, known: str) -> MatchRecognizePlanError:
    """Two stages of one name; case does not count, as stages become columns."""
    also = "" if name == known else f", as `{known}`"
    return MatchRecognizePlanError(
        f"stage `{name}` is in the pattern already{also}",
        notes=("stages become columns, whose case does not count",),
        hint="give one of them another name",
    )


def no_stages() -> MatchRecognizePlanError:
    """A pattern that nothing was appended to."""
    return MatchRecognizePlanError(
        "the pattern has no stages", hint='begin with one: Pattern.begin("name")'
    )


def empty_group(call: str) -> MatchRecognizePlanError:
    """A group without stages."""
    return MatchRecognizePlanError(
        f"{call} of a pattern without stages", hint=f"write {call}(Pattern.begin(...))"
    )


# NOT


def group_forbidden(call: str) -> MatchRecognizeUnsupportedError:
    """A NOT of a whole pattern."""
    return MatchRecognizeUnsupportedError(
        f"{call} of a group",
        notes=("what must not be there is one event",),
        hint=f'write {call}("name").where(...), once for each event that must not be there',
    )


def not_after_optional(before: str, name: str, call: str) -> MatchRecognizeUnsupportedError:
    """A NOT directly after what may be left out."""
    return MatchRecognizeUnsupportedError(
        f"{call}({name!r}) directly after {before}, which is optional",
        notes=("a NOT counts from the event accepted before it, which may be missing",),
        hint=f"leave out optional() of it, or append a stage before {call}",
    )


def quantified_not(stage: str, call: str) -> MatchRecognizePlanError:
    """A NOT that is repeated, optional or greedy."""
    return MatchRecognizePlanError(
        f"{call}() of {stage}, which is a NOT",
        notes=("no event is accepted for it, so there is nothing to repeat or to leave out",),
        hint=f"call {call}() before not_next or not_followed_by, or after the next stage",
    )


def open_end(stage: str) -> MatchRecognizePlanError:
    """A pattern that ends with not_followed_by and has no window."""
    return MatchRecognizePlanError(
        f"the pattern ends with not_followed_by of {stage} and has no window",
        notes=("that there is no such event is known only when the window has ended",),
        hint='add .within("10 minutes"), or append a stage',
    )


# Conditions


def condition_of_group(stage: str, call: str) -> MatchRecognizeUnsupportedError:
    """A condition of a whole pattern."""
    return MatchRecognizeUnsupportedError(
        f"{call}() of {stage}",
        notes=("a condition is about one event",),
        hint=f"call {call}() on the stages inside of the group",
    )


def empty_condition(stage: str, call: str) -> MatchRecognizePlanError:
    """A condition without text."""
    return MatchRecognizePlanError(
        f"{call}() of {stage} is empty", hint=f'write e.g. {call}("price > 10"), or leave it out'
    )


def until_without_loop(stage: str) -> MatchRecognizePlanError:
    """A stop condition where there is no loop."""
    return MatchRecognizePlanError(
        f"until() of {stage}, which is no loop",
        notes=("until ends what would go on without a bound",),
        hint="call one_or_more() or times_or_more(n) before until()",
    )


def until_twice(stage: str) -> MatchRecognizePlanError:
    """Two stop conditions."""
    return MatchRecognizePlanError(
        f"until() of {stage} for the second time",
        hint="join the two conditions with OR in one until()",
    )


# Quantifiers


def two_quantifiers(stage: str, call: str) -> MatchRecognizePlanError:
    """A second quantifier."""
    return MatchRecognizePlanError(
        f"{call}() of {stage}, which has a quantifier already",
        notes=("one of one_or_more(), times(n), times(m, n) and times_or_more(n)",),
        hint="leave one of them out, or put the stage into a group and repeat that",
    )


def too_many_times(stage: str, limit: int) -> MatchRecognizeUnsupportedError:
    """`times(10**10)`."""
    return MatchRecognizeUnsupportedError(
        f"{stage} is repeated over {limit:,} times",
        hint="write times_or_more(n) for no upper bound, or lower it",
    )


def too_few_times(stage: str, least: int, lowest: int) -> MatchRecognizePlanError:
    """`times(0)`, `times(-1, 2)`."""
    return MatchRecognizePlanError(
        f"{stage} {least} times: the least is {lowest}",
        hint="write times(n) with n from 1 on; times(0, n) or optional() for what may be missing",
    )


def most_below_least(stage: str, least: int, most: int) -> MatchRecognizePlanError:
    """`times(3, 2)`, `times(0, 0)`."""
    return MatchRecognizePlanError(
        f"{stage} {least} to {most} times",
        hint=f"write times({most}, {least})" if most > 0 else "leave the stage out",
    )


def needs_quantifier(stage: str, call: str) -> MatchRecognizePlanError:
    """What only repeated stages can be."""
    return MatchRecognizePlanError(
        f"{call}() of {stage}, which is not repeated",
        hint=f"call one_or_more(), times(n) or times_or_more(n) before {call}()",
    )


def optional_twice(stage: str) -> MatchRecognizePlanError:
    """Optional for the second time; `times(0, n)` is optional."""
    return MatchRecognizePlanError(
        f"optional() of {stage}, which is optional already",
        notes=("times(0, n) is optional",),
        hint="leave optional() out",
    )


def optional_after_greedy(stage: str, before: str) -> MatchRecognizePlanError:
    """An optional stage directly after a greedy one."""
    return MatchRecognizePlanError(
        f"optional {stage} directly after greedy {before}",
        hint=f"leave out greedy() of {before}, or optional() of {stage}",
    )


def greedy_group(stage: str) -> MatchRecognizePlanError:
    """A group that is greedy."""
    return MatchRecognizePlanError(
        f"greedy() of {stage}",
        notes=("only a single stage can be greedy",),
        hint="leave greedy() out, or call it on stages inside of the group",
    )


def greedy_combinations(stage: str) -> MatchRecognizePlanError:
    """A greedy stage that allows combinations."""
    return MatchRecognizePlanError(
        f"greedy() and allow_combinations() of {stage}",
        notes=("a greedy stage takes every event that it can, so it skips none of them",),
        hint="leave one of them out",
    )


def two_contiguities(stage: str, before: str, call: str) -> MatchRecognizePlanError:
    """Contiguity inside of a stage for the second time."""
    return MatchRecognizePlanError(
        f"{call}() of {stage} after {before}()", hint="leave one of them out"
    )


# Skip strategies


def throws_without_stage(strategy: str) -> MatchRecognizePlanError:
    """throw_on_miss of a strategy that goes to no stage."""
    return MatchRecognizePlanError(
        f"throw_on_miss() of {strategy}, which skips to no stage",
        hint="leave it out, or write skip_to_first(stage) or skip_to_last(stage)",
    )


def unknown_skip_target(name: str, known: Iterable[str], call: str) -> MatchRecognizePlanError:
    """A skip to a stage that the pattern has not, or to a NOT."""
    known = list(known)
    meant = nearest(name, known) or known[0]
    return MatchRecognizePlanError(
        f"{call}({name!r}): no stage of the pattern has events of that name",
        notes=(f"stages: {listed(known)}",),
        hint=f"write {call}({meant!r})",
    )


# What a condition reads


def not_of_an_event(function: str, span: Span | None) -> MatchRecognizePlanError:
    """CLASSIFIER or MATCH_NUMBER in a condition."""
    return MatchRecognizePlanError(
        f"{function} in a condition of a stage",
        span,
        notes=("a condition is about one event that is not accepted yet",),
        hint="leave it out; to read events accepted before, write last(stage.x)",
    )


def reads_neighbour(span: Span | None) -> MatchRecognizeUnsupportedError:
    """PREV or NEXT."""
    return MatchRecognizeUnsupportedError(
        "PREV and NEXT in a condition of a stage",
        span,
        notes=("neighbours in the stream need not be events of the pattern",),
        hint="write last(stage.x) for the event accepted last, or a strict stage before this one",
    )


def of_no_stage(function: str, span: Span | None) -> MatchRecognizePlanError:
    """An aggregate over columns without a stage."""
    return MatchRecognizePlanError(
        f"{function} in a condition of a stage is over no stage",
        span,
        notes=("a column alone is that of the event which the condition is about",),
        hint=f"write {function}(stage.x)" + (", or count(stage)" if function == "count" else ""),
    )


# Other languages


def not_in_sql(what: str, obstacle: str) -> MatchRecognizeUnsupportedError:
    """A pattern that the clause cannot say."""
    return MatchRecognizeUnsupportedError(
        f"{what} {obstacle}, which MATCH_RECOGNIZE cannot say",
        notes=("its event selection is one strategy for the whole row pattern",),
        hint="use matchrec.detect",
    )
