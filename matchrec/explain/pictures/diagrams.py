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

from matchrec.explain.pictures.figures import (
    FAILURE_COLOUR,
    FAILURE_FILL_COLOUR,
    FAINT_COLOUR,
    TEXT_COLOUR,
)
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
from matchrec.plan.stages import Contiguity, ForbiddenEvent, RepeatedPart, SingleStage, Steps

# The style of a diagram, which is part of the SVG.
STYLE = f"""
svg.railroad-diagram {{ background-color: #ffffff; max-width: none; }}
svg.railroad-diagram path {{ stroke-width: 2; stroke: #5b6676; fill: none; }}
svg.railroad-diagram text {{ font: 14px monospace; text-anchor: middle; fill: {TEXT_COLOUR}; }}
svg.railroad-diagram text.comment {{ font: italic 12px monospace; fill: #5b6676; }}
svg.railroad-diagram rect {{ stroke-width: 2; stroke: #5b6676; fill: #eef3fa; }}
svg.railroad-diagram g.forbidden rect {{ stroke: {FAILURE_COLOUR}; fill: {FAILURE_FILL_COLOUR}; }}
svg.railroad-diagram g.place rect {{ fill: #f4f1e8; }}
svg.railroad-diagram rect.group-box {{ stroke: {FAINT_COLOUR}; stroke-dasharray: 6 4; fill: none; }}
"""


def draw_item(item: DiagramItem) -> str:
    """Return the diagram of an item as an SVG with its own style."""
    content = StringIO()
    Diagram(item).format(12).writeStandalone(content.write, STYLE)
    return content.getvalue()


def build_loop(item: DiagramItem, least: int, most: int | None, words: str) -> DiagramItem:
    """Return an item with a line back to its beginning, if it can be repeated.

    Args:
        item: the item.
        least: the minimum number of repetitions.
        most: the maximum number of repetitions; None for no limit.
        words: words at the line back, after the numbers.
    """
    if most == 0:
        return Skip()
    if (least, most) in ((0, 1), (1, 1)):
        return item
    comment = ", ".join(filter(None, (show_bounds(max(least, 1), most), words)))
    return OneOrMore(item, Comment(comment))


def build_bypass(item: DiagramItem, *, preferred: bool) -> DiagramItem:
    """Return an item with a line around it, for a part that can be left out.

    Args:
        item: the item.
        preferred: whether leaving out the part is preferred. Then the line is the straight path.
    """
    return Choice(0 if preferred else 1, Skip(), item)


def show_bounds(least: int, most: int | None) -> str:
    """Return the bounds of a loop in words: `2 to 5 times`; `most` is None for no limit."""
    if most is None:
        return f"{least} or more times"
    return f"{least} times" if least == most else f"{least} to {most} times"


def build_forbidden(name: str, condition: str) -> DiagramItem:
    """Return the box of a variable that must not be matched.

    Args:
        name: the name of the variable or event.
        condition: the text of its condition, which is shown when the pointer is over the box.
    """
    return Terminal(f"no {name}", title=condition, cls="forbidden")


# The texts that say which events can be skipped before a stage.
SKIP_WORDS = {
    Contiguity.STRICT: "directly after",
    Contiguity.RELAXED: "the next one",
    Contiguity.ANY: "any later one",
}


def draw_row_pattern(pattern: RowPattern, conditions: Mapping[str, str]) -> str:
    """Return the railroad diagram of a row pattern as an SVG.

    Args:
        pattern: the row pattern.
        conditions: the text of each variable's condition, by the name of the variable.
    """
    return draw_item(DiagramBuilder(conditions).build_pattern(pattern))


def draw_stages(steps: Steps, conditions: Mapping[str, str]) -> str:
    """Return the railroad diagram of a pattern of stages as an SVG.

    Words between the stages say which events can be skipped there.

    Args:
        steps: the stages.
        conditions: the text of each test, by its name. A test without an entry is shown as
            written.
    """
    return draw_item(DiagramBuilder(conditions).build_steps(steps))


@dataclass(frozen=True, slots=True)
class DiagramBuilder:
    """A builder of the items of a diagram."""

    # The texts of conditions, by the names of variables or tests.
    conditions: Mapping[str, str]

    def build_pattern(self, pattern: RowPattern) -> DiagramItem:
        """Return the item of a row pattern."""
        match pattern:
            case Empty():
                return Skip()
            case PartitionStart():
                return NonTerminal("start of partition", cls="place")
            case PartitionEnd():
                return NonTerminal("end of partition", cls="place")
            case Variable(name):
                return Terminal(name, title=self.show_condition(name))
            case Negation(names):
                boxes = [build_forbidden(name, self.show_condition(name)) for name in names]
                return Sequence(*boxes)
            case Concatenation(parts):
                return Sequence(*map(self.build_pattern, parts))
            case Alternation(parts):
                return Choice(0, *map(self.build_pattern, parts))
            case Permutation(parts):
                return Group(
                    MultipleChoice(0, "all", *map(self.build_pattern, parts)), "in any order"
                )
            case Quantified():
                return self.build_quantified(pattern)
            case Exclusion(part):
                return Group(self.build_pattern(part), "not in the result")
            case _:
                assert_never(pattern)

    def show_condition(self, name: str) -> str:
        """Return the text of a variable's condition; every row satisfies a missing condition."""
        return self.conditions.get(name, "every row")

    def build_quantified(self, pattern: Quantified) -> DiagramItem:
        """Return the item of a quantified part, with a line back if the part can be repeated.

        The item also has a line around it if the part can be left out.
        """
        words = "" if pattern.is_greedy else "as few as possible"
        item = build_loop(self.build_pattern(pattern.part), pattern.least, pattern.most, words)
        return item if pattern.least else build_bypass(item, preferred=not pattern.is_greedy)

    def show_test(self, test: str) -> str:
        """Return the text of the condition of a stage's test, or the test as it is written."""
        return self.conditions.get(test, test)

    def build_steps(self, steps: Steps) -> DiagramItem:
        """Return the item of a sequence of stages."""
        items = (self.build_step(step, index) for index, step in enumerate(steps))
        return Sequence(*chain.from_iterable(items))

    def build_step(self, step: RepeatedPart | ForbiddenEvent, index: int) -> Iterator[DiagramItem]:
        """Yield the items of a stage. A comment before it shows the rows that can be skipped."""
        if isinstance(step, ForbiddenEvent):
            reach = "directly after" if step.forbids_only_next else "up to the next one"
            yield Group(build_forbidden(step.name, self.show_test(step.test)), reach)
            return
        if index > 0:
            yield Comment(SKIP_WORDS[step.contiguity])
        yield self.build_part(step)

    def build_part(self, part: RepeatedPart) -> DiagramItem:
        """Return the item of a stage or of a group of stages.

        The item has a line back if the part can be repeated, and a line around it if the part is
        optional.
        """
        content = part.content
        words = [SKIP_WORDS[part.inner_contiguity]]
        if isinstance(content, SingleStage):
            item: DiagramItem = Terminal(content.name, title=self.show_test(content.test))
        else:
            item = Group(self.build_steps(content))
        if part.is_greedy:
            words.append("as many as possible")
        if part.until is not None:
            words.append(f"until {self.show_test(part.until.test)}")
        item = build_loop(item, part.least, part.most, ", ".join(words))
        return build_bypass(item, preferred=not part.is_greedy) if part.is_optional else item
