"""Compile the row pattern of a plan to a program, and fold the program for the search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.automaton.compile_program import compile_program
from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.fold_program import fold_program
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import simplify

if TYPE_CHECKING:
    from matchrec.plan.stages import Staging


def compile_pattern(plan: MatchPlan) -> CompiledPattern:
    """Compile the row pattern of a resolved plan.

    Raises:
        MatchRecognizePlanError: the program would be too large.
    """
    if plan.staging is not None:
        return compile_stage_pattern(plan, plan.staging)
    pattern = simplify(plan.pattern)
    program = compile_program(pattern, plan.variables, plan.selection)
    all_matches = plan.output is not MatchOutput.PREFERRED
    return CompiledPattern(
        program, fold_program(program, all_matches=all_matches, span=pattern.span)
    )


def compile_stage_pattern(plan: MatchPlan, staging: Staging) -> CompiledPattern:
    """Compile the stages of a plan.

    Raises:
        MatchRecognizePlanError: the program would be too large.
    """
    from matchrec.automaton import compile_stages, fold_stages  # few plans have stages

    program = compile_stages.compile_stages(staging.steps, plan.variables)
    tests = fold_stages.find_composed_tests(staging.steps, plan.variables)
    window_tests = tuple(window.test for window in staging.neighbour_windows)
    folding = fold_stages.fold_stages(
        program, tests, window_tests, has_window=plan.within is not None
    )
    return CompiledPattern(program, folding)
