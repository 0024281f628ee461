"""Compile row patterns as they are written, without simplifying them, for tests of later stages."""

from __future__ import annotations

from matchrec.automaton.compile_program import compile_program
from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.fold_program import fold_program
from matchrec.automaton.folding import ChoicesByState
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.pattern import RowPattern, list_variable_names

STRICT = EventSelection.STRICT_CONTIGUITY


def compile_for_output(
    pattern: RowPattern,
    variables: tuple[str, ...] | None = None,
    selection: EventSelection = STRICT,
    output: MatchOutput = MatchOutput.PREFERRED,
) -> CompiledPattern:
    """Compile a row pattern for a task that finds matches of this kind."""
    program = compile_program(pattern, variables or list_variable_names(pattern), selection)
    return CompiledPattern(
        program, fold_program(program, all_matches=output is not MatchOutput.PREFERRED)
    )


def list_folded_choices(pattern: RowPattern) -> ChoicesByState:
    """Return the choices of a compiled row pattern: the ways from row to row."""
    return compile_for_output(pattern).folding.choices
