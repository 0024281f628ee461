"""What prepares the rows of a rule set, and who sorts them: the workers, or else Spark."""

from __future__ import annotations

from matchrec.compile.rule_set import SharedDrafts
from matchrec.spark.before.columns import Preparation
from matchrec.spark.before.unsorted import Unsorted
from matchrec.spark.prepare import Execution, check_workers_can_sort


def prepare_unsorted(shared: SharedDrafts, execution: Execution) -> Preparation:
    """What computes columns and bits of all rules, of rows that the workers sort.

    execution: of what the rules share. Raises MatchRecognizeUnsupportedError as for one query.
    """
    check_workers_can_sort(execution, shared.plan, shared.needs_spark)
    return Unsorted(execution.relation, shared.plan, kept_rows(shared))


def prepare_sorted(shared: SharedDrafts, execution: Execution, reason: str) -> Preparation:
    """The same, of rows that Spark sorts. reason: why."""
    return Preparation(execution.relation, shared.plan, kept_rows(shared), reason=reason)


def kept_rows(shared: SharedDrafts) -> tuple[str, ...]:
    """The test of rows that some rule needs, if not all are."""
    tests = tuple(one.text for one in shared.relevant)
    return (f"(({') OR ('.join(tests)}))",) if tests else ()
