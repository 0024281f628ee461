"""Notes on alternatives of PATTERN, whose meaning differs in the documentation of Snowflake.

    PATTERN (A B | C)     `A (B | C)` in the documentation of Snowflake, `(A B) | C` elsewhere

Source: Snowflake's page "MATCH_RECOGNIZE": "The alternative operator has precedence over the
concatenation operator."
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.products import Product
from matchrec.plan.pattern import Alternation, Concatenation, RowPattern, walk_pattern
from matchrec.source import Span
from matchrec.syntax.pattern_tokens import read_pattern_tokens
from matchrec.syntax.tokens import pair_brackets


def note_alternatives(
    text: str, pattern: RowPattern, read: Product, write: Product
) -> Iterator[TranslationNote]:
    """Yield a note on each alternative that may mean something else in the other product.

    Args:
        text: the text in which the spans of the row pattern are.
        pattern: the row pattern of the clause.
        read: the product whose SQL it is.
        write: the product that is written.
    """
    if read.alternation_binds_tighter is write.alternation_binds_tighter:
        return
    title = read.title if read.alternation_binds_tighter else write.title
    meaning = (
        f"`A B | C` means `A (B | C)` in the documentation of {title}, and `(A B) | C` elsewhere"
    )
    for span in _find_bare_sequences(text, pattern):
        yield TranslationNote(f"{meaning}: write the parentheses", span)


def _find_bare_sequences(text: str, pattern: RowPattern) -> Iterator[Span]:
    """Yield the alternatives that are sequences without parentheses around them."""
    for node in walk_pattern(pattern):
        if not isinstance(node, Alternation):
            continue
        for part in node.parts:
            if isinstance(part, Concatenation) and part.span is not None:
                tokens = read_pattern_tokens(text, part.span)
                last = len(tokens) - 2  # before the token for the end of the text
                if pair_brackets(tokens).get(0) != last:
                    yield part.span
