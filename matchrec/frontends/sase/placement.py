"""Where a conjunct is tested: at its last identifier, the one that is bound latest.

    b, a[1]                  as a row is mapped to that variable (begin edge)
    a[i], a[i-1], a[..i-1]   as a row is mapped to a[i] (take edge)
    a[a.LEN], a[], a.LEN     as a row begins the next component, or at the end (proceed edge)

What mentions a negated variable is tested of the events that must not be there.
Source: section 3.2, step 2.
"""

from __future__ import annotations

from matchrec.dataclass import dataclass
from matchrec.errors.sase import expression as errors
from matchrec.frontends.sase.components import Components
from matchrec.frontends.sase.syntax.nodes import Index
from matchrec.plan.expression import Aggregate, ColumnReference, Reference, Scalar, references
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reference reads. element: it is `a[i]` and the like, of one event after another."""

    variable: str
    place: str
    element: bool
    span: Span


def place(conjunct: Scalar, components: Components) -> str:
    """The variable to whose condition a conjunct belongs."""
    found = [reading(reference, components) for reference in references(conjunct)]
    negated = [one for one in found if is_negated(one.variable, components)]
    for other in negated[1:]:
        if other.variable != negated[0].variable:
            variables = (negated[0].variable, other.variable)
            raise errors.two_negated(variables, (negated[0].span, other.span))
    order = components.order
    last = negated[0] if negated else None
    if last is None:
        last = max(found, key=lambda one: order.get(one.place, len(order)), default=None)
    if last is None:
        return components.places[0]
    for one in found:
        if one.element and one.place != last.place:
            raise errors.element_elsewhere(one.variable, (one.span, last.span))
    return last.place


def is_negated(name: str, components: Components) -> bool:
    """Whether a variable is that of a negated component."""
    component = components.named(name)
    return component is not None and component.negated


def reading(reference: Reference, components: Components) -> Reading:
    """What a reference reads, and the place from which on it is bound."""
    assert isinstance(reference, ColumnReference | Aggregate), reference
    assert reference.span is not None
    if isinstance(reference, Aggregate):
        name, element = reference.variable, reference.so_far
    else:
        name, element = reference.navigation.variable, reference.navigation.logical_offset > 0
    assert name is not None
    component = components.by_variable.get(name)
    if component is not None:
        written = component.name.text
        return Reading(written, name, name == Index.CURRENT.of(written), reference.span)
    component = components.named(name)
    assert component is not None
    if component.negated:
        return Reading(name, name, element=False, span=reference.span)
    where = Index.CURRENT.of(name) if element else components.following(name)
    return Reading(name, where, element, reference.span)
