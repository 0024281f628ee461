"""A plan as SASE+ text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from matchrec.dataclass import dataclass
from matchrec.errors import calls as errors
from matchrec.frontends.dialects.edits import Note
from matchrec.frontends.sase import compile_sase
from matchrec.frontends.sase.expressions import OVER_EVENTS
from matchrec.frontends.sase.lower import SELECTION
from matchrec.frontends.sase.nodes import Index
from matchrec.plan.clauses import Definition, MatchOutput, Subset
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    End,
    Ending,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Term,
    conjuncts,
    render,
    terms,
    with_references,
)
from matchrec.plan.match_plan import MatchPlan, with_each
from matchrec.plan.pattern import (
    Negation,
    Quantified,
    RowPattern,
    Variable,
    concatenation,
    show,
    simplify,
    top,
)
from matchrec.source import Span
from matchrec.writing.forms import (
    as_all_matches,
    reads_whole_rows,
    shape_of,
    with_named_rows,
    without_preference,
)
from matchrec.writing.names import (
    column,
    is_path,
    of_variable,
    plain,
    renamed,
    tidy,
    unwrapped,
)
from matchrec.writing.reading import (
    ReadQuery,
    notes_on_nulls,
    refuse_directions,
    refuse_gaps,
)
from matchrec.writing.stages import pattern_with_absences

# Which conditions are about an event's type, that SEQ says: `type_column = 'Stock'`.


def declared_type(plan: MatchPlan, variables: Sequence[str], column: str) -> str | None:
    """The type that all variables of a component have, as a literal."""
    first, *others = (list(types(plan, variable, column)) for variable in variables)
    return next((one for one in first if all(one in other for other in others)), None)


def types(plan: MatchPlan, variable: str, column: str) -> Iterator[str]:
    """The literals that the type of a variable's rows must equal."""
    for definition in plan.definitions:
        if definition.variable == variable:
            for one in conjuncts(definition.condition):
                literal = type_in(one, variable, column)
                if literal is not None:
                    yield literal


def type_in(condition: Scalar, variable: str, column: str) -> str | None:
    """The literal of `variable.column = literal`.

    >>> from matchrec.source import Span
    >>> here = Term((ColumnReference(Navigation("a"), "kind"),), Span(0, 1))
    >>> type_in(Operation("=", (here, Term(("'x'",), Span(0, 1))), Span(0, 1)), "a", "kind")
    "'x'"
    """
    match condition:
        case Operation("=", (left, Term((str(literal),)))) if literal.strip().startswith("'"):
            here = ColumnReference(Navigation(variable), plain(column))
            return literal.strip() if shape_of(left) == here else None
        case _:
            return None


# A row pattern as the components of SEQ: single rows, and Kleene pluses.
#
#     A B+ C D*     the variables A, B[1], B[i], C[1], C[i]; B and C are the
#     unions of two of them, because the first row of a Kleene plus has a condition of its own
#
# Whatever else a row pattern is made of, SEQ cannot say.

LANGUAGE = "SASE+"
ROWS = (("[1]", "[i]"), ("_1", "_I"))
"""How the names of the first and of further rows end."""

_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class SequenceComponent:
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


def components(plan: MatchPlan, place: Span) -> tuple[SequenceComponent, ...]:
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


def _components(
    parts: tuple[RowPattern, ...], plan: MatchPlan, place: Span
) -> Iterator[SequenceComponent]:
    at = 0
    while at < len(parts):
        part, following = parts[at], parts[at + 1 : at + 2]
        at += 1
        match part, *following:
            case Variable(first), Quantified(Variable(further), 0, None) if first != further:
                yield SequenceComponent(_union(first, further, plan), first, further)
                at += 1
            case Variable(name), *_:
                yield SequenceComponent(name, name)
            case Quantified(Variable(name), 1, None), *_:
                yield SequenceComponent(name, name, name)
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
    stems = (
        stem
        for one, other in ROWS
        if first.endswith(one) and further == (stem := first.removesuffix(one)) + other
    )
    return found or next(stems, first)


def in_components(plan: MatchPlan, found: tuple[SequenceComponent, ...]) -> MatchPlan:
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


def _rows(component: SequenceComponent) -> Iterator[RowPattern]:
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


STRATEGIES = {  # of two that are one selection, strict contiguity, which comes first
    selection: strategy for strategy, selection in reversed(SELECTION.items())
}
_STRING = re.compile(r"'([^\W\d]\w*)'")


@dataclass(frozen=True)
class Sase:
    """A plan with the variables of components. type_column: as in `sase`."""

    plan: MatchPlan
    components: tuple[SequenceComponent, ...]
    type_column: str


def for_sase(reading: ReadQuery, type_column: str) -> tuple[Sase, tuple[Note, ...]]:
    """The plan that SASE+ can say, and notes on what it cannot."""
    plan, place = with_named_rows(as_all_matches(reading.plan)), reading.places.output
    if plan.output is MatchOutput.PREFERRED:
        what = f"{plan.after_match.words} with preferred matches"
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


def _notes(reading: ReadQuery, kept: MatchPlan) -> Iterator[Note]:
    places = reading.places
    yield from notes_on_nulls(kept.order_by)
    if kept.output is MatchOutput.NON_OVERLAPPING:
        message = f'{LANGUAGE} has no {kept.output.value}: pass form="non_overlapping"'
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
    first = "" if plan.first_matches is None else f" {plan.first_matches.words}"
    lines = [f"PATTERN SEQ({', '.join(_sequence(query))}){first}"]
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
                yield f"~({_declared(query, SequenceComponent(name, name))})"


def _declared(query: Sase, component: SequenceComponent) -> str:
    """A component of SEQ with its type, which is a condition on the type column."""
    literal = declared_type(query.plan, component.variables, query.type_column) or "ANY"
    word = _STRING.fullmatch(literal)
    event_type = word[1] if word and word[1].upper() != "ANY" else literal
    loop = component.further is not None
    return f"{event_type}+ {component.name}[]" if loop else f"{event_type} {component.name}"


def _predicates(query: Sase) -> Iterator[str]:
    """The conditions but for the types that SEQ says."""
    column = query.type_column
    negated = (SequenceComponent(one.variable, one.variable) for one in query.plan.absences)
    said = {
        variable: declared_type(query.plan, one.variables, column)
        for one in (*query.components, *negated)
        for variable in one.variables
    }
    for definition in query.plan.definitions:
        for one in conjuncts(definition.condition):
            literal = type_in(one, definition.variable, column)
            if shape_of(one) == "TRUE" or (literal and literal == said[definition.variable]):
                continue
            text = unwrapped(_scalar(one, query))
            yield f"({text})" if isinstance(one, Operation) and one.operator == "OR" else text


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
    if aggregate.function not in OVER_EVENTS or not simple or aggregate.ignore_nulls:
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
