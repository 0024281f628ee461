"""What a fragment looks like to sqlglot: with marks on what it would change or drop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import Token, TokenType

from matchrec.frontends.dialects.edits import Edit, edited
from matchrec.frontends.dialects.marks import MARK, VARIABLE
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.lexing.function_names import OF_THE_MATCH, SEMANTICS
from matchrec.frontends.lexing.token_sequence import TokenSequence, sequence_of
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.source import Span

_CASTS = frozenset({"CAST", "TRY_CAST"})
_TEXTS = frozenset({"VARCHAR", "CHAR"})
_USUAL = {  # what is meant where so many arguments are written, and Spark would mean another thing
    "REGEXP_EXTRACT": (2, ", 0"),
    "STR_TO_MAP": (1, ", ',', '='"),
}


def masked(
    text: str, tokens: Sequence[Token], product: Product, functions: Mapping[str, str] | None
) -> str:
    """The text with marks on functions of row patterns; RUNNING and FINAL become calls.

    tokens: of the text. functions: as a product knows them, by the names that rules have for them;
    None outside of clauses, where RUNNING and FINAL are names.
    """
    sequence = sequence_of(tokens, text)
    passes = (_cuts, _usual_arguments, _constructors) if product.lacks_dialect else ()
    own = (edit for one in passes for edit in one(sequence))
    return edited(text, (*_marks(sequence, functions), *own)).text


def _marks(tokens: TokenSequence, functions: Mapping[str, str] | None) -> Iterator[Edit]:
    semantics = SEMANTICS if functions is not None else frozenset()
    functions = functions or {}
    keywords = {one.start for one in tokens.sqlglot if one.token_type is not TokenType.VAR}
    for index, token in enumerate(tokens.tokens):
        word, opening = token.key, index + 2
        if tokens.is_call(index) and (word in OF_THE_MATCH or word in functions):
            yield Edit(token.span, MARK + functions.get(word, word))
        elif _qualifies(tokens, index) and token.span.start in keywords:
            yield Edit(token.span, VARIABLE + token.text)
        elif (
            word in semantics
            and tokens.key(index - 1) != "."
            and tokens.key(opening) == "("
            and opening in tokens.pairs
        ):
            end = tokens[tokens.pairs[opening]].span.end
            yield Edit(Span(token.span.start, tokens[index + 1].span.start), f"{MARK}{word}(")
            yield Edit(Span(end, end), ")")


def _qualifies(tokens: TokenSequence, index: int) -> bool:
    """Whether a word stands before a dot and after none."""
    is_word = tokens[index].kind is TokenKind.WORD
    return is_word and tokens.key(index + 1) == "." and tokens.key(index - 1) != "."


def _cuts(tokens: TokenSequence) -> Iterator[Edit]:
    """`CAST(x AS VARCHAR(3))` as `LEFT(CAST(x AS STRING), 3)`."""
    for index, token in enumerate(tokens.tokens):
        if not tokens.is_call(index) or token.key not in _CASTS or index + 1 not in tokens.pairs:
            continue
        closing = tokens.pairs[index + 1]
        type_, length = closing - 4, closing - 2
        if tokens.key(type_) in _TEXTS and tokens.key(type_ + 1) == "(":
            start, end = token.span.start, tokens[closing].span.end
            yield Edit(Span(start, start), "LEFT(")
            yield Edit(tokens.span(type_, closing), "STRING")
            yield Edit(Span(end, end), f", {tokens[length].text})")


def _usual_arguments(tokens: TokenSequence) -> Iterator[Edit]:
    """`REGEXP_EXTRACT(x, pattern)` of the whole match, where Spark's is of its first group."""
    for index, token in enumerate(tokens.tokens):
        if token.key not in _USUAL or not tokens.is_call(index):
            continue
        closing = tokens.pairs.get(index + 1)
        count, usual = _USUAL[token.key]
        if closing is not None and len(tokens.separated(index + 2, closing)) == count:
            start = tokens[closing].span.start
            yield Edit(Span(start, start), usual)


def _constructors(tokens: TokenSequence) -> Iterator[Edit]:
    """`ARRAY[1, 2]` and `MAP['a', 1]` as calls."""
    for index, token in enumerate(tokens.tokens):
        closing = tokens.pairs.get(index + 1)
        if token.key in ("ARRAY", "MAP") and tokens.key(index + 1) == "[" and closing is not None:
            yield Edit(tokens[index + 1].span, "(")
            yield Edit(tokens[closing].span, ")")
