"""Railroad diagrams of row patterns and of stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from itertools import chain

from railroad import (
    Choice,
    Comment,
    Diagram,
    DiagramItem,
    Group,
    MultipleChoice,
    NonTerminal,
    OneOrMore,
    Sequence,
    Skip,
    Terminal,
)
from typing_extensions import assert_never

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
from matchrec.plan.stages import Contiguity, ForbiddenEvent, RepeatedPart, Single, Steps

STYLE = """
svg.railroad-diagram { background-color: #ffffff; max-width: none; }
svg.railroad-diagram path { stroke-width: 2; stroke: #5b6676; fill: none; }
svg.railroad-diagram text { font: 14px monospace; text-anchor: middle; fill: #2b2f36; }
svg.railroad-diagram text.comment { font: italic 12px sans-serif; fill: #5b6676; }
svg.railroad-diagram rect { stroke-width: 2; stroke: #5b6676; fill: #eef3fa; }
svg.railroad-diagram g.forbidden rect { stroke: #c8102e; fill: #fbe9ec; }
svg.railroad-diagram g.place rect { fill: #f4f1e8; }
svg.railroad-diagram rect.group-box { stroke: #9aa5b5; stroke-dasharray: 6 4; fill: none; }
"""


def svg(item: DiagramItem) -> str:
    """The picture, which brings its own style along."""
    drawn = StringIO()
    Diagram(item).format(12).writeStandalone(drawn.write, STYLE)
    return drawn.getvalue()


def repeated(item: DiagramItem, least: int, most: int | None, words: str) -> DiagramItem:
    """An item that stands there so often; `words` on how, beside the way back."""
    if most == 0:
        return Skip()
    if (least, most) in ((0, 1), (1, 1)):
        return item
    said = ", ".join(filter(None, (how_often(max(least, 1), most), words)))
    return OneOrMore(item, Comment(said) if said else None)


def left_out(item: DiagramItem, *, preferred: bool) -> DiagramItem:
    """An item that may be left out. preferred: whether it rather is."""
    return Choice(0 if preferred else 1, Skip(), item)


def how_often(least: int, most: int | None) -> str:
    """The bounds of a loop in words; nothing for one or more."""
    if most is None:
        return "" if least == 1 else f"{least} times or more"
    return f"{least} times" if least == most else f"{least} to {most} times"


def forbidden(name: str, condition: str) -> DiagramItem:
    return Terminal(f"no {name}", title=condition, cls="forbidden")


SKIPPED = {
    Contiguity.STRICT: "directly after",
    Contiguity.RELAXED: "the next one",
    Contiguity.ANY: "any later one",
}


def draw_row_pattern(pattern: RowPattern, conditions: Mapping[str, str]) -> str:
    """The diagram of a row pattern. conditions: of variables, by their names."""
    return svg(_Drawing(conditions).item(pattern))


def draw_stages(steps: Steps, conditions: Mapping[str, str]) -> str:
    """The diagram of a pattern of stages, between which stands what may be skipped. conditions: of
    its tests, by their names; a test of which none is known has its condition for a name.
    """
    return svg(_Drawing(conditions).sequence(steps))


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
                return Terminal(name, title=self.of_variable(name))
            case Negation(names):
                return Sequence(*(forbidden(name, self.of_variable(name)) for name in names))
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

    def of_variable(self, name: str) -> str:
        return self.conditions.get(name, "every row")

    def quantified(self, pattern: Quantified) -> DiagramItem:
        """A part with the way back, and the way around it where it may be left out."""
        words = "" if pattern.greedy else "as few as possible"
        item = repeated(self.item(pattern.part), pattern.least, pattern.most, words)
        return item if pattern.least else left_out(item, preferred=not pattern.greedy)

    def of_test(self, test: str) -> str:
        return self.conditions.get(test, test)

    def sequence(self, steps: Steps) -> DiagramItem:
        items = (self.step(step, place) for place, step in enumerate(steps))
        return Sequence(*chain.from_iterable(items))

    def step(self, step: RepeatedPart | ForbiddenEvent, place: int) -> Iterator[DiagramItem]:
        """A stage, and before it, but for the first one, which events may be skipped."""
        if isinstance(step, ForbiddenEvent):
            where = "directly after" if step.only_next else "up to the next one"
            yield Group(forbidden(step.name, self.of_test(step.test)), where)
            return
        if place:
            yield Comment(SKIPPED[step.contiguity])
        yield self.part(step)

    def part(self, part: RepeatedPart) -> DiagramItem:
        """A stage or a group, with the way back and the way around it."""
        content, words = part.content, [SKIPPED[part.inner]]
        if isinstance(content, Single):
            item: DiagramItem = Terminal(content.name, title=self.of_test(content.test))
        else:
            item = Group(self.sequence(content))
        if part.greedy:
            words.append("as many as possible")
        if part.until is not None:
            words.append(f"until {self.of_test(part.until.test)}")
        item = repeated(item, part.least, part.most, ", ".join(words))
        return left_out(item, preferred=not part.greedy) if part.optional else item
