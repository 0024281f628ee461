"""The base of the parser of expressions: the scope of an expression, and a cursor over its tokens.

`ExpressionCursor` has no rules of the grammar: its subclasses in `calls`, `operands` and
`expression` have them. It keeps the position and the references that were read so far, makes nodes
of the tokens that a rule has read, and makes the error for a token that no rule can read. The
functions at the end of the file check and divide tokens before any rule reads them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from matchrec.errors import MatchRecognizeError
from matchrec.errors.language import name_part
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import incomplete as incomplete_errors
from matchrec.errors.sql import tokens as syntax_errors
from matchrec.errors.sql.clause import extra_comma
from matchrec.errors.sql.query import misspelt_keyword
from matchrec.plan.amounts import Amount
from matchrec.plan.build_expressions import build_operation_parts
from matchrec.plan.expression import Operation, Scalar, Term, collect_text_operations, flatten_parts
from matchrec.plan.operations import NO_OPERATIONS, SUBQUERY, Operations
from matchrec.plan.parameters import name_parameter
from matchrec.plan.templates import replace_spans, separate_words
from matchrec.plan.text import quote_name
from matchrec.plan.words import read_words
from matchrec.source import Span
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.from_relations import find_qualified_names, list_relation_names
from matchrec.syntax.parameter_values import ParameterValues
from matchrec.syntax.tokens import (
    CLOSING,
    OPENING,
    Cursor,
    Token,
    TokenKind,
    TokenRange,
    TokenSequence,
    split_words,
)


@dataclass(frozen=True)
class Scope:
    """The scope of an expression: the variables, rows and parameters to which it may refer."""

    # The part of the clause that contains the expression.
    part: ClausePart
    # The primary variables, normalized: in upper case unless they are quoted.
    primary: tuple[str, ...] = ()
    # The union variables of SUBSET, normalized.
    unions: tuple[str, ...] = ()
    # Whether the expression may read rows of a match; if not, it is SQL over one row of the input.
    reads_match: bool = True
    # The values of parameters; None if no parameter may replace a number of rows.
    values: ParameterValues | None = None

    @cached_property
    def variables(self) -> frozenset[str]:
        """Return the primary and the union variables."""
        return frozenset((*self.primary, *self.unions))


@dataclass(frozen=True, slots=True)
class RowRead:
    """A column, or a CLASSIFIER, that an expression reads."""

    # The variable whose rows are read; None for the universal variable.
    variable: str | None
    # Where the column or the CLASSIFIER is written.
    span: Span
    # True for a column, False for a CLASSIFIER.
    is_column: bool


@dataclass(frozen=True, slots=True)
class StructField:
    """A field of a struct."""

    name: str
    value: Scalar


# Keywords that may follow an operand.
AFTER_OPERAND = read_words("AFTER OPERAND")

# Symbols with which an operand may begin.
OPERAND_STARTS = split_words("- + ~ ! (")

# Operators that cannot follow each other, because each needs an operand before it.
_BINARY_OPERATORS = split_words("= < > <= >= <> != * / % | & ^ ||")

# Tokens about which errors repeat the text that follows.
_WORDS_IN_CALLS = ("AS", "USING", "SEPARATOR", "AT", ",")
_KEYS_WITH_TEXT = ("GROUP", "WHERE", "HAVING", "LIMIT", "NOT", "!", "{")

# Signs right before a number that make the number part of a longer calculation.
_ARITHMETIC_SIGNS = split_words("- + * / %")

# Operators that bind tighter than a comparison. If one of them follows a constant, the constant is
# not the whole right operand of the comparison, as in `x = 1 || y`.
_TIGHT_OPERATORS = split_words("|| [ ::")


class ExpressionCursor(Cursor, ABC):
    """A cursor over the tokens of an expression, which makes nodes of the tokens it has read.

    Args:
        sequence: the tokens of the expression.
        scope: what the expression may refer to.
        where: where the expression is written, for messages; by default, the part of the clause.

    Raises:
        MatchRecognizeParseError: there are no tokens, or their brackets do not pair up.
    """

    def __init__(self, sequence: TokenSequence, scope: Scope, where: str | None = None) -> None:
        super().__init__(sequence)
        self.scope = scope
        # Where the expression is written, for messages.
        self.where = where or name_part(scope.part.value)
        check_brackets(sequence, self.where)
        reject_unquoted_dates(sequence, self.where)
        # The columns and CLASSIFIERs that were read so far.
        self.rows_read: list[RowRead] = []
        # The span of the last column, or of the last call that reads rows of a match; None if there
        # is none, or if it was a `*`.
        self.last_read: Span | None = None
        # The indices of the names of called functions, without calls that read rows of a match.
        self.function_indices: list[int] = []
        # The index of the name of the navigation or aggregate around the position; None if there is
        # none.
        self.caller: int | None = None
        # The names of the parameters of the lambdas around the position.
        self.parameters: frozenset[str] = frozenset()
        # The tokens that Spark gets in another spelling, see `find_respellings`.
        self.respellings = tuple(self.find_respellings())

    def find_respellings(self) -> Iterator[tuple[Span, str]]:
        """Yield the spans of tokens that Spark gets in another spelling, each with the spelling.

        A `?` becomes a named parameter, and a name in double quotes gets backticks.
        """
        for token in self.sequence.tokens:
            if token.key == "?":
                yield token.span, f":{name_parameter(token.span)}"
            elif token.kind is TokenKind.QUOTED and self.sequence.text_at(token.span).startswith(
                '"'
            ):
                yield token.span, quote_name(token.text)

    @abstractmethod
    def read_expression(self) -> Scalar:
        """Read an expression: operands with operators between them."""

    @abstractmethod
    def read_value(self) -> Scalar:
        """Read an operand, or operands with arithmetic or comparisons between them."""

    @abstractmethod
    def read_type_name(self, end: int | None = None) -> str:
        """Read a type and return it as one word."""

    @abstractmethod
    def read_fields(self, function: str = "") -> list[StructField]:
        """Read the fields of a struct."""

    @abstractmethod
    def read_parameter(self) -> Term:
        """Read `?` or `:name`."""

    def read_name(self) -> str:
        """Read a name and return it without quotes.

        Raises:
            MatchRecognizeError: the next token is not a name.
        """
        if self.position >= self.end or not self.tokens[self.position].is_name:
            raise self.make_unexpected_error()
        self.position += 1
        return self.tokens[self.position - 1].text

    def read_range(self, start: int, end: int) -> Scalar:
        """Read tokens `start .. end`, which are one expression.

        Raises:
            MatchRecognizeParseError: the expression ends before `end`, or does not end there.
        """
        self.position = start
        tree = self.read_expression()
        if self.position != end:
            raise self.make_unexpected_error()
        return tree

    def read_argument(self, caller: int, start: int, end: int) -> Scalar:
        """Read tokens `start .. end`, an argument of the navigation or aggregate at `caller`.

        The errors are the same as for `read_range`.
        """
        outer_caller = self.caller
        self.caller = caller
        try:
            return self.read_range(start, end)
        finally:
            self.caller = outer_caller

    def expect(self, *keys: str) -> None:
        """Read tokens with these keys.

        Raises:
            MatchRecognizeParseError: the next tokens have other keys.
        """
        for key in keys:
            if not self.accept(key):
                raise self.make_unexpected_error()

    def make_unexpected_error(self) -> MatchRecognizeError:
        """Return the error for the next token, which no rule can read, or for the end."""
        return (
            self._explain_comma_or_end()
            or self._explain_order_by()
            or self._explain_operators()
            or self._explain_is()
            or self._explain_semantics()
            or self._make_unexpected_token_error()
        )

    @property
    def _next_token(self) -> Token:
        """Return the next token, or the last one at the end."""
        return self.tokens[min(self.position, self.end - 1)]

    @property
    def _token_before(self) -> Token:
        """Return the token before the position, or the first one at the start."""
        return self.tokens[min(max(self.position, 1), self.end) - 1]

    def _explain_comma_or_end(self) -> MatchRecognizeError | None:
        """Return the error for a comma with no value next to it, or for a missing value.

        The result is None if the position is neither at a comma nor at an end, of the text or of a
        bracket.
        """
        token = self._next_token
        before = self._token_before
        is_at_end = self.position >= self.end or token.key in CLOSING
        if token.key == "," and before.key in ("(", "[", ","):
            return extra_comma(token.span, part=self.where)
        if before.key == "," and is_at_end:
            return extra_comma(before.span, part=self.where)
        if is_at_end:
            return incomplete_errors.unfinished_expression(
                token.span, where=self.where, last_word=before.text
            )
        return None

    def _explain_order_by(self) -> MatchRecognizeError | None:
        """Return the error for ORDER BY in brackets, as in `array_agg(x ORDER BY y)`, or None."""
        is_in_brackets = self.sequence.enclosing_openings[self.position] >= 0
        if not is_in_brackets or not self.sequence.has_keys(self.position, "ORDER", "BY"):
            return None
        order_by = self.sequence.span(self.position, self.position + 2)
        return errors.order_by_in_call(order_by, clause=self.where)

    def _explain_operators(self) -> MatchRecognizeError | None:
        """Return the error for an operator without an operand before it, or None."""
        token = self._next_token
        before = self._token_before
        is_operator = token.key in _BINARY_OPERATORS
        if self.position == 0 and (is_operator or token.key == "IS"):
            return syntax_errors.no_value_before_operator(
                token.text.upper(), token.span, where=self.where
            )
        if token.key in ("AND", "OR") and before.key in _BINARY_OPERATORS:
            return incomplete_errors.unfinished_expression(
                before.span, where=self.where, last_word=before.text
            )
        placeholder = self._find_placeholder()
        if placeholder is not None:
            return placeholder
        if is_operator and before.key in _BINARY_OPERATORS:
            both_span = before.span.to(token.span)
            return syntax_errors.two_operators(before.text, token.text, both_span, where=self.where)
        following = self.tokens[min(self.position + 1, self.end - 1)]
        if token.key == "!" and following.key == "=":
            both_span = token.span.to(following.span)
            return syntax_errors.two_operators("!", "=", both_span, where=self.where)
        return None

    def _find_placeholder(self) -> MatchRecognizeError | None:
        """Return the error for a placeholder of Python, `%s` or `%(name)s`, or None."""
        start = self.position
        if self.key_at(start) != "%":
            return None
        name = ""
        end = start + 2
        if self.key_at(start + 1) == "(" and self.key_at(start + 3) == ")":
            name = self.tokens[start + 2].text
            end = start + 5
        if self.key_at(end - 1) != "S":
            return None
        span = self.sequence.span(start, end)
        text = self.sequence.text_at(span)
        return syntax_errors.placeholder_of_python(span, text=text, name=name)

    def _explain_semantics(self) -> MatchRecognizeError | None:
        """Return the error for a misspelt RUNNING or FINAL before a function, or None."""
        before = self._token_before
        keyword = find_nearest(before.key, ("RUNNING", "FINAL"))
        if keyword is None or keyword == before.key or not self.sequence.is_call(self.position):
            return None
        return misspelt_keyword(before.span, text=before.text, keyword=keyword, where=self.where)

    def _explain_is(self) -> MatchRecognizeError | None:
        """Return the error for IS or IS NOT before a value, as in `x IS 1`, or None.

        The result is also None if the error for an unexpected token has better advice.
        """
        has_advice = (
            syntax_errors.find_hint_for_token(self._next_token.text, self.where) is not None
        )
        if has_advice:
            return None
        before = self._token_before
        meant_word = find_nearest(self._next_token.key, ("NULL", "TRUE", "FALSE", "UNKNOWN"))
        if before.key == "NOT" and self.key_at(self.position - 2) == "IS":
            is_not = self.tokens[self.position - 2].span.to(before.span)
            operator = f"IS NOT {meant_word}" if meant_word else "<>"
            return syntax_errors.value_after_is(is_not, where=self.where, operator=operator)
        if before.key == "IS":
            operator = f"IS {meant_word}" if meant_word else "="
            return syntax_errors.value_after_is(before.span, where=self.where, operator=operator)
        return None

    def _make_unexpected_token_error(self) -> MatchRecognizeError:
        """Return the error for any other token that cannot come next."""
        token = self._next_token
        before = self._token_before
        # These words were read as names: the error is about them, and not about the next token.
        is_after_keyword = (
            before.key in ("IF", "CASE", "SELECT") and token.kind is not TokenKind.SYMBOL
        )
        span = before.span if is_after_keyword else token.span
        is_key = self.scope.part in (ClausePart.PARTITION_BY, ClausePart.ORDER_BY)
        needs_text = is_key or self.scope.part is ClausePart.WITHIN
        needs_text = needs_text or is_after_keyword or token.key in _KEYS_WITH_TEXT
        texts_around = self.sequence.split_at(span)
        is_about_brackets = token.key == "[" or "[" in texts_around[0]
        is_in_cast = token.key in _WORDS_IN_CALLS and syntax_errors.find_foreign_cast_hint(
            *texts_around
        )
        if not needs_text and not is_about_brackets and not is_in_cast:
            texts_around = ("", "")
        follows_word = not is_after_keyword and before.span.end <= token.span.start
        return syntax_errors.unexpected_token(
            self.sequence.text_at(span),
            self.where,
            span,
            texts_around,
            word_before=self.sequence.text_at(before.span) if follows_word else "",
        )

    def make_unknown_variable_error(self, name: Token) -> MatchRecognizeError:
        """Return the error for a name that is not a pattern variable, as it must be."""
        return errors.unknown_variable(
            name.span,
            name=name.variable,
            clause=self.where,
            primary=self.scope.primary,
            unions=self.scope.unions,
        )

    @property
    def here(self) -> Span:
        """Return the span of the next token, or of the last one at the end."""
        return self._next_token.span

    def write_span(self, span: Span) -> str:
        """Return the user's text at a span, with the spellings that Spark gets."""
        text_at = self.sequence.text_at
        replacements = [
            (respelt_span, (spelling,))
            for respelt_span, spelling in self.respellings
            if span.start <= respelt_span.start < span.end
        ]
        if not replacements:
            return text_at(span)
        return "".join(separate_words(replace_spans(text_at, span, replacements)))

    def make_term(
        self, start: int, operations: Operations, *parts: Scalar, amount: Amount | None = None
    ) -> Term:
        """Make a term of the tokens since `start`: text that only Spark understands.

        Args:
            start: the index of the first token.
            operations: the operations of the text around `parts`.
            parts: the expressions in the text. Their references become holes of the text.
            amount: the value of the text if it is a literal number or interval, otherwise None.
        """
        span = self.sequence.span(start, self.position)
        pieces = flatten_parts(build_operation_parts(parts, self.write_span, span))
        all_operations = operations.union(*(collect_text_operations(part) for part in parts))
        return Term(pieces, span, all_operations, amount)

    def make_operation(
        self,
        operator: str,
        start: int,
        *operands: Scalar,
        words: tuple[str, ...] = (),
        operations: Operations = NO_OPERATIONS,
    ) -> Operation:
        """Make an operation of the tokens since `start`.

        Args:
            operator: the name of the operator.
            start: the index of the first token.
            operands: the operands, whose spans are inside these tokens.
            words: words of the text that are not operands, such as a type.
            operations: the operations of the operator; by default, they follow from its name.
        """
        span = self.sequence.span(start, self.position)
        return Operation(
            operator,
            build_operation_parts(operands, self.write_span, span),
            span,
            words,
            operations,
        )

    def make_struct(self, start: int, fields: Sequence[StructField]) -> Operation:
        """Make a struct of the tokens since `start`. Its words are the names of the fields."""
        values = [field.value for field in fields]
        return self.make_operation(
            "STRUCT", start, *values, words=tuple(field.name for field in fields)
        )

    def find_constant_at(self, index: int) -> str:
        """Return the text of the number or string at `index`; "" if it is not a whole operand."""
        is_constant = index < self.end and self.tokens[index].is_constant
        is_operand = self.key_at(index + 1) not in _TIGHT_OPERATORS
        return self.tokens[index].text if is_constant and is_operand else ""

    def read_subquery(self, start: int, operations: Operations, *parts: Scalar) -> Term:
        """Read the query in the parentheses that come next, and make a term of it.

        The arguments are as for `make_term`.
        """
        opening = self.position
        self.position = self.sequence.index_after(opening)
        self._reject_correlation(opening, self.position)
        return self.make_term(start, operations | {SUBQUERY}, *parts)

    def _reject_correlation(self, start: int, end: int) -> None:
        """Raise an error if a subquery reads a column of a pattern variable.

        If a relation of the subquery has the name of a variable, the name means the relation.

        Args:
            start: the index of the parenthesis that opens the subquery.
            end: the index after the parenthesis that closes it.
        """
        for token, path in find_qualified_names(self.sequence, range(start, end)):
            is_variable = token.variable in self.scope.variables
            if is_variable and token.name.upper() not in list_relation_names(
                self.sequence, start, end
            ):
                what = f"pattern variable `{token.variable}`"
                raise errors.correlated_subquery(path, clause=self.where, what=what)


def reject_unquoted_characters(sequence: TokenSequence, where: str) -> None:
    """Raise an error for a character that SQL allows only in quotes, such as `→`.

    Args:
        sequence: the tokens to check.
        where: the part of the clause, for messages.

    Raises:
        MatchRecognizeParseError: there is such a character.
    """
    if sequence.text.isascii():
        return
    for token in sequence.tokens:
        if token.needs_quotes:
            raise syntax_errors.strange_sign(token.text, where, token.span)


def split_items(sequence: TokenSequence, inside: TokenRange, where: str) -> tuple[TokenRange, ...]:
    """Return the ranges of tokens between the commas of a list.

    Args:
        sequence: the tokens of the text.
        inside: the range of the whole list.
        where: the part of the clause, for messages.

    Raises:
        MatchRecognizeParseError: an item of the list is empty.
    """
    items = sequence.split_at_commas(*inside)
    for start, end in items:
        if start == end:
            comma = end if end < inside[1] else end - 1
            raise extra_comma(sequence[comma].span, part=where)
    return items


_BRACKETS = CLOSING | OPENING.keys()


def check_brackets(sequence: TokenSequence, where: str) -> None:
    """Check that an expression has tokens, and that their brackets pair up.

    Args:
        sequence: the tokens of the expression.
        where: the part of the clause, for messages.

    Raises:
        MatchRecognizeParseError: there are no tokens, a bracket has no counterpart, or a character
            is allowed only in quotes.
    """
    if not sequence.tokens:
        span = Span(sequence.offset, max(sequence.offset + 1, sequence.full_span.end))
        raise incomplete_errors.missing_expression(span, where=where)
    reject_unquoted_characters(sequence, where)
    paired = {*sequence.pairs, *sequence.pairs.values()}
    unclosed: list[Token] = []
    for index, token in enumerate(sequence.tokens):
        if index in paired or token.key not in _BRACKETS:
            continue
        if token.key in OPENING:
            unclosed.append(token)
            continue
        could_be_closed = any(OPENING[opening.key] == token.key for opening in unclosed)
        if not could_be_closed:
            texts_around = sequence.split_at(token.span)
            raise syntax_errors.unexpected_token(token.text, where, token.span, texts_around)
        break  # A bracket before this token is not closed: the innermost one is the error.
    if unclosed:
        opening = unclosed[-1]
        raise incomplete_errors.unclosed_bracket_in_expression(
            opening.span,
            opening=opening.text,
            where=where,
            before=_find_keyword_after(sequence, opening),
        )


# The words that end the part of the query before them, if they are not in a cast.
_WORDS_AFTER_PART = re.compile(r"(?i)\b(?:WHERE|WITHIN|RETURN|AS)\b")


def _find_keyword_after(sequence: TokenSequence, opening: Token) -> str:
    """Return the first word after a bracket that must come after its end; "" if there is none."""
    before, after = sequence.split_at(opening.span)
    word = _WORDS_AFTER_PART.search(after)
    is_cast = re.search(r"(?i)CAST\s*$", before) is not None
    return "" if word is None or is_cast else word[0]


# The most characters of a date with a time of day, and the characters before and after it.
_LONGEST_DATE = 32


def reject_unquoted_dates(sequence: TokenSequence, where: str) -> None:
    """Raise an error for a date without quotes: in SQL, `2026-01-01` is the number 2024.

    A subtraction with blanks, `2026 - 01 - 01`, is not rejected.

    Args:
        sequence: the tokens of an expression.
        where: the part of the clause, as in messages.
    """
    for index, token in enumerate(sequence.tokens):
        if token.kind is not TokenKind.NUMBER or not token.text.isdigit():
            continue
        start = token.span.start
        follows_sign = sequence.key(index - 1) in _ARITHMETIC_SIGNS
        if follows_sign and sequence[index - 1].span.end == start:
            continue
        date = incomplete_errors.find_unquoted_date(
            sequence.text_at(Span(start, start + _LONGEST_DATE))
        )
        if date:
            before = sequence.key(index - 1)
            raise incomplete_errors.date_without_quotes(
                Span(start, start + len(date)),
                text=date,
                where=where,
                type_name=before if before in ("DATE", "TIMESTAMP") else "",
            )


def read_column_path(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the name of a column, with its qualifiers before it; () for other tokens.

    >>> from matchrec.syntax.tokenize import read_tokens
    >>> read_column_path(read_tokens("t . `a.b`").tokens)
    ('t', 'a.b')
    >>> read_column_path(read_tokens("a + 1").tokens)
    ()
    """
    names = tokens[::2]
    has_dots = len(tokens) % 2 == 1 and all(token.key == "." for token in tokens[1::2])
    if not has_dots:
        return ()
    for name in names:
        # Spark allows letters that are not ASCII only in quotes.
        if not name.is_name or (name.is_word and not name.text.isascii()):
            return ()
    return tuple(name.text for name in names)
