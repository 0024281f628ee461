"""Explain why a token cannot come next in an expression.

    price > > 1       two operators                 array_agg(x ORDER BY y)    ORDER BY in a call
    price IS 1        a value after IS              price > %s                 Python's placeholder
    RUNING LAST(x)    a misspelt keyword            LAST(x, )                  an extra comma

A token that belongs to none of these mistakes gets a general error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from matchrec.errors import MatchRecognizeError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.sql import tokens as errors
from matchrec.errors.sql.clause import extra_comma
from matchrec.errors.sql.expression import order_by_in_call
from matchrec.errors.sql.foreign_syntax import find_foreign_call_hint
from matchrec.errors.sql.incomplete import outer_join_sign, unfinished_expression
from matchrec.errors.sql.token_advice import (
    TokenInText,
    begins_with_pattern_option,
    find_hint_for_token,
)
from matchrec.plan.operations import KEYWORDS, NEVER_FAILING_FUNCTIONS
from matchrec.plan.operators import OPERATORS
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.function_names import CALLS_OVER_SEVERAL_ROWS
from matchrec.syntax.tokens import CLOSING, Token, TokenKind, TokenSequence, split_words

# Operators that cannot follow each other, because each needs an operand before it.
_BINARY_OPERATORS = split_words("= < > <= >= <> != * / % | & ^ ||")

# The advice of the general error may depend on the text around the token: in these parts of the
# clause for all tokens, and in all parts for these keys.
_PARTS_WITH_TEXT = (ClausePart.PARTITION_BY, ClausePart.ORDER_BY, ClausePart.WITHIN)
_KEYS_WITH_TEXT = ("GROUP", "WHERE", "HAVING", "LIMIT", "NOT", "!", "{", "-")
# Keys for which the advice depends on that text only in a cast that Spark lacks, such as
# `CONVERT(x USING utf8)`.
_WORDS_IN_CALLS = ("AS", "USING", "SEPARATOR", "AT", ",")
_COMPARISONS = split_words("= < > <= >= <> !=")
# Words before a parenthesis that are not columns: well-known functions, and keywords.
_NOT_COLUMNS = CALLS_OVER_SEVERAL_ROWS | NEVER_FAILING_FUNCTIONS | OPERATORS.keys() | KEYWORDS
# The words of a direction after a key of ORDER BY.
_DIRECTION_WORDS = split_words("ASC DESC NULLS FIRST LAST")


@dataclass(frozen=True, slots=True)
class UnexpectedToken:
    """A token that no rule of the grammar can read, or the end of an expression.

    A method `_explain_...` returns None if the user made another mistake.
    """

    # The tokens of the expression.
    sequence: TokenSequence
    # The index of the token; the number of tokens at the end of the expression.
    position: int
    # Where the expression is written, for messages.
    where: str
    # The part of the clause that contains the expression.
    part: ClausePart

    def explain(self) -> MatchRecognizeError:
        """Return the error for the token.

        The order matters: for example, a missing operand explains `x IS)` better than a value after
        IS, so the end of a bracket is tried first.
        """
        return (
            self._explain_comma_or_end()
            or self._explain_order_by()
            or self._explain_operators()
            or self._explain_is()
            or self._explain_misspelt_keyword()
            or self._explain_word_after_direction()
            or self._make_general_error()
        )

    @property
    def token(self) -> Token:
        """Return the next token, or the last one at the end."""
        return self.sequence[min(self.position, len(self.sequence) - 1)]

    @property
    def token_before(self) -> Token:
        """Return the token before the position, or the first one at the start."""
        return self.sequence[min(max(self.position, 1), len(self.sequence)) - 1]

    def _explain_comma_or_end(self) -> MatchRecognizeError | None:
        """Return the error for a comma with no value next to it, or for a missing value.

        The result is None if the position is neither at a comma nor at an end, of the text or of a
        bracket.
        """
        token = self.token
        before = self.token_before
        is_at_end = self.position >= len(self.sequence) or token.key in CLOSING
        if token.key == "," and before.key in ("(", "[", ","):
            return extra_comma(token.span, part=self.where)
        if before.key == "," and is_at_end:
            return extra_comma(before.span, part=self.where)
        if is_at_end:
            return self._explain_outer_join_sign() or unfinished_expression(
                token.span, where=self.where, last_word=before.text
            )
        return None

    def _explain_outer_join_sign(self) -> MatchRecognizeError | None:
        """Return the error for `(+)` after a column, the outer join of Oracle, or None.

        A well-known function or a keyword is not a column: `max(+)` and `AND (+)` lack a value.
        """
        name = self.position - 3
        if name < 0 or not self.sequence.has_keys(name + 1, "(", "+", ")"):
            return None
        if not self.sequence[name].is_name:
            return None
        is_after_dot = name > 0 and self.sequence.key(name - 1) == "."
        if not is_after_dot and self.sequence.key(name) in _NOT_COLUMNS:
            return None
        sign = self.sequence.span(name + 1, self.position + 1)
        return outer_join_sign(sign, where=self.where, text=self.sequence.text_at(sign))

    def _explain_order_by(self) -> MatchRecognizeError | None:
        """Return the error for ORDER BY in brackets, as in `array_agg(x ORDER BY y)`, or None."""
        is_in_brackets = self.sequence.enclosing_openings[self.position] >= 0
        if not is_in_brackets or not self.sequence.has_keys(self.position, "ORDER", "BY"):
            return None
        order_by = self.sequence.span(self.position, self.position + 2)
        return order_by_in_call(order_by, clause=self.where)

    def _explain_operators(self) -> MatchRecognizeError | None:
        """Return the error for an operator without an operand before it, or None."""
        token = self.token
        before = self.token_before
        is_operator = token.key in _BINARY_OPERATORS
        if self.position == 0 and (is_operator or token.key == "IS"):
            return errors.no_value_before_operator(token.text.upper(), token.span, where=self.where)
        if token.key in ("AND", "OR") and before.key in _BINARY_OPERATORS:
            return unfinished_expression(before.span, where=self.where, last_word=before.text)
        placeholder = self._explain_placeholder()
        if placeholder is not None:
            return placeholder
        if is_operator and before.key in _BINARY_OPERATORS:
            both_span = before.span.to(token.span)
            return errors.two_operators(before.text, token.text, both_span, where=self.where)
        following = self.sequence[min(self.position + 1, len(self.sequence) - 1)]
        if token.key == "!" and following.key == "=":
            both_span = token.span.to(following.span)
            return errors.two_operators("!", "=", both_span, where=self.where)
        return None

    def _explain_placeholder(self) -> MatchRecognizeError | None:
        """Return the error for a placeholder of Python, `%s` or `%(name)s`, or None."""
        start = self.position
        if self.sequence.key(start) != "%":
            return None
        name = ""
        end = start + 2
        if self.sequence.key(start + 1) == "(" and self.sequence.key(start + 3) == ")":
            name = self.sequence[start + 2].text
            end = start + 5
        if self.sequence.key(end - 1) != "S":
            return None
        span = self.sequence.span(start, end)
        text = self.sequence.text_at(span)
        return errors.placeholder_of_python(span, text=text, name=name)

    def _explain_misspelt_keyword(self) -> MatchRecognizeError | None:
        """Return the error for a misspelt RUNNING or FINAL, or WHEN after CASE, or None."""
        before = self.token_before
        token = self.token
        if before.key == "CASE" and token.is_word and find_nearest(token.key, ("WHEN",)):
            return misspelt_keyword(token.span, text=token.text, keyword="WHEN", where=self.where)
        keyword = find_nearest(before.key, ("RUNNING", "FINAL"))
        if keyword is None or keyword == before.key or not self.sequence.is_call(self.position):
            return None
        return misspelt_keyword(before.span, text=before.text, keyword=keyword, where=self.where)

    def _explain_word_after_direction(self) -> MatchRecognizeError | None:
        """Return the error for a word after a direction, or None.

        In `ORDER BY ts DESC MEASURE`, the direction is not the mistake, although it is the first
        token that was not read.
        """
        word = self.position
        while self.sequence.key(word) in _DIRECTION_WORDS:
            word += 1
        is_after_direction = self.part is ClausePart.ORDER_BY and 0 < self.position < word
        if not is_after_direction or word >= len(self.sequence) or not self.sequence[word].is_word:
            return None
        return replace(self, position=word).explain()

    def _explain_is(self) -> MatchRecognizeError | None:
        """Return the error for IS or IS NOT before a value, as in `x IS 1`, or None.

        The result is also None if the error for an unexpected token has better advice.
        """
        has_advice = find_hint_for_token(self.token.text, self.where) is not None
        if has_advice:
            return None
        before = self.token_before
        token = self.token
        meant_word = find_nearest(token.key, ("NULL", "TRUE", "FALSE", "UNKNOWN", "NOT"))
        follows_is = "IS" in (before.key, self.sequence.key(self.position - 2))
        if meant_word is not None and follows_is:
            return misspelt_keyword(
                token.span, text=token.text, keyword=meant_word, where=self.where
            )
        if before.key == "NOT" and self.sequence.key(self.position - 2) == "IS":
            is_not = self.sequence[self.position - 2].span.to(before.span)
            return errors.value_after_is(
                is_not, where=self.where, operator="<>", operator_after=self._find_comparison()
            )
        if before.key == "IS":
            return errors.value_after_is(
                before.span, where=self.where, operator="=", operator_after=self._find_comparison()
            )
        return None

    def _find_comparison(self) -> str:
        """Return the next token if it is a comparison, such as `>`; else ""."""
        return self.token.text if self.token.key in _COMPARISONS else ""

    def _make_general_error(self) -> MatchRecognizeError:
        """Return the error for any other token that cannot come next."""
        token = self.token
        before = self.token_before
        # These keywords were read as names, so the mistake is the keyword, not the token after it.
        is_after_keyword = (
            before.key in ("IF", "CASE", "SELECT", "WHERE") and token.kind is not TokenKind.SYMBOL
        )
        span = before.span if is_after_keyword else token.span
        text_before, text_from_token = self.sequence.split_at(span)
        needs_text_around = (
            is_after_keyword
            or self.part in _PARTS_WITH_TEXT
            or token.key in _KEYS_WITH_TEXT
            or token.key == "["
            or "[" in text_before
            or begins_with_pattern_option(text_from_token)
            or (
                token.key in _WORDS_IN_CALLS
                and find_foreign_call_hint(text_before, text_from_token) is not None
            )
        )
        follows_word = not is_after_keyword and before.span.end <= token.span.start
        misplaced = TokenInText(
            self.sequence.text_at(span),
            self.where,
            text_before=text_before if needs_text_around else "",
            text_from_token=text_from_token if needs_text_around else "",
            word_before=self.sequence.text_at(before.span) if follows_word else "",
        )
        return errors.unexpected_token(misplaced, span)
