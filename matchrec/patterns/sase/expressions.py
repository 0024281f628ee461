"""Read expressions of SASE+. They are expressions of SQL in which columns are attributes of events.

    b.volume < 80%*a[a.LEN].volume      becomes      b.volume < 0.8 * LAST(a.volume)

`sase.lower` decides when a conjunct is tested. The meaning of its identifiers does not depend on
that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from matchrec.errors import MatchRecognizeError
from matchrec.errors import sase as errors
from matchrec.patterns.sase.nodes import Component, Components, Identifier, Index
from matchrec.plan import expression
from matchrec.plan.expression import Aggregate, Navigation, Operation, Scalar, Term
from matchrec.plan.text import quote_name, quote_string
from matchrec.source import Span
from matchrec.syntax import tokens
from matchrec.syntax.expressions.call_parts import find_arguments
from matchrec.syntax.expressions.expression import ScalarReader
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.tokenize import convert_tokens, read_sqlglot_tokens
from matchrec.syntax.tokens import Token, TokenKind, TokenSequence

# The tokens of SQL, with three differences: `80%` before `*` is one number, `12hours` is a number
# and a word, and a string with doubled quotes in it is one string.

_NUMBER_AND_WORD = re.compile(r"(\d+(?:\.\d+)?)([^\W\d]\w*)")
_NUMBER = re.compile(r"\d+(\.\d+)?")


def read_text(text: str) -> TokenSequence:
    """Return the tokens of a query.

    >>> [token.text for token in read_text("WITHIN 12hours 80%*a.x").tokens]
    ['WITHIN', '12', 'hours', '0.8', '*', 'a', '.', 'x']
    """
    result: list[Token] = []
    for token in convert_tokens(read_sqlglot_tokens(text), text):
        start, end = token.span.start, token.span.end
        before = result[-1] if result else token
        number_and_word = _NUMBER_AND_WORD.fullmatch(token.text)
        touches = before.span.end == start
        if token.is_string and touches and before.text[-1] == token.text[0]:
            # SQL has read a doubled quote as the end of one string and the start of the next.
            result[-1] = Token(token.kind, before.text + token.text, before.span.to(token.span))
        elif number_and_word and token.kind in (TokenKind.WORD, TokenKind.SYMBOL):
            middle = start + number_and_word.end(1)
            result.append(Token(TokenKind.NUMBER, number_and_word[1], Span(start, middle)))
            result.append(Token(TokenKind.WORD, number_and_word[2], Span(middle, end)))
        elif token.key == "*" and ends_with_percentage(result):
            number, percent_sign = result[-2:]
            share = Decimal(number.text).scaleb(-2).normalize()
            span = number.span.to(percent_sign.span)
            result[-2:] = [Token(TokenKind.NUMBER, f"{share:f}", span), token]
        else:
            result.append(token)
    return TokenSequence(text, tuple(result), tokens.pair_brackets(result))


def ends_with_percentage(read: list[Token]) -> bool:
    """Return whether the last two tokens are a number and a percent sign."""
    if len(read) < 2 or read[-1].key != "%":
        return False
    return _NUMBER.fullmatch(read[-2].text) is not None


# SASE+ writes strings in double quotes. Spark SQL reads these as names if the session is set so.
# Strings in single quotes are strings in every session.


def quote_singly(text: str) -> str:
    r"""Return the string of a token in single quotes.

    >>> quote_singly('"it\'s"'), quote_singly("'it''s'")
    ("'it\\'s'", "'it''s'")
    """
    if text.endswith("'"):
        return text
    content = text[text.index('"') + 1 : -1].replace('""', '"')
    is_raw = not text.startswith('"')  # r"\d"
    if is_raw:
        return quote_string(content)
    # Escape single quotes, and keep what is escaped already.
    escaped = re.sub(r"(?s)\\.|'", lambda match: "\\'" if match[0] == "'" else match[0], content)
    return f"'{escaped}'"


# The functions that aggregate events.
OVER_EVENTS = ("avg", "sum", "min", "max", "count")

# The indexes that read several events.
RANGES = (Index.SO_FAR, Index.ALL)

# The indexes that are relative to the current event. RETURN has no current event.
ELEMENTS = (Index.CURRENT, Index.PREVIOUS, Index.SO_FAR)

# The operator of an equivalence test, until `split_predicates` removes it.
EQUIVALENCE = "[]="

# The kinds of tokens that can be names.
NAMES = (TokenKind.WORD, TokenKind.QUOTED)

# What must follow a token.
_EXPECTED_AFTER = {
    ".": "a name",
    "AS": "a type",
    "INTERVAL": "a number or a text with a unit",
    "IS": "NULL, TRUE, FALSE or DISTINCT FROM",
}


class EquivalenceTest(NamedTuple):
    """A test that attributes are equal in all events of a match: `[symbol]`."""

    span: Span
    attributes: tuple[Term, ...]


class EventReader(ScalarReader):
    """A reader of expressions in WHERE and RETURN.

    It overrides some methods that `ScalarReader` calls to read SQL.
    """

    # The components that PATTERN declares.
    components: Components
    # The function of the aggregate whose argument is read; empty outside aggregates.
    aggregate: str
    # The identifiers that this argument reads.
    identifiers: list[Identifier]
    # The equivalence tests so far.
    tests: list[EquivalenceTest]

    def __init__(self, text: TokenSequence) -> None:
        """Begin to read a query."""
        self.components = Components(())
        self.aggregate = ""
        self.identifiers = []
        self.tests = []
        super().__init__(text, Scope(ClausePart.PATTERN), "the query")

    def respell(self) -> Iterator[tuple[Span, str]]:
        """Yield the text of some tokens for Spark: percentages as numbers, strings in quotes."""
        for token in self.text.tokens:
            if token.is_string:
                yield token.span, quote_singly(token.text)
            elif token.kind is TokenKind.NUMBER:
                yield token.span, token.text

    def make_expected_error(self, expected: str) -> MatchRecognizeError:
        """Return the error for the next token, or for the end of the query.

        Args:
            expected: everything that could be written instead.
        """
        if self.position < self.end:
            span = self.tokens[self.position].span
            text = self.text.text_at(span)
            return errors.unexpected_token(span, text=text, where=self.where, expected=expected)
        end = self.text.full_span.end
        return errors.query_ends_early(Span(end, end + 1), where=self.where, expected=expected)

    def require(self, key: str, expected: str = "") -> None:
        """Read a keyword or a sign.

        Args:
            key: the keyword or sign.
            expected: everything that could be written there, if that is more.

        Raises:
            MatchRecognizeError: the next token is another one.
        """
        if not self.accept(key):
            raise self.make_expected_error(expected or (key if key.isalpha() else f"`{key}`"))

    def read_token(self, expected: str, *kinds: TokenKind) -> Token:
        """Read a token of one of these kinds, and return it.

        Args:
            expected: what messages say that it must be.
            kinds: the kinds.

        Raises:
            MatchRecognizeError: the next token is of another kind.
        """
        if self.kind_at(self.position) not in kinds:
            raise self.make_expected_error(expected)
        self.position += 1
        return self.tokens[self.position - 1]

    def expect(self, *keys: str) -> None:
        """Read keywords or signs. Raises as `require` does."""
        for key in keys:
            shown_key = key if key.isalpha() else f"`{key}`"
            expected = _EXPECTED_AFTER.get(self.key_at(self.position - 1))
            self.require(key, expected or f"an operator or {shown_key}")

    def make_unexpected_error(self) -> MatchRecognizeError:
        """Return the error for a token that does not begin an operand."""
        before = self.tokens[self.position - 1]
        operand = "a unit of time" if before.is_constant else "a value such as a.x or 1"
        return self.make_expected_error(_EXPECTED_AFTER.get(before.key, operand))

    def read_parameter(self) -> Term:
        """Read a parameter. SASE+ has only named parameters, so `?` is an error."""
        if self.key == "?" or self.key_at(self.position - 1) == "INTERVAL":
            raise self.make_unexpected_error()
        return super().read_parameter()

    # Identifiers

    def read_operand(self) -> Scalar:
        """Read an operand, which may be an equivalence test. RUNNING and FINAL can be names."""
        if self.key == "[":
            return self.read_equivalence_test()
        return self.read_column() if self.key in tokens.SEMANTICS else super().read_operand()

    def read_column(self) -> Term:
        """Read an identifier, or a parameter of a lambda as in SQL."""
        start = self.position
        name = self.tokens[start]
        if not name.is_word:
            raise self.make_unexpected_error()
        if name.text.lower() in {parameter.lower() for parameter in self.parameters}:
            return super().read_column()
        self.position += 1
        index = self.read_index(name)
        attribute = self.read_attribute() if self.accept(".") else None
        span = self.text.span(start, self.position)
        self.last_read = span
        is_bare_name = self.position == start + 1
        if is_bare_name and name.text not in self.components.by_name:
            if not self.ends_after(start):
                raise self.make_expected_error("an operator")
            raise errors.attribute_without_variable(span, name=name.text, clause=self.where)
        is_length = self.position == start + 3 and self.key_at(start + 2) == "LEN"
        if is_length:
            return self.make_length(name, span)
        return self.make_reference(Identifier(name, index, attribute, span))

    def read_index(self, name: Token) -> Index:
        """Read the brackets after the name of a variable, if there are any."""
        if self.key != "[":
            return Index.ALONE
        start = self.position
        variable = name.text
        self.position = self.text.index_after(start)
        brackets = "".join(token.text for token in self.tokens[start : self.position])
        indexes = {index.write_for(variable).upper(): index for index in Index}
        indexes[f"{variable}[..{variable}.LEN]".upper()] = Index.ALL
        index = indexes.get(f"{variable}{brackets}".upper())
        if index is None:
            span = self.text.span(start, self.position)
            raise errors.unknown_index(span, name=variable, index=self.text.text_at(span))
        return index

    def read_attribute(self) -> Term:
        """Read an attribute, perhaps of a struct. Its names are quoted: it may be called `from`."""
        start = self.position
        names = [self.read_token("a name", *NAMES).text]
        while self.accept("."):
            names.append(self.read_token("a name", *NAMES).text)
        sql = ".".join(quote_name(name) for name in names)
        span = self.text.span(start, self.position)
        return expression.make_column(Navigation(), sql, span, tuple(names))

    def find_component(self, name: Token) -> Component:
        """Return the component of a name.

        Raises:
            MatchRecognizeError: there is none, or RETURN reads a negated one.
        """
        component = self.components.find_component(name, self.where)
        if component.negated and self.where == "RETURN":
            raise errors.negated_in_return(name.span, name=name.text)
        return component

    def make_reference(self, identifier: Identifier) -> Term:
        """Return the reference of an identifier: to one event or, in an aggregate, to each event.

        Raises:
            MatchRecognizeError: the identifier is not allowed at this place.
        """
        span = identifier.span
        component = self.find_component(identifier.name)
        if self.aggregate and identifier.index not in RANGES:
            attribute = ""
            if identifier.attribute is not None:
                attribute = "." + ".".join(expression.find_column_names(identifier.attribute))
            make_error = (
                errors.aggregate_without_range
                if component.kleene
                else errors.aggregate_over_single_event
            )
            raise make_error(
                span,
                function=self.aggregate,
                clause=self.where,
                name=component.name.text,
                attribute=attribute,
            )
        navigation = self.find_navigation(identifier)
        if self.aggregate:
            self.identifiers.append(identifier)
        elif identifier.attribute is None:
            raise errors.missing_attribute(span, events=identifier.events, clause=self.where)
        if identifier.attribute is None:
            return expression.make_column(navigation, "", span)
        text = expression.write_row_sql(identifier.attribute)
        names = expression.find_column_names(identifier.attribute)
        return expression.make_column(navigation, text, span, names)

    def find_navigation(self, identifier: Identifier) -> Navigation:
        """Return the navigation to the event that an identifier reads.

        In an aggregate, and for the last event, that is the last row of the variable.

        Raises:
            MatchRecognizeError: the component or the clause does not have the index.
        """
        self.check_index(identifier)
        name = identifier.name.text
        index = identifier.index
        if self.aggregate or index in (Index.ALONE, Index.LAST):
            return Navigation(name)
        if index in RANGES:
            raise errors.range_outside_aggregate(
                identifier.span, events=identifier.events, clause=self.where, name=name
            )
        if index is Index.PREVIOUS:
            return Navigation(name, logical_offset=1)
        return Navigation(identifier.events)

    def check_index(self, identifier: Identifier) -> None:
        """Check that the component has the index, and that it means something in the clause.

        Raises:
            MatchRecognizeError: it does not.
        """
        name = identifier.name.text
        index = identifier.index
        is_kleene = self.find_component(identifier.name).kleene
        if is_kleene and index is Index.ALONE:
            attribute = (
                expression.find_column_names(identifier.attribute)[0]
                if identifier.attribute
                else ""
            )
            raise errors.missing_kleene_index(
                identifier.span,
                identifier=f"{name}.{attribute}".rstrip("."),
                clause=self.where,
                name=name,
                attribute=attribute or "x",
            )
        if not is_kleene and index is not Index.ALONE:
            raise errors.index_on_single_event(
                identifier.span, events=identifier.events, clause=self.where, name=name
            )
        if index in ELEMENTS and self.where == "RETURN":
            raise errors.element_in_return(identifier.span, events=identifier.events, name=name)

    # Aggregates

    def read_call(self) -> Scalar:
        """Read a call: an aggregate of events, or a function of SQL over one row."""
        token = self.tokens[self.position]
        is_call = self.text.is_call(self.position)
        if not is_call or token.key not in tokens.CALLS_OVER_SEVERAL_ROWS:
            return super().read_call()
        function = token.text.lower()
        if function in OVER_EVENTS:
            return self.read_aggregate(function)
        raise errors.unknown_aggregate(
            token.span,
            function=token.text,
            clause=self.where,
            aggregates=OVER_EVENTS,
            name=self.choose_kleene_plus(self.position),
        )

    def choose_kleene_plus(self, index: int) -> str:
        """Return the Kleene plus that the error about the call at `index` shows.

        It is the first one in the call, or else in PATTERN; empty if there is none.
        """
        names = [component.name.text for component in self.components.positive if component.kleene]
        call = self.tokens[index : self.text.index_after(index + 1)]
        return next((token.text for token in call if token.text in names), next(iter(names), ""))

    def make_length(self, name: Token, span: Span) -> Term:
        """Return `a.LEN`, the number of events of a Kleene plus.

        Raises:
            MatchRecognizeError: the component is not a Kleene plus, or an aggregate reads it.
        """
        if not self.find_component(name).kleene:
            raise errors.len_of_single_event(span, name=name.text, clause=self.where)
        if self.aggregate:
            raise errors.aggregate_in_aggregate(
                span, function=f"{name.text}.LEN", clause=self.where
            )
        return Term((Aggregate("count", name.text, (), span=span),), span)

    def read_aggregate(self, function: str) -> Term:
        """Read an aggregate over `a[..i-1]`, the events so far, or over `a[]`, all events.

        Args:
            function: one of OVER_EVENTS.

        Raises:
            MatchRecognizeError: the aggregate is nested, has several arguments or ranges, or lacks
                an attribute that is not `count(a[])`.
        """
        start = self.position
        span = self.text.find_call_span(start)
        if self.aggregate:
            raise errors.aggregate_in_aggregate(span, function=function, clause=self.where)
        arguments = find_arguments(self, start)
        if len(arguments) != 1:
            raise errors.one_argument_expected(
                span, function=function, count=len(arguments), name=self.choose_kleene_plus(start)
            )
        self.position = start + 2
        self.aggregate = function
        self.identifiers = []
        argument = self.read_expression()
        self.expect(")")
        if not self.identifiers:
            raise errors.aggregate_without_event(
                span, function=function, clause=self.where, name=self.choose_kleene_plus(start)
            )
        first = self.find_range(function)
        terms: tuple[Scalar, ...] = (argument,)
        if any(identifier.attribute is None for identifier in self.identifiers):
            if function != "count" or argument.span != first.span:
                raise errors.missing_attribute_of_several(
                    first.span, events=first.events, clause=self.where
                )
            terms = ()
        self.aggregate = ""
        self.last_read = span
        so_far = first.index is Index.SO_FAR
        aggregate = Aggregate(
            function, first.name.text, terms, excludes_current_row=so_far, span=span
        )
        return Term((aggregate,), span)

    def find_range(self, function: str) -> Identifier:
        """Return the first identifier in the argument of an aggregate, which has identifiers.

        Raises:
            MatchRecognizeError: another one reads other events.
        """
        first = self.identifiers[0]
        for other in self.identifiers:
            if other.events != first.events:
                raise errors.aggregate_over_two_ranges(
                    first.span,
                    other.span,
                    function=function,
                    clause=self.where,
                    ranges=(first.events, other.events),
                )
        return first

    # Equivalence tests

    def read_equivalence_test(self) -> Operation:
        """Read `[symbol]`, and return an operation in its place until predicates are split.

        Raises:
            MatchRecognizeError: it has no attributes, names a variable, or is in RETURN.
        """
        start = self.position
        self.position += 1
        if self.accept("]"):
            raise errors.empty_equivalence_test(self.text.span(start, self.position))
        attributes = self.read_several(self.read_attribute)
        self.require("]", "`,`, `.` or `]`")
        for attribute in attributes:
            first_name, *other_names = expression.find_column_names(attribute)
            if other_names and first_name in self.components.by_name:
                raise errors.equivalence_test_on_variable(
                    attribute.span, variable=first_name, attribute=".".join(other_names)
                )
        span = self.text.span(start, self.position)
        if self.where == "RETURN":
            raise errors.equivalence_test_in_predicate(span, clause=self.where)
        self.tests.append(EquivalenceTest(span, tuple(attributes)))
        return Operation(EQUIVALENCE, (self.write_span(span),), span)

    def split_predicates(self, conditions: Iterable[Scalar]) -> tuple[Scalar, ...]:
        """Return the conjuncts of conditions without the equivalence tests.

        Raises:
            MatchRecognizeError: an equivalence test is inside another conjunct.
        """
        predicates = [
            conjunct
            for condition in conditions
            for conjunct in expression.split_conjuncts(condition)
            if not is_equivalence_test(conjunct)
        ]
        for test in self.tests:
            if any(predicate.span.contains(test.span) for predicate in predicates):
                raise errors.equivalence_test_in_predicate(test.span, clause=self.where)
        return tuple(predicates)


def is_equivalence_test(scalar: Scalar) -> bool:
    """Return whether an expression is an equivalence test."""
    return isinstance(scalar, Operation) and scalar.operator == EQUIVALENCE
