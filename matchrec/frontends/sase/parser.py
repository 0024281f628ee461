"""SASE+ text → SaseQuery: `grammar.lark` by lark's LALR parser, and what a syntax error says."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedInput, UnexpectedToken

from matchrec.errors import sase as errors
from matchrec.errors.kinds import MatchRecognizeError, shown_in
from matchrec.errors.sql import clause as syntax_errors
from matchrec.frontends.lexing.tokens import (
    MOST,
    amount_of_interval,
    amount_of_number,
    first_matches,
    whole_number,
)
from matchrec.frontends.sase.expressions import attribute_read
from matchrec.frontends.sase.nodes import (
    Component,
    EventType,
    Expression,
    ListedComponent,
    Name,
    ReturnItem,
    SaseQuery,
    Strategy,
    WhereNode,
    amount_of_literal,
    in_single_quotes,
    name_of,
    span_of,
)
from matchrec.plan.clauses import RowExpression
from matchrec.plan.text import MICROSECONDS, string_literal, unquoted
from matchrec.shortcuts import once
from matchrec.source import Origin, Source, Span


def parse(text: str, origin: Origin | None = None) -> SaseQuery:
    """The clauses of a query. origin: what it was made of, which errors show.

    >>> query = parse("PATTERN SEQ(Shelf a, ~(Register b), Exit c) WITHIN 12 hours")
    >>> [component.written for component in query.components], query.window.text
    (['a', 'b', 'c'], 'INTERVAL 12 HOUR')
    """
    with shown_in(Source(text, origin)):
        try:
            return _query(_grammar().parse(text), text)
        except UnexpectedInput as error:
            raise _syntax_error(error, text) from error


parse_once = once(parse)


@cache
def _grammar() -> Lark:
    """The parser; it is made, and lark imported, when the first query is read."""
    package = "matchrec.frontends.sase"
    return Lark.open_from_package(
        package, "grammar.lark", parser="lalr", start="query", propagate_positions=True
    )


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
        ends = "is empty" if where == "the query" else f"ends in {where}"
        return errors.unexpected_end(
            Span(len(text), len(text) + 1), ends=ends, expected=in_words(accepted)
        )
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
    return errors.unexpected_token(span, text=written, where=where, expected=in_words(accepted))


# The clauses of a query. Expressions stay trees, which `expressions.py` reads.


def _query(tree: Expression, text: str) -> SaseQuery:
    sequence, first, where, within, returned = tree.children
    if sequence.children == [None]:
        raise errors.empty_sequence(span_of(sequence))
    return SaseQuery(
        text,
        tuple(_component(child, text) for child in sequence.children),
        span_of(sequence),
        where and _where(where),
        within and _window(within.children[0], text),
        tuple(_item(child, text) for child in returned.children) if returned else (),
        first and first_matches(str(first.children[0]), span_of(first)),
    )


def _component(tree: Expression, text: str) -> Component:
    """A part of SEQ."""
    span = span_of(tree)
    if tree.data == "nested":
        raise errors.nested_sequence(span)
    if tree.data == "absent":
        found = _component(tree.children[0], text)
        if found.kleene:
            raise errors.negated_kleene(span, variable=found.name.text)
        return replace(found, negated=True)
    event_type, plus, name, brackets = tree.children
    if bool(plus) != (brackets is not None):
        written = text[event_type.meta.start_pos : event_type.meta.end_pos]
        raise errors.half_kleene(span, variable=str(name), event_type=written)
    return Component(_event_type(event_type.children[0]), name_of(name), kleene=bool(plus))


def _event_type(token: Token) -> EventType:
    match token.type:
        case "ANY" | "STAR":
            literal = None
        case "STRING":
            literal = in_single_quotes(str(token))
        case _:
            literal = string_literal(unquoted(str(token)))
    return EventType(literal, span_of(token))


def _where(tree: Expression) -> WhereNode:
    """WHERE, with a conjunction in braces or with its parts one after the other."""
    strategy, *predicates = tree.children
    listed = predicates.pop(0) if tree.data == "braced" else None
    arguments = listed and tuple(
        ListedComponent(name_of(name), brackets is not None, span_of(child))
        for child in listed.children
        for name, brackets in [child.children]
    )
    found = strategy_named(strategy, span_of(strategy))
    return WhereNode(found, span_of(strategy), arguments, tuple(one for one in predicates if one))


def _item(tree: Expression, text: str) -> ReturnItem:
    """An item of RETURN."""
    expression, name = tree.children
    if name is not None:
        return ReturnItem(expression, unquoted(str(name.children[0])), span_of(name))
    span = span_of(expression)
    written = text[span.start : span.end]
    attribute = attribute_read(expression, text)
    default = attribute.names[-1] if attribute else " ".join(written.split())
    return ReturnItem(expression, default, span)


def strategy_named(written: str, span: Span) -> Strategy:
    """The strategy that is written, in any case; hyphens are as good as underscores.

    >>> strategy_named("Skip-Till-Any-Match", Span(0, 19)).name
    'SKIP_TILL_ANY_MATCH'
    """
    known = {strategy.value: strategy for strategy in Strategy}
    found = known.get(written.lower().replace("-", "_"))
    if found is None:
        raise errors.unknown_strategy(span, name=written, known=list(known))
    return found


CALENDAR = ("MONTH", "YEAR")


def _window(tree: Expression, text: str) -> RowExpression | int:
    """The window of an interval of SQL, or of numbers, each with its unit; or how many events."""
    span = span_of(tree)
    if tree.data == "interval":
        return RowExpression(text[span.start : span.end], span, amount=amount_of_literal(tree))
    amounts = [
        (name_of(number), unit and name_of(unit))
        for number, unit in (child.children for child in tree.children)
    ]
    (number, unit), *others = amounts
    if not others and unit is None:
        return RowExpression(number.text, span, amount=amount_of_number(number.text))
    if not others and unit is not None and singular(unit) == "EVENT":
        events = whole_number(number.text) if number.text.isdigit() else 0
        if events is None:
            raise errors.too_many_events(number.span, limit=MOST)
        if events == 0:
            raise errors.not_a_number_of_events(number.span, number=number.text)
        return events
    words = [word for name, other in amounts for word in (name.text, unit_of(name, other))]
    return RowExpression(f"INTERVAL {' '.join(words)}", span, amount=amount_of_interval(words))


def unit_of(number: Name, unit: Name | None) -> str:
    """The interval unit after a number."""
    if unit is None:
        raise errors.missing_unit(number.span, number=number.text)
    found = singular(unit)
    if found in CALENDAR:
        raise errors.calendar_unit(unit.span, unit=unit.text)
    if found == "EVENT":
        raise errors.mixed_units(unit.span)
    if found not in MICROSECONDS:
        known = [f"{one.lower()}s" for one in (*MICROSECONDS, "EVENT")]
        raise errors.unknown_unit(unit.span, name=unit.text, known=known)
    if not number.text.isdigit() and found != "SECOND":
        raise errors.fraction_of_unit(number.span.to(unit.span), number=number.text, unit=unit.text)
    return found


def singular(unit: Name) -> str:
    """The unit in upper case without the `s` of the plural."""
    return unit.text.upper().removesuffix("S")


Terminals = frozenset[str]

EVENT_TYPE = frozenset({"NAME", "STRING", "BACKQUOTED", "ANY", "STAR"})
VALUE = frozenset(
    {"NAME", "NUMBER", "STRING", "CONSTANT", "PERCENTAGE", "INTERVAL", "LPAR", "_CASE", "_CAST"}
    | {"PLUS", "MINUS", "PARAMETER"}
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
    "PARAMETER": "a parameter such as :limit",
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
