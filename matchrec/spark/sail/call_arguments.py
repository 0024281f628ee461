"""Split the arguments of a function call in SQL that is not parsed."""

from __future__ import annotations

import re
from typing import NamedTuple

# A quoted text, or a parenthesis or comma. Quoted texts come first in the expression, so that a
# parenthesis or comma inside of one is skipped.
QUOTED_OR_PUNCTUATION = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`|[(),]""", re.DOTALL
)


class CallArguments(NamedTuple):
    """The arguments of a function call in SQL."""

    # The text of each argument, including the spaces around it. A call without arguments has one
    # empty text.
    texts: list[str]
    # The offset of the closing parenthesis of the call.
    end: int


def split_call_arguments(text: str, start: int) -> CallArguments | None:
    """Return the arguments of a call; None if the call has no closing parenthesis.

    Args:
        text: SQL with the call.
        start: the offset after the opening parenthesis of the call.

    >>> split_call_arguments("f(g(x, y), ')') + 1", 2)
    CallArguments(texts=['g(x, y)', " ')'"], end=14)
    """
    texts = []
    argument_start = start
    depth = 1
    for token in QUOTED_OR_PUNCTUATION.finditer(text, start):
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            depth -= 1
        ends_call = depth == 0
        if ends_call or (token[0] == "," and depth == 1):
            texts.append(text[argument_start : token.start()])
            argument_start = token.end()
        if ends_call:
            return CallArguments(texts, token.start())
    return None
