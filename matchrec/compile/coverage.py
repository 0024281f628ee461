"""A query compiled to count how far starting rows come: its matches, none of its output.

Every row crosses, also those that a query leaves behind, as each of them is a starting row. No
measure is read; the columns that cross are those of conditions, and those that name a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from matchrec.compile.draft import Draft
from matchrec.compile.executable import Executable
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.row_column import RowColumn, Shifted, conjunction, row_column, show_column
from matchrec.engine.compiled import compile_task
from matchrec.engine.contiguous.coverage import Coverable
from matchrec.errors.run.coverage import (
    coverage_of_longest,
    coverage_of_match_number,
    coverage_of_negation,
)
from matchrec.nfa.compiled_pattern import CompiledPattern
from matchrec.nfa.occurrences import Occurrences, compile_occurrences, occurrences_of_stages
from matchrec.output.schema import RowOutput
from matchrec.plan.clauses import MatchOutput, RowsPerMatch
from matchrec.plan.expression import Scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import negations, variable_names


@dataclass(frozen=True, slots=True)
class CoverageDraft:
    """The draft of a query to be covered. tie: whether a row equals the one before in its order."""

    drafted: Draft
    occurrences: Occurrences
    tie: RowColumn | None


@dataclass(frozen=True, slots=True)
class CoverageTask:
    """What a worker counts. Picklable.

    tie: the row condition that says whether a row equals the one before it in all ORDER BY columns.
    naming: the columns that name a starting row: those of the partition, then those of its order.
    """

    executable: Executable
    coverable: Coverable
    tie: int | None
    naming: tuple[int, ...]

    @property
    def selects(self) -> bool:
        """Whether rows may be skipped or all matches are asked for."""
        return self.executable.task.selects


def check_coverable(plan: MatchPlan) -> None:
    """Raises MatchRecognizeUnsupportedError for a plan whose starting rows cannot be counted."""
    if plan.output is MatchOutput.LONGEST:
        raise coverage_of_longest()
    if negations(plan.pattern):
        raise coverage_of_negation(negations(plan.pattern)[0].span)


def draft_coverage(drafted: Draft) -> CoverageDraft:
    """The draft without what only the output needs. Raises MatchRecognizePlanError."""
    plan = replace(drafted.plan, measures=(), rows_per_match=RowsPerMatch.ONE_ROW, partial=None)
    occurrences = occurrences_of(drafted.pattern, plan)
    orders = tuple(dict.fromkeys(item.expression.text for item in plan.order_by))
    tie = tie_of(orders)
    tests = (test for condition in drafted.conditions for test in condition.tests)
    narrowed = replace(
        drafted,
        plan=plan,
        pattern=occurrences.pattern,
        outputs=tuple(RowOutput(text, text) for text in orders),
        relevant=(),
        neighbours=(),
        observed=(*tests, tie) if tie else tuple(tests),
    )
    return CoverageDraft(narrowed, occurrences, tie)


def occurrences_of(compiled: CompiledPattern, plan: MatchPlan) -> Occurrences:
    """The occurrences of variables in the row pattern of a plan, or its stages."""
    if plan.staging is not None:
        return occurrences_of_stages(compiled, len(variable_names(plan.pattern)))
    every_way = plan.output is not MatchOutput.PREFERRED
    return compile_occurrences(compiled, plan.pattern, every_way=every_way)


def tie_of(orders: tuple[str, ...]) -> RowColumn | None:
    """Whether a row equals the one before it in all of these columns."""
    same = tuple(
        RowColumn(("(", Shifted(text, 0), ") <=> (", Shifted(text, -1), ")")) for text in orders
    )
    return conjunction(same) if same else None


def link_coverage(asked: CoverageDraft, executable: Executable) -> CoverageTask:
    """What a worker counts. Raises MatchRecognizeUnsupportedError."""
    plan, task = asked.drafted.plan, executable.task
    if task.selects and compile_task(task, len(executable.crossing.integers)).counts_matches:
        raise coverage_of_match_number()
    bits = {column: bit for bit, column in enumerate(executable.conditions)}
    conditions = {one.variable: one for one in asked.drafted.conditions}
    parts = tuple(tuple(bits_of(conditions.get(variable), bits)) for variable in plan.variables)
    columns = executable.crossing.columns
    orders = (columns.index(row_column(one.name)) for one in asked.drafted.outputs)
    naming = (*(index for _, index in executable.crossing.keys), *orders)
    found = asked.occurrences
    coverable = Coverable(
        task, len(found.variables), found.taken, found.remaining, found.nearer, parts
    )
    tie = None if asked.tie is None else bits[asked.tie]
    return CoverageTask(executable, coverable, tie, naming)


def bits_of(condition: SplitCondition | None, bits: dict[RowColumn, int]) -> Iterator[int | None]:
    """The parts of a condition by their bits, None for what depends on the run."""
    if condition is None:
        return
    yield from (bits[test] for test in condition.tests)
    if condition.during is not None:
        yield None


def parts_of(condition: SplitCondition | None, show: Callable[[Scalar], str]) -> Iterator[str]:
    """The parts of a condition as one would write them, in the same order.

    show: of what depends on the run.
    """
    if condition is None:
        return
    yield from map(show_column, condition.tests)
    if condition.during is not None:
        yield " AND ".join(map(show, condition.rest))
