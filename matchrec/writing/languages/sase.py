"""A plan as SASE+ text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from matchrec.dataclass import dataclass
from matchrec.errors import writing as errors
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.sase import compile_sase
from matchrec.frontends.sase.syntax.nodes import Strategy
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.combined import conjuncts
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    End,
    Ending,
    Operation,
    Reference,
    Scalar,
    render,
    terms,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Negation, Variable, top
from matchrec.source import Span
from matchrec.writing.columns import column, is_path, tidy
from matchrec.writing.forms import as_all_matches, with_named_rows
from matchrec.writing.languages.components import LANGUAGE, Component, components, in_components
from matchrec.writing.languages.event_types import declared_type, type_in
from matchrec.writing.languages.limits import notes_on_nulls, refuse_directions, refuse_gaps
from matchrec.writing.negations import pattern_with_absences
from matchrec.writing.parentheses import unwrapped
from matchrec.writing.reading import Reading
from matchrec.writing.same_meaning import reads_whole_rows, shape_of

STRATEGIES = {
    EventSelection.STRICT_CONTIGUITY: Strategy.STRICT_CONTIGUITY,
    EventSelection.SKIP_TILL_NEXT_MATCH: Strategy.SKIP_TILL_NEXT_MATCH,
    EventSelection.SKIP_TILL_ANY_MATCH: Strategy.SKIP_TILL_ANY_MATCH,
}
AGGREGATES = ("avg", "sum", "min", "max", "count")
_STRING = re.compile(r"'([^\W\d]\w*)'")


@dataclass(frozen=True)
class Sase:
    """A plan with the variables of components. type_column: as in `sase`."""

    plan: MatchPlan
    components: tuple[Component, ...]
    type_column: str


def for_sase(reading: Reading, type_column: str) -> tuple[Sase, tuple[Note, ...]]:
    """The plan that SASE+ can say, and notes on what it cannot."""
    plan, place = with_named_rows(as_all_matches(reading.plan)), reading.places.output
    if plan.output is MatchOutput.PREFERRED:
        what = f"AFTER MATCH SKIP {plan.after_match.to.value} with preferred matches"
        hint = "write ALL MATCHES or NON-OVERLAPPING MATCHES behind PATTERN"
        raise errors.cannot_write(LANGUAGE, what, place, hint)
    refuse_directions(plan.order_by, LANGUAGE)
    refuse_gaps(reading, LANGUAGE)
    if plan.row_gap is not None:
        hint = "write the distance as a condition"
        raise errors.cannot_write(LANGUAGE, "WITHIN BETWEEN ROWS", plan.row_gap.span, hint)
    found = components(plan, reading.places.pattern)
    kept = with_named_rows(in_components(plan, found))
    return Sase(kept, found, type_column), tuple(_notes(reading, kept))


def _notes(reading: Reading, kept: MatchPlan) -> Iterator[Note]:
    places = reading.places
    yield from notes_on_nulls(kept.order_by)
    if kept.output is MatchOutput.NON_OVERLAPPING:
        message = f"{LANGUAGE} has no {kept.output.value}: pass output='non_overlapping'"
        yield Note(message, places.output)
    if not kept.measures:
        message = "a column comes out for each variable: the array of its events"
        yield Note(message, places.measures)


def write_sase(query: Sase) -> str:
    """The text."""
    plan, found = query.plan, query.components
    predicates = list(_predicates(query))
    strategy = STRATEGIES[plan.selection].value
    listed = ", ".join(one.written for one in found)
    lines = [f"PATTERN SEQ({', '.join(_sequence(query))})"]
    inside = "\n    AND ".join(predicates)
    braces = f"{{\n    {inside}\n}}" if inside else "{ }"
    lines.append(f"WHERE {strategy}({listed}) {braces}")
    if plan.within is not None:
        lines.append(f"WITHIN {plan.within.interval.text}")
    if plan.within_rows is not None:
        lines.append(f"WITHIN {plan.within_rows} EVENTS")
    returned = [
        f"{_scalar(one.value, query)} AS {column(one.name)}"
        for one in plan.measures
        if not reads_whole_rows(one.value)
    ]
    if returned:
        lines.append("RETURN " + ",\n       ".join(returned))
    return "\n".join(lines)


def read_again(text: str, query: Sase) -> MatchPlan:
    """The plan of the text that was written."""
    plan = query.plan
    read = compile_sase(
        text,
        tuple(item.expression.text for item in plan.order_by),
        tuple(key.text for key in plan.partition_by),
        query.type_column,
        plan.output,
    )
    measures = read.measures if plan.measures else ()  # else arrays of events, which have a note
    return replace(read, order_by=plan.order_by, measures=measures)


def _sequence(query: Sase) -> Iterator[str]:
    """The components of SEQ, negated ones where they stand."""
    by_first = {one.variables[0]: one for one in query.components}
    for part in top(pattern_with_absences(query.plan)):
        match part:
            case Variable(name):
                yield _declared(query, by_first[name])
            case Negation((name,)):
                yield f"~({_declared(query, Component(name, name))})"


def _declared(query: Sase, component: Component) -> str:
    """A component of SEQ with its type, which is a condition on the type column."""
    literal = declared_type(query.plan, component.variables, query.type_column) or "ANY"
    word = _STRING.fullmatch(literal)
    event_type = word[1] if word and word[1].upper() != "ANY" else literal
    loop = component.further is not None
    return f"{event_type}+ {component.name}[]" if loop else f"{event_type} {component.name}"


def _predicates(query: Sase) -> Iterator[str]:
    """The conditions but for the types that SEQ says."""
    column = query.type_column
    said = {
        variable: declared_type(query.plan, one.variables, column)
        for one in (*query.components, *_negated(query.plan))
        for variable in one.variables
    }
    for definition in query.plan.definitions:
        for one in conjuncts(definition.condition):
            literal = type_in(one, definition.variable, column)
            if shape_of(one) == "TRUE" or (literal and literal == said[definition.variable]):
                continue
            text = unwrapped(_scalar(one, query))
            yield f"({text})" if isinstance(one, Operation) and one.operator == "OR" else text


def _negated(plan: MatchPlan) -> Iterator[Component]:
    return (Component(one.variable, one.variable) for one in plan.absences)


def _scalar(scalar: Scalar, query: Sase) -> str:
    return render(scalar, lambda one: _reference(one, query))


def _reference(reference: Reference, query: Sase) -> str:
    """An identifier, or an aggregate; refuses what SASE+ has no words for."""
    match reference:
        case ColumnReference():
            return _identifier(reference, query)
        case Aggregate():
            return _aggregate(reference, query)
        case Ending(asked=asked):
            raise errors.cannot_write(LANGUAGE, f"{asked.value}()", reference.span)
        case _:
            name = {"Classifier": "CLASSIFIER", "MatchNumber": "MATCH_NUMBER"}
            what = f"{name[type(reference).__name__]}()"
            raise errors.cannot_write(LANGUAGE, what, reference.span)


def _identifier(reference: ColumnReference, query: Sase) -> str:
    navigation, span = reference.navigation, reference.span
    if navigation.physical_offset:
        what = "PREV and NEXT: it reads rows of the match only"
        raise errors.cannot_write(LANGUAGE, what, span)
    attribute = _attribute(reference.argument, span)
    unions = {one.name for one in query.components if one.further}
    name = navigation.variable
    match navigation.end, navigation.logical_offset, name in unions:
        case End.LAST, 0, False if name is not None:
            return f"{name}.{attribute}"
        case End.LAST, 0, True:
            return f"{name}[{name}.LEN].{attribute}"
        case End.LAST, 1, True:
            return f"{name}[i-1].{attribute}"
        case End.FIRST, 0, True:
            return f"{name}[1].{attribute}"
    what = "this row: it reads the first, the last, and the one before of a variable"
    raise errors.cannot_write(LANGUAGE, what, span)


def _attribute(argument: str, span: Span | None) -> str:
    if not is_path(argument):
        hint = "read each column by itself"
        raise errors.cannot_write(LANGUAGE, f"`{argument}` of another row", span, hint)
    return tidy(argument)


def _aggregate(aggregate: Aggregate, query: Sase) -> str:
    unions = {one.name for one in query.components if one.further}
    name, span = aggregate.variable, aggregate.span
    simple = not (aggregate.distinct or aggregate.condition or aggregate.ordering)
    if aggregate.function not in AGGREGATES or not simple or aggregate.ignore_nulls:
        raise errors.cannot_write(LANGUAGE, f"this `{aggregate.function}`", span)
    if name not in unions:
        what = "an aggregate over anything but the rows of one Kleene plus"
        raise errors.cannot_write(LANGUAGE, what, span)
    over = f"{name}[..i-1]" if aggregate.so_far else f"{name}[]"

    def attribute(one: Reference) -> str:
        assert isinstance(one, ColumnReference), one
        return f"{over}.{_attribute(one.argument, one.span or span)}"

    written = ", ".join(render(term, attribute) for term in terms(aggregate))
    return f"{aggregate.function}({written or over})"
