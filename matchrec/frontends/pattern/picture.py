"""A pattern as a railroad diagram, while it is being built: its conditions are not read."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_never

from matchrec.frontends.pattern.tree import All, Condition, Contiguity, Either, Stage, Test
from matchrec.pictures.html import preformatted, wide
from matchrec.pictures.stages import draw_stages
from matchrec.plan.stages import Not, Part, Single, Steps, Until


def html(stages: tuple[Stage, ...], written: str) -> str:
    """The diagram, and below it the calls as they are written."""
    if not stages:
        return preformatted(written)
    return wide(draw_stages(outline(stages), dict(texts(stages)))) + preformatted(written)


def outline(stages: tuple[Stage, ...]) -> Steps:
    """The steps; in the places of tests stand the conditions themselves."""
    return Steps(tuple(map(step, stages)))


def step(stage: Stage) -> Part | Not:
    name = stage.content
    if stage.negated:
        assert isinstance(name, str)
        return Not(name, said(stage.condition), stage.contiguity is Contiguity.STRICT)
    return Part(
        Single(name, said(stage.condition)) if isinstance(name, str) else outline(name),
        stage.contiguity,
        stage.least,
        stage.most,
        stage.optional,
        stage.greedy,
        stage.inner or Contiguity.RELAXED,
        None if stage.until is None else Until(said(stage.until), ""),
    )


def texts(stages: tuple[Stage, ...]) -> Iterator[tuple[str, str]]:
    """What is said of each condition, by what stands in the place of its test."""
    for stage in stages:
        yield from ((text, text) for text in map(said, (stage.condition, stage.until)))
        if not isinstance(stage.content, str):
            yield from texts(stage.content)


def said(condition: Condition | None) -> str:
    """A condition as one expression."""
    match condition:
        case None:
            return "every event"
        case Test(expression):
            return str(expression)
        case All(parts):
            return " AND ".join(f"({said(part)})" for part in parts)
        case Either(parts):
            return " OR ".join(f"({said(part)})" for part in parts)
        case _:
            assert_never(condition)
