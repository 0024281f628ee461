"""Parse SASE+ text to a `SaseQuery`, clause by clause.

    query       := PATTERN SEQ(component, ...) [FIRST number MATCHES] [WHERE where] [WITHIN window]
                   [RETURN item, ...]
    component   := event | ~(event) | !(event)
    event       := type name | type+ name[]                    Stock a, Stock+ a[]
    where       := strategy [(component list)] { condition }   skip_till_next_match(a[], b) {...}
                 | strategy (AND condition)*                   skip_till_next_match AND b.price > 10
    window      := interval | (number unit)+ | number [EVENTS] 1 hour 30 minutes, 20 EVENTS
    item        := expression [AS name]

`expressions.EventParser` reads the expressions. The error for an unexpected token lists everything
that could be written instead, and for frequent mistakes `query_mistakes` finds what to write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matchrec.errors import sase as errors
from matchrec.errors import sase_strategies as strategy_errors
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import SASE
from matchrec.errors.sase_hints import END, EVENT_TYPE
from matchrec.errors.sql.incomplete import expression_nested_too_deep
from matchrec.patterns.sase.expressions import NAME_KINDS, EventParser
from matchrec.patterns.sase.nodes import Component, Components, SaseQuery, SaseStrategy
from matchrec.patterns.sase.query_mistakes import (
    explain_brackets,
    explain_missing_variable,
    explain_quantifier,
    explain_strategy,
    reject_missing_comma,
    reject_missing_sequence,
    reject_negation_in_words,
    reject_sql,
)
from matchrec.patterns.sase.query_tokens import quote_singly, read_sase_tokens
from matchrec.patterns.sase.windows import NumberWithUnit, make_window
from matchrec.plan.build_expressions import make_literal
from matchrec.plan.change_expressions import set_final_semantics
from matchrec.plan.clauses import FirstMatches, Measure, RowExpression
from matchrec.plan.expression import Scalar, Term, find_column_path
from matchrec.plan.rules import check_unique
from matchrec.plan.text import quote_string
from matchrec.shortcuts import keep_parsed
from matchrec.source import Origin, Source, Span
from matchrec.syntax.amounts import make_first_matches
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.intervals import is_at_interval, read_interval
from matchrec.syntax.expressions.scope import Scope
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
        reject_sql(text)
        sequence = read_sase_tokens(text)
        if not sequence.tokens:
            raise errors.empty_query(text)
        parser = QueryParser(sequence)
        try:
            return parser.read_query()
        except RecursionError as error:
            raise expression_nested_too_deep(parser.next_span, where=parser.where) from error


# `parse`, but it returns the same query for a text that was parsed recently.
parse_once = keep_parsed(parse)


# What may follow the last token of a clause, by the first word of the clause; for messages.
EXPECTED_AFTER_CLAUSE = {
    "PATTERN": ("FIRST", "RETURN", "WHERE", "WITHIN", END),
    "WHERE": ("RETURN", "WITHIN", END),
    "WITHIN": ("RETURN", END),
    "RETURN": ("an operator", "AND", "AS", "OR", ",", END),
}

# What may follow the variable of a component, for messages.
EXPECTED_AFTER_VARIABLE = (")", ",", "[")


class QueryParser(EventParser):
    """A parser of the clauses of a query.

    A word is a keyword only where a keyword is expected: an attribute may be called `from`.
    """

    def read_query(self) -> SaseQuery:
        """Read the whole query.

        Raises:
            MatchRecognizeError: the text is not a query.
        """
        reject_missing_sequence(self, "PATTERN")
        self.require("PATTERN")
        self.where = "PATTERN"
        start = self.position
        self.components = self.read_sequence()
        sequence_span = self.sequence.span(start, self.position)
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
            raise self.make_expected_error(*EXPECTED_AFTER_CLAUSE[self.where])
        return SaseQuery(
            components=self.components,
            sequence_span=sequence_span,
            strategy=strategy,
            predicates=predicates,
            equivalent_attributes=tuple(
                attribute for test in self.tests for attribute in test.attributes
            ),
            window=window,
            items=items,
            first_matches=first_matches,
        )

    def enter_clause(self, word: str, part: ClausePart) -> bool:
        """Read the first word of a clause if it is next, and return whether it was.

        If it was, messages name this clause from now on, and expressions are read as its
        expressions.

        Args:
            word: the first word, which is also the name of the clause in messages.
            part: the part of MATCH_RECOGNIZE whose expressions are read in the same way.
        """
        is_next = self.accept(word)
        if is_next:
            variables = tuple(name.upper() for name in self.components.by_name)
            self.where = word
            self.scope = Scope(part, variables)
        return is_next

    # PATTERN

    def read_sequence(self) -> Components:
        """Read `SEQ(...)`.

        Raises:
            MatchRecognizeError: a component is wrong, all components are negated, or two of them
                have the same name.
        """
        start = self.position
        reject_missing_sequence(self, "SEQ")
        self.require("SEQ")
        self.require("(")
        if self.accept(")"):
            raise errors.empty_sequence(self.sequence.span(start, self.position))
        components = tuple(self.read_several(self.read_component))
        reject_missing_comma(self, start + 1, EXPECTED_AFTER_VARIABLE)
        self.require(")", *EXPECTED_AFTER_VARIABLE)
        check_variables(components)
        if all(component.is_negated for component in components):
            raise errors.only_negated_components(self.sequence.span(start, self.position))
        return Components(components)

    def read_component(self) -> Component:
        """Read a component, which may be negated: `~(Stock a)`, `!(Stock a)` or `~Stock a`."""
        start = self.position
        reject_negation_in_words(self)
        is_negated = self.accept("~") or self.accept("!")
        if not is_negated:
            return self.read_event()
        is_in_parentheses = self.accept("(")
        event = self.read_event()
        if is_in_parentheses:
            self.require(")")
        if event.is_kleene_plus:
            raise errors.negated_kleene_plus(
                self.sequence.span(start, self.position), variable=event.name.text
            )
        return replace(event, is_negated=True)

    def read_event(self) -> Component:
        """Read a type and a name: `Stock a` or, for a Kleene plus, `Stock+ a[]`.

        Raises:
            MatchRecognizeError: the tokens are not an event, such as another SEQ or half of a
                Kleene plus.
        """
        start = self.position
        if self.key == "SEQ" and self.key_at(start + 1) == "(":
            raise errors.nested_sequence(self.sequence.find_call_span(start))
        event_type = self.read_event_type()
        type_span = self.sequence.span(start, self.position)
        has_plus = self.accept("+")
        if self.key in (",", ")"):
            raise explain_missing_variable(self, type_span)
        expected = ("a name",) if has_plus else ("+", "a name")
        if self.key in ("*", "{", "?"):
            raise explain_quantifier(self, type_span, expected)
        name = self.read_token(expected, TokenKind.WORD)
        if self.key in ("+", "*", "{", "?") and not has_plus:
            raise explain_quantifier(self, type_span, EXPECTED_AFTER_VARIABLE, name.text)
        has_brackets = self.accept("[", "]")
        if self.key == "[":
            raise explain_brackets(self, type_span, name.text, has_plus=has_plus)
        if has_brackets != has_plus:
            raise errors.incomplete_kleene_plus(
                self.sequence.span(start, self.position),
                variable=name.text,
                event_type=self.sequence.text_at(type_span),
            )
        return Component(event_type, name, type_span.to(name.span), is_kleene_plus=has_plus)

    def read_event_type(self) -> Term | None:
        """Read the type of an event as the text that it must equal; None for any type."""
        if self.accept("*") or self.accept("ANY"):
            return None
        token = self.read_token(EVENT_TYPE, *NAME_KINDS, TokenKind.STRING)
        text = quote_singly(token.text) if token.is_string else quote_string(token.text)
        return make_literal(text, token.span)

    def read_first_matches(self) -> FirstMatches | None:
        """Read `FIRST 10 MATCHES`, as in SQL. Return None if the next token is not FIRST."""
        start = self.position
        if not self.accept("FIRST"):
            return None
        number = self.read_token(["a number"], TokenKind.NUMBER).text
        if not self.accept("MATCH"):
            self.require("MATCHES")
        return make_first_matches(number, self.sequence.span(start, self.position))

    # WHERE: the form of the paper with braces, and the form of the SASE prototype without them.
    #
    #     WHERE skip_till_next_match(a[], b) { [symbol] AND b.price > 10 }
    #     WHERE skip_till_next_match AND [symbol] AND b.price > 10

    def read_where(self) -> tuple[SaseStrategy, tuple[Scalar, ...]]:
        """Read what follows WHERE, and add its equivalence tests to `tests`.

        Returns:
            The strategy, and the predicates, without equivalence tests.

        Raises:
            MatchRecognizeError: a part of WHERE is wrong, or partition contiguity has no
                equivalence test.
        """
        start = self.position
        strategy = self.read_strategy()
        strategy_span = self.sequence.span(start, self.position)
        if self.key in ("(", "{"):
            conditions = self.read_conditions_in_braces(strategy)
        else:
            conditions = self.read_conditions_after_and()
        predicates = self.split_predicates(conditions)
        if strategy is SaseStrategy.PARTITION_CONTIGUITY and not self.tests:
            raise strategy_errors.partition_contiguity_without_test(strategy_span)
        return strategy, predicates

    def read_strategy(self) -> SaseStrategy:
        """Read the name of a strategy, in any spelling that `find_strategy` accepts.

        Raises:
            MatchRecognizeError: there is no such strategy, or a predicate is next.
        """
        start = self.position
        if self.key in ("[", "(", "{"):
            raise explain_strategy(self, start, start + 1)
        self.read_token(
            ["an event selection strategy such as skip_till_next_match"], TokenKind.WORD
        )
        while self.accept("-"):
            self.read_token(["a name"], TokenKind.WORD)
        strategy = find_strategy(self.sequence.text_at(self.sequence.span(start, self.position)))
        if strategy is None:
            raise explain_strategy(self, start, self.position)
        return strategy

    def read_conditions_in_braces(self, strategy: SaseStrategy) -> list[Scalar]:
        """Read `(a[], b) { ... }` after a strategy. The list in parentheses may be missing.

        Returns:
            One condition, in which AND may join several predicates; no condition for `{}`.
        """
        if self.key == "(":
            self.read_component_list(strategy)
        self.require("{")
        conditions = [] if self.key == "}" else [self.read_expression()]
        self.require("}", "an operator", "AND", "OR", "}")
        return conditions

    def read_conditions_after_and(self) -> list[Scalar]:
        """Read conditions up to the end of WHERE, each after AND: `AND [symbol] AND b.x > 1`."""
        conditions: list[Scalar] = []
        while self.accept("AND"):
            conditions.append(self.read_negation())
        if self.position < self.end and self.key not in ("WITHIN", "RETURN"):
            braces = () if conditions else ("(", "{")
            raise self.make_expected_error("AND", "RETURN", *braces, "WITHIN", END)
        return conditions

    def read_component_list(self, strategy: SaseStrategy) -> None:
        """Read and check the components that a strategy lists: `(a[], b)`.

        The list has no effect, because a strategy is for all components.

        Raises:
            MatchRecognizeError: a positive component is missing, or a component is listed twice or
                in another form than in PATTERN. Negated components may be missing.
        """
        self.require("(")
        start = self.position
        listed_components = self.read_several(self.read_listed_component)
        span = self.sequence.span(start, self.position)
        self.require(")", *EXPECTED_AFTER_VARIABLE)
        check_unique(listed_components, strategy_errors.duplicate_strategy_component)
        names = {name for name, _ in listed_components}
        missing_components = [
            component.text for component in self.components.positive if component.text not in names
        ]
        if missing_components:
            raise strategy_errors.strategy_components_missing(
                span, strategy=strategy.value, missing=missing_components
            )

    def read_listed_component(self) -> tuple[str, Span]:
        """Read a component in the list of a strategy: `a[]` or `b`.

        Returns:
            The text of the component, and its span.

        Raises:
            MatchRecognizeError: there is no such component, or only one of the two texts, here and
                in PATTERN, has brackets.
        """
        start = self.position
        name = self.read_token(["a name"], TokenKind.WORD)
        has_brackets = self.accept("[", "]")
        component = self.components.find_component(name, self.where)
        span = self.sequence.span(start, self.position)
        if component.is_kleene_plus != has_brackets:
            what = "a Kleene plus" if component.is_kleene_plus else "one event"
            raise strategy_errors.strategy_component_differs(
                span, name=name.text, what=what, component=component.text
            )
        return component.text, span

    # WITHIN and RETURN

    def read_window(self) -> RowExpression | int:
        """Read a window, and return its length, or the number of its events.

        `INTERVAL 1 HOUR`, `1 hour 30 minutes` and `500` are lengths, `20 EVENTS` is a number of
        events.
        """
        if self.key == "INTERVAL":
            return self.read_interval_window()
        start = self.position
        parts = [self.read_number_with_unit()]
        while self.kind_at(self.position) is TokenKind.NUMBER:
            parts.append(self.read_number_with_unit())
        return make_window(parts, self.sequence.span(start, self.position))

    def read_interval_window(self) -> RowExpression:
        """Read a window that is an interval of SQL, and return its length."""
        if not is_at_interval(self):
            self.position += 1
            raise self.make_expected_error("a number", "a text with a unit of time")
        interval = read_interval(self)
        return RowExpression(
            self.write_span(interval.span),
            interval.span,
            amount=interval.amount,
            is_constant=interval.amount is None,
        )

    def read_number_with_unit(self) -> NumberWithUnit:
        """Read a number, and the word after it, unless the word begins a clause, as its unit."""
        number = self.read_token(("INTERVAL", "a number"), TokenKind.NUMBER)
        begins_clause = self.key in (*EXPECTED_AFTER_CLAUSE, "GROUP", "ORDER")
        if self.kind_at(self.position) is not TokenKind.WORD or begins_clause:
            return NumberWithUnit(number, unit=None)
        return NumberWithUnit(number, self.read_token(["a unit"], TokenKind.WORD))

    def read_item(self) -> Measure:
        """Read an item of RETURN.

        Without AS, an item that is an attribute has the name of the attribute: `price` for
        `a[1].price`. For any other item, the name is its text, with single spaces instead of line
        breaks.
        """
        value = set_final_semantics(self.read_expression())
        if self.accept("AS"):
            name = self.read_token(["a name"], *NAME_KINDS)
            return Measure(name.text, value, name.span)
        column_path = find_column_path(value)
        text = " ".join(self.sequence.text_at(value.span).split())
        return Measure(column_path[-1] if column_path else text, value, value.span)


def check_variables(components: Sequence[Component]) -> None:
    """Check that no two components of a query have the same variable.

    Variables become columns, whose names are compared without case.

    Raises:
        MatchRecognizePlanError: two components have the same variable.
    """
    names: dict[str, Token] = {}
    for component in components:
        earlier_name = names.setdefault(component.name.text.upper(), component.name)
        if earlier_name is not component.name:
            raise errors.duplicate_component_variable(
                earlier_name.span,
                component.name.span,
                name=component.name.text,
                other_name=earlier_name.text,
            )


def check_negations(components: Components) -> None:
    """Check that a query without WITHIN has no negated component at its beginning or end.

    Raises:
        MatchRecognizeError: there is such a component. Only a window limits the time for which its
            event must be absent.
    """
    for component in components.negated:
        neighbours = components.find_neighbours(component)
        if neighbours.preceding is None:
            end, side = "beginning", "before"
        elif neighbours.following is None:
            end, side = "end", "after"
        else:
            continue
        raise errors.negated_component_without_window(
            component.span, name=component.name.text, end=end, side=side
        )


def find_strategy(name: str) -> SaseStrategy | None:
    """Return the strategy with a name, in any case, with hyphens or underscores.

    None if there is no such strategy.

    >>> find_strategy("Skip-Till-Any-Match").name
    'SKIP_TILL_ANY_MATCH'
    """
    strategies = {strategy.value: strategy for strategy in SaseStrategy}
    return strategies.get(name.lower().replace("-", "_"))
