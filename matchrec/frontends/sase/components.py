"""The components of SEQ, and the variables of the plan that stand for them.

A Kleene plus `T+ a[]` is two primary variables, `a[1]` and `a[i]`, which the union variable `a`
joins; any other component is one variable of its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TypeVar

from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import nearest
from matchrec.errors.sase import query as errors
from matchrec.frontends.sase.syntax.nodes import Component, Index, Name, SaseQuery, Where
from matchrec.source import Span

CLOSING = "end of match"
"""The variable whose condition must hold of a whole match."""


@dataclass(frozen=True)
class Components:
    """What PATTERN declares, in order."""

    written: tuple[Component, ...]

    @cached_property
    def positive(self) -> tuple[Component, ...]:
        return tuple(one for one in self.written if not one.negated)

    @cached_property
    def negated(self) -> tuple[Component, ...]:
        return tuple(one for one in self.written if one.negated)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The primary variables in the order in which rows are mapped to them."""
        return tuple(variable for one in self.positive for variable in variables_of(one))

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Where a condition can be tested: as a row is mapped to a variable, then at the end."""
        return (*self.variables, CLOSING)

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The number of every variable; that of the end of the match is one more."""
        return {variable: number for number, variable in enumerate(self.variables)}

    @cached_property
    def by_variable(self) -> Mapping[str, Component]:
        """The component of each primary variable."""
        return {variable: one for one in self.positive for variable in variables_of(one)}

    @cached_property
    def _by_name(self) -> Mapping[str, Component]:
        return {one.name.text: one for one in self.written}

    def named(self, name: str) -> Component | None:
        """The component of a variable, as it is written in PATTERN."""
        return self._by_name.get(name)

    def following(self, name: str) -> str:
        """The first place after all rows of a positive component."""
        component = self.named(name)
        assert component is not None
        return self.places[self.order[variables_of(component)[-1]] + 1]

    def neighbours(self, negated: Component) -> tuple[str | None, str | None]:
        """The positive components around a negated one; None at the beginning and at the end."""
        place = self.written.index(negated)
        before = [one.name.text for one in self.written[:place] if not one.negated]
        after = [one.name.text for one in self.written[place:] if not one.negated]
        return _first(before[::-1]), _first(after)

    def unknown(self, name: Name, clause: str) -> MatchRecognizeError:
        """The error of a name that no component has."""
        known = {one.name.text: one.written for one in self.written}
        meant = nearest(name.text, known)
        return errors.unknown_component(name.text, known.values(), meant, clause, name.span)


T = TypeVar("T")


def _first(items: list[T]) -> T | None:
    return items[0] if items else None


def variables_of(component: Component) -> tuple[str, ...]:
    """The primary variables of a component."""
    name = component.name.text
    return (Index.FIRST.of(name), Index.CURRENT.of(name)) if component.kleene else (name,)


def declared(query: SaseQuery) -> Components:
    """The components of a query; refuses what no query may declare."""
    components = Components(query.components)
    _names_are_unique(components)
    if not components.positive:
        raise errors.nothing_positive(query.sequence_span)
    if query.window is None:
        _refuse_open_negations(components)
    if query.where is not None:
        _check_arguments(query.where, components)
    return components


def _names_are_unique(components: Components) -> None:
    """No two names differ in case only: variables become columns, whose case does not count."""
    seen: dict[str, Span] = {}
    for component in components.written:
        name = component.name
        if name.text.upper() in seen:
            raise errors.duplicate_variable(name.text, (seen[name.text.upper()], name.span))
        seen[name.text.upper()] = name.span


def _refuse_open_negations(components: Components) -> None:
    for component in components.negated:
        after, before = components.neighbours(component)
        if after is None or before is None:
            where = "beginning" if after is None else "end"
            raise errors.negation_without_window(
                component.name.text, where, component.event_type.span.to(component.name.span)
            )


def _check_arguments(where: Where, components: Components) -> None:
    """The strategy lists each positive component once; negated ones may be left out."""
    if where.arguments is None:
        return
    seen: dict[str, Span] = {}
    for argument in where.arguments:
        name = argument.name.text
        component = components.named(name)
        if component is None:
            raise components.unknown(argument.name, "WHERE")
        if component.kleene != argument.kleene:
            raise errors.argument_written_otherwise(name, component.written, argument.span)
        if name in seen:
            raise errors.argument_twice(component.written, (seen[name], argument.span))
        seen[name] = argument.span
    missing = [one.written for one in components.positive if one.name.text not in seen]
    if missing:
        span = where.arguments[0].span.to(where.arguments[-1].span)
        raise errors.arguments_missing(where.strategy.value, missing, span)
