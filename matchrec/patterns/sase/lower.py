"""Lower a `SaseQuery` to a `MatchPlan`.

Components become variables, and negated components become absences. Each conjunct of WHERE becomes
a part of the condition of one variable. Equivalence tests become keys of partitions.
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
from matchrec.patterns.sase.nodes import (
    Component,
    Components,
    SaseQuery,
    SaseStrategy,
    list_component_variables,
)
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
    compare_scalars,
    find_column_names,
    find_variable,
    join_conditions,
    make_column,
    map_column_references,
    negate,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Quantified, RowPattern, Variable, make_concatenation
from matchrec.plan.rules import check_plan, check_unique
from matchrec.source import Span
from matchrec.syntax.expressions.expression import make_key_expression


def lower_sase(query: SaseQuery, streams: nodes.Streams) -> MatchPlan:
    """Return the plan of a query over events that are rows.

    Items of RETURN may have names that differ only in case. Whether these are different names
    depends on the session.

    Raises:
        MatchRecognizeError: the query is wrong.

    >>> from matchrec.patterns.sase.parser import parse
    >>> query = parse("PATTERN SEQ(Stock+ a[], Stock b) WHERE skip_till_any_match { a[i].x > 1 }")
    >>> plan = lower_sase(query, nodes.Streams(("ts",)))
    >>> plan.variables, plan.selection.value
    (('a[1]', 'a[i]', 'b'), 'SKIP TILL ANY MATCH')
    """
    components = query.components
    definitions = tuple(list_definitions(query, make_key_expression(streams.type_column)))
    check_unique([(item.name, item.span) for item in query.items], duplicate_measure)
    window = query.window
    has_match_condition = bool(definitions) and definitions[-1].variable == nodes.CLOSING
    plan = MatchPlan(
        pattern=build_pattern(components),
        partition_by=tuple(make_key_expression(text) for text in streams.partition_by),
        equivalence_keys=tuple(list_equal_keys(query)),
        order_by=tuple(clauses.SortItem(make_key_expression(text)) for text in streams.order_by),
        measures=query.items or tuple(list_event_arrays(components)),
        within=clauses.Within(window) if isinstance(window, RowExpression) else None,
        within_rows=window if isinstance(window, int) else None,
        subsets=tuple(list_subsets(components)),
        definitions=definitions,
        selection=find_selection(query.strategy),
        output=streams.output,
        first_matches=query.first_matches,
        absences=tuple(list_absences(components)),
        match_condition=nodes.CLOSING if has_match_condition else None,
    )
    check_plan(plan)
    return plan


def find_selection(strategy: SaseStrategy) -> clauses.EventSelection:
    """Return the event selection of a plan.

    Partition contiguity is strict contiguity in finer partitions.
    """
    if strategy is SaseStrategy.PARTITION_CONTIGUITY:
        return clauses.EventSelection.STRICT_CONTIGUITY
    return clauses.EventSelection[strategy.name]


def build_pattern(components: Components) -> RowPattern:
    """Return the row pattern of the positive components: `a[1] a[i]* b` for `T+ a[], U b`."""
    parts: list[RowPattern] = []
    for component in components.positive:
        first, *others = (
            Variable(name, component.name.span) for name in list_component_variables(component)
        )
        parts.append(first)
        parts += [Quantified(other, 0, None) for other in others]
    return make_concatenation(parts)


def list_equal_keys(query: SaseQuery) -> Iterator[RowExpression]:
    """Yield the attributes of equivalence tests as keys of partitions.

    With strict contiguity there are none: there, conditions compare each event with the first one,
    because an event with another value of the attribute ends the match.
    """
    if query.strategy is not SaseStrategy.STRICT_CONTIGUITY:
        for test in query.tests:
            yield RowExpression(write_row_sql(test), test.span, names=find_column_names(test))


def list_event_arrays(components: Components) -> Iterator[clauses.Measure]:
    """Yield, for each positive component, the array of its events with all their columns."""
    for component in components.positive:
        name = component.name.text
        span = component.name.span
        event = make_column(Navigation(name), "struct(*)", span)
        events = Aggregate("collect_list", name, (event,), Semantics.FINAL, span=span)
        yield clauses.Measure(name, Term((events,), span), span)


def list_subsets(components: Components) -> Iterator[clauses.Subset]:
    """Yield the union variable of each Kleene plus."""
    for component in components.positive:
        if component.kleene:
            name = component.name
            yield clauses.Subset(name.text, list_component_variables(component), name.span)


def list_absences(components: Components) -> Iterator[clauses.Absence]:
    """Yield the absence of each negated component."""
    for component in components.negated:
        preceding, following = components.find_neighbours(component)
        name = component.name
        yield clauses.Absence(name.text, after=preceding, before=following, span=name.span)


def list_definitions(query: SaseQuery, type_column: RowExpression) -> Iterator[Definition]:
    """Yield a definition for each variable that has a condition, in the order of the plan.

    The definition of a complete match comes last, if it has one.
    """
    components = query.components
    conjuncts_by_point = group_conjuncts(query)
    for component in (*components.positive, *components.negated):
        for variable in list_component_variables(component):
            conditions = [
                *list_event_conditions(query, component, variable, type_column),
                *conjuncts_by_point.get(variable, ()),
            ]
            if conditions:
                yield Definition(variable, join_conditions("AND", conditions), component.name.span)
    if nodes.CLOSING in conjuncts_by_point:
        yield Definition(nodes.CLOSING, join_conditions("AND", conjuncts_by_point[nodes.CLOSING]))


def group_conjuncts(query: SaseQuery) -> dict[str, list[Scalar]]:
    """Return the conjuncts of WHERE by the point at which each is tested."""
    conjuncts_by_point: dict[str, list[Scalar]] = {}
    for predicate in query.predicates:
        for conjunct in split_into_conjuncts(predicate):
            point = find_test_point(conjunct, query.components)
            conjuncts_by_point.setdefault(point, []).append(conjunct)
    return conjuncts_by_point


def list_event_conditions(
    query: SaseQuery, component: Component, variable: str, type_column: RowExpression
) -> Iterator[Scalar]:
    """Yield the test of the event's type, and the equivalence tests as they concern one event.

    An attribute of an equivalence test must not be NULL: NULL equals nothing.
    """
    first_variable = query.components.test_points[0]
    if component.event_type is not None:
        event_type = make_column(
            Navigation(variable), type_column.text, component.event_type.span, type_column.names
        )
        yield compare_scalars("=", event_type, component.event_type)
    for test in query.tests:
        attribute = read_attribute(variable, test)
        if query.strategy is SaseStrategy.STRICT_CONTIGUITY and variable != first_variable:
            yield compare_scalars("=", attribute, read_attribute(first_variable, test))
        else:
            yield Operation("IS NOT NULL", (attribute, " IS NOT NULL"), test.span)


def read_attribute(variable: str, attribute: Term) -> Scalar:
    """Return an attribute of the last row of a variable."""
    return map_column_references(
        attribute, lambda column: replace(column, navigation=Navigation(variable))
    )


# When a conjunct is tested: at its last identifier, the one that is bound latest.
#
#     b, a[1]                  as a row is mapped to that variable (begin edge)
#     a[i], a[i-1], a[..i-1]   as a row is mapped to a[i] (take edge)
#     a[a.LEN], a[], a.LEN     as a row begins the next component, or at the end (proceed edge)
#
# A conjunct that mentions a negated variable is a condition on events that must not exist.
# Source: section 3.2, step 2.


class EventReading(NamedTuple):
    """What a reference reads, and when it is bound."""

    name: str  # of the component
    test_point: str  # the first point at which all that it reads is known
    span: Span


def find_test_point(conjunct: Scalar, components: Components) -> str:
    """Return the variable to whose condition a conjunct belongs, or CLOSING.

    Raises:
        MatchRecognizeError: the conjunct mentions two negated variables, or compares `a[i]` with
            events that are bound later.
    """
    readings = [find_reading(reference, components) for reference in conjunct.references]
    if not readings:
        return components.test_points[0]
    negated = [reading for reading in readings if components.by_name[reading.name].negated]
    for other in negated[1:]:
        if other.name != negated[0].name:
            names = (negated[0].name, other.name)
            raise errors.predicate_on_two_negated(negated[0].span, other.span, names=names)
    if negated:
        last = negated[0]
    else:
        last = max(readings, key=lambda reading: components.test_points.index(reading.test_point))
    for reading in readings:
        # `a[i]` stands for one event after another, so all else must be known by then.
        is_element = reading.test_point == nodes.Index.CURRENT.write_for(reading.name)
        if is_element and reading.test_point != last.test_point:
            raise errors.predicate_on_later_event(reading.span, last.span, name=reading.name)
    return last.test_point


def find_reading(reference: Reference, components: Components) -> EventReading:
    """Return the event that a reference of a condition reads, and when it is bound."""
    assert isinstance(reference, ColumnReference | Aggregate), reference
    name = find_variable(reference)
    span = reference.span
    assert name is not None
    assert span is not None
    component = components.by_variable.get(name)
    if component is not None:
        return EventReading(component.name.text, name, span)
    # The name is a Kleene plus. It reads events before `a[i]`, or its last event or all of them.
    if isinstance(reference, Aggregate):
        is_before_current = reference.excludes_current_row
    else:
        is_before_current = reference.navigation.logical_offset > 0
    current = nodes.Index.CURRENT.write_for(name)
    if is_before_current:
        return EventReading(name, current, span)
    after_kleene = components.test_points[components.test_points.index(current) + 1]
    return EventReading(name, after_kleene, span)


# The conjunctive normal form of conditions: conjuncts that must all hold, each a disjunction.
#
#     NOT (a.x = 1 OR b.y = 2)      becomes      NOT (a.x = 1),  NOT (b.y = 2)
#
# The laws of De Morgan and of distribution hold in three-valued logic. Source: section 3.2, step 2.

# A disjunction that would become more conjuncts than this is not distributed.
MOST_CLAUSES = 32


def split_into_conjuncts(condition: Scalar) -> tuple[Scalar, ...]:
    """Return the conjuncts of a condition, from left to right."""
    return tuple(join_conditions("OR", parts) for parts in list_disjunctions(condition))


def list_disjunctions(condition: Scalar) -> tuple[tuple[Scalar, ...], ...]:
    """Return the conjuncts of a condition, each as the parts of a disjunction."""
    match condition:
        case Operation("AND", operands):
            return tuple(chain.from_iterable(list_disjunctions(operand) for operand in operands))
        case Operation("OR", operands):
            return distribute(condition, operands)
        case Operation("NOT", (Operation("NOT", (inner,)),)):
            return list_disjunctions(inner)
        case Operation("NOT", (Operation("AND" | "OR" as operator, operands),)):
            dual_operator = "OR" if operator == "AND" else "AND"
            negated = [negate(operand) for operand in operands]
            return list_disjunctions(join_conditions(dual_operator, negated))
        case _:
            return ((condition,),)


def distribute(disjunction: Scalar, operands: tuple[Scalar, ...]) -> tuple[tuple[Scalar, ...], ...]:
    """Distribute OR over the conjuncts of its operands: `a OR (b AND c)` is `a OR b`, `a OR c`.

    Returns:
        The conjuncts; the disjunction alone if there would be too many, or none of its operands is
        a conjunction.
    """
    operand_disjunctions = [list_disjunctions(operand) for operand in operands]
    count = prod(len(disjunctions) for disjunctions in operand_disjunctions)
    if count == 1 or count > MOST_CLAUSES:
        return ((disjunction,),)
    choices = product(*operand_disjunctions)
    return tuple(tuple(chain.from_iterable(choice)) for choice in choices)
