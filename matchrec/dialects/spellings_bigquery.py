"""Rewrite the spellings of BigQuery in a clause.

    OPTIONS (use_longest_match = TRUE)    PATTERN (...) LONGEST MATCH
    PATTERN (a (b | ))                    PATTERN (a (b | ()))

Source: the grammar of GoogleSQL, in which an alternative may be empty.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.dialects.comments import find_comments
from matchrec.dialects.edits import Edit
from matchrec.dialects.product_options import ProductOption, find_option_end
from matchrec.errors.sql import products as errors
from matchrec.source import Span
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.parameter_values import ParameterValues
from matchrec.syntax.pattern_tokens import read_pattern_tokens

# If a `|` follows one of these tokens, the alternative before the `|` is empty. "" is the start of
# the pattern.
_BEFORE_EMPTY = ("", "(", "{-", "|", ",")
# If one of these tokens follows a `|`, the alternative after the `|` is empty. "" is the end of the
# pattern.
_AFTER_EMPTY = ("", ")", "-}", ",")

# The key of the only option.
_LONGEST_MATCH = "USE_LONGEST_MATCH"


def read_longest_match(
    clause: ClauseTokens, index: int, parameter_values: ParameterValues
) -> ProductOption:
    """Read `OPTIONS (use_longest_match = TRUE)`, or `@name` instead of the truth value.

    Args:
        clause: the tokens of the clause.
        index: the index of OPTIONS.
        parameter_values: the values of the query's parameters; empty if they are not known.

    Raises:
        MatchRecognizeError: the option or its value is unknown, or a parenthesis is not closed.
    """
    truth_values: dict[str, object] = {"TRUE": True, "FALSE": False}
    truth_values |= {f"@{name}": value for name, value in parameter_values.items()}
    closing = find_option_end(clause, index + 1)
    is_longest = False
    for start, end in clause.split_at_commas(index + 2, closing):
        if start == end:
            continue
        text = "".join(token.text for token in clause.tokens[start + 2 : end])  # after `name =`
        value = truth_values.get(text, truth_values.get(text.upper()))
        if clause.key(start) != _LONGEST_MATCH or not isinstance(value, bool):
            raise errors.unknown_clause_option(
                clause.span(start, end), option=_LONGEST_MATCH.lower()
            )
        is_longest = value
    words = "LONGEST MATCH" if is_longest else ""
    return ProductOption(clause.span(index, closing + 1), words)


def fill_empty_alternatives(
    clause: ClauseTokens, opening: int, closing: int, comment_prefix: str
) -> Iterator[Edit]:
    """Yield the edits that write `()` on each empty side of `|`.

    Args:
        clause: the tokens of the clause.
        opening: the index of the parenthesis that opens the pattern.
        closing: the index of the parenthesis that closes it.
        comment_prefix: what a comment of BigQuery begins with.
    """
    span = Span(clause[opening].span.end, clause[closing].span.start)
    text = clause.text
    # The lexer of PATTERN does not know the product's comments. Blanks instead of them keep every
    # token where it is.
    for comment in find_comments(text, clause.tokens[opening + 1 : closing], span, comment_prefix):
        text = text[: comment.start] + " " * (comment.end - comment.start) + text[comment.end :]
    tokens = read_pattern_tokens(text, span)
    for index, token in enumerate(tokens):
        if token.key != "|":
            continue
        key_before = tokens[index - 1].key if index else ""
        if key_before in _BEFORE_EMPTY:
            yield Edit(Span(token.span.start, token.span.start), "() ")
        if tokens[index + 1].key in _AFTER_EMPTY:
            yield Edit(Span(token.span.end, token.span.end), " ()")
