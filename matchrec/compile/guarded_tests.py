"""Guard the tests of a condition, so that each can be computed for every row by itself.

Coverage counts the first false test of a condition. So it computes every test, even a test that a
query computes only if the tests before it hold:

    z <> 0 AND x / z > 2    →    z <> 0, and CASE WHEN z <> 0 THEN x / z > 2 ELSE TRUE END
"""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.conditions.residual import NO_SPAN, CombinedStep, NearbyTest, Step, read_current_row
from matchrec.conditions.row_column import ALWAYS_TRUE, RowColumn, build_guarded_test, join_columns
from matchrec.conditions.split import join_steps

# A conjunct of a condition that does not depend on the run, computed by Spark or by the worker.
RowTest = RowColumn | NearbyTest


def guard_tests(tests: Sequence[RowTest]) -> Sequence[RowTest]:
    """Return tests that can be computed for every row without an error, one by one.

    In `z <> 0 AND x / z > 2`, the second test can raise if it is computed for every row. It becomes
    `CASE WHEN z <> 0 THEN x / z > 2 ELSE TRUE END`: it is computed only if all tests before it
    hold, and is true otherwise, so that the first false test is counted.
    """
    guarded_tests: list[RowTest] = []
    for test in tests:
        needs_guard = bool(guarded_tests) and to_column(test).can_fail
        guarded_tests.append(guard_test(guarded_tests, test) if needs_guard else test)
    return guarded_tests


def guard_test(earlier_tests: Sequence[RowTest], test: RowTest) -> RowTest:
    """Return a test that is computed only if the earlier tests hold, and is true otherwise.

    Two types of tests do not become guards:

    - Tests that the worker computes do not guard a test of Spark, because Spark does not have them.
    - Tests of several rows do not guard a test of one row, which would then need sorted rows.
    """
    if isinstance(test, RowColumn):
        guards = tuple(
            earlier
            for earlier in earlier_tests
            if isinstance(earlier, RowColumn) and (earlier.reads_one_row or not test.reads_one_row)
        )
        return build_guarded_test(join_columns(guards), test) if guards else test
    guard = join_columns(tuple(to_column(earlier) for earlier in earlier_tests))
    guard_step = join_steps([to_step(earlier) for earlier in earlier_tests], NO_SPAN)
    step = CombinedStep("IF", (guard_step, test.step, to_step(ALWAYS_TRUE)), NO_SPAN)
    return NearbyTest(build_guarded_test(guard, test.column), step)


def to_step(test: RowTest) -> Step:
    """Return a test as the worker would compute it."""
    return test.step if isinstance(test, NearbyTest) else read_current_row(test, NO_SPAN)


def to_column(test: RowTest) -> RowColumn:
    """Return a test as Spark would compute it."""
    return test.column if isinstance(test, NearbyTest) else test
