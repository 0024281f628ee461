"""Choose who sorts the rows of each partition: the workers or Spark.

Most of the time of a query is spent on sending the rows to the workers, and most of the rest on
sorting them, if Spark sorts. A worker sorts faster, because it sorts in compiled code and Spark
computes no window. It then also computes the conditions that read neighbouring rows. The workers
sort if both of these are true:

- The workers can sort and compare the values of all keys and of ORDER BY exactly as Spark does. If
  not, Spark sorts.
- The workers can compute every value of several rows that the rules need. If only Spark can
  compute one of them, Spark sorts, and computes all values of neighbouring rows over the window by
  which it sorts.
"""

from __future__ import annotations

from matchrec.compile.compiled_query import WORKERS_SORT, SorterChoice, SorterKind
from matchrec.compile.joined_queries import JoinedQueries
from matchrec.errors.calls import rule_versions_need_workers, worker_cannot_sort_rows
from matchrec.spark.request import MatchRequest, Purpose
from matchrec.spark.types import can_workers_sort


def propose_sorter(request: MatchRequest) -> SorterChoice:
    """Choose who sorts, before conditions are split.

    If the result is the workers, they are only proposed: later steps can still choose Spark. See
    `spark.compile.compile_rules`.

    Raises:
        MatchRecognizeError: the workers must sort and cannot.
    """
    if request.purpose is Purpose.TRACE:
        # The partition is collected, so no worker sees it.
        return SorterChoice(SorterKind.SPARK_SORTS_AND_READS, "the rows of one partition are shown")
    if request.sends_pandas:
        # Pandas would alter some columns that only conditions on neighbouring rows read.
        reason = "only the engine can sort rows that are sent as pandas data"
        return choose_spark_for_neighbours(request, reason)
    return WORKERS_SORT


def choose_sorter(request: MatchRequest, joined: JoinedQueries) -> SorterChoice:
    """Choose who sorts the rows, if the workers are proposed.

    The choice depends on the form of the conditions, the options, and the types of keys and order.

    Args:
        request: the rules and their relation.
        joined: the rules, split for the workers.

    Raises:
        MatchRecognizeError: the workers must sort and cannot.
    """
    for query in joined.queries:
        reason = query.reason_for_spark_sort
        if reason is not None:
            return choose_spark_for_neighbours(request, reason)
    if request.engine_must_sort:
        return choose_spark(request, "the option sort is engine")
    sorted_by = [expression.text for expression in joined.sorted_by]
    for text, sort_field in zip(sorted_by, request.relation.find_fields(sorted_by), strict=True):
        if not can_workers_sort(sort_field.dataType):
            type_name = sort_field.dataType.simpleString()
            reason = f"only the engine can sort by {text}, which is {type_name}"
            return choose_spark(request, reason)
    return WORKERS_SORT


def choose_spark(
    request: MatchRequest, reason: str, kind: SorterKind = SorterKind.SPARK_SORTS
) -> SorterChoice:
    """Return Spark as the sorter of the rows, unless the workers must sort.

    Args:
        request: the rules.
        reason: the reason why Spark sorts.
        kind: SPARK_SORTS, or SPARK_SORTS_AND_READS if Spark reads neighbouring rows, too.

    Raises:
        MatchRecognizeUnsupportedError: the workers must sort, because the user asked for it or
            because rules are valid for some time only.
    """
    if request.has_timed_rules:
        raise rule_versions_need_workers(reason=reason, user_chose_engine=request.engine_must_sort)
    if request.workers_must_sort:
        raise worker_cannot_sort_rows(reason=reason)
    return SorterChoice(kind, reason)


def choose_spark_for_neighbours(request: MatchRequest, reason: str) -> SorterChoice:
    """Return Spark as the sorter that also computes conditions on neighbouring rows.

    Raises as `choose_spark`.
    """
    return choose_spark(request, reason, SorterKind.SPARK_SORTS_AND_READS)
