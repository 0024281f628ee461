"""Read expressions of SASE+. They are expressions of SQL in which columns are attributes of events.

    b.volume < 80%*a[a.LEN].volume      becomes      b.volume < 0.8 * LAST(a.volume)

`EventParser` reads the expressions in WHERE and RETURN. It reads SQL as its base class does, and
also:

    a[i].price              identifiers: attributes of the events that an index chooses
    avg(a[..i-1].price)     aggregates over several events, and `a.LEN`, their number
    [symbol]                equivalence tests

The parser does not decide when a condition is tested: `test_points` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from typing_extensions import override

from matchrec.errors import MatchRecognizeError
from matchrec.errors import sase as query_errors
from matchrec.errors import sase_predicates as errors
from matchrec.errors.sase_hints import VALUE
from matchrec.patterns.sase.nodes import Component, Components, Identifier, Index
from matchrec.patterns.sase.query_tokens import quote_singly
from matchrec.plan import build_expressions, expression
from matchrec.plan.expression import Aggregate, Navigation, Operation, Scalar, Term
from matchrec.plan.text import quote_name
from matchrec.source import Span
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.call_parts import find_arguments
from matchrec.syntax.expressions.expression import ScalarParser
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.function_names import CALLS_OVER_SEVERAL_ROWS, SEMANTICS
from matchrec.syntax.text_edits import TextEdit
from matchrec.syntax.tokens import Token, TokenKind, TokenSequence

# The functions that aggregate events.
AGGREGATE_FUNCTIONS = ("avg", "sum", "min", "max", "count")

# The indexes that choose several events.
RANGE_INDEXES = (Index.SO_FAR, Index.ALL)

# The indexes that are relative to the current event. RETURN has no current event.
RELATIVE_INDEXES = (Index.CURRENT, Index.PREVIOUS, Index.SO_FAR)

# The operator that stands for an equivalence test in a condition, until `split_predicates` removes
# it.
EQUIVALENCE_OPERATOR = "[]="

# The kinds of tokens that can be names.
NAME_KINDS = (TokenKind.WORD, TokenKind.QUOTED)

# What must follow a token, by its key; for messages.
_EXPECTED_AFTER = {
    ".": ("a name",),
    "AS": ("a type",),
    "INTERVAL": ("a number", "a text with a unit"),
    "IS": ("NULL", "TRUE", "FALSE", "DISTINCT FROM"),
}


class EquivalenceTest(NamedTuple):
    """A test that attributes are equal in all events of a match: `[symbol]`."""

    # Where it is written, with its brackets.
    span: Span
    # One or more attributes.
    attributes: tuple[Term, ...]


@dataclass
class OpenAggregate:
    """An aggregate whose argument is being read, and is still incomplete."""

    # The function in lower case, one of AGGREGATE_FUNCTIONS.
    function: str
    # The identifiers in the part of the argument that has been read.
    identifiers: list[Identifier] = field(default_factory=list)


class EventParser(ScalarParser):
    """A parser of expressions in WHERE and RETURN.

    The parser overrides the rules of `ScalarParser` for which SASE+ and SQL have different syntax.
    """

    # The components that PATTERN declares; empty until PATTERN has been read.
    components: Components
    # The aggregate whose argument is being read; None outside of aggregates.
    aggregate: OpenAggregate | None
    # The equivalence tests that have been read.
    tests: list[EquivalenceTest]

    def __init__(self, sequence: TokenSequence) -> None:
        """Start before the first token of a query, without components."""
        self.components = Components(())
        self.aggregate = None
        self.tests = []
        super().__init__(sequence, Scope(ClausePart.PATTERN), "the query")

    @override
    def find_respellings(self) -> Iterator[TextEdit]:
        """Yield an edit to Spark SQL for every string and every number.

        Strings get single quotes, see `quote_singly`. Percentages become numbers.
        """
        for token in self.sequence.tokens:
            if token.is_string:
                yield TextEdit(token.span, quote_singly(token.text))
            elif token.kind is TokenKind.NUMBER:
                yield TextEdit(token.span, token.text)

    def make_expected_error(self, *expected: str) -> MatchRecognizeError:
        """Return the error for the next token, or for the end of the query.

        Args:
            expected: everything that could be written instead, as for `unexpected_token`.
        """
        if self.position < self.end:
            span = self.tokens[self.position].span
            return query_errors.unexpected_token(
                span, text=self.sequence.text_at(span), where=self.where, expected=expected
            )
        end = self.sequence.full_span.end
        return query_errors.query_ends_early(
            Span(end, end + 1), where=self.where, expected=expected
        )

    def require(self, key: str, *expected: str) -> None:
        """Read a keyword or a sign.

        Args:
            key: the keyword or sign.
            expected: everything that could be written instead, for messages; nothing if only `key`
                is possible.

        Raises:
            MatchRecognizeError: the next token is another one.
        """
        if not self.accept(key):
            raise self.make_expected_error(*(expected or (key,)))

    def read_token(self, expected: Sequence[str], *kinds: TokenKind) -> Token:
        """Read a token of one of some kinds, and return it.

        Args:
            expected: the kinds in words, for messages: `["a name"]`.
            kinds: the kinds that are allowed.

        Raises:
            MatchRecognizeError: the next token is of another kind.
        """
        if self.kind_at(self.position) not in kinds:
            raise self.make_expected_error(*expected)
        self.position += 1
        return self.tokens[self.position - 1]

    @override
    def expect(self, *keys: str) -> None:
        """Read keywords or signs, right after an operand.

        Raises:
            MatchRecognizeError: the next tokens are other ones.
        """
        for key in keys:
            expected = _EXPECTED_AFTER.get(self.key_at(self.position - 1))
            self.require(key, *(expected or ("an operator", key)))

    @override
    def make_unexpected_error(self) -> MatchRecognizeError:
        """Return the error for the next token, which does not begin an operand, or for the end."""
        token_before = self.tokens[self.position - 1]
        operand = "a unit of time" if token_before.is_constant else VALUE
        return self.make_expected_error(*_EXPECTED_AFTER.get(token_before.key, (operand,)))

    @override
    def read_parameter(self) -> Term:
        """Read a parameter. SASE+ has only named parameters, so `?` is an error."""
        if self.key == "?" or self.key_at(self.position - 1) == "INTERVAL":
            raise self.make_unexpected_error()
        return super().read_parameter()

    # Identifiers

    @override
    def read_operand(self) -> Scalar:
        """Read an operand, which may be an equivalence test.

        RUNNING and FINAL are not keywords as in SQL: they can be names of components.
        """
        if self.key == "[":
            return self.read_equivalence_test()
        if self.key in SEMANTICS:
            return self.read_column()
        return super().read_operand()

    @override
    def read_column(self) -> Term:
        """Read an identifier, or a parameter of a lambda as in SQL.

        In an aggregate, the identifier is added to `aggregate.identifiers`.

        Raises:
            MatchRecognizeError: the next tokens are not an identifier, or the identifier is not
                allowed here.
        """
        start = self.position
        name = self.tokens[start]
        if not name.is_word:
            raise self.make_unexpected_error()
        if name.text.lower() in {parameter.lower() for parameter in self.lambda_parameters}:
            return super().read_column()
        self.position += 1
        index = self.read_index(name)
        attribute = self.read_attribute() if self.accept(".") else None
        span = self.sequence.span(start, self.position)
        self.last_read = span
        is_lone_name = self.position == start + 1
        if is_lone_name and name.text not in self.components.by_name:
            raise self.make_lone_name_error(start)
        is_length = self.position == start + 3 and self.key_at(start + 2) == "LEN"
        if is_length:
            return self.make_length(name, span)
        identifier = Identifier(name, index, attribute, span)
        self.check_identifier(identifier)
        if self.aggregate is not None:
            self.aggregate.identifiers.append(identifier)
        return self.make_reference(identifier)

    def make_lone_name_error(self, index: int) -> MatchRecognizeError:
        """Return the error for the name at `index`, which is not a component and has no attribute.

        If an operand follows the name, as in `price 10`, the error is about the missing operator
        between them. Otherwise the name is an attribute without a variable. The position is after
        the name.
        """
        if not self.can_end_operand(index):
            return self.make_expected_error("an operator")
        name = self.tokens[index]
        return errors.attribute_without_variable(name.span, name=name.text, clause=self.where)

    def read_index(self, name: Token) -> Index:
        """Read the brackets after the name of a component, if there are any.

        `[a.LEN]` after `a` gives `Index.LAST`, `[]` and `[..a.LEN]` give `Index.ALL`, and no
        brackets give `Index.ALONE`.

        Raises:
            MatchRecognizeError: there are brackets that do not enclose an index.
        """
        if self.key != "[":
            return Index.ALONE
        start = self.position
        variable = name.text
        self.position = self.sequence.index_after(start)
        brackets = "".join(token.text for token in self.tokens[start : self.position])
        indexes_by_text = {index.write_for(variable).upper(): index for index in Index}
        indexes_by_text[f"{variable}[..{variable}.LEN]".upper()] = Index.ALL
        index = indexes_by_text.get(f"{variable}{brackets}".upper())
        if index is None:
            span = self.sequence.span(start, self.position)
            raise errors.unknown_index(span, name=variable, index=self.sequence.text_at(span))
        return index

    def read_attribute(self) -> Term:
        """Read an attribute, or a field of an attribute that is a struct: `price`, `quote.price`.

        The result is a column with quoted names, because an attribute may be called `from`.
        """
        start = self.position
        names = [self.read_token(["a name"], *NAME_KINDS).text]
        while self.accept("."):
            names.append(self.read_token(["a name"], *NAME_KINDS).text)
        sql = ".".join(quote_name(name) for name in names)
        span = self.sequence.span(start, self.position)
        return build_expressions.make_column(Navigation(), sql, span, tuple(names))

    def find_component(self, name: Token) -> Component:
        """Return the component with a name.

        Raises:
            MatchRecognizeError: there is no such component, or it is negated and RETURN reads it.
        """
        component = self.components.find_component(name, self.where)
        if component.is_negated and self.where == "RETURN":
            raise errors.negated_in_return(name.span, name=name.text)
        return component

    def check_identifier(self, identifier: Identifier) -> None:
        """Check that an identifier is allowed in this clause, and in `aggregate` if that is open.

        Raises:
            MatchRecognizeError: there is no such component; the component, the clause or the
                aggregate does not allow the index; or an identifier outside of aggregates reads
                several events, or has no attribute.
        """
        component = self.find_component(identifier.name)
        if self.aggregate is not None:
            self.check_range(identifier, component, self.aggregate.function)
        self.check_index(identifier, component)
        if self.aggregate is not None:
            return
        if identifier.index in RANGE_INDEXES:
            raise errors.range_outside_aggregate(
                identifier.span,
                events=identifier.events,
                clause=self.where,
                name=identifier.name.text,
                attribute=".".join(identifier.attribute_names) or "x",
            )
        if identifier.attribute is None:
            raise errors.missing_attribute(
                identifier.span, events=identifier.events, clause=self.where
            )

    def check_range(self, identifier: Identifier, component: Component, function: str) -> None:
        """Check that an identifier in an aggregate reads several events.

        Args:
            identifier: an identifier in the argument of the aggregate.
            component: the component that it names.
            function: the function of the aggregate.

        Raises:
            MatchRecognizeError: the identifier reads one event.
        """
        if identifier.index in RANGE_INDEXES:
            return
        name = component.name.text
        attribute = "".join(f".{part}" for part in identifier.attribute_names)
        if component.is_kleene_plus:
            raise errors.aggregate_without_range(
                identifier.span,
                function=function,
                clause=self.where,
                name=name,
                attribute=attribute,
            )
        raise errors.aggregate_over_single_event(
            identifier.span,
            call=f"{function}({name}[]{attribute})",
            clause=self.where,
            name=name,
            kleene_plus=self.write_kleene_plus(component),
        )

    def write_kleene_plus(self, component: Component) -> str:
        """Return a component of one event as a Kleene plus: `Stock+ a[]` for `Stock a`."""
        name = component.name.text
        event_type = self.sequence.text_at(component.span).removesuffix(name).rstrip()
        return f"{event_type}+ {name}[]"

    def check_index(self, identifier: Identifier, component: Component) -> None:
        """Check that the component has the index, and that the clause can use it.

        Args:
            identifier: an identifier in this clause.
            component: the component that it names.

        Raises:
            MatchRecognizeError: a Kleene plus has no index, another component has one, or RETURN
                uses an index that is relative to the current event.
        """
        name = identifier.name.text
        index = identifier.index
        if component.is_kleene_plus and index is Index.ALONE:
            first_names = identifier.attribute_names[:1]
            raise errors.missing_kleene_index(
                identifier.span,
                identifier=".".join((name, *first_names)),
                clause=self.where,
                name=name,
                attribute=first_names[0] if first_names else "x",
            )
        if not component.is_kleene_plus and index is not Index.ALONE:
            raise errors.index_on_single_event(
                identifier.span,
                events=identifier.events,
                clause=self.where,
                name=name,
                kleene_plus=self.write_kleene_plus(component),
            )
        if index in RELATIVE_INDEXES and self.where == "RETURN":
            raise errors.element_in_return(identifier.span, events=identifier.events, name=name)

    def make_reference(self, identifier: Identifier) -> Term:
        """Return the reference of an identifier that `check_identifier` has accepted.

        It reads one event; in an aggregate, it is evaluated on each event of a range.
        """
        navigation = self.find_navigation(identifier)
        if identifier.attribute is None:
            return build_expressions.make_column(navigation, "", identifier.span)
        text = expression.write_row_sql(identifier.attribute)
        return build_expressions.make_column(
            navigation, text, identifier.span, identifier.attribute_names
        )

    def find_navigation(self, identifier: Identifier) -> Navigation:
        """Return the navigation to the event that an identifier reads.

        In an aggregate, which reads several events, the navigation names only their variable.
        """
        name = identifier.name.text
        index = identifier.index
        if self.aggregate is not None or index in (Index.ALONE, Index.LAST):
            return Navigation(name)
        if index is Index.PREVIOUS:
            return Navigation(name, logical_offset=1)
        # `a[1]` and `a[i]` are primary variables of the plan.
        return Navigation(identifier.events)

    # Aggregates

    @override
    def read_call(self) -> Scalar:
        """Read a call: an aggregate of events, or a function of SQL over one row."""
        token = self.tokens[self.position]
        is_call = self.sequence.is_call(self.position)
        if not is_call or token.key not in CALLS_OVER_SEVERAL_ROWS:
            return super().read_call()
        function = token.text.lower()
        if function in AGGREGATE_FUNCTIONS:
            return self.read_aggregate(function)
        raise errors.unknown_aggregate(
            token.span,
            function=token.text,
            clause=self.where,
            aggregates=AGGREGATE_FUNCTIONS,
            name=self.choose_kleene_plus(self.position),
        )

    def choose_kleene_plus(self, index: int) -> str:
        """Return the name of the Kleene plus that the error about a call uses as an example.

        The result is the first Kleene plus in the arguments. If the arguments name no Kleene plus,
        it is the first one in PATTERN, and "" if PATTERN has none.

        Args:
            index: the index of the call's first token.
        """
        names = [
            component.name.text
            for component in self.components.positive
            if component.is_kleene_plus
        ]
        for token in self.tokens[index : self.sequence.index_after(index + 1)]:
            if token.text in names:
                return token.text
        return names[0] if names else ""

    def make_length(self, name: Token, span: Span) -> Term:
        """Return `a.LEN`, the number of events of a Kleene plus.

        Raises:
            MatchRecognizeError: the component is not a Kleene plus, or an aggregate reads it.
        """
        if not self.find_component(name).is_kleene_plus:
            raise errors.len_of_single_event(span, name=name.text, clause=self.where)
        if self.aggregate is not None:
            raise errors.aggregate_in_aggregate(
                span, function=f"{name.text}.LEN", clause=self.where
            )
        event_count = Aggregate("count", variable=name.text, arguments=(), span=span)
        return Term((event_count,), span)

    def read_aggregate(self, function: str) -> Term:
        """Read an aggregate over `a[..i-1]`, the events so far, or over `a[]`, all events.

        Args:
            function: one of AGGREGATE_FUNCTIONS.

        Raises:
            MatchRecognizeError: the aggregate is nested, has several arguments or ranges, or lacks
                an attribute and is not `count(a[])`.
        """
        start = self.position
        span = self.sequence.find_call_span(start)
        if self.aggregate is not None:
            raise errors.aggregate_in_aggregate(span, function=function, clause=self.where)
        self.check_one_argument(start, function)
        argument, identifiers = self.read_aggregate_argument(function)
        self.last_read = span
        if not identifiers:
            raise errors.aggregate_without_event(
                span, function=function, clause=self.where, name=self.choose_kleene_plus(start)
            )
        self.check_same_range(identifiers, function)
        first_identifier = identifiers[0]
        is_count_of_events = function == "count" and argument.span == first_identifier.span
        lacks_attribute = any(identifier.attribute is None for identifier in identifiers)
        if lacks_attribute and not is_count_of_events:
            raise errors.missing_attribute_of_several(
                first_identifier.span, events=first_identifier.events, clause=self.where
            )
        aggregate = Aggregate(
            function,
            first_identifier.name.text,
            # The plan of `count(a[])` counts rows: it has no argument.
            arguments=() if lacks_attribute else (argument,),
            excludes_current_row=first_identifier.index is Index.SO_FAR,
            span=span,
        )
        return Term((aggregate,), span)

    def check_one_argument(self, index: int, function: str) -> None:
        """Check that an aggregate has one argument.

        Args:
            index: the index of the aggregate's first token.
            function: the function of the aggregate.

        Raises:
            MatchRecognizeError: the aggregate has no argument or several ones.
        """
        count = len(find_arguments(self, index))
        if count != 1:
            raise errors.one_argument_expected(
                self.sequence.find_call_span(index),
                function=function,
                count=count,
                name=self.choose_kleene_plus(index),
            )

    def read_aggregate_argument(self, function: str) -> tuple[Scalar, Sequence[Identifier]]:
        """Read an aggregate with one argument, from the name of its function to its `)`.

        Returns:
            The argument, and the identifiers in it.
        """
        self.position += 2  # the name of the function, and its `(`
        open_aggregate = OpenAggregate(function)
        self.aggregate = open_aggregate
        try:
            argument = self.read_expression()
        finally:
            self.aggregate = None
        self.expect(")")
        return argument, open_aggregate.identifiers

    def check_same_range(self, identifiers: Sequence[Identifier], function: str) -> None:
        """Check that all identifiers in the argument of an aggregate read the same events.

        Args:
            identifiers: one or more identifiers, in the order of the text.
            function: the function of the aggregate.

        Raises:
            MatchRecognizeError: an identifier reads other events than the first one.
        """
        first_identifier = identifiers[0]
        for other_identifier in identifiers[1:]:
            if other_identifier.events != first_identifier.events:
                raise errors.aggregate_over_two_ranges(
                    first_identifier.span,
                    other_identifier.span,
                    function=function,
                    clause=self.where,
                    ranges=(first_identifier.events, other_identifier.events),
                )

    # Equivalence tests

    def read_equivalence_test(self) -> Operation:
        """Read `[symbol]` and add it to `tests`.

        The result marks the place of the test in the condition, until `split_predicates` removes
        it.

        Raises:
            MatchRecognizeError: the test has no attributes, names a variable, or is in RETURN.
        """
        start = self.position
        self.position += 1
        if self.accept("]"):
            raise errors.empty_equivalence_test(self.sequence.span(start, self.position))
        attributes = tuple(self.read_several(self.read_attribute))
        if self.key in expression.COMPARISONS:
            self.reject_comparison(start, attributes[-1])
        self.require("]", ",", ".", "]")
        for attribute in attributes:
            self.reject_variable(attribute)
        span = self.sequence.span(start, self.position)
        if self.where == "RETURN":
            raise errors.equivalence_test_in_return(span, test=self.sequence.text_at(span))
        self.tests.append(EquivalenceTest(span, attributes))
        return Operation(EQUIVALENCE_OPERATOR, (self.write_span(span),), span)

    def reject_comparison(self, opening: int, left: Term) -> None:
        """Raise the error for a comparison in an equivalence test, as in `[price > 3]`.

        The help has the comparison as a predicate: `a.price > 3`.

        Args:
            opening: the index of the bracket `[`. The position is at the operator.
            left: the left operand.
        """
        closing = self.sequence.pairs[opening]
        operator_to_end = self.sequence.span(self.position, closing)
        comparison = self.sequence.text_at(left.span.to(operator_to_end))
        has_variable = comparison.partition(".")[0] in self.components.by_name
        if not has_variable:
            first_variable = next(iter(self.components.by_name))
            comparison = f"{first_variable}.{comparison}"
        raise errors.comparison_in_equivalence_test(operator_to_end, comparison=comparison)

    def reject_variable(self, attribute: Term) -> None:
        """Raise an error for an attribute of an equivalence test with a variable: `[a.symbol]`."""
        first_name, *other_names = expression.find_column_path(attribute)
        if other_names and first_name in self.components.by_name:
            raise errors.equivalence_test_on_variable(
                attribute.span, variable=first_name, attribute=".".join(other_names)
            )

    def split_predicates(self, conditions: Iterable[Scalar]) -> tuple[Scalar, ...]:
        """Return the conjuncts of conditions without the equivalence tests.

        `[symbol] AND a.x > 1 AND b.y > 2` gives `a.x > 1` and `b.y > 2`.

        Raises:
            MatchRecognizeError: an equivalence test is inside another conjunct, as in
                `[symbol] OR a.x > 1`.
        """
        predicates: list[Scalar] = []
        for condition in conditions:
            conjuncts = expression.split_conjuncts(condition)
            predicates += [conjunct for conjunct in conjuncts if not is_equivalence_test(conjunct)]
        for test in self.tests:
            if any(predicate.span.contains(test.span) for predicate in predicates):
                raise errors.equivalence_test_in_predicate(
                    test.span,
                    attribute=self.sequence.text_at(test.attributes[0].span),
                    single_events=[
                        f"{component.name.text}[1]"
                        if component.is_kleene_plus
                        else component.name.text
                        for component in self.components.positive
                    ],
                )
        return tuple(predicates)


def is_equivalence_test(scalar: Scalar) -> bool:
    """Return whether an expression is the mark that `read_equivalence_test` returns."""
    return isinstance(scalar, Operation) and scalar.operator == EQUIVALENCE_OPERATOR
