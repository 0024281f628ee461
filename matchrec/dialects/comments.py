"""Comments that only one product reads: those after `#` of BigQuery, or after `//` of Snowflake."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from matchrec.dialects.edits import Edit
from matchrec.source import Span
from matchrec.syntax.tokens import Token, TokenSequence

# The comments that all products have. A product's prefix inside them starts no comment.
_SHARED_COMMENTS = r"--[^\n]*|/\*.*?\*/"


def edit_comments(tokens: TokenSequence, prefix: str) -> Iterator[Edit]:
    """Yield an edit that writes `--` for each comment that begins with a product's own prefix."""
    whole_text = Span(0, len(tokens.text))
    for comment in find_comments(tokens.text, tokens.tokens, whole_text, prefix):
        yield Edit(Span(comment.start, comment.start + len(prefix)), "--")


def find_comments(text: str, tokens: Iterable[Token], span: Span, prefix: str) -> Iterator[Span]:
    """Yield the comments inside `span` that begin with a prefix, such as `#`.

    The search is only between tokens, where all text is blanks and comments. So a prefix inside a
    string is never found.

    Args:
        text: the text.
        tokens: the tokens inside `span`, in order.
        span: the part of the text that is searched.
        prefix: what the comments begin with.
    """
    prefixed = rf"(?P<prefixed>{re.escape(prefix)}[^\n]*)"
    comments = re.compile(f"{_SHARED_COMMENTS}|{prefixed}", re.DOTALL)
    token_spans = [token.span for token in tokens]
    starts = [span.start, *(token_span.end for token_span in token_spans)]
    ends = [*(token_span.start for token_span in token_spans), span.end]
    for start, end in zip(starts, ends, strict=True):
        for comment in comments.finditer(text, start, end):
            if comment["prefixed"]:
                yield Span(*comment.span("prefixed"))
