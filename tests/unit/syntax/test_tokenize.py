"""The tokens of texts that sqlglot reads differently from Spark."""

from __future__ import annotations

from matchrec.syntax.tokenize import read_tokens


def test_a_comment_of_jinja_is_not_dropped() -> None:
    tokens = read_tokens("a {# b #} c")
    assert [token.text for token in tokens.tokens] == ["a", "{", "#", "b", "#", "}", "c"]
