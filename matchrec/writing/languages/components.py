"""A row pattern as the components of SEQ: single rows, and Kleene pluses.

    A B+ C D*     the variables A, B[1], B[i], C[1], C[i]; B and C are the
    unions of two of them, because the first row of a Kleene plus has a condition of its own

Whatever else a row pattern is made of, SEQ cannot say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from matchrec.dataclass import dataclass
from matchrec.errors import writing as errors
from matchrec.frontends.sase.syntax.nodes import Index
from matchrec.plan.clauses import Definition, Subset
from matchrec.plan.expression import ColumnReference, End, Reference, with_references
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Quantified, RowPattern, Variable, concatenation, show, top
from matchrec.plan.simplify import simplify
from matchrec.source import Span
from matchrec.writing.names import of_variable, renamed, with_each
from matchrec.writing.same_meaning import without_preference

LANGUAGE = "SASE+"
ROWS = (("[1]", "[i]"), ("_1", "_I"))
"""How the names of the first and of further rows end."""

_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Component:
    """first, further: the variables of its rows; further is None of a single row, and `first` of
    `A+`, whose rows all have one condition. name: of all of its rows.
    """

    name: str
    first: str
    further: str | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """Its variables in the plan of a SASE+ query."""
        loop = self.further is not None
        return (Index.FIRST.of(self.name), Index.CURRENT.of(self.name)) if loop else (self.name,)

    @property
    def written(self) -> str:
        """The component as the strategy lists it."""
        return self.name if self.further is None else f"{self.name}[]"


def components(plan: MatchPlan, place: Span) -> tuple[Component, ...]:
    """The components of a plan's row pattern; refuses what is none. place: of the row pattern."""
    parts = top(without_preference(simplify(plan.pattern)))
    found = tuple(_components(parts, plan, place))
    seen: set[str] = set()
    for component in found:
        if component.name.upper() in seen:
            raise errors.cannot_write(LANGUAGE, f"`{component.name}` in two places", place)
        if not _NAME.fullmatch(component.name):
            raise errors.cannot_write(LANGUAGE, f"the name `{component.name}`", place)
        seen.add(component.name.upper())
    return found


def _components(parts: tuple[RowPattern, ...], plan: MatchPlan, place: Span) -> Iterator[Component]:
    at = 0
    while at < len(parts):
        part, following = parts[at], parts[at + 1 : at + 2]
        at += 1
        match part, *following:
            case Variable(first), Quantified(Variable(further), 0, None) if first != further:
                yield Component(_union(first, further, plan), first, further)
                at += 1
            case Variable(name), *_:
                yield Component(name, name)
            case Quantified(Variable(name), 1, None), *_:
                yield Component(name, name, name)
            case _:
                hint = "its parts are single events `A` and one or more of them `A+`, or `A B*`"
                span = getattr(part, "span", None) or place
                raise errors.cannot_write(LANGUAGE, f"`{bare(part)}`", span, hint)


def bare(pattern: RowPattern) -> str:
    """The row pattern without quotes around names, for a message."""
    return show(pattern).replace("`", "")


def _union(first: str, further: str, plan: MatchPlan) -> str:
    """The name of a union of both, or what `a[1]` and `a[i]` share, or that of the first."""
    members = {first, further}
    found = next((one.name for one in plan.subsets if set(one.members) == members), None)
    stems = (first.removesuffix(one) for one, other in ROWS if _share(first, one, further, other))
    return found or next(stems, first)


def _share(first: str, one: str, further: str, other: str) -> bool:
    return first.endswith(one) and further == first.removesuffix(one) + other


def in_components(plan: MatchPlan, found: tuple[Component, ...]) -> MatchPlan:
    """The same plan with the variables of components."""
    names: dict[str, str] = {}
    for one in found:
        if one.further is not None and one.further != one.first:
            names |= dict(zip((one.first, one.further), one.variables, strict=True))
    other = renamed(plan, names)
    loops = [one for one in found if one.further is not None]
    alike = {one.name for one in loops if one.first == one.further}
    definitions = (each for one in other.definitions for each in _unrolled(one, alike))
    firsts = {one.name: one.variables[0] for one in loops}
    unrolled = replace(
        other,
        pattern=concatenation(part for one in found for part in _rows(one)),
        subsets=tuple(Subset(one.name, one.variables) for one in loops),
        definitions=tuple(definitions),
    )
    return with_each(unrolled, lambda each, _: _first(each, firsts))


def _rows(component: Component) -> Iterator[RowPattern]:
    first, *further = component.variables
    yield Variable(first)
    yield from (Quantified(Variable(one), 0, None) for one in further)


def _unrolled(definition: Definition, loops: set[str]) -> Iterator[Definition]:
    """The condition of `A+` for its first row and for those that follow."""
    name = definition.variable
    if name not in loops:
        yield definition
        return
    for index in (Index.FIRST, Index.CURRENT):
        own = index.of(name)
        condition = with_references(definition.condition, partial(_own, name=name, own=own))
        yield replace(definition, variable=own, condition=condition)


def _own(reference: Reference, name: str, own: str) -> Reference:
    """The reference to the row itself by its own variable; others are to the union."""
    if isinstance(reference, ColumnReference):
        navigation = reference.navigation
        if navigation.is_last and navigation.variable == name:
            return of_variable(reference, lambda _: own)
    return reference


def _first(reference: Reference, firsts: dict[str, str]) -> Reference:
    """The first row of a Kleene plus by the variable that it has."""
    if isinstance(reference, ColumnReference):
        navigation = reference.navigation
        name = firsts.get(navigation.variable or "")
        if name and navigation.end is End.FIRST and not navigation.logical_offset:
            return replace(reference, navigation=replace(navigation, variable=name, end=End.LAST))
    return reference
