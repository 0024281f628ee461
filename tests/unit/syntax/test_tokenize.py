"""The tokens of texts that sqlglot reads differently from Spark."""

from __future__ import annotations

import pytest

from matchrec.errors import MatchRecognizeParseError
from matchrec.source import Span
from matchrec.syntax.tokenize import read_tokens


def test_a_comment_of_jinja_is_not_dropped() -> None:
    tokens = read_tokens("a {# b #} c")
    assert [token.text for token in tokens.tokens] == ["a", "{", "#", "b", "#", "}", "c"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # No dot follows a string, so before a dot the quotes enclose a name.
        ('"a".x', [("QUOTED", "a"), ("SYMBOL", "."), ("WORD", "x")]),
        ('"a""b".x', [("QUOTED", 'a"b'), ("SYMBOL", "."), ("WORD", "x")]),
        ('"a""b"', [("STRING", '"a"'), ("STRING", '"b"')]),
        ('"a" "b".x', [("STRING", '"a"'), ("QUOTED", "b"), ("SYMBOL", "."), ("WORD", "x")]),
    ],
)
def test_double_quotes_before_a_dot_are_a_name(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(token.kind.name, token.text) for token in read_tokens(text).tokens] == expected


def test_hexadecimal_digits_are_a_name_without_quotes() -> None:
    # As in Spark, in which a column may be called 0x1F.
    tokens = read_tokens("0x1F + X'1F'").tokens
    assert [token.kind.name for token in tokens] == ["WORD", "SYMBOL", "STRING"]


@pytest.mark.parametrize(
    ("text", "start", "message"),
    [
        # Comments nest, so the second `*/` is missing.
        ("a /* b /* c */ d", 2, "the comment that begins here is not closed"),
        ("/* a /* b */ c */ 'd", 18, "the string that begins here is not closed"),
        # A backslash escapes the quote after it, but not in a raw string.
        (r"'a\' b", 0, "the string that begins here is not closed"),
        (r"r'a\' /* b", 6, "the comment that begins here is not closed"),
        (r"r'a", 1, "the string that begins here is not closed"),
        ("-- it's\n `a", 9, "the quoted name that begins here is not closed"),
    ],
)
def test_an_error_shows_what_is_not_closed(text: str, start: int, message: str) -> None:
    with pytest.raises(MatchRecognizeParseError, match=message) as caught:
        read_tokens(text, offset=100)
    assert caught.value.spans == (Span(100 + start, 101 + start),)


def test_an_error_shows_a_binary_value_without_a_value() -> None:
    with pytest.raises(MatchRecognizeParseError, match="`X'1G'` is not a binary value") as caught:
        read_tokens("x = X'1G' AND y = 'it''s'")
    assert caught.value.spans == (Span(4, 9),)
