"""Expressions of SASE+: those of SQL, whose columns are attributes of events.

    b.volume < 80%*a[a.LEN].volume      →      < (b.volume, * (0.8, LAST(a.volume)))

What an identifier reads does not depend on where its conjunct is tested, see `sase.lower`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from matchrec.errors import MatchRecognizeError
from matchrec.errors import sase as errors
from matchrec.patterns.sase.nodes import Component, Components, Identifier, Index
from matchrec.plan import expression
from matchrec.plan.expression import Aggregate, Navigation, Operation, Scalar, Term
from matchrec.plan.text import quoted, string_literal
from matchrec.source import Span
from matchrec.syntax import tokens
from matchrec.syntax.expressions.expression import ScalarReader
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.expressions.references import call_arguments
from matchrec.syntax.tokens import Token, TokenKind, TokenSequence

# The tokens of SQL, but `80%` before `*` is a number, `12hours` is a number and a word, and
# a string is one with its doubled quotes.

_COUNTED, _SHARE = re.compile(r"(\d+(?:\.\d+)?)([^\W\d]\w*)"), re.compile(r"\d+(\.\d+)?")


def read_text(text: str) -> TokenSequence:
    """The tokens of a query.

    >>> [token.text for token in read_text("WITHIN 12hours 80%*a.x").tokens]
    ['WITHIN', '12', 'hours', '0.8', '*', 'a', '.', 'x']
    """
    own: list[Token] = []
    for token in tokens.tokens_of(tokens.sqlglot_tokens(text), text):
        before, counted = own[-1] if own else token, _COUNTED.fullmatch(token.text)
        start, end = token.span.start, token.span.end
        if token.is_string and before.span.end == start and before.text[-1] == token.text[0]:
            own[-1] = Token(token.kind, before.text + token.text, before.span.to(token.span))
        elif counted and token.kind in (TokenKind.WORD, TokenKind.SYMBOL):
            middle = start + counted.end(1)
            own.append(Token(TokenKind.NUMBER, counted[1], Span(start, middle)))
            own.append(Token(TokenKind.WORD, counted[2], Span(middle, end)))
        elif token.key == "*" and before.key == "%" and own[1:] and _SHARE.fullmatch(own[-2].text):
            share = Decimal(own[-2].text).scaleb(-2).normalize()
            own[-2:] = [Token(TokenKind.NUMBER, f"{share:f}", own[-2].span.to(before.span)), token]
        else:
            own.append(token)
    return TokenSequence(text, tuple(own), tokens.pair_brackets(own))


# Strings of SASE+ as Spark SQL reads them in every session. Double quotes are for strings in SASE+;
# in Spark SQL they are for names where the session says so.


def in_single_quotes(text: str) -> str:
    r"""The string of a token, with single quotes around it.

    >>> in_single_quotes('"it\'s"'), in_single_quotes("'it''s'")
    ("'it\\'s'", "'it''s'")
    """
    if text.endswith("'"):
        return text
    content = text[text.index('"') + 1 : -1].replace('""', '"')
    if not text.startswith('"'):  # r"\d"
        return string_literal(content)
    escaped = re.sub(r"(?s)\\.|'", lambda one: "\\'" if one[0] == "'" else one[0], content)
    return f"'{escaped}'"


OVER_EVENTS = ("avg", "sum", "min", "max", "count")
RANGES = (Index.SO_FAR, Index.ALL)
ELEMENTS = (Index.CURRENT, Index.PREVIOUS, Index.SO_FAR)
EQUIVALENCE = "[]="
NAMES = (TokenKind.WORD, TokenKind.QUOTED)
_FOLLOWING = {
    ".": "a name",
    "AS": "a type",
    "INTERVAL": "a number or a text with a unit",
    "IS": "NULL, TRUE, FALSE or DISTINCT FROM",
}


class EventReader(ScalarReader):
    """Reads expressions of WHERE and RETURN.

    components: what PATTERN declares. aggregate: the name of that whose argument is read; over:
    what that reads. tests: those of equivalence, each with where it stands.
    """

    def __init__(self, text: TokenSequence) -> None:
        self.components = Components(())
        self.aggregate = ""
        self.over: list[Identifier] = []
        self.tests: list[tuple[Span, tuple[Term, ...]]] = []
        super().__init__(text, Scope(ClausePart.PATTERN), "the query")

    def respell(self) -> Iterator[tuple[Span, str]]:
        """What Spark is given for some tokens: percentages as numbers, strings in single quotes."""
        for token in self.text.tokens:
            if token.is_string:
                yield token.span, in_single_quotes(token.text)
            elif token.kind is TokenKind.NUMBER:
                yield token.span, token.text

    def wrong(self, expected: str) -> MatchRecognizeError:
        """The error of the next token, or of the end of the query, where something else is due."""
        if self.position < self.end:
            span, where = self.tokens[self.position].span, self.clause
            text = self.text.text_at(span)
            return errors.unexpected_token(span, text=text, where=where, expected=expected)
        end = self.text.whole.end
        return errors.unexpected_end(Span(end, end + 1), where=self.clause, expected=expected)

    def require(self, key: str, expected: str = "") -> None:
        """Reads a keyword or a sign, or raises. expected: it and what else could stand there."""
        if not self.accept(key):
            raise self.wrong(expected or (key if key.isalpha() else f"`{key}`"))

    def taken(self, expected: str, *kinds: TokenKind) -> Token:
        if self.kind_at(self.position) not in kinds:
            raise self.wrong(expected)
        self.position += 1
        return self.tokens[self.position - 1]

    def expect(self, *keys: str) -> None:
        for key in keys:
            before = _FOLLOWING.get(self.key_at(self.position - 1))
            self.require(key, before or f"an operator or {key if key.isalpha() else f'`{key}`'}")

    def unexpected(self) -> MatchRecognizeError:
        before = self.tokens[self.position - 1]
        due = "a unit of time" if before.is_constant else "a value such as a.x or 1"
        return self.wrong(_FOLLOWING.get(before.key, due))

    def parameter(self) -> Term:
        if self.key == "?" or self.key_at(self.position - 1) == "INTERVAL":
            raise self.unexpected()
        return super().parameter()

    def operand(self) -> Scalar:
        if self.key == "[":
            return self.equivalence()
        return self.column() if self.key in tokens.SEMANTICS else super().operand()

    def column(self) -> Term:
        """What an identifier reads; a parameter of a lambda is SQL's."""
        start, name = self.position, self.tokens[self.position]
        if not name.is_word:
            raise self.unexpected()
        if name.text.lower() in map(str.lower, self.parameters):
            return super().column()
        self.position += 1
        index = self.index(name)
        attribute = self.attribute() if self.accept(".") else None
        span = self.last_read = self.span(start, self.position)
        if self.position == start + 1 and name.text not in self.components.by_name:
            if not self.ends_after(start):
                raise self.wrong("an operator")
            raise errors.bare_name(span, name=name.text, clause=self.clause)
        if self.position == start + 3 and self.key_at(start + 2) == "LEN":
            return self.length(name, span)
        return self.identifier(Identifier(name, index, attribute, span))

    def index(self, name: Token) -> Index:
        """Which events of a variable are read, by the brackets that stand next."""
        if self.key != "[":
            return Index.ALONE
        start, variable = self.position, name.text
        self.position = self.text.past(start)
        written = "".join([variable, *(one.text for one in self.tokens[start : self.position])])
        known = {index.of(variable).upper(): index for index in Index}
        known[f"{variable}[..{variable}.LEN]".upper()] = Index.ALL
        if written.upper() not in known:
            span = self.span(start, self.position)
            raise errors.unknown_index(span, name=variable, written=self.text.text_at(span))
        return known[written.upper()]

    def attribute(self) -> Term:
        """The attribute whose first name stands next; quoted, because it may be called `from`."""
        start, names = self.position, [self.taken("a name", *NAMES).text]
        while self.accept("."):
            names.append(self.taken("a name", *NAMES).text)
        sql, span = ".".join(map(quoted, names)), self.span(start, self.position)
        return expression.column_term(Navigation(), sql, span, tuple(names))

    def component(self, name: Token) -> Component:
        found = self.components.known(name, self.clause)
        if found.negated and self.clause == "RETURN":
            raise errors.negated_in_return(name.span, name=name.text)
        return found

    def identifier(self, node: Identifier) -> Term:
        """What is read of an event, in an aggregate of each of its events."""
        self.component(node.name)
        if self.aggregate and node.index not in RANGES:
            function = self.aggregate
            raise errors.aggregate_of_one_event(node.span, function=function, clause=self.clause)
        navigation = self.navigation(node)
        if self.aggregate:
            self.over.append(node)
        elif node.attribute is None:
            raise errors.missing_attribute(node.span, written=node.events, clause=self.clause)
        if node.attribute is None:
            return expression.column_term(navigation, "", node.span)
        read = node.attribute
        text, names = expression.row_text(read), expression.names_of(read)
        return expression.column_term(navigation, text, node.span, names)

    def navigation(self, node: Identifier) -> Navigation:
        """The row that an identifier reads. Raises for an index that its component, or the clause,
        does not have.
        """
        name, span, clause, index = node.name.text, node.span, self.clause, node.index
        kleene, written = self.component(node.name).kleene, node.events
        if kleene and index is Index.ALONE:
            first = expression.names_of(node.attribute)[0] if node.attribute else ""
            whole, attribute = f"{name}.{first}".rstrip("."), first or "x"
            raise errors.kleene_without_index(
                span, written=whole, clause=clause, name=name, attribute=attribute
            )
        if not kleene and index is not Index.ALONE:
            raise errors.index_of_one_event(span, written=written, clause=clause, name=name)
        if index in ELEMENTS and clause == "RETURN":
            raise errors.element_in_return(span, written=written, name=name)
        if self.aggregate or index in (Index.ALONE, Index.LAST):
            return Navigation(name)
        if index in RANGES:
            raise errors.range_outside_aggregate(span, written=written, clause=clause, name=name)
        if index is Index.PREVIOUS:
            return Navigation(name, logical_offset=1)
        return Navigation(written)

    def call(self) -> Scalar:
        token = self.tokens[self.position]
        if not self.text.is_call(self.position) or token.key not in tokens.OF_SEVERAL_ROWS:
            return super().call()
        span, name = token.span, token.text
        if name.lower() in OVER_EVENTS:
            return self.aggregated(name.lower())
        raise errors.unknown_aggregate(span, function=name, clause=self.clause, known=OVER_EVENTS)

    def length(self, name: Token, span: Span) -> Term:
        if not self.component(name).kleene:
            raise errors.length_of_one_event(span, name=name.text, clause=self.clause)
        if self.aggregate:
            raise errors.nested_aggregate(span, function=f"{name.text}.LEN", clause=self.clause)
        return Term((Aggregate("count", name.text, (), span=span),), span)

    def aggregated(self, function: str) -> Term:
        """One of the five over `a[..i-1]`, the events so far, or `a[]`, all of them."""
        start, span = self.position, self.text.call_span(self.position)
        if self.aggregate:
            raise errors.nested_aggregate(span, function=function, clause=self.clause)
        arguments = call_arguments(self, start)
        if len(arguments) != 1:
            given = len(arguments)
            raise errors.wrong_number_of_arguments(span, function=function, given=given)
        self.position, self.aggregate, self.over = start + 2, function, []
        terms: tuple[Scalar, ...] = (self.expression(),)
        self.expect(")")
        first = self.range_of(function, span)
        if any(one.attribute is None for one in self.over):
            if function != "count" or terms[0].span != first.span:
                place, written, clause = first.span, first.events, self.clause
                raise errors.missing_attribute_of_several(place, written=written, clause=clause)
            terms = ()
        self.aggregate, self.last_read = "", span
        so_far = first.index is Index.SO_FAR
        return Term((Aggregate(function, first.name.text, terms, so_far=so_far, span=span),), span)

    def range_of(self, function: str, span: Span) -> Identifier:
        """The range over which an aggregate runs: that of all identifiers in its argument."""
        if not self.over:
            raise errors.aggregate_of_one_event(span, function=function, clause=self.clause)
        first = self.over[0]
        for other in self.over:
            if other.events != first.events:
                spans, ranges = (first.span, other.span), (first.events, other.events)
                raise errors.two_ranges(spans, function=function, clause=self.clause, ranges=ranges)
        return first

    def equivalence(self) -> Operation:
        """`[symbol]`: an operation until the predicates are separated."""
        start = self.position
        self.position += 1
        if self.accept("]"):
            raise errors.empty_equivalence(self.span(start, self.position))
        attributes = self.several(self.attribute)
        self.require("]", "`,`, `.` or `]`")
        for attribute in attributes:
            variable, *names = expression.names_of(attribute)
            if names and variable in self.components.by_name:
                place, rest = attribute.span, ".".join(names)
                raise errors.equivalence_of_variable(place, variable=variable, attribute=rest)
        span = self.span(start, self.position)
        if self.clause == "RETURN":
            raise errors.equivalence_inside(span, clause=self.clause)
        self.tests.append((span, tuple(attributes)))
        return Operation(EQUIVALENCE, (self.written(span),), span)

    def predicates(self, conditions: Iterable[Scalar]) -> tuple[Scalar, ...]:
        """The parts of conjunctions but for the tests. Raises for a test inside of another part."""
        parts = [part for one in conditions for part in expression.conjuncts(one)]
        others = [one for one in parts if getattr(one, "operator", "") != EQUIVALENCE]
        for span, _ in self.tests:
            if any(other.span.holds(span) for other in others):
                raise errors.equivalence_inside(span, clause=self.clause)
        return tuple(others)
