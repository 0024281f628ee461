"""Row patterns compiled as they are written, not simplified, for tests of what comes after."""

from __future__ import annotations

from matchrec.automaton.closure import Folded, fold
from matchrec.automaton.compile import CompiledPattern, compile_program
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.pattern import RowPattern, variable_names

STRICT = EventSelection.STRICT_CONTIGUITY


def compiled(
    pattern: RowPattern,
    variables: tuple[str, ...] | None = None,
    selection: EventSelection = STRICT,
    output: MatchOutput = MatchOutput.PREFERRED,
) -> CompiledPattern:
    """The pattern as a task of such matches has it."""
    program = compile_program(pattern, variables or variable_names(pattern), selection)
    return CompiledPattern(program, fold(program, every_way=output is not MatchOutput.PREFERRED))


def folded(pattern: RowPattern) -> Folded:
    """Its choices."""
    return compiled(pattern).folding.choices
