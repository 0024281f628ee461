"""A pattern of stages as a railroad diagram: between two stages stands what may be skipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from railroad import Comment, DiagramItem, Group, Sequence, Terminal

from matchrec.dataclass import dataclass
from matchrec.pictures.diagram import left_out, repeated, svg
from matchrec.plan.stages import Contiguity, Not, Part, Single, Steps

SKIPPED = {
    Contiguity.STRICT: "directly after",
    Contiguity.RELAXED: "the next one",
    Contiguity.ANY: "any later one",
}


def draw_stages(steps: Steps, conditions: Mapping[str, str]) -> str:
    """The diagram of a pattern of stages. conditions: of its tests, by their names."""
    return svg(_Drawing(conditions).sequence(steps))


@dataclass(frozen=True, slots=True)
class _Drawing:
    conditions: Mapping[str, str]

    def sequence(self, steps: Steps) -> DiagramItem:
        return Sequence(
            *(item for place, step in enumerate(steps.steps) for item in self.step(step, place))
        )

    def step(self, step: Part | Not, place: int) -> Iterator[DiagramItem]:
        """A stage, and before it, but for the first one, which events may be skipped."""
        if isinstance(step, Not):
            where = "directly after" if step.only_next else "up to the next one"
            no = Terminal(f"no {step.name}", title=self.conditions[step.test], cls="forbidden")
            yield Group(no, where)
            return
        if place:
            yield Comment(SKIPPED[step.contiguity])
        yield self.part(step)

    def part(self, part: Part) -> DiagramItem:
        """A stage or a group, with the way back and the way around it."""
        content = part.content
        item = (
            Terminal(content.name, title=self.conditions[content.test])
            if isinstance(content, Single)
            else Group(self.sequence(content))
        )
        words = (
            [SKIPPED[part.inner], "as many as possible"] if part.greedy else [SKIPPED[part.inner]]
        )
        if part.until is not None:
            words.append(f"until {self.conditions[part.until.test]}")
        item = repeated(item, part.least, part.most, ", ".join(words))
        return left_out(item, preferred=not part.greedy) if part.optional else item
