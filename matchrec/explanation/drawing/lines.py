"""The program as text, a line for each state and each edge."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

from matchrec.dataclass import dataclass
from matchrec.explanation.drawing.repeats import Repeat, find_repeats
from matchrec.nfa.program import Formulas, Program


def program_lines(program: Program, formulas: Formulas) -> Iterator[str]:
    """The states and their edges with their formulas; of copies the first."""
    repeats = find_repeats(program, formulas)
    return _Lines(program, formulas).of(range(len(program.states)), repeats)


@dataclass(frozen=True, slots=True)
class _Lines:
    program: Program
    formulas: Formulas

    def of(self, states: range, repeats: tuple[Repeat, ...]) -> Iterator[str]:
        """These states, with what repeats of them."""
        start = states.start
        for repeat in repeats:
            yield from self.each(range(start, repeat.first))
            yield self.title(repeat)
            yield indent("\n".join(self.of(repeat.copy, repeat.inner)), "  ")
            start = repeat.end
        yield from self.each(range(start, states.stop))

    def each(self, states: range) -> Iterator[str]:
        return (self.program.text_of(state, self.formulas) for state in states)

    def title(self, repeat: Repeat) -> str:
        """Which states these are, and how often they stand there."""
        first, last = self.program.named(repeat.first), self.program.named(repeat.end - 1)
        these = "this one" if repeat.length == 1 else f"these {repeat.length}"
        return f"{first} to {last}, {repeat.times} times {these}:"
