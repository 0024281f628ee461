"""SASE+ text → nodes: `grammar.lark` by the LALR parser of lark, and what a syntax error says."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, UnexpectedToken, VisitError
from lark.tree import Meta

from matchrec.errors.kinds import MatchRecognizeError, shown_in
from matchrec.errors.sase import expression as expression_errors
from matchrec.errors.sase import query as errors
from matchrec.errors.sql import clause as syntax_errors
from matchrec.frontends.lexing.tokens import MOST, whole_number
from matchrec.frontends.sase import nodes
from matchrec.frontends.sase.nodes import (
    EventWindow,
    Index,
    Name,
    SaseQuery,
    Strategy,
    TimeWindow,
    in_single_quotes,
)
from matchrec.plan.text import string_literal, unquoted
from matchrec.source import Source, Span


def parse(text: str) -> SaseQuery:
    """The nodes of a query.

    >>> query = parse("PATTERN SEQ(Shelf a, ~(Register b), Exit c) WITHIN 12 hours")
    >>> [component.written for component in query.components], query.window.sql
    (['a', 'b', 'c'], 'INTERVAL 12 HOUR')
    """
    with shown_in(Source(text)):
        try:
            return Nodes(text).transform(_grammar().parse(text))
        except UnexpectedInput as error:
            raise _syntax_error(error, text) from error
        except VisitError as error:
            if isinstance(error.orig_exc, RecursionError):
                raise _too_deep(text) from error
            raise error.orig_exc from None
        except RecursionError as error:
            raise _too_deep(text) from error


@cache
def _grammar() -> Lark:
    """The parser; it is made, and lark imported, when the first query is read."""
    package = "matchrec.frontends.sase"
    return Lark.open_from_package(
        package, "grammar.lark", parser="lalr", start="query", propagate_positions=True
    )


def _too_deep(text: str) -> MatchRecognizeError:
    return syntax_errors.expression_nested_too_deep("the query", Span(0, len(text)))


CLAUSES = {"_PATTERN": "PATTERN", "_WHERE": "WHERE", "_WITHIN": "WITHIN", "_RETURN": "RETURN"}


def _syntax_error(error: Any, text: str) -> MatchRecognizeError:
    """What stands where, and what could stand there instead.

    error: lark's UnexpectedInput, half of whose fields have no types.
    """
    stack = error.interactive_parser.parser_state.value_stack
    before = [part for part in stack if isinstance(part, Token)]
    accepted = frozenset(error.interactive_parser.accepts())
    clauses = [CLAUSES[token.type] for token in before if token.type in CLAUSES]
    where = clauses[-1] if clauses else "the query"
    found = error.token if isinstance(error, UnexpectedToken) else None
    if found is not None and found.type == "$END":
        return errors.unexpected_end(where, in_words(accepted), Span(len(text), len(text) + 1))
    start = error.pos_in_stream
    written = text[start] if found is None else str(found)
    span = Span(start, start + len(written))
    if found is None and written in "'\"`":
        return syntax_errors.unreadable_text(span)
    if text.startswith("/*", start - 1):
        return syntax_errors.unreadable_text(Span(start - 1, start))
    if before and before[-1].type == "STRATEGY" and "LBRACE" in accepted:
        strategy = before[-1]
        strategy_named(strategy, span_of(strategy))
    return errors.unexpected_token(written, where, in_words(accepted), span)


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


Method = Callable[["Nodes", Meta, Children], nodes.AppliedOperator]


def _operation(operator: str | None) -> Method:
    """The method of a rule whose parts are the operands of one operator."""

    def applied(_: Nodes, meta: Meta, parts: Children) -> nodes.AppliedOperator:
        return nodes.AppliedOperator(operator, tuple(parts), span_at(meta))

    return applied


def _negatable(operator: str) -> Method:
    """The method of `x [NOT] operator operands`."""

    def applied(_: Nodes, meta: Meta, parts: Children) -> nodes.AppliedOperator:
        words = [part for part in parts if isinstance(part, Token)]
        operands = tuple(part for part in parts if not isinstance(part, Token))
        return nodes.AppliedOperator(_upper([*words, operator]), operands, span_at(meta))

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
            raise errors.half_kleene(str(name), self.written(event_type.span), span_at(meta))
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

    def argument(self, meta: Meta, parts: Children) -> nodes.ListedComponent:
        return nodes.ListedComponent(name_of(parts[0]), len(parts) > 1, span_at(meta))

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

    def inverse(self, meta: Meta, parts: Children) -> nodes.AppliedOperator:
        return nodes.AppliedOperator("NOT", (parts[-1],), span_at(meta))

    def truth_test(self, meta: Meta, parts: Children) -> nodes.AppliedOperator:
        value, *words = parts
        return nodes.AppliedOperator(f"IS {_upper(words)}", (value,), span_at(meta))

    def distinction(self, meta: Meta, parts: Children) -> nodes.AppliedOperator:
        left, *words, right = parts
        operator = " ".join(["IS", *([_upper(words)] if words else []), "DISTINCT FROM"])
        return nodes.AppliedOperator(operator, (left, right), span_at(meta))

    between = _negatable("BETWEEN")
    membership = _negatable("IN")

    def likeness(self, meta: Meta, parts: Children) -> nodes.AppliedOperator:
        left, *words, right = parts
        operator = _upper(words) if words[-1].upper() == "LIKE" else None
        return nodes.AppliedOperator(operator, (left, right), span_at(meta))

    def binary(self, meta: Meta, parts: Children) -> nodes.AppliedOperator:
        left, operator, right = parts
        name = OPERATORS.get(operator, operator.upper())
        return nodes.AppliedOperator(name, (left, right), span_at(meta))

    def signed(self, meta: Meta, parts: Children) -> nodes.Expression:
        sign, value = parts
        if isinstance(value, nodes.Text):
            return nodes.Text(span_at(meta))
        return nodes.AppliedOperator("NEG" if sign == "-" else None, (value,), span_at(meta))

    # Operands

    def percentage(self, meta: Meta, parts: Children) -> nodes.Percentage:
        share = Decimal(parts[0].rstrip("%").strip()).scaleb(-2).normalize()
        return nodes.Percentage(f"{share:f}", span_at(meta))

    def bare_name(self, _: Meta, parts: Children) -> nodes.BareName:
        return nodes.BareName(name_of(parts[0]))

    def literal(self, meta: Meta, _: Children) -> nodes.Text:
        return nodes.Text(span_at(meta))

    interval = literal

    def cast(self, meta: Meta, parts: Children) -> nodes.AppliedOperator:
        return nodes.AppliedOperator(None, (parts[0],), span_at(meta))

    field = cast

    def quantity(self, _: Meta, __: Children) -> None:
        return None

    type = quantity

    def call(self, meta: Meta, parts: Children) -> nodes.FunctionCall:
        name, *arguments = parts
        values = tuple(one for one in arguments if one is not None)
        return nodes.FunctionCall(name_of(name), values, span_at(meta))

    def group(self, meta: Meta, parts: Children) -> nodes.Parenthesised:
        return nodes.Parenthesised(parts[0], span_at(meta))

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
    arguments: tuple[nodes.ListedComponent, ...] | None,
    predicates: tuple[nodes.Expression, ...],
) -> nodes.Where:
    span = span_of(strategy)
    return nodes.Where(strategy_named(strategy, span), span, arguments, predicates)


def strategy_named(written: str, span: Span) -> Strategy:
    """The strategy that is written, in any case; hyphens are as good as underscores.

    >>> strategy_named("Skip-Till-Any-Match", Span(0, 19)).name
    'SKIP_TILL_ANY_MATCH'
    """
    known = {strategy.value: strategy for strategy in Strategy}
    found = known.get(written.lower().replace("-", "_"))
    if found is None:
        raise errors.unknown_strategy(written, known, span)
    return found


Amount = tuple[Name, Name | None]
"""A number and its unit."""

UNITS = ("WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
CALENDAR = ("MONTH", "YEAR")


def window(amounts: list[Amount], span: Span) -> TimeWindow | EventWindow:
    """The window of one or more numbers, each with its unit."""
    (number, unit), *others = amounts
    if not others and unit is None:
        return TimeWindow(number.text, span)
    if not others and unit is not None and singular(unit) == "EVENT":
        events = whole_number(number.text) if number.text.isdigit() else 0
        if events is None:
            raise errors.too_many_events(MOST, number.span)
        if events == 0:
            raise errors.not_a_number_of_events(number.text, number.span)
        return EventWindow(events, span)
    parts = [f"{one.text} {unit_of(one, other)}" for one, other in amounts]
    return TimeWindow(f"INTERVAL {' '.join(parts)}", span)


def unit_of(number: Name, unit: Name | None) -> str:
    """The interval unit after a number."""
    if unit is None:
        raise errors.missing_unit(number.text, number.span)
    found = singular(unit)
    if found in CALENDAR:
        raise errors.calendar_unit(unit.text, unit.span)
    if found == "EVENT":
        raise errors.mixed_units(unit.span)
    if found not in UNITS:
        known = [f"{one.lower()}s" for one in (*UNITS, "EVENT")]
        raise errors.unknown_unit(unit.text, known, unit.span)
    if not number.text.isdigit() and found != "SECOND":
        raise errors.fraction_of_unit(number.text, unit.text, number.span.to(unit.span))
    return found


def singular(unit: Name) -> str:
    """The unit in upper case without the `s` of the plural."""
    return unit.text.upper().removesuffix("S")


Terminals = frozenset[str]

EVENT_TYPE = frozenset({"NAME", "STRING", "BACKQUOTED", "ANY", "STAR"})
VALUE = frozenset(
    {"NAME", "NUMBER", "STRING", "CONSTANT", "PERCENTAGE", "INTERVAL", "LPAR", "_CASE", "_CAST"}
    | {"PLUS", "MINUS"}
)
OPERATOR = frozenset(
    {"COMPARISON", "PLUS", "MINUS", "STAR", "SLASH", "MODULO", "DIV", "CONCAT", "LIKE", "NOT"}
    | {"_IS", "_IN", "_BETWEEN", "LSQB", "DOT"}
)
GROUPS: tuple[tuple[Terminals, Terminals, str], ...] = (
    (frozenset({"NUMBER", "_CASE", "LSQB"}), VALUE | {"NOT", "BANG", "LSQB"}, "an expression"),
    (frozenset({"NUMBER", "_CASE"}), VALUE | {"NOT", "BANG"}, "a value such as a.x or 1"),
    (frozenset({"ANY", "STAR"}), EVENT_TYPE, "an event type"),
    (frozenset({"COMPARISON", "PLUS"}), OPERATOR, "an operator"),
    (frozenset({"PLUS", "MINUS"}), OPERATOR, "an operator"),
    (frozenset({"NAME", "BACKQUOTED"}), frozenset({"NAME", "BACKQUOTED"}), "a name"),
    (frozenset({"TILDE", "BANG"}), frozenset({"TILDE", "BANG", "_SEQ"}), "`~` for a negation"),
)
"""Of several terminals: those that give a group away, all that are in it, and what it is."""

WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a string",
    "STRATEGY": "an event selection strategy such as skip_till_next_match",
    "TRUTH": "NULL, TRUE or FALSE",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "COMMA": "`,`",
    "DOT": "`.`",
    "DOTS": "`..`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "STAR": "`*`",
    "$END": "the end",
}


def in_words(accepted: Terminals) -> str:
    """What is accepted, as a sentence lists it.

    >>> in_words(frozenset({"_WITHIN", "_RETURN", "$END"}))
    'RETURN, WITHIN or the end'
    """
    phrases: list[str] = []
    for evidence, members, phrase in GROUPS:
        if evidence <= accepted:
            phrases.append(phrase)
            accepted -= members
    phrases += sorted(_word(terminal) for terminal in accepted)
    return " or ".join(part for part in (", ".join(phrases[:-1]), phrases[-1]) if part)


def _word(terminal: str) -> str:
    """A terminal that is in no group; the name of a keyword is that keyword."""
    return WORDS.get(terminal, terminal.lstrip("_"))
