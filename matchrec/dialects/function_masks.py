"""Prefixes for the functions and variables of row patterns, which sqlglot would misread.

sqlglot does not know these functions, or knows another function of that name: in Spark's dialect,
it drops the offset of `LAST(x, 1)`. It does not read the variable START as a name, because START is
a keyword. So functions, and variables whose names are keywords, get a prefix before sqlglot parses
a text:

    FINAL LAST(START.x)
    ROW_PATTERN_FUNCTION_FINAL(ROW_PATTERN_FUNCTION_LAST(ROW_PATTERN_VARIABLE_START.x))

`mask_functions` adds the prefixes. `sqlglot_printing` removes them before it prints a tree. The
rules in between never see a prefix, because they find and make calls by the functions of
`rules.function_calls`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from sqlglot import Token, TokenType

from matchrec.dialects.edits import Edit, apply_edits
from matchrec.dialects.rules.function_calls import FUNCTION_PREFIX
from matchrec.source import Span
from matchrec.syntax.function_names import FUNCTIONS_OF_MATCH, SEMANTICS
from matchrec.syntax.tokenize import make_token_sequence
from matchrec.syntax.tokens import TokenSequence

# The prefix of pattern variables that are keywords of SQL, as in `START.price`.
VARIABLE_PREFIX = "ROW_PATTERN_VARIABLE_"

# Functions of row patterns by the names that one product gives them, each with the name by which
# the rules know it: `LAG` of Snowflake is PREV.
FunctionNames = Mapping[str, str]


def mask_functions(text: str, tokens: Sequence[Token], functions: FunctionNames | None) -> str:
    """Return a text with prefixes for functions of row patterns, and for variables like START.

    RUNNING and FINAL become calls: see the example of this module.

    Args:
        text: the fragment.
        tokens: sqlglot's tokens of the fragment.
        functions: the names that only the product that is read has for functions of row patterns.
            None outside of clauses, where RUNNING and FINAL are ordinary names.
    """
    keyword_starts = {token.start for token in tokens if token.token_type is not TokenType.VAR}
    sequence = make_token_sequence(tokens, text)
    edits = [*_mask_calls(sequence, functions or {}), *_mask_variables(sequence, keyword_starts)]
    if functions is not None:
        edits += _mask_semantics(sequence)
    return apply_edits(text, edits).text


def _mask_calls(tokens: TokenSequence, functions: FunctionNames) -> Iterator[Edit]:
    """Yield the edits that add the prefix to functions: `ROW_PATTERN_FUNCTION_LAST(x)`."""
    for index, token in enumerate(tokens.tokens):
        name = token.key
        if tokens.is_call(index) and (name in FUNCTIONS_OF_MATCH or name in functions):
            yield Edit(token.span, FUNCTION_PREFIX + functions.get(name, name))


def _mask_variables(tokens: TokenSequence, keyword_starts: Set[int]) -> Iterator[Edit]:
    """Yield the edits that add the prefix to variables: `ROW_PATTERN_VARIABLE_START.x`.

    Args:
        tokens: the tokens of the fragment.
        keyword_starts: the offsets of the tokens that sqlglot does not read as plain names.
    """
    for index, token in enumerate(tokens.tokens):
        is_qualifier = token.is_word and tokens.key(index + 1) == "."
        is_qualified = tokens.key(index - 1) == "."
        if is_qualifier and not is_qualified and token.span.start in keyword_starts:
            yield Edit(token.span, VARIABLE_PREFIX + token.text)


def _mask_semantics(tokens: TokenSequence) -> Iterator[Edit]:
    """Yield the edits that make calls of RUNNING and FINAL.

    `FINAL LAST(x)` becomes `ROW_PATTERN_FUNCTION_FINAL(LAST(x))`.
    """
    for index, token in enumerate(tokens.tokens):
        opening = index + 2  # of the parenthesis after the function
        is_qualified = tokens.key(index - 1) == "."
        if token.key not in SEMANTICS or is_qualified or tokens.key(opening) != "(":
            continue
        if opening in tokens.pairs:
            operand_start = tokens[index + 1].span.start
            operand_end = tokens[tokens.pairs[opening]].span.end
            yield Edit(Span(token.span.start, operand_start), f"{FUNCTION_PREFIX}{token.key}(")
            yield Edit(Span(operand_end, operand_end), ")")
