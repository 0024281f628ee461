"""Components and expressions of SASE+: variables of the plan, and references to their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from matchrec.errors import MatchRecognizeError
from matchrec.errors import sase as errors
from matchrec.errors.sql.expression import nondeterministic
from matchrec.frontends.expressions.expression import SAME_SIGNS
from matchrec.frontends.expressions.operands import NAMING, named_field, operation_of_call
from matchrec.frontends.lexing.tokens import AGGREGATES, OF_THE_MATCH, WINDOW_ONLY, amount_of_number
from matchrec.frontends.sase.nodes import (
    Attribute,
    Component,
    Expression,
    Identifier,
    Index,
    Name,
    SaseQuery,
    WhereNode,
    amount_of_literal,
    attribute_of,
    in_single_quotes,
    name_of,
    span_of,
)
from matchrec.plan.expression import (
    Aggregate,
    Navigation,
    Operation,
    Piece,
    Reference,
    Scalar,
    Term,
    around,
    column_term,
    enclosed,
    literal,
    set_apart,
)
from matchrec.plan.operations import NO_OPERATIONS, UNREAD, Operations, named, with_constant
from matchrec.plan.rules import refuse_repeated
from matchrec.plan.text import NONDETERMINISTIC, in_place
from matchrec.source import Span

# The components of SEQ, and the variables of the plan that stand for them.
#
# A Kleene plus `T+ a[]` is two primary variables, `a[1]` and `a[i]`, which the union variable `a`
# joins; any other component is one variable of its name.

CLOSING = "end of match"
"""The variable whose condition must hold of a whole match."""


@dataclass(frozen=True)
class Components:
    """What PATTERN declares, in order."""

    written: tuple[Component, ...]

    @cached_property
    def positive(self) -> tuple[Component, ...]:
        return tuple(component for component in self.written if not component.negated)

    @cached_property
    def negated(self) -> tuple[Component, ...]:
        return tuple(component for component in self.written if component.negated)

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
        return {component.name.text: component for component in self.written}

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
        after = [component.name.text for component in self.written[place:] if not component.negated]
        return next(reversed(before), None), next(iter(after), None)

    def unknown(self, name: Name, clause: str) -> MatchRecognizeError:
        """The error of a name that no component has."""
        known = {component.name.text: component.written for component in self.written}
        return errors.unknown_component(name.span, name=name.text, clause=clause, known=known)


def variables_of(component: Component) -> tuple[str, ...]:
    """The primary variables of a component."""
    name = component.name.text
    return (Index.FIRST.of(name), Index.CURRENT.of(name)) if component.kleene else (name,)


def declared(query: SaseQuery) -> Components:
    """The components of a query; refuses what no query may declare."""
    components = Components(query.components)
    # variables become columns, whose case does not count
    names = [(component.name.text, component.name.span) for component in components.written]
    refuse_repeated(names, errors.duplicate_variable, str.upper)
    if not components.positive:
        raise errors.nothing_positive(query.sequence_span)
    if query.window is None:
        _refuse_open_negations(components)
    if query.where is not None:
        _check_arguments(query.where, components)
    return components


def _refuse_open_negations(components: Components) -> None:
    for component in components.negated:
        after, before = components.neighbours(component)
        if after is None or before is None:
            end, side = ("beginning", "before") if after is None else ("end", "after")
            span = component.event_type.span.to(component.name.span)
            raise errors.negation_without_window(span, name=component.name.text, end=end, side=side)


def _check_arguments(where: WhereNode, components: Components) -> None:
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
            what = "a Kleene plus" if component.kleene else "one event"
            raise errors.argument_written_otherwise(
                argument.span, name=name, what=what, written=component.written
            )
        if name in seen:
            raise errors.argument_twice((seen[name], argument.span), written=component.written)
        seen[name] = argument.span
    missing = [one.written for one in components.positive if one.name.text not in seen]
    if missing:
        span = where.arguments[0].span.to(where.arguments[-1].span)
        raise errors.arguments_missing(where.strategy.value, missing, span)


# An expression → Scalar: identifiers and aggregates become references, the rest is text.
#
#     b.volume < 80%*a[a.LEN].volume      →      < (b.volume, * (0.8, LAST(a.volume)))
#
# What an identifier reads does not depend on where its conjunct is tested, see `sase.lower`.

OVER_EVENTS = ("avg", "sum", "min", "max", "count")
RANGES = (Index.SO_FAR, Index.ALL)
ELEMENTS = (Index.CURRENT, Index.PREVIOUS, Index.SO_FAR)


@dataclass(frozen=True, slots=True)
class ExpressionReader:
    """Reads the expressions of one clause, WHERE or RETURN.

    inside: the variable over whose events an aggregate runs, while its argument is read.
    """

    text: str
    components: Components
    clause: str
    inside: str | None = None

    def scalar(self, tree: Expression) -> Scalar:
        span, parts = span_of(tree), tree.children
        match tree.data:
            case "percentage":
                share = Decimal(parts[0].rstrip("%").strip()).scaleb(-2).normalize()
                written = f"{share:f}"
                return literal(written, span, amount_of_number(written))
            case "bare_name":
                name = name_of(parts[0])
                if self.components.named(name.text) is None:
                    raise errors.bare_name(span, name=name.text, clause=self.clause)
                return self.identifier(Identifier(name, Index.ALONE, None, span))
            case "identifier" | "whole":
                found = identifier_of(tree, self.text)
                is_length = found.index is Index.LENGTH
                return self.length(found) if is_length else self.identifier(found)
            case "group":
                return enclosed(self.scalar(parts[0]), self.written, span)
            case "call":
                return self.call(tree)
            case "equivalence":
                attributes_of(tree)
                raise errors.equivalence_inside(span, clause=self.clause)
        if is_literal(tree):
            return literal(in_single_quotes(self.written(span)), span, amount_of_literal(tree))
        return self.applied(operator_of(tree), operands_of(tree), span)

    def woven(self, span: Span, parts: Sequence[Scalar]) -> tuple[Piece, ...]:
        """The exact text of `span`, with the pieces of its parts in their places."""
        return set_apart(in_place(self.written, span, ((part.span, part.pieces) for part in parts)))

    def written(self, span: Span) -> str:
        return self.text[span.start : span.end]

    def applied(
        self,
        operator: str | None,
        operands: Sequence[Expression],
        span: Span,
        own: Operations = UNREAD,
    ) -> Scalar:
        """An operation. own: of what is opaque, where there is no operator."""
        parts = tuple(self.scalar(operand) for operand in operands)
        if operator is None:
            every = own.union(*(part.operations for part in parts))
            return Term(self.woven(span, parts), span, every)
        own = self.before_constant(operator, operands)
        return Operation(operator, around(parts, self.written, span), span, own=own)

    def before_constant(self, operator: str, operands: Sequence[Expression]) -> Operations:
        """The operation that stands before a number or text; nothing where none does."""
        if len(operands) != 2 or not is_literal(operands[1]):
            return NO_OPERATIONS
        written = self.written(span_of(operands[1]))
        found = with_constant(operator.removeprefix("NOT "), written)
        return NO_OPERATIONS if found == operator else frozenset({found})

    # Identifiers

    def component(self, name: Name) -> Component:
        """The component of a variable that may be read here."""
        found = self.components.named(name.text)
        if found is None:
            raise self.components.unknown(name, self.clause)
        if found.negated and self.clause == "RETURN":
            raise errors.negated_in_return(name.span, name=name.text)
        return found

    def identifier(self, node: Identifier) -> Term:
        navigation = self.navigation(node)
        if node.attribute is None:
            written = node.index.of(node.name.text)
            if node.index in RANGES:
                raise errors.missing_attribute_of_several(
                    node.span, written=written, clause=self.clause
                )
            raise errors.missing_attribute(node.span, written=written, clause=self.clause)
        return column_term(navigation, node.attribute.sql, node.span, node.attribute.names)

    def navigation(self, node: Identifier) -> Navigation:
        """The row that an identifier reads, in an aggregate each of its rows."""
        self.check_index(node)
        name = node.name.text
        if self.inside is not None:
            return Navigation(self.inside)
        match node.index:
            case Index.ALONE | Index.LAST:
                return Navigation(name)
            case Index.FIRST | Index.CURRENT:
                return Navigation(node.index.of(name))
            case Index.PREVIOUS:
                return Navigation(name, logical_offset=1)
            case _:
                raise errors.range_outside_aggregate(
                    node.span, written=node.index.of(name), clause=self.clause, name=name
                )

    def check_index(self, node: Identifier) -> None:
        """The index is one that the component has, and that means something in the clause."""
        name, written = node.name.text, node.index.of(node.name.text)
        component = self.component(node.name)
        if component.kleene and node.index is Index.ALONE:
            attribute = node.attribute.names[0] if node.attribute else ""
            raise errors.kleene_without_index(
                node.span,
                written=f"{name}.{attribute}".rstrip("."),
                clause=self.clause,
                name=name,
                attribute=attribute or "x",
            )
        if not component.kleene and node.index is not Index.ALONE:
            raise errors.index_of_one_event(
                node.span, written=written, clause=self.clause, name=name
            )
        if node.index in ELEMENTS and self.clause == "RETURN":
            raise errors.element_in_return(node.span, written=written, name=name)

    def length(self, node: Identifier) -> Term:
        name, span = node.name.text, node.span
        if not self.component(node.name).kleene:
            raise errors.length_of_one_event(span, name=name, clause=self.clause)
        if self.inside is not None:
            raise errors.nested_aggregate(span, function=f"{name}.LEN", clause=self.clause)
        return term_of(Aggregate("count", name, (), span=span), span)

    # Functions

    def call(self, tree: Expression) -> Scalar:
        token, *found = tree.children
        arguments = [one for one in found if one is not None]
        name, place, span = str(token), span_of(token), span_of(tree)
        if name.lower() in OVER_EVENTS:
            return self.aggregate(name.lower(), arguments, span)
        if name.upper() in AGGREGATES | OF_THE_MATCH | WINDOW_ONLY:
            raise errors.unknown_aggregate(
                place, function=name, clause=self.clause, known=OVER_EVENTS
            )
        if name.upper() in NONDETERMINISTIC and self.clause == "WHERE":
            raise nondeterministic(place, function=name)
        if name.upper() in NAMING and self.clause == "RETURN":
            fields = [self.field(name.upper(), *one) for one in enumerate(arguments, 1)]
            return Term(self.woven(span, fields), span)
        operator = operation_of_call(name.upper(), len(arguments))
        return self.applied(operator, arguments, span, named(name.upper()))

    def field(self, function: str, place: int, argument: Expression) -> Scalar:
        """An argument after which a field is named."""
        part = self.scalar(argument)
        if isinstance(part, Operation) or len(part.pieces) != 1 or isinstance(part.pieces[0], str):
            return part
        attribute = attribute_read(argument, self.text)
        name = attribute.names[-1] if attribute else None
        return replace(part, pieces=named_field(function, place, name, part.pieces))

    def aggregate(self, function: str, arguments: list[Expression], span: Span) -> Term:
        """One of the five over `a[..i-1]`, the events so far, or `a[]`, all of them."""
        if self.inside is not None:
            raise errors.nested_aggregate(span, function=function, clause=self.clause)
        if len(arguments) != 1:
            raise errors.wrong_number_of_arguments(function, len(arguments), span)
        (argument,) = arguments
        over = self.range_of(function, argument, span)
        name = over.name.text
        terms: tuple[Term, ...] = ()
        if over.span != span_of(argument) or over.attribute is not None or function != "count":
            value = replace(self, inside=name).scalar(argument)
            terms = (Term(value.pieces, value.span, value.operations),)
        so_far = over.index is Index.SO_FAR
        return term_of(Aggregate(function, name, terms, so_far=so_far, span=span), span)

    def range_of(self, function: str, argument: Expression, span: Span) -> Identifier:
        """The range over which an aggregate runs: that of all identifiers in its argument."""
        found = tuple(identifiers(argument, self.text))
        for one in found:
            self.component(one.name)
            if one.index not in RANGES:
                raise errors.aggregate_of_one_event(one.span, function=function, clause=self.clause)
            self.check_index(one)
        if not found:
            raise errors.aggregate_of_one_event(span, function=function, clause=self.clause)
        first = found[0]
        for other in found[1:]:
            if (other.name.text, other.index) != (first.name.text, first.index):
                ranges = (first.index.of(first.name.text), other.index.of(other.name.text))
                raise errors.two_ranges(
                    (first.span, other.span), function=function, clause=self.clause, ranges=ranges
                )
        return first


def term_of(reference: Reference, span: Span) -> Term:
    """A reference by itself."""
    return Term((reference,), span)


# Trees of the grammar: operators and their operands, identifiers and their indices.

OPERATORS = {
    "disjunction": "OR",
    "conjunction": "AND",
    "inverse": "NOT",
    "case": "CASE",
    "case_of": "CASE OF",
    "truth_test": "IS {}",
    "distinction": "IS {} DISTINCT FROM",
    "between": "{} BETWEEN",
    "membership": "{} IN",
    "likeness": "{}",
    "binary": "{}",
    "signed": "{}",
}
"""The operator that each rule applies, with the words or signs that its tree has."""

INDICES = {
    "": Index.ALL,
    "1": Index.FIRST,
    "i": Index.CURRENT,
    "i-1": Index.PREVIOUS,
    "..i-1": Index.SO_FAR,
}


def operator_of(tree: Expression) -> str | None:
    """The operator as in plan.Operation, None where only Spark knows what a rule does."""
    words = " ".join(part.upper() for part in tree.children if isinstance(part, str))
    match tree.data:
        case "signed":
            return "NEG" if words == "-" else None
        case "likeness" if words not in ("LIKE", "NOT LIKE"):
            return None
        case "inverse":
            words = ""
    found = " ".join(OPERATORS.get(tree.data, "").format(words).split())
    return SAME_SIGNS.get(found, found) or None


def operands_of(tree: Expression) -> list[Expression]:
    """The expressions directly below a tree."""
    found = (part for part in tree.children if part is not None and not isinstance(part, str))
    return [part for part in found if part.data not in ("type", "name", "attribute")]


def is_literal(tree: Expression) -> bool:
    """Whether it is a literal, with a sign or without."""
    if tree.data == "signed":
        return is_literal(tree.children[1])
    return tree.data in ("literal", "interval")


def attributes_of(tree: Expression) -> tuple[Attribute, ...]:
    """The attributes of an equivalence test."""
    if tree.children == [None]:
        raise errors.empty_equivalence(span_of(tree))
    return tuple(map(attribute_of, tree.children))


def attribute_read(tree: Expression, text: str) -> Attribute | None:
    """The attribute of which an expression is the value, None where it is anything else."""
    return identifier_of(tree, text).attribute if tree.data == "identifier" else None


def identifier_of(tree: Expression, text: str) -> Identifier:
    """`a[i].price`, `a[]` or `a.LEN`. text: all of the query."""
    token, index, *attributes = tree.children
    name, span = name_of(token), span_of(tree)
    attribute = attribute_of(attributes[0]) if attributes else None
    if index is None and attribute and _written(attribute.span, text).upper() == "LEN":
        return Identifier(name, Index.LENGTH, None, span)
    return Identifier(name, _index_of(name, index, text), attribute, span)


def _written(span: Span, text: str) -> str:
    return text[span.start : span.end]


def _index_of(name: Name, tree: Expression, text: str) -> Index:
    """Which events of a variable an index is about."""
    if tree is None:
        return Index.ALONE
    parts = [part for part in tree.children if part is not None]
    key = "".join(parts).lower()
    if tree.data == "length_index":
        *before, length = parts
        key = f"{''.join(before)}.{length.upper()}"
    known = INDICES | {f"{name.text}.LEN": Index.LAST, f"..{name.text}.LEN": Index.ALL}
    if key not in known:
        span = span_of(tree)
        raise errors.unknown_index(span, name=name.text, written=_written(span, text))
    return known[key]


def identifiers(tree: Expression, text: str) -> Iterator[Identifier]:
    """All identifiers in an expression, from left to right."""
    if tree.data in ("identifier", "whole"):
        found = identifier_of(tree, text)
        if found.index is not Index.LENGTH:
            yield found
    else:
        for operand in operands_of(tree):
            yield from identifiers(operand, text)
