"""SaseQuery → MatchPlan: components become variables, or absences where they are negated,
conjuncts parts of their conditions, and equivalence tests finer partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product
from math import prod
from typing import NamedTuple

from matchrec.errors import sase as errors
from matchrec.errors.rules import duplicate_measure
from matchrec.patterns.sase import nodes
from matchrec.patterns.sase.nodes import Component, Components, SaseQuery, Strategy, variables_of
from matchrec.plan import clauses
from matchrec.plan.clauses import Definition, RowExpression
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Semantics,
    Term,
    column_term,
    comparison,
    joined,
    names_of,
    negation,
    row_text,
    variable_of,
    with_columns,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Quantified, RowPattern, Variable, concatenation
from matchrec.plan.rules import check, refuse_repeated
from matchrec.source import Span
from matchrec.syntax.expressions.expression import key_expression


def lower(query: SaseQuery, streams: nodes.Streams) -> MatchPlan:
    """The plan of a query over events that are rows.

    Names of RETURN that differ in case are two where they are so for the session.

    >>> from matchrec.patterns.sase.parser import parse
    >>> query = parse("PATTERN SEQ(Stock+ a[], Stock b) WHERE skip_till_any_match { a[i].x > 1 }")
    >>> plan = lower(query, nodes.Streams(("ts",)))
    >>> plan.variables, plan.selection.value
    (('a[1]', 'a[i]', 'b'), 'SKIP TILL ANY MATCH')
    """
    components = query.components
    conditions = tuple(definitions(query, key_expression(streams.type_column)))
    refuse_repeated([(item.name, item.span) for item in query.items], duplicate_measure)
    # strict contiguity compares neighbours instead
    equal = (RowExpression(row_text(test), test.span, names=names_of(test)) for test in query.tests)
    is_finer = query.strategy is Strategy.PARTITION_CONTIGUITY  # strict, in finer partitions
    within, loops = query.window, (one for one in components.positive if one.kleene)
    plan = MatchPlan(
        pattern=pattern(components),
        partition_by=tuple(map(key_expression, streams.partition_by)),
        equal=() if query.strategy is Strategy.STRICT_CONTIGUITY else tuple(equal),
        order_by=tuple(clauses.SortItem(key_expression(text)) for text in streams.order_by),
        measures=query.items or tuple(event_arrays(components)),
        within=clauses.Within(within) if isinstance(within, RowExpression) else None,
        within_rows=within if isinstance(within, int) else None,
        subsets=tuple(
            clauses.Subset(one.name.text, variables_of(one), one.name.span) for one in loops
        ),
        definitions=conditions,
        selection=clauses.EventSelection["STRICT_CONTIGUITY" if is_finer else query.strategy.name],
        output=streams.output,
        first_matches=query.first_matches,
        absences=tuple(
            clauses.Absence(one.name.text, *components.neighbours(one), one.name.span)
            for one in components.negated
        ),
        closing=nodes.CLOSING if conditions and conditions[-1].variable == nodes.CLOSING else None,
    )
    check(plan)
    return plan


def pattern(components: Components) -> RowPattern:
    """`a[1] a[i]* b` of `T+ a[], U b`."""
    parts: list[RowPattern] = []
    for component in components.positive:
        first, *others = (Variable(name, component.name.span) for name in variables_of(component))
        parts += [first, *(Quantified(other, 0, None) for other in others)]
    return concatenation(parts)


def event_arrays(components: Components) -> Iterator[clauses.Measure]:
    for component in components.positive:
        name, span = component.name.text, component.name.span
        event = column_term(Navigation(name), "struct(*)", span)
        events = Aggregate("collect_list", name, (event,), Semantics.FINAL, span=span)
        yield clauses.Measure(name, Term((events,), span), span)


def definitions(query: SaseQuery, type_column: RowExpression) -> Iterator[Definition]:
    """A definition for each variable that has a condition, in the order of the plan."""
    components, placed = query.components, dict[str, list[Scalar]]()
    for predicate in query.predicates:
        for conjunct in conjuncts(predicate):
            placed.setdefault(place(conjunct, components), []).append(conjunct)
    for component in (*components.positive, *components.negated):
        for variable in variables_of(component):
            of_event = on_event(query, component, variable, type_column)
            if own := [*of_event, *placed.get(variable, ())]:
                yield Definition(variable, joined("AND", own), component.name.span)
    if nodes.CLOSING in placed:
        yield Definition(nodes.CLOSING, joined("AND", placed[nodes.CLOSING]))


def on_event(
    query: SaseQuery, component: Component, variable: str, type_column: RowExpression
) -> Iterator[Scalar]:
    """The event's type, and the equivalence tests as they concern one event."""
    first = query.components.places[0]
    if (event_type := component.event_type) is not None:
        text, names = type_column.text, type_column.names
        kind = column_term(Navigation(variable), text, event_type.span, names)
        yield comparison("=", kind, event_type)
    for test in query.tests:
        here = reference(variable, test)
        if query.strategy is Strategy.STRICT_CONTIGUITY and variable != first:
            yield comparison("=", here, reference(first, test))
        else:
            yield Operation("IS NOT NULL", (here, " IS NOT NULL"), test.span)


def reference(variable: str, attribute: Term) -> Scalar:
    """An attribute of the last row of a variable."""
    return with_columns(attribute, lambda one: replace(one, navigation=Navigation(variable)))


# Where a conjunct is tested: at its last identifier, the one that is bound latest.
#
#     b, a[1]                  as a row is mapped to that variable (begin edge)
#     a[i], a[i-1], a[..i-1]   as a row is mapped to a[i] (take edge)
#     a[a.LEN], a[], a.LEN     as a row begins the next component, or at the end (proceed edge)
#
# What mentions a negated variable is tested of the events that must not be there.
# Source: section 3.2, step 2.


class EventReading(NamedTuple):
    """What a reference reads, and the place from which on it is bound."""

    variable: str
    place: str
    span: Span


def place(conjunct: Scalar, components: Components) -> str:
    """The variable to whose condition a conjunct belongs."""
    found = [reading(reference, components) for reference in conjunct.references]
    negated = [one for one in found if components.by_name[one.variable].negated]
    for other in negated[1:]:
        if other.variable != negated[0].variable:
            variables = (negated[0].variable, other.variable)
            raise errors.two_negated((negated[0].span, other.span), names=variables)
    bound = components.places.index
    last = negated[0] if negated else max(found, key=lambda one: bound(one.place), default=None)
    if last is None:
        return components.places[0]
    for one in found:
        is_element = one.place == nodes.Index.CURRENT.of(one.variable)  # one event after another
        if is_element and one.place != last.place:
            raise errors.element_elsewhere((one.span, last.span), name=one.variable)
    return last.place


def reading(read: Reference, components: Components) -> EventReading:
    assert isinstance(read, ColumnReference | Aggregate), read
    name, span = variable_of(read), read.span
    assert name is not None
    assert span is not None
    if (component := components.by_variable.get(name)) is not None:
        return EventReading(component.name.text, name, span)
    is_before = read.so_far if isinstance(read, Aggregate) else read.navigation.logical_offset > 0
    where = nodes.Index.CURRENT.of(name)
    if not is_before:  # after all rows of the Kleene plus
        where = components.places[components.places.index(where) + 1]
    return EventReading(name, where, span)


# The conjunctive normal form of conditions: those that must all hold, each a disjunction.
#
#     NOT (a.x = 1 OR b.y = 2)      →      NOT (a.x = 1),  NOT (b.y = 2)
#
# The laws of De Morgan and of distribution hold in three-valued logic. Source: section 3.2, step 2.

MOST_CLAUSES = 32  # a disjunction that would be distributed over more conjunctions stays whole


def conjuncts(condition: Scalar) -> tuple[Scalar, ...]:
    return tuple(joined("OR", clause) for clause in disjunctions(condition))


def disjunctions(condition: Scalar) -> tuple[tuple[Scalar, ...], ...]:
    """The conjuncts, each as the parts of a disjunction."""
    match condition:
        case Operation("AND", operands):
            return tuple(chain.from_iterable(disjunctions(operand) for operand in operands))
        case Operation("OR", operands):
            parts = [disjunctions(operand) for operand in operands]
            if not 1 < prod(map(len, parts)) <= MOST_CLAUSES:
                return ((condition,),)
            return tuple(tuple(chain.from_iterable(choice)) for choice in product(*parts))
        case Operation("NOT", (Operation("NOT", (inner,)),)):
            return disjunctions(inner)
        case Operation("NOT", (Operation("AND" | "OR" as operator, operands),)):
            other = "OR" if operator == "AND" else "AND"
            return disjunctions(joined(other, [negation(operand) for operand in operands]))
        case _:
            return ((condition,),)
