"""The programs of stages: the states and edges of each construct."""

from __future__ import annotations

import pytest

from matchrec.automaton.compile_stages import compile_stages
from matchrec.automaton.fold_stages import find_composed_tests, fold_stages
from matchrec.errors import MatchRecognizePlanError
from matchrec.plan.stages import Contiguity, ForbiddenEvent, RepeatedPart, SingleStage

STRICT, RELAXED, ANY = Contiguity
NAMES = ("a", "b", "c")
VARIABLES = (*NAMES, "A", "B", "C")


def make_part(name: str, contiguity: Contiguity = RELAXED, **fields: object) -> RepeatedPart:
    """Return a part with a single stage."""
    return RepeatedPart(SingleStage(name, name.upper()), contiguity, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (
            (make_part("a"), make_part("b", is_optional=True)),
            (
                "a start|take a -> b|ignore -> a|b|take b -> end|ignore -> b:0|proceed -> end"
                "|b:0|take b -> end|ignore -> b:0|end final"
            ),
        ),
        (
            (make_part("a"), make_part("b", STRICT, least=1, most=None)),
            (
                "a start|take a -> b|ignore -> a|b|take b -> b:0|b:0|take b -> b:0|ignore -> b:1"
                "|proceed -> end|b:1|take b -> b:0|ignore -> b:1|end final"
            ),
        ),
        (
            (make_part("a"), ForbiddenEvent("c", "C", forbids_only_next=True), make_part("b", ANY)),
            (
                "a start|take a -> c|ignore -> a|c|proceed -> b|proceed -> stop|b|take b -> end"
                "|ignore -> b|end final|stop"
            ),
        ),
    ],
)
def test_stages_compile_to_the_program(
    steps: tuple[RepeatedPart | ForbiddenEvent, ...], text: str
) -> None:
    program = compile_stages(steps, VARIABLES)
    assert "|".join(line.strip() for line in str(program).split("\n")) == text


def test_empty_repetitions_of_a_group_make_no_cycle() -> None:
    body = (make_part("a", is_optional=True), make_part("b", is_optional=True))
    steps = (RepeatedPart(body, RELAXED, 2, None), make_part("c", STRICT))
    program = compile_stages(steps, VARIABLES).check()
    folding = fold_stages(program, find_composed_tests(steps, VARIABLES), (), has_window=False)
    assert {choice.variable for choice in folding.choices[0]} <= {0, 1, 2}
    assert folding.start_count == 5  # a or b of the first or of the second repetition, or c


def test_many_optional_groups_are_folded_quickly() -> None:
    # From one group to the next lead two ways, past the group and past both of its stages: 2**25
    # ways in all.
    names = [f"{letter}{number}" for number in range(25) for letter in "pq"]
    pairs = zip(names[::2], names[1::2], strict=True)
    groups = [
        RepeatedPart(
            (make_part(p, is_optional=True), make_part(q, is_optional=True)),
            RELAXED,
            is_optional=True,
        )
        for p, q in pairs
    ]
    steps = (*groups, make_part("z"))
    variables = (*names, "z", *(name.upper() for name in names), "Z")
    program = compile_stages(steps, variables)
    folding = fold_stages(program, find_composed_tests(steps, variables), (), has_window=False)
    assert folding.start_count == 51  # any of the 50 optional stages, or z


def test_many_repetitions_are_no_deep_recursion() -> None:
    assert len(compile_stages((make_part("a", least=3000, most=3000),), VARIABLES).states) == 3001
    group = RepeatedPart((make_part("a", least=50, most=50),), RELAXED, least=50, most=50)
    assert len(compile_stages((group,), VARIABLES).states) == 2501
    with pytest.raises(MatchRecognizePlanError, match="over 5,000 states"):
        compile_stages((make_part("a", least=10**9, most=10**9),), VARIABLES)
