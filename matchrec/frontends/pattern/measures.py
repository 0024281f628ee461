"""The columns of the result of a pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from matchrec.frontends.pattern.conditions import later
from matchrec.plan.clauses import Measure
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    MatchNumber,
    Navigation,
    Reference,
    Semantics,
    Term,
)
from matchrec.source import Span

FINAL = Semantics.FINAL


def match_measures(order: str, stages: Iterable[str], columns: Iterable[str]) -> Iterator[Measure]:
    """Number and times of a match, then for each stage the array of its events."""
    yield measure("match_number", MatchNumber())
    yield measure("start_time", ColumnReference(Navigation(end=End.FIRST, semantics=FINAL), order))
    yield measure("end_time", ColumnReference(Navigation(semantics=FINAL), order))
    event = f"struct({', '.join(columns)})"
    for stage in stages:
        term = Term((ColumnReference(Navigation(stage), event),), Span(0, 0))
        yield measure(stage, Aggregate("collect_list", stage, (term,), FINAL))


def event_measures() -> Iterator[Measure]:
    """Number of the match, and the stage of an event."""
    yield measure("match_number", MatchNumber())
    yield measure("stage", Classifier(Navigation()))


def measure(name: str, reference: Reference) -> Measure:
    return Measure(name, Term((reference,), Span(0, 0)))


def end_of(end: End, order: str, window: str) -> Term:
    """When a window ends that begins at the first or at the last row of a match."""
    navigation = Navigation(end=end, semantics=FINAL)
    return Term((ColumnReference(navigation, later(order, window)),), Span(0, 0))
