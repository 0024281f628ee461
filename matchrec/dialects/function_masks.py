"""Add prefixes to the functions and variables of row patterns that sqlglot would misread.

sqlglot does not know these functions, or knows a different function with the same name: in Spark's
dialect, it drops the offset of `LAST(x, 1)`. It does not read the variable START as a name, because
START is a keyword. So functions, and variables whose names are keywords, get a prefix before
sqlglot parses a text:

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

# For each name that only one product gives a function of row patterns, the name that the rules use:
# Snowflake's `LAG` is `PREV`.
FunctionNames = Mapping[str, str]


def mask_functions(
    text: str, sqlglot_tokens: Sequence[Token], functions: FunctionNames | None
) -> str:
    """Return a text with prefixes for functions of row patterns, and for variables like START.

    RUNNING and FINAL become calls: see the example of this module.

    Args:
        text: a fragment of SQL.
        sqlglot_tokens: sqlglot's tokens of the text.
        functions: the names that the product of the text has for functions of row patterns, in
            addition to the standard ones; empty if it has none. None if the text is not in a
            clause: then RUNNING and FINAL are ordinary names.
    """
    non_name_starts = {
        token.start for token in sqlglot_tokens if token.token_type is not TokenType.VAR
    }
    sequence = make_token_sequence(sqlglot_tokens, text)
    edits = [*_mask_calls(sequence, functions or {}), *_mask_variables(sequence, non_name_starts)]
    if functions is not None:
        edits += _mask_semantics(sequence)
    return apply_edits(text, edits).text


def _mask_calls(sequence: TokenSequence, functions: FunctionNames) -> Iterator[Edit]:
    """Yield the edits that add the prefix to functions: `ROW_PATTERN_FUNCTION_LAST(x)`."""
    for index, token in enumerate(sequence.tokens):
        name = token.key
        if sequence.is_call(index) and (name in FUNCTIONS_OF_MATCH or name in functions):
            yield Edit(token.span, FUNCTION_PREFIX + functions.get(name, name))


def _mask_variables(sequence: TokenSequence, non_name_starts: Set[int]) -> Iterator[Edit]:
    """Yield the edits that add the prefix to variables: `ROW_PATTERN_VARIABLE_START.x`.

    Args:
        sequence: the tokens of the text.
        non_name_starts: the offsets of the tokens that sqlglot does not read as plain names, such
            as keywords. Only variables at these offsets need a prefix.
    """
    for index, token in enumerate(sequence.tokens):
        is_qualifier = token.is_word and sequence.key(index + 1) == "."
        is_qualified = sequence.key(index - 1) == "."
        if is_qualifier and not is_qualified and token.span.start in non_name_starts:
            yield Edit(token.span, VARIABLE_PREFIX + token.text)


def _mask_semantics(sequence: TokenSequence) -> Iterator[Edit]:
    """Yield the edits that turn RUNNING and FINAL into calls.

    `FINAL LAST(x)` becomes `ROW_PATTERN_FUNCTION_FINAL(LAST(x))`. `_mask_calls` adds the prefix of
    LAST.
    """
    for index, token in enumerate(sequence.tokens):
        if token.key not in SEMANTICS or sequence.key(index - 1) == ".":
            continue
        opening = index + 2  # the index of the parenthesis after the function
        if sequence.key(opening) != "(" or opening not in sequence.pairs:
            continue
        operand_start = sequence[index + 1].span.start
        operand_end = sequence[sequence.pairs[opening]].span.end
        yield Edit(Span(token.span.start, operand_start), f"{FUNCTION_PREFIX}{token.key}(")
        yield Edit(Span(operand_end, operand_end), ")")
