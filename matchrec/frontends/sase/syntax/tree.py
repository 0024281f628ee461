"""The parser's tree → nodes, one method per rule of `grammar.lark`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from lark import Token, Transformer, v_args
from lark.tree import Meta

from matchrec.errors.sase import expression as expression_errors
from matchrec.errors.sase import query as errors
from matchrec.frontends.sase.syntax import nodes
from matchrec.frontends.sase.syntax.nodes import Index
from matchrec.frontends.sase.syntax.strategy import strategy_named
from matchrec.frontends.sase.syntax.strings import in_single_quotes
from matchrec.frontends.sase.syntax.window import window
from matchrec.plan.text.sql_text import string_literal, unquoted
from matchrec.source import Span

Children = list[Any]

INDICES = {
    "": Index.ALL,
    "1": Index.FIRST,
    "i": Index.CURRENT,
    "i-1": Index.PREVIOUS,
    "..i-1": Index.SO_FAR,
}
OPERATORS = {"==": "=", "!=": "<>"}


def span_of(token: Token) -> Span:
    """Where a token stands."""
    assert token.start_pos is not None
    return Span(token.start_pos, token.start_pos + len(token))


def span_at(meta: Meta) -> Span:
    """Where all that a rule has read stands."""
    return Span(meta.start_pos, meta.end_pos)


def name_of(token: Token) -> nodes.Name:
    """A plain name."""
    return nodes.Name(str(token), span_of(token))


Method = Callable[["Nodes", Meta, Children], nodes.Apply]


def _operation(operator: str | None) -> Method:
    """The method of a rule whose parts are the operands of one operator."""

    def applied(_: Nodes, meta: Meta, parts: Children) -> nodes.Apply:
        return nodes.Apply(operator, tuple(parts), span_at(meta))

    return applied


def _negatable(operator: str) -> Method:
    """The method of `x [NOT] operator operands`."""

    def applied(_: Nodes, meta: Meta, parts: Children) -> nodes.Apply:
        words = [part for part in parts if isinstance(part, Token)]
        operands = tuple(part for part in parts if not isinstance(part, Token))
        return nodes.Apply(_upper([*words, operator]), operands, span_at(meta))

    return applied


def _upper(tokens: Children) -> str:
    return " ".join(token.upper() for token in tokens)


@v_args(meta=True)
class Nodes(Transformer[Token, nodes.SaseQuery]):
    """Makes nodes bottom up; every method takes where its rule stands, and its parts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def written(self, span: Span) -> str:
        return self.text[span.start : span.end]

    def query(self, _: Meta, parts: Children) -> nodes.SaseQuery:
        (components, span), where, within, items = parts
        return nodes.SaseQuery(self.text, components, span, where, within, items or ())

    # PATTERN

    def sequence(self, meta: Meta, parts: Children) -> tuple[tuple[nodes.Component, ...], Span]:
        if parts == [None]:
            raise errors.empty_sequence(span_at(meta))
        return tuple(parts), span_at(meta)

    def nested(self, meta: Meta, _: Children) -> None:
        raise errors.nested_sequence(span_at(meta))

    def event(self, meta: Meta, parts: Children) -> nodes.Component:
        event_type, *others = parts
        plus = others[0].type == "PLUS"
        name, *brackets = others[plus:]
        if plus != bool(brackets):
            raise errors.half_kleene(self.written(event_type.span), str(name), span_at(meta))
        return nodes.Component(event_type, name_of(name), kleene=plus)

    def absent(self, meta: Meta, parts: Children) -> nodes.Component:
        (component,) = parts
        if component.kleene:
            raise errors.negated_kleene(component.name.text, span_at(meta))
        return nodes.Component(component.event_type, component.name, kleene=False, negated=True)

    def event_type(self, _: Meta, parts: Children) -> nodes.EventType:
        (token,) = parts
        match token.type:
            case "ANY" | "STAR":
                literal = None
            case "STRING":
                literal = in_single_quotes(str(token))
            case _:
                literal = string_literal(unquoted(str(token)))
        return nodes.EventType(literal, span_of(token))

    def brackets(self, _: Meta, __: Children) -> str:
        return "[]"

    # WHERE

    def braced(self, _: Meta, parts: Children) -> nodes.Where:
        strategy, arguments, predicate = parts
        predicates = () if predicate is None else (predicate,)
        return _where(strategy, arguments, predicates)

    def flat(self, _: Meta, parts: Children) -> nodes.Where:
        strategy, *predicates = parts
        return _where(strategy, None, tuple(predicates))

    def arguments(self, _: Meta, parts: Children) -> tuple[Any, ...]:
        return tuple(parts)

    returned = arguments

    def argument(self, meta: Meta, parts: Children) -> nodes.Argument:
        return nodes.Argument(name_of(parts[0]), len(parts) > 1, span_at(meta))

    # WITHIN

    def within(self, _: Meta, parts: Children) -> nodes.TimeWindow | nodes.EventWindow:
        (length,) = parts
        if isinstance(length, nodes.Text):
            return nodes.TimeWindow(self.written(length.span), length.span)
        amounts, span = length
        return window(amounts, span)

    def duration(self, meta: Meta, parts: Children) -> tuple[Children, Span]:
        return parts, span_at(meta)

    def amount(self, _: Meta, parts: Children) -> tuple[nodes.Name, nodes.Name | None]:
        number, unit = (name_of(parts[0]), name_of(parts[1]) if len(parts) > 1 else None)
        return number, unit

    # RETURN

    def item(self, _: Meta, parts: Children) -> nodes.ReturnItem:
        expression, name = parts
        if name is not None:
            return nodes.ReturnItem(expression, name.text, name.span)
        attribute = expression.attribute if isinstance(expression, nodes.Identifier) else None
        span = expression.span
        default = attribute.names[-1] if attribute else " ".join(self.written(span).split())
        return nodes.ReturnItem(expression, default, span)

    # Operations

    disjunction = _operation("OR")
    conjunction = _operation("AND")
    case = _operation("CASE")
    case_of = _operation("CASE OF")
    subscript = _operation(None)

    def inverse(self, meta: Meta, parts: Children) -> nodes.Apply:
        return nodes.Apply("NOT", (parts[-1],), span_at(meta))

    def truth_test(self, meta: Meta, parts: Children) -> nodes.Apply:
        value, *words = parts
        return nodes.Apply(f"IS {_upper(words)}", (value,), span_at(meta))

    def distinction(self, meta: Meta, parts: Children) -> nodes.Apply:
        left, *words, right = parts
        operator = " ".join(["IS", *([_upper(words)] if words else []), "DISTINCT FROM"])
        return nodes.Apply(operator, (left, right), span_at(meta))

    between = _negatable("BETWEEN")
    membership = _negatable("IN")

    def likeness(self, meta: Meta, parts: Children) -> nodes.Apply:
        left, *words, right = parts
        operator = _upper(words) if words[-1].upper() == "LIKE" else None
        return nodes.Apply(operator, (left, right), span_at(meta))

    def binary(self, meta: Meta, parts: Children) -> nodes.Apply:
        left, operator, right = parts
        name = OPERATORS.get(operator, operator.upper())
        return nodes.Apply(name, (left, right), span_at(meta))

    def signed(self, meta: Meta, parts: Children) -> nodes.Expression:
        sign, value = parts
        if isinstance(value, nodes.Text):
            return nodes.Text(span_at(meta))
        return nodes.Apply("NEG" if sign == "-" else None, (value,), span_at(meta))

    # Operands

    def percentage(self, meta: Meta, parts: Children) -> nodes.Percentage:
        share = Decimal(parts[0].rstrip("%").strip()).scaleb(-2).normalize()
        return nodes.Percentage(f"{share:f}", span_at(meta))

    def bare_name(self, _: Meta, parts: Children) -> nodes.BareName:
        return nodes.BareName(name_of(parts[0]))

    def literal(self, meta: Meta, _: Children) -> nodes.Text:
        return nodes.Text(span_at(meta))

    interval = literal

    def cast(self, meta: Meta, parts: Children) -> nodes.Apply:
        return nodes.Apply(None, (parts[0],), span_at(meta))

    field = cast

    def quantity(self, _: Meta, __: Children) -> None:
        return None

    type = quantity

    def call(self, meta: Meta, parts: Children) -> nodes.Call:
        name, *arguments = parts
        values = tuple(one for one in arguments if one is not None)
        return nodes.Call(name_of(name), values, span_at(meta))

    def group(self, meta: Meta, parts: Children) -> nodes.Group:
        return nodes.Group(parts[0], span_at(meta))

    # What reads events

    def identifier(self, meta: Meta, parts: Children) -> nodes.Identifier | nodes.Length:
        token, index, attribute = parts
        name, span = name_of(token), span_at(meta)
        if index is None and self.written(attribute.span).upper() == "LEN":
            return nodes.Length(name, span)
        return nodes.Identifier(name, self._index(name, index), attribute, span)

    def whole(self, meta: Meta, parts: Children) -> nodes.Identifier:
        token, index = parts
        name = name_of(token)
        return nodes.Identifier(name, self._index(name, index), None, span_at(meta))

    def _index(self, name: nodes.Name, index: tuple[str, Span] | None) -> Index:
        if index is None:
            return Index.ALONE
        key, span = index
        known = INDICES | {f"{name.text}.LEN": Index.LAST, f"..{name.text}.LEN": Index.ALL}
        if key not in known:
            raise expression_errors.unknown_index(name.text, self.written(span), span)
        return known[key]

    def index(self, meta: Meta, parts: Children) -> tuple[str, Span]:
        return "".join(part for part in parts if part is not None).lower(), span_at(meta)

    def length_index(self, meta: Meta, parts: Children) -> tuple[str, Span]:
        *before, length = parts
        return f"{''.join(before)}.{length.upper()}", span_at(meta)

    def equivalence(self, meta: Meta, parts: Children) -> nodes.Equivalence:
        if parts == [None]:
            raise expression_errors.empty_equivalence(span_at(meta))
        return nodes.Equivalence(tuple(parts), span_at(meta))

    def attribute(self, meta: Meta, parts: Children) -> nodes.Attribute:
        return nodes.Attribute(tuple(part.text for part in parts), span_at(meta))

    def name(self, _: Meta, parts: Children) -> nodes.Name:
        (token,) = parts
        return nodes.Name(unquoted(str(token)), span_of(token))


def _where(
    strategy: Token,
    arguments: tuple[nodes.Argument, ...] | None,
    predicates: tuple[nodes.Expression, ...],
) -> nodes.Where:
    span = span_of(strategy)
    return nodes.Where(strategy_named(strategy, span), span, arguments, predicates)
