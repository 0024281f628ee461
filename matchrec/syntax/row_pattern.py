"""The PATTERN grammar: text of a row pattern → its tree, with the place of every node.

    alternatives := parts ('|' parts)*            parts := quantified*
    quantified   := primary (('*' | '+' | '?' | '{n}' | '{n,}' | '{,m}' | '{n,m}') '?'?)?
    n, m         := number | ':' name | '?' | '@' name
    primary      := name | negation | '^' | '$' | '()' | '(' alternatives ')'
                  | '{-' alternatives '-}' | PERMUTE '(' alternatives (',' alternatives)* ')'
    negation     := NOT (name | '(' name ('|' name)* ')')

White space and comments may stand between any two symbols. A name without quotes folds to upper
case and is no reserved word; one in backticks or double quotes keeps its case. An alternative of no
rows is written `()`; only all of the pattern may be left out.
Source: ISO/IEC 19075-5, row pattern syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from matchrec.arguments import is_whole
from matchrec.errors import MatchRecognizeError
from matchrec.errors.calls import marker_without_value, unbound_parameter
from matchrec.errors.kinds import shown
from matchrec.errors.sql import clause as clause_errors
from matchrec.errors.sql import pattern as errors
from matchrec.plan import pattern as patterns
from matchrec.plan.text import is_reserved, marker_of, parameter_name
from matchrec.source import Span
from matchrec.syntax.tokens import (
    MOST,
    Cursor,
    Token,
    TokenKind,
    TokenSequence,
    whole_number,
    words,
)

DEEPEST = 100  # groups in groups; more would exceed the interpreter's stack in some later pass

_ENDS = ("|", ",", ")", "-}")
_PAIRS = {")": "(", "-}": "{-"}

Bound = int | patterns.Parameter | None  # a bound of a quantifier as it is written


def numbers_of(least: Bound, most: Bound) -> tuple[int, int | None]:
    """The bounds that are numbers; in the place of a parameter stands no bound."""
    return least if isinstance(least, int) else 0, most if isinstance(most, int) else None


def parse_row_pattern(text: str, span: Span | None = None) -> patterns.RowPattern:
    """The tree of the row pattern that stands at `span` of `text` (default: all of it).

    >>> from matchrec.plan.pattern import show
    >>> show(parse_row_pattern("(a|b) {- c -}*? |()| `d`{2,}"))
    '(A | B) {- C -}*? | () | `d`{2,}'
    """
    return _Parser(text, pattern_tokens(text, span or Span(0, len(text)))).pattern()


class _Parser(Cursor):
    """One method per rule of the grammar."""

    def __init__(self, text: str, tokens: tuple[Token, ...]) -> None:
        super().__init__(tokens)
        self.text = text
        self.open: list[Token] = []

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def advance(self) -> Token:
        token = self.token
        self.position += 1
        return token

    def span_from(self, start: int) -> Span:
        """From the token at index `start` up to the one before the current token."""
        return self.span(start, max(start + 1, self.position))

    def pattern(self) -> patterns.RowPattern:
        tree, closing = self.alternatives(), self.key
        if closing == ",":
            raise errors.stray_character(self.token.span, text=",")
        if closing:
            raise errors.unopened_bracket(self.token.span, closing=closing, opening=_PAIRS[closing])
        return tree

    def alternatives(self) -> patterns.RowPattern:
        start = self.position
        parts = [self.parts()]
        while self.key == "|":
            if self.position == start:
                raise errors.empty_alternative(self.token.span)
            bar = self.position
            self.advance()
            parts.append(self.parts())
            if self.position == bar + 1:
                raise errors.empty_alternative(self.tokens[bar].span)
        return patterns.alternation(parts, self.span_from(start))

    def parts(self) -> patterns.RowPattern:
        start = self.position
        parts = []
        while self.token.kind is not TokenKind.END and self.key not in _ENDS:
            parts.append(self.quantified())
        if not parts:
            return patterns.Empty(Span(self.token.span.start, self.token.span.start))
        return patterns.concatenation(parts, self.span_from(start))

    def quantified(self) -> patterns.RowPattern:
        start = self.position
        part = self.primary()
        self.check_eaten_braces(start)
        if not self.at_quantifier():
            return part
        if isinstance(part, patterns.Negation):
            raise errors.negation_repeated(self.span_from(start).to(self.token.span))
        quantifier, bounds = self.position, self.quantifier()
        span = self.span_from(quantifier)
        greedy = not self.accept("?")
        if self.at_quantifier():
            second = self.position
            self.quantifier()
            spans = self.span(quantifier, second), self.span(second, self.position)
            texts = [self.text[span.start : span.end] for span in spans]
            raise errors.two_quantifiers(spans[0].to(spans[1]), first=texts[0], second=texts[1])
        low, high = [one if isinstance(one, patterns.Parameter) else None for one in bounds]
        numbers = numbers_of(*bounds)
        return patterns.Quantified(part, *numbers, greedy, self.span_from(start), (low, high), span)

    def check_eaten_braces(self, start: int) -> None:
        """Raise for `(3,)` or `(3, 5)` after a part, which an f-string has made of a quantifier.

        start: index of the token at which the part begins.
        """
        following = [token.key for token in self.tokens[self.position : self.position + 5]]
        kinds = [token.kind for token in self.tokens[self.position : self.position + 5]]
        if kinds[1:2] != [TokenKind.NUMBER] or (following[0], following[2:3]) != ("(", [","]):
            return
        if following[3:4] == [")"]:
            end = self.position + 4
        elif kinds[3:4] == [TokenKind.NUMBER] and following[4:5] == [")"]:
            end = self.position + 5
        else:
            return
        span = self.span(self.position, end)
        bounds = self.text[span.start + 1 : span.end - 1].replace(" ", "")
        repeated, written = (
            self.text[one.start : one.end] for one in (self.span_from(start), span)
        )
        raise errors.eaten_quantifier(span, written=written, part=repeated, braced=f"{{{bounds}}}")

    def at_quantifier(self) -> bool:
        return self.key in ("*", "+", "?", "{")

    def quantifier(self) -> tuple[Bound, Bound]:
        token = self.advance()
        if token.key in patterns.SIGNS:
            return patterns.SIGNS[token.key]
        if self.key in ("{", "{-"):
            end = self.text.find("}}", token.span.start, self.tokens[-1].span.end)
            if end != -1:
                inside = self.text[token.span.start + 2 : end]
                raise errors.doubled_braces(Span(token.span.start, end + 2), written=inside)
        least = self.bound()
        ranged = self.accept(",")
        most = self.bound() if ranged else least
        if not self.accept("}") or (least is None and not ranged):
            start = token.span.start
            end = self.text.find("}", start, self.tokens[-1].span.end) + 1
            raise errors.malformed_quantifier(Span(start, end or self.token.span.end))
        span = token.span.to(self.tokens[self.position - 1].span)
        if not isinstance(least, patterns.Parameter) and not isinstance(most, patterns.Parameter):
            check_bounds(*numbers_of(least, most), span)
        return least, most

    def bound(self) -> Bound:
        if self.key in (":", "?", "@"):
            return self.parameter(self.advance())
        if self.token.kind is not TokenKind.NUMBER:
            return None
        token = self.advance()
        if (number := whole_number(token.text)) is None:
            raise errors.bound_too_large(token.span, limit=MOST)
        return number

    def parameter(self, mark: Token) -> patterns.Parameter:
        """`?`, `:name` or `@name`, whose first token was just read."""
        if mark.key == "?":
            return patterns.Parameter(parameter_name(mark.span), mark.key, mark.span)
        if self.token.kind is not TokenKind.WORD:
            raise errors.parameter_without_name(mark.span, mark=mark.text)
        name = self.advance()
        return patterns.Parameter(name.text, mark.key, mark.span.to(name.span))

    def primary(self) -> patterns.RowPattern:
        if self.at_quantifier():
            start = self.position
            before = self.tokens[start - 1] if start else self.token
            if self.key == "?" and before.key == "(":
                raise errors.group_of_regular_expressions(before.span.to(self.token.span))
            self.quantifier()
            span = self.span_from(start)
            raise errors.nothing_to_repeat(span, quantifier=self.text[span.start : span.end])
        token = self.advance()
        match token.key:
            case "(":
                return self.group(token, ")")
            case "{-":
                if self.key == "-}":
                    raise errors.empty_exclusion(token.span.to(self.token.span))
                part = self.group(token, "-}")
                return patterns.Exclusion(part, token.span.to(self.tokens[self.position - 1].span))
            case "^":
                return patterns.PartitionStart(token.span)
            case "$":
                return patterns.PartitionEnd(token.span)
        if not token.is_name:
            is_number = token.kind is TokenKind.NUMBER
            stray = errors.stray_number if is_number else errors.stray_character
            raise stray(token.span, text=token.text)
        if token.key == "PERMUTE" and self.key == "(":
            return self.permutation(token)
        if token.kind is TokenKind.WORD and token.key == "NOT":
            return self.negation(token)
        if token.kind is TokenKind.WORD and is_reserved(token.text):
            raise errors.reserved_word(token.key, "PATTERN", token.span)
        return patterns.Variable(token.variable, token.span)

    def negation(self, word: Token) -> patterns.RowPattern:
        part = self.primary() if self.token.is_name or self.key == "(" else patterns.Empty()
        names = part.parts if isinstance(part, patterns.Alternation) else (part,)
        span = word.span.to(self.tokens[self.position - 1].span)
        found = [name.name for name in names if isinstance(name, patterns.Variable)]
        if len(found) < len(names):
            raise errors.nothing_negated(span)
        return patterns.Negation(tuple(dict.fromkeys(found)), span)

    def group(self, opening: Token, closing: str) -> patterns.RowPattern:
        self.enter(opening)
        part = self.alternatives()
        self.leave(closing)
        if isinstance(part, patterns.Empty):
            return patterns.Empty(opening.span.to(self.tokens[self.position - 1].span))
        return part

    def permutation(self, word: Token) -> patterns.RowPattern:
        self.enter(self.advance())
        parts = self.several(self.permutation_part)
        self.leave(")")
        return patterns.permutation(parts, word.span.to(self.tokens[self.position - 1].span))

    def permutation_part(self) -> patterns.RowPattern:
        if self.key in (",", ")"):
            raise errors.empty_permutation_part(self.token.span)
        return self.alternatives()

    def enter(self, opening: Token) -> None:
        self.open.append(opening)
        if len(self.open) > DEEPEST:
            raise errors.nested_too_deep(opening.span, limit=DEEPEST)

    def leave(self, closing: str) -> None:
        opening, found, here = self.open.pop(), self.key, self.token.span
        if self.accept(closing):
            return
        if not found:
            raise errors.unclosed_bracket(opening.span, opening=opening.text, closing=closing)
        if found == ",":
            raise errors.stray_character(here, text=",")
        spans, due = (opening.span, here), _PAIRS[closing]
        raise errors.wrong_bracket(spans, opening=due, found=found, closing=closing)


_TOKEN = re.compile(
    r"""
    (?P<blank>   \s+ | --[^\n]* )
  | (?P<comment> /\* )
  | (?P<trap>    \{-- )
  | (?P<bound>   \{-?\s*[0-9]+\.[0-9]*[^}]*\}? | \{-\s*[0-9][^}]*\}? )
  | (?P<symbol>  \{- | -\} | [()|*+?{},^$:@] )
  | (?P<number>  [0-9]+ )
  | (?P<name>    [^\W\d]\w* )
  | (?P<quoted>  `(?:[^`]|``)*` | "(?:[^"]|"")*" )
    """,
    re.VERBOSE,
)
_KINDS = {"name": TokenKind.WORD, "number": TokenKind.NUMBER}
_COMMENT_MARK = re.compile(r"/\*|\*/")


def pattern_tokens(text: str, span: Span) -> tuple[Token, ...]:
    """The tokens of a row pattern and an END token after them, comments left out.

    >>> [token.text for token in pattern_tokens("a?? {-b-}||$", Span(0, 12))]
    ['a', '?', '?', '{-', 'b', '-}', '|', '|', '$', '']
    """
    tokens = []
    position = span.start
    while position < span.end:
        match = _TOKEN.match(text, position, span.end)
        if match is None:
            character, place = text[position], Span(position, position + 1)
            if character in '`"':
                raise errors.unclosed_name(place)
            if text.startswith("->", position):  # as other languages write "A, then B"
                raise errors.stray_character(Span(position, position + 2), text="->")
            raise errors.stray_character(place, text=character)
        here = Span(*match.span())
        position = here.end
        match match.lastgroup:
            case "blank":
                continue
            case "comment":
                position = _comment_end(text, here, span.end)
            case "trap":
                raise errors.comment_after_brace(here)
            case "bound":
                raise errors.malformed_quantifier(here)
            case "quoted":
                quote, name = match[0][0], match[0][1:-1]
                if not name:
                    raise errors.empty_name(here)
                tokens.append(Token(TokenKind.QUOTED, name.replace(quote * 2, quote), here))
            case kind:
                tokens.append(Token(_KINDS.get(kind or "", TokenKind.SYMBOL), match[0], here))
    return (*tokens, Token(TokenKind.END, "", Span(span.end, span.end)))


def _comment_end(text: str, opening: Span, end: int) -> int:
    """The position after a bracketed comment; they nest, as in Spark."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, opening.start, end):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    raise errors.unclosed_comment(opening)


def pattern_outside(tokens: TokenSequence, word: int, wrong: int) -> MatchRecognizeError | None:
    """The error of a symbol at `wrong` that belongs to PATTERN, which stands at `word`; or None."""
    if tokens.key(wrong) not in words("^ $ * + ? { |"):
        return None
    at = word + 1
    while at < len(tokens) and (tokens[at].kind is TokenKind.SYMBOL or tokens.key(at - 1) == "|"):
        at = tokens.past(at)
    text = tokens.text_at(tokens.span(word + 1, at))
    return clause_errors.pattern_goes_on(tokens[wrong].span, written=tokens[wrong].text, text=text)


Values = Mapping[str, object]


def parameters_in(pattern: patterns.RowPattern) -> Iterator[patterns.Parameter]:
    """The parameters of all quantifiers, left to right."""
    for node in patterns.walk(pattern):
        if isinstance(node, patterns.Quantified):
            yield from filter(None, node.parameters)


def fill_bounds(pattern: patterns.RowPattern, values: Values) -> patterns.RowPattern:
    """The pattern with values for parameters. Raises MatchRecognizeError for what is no bound."""
    if next(parameters_in(pattern), None) is None:
        return pattern
    filled = patterns.replace_children(pattern, lambda part: fill_bounds(part, values))
    if not isinstance(filled, patterns.Quantified):
        return filled
    (low, high), what = filled.parameters, "the bound of a quantifier in PATTERN"
    least = filled.least if low is None else number_of(low, values, what)
    most = filled.most if high is None else number_of(high, values, what)
    check_bounds(least, most, filled.bounds_span)
    return replace(filled, least=least, most=most, parameters=(None, None))


def parameter_at(tokens: Sequence[Token]) -> patterns.Parameter | None:
    """The parameter that tokens are, `:name` or `?`; None of others."""
    marks = tuple(token.key for token in tokens)
    if marks == ("?",):
        return patterns.Parameter(parameter_name(tokens[0].span), "?", tokens[0].span)
    if len(tokens) == 2 and marks[0] == ":" and tokens[1].is_word:
        return patterns.Parameter(tokens[1].text, ":", tokens[0].span.to(tokens[1].span))
    return None


def value_given(parameter: patterns.Parameter, values: Values) -> object:
    """The value of a parameter. Raises MatchRecognizeError where it has none."""
    span = parameter.span
    if parameter.mark == "@":
        raise errors.foreign_parameter(span, name=parameter.name)
    if parameter.name not in values:
        if (marker := marker_of(parameter.name)) is not None:
            raise marker_without_value(marker)
        raise unbound_parameter(span, name=parameter.name, known=tuple(values))
    return values[parameter.name]


def number_of(parameter: patterns.Parameter, values: Values, what: str, least: int = 0) -> int:
    """The value of a parameter in the place of a number. what: that number, as messages say it."""
    value = value_given(parameter, values)
    if not is_whole(value) or not least <= value <= MOST:
        span, name = parameter.span, parameter.written
        given = "NULL" if value is None else shown(value)
        raise errors.value_is_no_number(span, parameter=name, what=what, value=given, least=least)
    return value


def check_bounds(least: int, most: int | None, span: Span | None) -> None:
    """Raise if no number of repetitions is within the bounds.

    `{0}` is allowed: such a part takes no row.
    """
    if most is not None and least > most:
        raise errors.bounds_reversed(span, least=least, most=most)
