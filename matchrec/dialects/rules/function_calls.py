"""Calls of functions in sqlglot's trees, and prefixes for those that sqlglot would misread.

sqlglot does not know the functions of row patterns, or knows another function of that name: in
Spark's dialect, it drops the offset of `LAST(x, 1)`. A text therefore gets prefixes before sqlglot
reads it, and loses them when it is written:

    FINAL LAST(START.x)
    ROW_PATTERN_FUNCTION_FINAL(ROW_PATTERN_FUNCTION_LAST(ROW_PATTERN_VARIABLE_START.x))

`mask_functions` adds the prefixes. Rules use `find_pattern_function` and `call_pattern_function`,
and never see them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from sqlglot import Token, TokenType, exp

from matchrec.dialects.edits import Edit, apply_edits
from matchrec.source import Span
from matchrec.syntax.function_names import FUNCTIONS_OF_MATCH, SEMANTICS
from matchrec.syntax.tokenize import make_token_sequence
from matchrec.syntax.tokens import TokenSequence

# The prefix of functions of row patterns.
FUNCTION_PREFIX = "ROW_PATTERN_FUNCTION_"

# The prefix of pattern variables that are keywords of SQL, as in `START.price`.
VARIABLE_PREFIX = "ROW_PATTERN_VARIABLE_"


def call_pattern_function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a function of row patterns."""
    return exp.Anonymous(this=FUNCTION_PREFIX + name, expressions=list(arguments))


def call_function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a function of Spark that sqlglot writes as it is, with copied arguments."""
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def find_pattern_function(node: exp.Expr) -> str | None:
    """Return the name of the function of row patterns that a node calls; None if it calls none."""
    name = find_function_name(node)
    return name.removeprefix(FUNCTION_PREFIX) if name.startswith(FUNCTION_PREFIX) else None


def find_function_name(node: exp.Expr) -> str:
    """Return the name of a function that sqlglot does not know, in upper case; "" for others."""
    return str(node.this).upper() if isinstance(node, exp.Anonymous) else ""


def has_semantics(node: exp.Expr) -> bool:
    """Return whether a node is the operand of RUNNING or FINAL."""
    return node.parent is not None and find_pattern_function(node.parent) in SEMANTICS


# The functions of row patterns of a product, each with the name by which the rules know it. None
# outside of clauses, where RUNNING and FINAL are ordinary names.
FunctionMapping = Mapping[str, str] | None


def mask_functions(text: str, tokens: Sequence[Token], functions: FunctionMapping) -> str:
    """Return a text in which functions of row patterns have a prefix.

    RUNNING and FINAL become calls, too, and variables that are keywords get their prefix:

        FINAL LAST(START.x)
        ROW_PATTERN_FUNCTION_FINAL(ROW_PATTERN_FUNCTION_LAST(ROW_PATTERN_VARIABLE_START.x))

    Args:
        text: the fragment.
        tokens: its tokens.
        functions: the functions of the product that is read.
    """
    keywords = {token.start for token in tokens if token.token_type is not TokenType.VAR}
    edits = _find_masking_edits(make_token_sequence(tokens, text), keywords, functions)
    return apply_edits(text, edits).text


def _find_masking_edits(
    tokens: TokenSequence, keywords: Set[int], functions: FunctionMapping
) -> Iterator[Edit]:
    """Yield the edits that add prefixes.

    Args:
        tokens: the tokens of the fragment.
        keywords: the offsets at which a token starts that sqlglot does not read as a plain name.
        functions: the functions of the product that is read.
    """
    semantics = SEMANTICS if functions is not None else frozenset()
    functions = functions or {}
    for index, token in enumerate(tokens.tokens):
        word = token.key
        opening = index + 2  # of `(` in `FINAL LAST(x)`
        closing = tokens.pairs.get(opening) if tokens.key(opening) == "(" else None
        if tokens.is_call(index) and (word in FUNCTIONS_OF_MATCH or word in functions):
            yield Edit(token.span, FUNCTION_PREFIX + functions.get(word, word))
        elif tokens.key(index - 1) == ".":
            continue
        elif token.is_word and tokens.key(index + 1) == "." and token.span.start in keywords:
            yield Edit(token.span, VARIABLE_PREFIX + token.text)
        elif word in semantics and closing is not None:
            end = tokens[closing].span.end
            until_operand = Span(token.span.start, tokens[index + 1].span.start)
            yield Edit(until_operand, f"{FUNCTION_PREFIX}{word}(")
            yield Edit(Span(end, end), ")")
