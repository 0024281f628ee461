"""The parts of a SASE+ query, and the names of the plan's variables that its components become.

    PATTERN SEQ(Stock+ a[], ~(News n), Stock b)     three `Component`s
    WHERE skip_till_next_match {                    a `SaseStrategy`
        [symbol]                                    the attribute of an equivalence test
        AND a[1].price < b.price }                  a predicate with two `Identifier`s
    WITHIN 1 hour                                   a window
    RETURN b.price                                  an item: a measure of the plan

A Kleene plus `Stock+ a[]` becomes two primary variables of the plan, `a[1]` and `a[i]`, and their
union variable `a`. Any other component becomes one variable with its name.

Source: Agrawal et al., "Efficient Pattern Matching over Event Streams", section 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from matchrec.errors import sase as errors
from matchrec.plan.clauses import FirstMatches, MatchOutput, Measure, RowExpression
from matchrec.plan.expression import Scalar, Term, find_column_path
from matchrec.source import Span
from matchrec.syntax.tokens import Token


@dataclass(frozen=True, slots=True)
class Component:
    """One part of SEQ: `Stock a`, `Stock+ a[]` (Kleene plus) or `~(Stock a)` (negated)."""

    # The text that the event type must equal; None for events of any type.
    event_type: Term | None
    # The name without brackets: `a`.
    name: Token
    # Where the component is written, from the type to the name.
    span: Span
    # Whether the component is a Kleene plus: one or more events.
    is_kleene_plus: bool
    # Whether the component is negated: no such event may occur between its neighbours.
    is_negated: bool = False

    @property
    def text(self) -> str:
        """Return the component without its type, as a strategy lists it: `a` or `a[]`."""
        return f"{self.name.text}[]" if self.is_kleene_plus else self.name.text


class SaseStrategy(Enum):
    """Which events a match may skip. Source: section 2, "event selection strategy"."""

    # No event.
    STRICT_CONTIGUITY = "strict_contiguity"
    # Events that differ from the match's events in the attributes of equivalence tests.
    PARTITION_CONTIGUITY = "partition_contiguity"
    # Events that the match could not select.
    SKIP_TILL_NEXT_MATCH = "skip_till_next_match"
    # Any event.
    SKIP_TILL_ANY_MATCH = "skip_till_any_match"


class Index(Enum):
    """Which events of a component an identifier reads.

    The value is the text of an identifier without its attribute, for a Kleene plus `a` or another
    component `b`.
    """

    # The only event of a component that is not a Kleene plus.
    ALONE = "b"
    # The first event.
    FIRST = "a[1]"
    # The event that is being tested: each event in turn, from the second one on.
    CURRENT = "a[i]"
    # The event before the current one.
    PREVIOUS = "a[i-1]"
    # All events before the current one.
    SO_FAR = "a[..i-1]"
    # The last event.
    LAST = "a[a.LEN]"
    # All events.
    ALL = "a[]"

    def write_for(self, name: str) -> str:
        """Return the value of this member for a component with another name than in the value.

        >>> Index.LAST.write_for("up"), Index.ALONE.write_for("up")
        ('up[up.LEN]', 'up')
        """
        return name if self is Index.ALONE else self.value.replace("a", name)


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name in an expression that reads events of one component: `a[i].price`."""

    # The name of the component.
    name: Token
    # Which events of the component are read.
    index: Index
    # The attribute, as a column without a variable; None for the events themselves, as in
    # `count(a[])`.
    attribute: Term | None
    # Where the identifier is written.
    span: Span

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """Return the names of the attribute: `("quote", "price")`; empty if there is none."""
        return () if self.attribute is None else find_column_path(self.attribute)

    @property
    def events(self) -> str:
        """Return the identifier without its attribute: `a[i]`."""
        return self.index.write_for(self.name.text)


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The choices that the text of a query leaves to the caller, such as the order of events.

    All texts are SQL over one event, which is a row of the input.
    """

    # The keys by which events are ordered.
    order_by: tuple[str, ...]
    # The keys that divide the events into partitions; a match has events of one partition.
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
    equivalent_attributes: tuple[Term, ...]
    # The length of the window, as time or as a number in the unit of the column that orders the
    # events; or an integer, the number of events of the window. None if there is no window.
    window: RowExpression | int | None = None
    # The items of RETURN, which read the events of a complete match; empty if there is no RETURN.
    items: tuple[Measure, ...] = ()
    # The option FIRST k MATCHES; None if it is not written.
    first_matches: FirstMatches | None = None


# The variable of the plan whose condition a complete match must satisfy. No component has the same
# name, because the name of a component has no blanks.
END_OF_MATCH = "end of match"


class Neighbours(NamedTuple):
    """The nearest positive components before and after a negated one."""

    # None if the negated component is at the beginning of SEQ.
    preceding: Component | None
    # None if the negated component is at the end of SEQ.
    following: Component | None


def list_component_variables(component: Component) -> tuple[str, ...]:
    """Return the primary variables of a component: `a[1]` and `a[i]` for a Kleene plus `a`."""
    name = component.name.text
    if component.is_kleene_plus:
        return (Index.FIRST.write_for(name), Index.CURRENT.write_for(name))
    return (name,)


@dataclass(frozen=True)
class Components:
    """The components of SEQ, in order."""

    # All components, positive and negated.
    all: tuple[Component, ...]

    @cached_property
    def positive(self) -> tuple[Component, ...]:
        """Return the components that are not negated."""
        return tuple(component for component in self.all if not component.is_negated)

    @cached_property
    def negated(self) -> tuple[Component, ...]:
        """Return the negated components."""
        return tuple(component for component in self.all if component.is_negated)

    @cached_property
    def test_points(self) -> tuple[str, ...]:
        """Return the points at which conditions are tested, as a match reaches them.

        A test point is the name of a variable, for conditions that are tested when a row is mapped
        to this variable, or END_OF_MATCH, for conditions on a complete match. `SEQ(T+ a[], U b)`
        has the test points `a[1]`, `a[i]`, `b` and END_OF_MATCH.
        """
        variables = [
            name for component in self.positive for name in list_component_variables(component)
        ]
        return (*variables, END_OF_MATCH)

    @cached_property
    def by_variable(self) -> Mapping[str, Component]:
        """Return the component of each primary variable, and each negated component by its name."""
        return {
            variable: component
            for component in self.all
            for variable in list_component_variables(component)
        }

    @cached_property
    def by_name(self) -> Mapping[str, Component]:
        """Return the component of each name. Case matters."""
        return {component.name.text: component for component in self.all}

    def find_component(self, name: Token, clause: str) -> Component:
        """Return the component with a name.

        Args:
            name: a name in the query. Case matters.
            clause: the clause in which the name is written, for the message.

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

    def find_neighbours(self, negated_component: Component) -> Neighbours:
        """Return the nearest positive components before and after a negated one."""
        index = self.all.index(negated_component)
        components_before = [
            component for component in self.all[:index] if not component.is_negated
        ]
        components_after = [component for component in self.all[index:] if not component.is_negated]
        return Neighbours(
            preceding=components_before[-1] if components_before else None,
            following=components_after[0] if components_after else None,
        )
