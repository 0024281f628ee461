"""Regular expressions of Java, compiled, and whether they are found in texts."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.regular_expressions.kernels.depth_first import FOUND, NO_ROOM, search
from matchrec.regular_expressions.program import (
    LAST,
    Expression,
    RefusedError,
    RegexProgram,
    program_of,
    read_expression,
)

ROOM = 200  # of the stack at first
MOST_CHOICES = 1 << 26  # choices x characters: a byte each, and a second in all


@dataclass(frozen=True, slots=True)
class JavaPattern:
    """An expression and its program."""

    expression: Expression
    program: RegexProgram

    def is_found(self, text: str) -> bool:
        """Whether some part of a text is as the expression says. Raises RefusedError."""
        self.check(text)
        letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        tried = np.zeros(self.program.splits * (len(text) + 1), np.uint8)
        stack = np.empty(ROOM, np.int32)
        while (status := search(*self.program, letters, tried, stack)) == NO_ROOM:
            tried[:] = 0
            stack = np.empty(2 * len(stack), np.int32)
        return bool(status == FOUND)

    def check(self, text: str) -> None:
        """Raises RefusedError for a text in which it may be another pattern, or takes too long."""
        own = self.expression
        if own.last < LAST and max(map(ord, text), default=0) > own.last:
            raise RefusedError(
                f"the regular expression {own.text!r} has \\b, finds nothing or half a character: "
                f"it may mean something else to Java in a text with {max(text)!r}"
            )
        if self.program.splits * (len(text) + 1) > MOST_CHOICES:
            raise RefusedError(
                f"the regular expression {own.text!r} is too large for a text of {len(text)} "
                "characters"
            )


@lru_cache(maxsize=1000)
def java_pattern(text: str) -> JavaPattern:
    """The pattern of an expression. Raises RefusedError."""
    return compiled(read_expression(text))


def compiled(expression: Expression) -> JavaPattern:
    """The pattern of an expression that has been read."""
    return JavaPattern(expression, program_of(expression))
