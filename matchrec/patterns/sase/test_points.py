"""Find the test point of a conjunct: the variable to whose condition it belongs.

A conjunct is tested as soon as all events that it reads are known:

    the conjunct reads       it is tested when
    b, a[1]                  a row is mapped to that variable (begin edge)
    a[i], a[i-1], a[..i-1]   a row is mapped to a[i] (take edge)
    a[a.LEN], a[], a.LEN     a row begins the next component, or the match ends (proceed edge)

If a conjunct reads several of these events, it is tested when the last of them is known. A conjunct
that reads a negated component is instead a condition on the events that must not occur.

Source: Agrawal et al., 2008, section 3.2, step 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matchrec.errors import sase_predicates as errors
from matchrec.patterns.sase import nodes
from matchrec.patterns.sase.nodes import Component, Components
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Reference,
    Scalar,
    find_variable,
    list_inner_references,
)
from matchrec.source import Span


class EventReading(NamedTuple):
    """The events that a reference reads, and the test point at which they are known."""

    # The component whose events are read.
    component: Component
    # The first test point at which all these events are known; the name of the component if it is
    # negated.
    test_point: str
    # Where the reference is written.
    span: Span
    # The attribute that is read: see `_find_attribute`.
    attribute: str


def find_test_point(conjunct: Scalar, components: Components) -> str:
    """Return the variable to whose condition a conjunct belongs, or END_OF_MATCH.

    A conjunct that reads no events, such as `:limit > 0`, is tested with the first event.

    `a[i].price < b.price` raises an error: by the time `b` is known, `a[i]` could be any event of
    the Kleene plus.

    Raises:
        MatchRecognizeError: the conjunct reads two negated components, or reads `a[i]` and events
            that become known later.
    """
    readings = [_find_reading(reference, components) for reference in conjunct.references]
    if not readings:
        return components.test_points[0]
    last_reading = _find_negated_reading(readings)
    if last_reading is None:
        last_reading = max(
            readings, key=lambda reading: components.test_points.index(reading.test_point)
        )
    for reading in readings:
        name = reading.component.name.text
        reads_current = reading.test_point == nodes.Index.CURRENT.write_for(name)
        if reads_current and reading.test_point != last_reading.test_point:
            raise errors.predicate_on_later_event(
                reading.span, last_reading.span, name=name, attribute=reading.attribute
            )
    return last_reading.test_point


def _find_negated_reading(readings: Sequence[EventReading]) -> EventReading | None:
    """Return the first reading of a negated component; None if no negated component is read.

    Raises:
        MatchRecognizeError: two negated components are read.
    """
    negated_readings = [reading for reading in readings if reading.component.is_negated]
    if not negated_readings:
        return None
    first_reading = negated_readings[0]
    for other_reading in negated_readings:
        if other_reading.component != first_reading.component:
            names = (first_reading.component.name.text, other_reading.component.name.text)
            raise errors.predicate_on_two_negated(
                first_reading.span, other_reading.span, names=names
            )
    return first_reading


def _find_attribute(reference: Reference) -> str:
    """Return the first attribute that a reference reads; "x" if it reads none by its name."""
    references: tuple[Reference, ...] = (reference,)
    if isinstance(reference, Aggregate):
        references = list_inner_references(reference)
    for column in references:
        if isinstance(column, ColumnReference) and column.column_path:
            return ".".join(column.column_path)
    return "x"


def _find_reading(reference: Reference, components: Components) -> EventReading:
    """Return the component whose events a reference reads, and when these events are known."""
    assert isinstance(reference, ColumnReference | Aggregate), reference
    variable = find_variable(reference)
    span = reference.span
    assert variable is not None
    assert span is not None
    attribute = _find_attribute(reference)
    component = components.by_variable.get(variable)
    if component is not None:
        return EventReading(component, variable, span, attribute)
    # The union variable of a Kleene plus: the reference reads events before `a[i]`, the last event,
    # or all events.
    component = components.by_name[variable]
    if isinstance(reference, Aggregate):
        is_before_current = reference.excludes_current_row
    else:
        is_before_current = reference.navigation.logical_offset > 0
    current_event = nodes.Index.CURRENT.write_for(variable)
    if is_before_current:
        return EventReading(component, current_event, span, attribute)
    point_after_current = components.test_points[components.test_points.index(current_event) + 1]
    return EventReading(component, point_after_current, span, attribute)
