"""Rows that no match contains, told by their neighbours: Spark leaves them out after the sort.

A row of a match satisfies the condition of some variable, and its neighbours satisfy those of
variables that may precede and follow that one. Of a variable of which nothing is known before the
match its neighbours may tell: in `A B C` without a condition of A, a row of B follows it. Spark
knows all conditions on rows before the match, so for two more columns over the window that it has
anyway, `lag` and `lead` of the packed bits, most rows of a scan for something rare need not cross
to Python. What is left of a partition are contiguous runs of rows; a match lies in one of them.

It pays where few rows are left. That depends on the data, which nobody has looked at; `estimate`
guesses from the form of the conditions, as databases do without statistics.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from math import prod

from matchrec.conditions.residual import Combined, Lambda, SplitCondition, Step, Value, VariableAt
from matchrec.conditions.row_column import Neighbours, RowColumn
from matchrec.nfa.compiled_pattern import CompiledPattern
from matchrec.nfa.facts import FollowSets
from matchrec.nfa.program import VariableId
from matchrec.plan.expression import (
    Aggregate,
    MatchNumber,
    Navigation,
    Operation,
    Reference,
    Scalar,
    inner_references,
    references,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.pruning.irrelevant_rows import NO_FILLERS, counts_rows, sees_no_row

MOST_CONDITIONS = 61  # packed in one column, together with the mark of a partition's first row
PAYS_BELOW = 0.3  # of all rows; leaving rows out costs about a tenth of sending all of them
SHARES = {"=": 0.1, "<=>": 0.1, "IN": 0.2, "BETWEEN": 0.25, "LIKE": 0.1, "RLIKE": 0.1} | {
    "<": 1 / 3,
    "<=": 1 / 3,
    ">": 1 / 3,
    ">=": 1 / 3,
    "IS NULL": 0.1,
}
UNKNOWN = 0.5


def find_neighbour_tests(
    plan: MatchPlan,
    pattern: CompiledPattern,
    conditions: tuple[SplitCondition, ...],
    bits: tuple[RowColumn, ...],
) -> tuple[Neighbours, ...]:
    """One test for each variable; none where rows need not or must not be left out.

    bits: the conditions that Spark packs.
    """
    tests = {one.variable: one.before for one in conditions if one.before is not None}
    if plan.selects or not tests or len(bits) > MOST_CONDITIONS:
        return ()
    if counts_rows(plan) or not all(sees_own_rows_only(plan, conditions)):
        return ()
    follow = pattern.follow
    if pattern.has_anchors or follow.matches_empty:
        return ()
    if estimate(plan, follow, tests) > PAYS_BELOW:
        return ()
    places = {column: place for place, column in enumerate(bits)}
    known = enumerate(map(tests.get, plan.variables))
    bit = {number: places[test] for number, test in known if test is not None}

    def any_of(variables: frozenset[VariableId]) -> frozenset[int] | None:
        return frozenset(bit[one] for one in variables) if variables <= bit.keys() else None

    return tuple(
        Neighbours(
            bit.get(number),
            None if number in follow.first else any_of(follow.before(number)),
            None if number in follow.last else any_of(follow.after(number)),
        )
        for number in range(len(plan.variables))
    )


def sees_own_rows_only(plan: MatchPlan, conditions: tuple[SplitCondition, ...]) -> Iterator[bool]:
    """For each measure and each condition on the run, whether it reads rows of the match only.

    Nor may a condition ask for the match's number: matches are numbered once all of them are found.
    """
    for measure in plan.measures:
        yield all(sees_no_row(plan, one, NO_FILLERS) for one in references(measure.value))
    for definition in plan.definitions:
        yield not any(map(asks_for_number, references(definition.condition)))
    for condition in conditions:
        yield condition.during is None or not reads_neighbour(condition.during)


def asks_for_number(reference: Reference) -> bool:
    """Whether it is MATCH_NUMBER(), or an aggregate of it."""
    if isinstance(reference, Aggregate):
        return any(map(asks_for_number, inner_references(reference)))
    return isinstance(reference, MatchNumber)


def reads_neighbour(step: Step) -> bool:
    """Whether a step reads a row a fixed distance from one of the match."""
    match step:
        case Value(navigation=Navigation() as found) | VariableAt(navigation=found):
            return found.physical_offset != 0
        case Combined(operands=operands):
            return any(reads_neighbour(operand) for operand in operands)
        case Lambda(body=body):
            return reads_neighbour(body)
        case _:
            return False


def estimate(plan: MatchPlan, follow: FollowSets, tested: Container[str]) -> float:
    """The share of rows that may be in a match, guessed. tested: variables with a test of rows."""
    written = {one.variable: share(one.condition) for one in plan.definitions}
    shares = [written[name] if name in tested else 1.0 for name in plan.variables]

    def any_of(variables: frozenset[VariableId]) -> float:
        return min(1.0, sum(shares[one] for one in variables))

    kept = 0.0
    for number, own in enumerate(shares):
        before = 1.0 if number in follow.first else any_of(follow.before(number))
        after = 1.0 if number in follow.last else any_of(follow.after(number))
        kept += own * before * after
    return kept


def share(scalar: Scalar) -> float:
    """The share of rows that satisfy a condition, guessed from its form."""
    if not isinstance(scalar, Operation):
        return UNKNOWN
    parts = [share(operand) for operand in scalar.operands]
    if scalar.operator == "AND":
        return prod(parts)
    if scalar.operator == "OR":
        return min(1.0, sum(parts))
    if scalar.operator == "NOT":
        return 1 - parts[0]
    with_constant = sum(bool(references(operand)) for operand in scalar.operands) == 1
    return SHARES.get(scalar.operator, UNKNOWN) if with_constant else UNKNOWN
