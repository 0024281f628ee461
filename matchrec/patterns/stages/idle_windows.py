"""Find the windows of a Pattern that exclude no match. The user gets a warning for each of them.

    Pattern.begin("a").times(1, gap=5)                          there is no second repetition
    Pattern.begin("a").one_or_more(gap=9).within(5)             the match is shorter than the gap
    Pattern.begin("a").within(5, "previous_to_current")         no event comes before the first one
    Pattern.begin("a").within(5)                                a match has only one event

Flink CEP accepts these windows and does not warn.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.patterns.stages.checks import find_match_window
from matchrec.patterns.stages.tree import Stage, walk_stages
from matchrec.plan.stages import IdleReason, IdleWindow


def find_idle_windows(stages: tuple[Stage, ...]) -> Iterator[IdleWindow]:
    """Yield the windows that exclude no match.

    Gaps come first, then a neighbour window, then the window of the whole match.

    >>> from matchrec.patterns.stages.builder import Pattern
    >>> pattern = Pattern.begin("a").next("b").times(1, gap=5)
    >>> [(window.reason, window.stage) for window in find_idle_windows(pattern._stages)]
    [(<IdleReason.ONE_REPETITION: 'one repetition'>, 'stage `b`')]
    """
    match_window = find_match_window(stages)
    for stage in walk_stages(stages):
        gap = stage.repetition_window
        if gap is None:
            continue
        if stage.most == 1:
            yield IdleWindow(IdleReason.ONE_REPETITION, stage.label, str(gap))
        elif match_window is not None and gap >= match_window:
            yield IdleWindow(IdleReason.LONGER_THAN_MATCH, stage.label, str(gap), str(match_window))
    first_stage = find_first_event(stages)
    if first_stage is not None and first_stage.neighbour_window is not None:
        yield IdleWindow(
            IdleReason.FIRST_EVENT, first_stage.label, str(first_stage.neighbour_window)
        )
    has_one_event = first_stage is stages[0] and len(stages) == 1
    if match_window is not None and has_one_event:
        yield IdleWindow(IdleReason.ONE_EVENT, stages[0].label, str(match_window))


def find_first_event(stages: tuple[Stage, ...]) -> Stage | None:
    """Return the first single stage if it takes only the first event of a match; otherwise None.

    A stage takes later events, too, if the stage or a group around it is repeated.
    """
    first_stage = stages[0]
    if first_stage.most != 1:
        return None
    return find_first_event(first_stage.stages) if first_stage.is_group else first_stage
