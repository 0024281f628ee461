"""What a query of SASE+ is made of, and the variables of the plan that stand for its components.

Source: Agrawal et al., "Efficient Pattern Matching over Event Streams", section 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from matchrec.errors import sase as errors
from matchrec.plan.clauses import FirstMatches, MatchOutput, Measure, RowExpression
from matchrec.plan.expression import Scalar, Term
from matchrec.source import Span
from matchrec.syntax.tokens import Token


@dataclass(frozen=True, slots=True)
class Component:
    """One part of SEQ: `Stock a`, `Stock+ a[]` (kleene) or `~(Stock a)` (negated).

    event_type: the text that the event type must equal, or None for events of any type.
    span: from the type to the name.
    """

    event_type: Term | None
    name: Token
    span: Span
    kleene: bool
    negated: bool = False

    @property
    def written(self) -> str:
        """The variable as the strategy's list of components has it."""
        return f"{self.name.text}[]" if self.kleene else self.name.text


class Strategy(Enum):
    """Event selection strategies. Source: section 2, "event selection strategy"."""

    STRICT_CONTIGUITY = "strict_contiguity"
    PARTITION_CONTIGUITY = "partition_contiguity"
    SKIP_TILL_NEXT_MATCH = "skip_till_next_match"
    SKIP_TILL_ANY_MATCH = "skip_till_any_match"


class Index(Enum):
    """Which events of a variable an identifier reads."""

    ALONE = "b"
    FIRST = "a[1]"
    CURRENT = "a[i]"
    PREVIOUS = "a[i-1]"
    SO_FAR = "a[..i-1]"
    LAST = "a[a.LEN]"
    ALL = "a[]"

    def of(self, variable: str) -> str:
        return variable if self is Index.ALONE else self.value.replace("a", variable)


@dataclass(frozen=True, slots=True)
class Identifier:
    """`a[i].price`; without an attribute it is the events themselves, as in `count(a[])`."""

    name: Token
    index: Index
    attribute: Term | None
    span: Span

    @property
    def events(self) -> str:
        return self.index.of(self.name.text)


@dataclass(frozen=True, slots=True)
class Streams:
    """What SQL says of its events, and SASE+ and a Pattern leave to the call.

    All but output are SQL over one row; the type of an event is the value of type_column.
    """

    order_by: tuple[str, ...]
    partition_by: tuple[str, ...] = ()
    type_column: str = "event_type"
    output: MatchOutput = MatchOutput.ALL


@dataclass(frozen=True, slots=True)
class SaseQuery:
    """A whole query. tests: the attributes that are equal in all events.

    window: how long it is, or of how many events. items: of RETURN, seen from the end of the match.
    """

    components: Components
    sequence_span: Span
    strategy: Strategy
    predicates: tuple[Scalar, ...]
    tests: tuple[Term, ...]
    window: RowExpression | int | None = None
    items: tuple[Measure, ...] = ()
    first_matches: FirstMatches | None = None


# A Kleene plus `T+ a[]` is two primary variables, `a[1]` and `a[i]`, which the union variable `a`
# joins; any other component is one variable of its name.

CLOSING = "end of match"  # the variable whose condition must hold of a whole match
Names = tuple[str, ...] | None


def variables_of(component: Component) -> tuple[str, ...]:
    name = component.name.text
    return (Index.FIRST.of(name), Index.CURRENT.of(name)) if component.kleene else (name,)


@dataclass(frozen=True)
class Components:
    written: tuple[Component, ...]

    @cached_property
    def positive(self) -> tuple[Component, ...]:
        return tuple(component for component in self.written if not component.negated)

    @cached_property
    def negated(self) -> tuple[Component, ...]:
        return tuple(component for component in self.written if component.negated)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Where a condition can be tested: as a row is mapped to a variable, then at the end."""
        return (*(variable for one in self.positive for variable in variables_of(one)), CLOSING)

    @cached_property
    def by_variable(self) -> Mapping[str, Component]:
        """The component of each primary variable, and of each negated one."""
        return {variable: one for one in self.written for variable in variables_of(one)}

    @cached_property
    def by_name(self) -> Mapping[str, Component]:
        return {component.name.text: component for component in self.written}

    def known(self, name: Token, clause: str) -> Component:
        """The component of a name in a clause. Raises MatchRecognizePlanError for none."""
        if (found := self.by_name.get(name.text)) is None:
            known = {component.name.text: component.written for component in self.written}
            raise errors.unknown_component(name.span, name=name.text, clause=clause, known=known)
        return found

    def neighbours(self, negated: Component) -> tuple[Names, Names]:
        """The positive components around a negated one; None at the beginning and at the end."""
        place = self.written.index(negated)
        before = [one.name.text for one in self.written[:place] if not one.negated]
        after = [one.name.text for one in self.written[place:] if not one.negated]
        return tuple(before[-1:]) or None, tuple(after[:1]) or None
