"""The parts of a SASE+ query, and the variables of the plan that stand for its components.

Source: Agrawal et al., "Efficient Pattern Matching over Event Streams", section 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from matchrec.errors import sase as errors
from matchrec.plan.clauses import FirstMatches, MatchOutput, Measure, RowExpression
from matchrec.plan.expression import Scalar, Term, find_column_names
from matchrec.source import Span
from matchrec.syntax.tokens import Token


@dataclass(frozen=True, slots=True)
class Component:
    """One part of SEQ: `Stock a`, `Stock+ a[]` (Kleene plus) or `~(Stock a)` (negated)."""

    # The text that the event type must equal; None for events of any type.
    event_type: Term | None
    # The name of its variable.
    name: Token
    # Where it is written, from the type to the name.
    span: Span
    # Whether it is a Kleene plus.
    kleene: bool
    # Whether it is negated.
    negated: bool = False

    @property
    def text(self) -> str:
        """The component as it is written in the list of a strategy: `a` or `a[]`."""
        return f"{self.name.text}[]" if self.kleene else self.name.text


class SaseStrategy(Enum):
    """Event selection strategies. Source: section 2, "event selection strategy"."""

    STRICT_CONTIGUITY = "strict_contiguity"
    PARTITION_CONTIGUITY = "partition_contiguity"
    SKIP_TILL_NEXT_MATCH = "skip_till_next_match"
    SKIP_TILL_ANY_MATCH = "skip_till_any_match"


class Index(Enum):
    """Which events of a variable an identifier reads. The value is written for a variable `a`."""

    ALONE = "b"  # the only event; no Kleene plus
    FIRST = "a[1]"
    CURRENT = "a[i]"
    PREVIOUS = "a[i-1]"
    SO_FAR = "a[..i-1]"
    LAST = "a[a.LEN]"
    ALL = "a[]"

    def write_for(self, variable: str) -> str:
        """Return the index as it is written for a variable.

        >>> Index.LAST.write_for("up"), Index.ALONE.write_for("up")
        ('up[up.LEN]', 'up')
        """
        return variable if self is Index.ALONE else self.value.replace("a", variable)


@dataclass(frozen=True, slots=True)
class Identifier:
    """A read of events in an expression: `a[i].price`."""

    # The name of the component.
    name: Token
    # Which of its events are read.
    index: Index
    # The attribute; None for the events themselves, as in `count(a[])`.
    attribute: Term | None
    # Where it is written.
    span: Span

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """The names of the attribute, such as `("quote", "price")`; empty if there is none."""
        return () if self.attribute is None else find_column_names(self.attribute)

    @property
    def events(self) -> str:
        """The identifier without its attribute: `a[i]`."""
        return self.index.write_for(self.name.text)


@dataclass(frozen=True, slots=True)
class Streams:
    """How events are ordered and divided, which SASE+ leaves to the caller.

    All texts are SQL over one row.
    """

    # The keys by which events are ordered.
    order_by: tuple[str, ...]
    # The keys that divide the events.
    partition_by: tuple[str, ...] = ()
    # The expression whose value is the type of an event.
    type_column: str = "event_type"
    # Which matches are returned.
    output: MatchOutput = MatchOutput.ALL


@dataclass(frozen=True, slots=True)
class SaseQuery:
    """A SASE+ query, clause by clause."""

    # The components of PATTERN SEQ.
    components: Components
    # Where SEQ is written.
    sequence_span: Span
    # The event selection strategy.
    strategy: SaseStrategy
    # The conditions of WHERE, without equivalence tests.
    predicates: tuple[Scalar, ...]
    # The attributes of equivalence tests: all events of a match have equal values in them.
    tests: tuple[Term, ...]
    # The length of the window as time, or its number of events; None if there is no window.
    window: RowExpression | int | None = None
    # The items of RETURN. They see all events of the match.
    items: tuple[Measure, ...] = ()
    # The option FIRST k MATCHES, if it is written.
    first_matches: FirstMatches | None = None


# A Kleene plus `T+ a[]` becomes two primary variables, `a[1]` and `a[i]`, and their union variable
# `a`. Any other component becomes one variable with its name.

# The variable whose condition a complete match must satisfy.
CLOSING = "end of match"

# The names of the variables on one side of an absence; None at an end of the query.
Neighbours = tuple[str, ...] | None


def list_component_variables(component: Component) -> tuple[str, ...]:
    """Return the primary variables of a component."""
    name = component.name.text
    return (
        (Index.FIRST.write_for(name), Index.CURRENT.write_for(name))
        if component.kleene
        else (name,)
    )


@dataclass(frozen=True)
class Components:
    """The components of SEQ, in order."""

    # All components, positive and negated.
    all: tuple[Component, ...]

    @cached_property
    def positive(self) -> tuple[Component, ...]:
        """The components that are not negated."""
        return tuple(component for component in self.all if not component.negated)

    @cached_property
    def negated(self) -> tuple[Component, ...]:
        """The negated components."""
        return tuple(component for component in self.all if component.negated)

    @cached_property
    def test_points(self) -> tuple[str, ...]:
        """When conditions can be tested, in order: as a row is mapped to a variable, or at the end.

        A test point is the name of the variable, or CLOSING.
        """
        variables = [
            name for component in self.positive for name in list_component_variables(component)
        ]
        return (*variables, CLOSING)

    @cached_property
    def by_variable(self) -> Mapping[str, Component]:
        """The component of each primary variable, and of each negated one."""
        return {
            variable: component
            for component in self.all
            for variable in list_component_variables(component)
        }

    @cached_property
    def by_name(self) -> Mapping[str, Component]:
        """The component of each name that SEQ declares."""
        return {component.name.text: component for component in self.all}

    def find_component(self, name: Token, clause: str) -> Component:
        """Return the component with a name.

        Args:
            name: a name in the query.
            clause: where it is written, for the message.

        Raises:
            MatchRecognizePlanError: there is no such component.
        """
        component = self.by_name.get(name.text)
        if component is None:
            components = {component.name.text: component.text for component in self.all}
            raise errors.unknown_component(
                name.span, name=name.text, clause=clause, components=components
            )
        return component

    def find_neighbours(self, negated: Component) -> tuple[Neighbours, Neighbours]:
        """Return the positive components before and after a negated one; None if there is none."""
        index = self.all.index(negated)
        before = [part.name.text for part in self.all[:index] if not part.negated]
        after = [part.name.text for part in self.all[index:] if not part.negated]
        return tuple(before[-1:]) or None, tuple(after[:1]) or None
