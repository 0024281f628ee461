"""Parse the text of a row pattern to its tree, with the span of every node.

    alternatives := parts ('|' parts)*            parts := quantified*
    quantified   := primary (('*' | '+' | '?' | '{n}' | '{n,}' | '{,m}' | '{n,m}') '?'?)?
    n, m         := number | ':' name | '?' | '@' name
    primary      := name | negation | '^' | '$' | '()' | '(' alternatives ')'
                  | '{-' alternatives '-}' | PERMUTE '(' alternatives (',' alternatives)* ')'
    negation     := NOT (name | '(' name ('|' name)* ')')

`pattern_tokens` splits the text into tokens, and a recursive descent parser reads the tokens. A
bound of a quantifier may be a parameter, which stays in the tree until `parameter_values` replaces
it.

White space and comments are allowed between any two symbols. A name without quotes is folded to
upper case and must not be a reserved word. A name in backticks or double quotes keeps its case. An
alternative without rows is written `()`. Only the whole pattern may be empty text.
Source: ISO/IEC 19075-5, row pattern syntax.
"""

from __future__ import annotations

from typing import NamedTuple

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import negations as negation_errors
from matchrec.errors.sql import pattern as errors
from matchrec.errors.sql import pattern_symbols as symbol_errors
from matchrec.plan import pattern as patterns
from matchrec.plan.parameters import name_parameter
from matchrec.plan.words import is_reserved
from matchrec.source import Span
from matchrec.syntax import row_pattern_mistakes as mistakes
from matchrec.syntax.amounts import MAX_ROWS, read_whole_number
from matchrec.syntax.pattern_tokens import read_pattern_tokens
from matchrec.syntax.tokens import Cursor, Token, TokenKind, TokenSequence

# How deeply groups may be nested. A deeper pattern would exceed Python's stack in a later stage.
MAX_NESTED_GROUPS = 100

_KEYS_AFTER_ALTERNATIVE = ("|", ",", ")", "-}")
_OPENING_BRACKETS = {")": "(", "-}": "{-"}

# A bound of a quantifier as it is written: a number or a parameter; None if it is left out.
Bound = int | patterns.Parameter | None


class _Bounds(NamedTuple):
    """The bounds of a quantifier as they are written: `{:n,5}` has a parameter and the number 5."""

    # The least number of repetitions; None means 0.
    least: Bound
    # The most repetitions; None means that there is no limit.
    most: Bound

    def repeat(
        self, part: patterns.RowPattern, *, is_greedy: bool, span: Span, bounds_span: Span
    ) -> patterns.Quantified:
        """Return a part that is repeated within these bounds.

        Args:
            part: the part.
            is_greedy: whether more repetitions are preferred to fewer.
            span: the part with its quantifier.
            bounds_span: the quantifier without the `?` that makes it reluctant.
        """
        return patterns.Quantified(
            part,
            least=self.least if isinstance(self.least, int) else 0,
            most=self.most if isinstance(self.most, int) else None,
            is_greedy=is_greedy,
            span=span,
            least_parameter=self.least if isinstance(self.least, patterns.Parameter) else None,
            most_parameter=self.most if isinstance(self.most, patterns.Parameter) else None,
            bounds_span=bounds_span,
        )


def parse_row_pattern(text: str, span: Span | None = None) -> patterns.RowPattern:
    """Parse a row pattern.

    Args:
        text: the text of the query.
        span: where the pattern is in the query; by default, the pattern is the whole text.

    Raises:
        MatchRecognizeError: the pattern is malformed.

    >>> from matchrec.plan.pattern import show_pattern
    >>> show_pattern(parse_row_pattern("(a|b) {- c -}*? |()| `d`{2,}"))
    '(A | B) {- C -}*? | () | `d`{2,}'
    """
    tokens = read_pattern_tokens(text, span or Span(0, len(text)))
    return _Parser(TokenSequence(text, tokens, pairs={})).read_pattern()


class _Parser(Cursor):
    """A parser of a row pattern, with one method per rule of the grammar.

    Its tokens end with a token of kind END.
    """

    def __init__(self, sequence: TokenSequence) -> None:
        super().__init__(sequence)
        # The opening brackets around the position, outermost first.
        self.unclosed: list[Token] = []

    @property
    def token(self) -> Token:
        """Return the next token; END at the end."""
        return self.tokens[self.position]

    def advance(self) -> Token:
        """Read the next token and return it."""
        token = self.token
        self.position += 1
        return token

    def find_span_from(self, start: int) -> Span:
        """Return the span of the tokens from `start` up to the position: at least of one token."""
        return self.sequence.span(start, max(start + 1, self.position))

    def read_pattern(self) -> patterns.RowPattern:
        """Read the whole pattern.

        Raises:
            MatchRecognizeError: the pattern is malformed.
        """
        pattern = self.read_alternatives()
        closing = self.key
        if closing == ",":
            raise symbol_errors.stray_character(self.token.span, text=",")
        if closing:
            raise errors.unopened_bracket(
                self.token.span, closing=closing, opening=_OPENING_BRACKETS[closing]
            )
        return pattern

    def read_alternatives(self) -> patterns.RowPattern:
        """Read alternatives with `|` between them."""
        start = self.position
        alternatives = [self.read_parts()]
        while self.key == "|":
            if self.position == start:
                raise errors.empty_alternative(self.token.span, other="")
            bar = self.position
            self.advance()
            alternatives.append(self.read_parts())
            if self.position == bar + 1:
                other = self.sequence.text_at(self.sequence.span(start, bar))
                raise errors.empty_alternative(self.tokens[bar].span, other=other)
        return patterns.make_alternation(alternatives, self.find_span_from(start))

    def read_parts(self) -> patterns.RowPattern:
        """Read the parts of an alternative, which follow each other.

        Return the empty pattern if there are no parts.
        """
        start = self.position
        parts = []
        while self.token.kind is not TokenKind.END and self.key not in _KEYS_AFTER_ALTERNATIVE:
            parts.append(self.read_quantified())
        if not parts:
            return patterns.Empty(Span(self.token.span.start, self.token.span.start))
        return patterns.make_concatenation(parts, self.find_span_from(start))

    def read_quantified(self) -> patterns.RowPattern:
        """Read a part and the quantifier after it, if it has one."""
        start = self.position
        part = self.read_primary()
        mistakes.reject_lost_braces(self.sequence, start, self.position)
        if not self.is_at_quantifier():
            return part
        if isinstance(part, patterns.Negation):
            span = self.find_span_from(start).to(self.token.span)
            raise negation_errors.negation_with_quantifier(span)
        quantifier = self.position
        bounds = self.read_bounds()
        bounds_span = self.find_span_from(quantifier)
        is_greedy = not self.accept("?")
        if self.is_at_quantifier():
            second = self.position
            self.read_bounds()
            raise mistakes.explain_two_quantifiers(self.sequence, quantifier, second, self.position)
        return bounds.repeat(
            part, is_greedy=is_greedy, span=self.find_span_from(start), bounds_span=bounds_span
        )

    def is_at_quantifier(self) -> bool:
        """Return whether a quantifier comes next."""
        return self.key in ("*", "+", "?", "{")

    def read_bounds(self) -> _Bounds:
        """Read a quantifier without the `?` that makes it reluctant.

        Raises:
            MatchRecognizeError: the quantifier in braces is malformed, or its bounds are numbers in
                the wrong order.
        """
        start = self.position
        sign = self.advance()
        if sign.key in patterns.QUANTIFIER_SIGNS:
            return _Bounds(*patterns.QUANTIFIER_SIGNS[sign.key])
        mistakes.reject_doubled_braces(self.sequence, start)
        least = self.read_bound()
        has_comma = self.accept(",")
        most = self.read_bound() if has_comma else least
        is_empty = least is None and not has_comma
        if is_empty or not self.accept("}"):
            raise mistakes.explain_malformed_quantifier(self.sequence, start, self.position)
        if isinstance(least, int) and isinstance(most, int):
            mistakes.check_quantifier_bounds(least, most, self.find_span_from(start))
        return _Bounds(least, most)

    def read_bound(self) -> Bound:
        """Read a bound of a quantifier; return None, and read nothing, if no bound comes next.

        Raises:
            MatchRecognizeError: a number is too large, or a parameter has no name.
        """
        if self.key in (":", "?", "@"):
            return self.read_parameter(self.advance())
        if self.token.kind is not TokenKind.NUMBER:
            return None
        token = self.advance()
        number = read_whole_number(token.text)
        if number is None:
            raise errors.bound_too_large(token.span, limit=MAX_ROWS)
        return number

    def read_parameter(self, mark: Token) -> patterns.Parameter:
        """Read the rest of `?`, `:name` or `@name`, whose first token is `mark`."""
        if mark.key == "?":
            return patterns.Parameter(name_parameter(mark.span), mark.key, mark.span)
        if self.token.kind is not TokenKind.WORD:
            raise errors.parameter_without_name(mark.span, mark=mark.text)
        name = self.advance()
        return patterns.Parameter(name.text, mark.key, mark.span.to(name.span))

    def read_primary(self) -> patterns.RowPattern:
        """Read a variable, a group or another part without its quantifier."""
        if self.is_at_quantifier():
            raise self.explain_quantifier_without_part()
        token = self.advance()
        match token.key:
            case "(":
                return self.read_group(token, ")")
            case "{-":
                if self.key == "-}":
                    raise errors.empty_exclusion(token.span.to(self.token.span))
                part = self.read_group(token, "-}")
                return patterns.Exclusion(part, token.span.to(self.tokens[self.position - 1].span))
            case "^":
                return patterns.PartitionStart(token.span)
            case "$":
                return patterns.PartitionEnd(token.span)
        if not token.is_name:
            raise mistakes.explain_stray_token(self.sequence, self.position - 1)
        if token.key == "PERMUTE" and self.key == "(":
            return self.read_permutation(token)
        if token.kind is TokenKind.WORD and token.key == "NOT":
            return self.read_negation(token)
        if token.kind is TokenKind.WORD and is_reserved(token.text):
            raise mistakes.explain_reserved_word(self.sequence, self.position - 1)
        return patterns.Variable(token.variable, token.span)

    def explain_quantifier_without_part(self) -> MatchRecognizeError:
        """Return the error for a quantifier at the position, which has nothing to repeat."""
        start = self.position
        before = self.tokens[start - 1] if start else self.token
        if self.key == "?" and before.key == "(":  # as in the groups `(?:` of regular expressions
            return errors.regex_group_in_pattern(before.span.to(self.token.span))
        self.read_bounds()
        span = self.find_span_from(start)
        return errors.nothing_to_repeat(span, quantifier=self.sequence.text_at(span))

    def read_negation(self, word: Token) -> patterns.RowPattern:
        """Read what follows NOT: a variable, or several in parentheses with `|` between them."""
        has_operand = self.token.is_name or self.key == "("
        operand = self.read_primary() if has_operand else patterns.Empty()
        alternatives = operand.parts if isinstance(operand, patterns.Alternation) else (operand,)
        span = word.span.to(self.tokens[self.position - 1].span)
        names = [part.name for part in alternatives if isinstance(part, patterns.Variable)]
        has_other_parts = len(names) < len(alternatives)
        if has_other_parts:
            raise negation_errors.malformed_negation(span)
        return patterns.Negation(tuple(dict.fromkeys(names)), span)

    def read_group(self, opening: Token, closing: str) -> patterns.RowPattern:
        """Read alternatives up to the bracket `closing`, after the bracket `opening`."""
        self.open_bracket(opening)
        part = self.read_alternatives()
        self.close_bracket(closing)
        if isinstance(part, patterns.Empty):
            return patterns.Empty(opening.span.to(self.tokens[self.position - 1].span))
        return part

    def read_permutation(self, word: Token) -> patterns.RowPattern:
        """Read the parts in parentheses after PERMUTE."""
        self.open_bracket(self.advance())
        parts = self.read_several(self.read_permutation_part)
        self.close_bracket(")")
        return patterns.make_permutation(parts, word.span.to(self.tokens[self.position - 1].span))

    def read_permutation_part(self) -> patterns.RowPattern:
        """Read a part of a PERMUTE, which must not be empty text."""
        if self.key in (",", ")"):
            raise errors.empty_permutation_part(self.token.span)
        return self.read_alternatives()

    def open_bracket(self, opening: Token) -> None:
        """Remember a bracket that is open now.

        Raises:
            MatchRecognizeError: groups are too deeply nested.
        """
        self.unclosed.append(opening)
        if len(self.unclosed) > MAX_NESTED_GROUPS:
            raise errors.pattern_nested_too_deep(opening.span, limit=MAX_NESTED_GROUPS)

    def close_bracket(self, closing: str) -> None:
        """Read the bracket that closes the innermost open bracket.

        Raises:
            MatchRecognizeError: another token comes next.
        """
        opening = self.unclosed.pop()
        key = self.key
        span = self.token.span
        if self.accept(closing):
            return
        if not key:
            raise errors.unclosed_bracket(opening.span, opening=opening.text, closing=closing)
        if key == ",":
            raise symbol_errors.stray_character(span, text=",")
        raise errors.wrong_bracket(
            opening.span, span, opening=_OPENING_BRACKETS[closing], closed_by=key, closing=closing
        )
