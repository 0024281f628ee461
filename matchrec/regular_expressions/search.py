"""Regular expressions of Java, compiled, and what they find."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.regular_expressions.kernels.depth_first import FOUND, NO_ROOM, search
from matchrec.regular_expressions.program import (
    LAST,
    Expression,
    IntArray,
    RefusedError,
    RegexProgram,
    program_of,
    read_expression,
)

ROOM = 200  # of the stack at first
MOST_CHOICES = 1 << 26  # choices x characters: a byte each, and a second in all


@dataclass(frozen=True, slots=True)
class Found:
    """A place where an expression is found. places: where each group begins and ends, or -1."""

    text: str
    places: tuple[int, ...]

    @property
    def start(self) -> int:
        return self.places[0]

    @property
    def end(self) -> int:
        return self.places[1]

    def group(self, number: int) -> str:
        """What a group has; nothing where it has no part in it."""
        return self.text[max(self.places[2 * number], 0) : max(self.places[2 * number + 1], 0)]


@dataclass(frozen=True, slots=True)
class JavaPattern:
    """An expression and its program. choices: how many the program has."""

    expression: Expression
    program: RegexProgram
    choices: int

    def first(self, text: str) -> Found | None:
        """Where it is found first."""
        return next(self.all(text), None)

    def all(self, text: str) -> Iterator[Found]:
        """One after the other; where nothing was found, Java goes on a character further."""
        self.check(text)
        places = 2 * self.expression.groups + 2
        work = self.stack(places, ROOM)
        letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        tried = np.zeros(self.choices * (len(text) + 1), np.uint8)
        begin = 0
        while True:
            status = search(*self.program, letters, tried, work, begin)
            if status == NO_ROOM:
                tried[:] = 0
                work = self.stack(places, 2 * len(work))
                continue
            if status != FOUND:
                return
            found = Found(text, tuple(work[1 : 1 + places].tolist()))
            yield found
            begin = max(found.end, found.start + 1)

    def stack(self, places: int, room: int) -> IntArray:
        """What a search keeps its places in."""
        work = np.empty(1 + places + room, np.int32)
        work[0] = places
        return work

    def check(self, text: str) -> None:
        """Raises RefusedError for a text in which it may be another pattern, or takes too long."""
        own = self.expression
        if own.last < LAST and max(map(ord, text), default=0) > own.last:
            raise RefusedError(
                f"the regular expression {own.text!r} has \\b, finds nothing or half a character: "
                f"it may mean something else to Java in a text with {max(text)!r}"
            )
        if self.choices * (len(text) + 1) > MOST_CHOICES:
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
    program = program_of(expression)
    return JavaPattern(expression, program, program.splits)
