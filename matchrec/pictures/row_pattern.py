"""A row pattern as a railroad diagram."""

from __future__ import annotations

from collections.abc import Mapping

from railroad import (
    Choice,
    DiagramItem,
    Group,
    MultipleChoice,
    NonTerminal,
    Sequence,
    Skip,
    Terminal,
)
from typing_extensions import assert_never

from matchrec.dataclass import dataclass
from matchrec.pictures.diagram import left_out, repeated, svg
from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Empty,
    Exclusion,
    Negation,
    PartitionEnd,
    PartitionStart,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
)


def draw_row_pattern(pattern: RowPattern, conditions: Mapping[str, str]) -> str:
    """The diagram of a row pattern. conditions: of variables, by their names."""
    return svg(_Drawing(conditions).item(pattern))


@dataclass(frozen=True, slots=True)
class _Drawing:
    conditions: Mapping[str, str]

    def item(self, pattern: RowPattern) -> DiagramItem:
        match pattern:
            case Empty():
                return Skip()
            case PartitionStart():
                return NonTerminal("start of partition", cls="place")
            case PartitionEnd():
                return NonTerminal("end of partition", cls="place")
            case Variable(name):
                return Terminal(name, title=self.conditions.get(name, "every row"))
            case Negation(names):
                return Sequence(*map(self.forbidden, names))
            case Concatenation(parts):
                return Sequence(*map(self.item, parts))
            case Alternation(parts):
                return Choice(0, *map(self.item, parts))
            case Permutation(parts):
                return Group(MultipleChoice(0, "all", *map(self.item, parts)), "in any order")
            case Quantified():
                return self.quantified(pattern)
            case Exclusion(part):
                return Group(self.item(part), "not in the result")
            case _:
                assert_never(pattern)

    def forbidden(self, name: str) -> DiagramItem:
        """What must not follow."""
        title = self.conditions.get(name, "every row")
        return Terminal(f"no {name}", title=title, cls="forbidden")

    def quantified(self, pattern: Quantified) -> DiagramItem:
        """A part with the way back, and the way around it where it may be left out."""
        words = "" if pattern.greedy else "as few as possible"
        item = repeated(self.item(pattern.part), pattern.least, pattern.most, words)
        return item if pattern.least else left_out(item, preferred=not pattern.greedy)
