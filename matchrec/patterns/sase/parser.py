"""Parse SASE+ text to a `SaseQuery`, clause by clause.

Errors list everything that could be written instead of the unexpected token.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.errors import sase as errors
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import SASE
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql.tokens import expression_nested_too_deep
from matchrec.patterns.sase.expressions import (
    NAME_KINDS,
    EventReader,
    quote_singly,
    read_query_tokens,
)
from matchrec.patterns.sase.nodes import Component, Components, SaseQuery, SaseStrategy
from matchrec.plan.amounts import MICROSECONDS
from matchrec.plan.clauses import FirstMatches, Measure, RowExpression
from matchrec.plan.expression import (
    Scalar,
    Term,
    find_column_names,
    make_literal,
    set_final_semantics,
)
from matchrec.plan.rules import check_unique
from matchrec.plan.text import quote_string
from matchrec.shortcuts import keep_parsed
from matchrec.source import Origin, Source, Span
from matchrec.syntax.amounts import (
    MOST_ROWS,
    make_first_matches,
    read_amount,
    read_interval_amount,
    read_whole_number,
    reject_unit_in_number,
)
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.tokens import Token, TokenKind


def parse(text: str, origin: Origin | None = None) -> SaseQuery:
    """Parse the text of a query.

    Args:
        text: a SASE+ query.
        origin: what the text was translated from, which errors show instead; None if the user
            wrote it.

    Raises:
        MatchRecognizeError: the text is not a query.

    >>> query = parse("PATTERN SEQ(Shelf a, ~(Register b), Exit c) WITHIN 12 hours")
    >>> [component.text for component in query.components.all], query.window.text
    (['a', 'b', 'c'], 'INTERVAL 12 HOUR')
    """
    with locate_errors(Source(text, origin), SASE):
        tokens = read_query_tokens(text)
        if not tokens.tokens:
            raise errors.empty_query(Span(0, len(text) or 1))
        reader = QueryReader(tokens)
        try:
            return reader.read_query()
        except RecursionError as error:
            raise expression_nested_too_deep(reader.here, where=reader.where) from error


parse_once = keep_parsed(parse)


# What may follow a clause, by its first word.
EXPECTED_AFTER = {
    "PATTERN": "FIRST, RETURN, WHERE, WITHIN or the end",
    "WHERE": "RETURN, WITHIN or the end",
    "WITHIN": "RETURN or the end",
    "RETURN": "an operator, AND, AS, OR, `,` or the end",
}


class QueryReader(EventReader):
    """A reader of the clauses of a query.

    A word is a keyword only where a keyword is expected: an attribute may be called `from`.
    """

    def read_query(self) -> SaseQuery:
        """Read the whole query.

        Raises:
            MatchRecognizeError: the text is not a query.
        """
        self.require("PATTERN")
        self.where = "PATTERN"
        start = self.position
        self.components = self.read_sequence()
        sequence_span = self.text.span(start, self.position)
        first_matches = self.read_first_matches()
        strategy = SaseStrategy.SKIP_TILL_NEXT_MATCH
        predicates: tuple[Scalar, ...] = ()
        if self.enter_clause("WHERE", ClausePart.DEFINE):
            strategy, predicates = self.read_where()
        window = None
        if self.enter_clause("WITHIN", ClausePart.WITHIN):
            window = self.read_window()
        else:
            check_negations(self.components)
        items: tuple[Measure, ...] = ()
        if self.enter_clause("RETURN", ClausePart.MEASURES):
            items = tuple(self.read_several(self.read_item))
        if self.position < self.end:
            raise self.make_expected_error(EXPECTED_AFTER[self.where])
        return SaseQuery(
            self.components,
            sequence_span,
            strategy,
            predicates,
            tests=tuple(attribute for test in self.tests for attribute in test.attributes),
            window=window,
            items=items,
            first_matches=first_matches,
        )

    def enter_clause(self, word: str, part: ClausePart) -> bool:
        """Read the first word of a clause if it is next, and return whether it was.

        Args:
            word: the first word.
            part: the part of an SQL clause whose expressions this clause has.
        """
        is_next = self.accept(word)
        if is_next:
            variables = tuple(name.upper() for name in self.components.by_name)
            self.where = word
            self.scope = Scope(part, variables)
        return is_next

    # PATTERN

    def read_sequence(self) -> Components:
        """Read `SEQ(...)`."""
        start = self.position
        self.require("SEQ")
        self.require("(")
        if self.accept(")"):
            raise errors.empty_sequence(self.text.span(start, self.position))
        components = tuple(self.read_several(self.read_component))
        self.require(")", "`)`, `,` or `[`")
        # Variables become columns, whose names are compared without case.
        names = [(component.name.text, component.name.span) for component in components]
        check_unique(names, errors.duplicate_component_variable, str.upper)
        if all(component.negated for component in components):
            raise errors.only_negated_components(self.text.span(start, self.position))
        return Components(components)

    def read_component(self) -> Component:
        """Read a component, which may be negated: `~(Stock a)`."""
        start = self.position
        is_negated = self.accept("~") or self.accept("!")
        if not is_negated:
            return self.read_event()
        is_in_parentheses = self.accept("(")
        event = self.read_event()
        if is_in_parentheses:
            self.require(")")
        if event.kleene:
            raise errors.negated_kleene_plus(
                self.text.span(start, self.position), variable=event.name.text
            )
        return replace(event, negated=True)

    def read_event(self) -> Component:
        """Read a type and a variable: `Stock a` or `Stock+ a[]`."""
        start = self.position
        if self.key == "SEQ" and self.key_at(start + 1) == "(":
            raise errors.nested_sequence(self.text.find_call_span(start))
        event_type = self.read_event_type()
        type_span = self.text.span(start, self.position)
        has_plus = self.accept("+")
        name = self.read_token("a name" if has_plus else "`+` or a name", TokenKind.WORD)
        has_brackets = self.accept("[", "]")
        if has_brackets != has_plus:
            raise errors.incomplete_kleene_plus(
                self.text.span(start, self.position),
                variable=name.text,
                event_type=self.text.text_at(type_span),
            )
        return Component(event_type, name, type_span.to(name.span), kleene=has_plus)

    def read_event_type(self) -> Term | None:
        """Read the type of an event as the text that it must equal; None for any type."""
        if self.accept("*") or self.accept("ANY"):
            return None
        expected = "an event type or `~` for a negation"
        token = self.read_token(expected, *NAME_KINDS, TokenKind.STRING)
        text = quote_singly(token.text) if token.is_string else quote_string(token.text)
        return make_literal(text, token.span)

    def read_first_matches(self) -> FirstMatches | None:
        """Read `FIRST 10 MATCHES` if it is next, as in SQL."""
        start = self.position
        if not self.accept("FIRST"):
            return None
        number = self.read_token("a number", TokenKind.NUMBER).text
        if not self.accept("MATCH"):
            self.require("MATCHES")
        return make_first_matches(number, self.text.span(start, self.position))

    # WHERE: the form of the paper with braces, and the form of the SASE prototype without them.
    #
    #     WHERE skip_till_next_match(a[], b) { [symbol] AND b.price > 10 }
    #     WHERE skip_till_next_match AND [symbol] AND b.price > 10

    def find_bare_predicates(self, start: int) -> str:
        """Return the predicates that begin at `start` without a strategy before them; "" if none.

        After a strategy comes a list in parentheses, `{`, AND, or the end of WHERE.
        """
        after_name = self.text.key(start + 1)
        if after_name in ("", "(", "{", "AND", "WITHIN", "RETURN", "-"):
            return ""
        level = self.text.walk_level(start, self.end)
        ends = (index for index in level if self.text.key(index) in ("WITHIN", "RETURN", "{"))
        end = next(ends, self.end)
        return self.text.text_at(self.text.span(start, end))

    def read_where(self) -> tuple[SaseStrategy, tuple[Scalar, ...]]:
        """Read the strategy, and the predicates without equivalence tests."""
        start = self.position
        if self.text.key(start) in ("[", "("):
            span = self.text.span(start, start + 1)
            find_strategy(self.text.text_at(span), span, self.find_bare_predicates(start))
        self.read_token("an event selection strategy such as skip_till_next_match", TokenKind.WORD)
        while self.accept("-"):
            self.read_token("a name", TokenKind.WORD)
        strategy_span = self.text.span(start, self.position)
        strategy = find_strategy(
            self.text.text_at(strategy_span), strategy_span, self.find_bare_predicates(start)
        )
        if self.key in ("(", "{"):
            conditions = self.read_braces(strategy)
        else:
            conditions = self.read_flat_conditions()
        predicates = self.split_predicates(conditions)
        if strategy is SaseStrategy.PARTITION_CONTIGUITY and not self.tests:
            raise errors.partition_contiguity_without_test(strategy_span)
        return strategy, predicates

    def read_braces(self, strategy: SaseStrategy) -> list[Scalar]:
        """Read the list of components, which may be missing, and the condition in braces."""
        if self.key == "(":
            self.read_component_list(strategy)
        self.require("{")
        conditions = [] if self.key == "}" else [self.read_expression()]
        self.require("}", "an operator, AND, OR or `}`")
        return conditions

    def read_flat_conditions(self) -> list[Scalar]:
        """Read conditions, each after AND."""
        conditions = []
        while self.accept("AND"):
            conditions.append(self.read_negation())
        if self.position < self.end and self.key not in ("WITHIN", "RETURN"):
            braces = "" if conditions else " `(`, `{`,"
            raise self.make_expected_error(f"AND, RETURN,{braces} WITHIN or the end")
        return conditions

    def read_component_list(self, strategy: SaseStrategy) -> None:
        """Read the components of a strategy: each positive one once; negated ones are optional."""
        self.require("(")
        start = self.position
        listed = self.read_several(self.read_listed_component)
        span = self.text.span(start, self.position)
        self.require(")", "`)`, `,` or `[`")
        check_unique(listed, errors.duplicate_strategy_component)
        names = {name for name, _ in listed}
        missing = [
            component.text for component in self.components.positive if component.text not in names
        ]
        if missing:
            raise errors.strategy_components_missing(span, strategy=strategy.value, missing=missing)

    def read_listed_component(self) -> tuple[str, Span]:
        """Read a component in the list of a strategy, `a[]` or `b`, and return it and its span."""
        start = self.position
        name = self.read_token("a name", TokenKind.WORD)
        has_brackets = self.accept("[", "]")
        component = self.components.find_component(name, self.where)
        span = self.text.span(start, self.position)
        if component.kleene != has_brackets:
            what = "a Kleene plus" if component.kleene else "one event"
            raise errors.strategy_component_differs(
                span, name=name.text, what=what, component=component.text
            )
        return component.text, span

    # WITHIN and RETURN

    def read_window(self) -> RowExpression | int:
        """Read a window: an interval of SQL, numbers with their units, or a number of events.

        INTERVAL 1 HOUR      1 hour 30 minutes      500      20 EVENTS
        """
        if self.key == "INTERVAL":
            if not self.is_interval():
                self.position += 1
                raise self.make_expected_error("a number or a text with a unit of time")
            interval = self.read_interval()
            text = self.write_span(interval.span)
            is_constant = interval.amount is None
            return RowExpression(
                text, interval.span, amount=interval.amount, is_constant=is_constant
            )
        start = self.position
        amounts: list[tuple[Token, Token | None]] = []
        while not amounts or self.kind_at(self.position) is TokenKind.NUMBER:
            number = self.read_token("INTERVAL or a number", TokenKind.NUMBER)
            begins_clause = self.key in ("RETURN", "GROUP", "ORDER")
            has_unit = self.kind_at(self.position) is TokenKind.WORD and not begins_clause
            unit = self.read_token("a unit", TokenKind.WORD) if has_unit else None
            amounts.append((number, unit))
        return make_window(amounts, self.text.span(start, self.position))

    def read_item(self) -> Measure:
        """Read an item of RETURN.

        Without AS, an attribute gives the item its name. Other expressions are named by their text.
        """
        value = set_final_semantics(self.read_expression())
        if self.accept("AS"):
            name = self.read_token("a name", *NAME_KINDS)
            return Measure(name.text, value, name.span)
        names = find_column_names(value)
        text = " ".join(self.text.text_at(value.span).split())
        return Measure(names[-1] if names else text, value, value.span)


def check_negations(components: Components) -> None:
    """Check that a query without WITHIN has no negated component at its beginning or end.

    Raises:
        MatchRecognizeError: it has one. Only a window says how long such an event must be absent.
    """
    for component in components.negated:
        preceding, following = components.find_neighbours(component)
        if preceding is None or following is None:
            end, side = ("beginning", "before") if preceding is None else ("end", "after")
            raise errors.negated_component_without_window(
                component.span, name=component.name.text, end=end, side=side
            )


def find_strategy(name: str, span: Span, predicates: str = "") -> SaseStrategy:
    """Return the strategy with a name, in any case, with hyphens or underscores.

    Args:
        name: the name as it is written.
        span: its location in the text of the query.
        predicates: the predicates that the query has instead of a name, for the error.

    Raises:
        MatchRecognizePlanError: there is no such strategy.

    >>> find_strategy("Skip-Till-Any-Match", Span(0, 19)).name
    'SKIP_TILL_ANY_MATCH'
    """
    strategies = {strategy.value: strategy for strategy in SaseStrategy}
    strategy = strategies.get(name.lower().replace("-", "_"))
    if strategy is None:
        if predicates and not find_nearest(name, strategies):
            raise errors.missing_strategy(span, strategies=list(strategies), predicates=predicates)
        raise errors.unknown_strategy(span, name=name, strategies=list(strategies))
    return strategy


def make_window(amounts: list[tuple[Token, Token | None]], span: Span) -> RowExpression | int:
    """Return the window of numbers with their units, or how many events it has.

    Args:
        amounts: one or more numbers, each with its unit or None.
        span: where they are written.

    Raises:
        MatchRecognizeError: a number or a unit is wrong or missing.
    """
    number, unit = amounts[0]
    if len(amounts) == 1 and unit is None:
        reject_unit_in_number(number)
        amount = read_amount(number.text)
        return RowExpression(number.text, span, amount=amount, is_constant=amount is None)
    if len(amounts) == 1 and unit is not None and unit.text.upper() in ("EVENT", "EVENTS"):
        return count_events(number)
    words: list[str] = []
    for number, unit in amounts:
        words += [number.text, find_unit(number, unit)]
    return RowExpression(f"INTERVAL {' '.join(words)}", span, amount=read_interval_amount(words))


def count_events(number: Token) -> int:
    """Return how many events a window has.

    Raises:
        MatchRecognizeError: it is not a whole number from 1, or too large.
    """
    events = read_whole_number(number.text) if number.text.isdigit() else 0
    if events is None:
        raise errors.too_many_events(number.span, limit=MOST_ROWS)
    if events == 0:
        raise errors.not_a_number_of_events(number.span, number=number.text)
    return events


def find_unit(number: Token, unit: Token | None) -> str:
    """Return the unit of an interval of SQL for the unit after a number.

    Raises:
        MatchRecognizeError: it is missing or unknown, has no fixed length, or counts events; or the
            number has a fraction, which only seconds may have.
    """
    if unit is None:
        raise errors.missing_unit(number.span, number=number.text)
    singular = unit.text.upper().removesuffix("S")
    if singular in ("MONTH", "YEAR"):
        raise errors.calendar_unit(unit.span, unit=unit.text)
    if singular == "EVENT":
        raise errors.mixed_units(unit.span)
    if singular not in MICROSECONDS:
        unit_names = [f"{name.lower()}s" for name in (*MICROSECONDS, "EVENT")]
        raise errors.unknown_unit(unit.span, name=unit.text, units=unit_names)
    if not number.text.isdigit() and singular != "SECOND":
        raise errors.fraction_of_unit(number.span.to(unit.span), number=number.text, unit=unit.text)
    return singular
