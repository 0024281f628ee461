"""Comments that begin with a product's own sign: `#` of BigQuery, `//` of Snowflake."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from matchrec.dialects.edits import Edit
from matchrec.source import Span
from matchrec.syntax.tokens import Token, TokenSequence

# The comments that all products have. A sign inside of them starts no comment.
_SHARED_COMMENTS = r"--[^\n]*|/\*.*?\*/"


def edit_comments(tokens: TokenSequence, sign: str) -> Iterator[Edit]:
    """Yield an edit that writes `--` for each comment that begins with the product's own sign."""
    whole_text = Span(0, len(tokens.text))
    for comment in find_comments(tokens.text, tokens.tokens, whole_text, sign):
        yield Edit(Span(comment.start, comment.start + len(sign)), "--")


def find_comments(text: str, tokens: Iterable[Token], span: Span, sign: str) -> Iterator[Span]:
    """Yield the comments inside `span` that begin with a sign.

    Only blanks and comments are between tokens, so a sign inside a string is never found.

    Args:
        text: the text.
        tokens: the tokens inside `span`.
        span: the part of the text that is searched.
        sign: what the comments begin with.
    """
    comments = re.compile(f"{_SHARED_COMMENTS}|(?P<signed>{sign}[^\\n]*)", re.DOTALL)
    token_spans = [token.span for token in tokens]
    starts = [span.start, *(token_span.end for token_span in token_spans)]
    ends = [*(token_span.start for token_span in token_spans), span.end]
    for start, end in zip(starts, ends, strict=True):
        for comment in comments.finditer(text, start, end):
            if comment["signed"]:
                yield Span(*comment.span("signed"))
