"""SASE+ text → SaseQuery: its clauses, each with what could stand where something else does."""

from __future__ import annotations

from dataclasses import replace

from matchrec.errors import sase as errors
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import SASE
from matchrec.errors.sql.clause import expression_nested_too_deep
from matchrec.patterns.sase.expressions import NAMES, EventReader, in_single_quotes, read_text
from matchrec.patterns.sase.nodes import Component, Components, SaseQuery, Strategy
from matchrec.plan.clauses import FirstMatches, Measure, RowExpression
from matchrec.plan.expression import Scalar, Term, literal, names_of, with_final_semantics
from matchrec.plan.rules import refuse_repeated
from matchrec.plan.text import MICROSECONDS, string_literal
from matchrec.shortcuts import once
from matchrec.source import Origin, Source, Span
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.tokens import (
    MOST,
    Token,
    TokenKind,
    amount_of_interval,
    amount_of_number,
    first_matches,
    refuse_unit_in_number,
    whole_number,
)


def parse(text: str, origin: Origin | None = None) -> SaseQuery:
    """A query of a text. origin: what it was made of, which errors show.

    >>> query = parse("PATTERN SEQ(Shelf a, ~(Register b), Exit c) WITHIN 12 hours")
    >>> [component.written for component in query.components.written], query.window.text
    (['a', 'b', 'c'], 'INTERVAL 12 HOUR')
    """
    with shown_in(Source(text, origin), SASE):
        tokens = read_text(text)
        if not tokens.tokens:
            raise errors.empty_query(Span(0, len(text) or 1))
        reader = QueryReader(tokens)
        try:
            return reader.query()
        except RecursionError as error:
            raise expression_nested_too_deep(reader.here, where=reader.clause) from error


parse_once = once(parse)


# What may stand after a clause.
FOLLOWS = {
    "PATTERN": "FIRST, RETURN, WHERE, WITHIN or the end",
    "WHERE": "RETURN, WITHIN or the end",
    "WITHIN": "RETURN or the end",
    "RETURN": "an operator, AND, AS, OR, `,` or the end",
}


class QueryReader(EventReader):
    """Reads the clauses; a word is a keyword only where one is due: attributes may be `from`."""

    def query(self) -> SaseQuery:
        self.require("PATTERN")
        self.clause, start = "PATTERN", self.position
        self.components = self.sequence()
        span, first = self.span(start, self.position), self.first_matches()
        is_where = self.enters("WHERE", ClausePart.DEFINE)
        strategy, predicates = self.where() if is_where else (Strategy.SKIP_TILL_NEXT_MATCH, ())
        window = self.window() if self.enters("WITHIN", ClausePart.WITHIN) else None
        if window is None:
            for component in self.components.negated:
                after, before = self.components.neighbours(component)
                if after is None or before is None:
                    end, side = ("beginning", "before") if after is None else ("end", "after")
                    place, name = component.span, component.name.text
                    raise errors.negation_without_window(place, name=name, end=end, side=side)
        is_return = self.enters("RETURN", ClausePart.MEASURES)
        items = tuple(self.several(self.item)) if is_return else ()
        if self.position < self.end:
            raise self.wrong(FOLLOWS[self.clause])
        tests = tuple(attribute for _, attributes in self.tests for attribute in attributes)
        return SaseQuery(self.components, span, strategy, predicates, tests, window, items, first)

    def enters(self, word: str, part: ClausePart) -> bool:
        """Whether a clause stands next, which is then the one that is read."""
        if found := self.accept(word):
            variables = tuple(map(str.upper, self.components.by_name))
            self.clause, self.scope = word, Scope(part, variables)
        return found

    def sequence(self) -> Components:
        start = self.position
        self.require("SEQ")
        self.require("(")
        if self.accept(")"):
            raise errors.empty_sequence(self.span(start, self.position))
        found = self.several(self.part)
        self.require(")", "`)`, `,` or `[`")
        # variables become columns, whose case does not count
        names = [(component.name.text, component.name.span) for component in found]
        refuse_repeated(names, errors.duplicate_variable, str.upper)
        if all(component.negated for component in found):
            raise errors.nothing_positive(self.span(start, self.position))
        return Components(tuple(found))

    def part(self) -> Component:
        start = self.position
        if not (self.accept("~") or self.accept("!")):
            return self.event()
        in_parentheses, found = self.accept("("), self.event()
        if in_parentheses:
            self.require(")")
        if found.kleene:
            raise errors.negated_kleene(self.span(start, self.position), variable=found.name.text)
        return replace(found, negated=True)

    def event(self) -> Component:
        start = self.position
        if self.key == "SEQ" and self.key_at(start + 1) == "(":
            raise errors.nested_sequence(self.text.call_span(start))
        event_type = self.event_type()
        type_span = self.span(start, self.position)
        plus = self.accept("+")
        name = self.taken("a name" if plus else "`+` or a name", TokenKind.WORD)
        if self.accept("[", "]") != plus:
            written = self.text.text_at(type_span)
            span = self.span(start, self.position)
            raise errors.half_kleene(span, variable=name.text, event_type=written)
        return Component(event_type, name, type_span.to(name.span), kleene=plus)

    def event_type(self) -> Term | None:
        if self.accept("*") or self.accept("ANY"):
            return None
        token = self.taken("an event type or `~` for a negation", *NAMES, TokenKind.STRING)
        written = in_single_quotes(token.text) if token.is_string else string_literal(token.text)
        return literal(written, token.span)

    def first_matches(self) -> FirstMatches | None:
        """As of SQL, PATTERN (...) FIRST 10 MATCHES."""
        start = self.position
        if not self.accept("FIRST"):
            return None
        number = self.taken("a number", TokenKind.NUMBER).text
        if not self.accept("MATCH"):
            self.require("MATCHES")
        return first_matches(number, self.span(start, self.position))

    # WHERE: the paper's way with braces, and the flat one of the SASE prototype

    def where(self) -> tuple[Strategy, tuple[Scalar, ...]]:
        """The strategy and the predicates but for equivalence tests."""
        start = self.position
        self.taken("an event selection strategy such as skip_till_next_match", TokenKind.WORD)
        while self.accept("-"):
            self.taken("a name", TokenKind.WORD)
        span = self.span(start, self.position)
        strategy = strategy_named(self.text.text_at(span), span)
        conditions, is_flat = [], self.key not in ("(", "{")
        if self.key == "(":
            self.check_list(strategy)
        if not is_flat:
            self.require("{")
            if self.key != "}":
                conditions.append(self.expression())
            self.require("}", "an operator, AND, OR or `}`")
        while is_flat and self.accept("AND"):
            conditions.append(self.negation())
        if is_flat and self.position < self.end and self.key not in ("WITHIN", "RETURN"):
            begun = "" if conditions else " `(`, `{`,"
            raise self.wrong(f"AND, RETURN,{begun} WITHIN or the end")
        predicates = self.predicates(conditions)
        if strategy is Strategy.PARTITION_CONTIGUITY and not self.tests:
            raise errors.nothing_to_partition_by(span)
        return strategy, predicates

    def check_list(self, strategy: Strategy) -> None:
        """The strategy lists each positive component once; negated ones may be left out."""
        self.require("(")
        start, found = self.position, self.several(self.listed)
        span = self.span(start, self.position)
        self.require(")", "`)`, `,` or `[`")
        refuse_repeated(found, errors.argument_twice)
        names = dict(found)
        if missing := [one.written for one in self.components.positive if one.written not in names]:
            raise errors.arguments_missing(span, strategy=strategy.value, missing=missing)

    def listed(self) -> tuple[str, Span]:
        start, name = self.position, self.taken("a name", TokenKind.WORD)
        kleene, component = self.accept("[", "]"), self.components.known(name, self.clause)
        span, due = self.span(start, self.position), component.written
        if component.kleene != kleene:
            what = "a Kleene plus" if component.kleene else "one event"
            raise errors.argument_written_otherwise(span, name=name.text, what=what, written=due)
        return due, span

    def window(self) -> RowExpression | int:
        """The window of an interval of SQL, or of numbers, each with its unit; or of events."""
        if self.key == "INTERVAL":
            if not self.is_interval():
                self.position += 1
                raise self.wrong("a number or a text with a unit of time")
            interval = self.interval()
            text, amount = self.written(interval.span), interval.amount
            return RowExpression(text, interval.span, amount=amount, is_constant=amount is None)
        start = self.position
        amounts: list[tuple[Token, Token | None]] = []
        while not amounts or self.kind_at(self.position) is TokenKind.NUMBER:
            number = self.taken("INTERVAL or a number", TokenKind.NUMBER)
            begins_clause = self.key in ("RETURN", "GROUP", "ORDER")
            has_unit = self.kind_at(self.position) is TokenKind.WORD and not begins_clause
            amounts.append((number, self.taken("a unit", TokenKind.WORD) if has_unit else None))
        (number, unit), *others = amounts
        span = self.span(start, self.position)
        if not others and unit is None:
            refuse_unit_in_number(number)
            amount = amount_of_number(number.text)
            return RowExpression(number.text, span, amount=amount, is_constant=amount is None)
        if not others and unit is not None and unit.text.upper() in ("EVENT", "EVENTS"):
            events = whole_number(number.text) if number.text.isdigit() else 0
            if events is None:
                raise errors.too_many_events(number.span, limit=MOST)
            if events == 0:
                raise errors.not_a_number_of_events(number.span, number=number.text)
            return events
        words = [word for name, other in amounts for word in (name.text, unit_of(name, other))]
        return RowExpression(f"INTERVAL {' '.join(words)}", span, amount=amount_of_interval(words))

    def item(self) -> Measure:
        """An item of RETURN: an attribute gives its name, anything else its text."""
        value = with_final_semantics(self.expression())
        if self.accept("AS"):
            name = self.taken("a name", *NAMES)
            return Measure(name.text, value, name.span)
        names = names_of(value) or (" ".join(self.text.text_at(value.span).split()),)
        return Measure(names[-1], value, value.span)


def strategy_named(written: str, span: Span) -> Strategy:
    """The strategy that is written, in any case; hyphens are as good as underscores.

    >>> strategy_named("Skip-Till-Any-Match", Span(0, 19)).name
    'SKIP_TILL_ANY_MATCH'
    """
    known = {strategy.value: strategy for strategy in Strategy}
    if (found := known.get(written.lower().replace("-", "_"))) is None:
        raise errors.unknown_strategy(span, name=written, known=list(known))
    return found


def unit_of(number: Token, unit: Token | None) -> str:
    if unit is None:
        raise errors.missing_unit(number.span, number=number.text)
    found = unit.text.upper().removesuffix("S")
    if found in ("MONTH", "YEAR"):
        raise errors.calendar_unit(unit.span, unit=unit.text)
    if found == "EVENT":
        raise errors.mixed_units(unit.span)
    if found not in MICROSECONDS:
        known = [f"{one.lower()}s" for one in (*MICROSECONDS, "EVENT")]
        raise errors.unknown_unit(unit.span, name=unit.text, known=known)
    if not number.text.isdigit() and found != "SECOND":
        raise errors.fraction_of_unit(number.span.to(unit.span), number=number.text, unit=unit.text)
    return found
