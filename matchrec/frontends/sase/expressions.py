"""Nodes of an expression → Scalar: identifiers and aggregates become references, the rest is text.

    b.volume < 80%*a[a.LEN].volume      →      < (b.volume, * (0.8, LAST(a.volume)))

What an identifier reads does not depend on where its conjunct is tested, see `placement`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from typing_extensions import assert_never

from matchrec.dataclass import dataclass
from matchrec.errors.sase import expression as errors
from matchrec.frontends.expressions.combined import with_holes
from matchrec.frontends.expressions.operations.operators import operation_of_call
from matchrec.frontends.expressions.references.field_names import NAMING, named_field
from matchrec.frontends.lexing.function_names import (
    AGGREGATES,
    NONDETERMINISTIC,
    OF_THE_MATCH,
    WINDOW_ONLY,
)
from matchrec.frontends.sase.components import Components
from matchrec.frontends.sase.syntax import nodes
from matchrec.frontends.sase.syntax.nodes import Expression, Index
from matchrec.frontends.sase.syntax.strings import in_single_quotes
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Navigation,
    Operation,
    Piece,
    Reference,
    Scalar,
    Term,
)
from matchrec.source import Span

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

    def scalar(self, node: Expression) -> Scalar:
        match node:
            case nodes.Text(span):
                return Term((in_single_quotes(self.text[span.start : span.end]),), span)
            case nodes.Percentage(sql, span):
                return Term((sql,), span)
            case nodes.Identifier():
                return self.identifier(node)
            case nodes.Length(name, span):
                return self.length(name, span)
            case nodes.BareName(name):
                if self.components.named(name.text) is None:
                    raise errors.bare_name(name.text, self.clause, name.span)
                return self.identifier(nodes.Identifier(name, Index.ALONE, None, name.span))
            case nodes.Group(inner, span):
                within = self.scalar(inner)
                return replace(within, pieces=self.woven(span, (within,)), span=span)
            case nodes.Call():
                return self.call(node)
            case nodes.Apply(operator, operands, span):
                return self.applied(operator, operands, span)
            case nodes.Equivalence(span=span):
                raise errors.equivalence_inside(self.clause, span)
            case _:
                assert_never(node)

    def woven(self, span: Span, parts: Sequence[Scalar]) -> tuple[Piece, ...]:
        """The exact text of `span`, with the pieces of its parts in their places."""
        holes = ((part.span, part.pieces) for part in parts)
        return with_holes(lambda at: self.text[at.start : at.end], span, holes)

    def applied(self, operator: str | None, operands: Iterable[Expression], span: Span) -> Scalar:
        parts = tuple(self.scalar(operand) for operand in operands)
        pieces = self.woven(span, parts)
        return Term(pieces, span) if operator is None else Operation(operator, parts, pieces, span)

    # Identifiers

    def component(self, name: nodes.Name) -> nodes.Component:
        """The component of a variable that may be read here."""
        found = self.components.named(name.text)
        if found is None:
            raise self.components.unknown(name, self.clause)
        if found.negated and self.clause == "RETURN":
            raise errors.negated_in_return(name.text, name.span)
        return found

    def identifier(self, node: nodes.Identifier) -> Term:
        navigation = self.navigation(node)
        if node.attribute is None:
            written = node.index.of(node.name.text)
            if node.index in RANGES:
                raise errors.missing_attribute_of_several(written, self.clause, node.span)
            raise errors.missing_attribute(written, self.clause, node.span)
        return term_of(ColumnReference(navigation, node.attribute.sql, node.span), node.span)

    def navigation(self, node: nodes.Identifier) -> Navigation:
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
                raise errors.range_outside_aggregate(node.index.of(name), self.clause, node.span)

    def check_index(self, node: nodes.Identifier) -> None:
        """The index is one that the component has, and that means something in the clause."""
        name, written = node.name.text, node.index.of(node.name.text)
        component = self.component(node.name)
        if component.kleene and node.index is Index.ALONE:
            attribute = node.attribute.names[0] if node.attribute else None
            raise errors.kleene_without_index(name, attribute, self.clause, node.span)
        if not component.kleene and node.index is not Index.ALONE:
            raise errors.index_of_one_event(name, written, self.clause, node.span)
        if node.index in ELEMENTS and self.clause == "RETURN":
            raise errors.element_in_return(name, written, node.span)

    def length(self, name: nodes.Name, span: Span) -> Term:
        if not self.component(name).kleene:
            raise errors.length_of_one_event(name.text, self.clause, span)
        if self.inside is not None:
            raise errors.nested_aggregate(f"{name.text}.LEN", self.clause, span)
        return term_of(Aggregate("count", name.text, (), span=span), span)

    # Functions

    def call(self, node: nodes.Call) -> Scalar:
        name = node.function.text
        if name.lower() in OVER_EVENTS:
            return self.aggregate(node)
        if name.upper() in AGGREGATES | OF_THE_MATCH | WINDOW_ONLY.keys():
            raise errors.unknown_aggregate(name, OVER_EVENTS, self.clause, node.function.span)
        if name.upper() in NONDETERMINISTIC and self.clause == "WHERE":
            raise errors.nondeterministic(name, node.function.span)
        if name.upper() in NAMING and self.clause == "RETURN":
            fields = [self.field(name.upper(), *one) for one in enumerate(node.arguments, 1)]
            return Term(self.woven(node.span, fields), node.span)
        operation = operation_of_call(name.upper(), len(node.arguments))
        return self.applied(operation, node.arguments, node.span)

    def field(self, function: str, place: int, argument: Expression) -> Scalar:
        """An argument after which a field is named."""
        part = self.scalar(argument)
        if len(part.pieces) != 1 or isinstance(part.pieces[0], str):
            return part
        attribute = argument.attribute if isinstance(argument, nodes.Identifier) else None
        name = attribute.names[-1] if attribute else None
        return replace(part, pieces=named_field(function, place, name, part.pieces))

    def aggregate(self, node: nodes.Call) -> Term:
        """One of the five over `a[..i-1]`, the events so far, or `a[]`, all of them."""
        function = node.function.text.lower()
        if self.inside is not None:
            raise errors.nested_aggregate(function, self.clause, node.span)
        if len(node.arguments) != 1:
            raise errors.wrong_number_of_arguments(function, len(node.arguments), node.span)
        (argument,) = node.arguments
        over = self.range_of(function, node)
        name = over.name.text
        arguments: tuple[Term, ...] = ()
        if over is not argument or over.attribute is not None or function != "count":
            value = replace(self, inside=name).scalar(argument)
            arguments = (Term(value.pieces, value.span),)
        so_far = over.index is Index.SO_FAR
        reference = Aggregate(function, name, arguments, so_far=so_far, span=node.span)
        return term_of(reference, node.span)

    def range_of(self, function: str, node: nodes.Call) -> nodes.Identifier:
        """The range over which an aggregate runs: that of all identifiers in it."""
        found = tuple(identifiers(node))
        for one in found:
            self.component(one.name)
            if one.index not in RANGES:
                raise errors.aggregate_of_one_event(function, self.clause, one.span)
            self.check_index(one)
        if not found:
            raise errors.aggregate_of_one_event(function, self.clause, node.span)
        first = found[0]
        for other in found[1:]:
            if (other.name.text, other.index) != (first.name.text, first.index):
                ranges = (first.index.of(first.name.text), other.index.of(other.name.text))
                raise errors.two_ranges(function, ranges, self.clause, (first.span, other.span))
        return first


def term_of(reference: Reference, span: Span) -> Term:
    """A reference by itself."""
    return Term((reference,), span)


def operands_of(node: Expression) -> tuple[Expression, ...]:
    """The expressions directly below a node."""
    match node:
        case nodes.Apply(operands=operands):
            return operands
        case nodes.Call(arguments=arguments):
            return arguments
        case nodes.Group(inner=inner):
            return (inner,)
        case _:
            return ()


def identifiers(node: Expression) -> Iterator[nodes.Identifier]:
    """All identifiers in an expression, from left to right."""
    if isinstance(node, nodes.Identifier):
        yield node
    for operand in operands_of(node):
        yield from identifiers(operand)
