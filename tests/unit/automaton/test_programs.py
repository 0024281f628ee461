"""Golden tests: the printed program of a row pattern, one file each, checked by hand.

A file holds the pattern, the program, and its choices after the proceed edges are folded away.
"""

from pathlib import Path

import pytest

from matchrec.automaton.compile_program import compile_program
from matchrec.automaton.fold_program import fold_program
from matchrec.automaton.folding import ChoicesByState
from matchrec.automaton.program import ANCHOR_END, ANCHOR_START
from matchrec.plan.pattern import list_variable_names
from matchrec.syntax.row_pattern import parse_row_pattern

GOLDEN = Path(__file__).parent / "programs"


def show_choices(folded: ChoicesByState, names: tuple[str, ...]) -> str:
    """Return the choices of a folded program as text."""
    lines = []
    for state, choices in enumerate(folded):
        lines.append(str(state))
        for choice in choices:
            anchors = "^" * bool(choice.guard & ANCHOR_START) + "$" * bool(
                choice.guard & ANCHOR_END
            )
            words = [f"if {anchors}:"] * bool(anchors)
            if choice.target is None:
                words.append("accept")
            else:
                words += [names[choice.variable or 0], "excluded" * choice.is_excluded]
                words.append(f"-> {choice.target}")
            lines.append("    " + " ".join(filter(None, words)))
    return "\n".join(lines)


def describe(text: str) -> str:
    """Return a pattern, its program and its choices as text."""
    pattern = parse_row_pattern(text)
    names = list_variable_names(pattern)
    program = compile_program(pattern, names)
    folded = fold_program(program).choices
    return f"{text}\n\n{program}\n\n{show_choices(folded, names)}\n"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_a_pattern_compiles_to_the_program_in_its_file(
    path: Path, request: pytest.FixtureRequest
) -> None:
    text = path.read_text().split("\n")[0]
    actual = describe(text)
    if request.config.getoption("--update"):
        path.write_text(actual)
    assert actual == path.read_text()


def test_there_are_programs() -> None:
    assert len(list(GOLDEN.glob("*.txt"))) >= 12
