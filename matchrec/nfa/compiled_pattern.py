"""The row pattern of a plan, compiled: its program, the program folded, and facts about them.

Made once for a query, right after `plan.resolve`. Pruning, the choice of the algorithm, lookaround
and cost ask it for facts; the engine makes its arrays from the folding.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from matchrec.dataclass import dataclass
from matchrec.errors.calls import unconstrained_proceed
from matchrec.nfa.ambiguity import is_exponentially_ambiguous
from matchrec.nfa.cloning import clone_at_proceed
from matchrec.nfa.closure import Folding, fold
from matchrec.nfa.compile import compile_program
from matchrec.nfa.facts import FollowSets, is_deterministic, most_rows
from matchrec.nfa.program import Program
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.simplify import simplify

if TYPE_CHECKING:
    from matchrec.plan.stages import Staging


@dataclass(frozen=True)
class CompiledPattern:
    """A program and its folding, which says what a row does to a run in each state.

    Facts are found out when they are first asked for. Picklable; a worker folds nothing again. Its
    hash does not look at every edge.
    """

    program: Program
    folding: Folding

    def __hash__(self) -> int:
        return hash((self.program, len(self.folding.choices)))

    @cached_property
    def longest(self) -> int | None:
        """The number of rows of the longest match, None where there is no bound."""
        return most_rows(self.folding.choices)

    @cached_property
    def is_deterministic(self) -> bool:
        """Whether a row leaves no state in more than one way, whatever the conditions say."""
        return is_deterministic(self.folding.choices)

    @cached_property
    def is_exponentially_ambiguous(self) -> bool:
        """Whether the ways over k rows may grow exponentially with k."""
        return is_exponentially_ambiguous(self.folding.choices)

    @cached_property
    def has_anchors(self) -> bool:
        """Whether a choice depends on where the partition begins or ends."""
        return any(choice.guard for choices in self.folding.choices for choice in choices)

    @cached_property
    def follow(self) -> FollowSets:
        """The variables that begin and end matches, and those that follow each other."""
        return FollowSets.of(self.folding.choices)


def compile_pattern(plan: MatchPlan, *, constrain_proceed: bool = True) -> CompiledPattern:
    """The row pattern of a resolved plan, compiled.

    constrain_proceed: whether a run goes on to the next component with the row that begins it; of
    event selection alone.

    Raises MatchRecognizePlanError where it is too large, MatchRecognizeUnsupportedError for skip
    till next match without constrained proceed edges.
    """
    if plan.staging is not None:
        return compile_staging(plan, plan.staging)
    if not constrain_proceed and plan.selection is EventSelection.SKIP_TILL_NEXT_MATCH:
        raise unconstrained_proceed()
    pattern = simplify(plan.pattern)
    program = compile_program(
        pattern, plan.variables, plan.selection, constrain_proceed=constrain_proceed
    )
    every_way = plan.output is not MatchOutput.PREFERRED
    if constrain_proceed or not plan.selects:
        return CompiledPattern(program, fold(program, every_way=every_way, span=pattern.span))
    assert every_way, "without constrained proceed edges, all matches are asked for"
    fold(program, span=pattern.span)  # refuses what is too large
    return CompiledPattern(program, clone_at_proceed(program))


def compile_staging(plan: MatchPlan, staging: Staging) -> CompiledPattern:
    """The stages of a plan, compiled. Few plans have any: what compiles them is loaded here."""
    from matchrec.nfa.compile_stages import compile_stages
    from matchrec.nfa.places import compose_tests, fold_places, windows_of

    steps = staging.steps
    program, tests = compile_stages(steps, plan.variables), compose_tests(steps, plan.variables)
    return CompiledPattern(program, fold_places(program, tests, windows_of(plan, staging)))
