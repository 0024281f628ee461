"""SaseQuery → MatchPlan: components become variables, predicates their conditions.

Every component becomes variables, every conjunct a part of the condition of one of them, the
equivalence tests finer partitions, and a negated component an absence.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.dataclass import dataclass
from matchrec.errors.sase import expression as expression_errors
from matchrec.errors.sase import query as errors
from matchrec.frontends.sase.components import CLOSING, Components, declared, variables_of
from matchrec.frontends.sase.conjuncts import conjuncts
from matchrec.frontends.sase.expressions import ExpressionReader, term_of
from matchrec.frontends.sase.placement import place
from matchrec.frontends.sase.syntax import nodes
from matchrec.frontends.sase.syntax.nodes import EventWindow, SaseQuery, Strategy, TimeWindow
from matchrec.plan.clauses import (
    Absence,
    Definition,
    EventSelection,
    MatchOutput,
    Measure,
    RowExpression,
    SortItem,
    Subset,
    Within,
)
from matchrec.plan.combined import comparison, joined
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Navigation,
    Operation,
    Scalar,
    Semantics,
    Term,
    with_final_semantics,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Quantified, RowPattern, Variable, concatenation
from matchrec.plan.rules import check
from matchrec.source import Span

SELECTION = {
    Strategy.STRICT_CONTIGUITY: EventSelection.STRICT_CONTIGUITY,
    Strategy.PARTITION_CONTIGUITY: EventSelection.STRICT_CONTIGUITY,
    Strategy.SKIP_TILL_NEXT_MATCH: EventSelection.SKIP_TILL_NEXT_MATCH,
    Strategy.SKIP_TILL_ANY_MATCH: EventSelection.SKIP_TILL_ANY_MATCH,
}


def lower(
    query: SaseQuery,
    order_by: tuple[str, ...],
    partition_by: tuple[str, ...],
    type_column: str,
    output: MatchOutput,
) -> MatchPlan:
    """The plan of a query over events that are rows.

    order_by, partition_by, type_column: SQL over one row; an event's type is the value of the last.

    >>> from matchrec.frontends.sase.syntax.parser import parse
    >>> query = parse("PATTERN SEQ(Stock+ a[], Stock b) WHERE skip_till_any_match { a[i].x > 1 }")
    >>> plan = lower(query, ("ts",), (), "event_type", MatchOutput.ALL)
    >>> plan.variables, plan.selection.value
    (('a[1]', 'a[i]', 'b'), 'SKIP TILL ANY MATCH')
    """
    components = declared(query)
    tests, predicates = separated(query)
    check_equivalences(query, tests, components)
    conditions = Conditions(query, components, type_column, tests)
    definitions = tuple(conditions.definitions(predicates))
    within = query.window
    plan = MatchPlan(
        pattern=pattern(components),
        partition_by=tuple(RowExpression(text) for text in partition_by),
        equal=tuple(RowExpression(key.sql, key.span) for key in conditions.keys),
        order_by=tuple(SortItem(RowExpression(text)) for text in order_by),
        measures=tuple(measures(query, components)) or tuple(event_arrays(components)),
        within=time_window(within) if isinstance(within, TimeWindow) else None,
        within_rows=within.events if isinstance(within, EventWindow) else None,
        subsets=tuple(subsets(components)),
        definitions=definitions,
        selection=SELECTION[query.strategy],
        output=output,
        absences=tuple(absences(components)),
        closing=CLOSING if definitions and definitions[-1].variable == CLOSING else None,
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


def event_arrays(components: Components) -> Iterator[Measure]:
    """For each positive component the array of its events, all columns of each."""
    for component in components.positive:
        name, span = component.name.text, component.name.span
        event = Term((ColumnReference(Navigation(name), "struct(*)", span),), span)
        events = Aggregate("collect_list", name, (event,), Semantics.FINAL, span=span)
        yield Measure(name, Term((events,), span), span)


def subsets(components: Components) -> Iterator[Subset]:
    """A union variable for each Kleene plus."""
    for component in components.positive:
        if component.kleene:
            name = component.name
            yield Subset(name.text, variables_of(component), name.span)


def absences(components: Components) -> Iterator[Absence]:
    """What must not be there, for each negated component."""
    for component in components.negated:
        beside = components.neighbours(component)
        after, before = (None if name is None else (name,) for name in beside)
        yield Absence(component.name.text, after, before, component.name.span)


def measures(query: SaseQuery, components: Components) -> Iterator[Measure]:
    """The columns of RETURN, seen from the end of the match.

    Names that differ in case are two where they are so for the session.
    """
    reader = ExpressionReader(query.text, components, "RETURN")
    seen: dict[str, Span] = {}
    for item in query.items:
        if item.name in seen:
            raise errors.duplicate_item(item.name, (seen[item.name], item.name_span))
        seen[item.name] = item.name_span
        value = with_final_semantics(reader.scalar(item.expression))
        yield Measure(item.name, value, item.name_span)


def time_window(window: TimeWindow) -> Within:
    """WITHIN along the first order column."""
    return Within(RowExpression(window.sql, window.span))


def separated(
    query: SaseQuery,
) -> tuple[tuple[nodes.Attribute, ...], tuple[nodes.Expression, ...]]:
    """The attributes of the equivalence tests, and the other predicates."""
    predicates = tuple(flattened(query.where.predicates)) if query.where else ()
    tests = (one for one in predicates if isinstance(one, nodes.Equivalence))
    others = tuple(one for one in predicates if not isinstance(one, nodes.Equivalence))
    return tuple(attribute for test in tests for attribute in test.attributes), others


def flattened(predicates: tuple[nodes.Expression, ...]) -> Iterator[nodes.Expression]:
    """The predicates between the ANDs."""
    for predicate in predicates:
        match predicate:
            case nodes.Apply("AND", operands):
                yield from flattened(operands)
            case nodes.Group(inner):
                yield from flattened((inner,)) if is_conjunction(inner) else (predicate,)
            case _:
                yield predicate


def is_conjunction(node: nodes.Expression) -> bool:
    """Whether parentheses around it do not matter in a conjunction."""
    conjunction = isinstance(node, nodes.Apply) and node.operator == "AND"
    return conjunction or isinstance(node, nodes.Equivalence | nodes.Group)


def check_equivalences(
    query: SaseQuery, tests: tuple[nodes.Attribute, ...], components: Components
) -> None:
    """The tests are on attributes of every event; partition contiguity needs one."""
    for test in tests:
        if len(test.names) > 1 and components.named(test.names[0]) is not None:
            raise expression_errors.equivalence_of_variable(test.names, test.span)
    where = query.where
    if where is not None and where.strategy is Strategy.PARTITION_CONTIGUITY and not tests:
        raise errors.nothing_to_partition_by(where.strategy_span)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of all variables."""

    query: SaseQuery
    components: Components
    type_column: str
    tests: tuple[nodes.Attribute, ...]

    @property
    def keys(self) -> tuple[nodes.Attribute, ...]:
        """The attributes that make partitions; strict contiguity compares neighbours instead."""
        return () if self.query.strategy is Strategy.STRICT_CONTIGUITY else self.tests

    def definitions(self, predicates: tuple[nodes.Expression, ...]) -> Iterator[Definition]:
        """A definition for each variable that has a condition, in the order of the plan."""
        placed = self.placed(predicates)
        for component in (*self.components.positive, *self.components.negated):
            for variable in variables_of(component):
                own = [*self.on_event(component, variable), *placed.get(variable, ())]
                if own:
                    yield Definition(variable, joined("AND", own), component.name.span)
        if CLOSING in placed:
            yield Definition(CLOSING, joined("AND", placed[CLOSING]))

    def placed(self, predicates: tuple[nodes.Expression, ...]) -> dict[str, list[Scalar]]:
        """The conjuncts of WHERE by the variable at which each is tested."""
        reader = ExpressionReader(self.query.text, self.components, "WHERE")
        found: dict[str, list[Scalar]] = {}
        for predicate in predicates:
            for conjunct in conjuncts(reader.scalar(predicate)):
                found.setdefault(place(conjunct, self.components), []).append(conjunct)
        return found

    def on_event(self, component: nodes.Component, variable: str) -> Iterator[Scalar]:
        """The event's type, and the equivalence tests as they concern one event."""
        first = self.components.variables[0]
        event_type = component.event_type
        if event_type.literal is not None:
            here = reference(variable, self.type_column, event_type.span)
            yield comparison("=", here, Term((event_type.literal,), event_type.span))
        for test in self.tests:
            here = reference(variable, test.sql, test.span)
            if self.query.strategy is Strategy.STRICT_CONTIGUITY and variable != first:
                yield comparison("=", here, reference(first, test.sql, test.span))
            else:
                yield Operation("IS NOT NULL", (here,), (*here.pieces, " IS NOT NULL"), test.span)


def reference(variable: str, sql: str, span: Span) -> Term:
    """A column of the last row of a variable."""
    return term_of(ColumnReference(Navigation(variable), sql, span), span)
