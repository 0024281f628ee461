"""A query compiled to count how far starting rows come: its matches, none of its output.

Every row crosses, also those that a query leaves behind, as each of them is a starting row. No
measure is read; the columns that cross are those of conditions, and those that name a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft
from matchrec.conditions.residual import NOWHERE, Combined, Nearby, SplitCondition, Step, Value
from matchrec.conditions.row_column import (
    EVERYWHERE,
    RowColumn,
    conjunction,
    row_column,
    show_column,
    true_unless,
)
from matchrec.conditions.split import ConditionSplitter, all_of
from matchrec.engine.coverage import Counts, Coverable
from matchrec.engine.interface import NearbyCondition
from matchrec.engine.records import compile_task
from matchrec.errors.run import failures
from matchrec.nfa.occurrences import Occurrences, compile_occurrences, occurrences_of_stages
from matchrec.output.schema import RowOutput
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.expression import Navigation, Scalar, column_term, comparison, joined
from matchrec.plan.match_plan import MatchPlan, search_only
from matchrec.plan.pattern import negations, variable_names

Test = RowColumn | Nearby  # one part of a condition that is known before the match

HERE, BEFORE = Navigation(), Navigation(physical_offset=-1)


@dataclass(frozen=True, slots=True)
class CoverageDraft:
    """The draft of a query to be covered. tests: those of a variable's condition, as they are
    asked. tie: whether a row equals the one before it in its order.
    """

    drafted: Draft
    occurrences: Occurrences
    tests: Mapping[str, Sequence[Test]]
    tie: Test | None


@dataclass(frozen=True, slots=True)
class CoverageTask:
    """What a worker counts. Picklable.

    tie: the row condition that says whether a row equals the one before it in all ORDER BY columns,
    by its bit, or as the worker computes it. naming: the columns that name a starting row: those of
    the partition, then those of its order.
    """

    executable: Executable
    coverable: Coverable
    tie: int | NearbyCondition | None
    naming: tuple[int, ...]

    @property
    def selects(self) -> bool:
        """Whether rows may be skipped or all matches are asked for."""
        return self.executable.task.selects

    @property
    def ends(self) -> tuple[int, ...]:
        """The columns of the partition, and the first one of its order."""
        return self.naming[: len(self.executable.crossing.keys) + 1]


def check_coverable(plan: MatchPlan) -> None:
    """Raises MatchRecognizeUnsupportedError for a plan whose starting rows cannot be counted."""
    if plan.output is MatchOutput.LONGEST:
        raise failures.coverage_of_longest()
    if negations(plan.pattern):
        raise failures.coverage_of_negation(negations(plan.pattern)[0].span)


def draft_coverage(drafted: Draft) -> CoverageDraft:
    """The draft without what only the output needs. Raises MatchRecognizePlanError."""
    plan = search_only(drafted.plan, ())
    if plan.staging is not None:
        variables = variable_names(plan.pattern)
        occurrences = occurrences_of_stages(drafted.pattern, len(variables))
    else:
        every_way = plan.output is not MatchOutput.PREFERRED
        occurrences = compile_occurrences(drafted.pattern, plan.pattern, every_way=every_way)
    orders = tuple(dict.fromkeys(item.expression.text for item in plan.order_by))
    tie = tie_of(orders, drafted)
    tests = {condition.variable: asked_tests(condition) for condition in drafted.conditions}
    narrowed = replace(
        drafted,
        plan=plan,
        pattern=occurrences.pattern,
        outputs=tuple(RowOutput(text, text) for text in orders),
        relevant=(),
        observed=(*chain.from_iterable(tests.values()), *([tie] if tie else [])),
    )
    return CoverageDraft(narrowed, occurrences, tests, tie)


def tie_of(orders: tuple[str, ...], drafted: Draft) -> Test | None:
    if not orders:
        return None
    same = [
        comparison("<=>", column_term(HERE, text), column_term(BEFORE, text)) for text in orders
    ]
    any_variable = drafted.plan.variables[0]
    splitter = ConditionSplitter(drafted.plan, any_variable, drafted.scope)
    return splitter.test(joined("AND", same, NOWHERE))


def link_coverage(asked: CoverageDraft, executable: Executable) -> CoverageTask:
    """What a worker counts. Raises MatchRecognizeUnsupportedError."""
    plan, task = asked.drafted.plan, executable.task
    if task.selects and compile_task(task, len(executable.crossing.integers)).rules.forgets:
        raise failures.coverage_of_match_number()
    bits = {one.column: one.bit for one in executable.nearby if one.row_condition is None}
    bits |= {column: bit for bit, column in enumerate(executable.conditions)}
    known = {name: [bits[column_of(test)] for test in tests] for name, tests in asked.tests.items()}
    rest = {one.variable: [None] for one in asked.drafted.conditions if one.during is not None}
    parts = tuple((*known.get(name, []), *rest.get(name, [])) for name in plan.variables)
    columns = executable.crossing.columns
    orders = (columns.index(row_column(output.name)) for output in asked.drafted.outputs)
    naming = (*(index for _, index in executable.crossing.keys), *orders)
    tie: int | NearbyCondition | None = None
    if isinstance(asked.tie, Nearby):
        tie = next(one for one in executable.nearby if one.column == asked.tie.column)
    elif asked.tie is not None:
        tie = bits[asked.tie]
    return CoverageTask(executable, Coverable(task, asked.occurrences, parts), tie, naming)


def parts_of(condition: SplitCondition | None, show: Callable[[Scalar], str]) -> Iterator[str]:
    """The parts of a condition as one writes them, as counted. show: of what depends on the run."""
    if condition is None:
        return
    yield from (show_column(column_of(test)) for test in condition.tests)
    if condition.during is not None:
        yield " AND ".join(map(show, condition.rest))


def asked_tests(condition: SplitCondition) -> Sequence[Test]:
    """Its tests; one that may fail is asked where those before it hold, and is true elsewhere."""
    found: list[Test] = []
    for test in condition.tests:
        others_first = bool(found) and column_of(test).may_fail
        found.append(asked_after(found, test) if others_first else test)
    return found


def asked_after(before: Sequence[Test], test: Test) -> Test:
    """A test where others hold; what Spark computes asks only those that it computes too."""
    if isinstance(test, RowColumn):
        of_spark = (column for column in before if isinstance(column, RowColumn))
        only_rows = test.looks_at_one_row
        own = tuple(column for column in of_spark if column.looks_at_one_row or not only_rows)
        return true_unless(conjunction(own), test) if own else test
    guard = conjunction(tuple(map(column_of, before)))
    asked = all_of(list(map(step_of, before)), NOWHERE)
    step = Combined("IF", (asked, test.step, step_of(EVERYWHERE)), NOWHERE)
    return Nearby(true_unless(guard, test.column), step)


def step_of(test: Test) -> Step:
    return test.step if isinstance(test, Nearby) else Value(test, None, None, NOWHERE)


def column_of(test: Test) -> RowColumn:
    return test.column if isinstance(test, Nearby) else test


@dataclass(frozen=True, slots=True)
class Figures:
    """What is counted of rows and matches. The last three are the most of one, not a sum.

    covered: rows of matches. ties: rows that equal the one before in their order. longest_match,
    largest_partition: their rows. rows_held: rows that a worker looked at in one call.
    """

    rows: int = 0
    partitions: int = 0
    matched_partitions: int = 0
    matches: int = 0
    covered: int = 0
    ties: int = 0
    longest_match: int = 0
    largest_partition: int = 0
    rows_held: int = 0


SUMS = 6


@dataclass(frozen=True, slots=True)
class NearestStart:
    """The starting row that came nearest to a match and began none.

    remaining: how many rows a match still needed. partition, order: its keys and its values in the
    ORDER BY, each as text by its name; None for NULL.
    """

    remaining: int
    partition: dict[str, str | None] = field(default_factory=dict)
    order: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counted:
    asked: CoverageDraft
    task: CoverageTask
    figures: Figures
    counts: Counts
    nearest: NearestStart | None
