"""Lower a `SaseQuery` to a `MatchPlan`.

    query                                   plan
    SEQ(Stock+ a[], ~(News n), Stock b)     pattern `a[1] a[i]* b`, subset `a`, absence of `n`,
                                            conditions on the type of each event
    [symbol]                                equivalence key `symbol`
    a[i].price > 10 AND b.price < 5         a definition of `a[i]` and a definition of `b`

The definitions are made in three steps:

1. `split_into_conjuncts` splits each predicate of WHERE into conjuncts.
2. `find_test_point` finds the variable to whose condition a conjunct belongs.
3. `build_definitions` joins the conditions of each variable by AND: its conjuncts, the condition on
   the type of its event, and the conditions that follow from equivalence tests.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.patterns.sase import nodes
from matchrec.patterns.sase.conjuncts import split_into_conjuncts
from matchrec.patterns.sase.nodes import (
    Component,
    Components,
    SaseQuery,
    SaseStrategy,
    list_component_variables,
)
from matchrec.patterns.sase.test_points import find_test_point
from matchrec.plan import clauses
from matchrec.plan.build_expressions import join_conditions, make_column, make_comparison
from matchrec.plan.change_expressions import map_column_references
from matchrec.plan.clauses import Definition, RowExpression
from matchrec.plan.expression import (
    Aggregate,
    Navigation,
    Operation,
    Scalar,
    Semantics,
    Term,
    find_column_path,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Quantified, RowPattern, Variable, make_concatenation
from matchrec.plan.rules import check_plan
from matchrec.syntax.key_arguments import make_key_expression
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import read_column_path


def lower_sase(query: SaseQuery, options: nodes.StreamOptions) -> MatchPlan:
    """Return the plan of a SASE+ query.

    Two items of RETURN may not have the same name. Names that differ only in case are accepted
    here, because the session decides whether they are different.

    Raises:
        MatchRecognizeError: two items have the same name, or the plan has no meaning.

    >>> from matchrec.patterns.sase.parser import parse
    >>> query = parse("PATTERN SEQ(Stock+ a[], Stock b) WHERE skip_till_any_match { a[i].x > 1 }")
    >>> plan = lower_sase(query, nodes.StreamOptions(("ts",)))
    >>> plan.variables, plan.selection.value
    (('a[1]', 'a[i]', 'b'), 'SKIP TILL ANY MATCH')
    """
    components = query.components
    definitions = build_definitions(query, make_type_expression(options.type_column))
    window = query.window
    has_match_condition = any(
        definition.variable == nodes.END_OF_MATCH for definition in definitions
    )
    plan = MatchPlan(
        pattern=build_pattern(components),
        partition_by=tuple(make_key_expression(text) for text in options.partition_by),
        equivalence_keys=build_equivalence_keys(query),
        order_by=tuple(clauses.SortItem(make_key_expression(text)) for text in options.order_by),
        measures=query.items or build_event_arrays(components),
        within=clauses.Within(window) if isinstance(window, RowExpression) else None,
        within_rows=window if isinstance(window, int) else None,
        subsets=build_subsets(components),
        definitions=definitions,
        selection=find_selection(query.strategy),
        output=options.output,
        first_matches=query.first_matches,
        absences=build_absences(components),
        match_condition=nodes.END_OF_MATCH if has_match_condition else None,
    )
    check_plan(plan)
    return plan


def find_selection(strategy: SaseStrategy) -> clauses.EventSelection:
    """Return the event selection of a plan.

    Partition contiguity becomes strict contiguity, because equivalence keys divide the partitions.
    """
    if strategy is SaseStrategy.PARTITION_CONTIGUITY:
        return clauses.EventSelection.STRICT_CONTIGUITY
    return clauses.EventSelection[strategy.name]


def make_type_expression(text: str) -> RowExpression:
    """Return the expression whose value is the type of an event.

    The text is not parsed here: the engine reports mistakes in it.
    """
    return RowExpression(text, column_path=read_column_path(read_tokens(text).tokens))


def build_pattern(components: Components) -> RowPattern:
    """Return the row pattern of the positive components: `a[1] a[i]* b` for `T+ a[], U b`.

    Negated components have no rows, so the row pattern does not contain them.
    """
    row_patterns: list[RowPattern] = []
    for component in components.positive:
        span = component.name.span
        first_variable, *repeated_variables = list_component_variables(component)
        row_patterns.append(Variable(first_variable, span))
        row_patterns += [
            Quantified(Variable(name, span), least=0, most=None) for name in repeated_variables
        ]
    return make_concatenation(row_patterns)


def build_equivalence_keys(query: SaseQuery) -> tuple[RowExpression, ...]:
    """Return the attributes of equivalence tests as keys that divide the partitions further.

    With strict contiguity there are no such keys: an event with another value of the attribute must
    end the match, so the event has to be in the same partition. `build_event_conditions` compares
    the values instead.
    """
    if query.strategy is SaseStrategy.STRICT_CONTIGUITY:
        return ()
    return tuple(
        RowExpression(
            write_row_sql(attribute),
            attribute.span,
            column_path=find_column_path(attribute),
            operations=attribute.operations,
        )
        for attribute in query.equivalent_attributes
    )


def build_event_arrays(components: Components) -> tuple[clauses.Measure, ...]:
    """Return the measures of a query without RETURN.

    Each positive component has a measure: the array of its events, as structs of all columns.
    """
    measures = []
    for component in components.positive:
        name = component.name.text
        span = component.name.span
        event = make_column(Navigation(name), "struct(*)", span)
        events = Aggregate("collect_list", name, (event,), Semantics.FINAL, span=span)
        measures.append(clauses.Measure(name, Term((events,), span), span))
    return tuple(measures)


def build_subsets(components: Components) -> tuple[clauses.Subset, ...]:
    """Return the union variable of each Kleene plus: `a` with the members `a[1]` and `a[i]`."""
    return tuple(
        clauses.Subset(
            component.name.text, list_component_variables(component), component.name.span
        )
        for component in components.positive
        if component.is_kleene_plus
    )


def build_absences(components: Components) -> tuple[clauses.Absence, ...]:
    """Return the absence of each negated component: no such event occurs between its neighbours."""
    absences = []
    for component in components.negated:
        name = component.name
        component_before, component_after = components.find_neighbours(component)
        absences.append(
            clauses.Absence(
                name.text,
                after=None if component_before is None else (component_before.name.text,),
                before=None if component_after is None else (component_after.name.text,),
                span=name.span,
            )
        )
    return tuple(absences)


# Definitions


def build_definitions(query: SaseQuery, type_column: RowExpression) -> tuple[Definition, ...]:
    """Return a definition for each variable that has a condition, in the order of the plan.

    The last definition is the one of `END_OF_MATCH`, if there is a condition on a complete match.

    Args:
        query: the query, for its predicates, equivalence tests and components.
        type_column: the expression whose value is the type of an event.

    Raises:
        MatchRecognizeError: no test point fits a conjunct, see `find_test_point`.
    """
    components = query.components
    conjuncts_by_point = group_conjuncts(query)
    definitions = []
    for component in (*components.positive, *components.negated):
        for variable in list_component_variables(component):
            conditions = [
                *build_event_conditions(query, component, variable, type_column),
                *conjuncts_by_point.get(variable, ()),
            ]
            if conditions:
                condition = join_conditions("AND", conditions)
                definitions.append(Definition(variable, condition, component.name.span))
    if nodes.END_OF_MATCH in conjuncts_by_point:
        condition = join_conditions("AND", conjuncts_by_point[nodes.END_OF_MATCH])
        definitions.append(Definition(nodes.END_OF_MATCH, condition))
    return tuple(definitions)


def group_conjuncts(query: SaseQuery) -> dict[str, list[Scalar]]:
    """Return the conjuncts of WHERE, grouped by test point and in the order of the text.

    Raises:
        MatchRecognizeError: no test point fits a conjunct.
    """
    conjuncts_by_point: dict[str, list[Scalar]] = {}
    for predicate in query.predicates:
        for conjunct in split_into_conjuncts(predicate):
            point = find_test_point(conjunct, query.components)
            conjuncts_by_point.setdefault(point, []).append(conjunct)
    return conjuncts_by_point


def build_event_conditions(
    query: SaseQuery, component: Component, variable: str, type_column: RowExpression
) -> list[Scalar]:
    """Return the conditions on the events of a variable that WHERE has not as predicates.

    For `Stock b` and the equivalence test `[symbol]`, these are `b.event_type = 'Stock'` and
    `b.symbol IS NOT NULL`, because NULL equals nothing. With strict contiguity, every variable
    except the first one, `a`, has `b.symbol = a.symbol` instead of `b.symbol IS NOT NULL`.

    Args:
        query: the query, for its strategy and its equivalence tests.
        component: a component of the query.
        variable: one of the component's primary variables.
        type_column: the expression whose value is the type of an event.
    """
    conditions: list[Scalar] = []
    if component.event_type is not None:
        event_type = make_column(
            Navigation(variable),
            type_column.text,
            component.event_type.span,
            type_column.column_path,
        )
        conditions.append(make_comparison("=", event_type, component.event_type))
    first_variable = query.components.test_points[0]
    for written_attribute in query.equivalent_attributes:
        attribute = bind_attribute(written_attribute, variable)
        if query.strategy is SaseStrategy.STRICT_CONTIGUITY and variable != first_variable:
            first_attribute = bind_attribute(written_attribute, first_variable)
            conditions.append(make_comparison("=", attribute, first_attribute))
        else:
            is_not_null = (attribute, " IS NOT NULL")
            conditions.append(Operation("IS NOT NULL", is_not_null, written_attribute.span))
    return conditions


def bind_attribute(attribute: Term, variable: str) -> Scalar:
    """Return an attribute as a column of the last row of a variable."""
    return map_column_references(
        attribute, lambda column: replace(column, navigation=Navigation(variable))
    )
