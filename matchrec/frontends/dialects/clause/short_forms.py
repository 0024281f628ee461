"""Short forms of PATTERN, written out before its query is translated.

PATTERN (a (b | ))    BigQuery    PATTERN (a (b | ()))
PATTERN (A .* B)      Azure       PATTERN (A ANY_ROW* B)
PATTERN ([A] B)       Azure       PATTERN (A B)
ORDER BY $rowtime     Flink SQL   ORDER BY `$rowtime`
// a comment          Snowflake   -- a comment
# a comment           BigQuery    -- a comment

Sources: the grammar of GoogleSQL, in which an alternative may be empty; Azure Stream Analytics'
page "MATCH_RECOGNIZE".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from matchrec.errors.sql.dialects import name_of_any_row
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.product import Addition
from matchrec.frontends.lexing.token_sequence import Range, TokenSequence
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.frontends.row_pattern.lexer import pattern_tokens
from matchrec.frontends.sql.query.cuts import find_clauses
from matchrec.source import Span

_SHORT_FORMS = {Addition.EMPTY_ALTERNATIVES, Addition.ANY_ROW, Addition.BRACKETS}
_SIGNS_OF_COMMENTS = (Addition.SLASH_COMMENTS, Addition.HASH_COMMENTS)
_OTHER_COMMENTS = r"--[^\n]*|/\*.*?\*/"
_BEFORE_PART = ("", "(", "{-", "|", ",")
_AFTER_PART = ("", ")", "-}", ",")


def clauses_of(tokens: TokenSequence) -> Iterator[Range]:
    """What stands in the parentheses of each clause of a query."""
    for cut in find_clauses(tokens):
        yield cut.opening + 1, cut.closing


def written_out(
    tokens: TokenSequence, clauses: Iterable[Range], additions: frozenset[Addition]
) -> Iterator[Edit]:
    """The edits that write out the short forms. clauses: what stands in their parentheses."""
    if Addition.DOLLAR_NAMES in additions:
        yield from _dollar_names(tokens)
    for sign in _SIGNS_OF_COMMENTS:
        if sign in additions:
            yield from _comments(tokens, sign.value)
    if not additions & _SHORT_FORMS:
        return
    for clause in clauses:
        for pattern in _patterns(tokens, clause):
            if Addition.EMPTY_ALTERNATIVES in additions:
                yield from _empty_alternatives(tokens, pattern)
            if Addition.ANY_ROW in additions:
                yield from _any_rows(tokens, clause, pattern)
            if Addition.BRACKETS in additions:
                yield from _names_in_brackets(tokens, clause, pattern)


def _dollar_names(tokens: TokenSequence) -> Iterator[Edit]:
    """Quotes around names of columns that begin with a dollar sign."""
    for index, token in enumerate(tokens.tokens[1:], 1):
        sign = tokens[index - 1]
        if sign.key == "$" and sign.span.end == token.span.start and token.kind is TokenKind.WORD:
            yield Edit(Span(sign.span.start, token.span.end), f"`${token.text}`")


def _comments(tokens: TokenSequence, sign: str) -> Iterator[Edit]:
    """`--` where a comment begins with another sign; between tokens stand blanks and comments."""
    found = re.compile(f"{_OTHER_COMMENTS}|(?P<sign>{sign})[^\\n]*", re.DOTALL)
    starts = [0, *(one.span.end for one in tokens.tokens)]
    ends = [*(one.span.start for one in tokens.tokens), len(tokens.text)]
    for start, end in zip(starts, ends, strict=True):
        for comment in found.finditer(tokens.text, start, end):
            if comment["sign"]:
                yield Edit(Span(*comment.span("sign")), "--")


def _names_in_brackets(tokens: TokenSequence, clause: Range, pattern: Range) -> Iterator[Edit]:
    """Variables without brackets, in which the lexer of PATTERN does not know them."""
    names = {tokens[index].name.upper() for index in range(*pattern)}
    for index in range(*clause):
        token = tokens[index]
        if _is_in_brackets(tokens, index) and token.name.upper() in names:
            is_word = token.name.isidentifier()
            yield Edit(token.span, token.name if is_word else f'"{token.name}"')


def _is_in_brackets(tokens: TokenSequence, index: int) -> bool:
    token = tokens[index]
    return token.kind is TokenKind.QUOTED and tokens.text[token.span.start] == "["


def _patterns(tokens: TokenSequence, clause: Range) -> Iterator[Range]:
    """What stands in the parentheses of PATTERN."""
    for index in tokens.level(*clause):
        if tokens.says(index, "PATTERN", "("):
            yield index + 2, tokens.pairs[index + 1]


def _empty_alternatives(tokens: TokenSequence, pattern: Range) -> Iterator[Edit]:
    """`()` on each side of `|` on which nothing stands."""
    start, end = pattern
    span = Span(tokens[start - 1].span.end, tokens[end].span.start)
    found = pattern_tokens(tokens.text, span)
    for place, token in enumerate(found):
        if token.key != "|":
            continue
        before = found[place - 1].key if place else ""
        if before in _BEFORE_PART:
            yield Edit(Span(token.span.start, token.span.start), "() ")
        if found[place + 1].key in _AFTER_PART:
            yield Edit(Span(token.span.end, token.span.end), " ()")


def _any_rows(tokens: TokenSequence, clause: Range, pattern: Range) -> Iterator[Edit]:
    """A variable without a condition for each `.`."""
    dots = [index for index in range(*pattern) if tokens.key(index) == "."]
    if not dots:
        return
    keys = {tokens.key(index) for index in range(*clause)}
    if "CLASSIFIER" in keys:
        raise name_of_any_row(tokens[dots[0]].span)
    name = "ANY_ROW"
    while name in keys:
        name += "_"
    for index in dots:
        yield Edit(tokens[index].span, f" {name} ".replace("  ", " "))
