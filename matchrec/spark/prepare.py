"""Prepare the rows of a question: split its conditions, choose who sorts the rows, and type both.

Besides sending the rows, Spark's sort is the largest cost of a query. A worker sorts in compiled
code, so that Spark only shuffles the rows and computes no window. Whoever sorts, the workers
compute the conditions that read neighbouring rows. Two things must hold:

- The worker orders and compares values of the types of keys and order exactly as Spark does. If
  not, Spark sorts.
- No value of several rows is needed that only Spark can compute. If one is, Spark sorts, and
  computes all values of neighbouring rows over the window by which it sorts.

`choose_sorter` decides by the options, the form of the conditions and the types of keys and order.
Only the types of the parts of conditions, which Spark has to be asked for, can overrule it: if the
workers cannot compute a condition, `prepare` lets Spark compute it. All of this happens before
anything is linked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField

from matchrec.compile.compiled_query import WORKERS_SORT, CompiledQuery, Sorter
from matchrec.compile.path import (
    Draft,
    DraftedRules,
    ResolvedQuery,
    TypedConditions,
    link_draft,
    number_bits,
    type_conditions,
)
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import Family, ValueType
from matchrec.conditions.typing.typer import DEFAULT_SETTINGS
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors.calls import rule_versions_need_workers, worker_cannot_sort_rows
from matchrec.errors.machine import streams_not_supported
from matchrec.output.read_collector import may_accumulate
from matchrec.plan.expression import Aggregate
from matchrec.plan.match_plan import MatchPlan
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.columns import Preparation, SortedPreparation, UnsortedPreparation
from matchrec.spark.question import Question
from matchrec.spark.session import QUERY_ERRORS
from matchrec.spark.ties import watch_ties
from matchrec.spark.transport import SentRows
from matchrec.spark.types import sorts_exactly, to_value_type

# The drafts of a question: a Draft, a CoverageDraft or SharedDrafts.
DraftsT = TypeVar("DraftsT", bound=DraftedRules)


@dataclass(frozen=True)
class PreparedInput(Generic[DraftsT]):
    """A question, and the query in Spark that computes and sends its rows."""

    question: Question
    # The drafts of the rules; the `Draft` itself if the question is a single query.
    drafts: DraftsT
    # Computes the columns and bits of `drafts.joint_draft` in Spark.
    preparation: Preparation
    # The fields of the columns that Spark has analysed, in their order: `drafts.columns()`, before
    # outputs were dropped that nobody uses.
    fields: Mapping[RowColumn, StructField]
    # The rows with these columns first; None if other rows were prepared since.
    rows: DataFrame | None
    # The typed conditions of each rule, in the order of the rules.
    typed_conditions: tuple[TypedConditions, ...]

    @property
    def types(self) -> Mapping[RowColumn, ValueType]:
        """Return the types of the columns of the drafts, which all rules share."""
        return self.typed_conditions[0].types

    def link(self, number: int = 0, shared_columns: tuple[RowColumn, ...] = ()) -> CompiledQuery:
        """Return the compiled query of one rule.

        Args:
            number: the index of the rule.
            shared_columns: the columns that are sent for other rules, see
                `compile.path.link_draft`.

        Raises:
            MatchRecognizeError: the options or a stream do not allow this rule.
        """
        options = self.question.options
        draft = self.drafts.rule_drafts[number]
        conditions = self.typed_conditions[number]
        compiled_query = link_draft(draft, conditions, options.algorithm, shared_columns)
        if self.question.is_stream:
            from matchrec.spark.streaming.prepare import check_compiled_query

            check_compiled_query(compiled_query)
        if options.max_steps is not None:
            compiled_query = compiled_query.limit(options.max_steps)
        return compiled_query

    def send(self, columns: tuple[RowColumn, ...]) -> SentRows:
        """Return the rows with these columns, as workers will get them. Nothing is sent yet.

        If the engine's error would not name the expression that failed, the rows get a token, by
        which `errors.second_look` finds it after a failure.

        Raises as `Preparation.send`.
        """
        # The rows that were analysed have the analysed columns, which are often the sent ones.
        rows = self.rows if columns == tuple(self.fields) else None
        sent_rows = self.preparation.send(columns, self.fields, rows)
        relation = self.question.relation
        token = self.question.backend.watch_rows(sent_rows.rows, relation, self.drafts.rule_drafts)
        return replace(sent_rows, task_input=replace(sent_rows.task_input, token=token))

    def send_watched(self, columns: tuple[RowColumn, ...]) -> SentRows:
        """Return the rows as `send` does, and let the workers that sort them count ties.

        Raises as `Preparation.send`.
        """
        sent_rows = self.send(columns)
        sorting = sent_rows.task_input.sorting
        if self.question.is_stream or sorting is None:
            return sent_rows
        watch = watch_ties(self.question.runner.spark, self.preparation.plan, sorting)
        task_input = replace(sent_rows.task_input, sorting=replace(sorting, watch=watch))
        return replace(sent_rows, task_input=task_input)


def draft_rules(question: Question) -> tuple[Draft, ...]:
    """Return the drafts of the rules, for whoever is expected to read neighbouring rows.

    This resolves the rules (`Question.resolved_rules`), and splits their conditions. `prepare`
    splits the conditions of the same resolved rules again if it turns out that Spark must read
    these rows.

    Raises:
        MatchRecognizeError: a rule is wrong whatever the types of its columns are, or cannot run
            over a stream, or the session has no watermarks.
    """
    if question.is_stream:
        from matchrec.spark.streaming.prepare import check_options, check_plan

        if not question.backend.has_watermarks:
            raise streams_not_supported()
        check_options(question.options)
        for rule in question.rules:
            with rule.name_in_errors():
                check_plan(rule.plan)
    scopes = [expect_scope(question, query) for query in question.resolved_rules]
    return split_rules(question, scopes)


def expect_scope(question: Question, query: ResolvedQuery) -> RowScope:
    """Return who can be expected to read neighbouring rows for the conditions of a rule."""
    if not question.is_stream:
        return RowScope.WORKER if current_shortcuts().neighbours else RowScope.SEARCH
    # If matches are contiguous, the search reads the neighbouring rows. With event selection nobody
    # can: `streaming.prepare.check_one_row` rejects the columns of several rows that SPARK makes.
    return RowScope.SPARK if query.plan.selects else RowScope.SEARCH


def split_rules(question: Question, scopes: Sequence[RowScope]) -> tuple[Draft, ...]:
    """Return the drafts of the rules, given who reads neighbouring rows for each of them.

    Raises:
        MatchRecognizeError: a rule is wrong, whatever the types of its columns are.
    """
    return tuple(
        question.split_rule(rule, query, scope)
        for rule, query, scope in zip(question.rules, question.resolved_rules, scopes, strict=True)
    )


def prepare(question: Question, drafts: DraftsT) -> PreparedInput[DraftsT]:
    """Prepare the rows of a question, and decide who sorts them.

    Args:
        question: the rules and their relation.
        drafts: the drafts of the rules, from `draft_rules`, or what was made of them.

    Raises:
        MatchRecognizeError: a rule is wrong, or the workers must sort and cannot.
    """
    if question.is_stream:  # nobody sorts its events: they arrive in the order of their time
        from matchrec.spark.streaming.prepare import EventPreparation

        events = EventPreparation(question.relation, drafts.joint_draft)
        return analyse_and_type(question, drafts, events)
    sorter = choose_sorter(question, drafts)
    if not sorter.spark_reads_neighbours:
        preparation = build_preparation(question, drafts, sorter)
        fields, rows = analyse_columns(question, drafts, preparation)
        try:
            conditions = type_rules(question, drafts, fields)
        except MatchRecognizeUnsupportedError as error:
            # With versions of rules, Spark may not sort either, and `choose_spark` says so.
            if question.workers_must_sort and not question.has_versions:
                raise
            reason = error.message  # why the workers cannot compute a condition
        else:
            check_types(question, drafts)
            return PreparedInput(question, drafts, preparation, fields, rows, conditions)
        sorter = choose_spark_for_neighbours(question, reason)
    return prepare_for_spark(question, drafts, sorter)


def prepare_for_spark(
    question: Question, drafts: DraftsT, sorter: Sorter
) -> PreparedInput[DraftsT]:
    """Prepare the rows of a question for Spark to sort and to read neighbouring rows.

    Args:
        question: the rules and their relation.
        drafts: the drafts of the rules, whose conditions were split for the workers.
        sorter: the choice of Spark.

    Raises:
        MatchRecognizeError: Spark rejects the text of a rule, or the types are not supported.
    """
    by_spark = [RowScope.SPARK] * len(question.rules)
    drafts = drafts.with_rule_drafts(split_rules(question, by_spark))
    return analyse_and_type(question, drafts, build_preparation(question, drafts, sorter))


def analyse_and_type(
    question: Question, drafts: DraftsT, preparation: Preparation
) -> PreparedInput[DraftsT]:
    """Return the prepared rows of a question once it is known who sorts them.

    Raises:
        MatchRecognizeError: Spark rejects the text of a rule, or the types are not supported.
    """
    fields, rows = analyse_columns(question, drafts, preparation)
    conditions = type_rules(question, drafts, fields)
    check_types(question, drafts)
    return PreparedInput(question, drafts, preparation, fields, rows, conditions)


# Who sorts the rows of each partition.


def choose_sorter(question: Question, drafts: DraftedRules) -> Sorter:
    """Choose who sorts the rows, and who computes conditions that read neighbouring rows.

    Args:
        question: the rules and their relation, which is no stream.
        drafts: the drafts of the rules, for workers that compute these conditions.

    Raises:
        MatchRecognizeError: the workers must sort and cannot.
    """
    if question.sends_pandas:
        # Pandas would alter some columns that only conditions on neighbouring rows read.
        by_pandas = "only the engine can sort rows that are sent as pandas data"
        return choose_spark_for_neighbours(question, by_pandas)
    for draft in drafts.rule_drafts:
        reason = draft.reason_for_spark_sort
        if reason is not None:
            return choose_spark_for_neighbours(question, reason)
    if question.engine_must_sort:
        return choose_spark(question, "the option sort is engine")
    sorted_by = [expression.text for expression in drafts.joint_draft.plan.sorted_by]
    for text, sort_field in zip(sorted_by, question.relation.find_fields(sorted_by), strict=True):
        if not sorts_exactly(sort_field.dataType):
            type_name = sort_field.dataType.simpleString()
            reason = f"only the engine can sort by {text}, which is {type_name}"
            return choose_spark(question, reason)
    return WORKERS_SORT


def choose_spark(question: Question, reason: str) -> Sorter:
    """Choose Spark to sort the rows, for a reason.

    Raises:
        MatchRecognizeUnsupportedError: the workers must sort, because the user asked for it or
            because rules are valid for some time only.
    """
    if question.has_versions:
        raise rule_versions_need_workers(reason=reason)
    if question.workers_must_sort:
        raise worker_cannot_sort_rows(reason=reason)
    return Sorter(is_worker=False, reason=reason)


def choose_spark_for_neighbours(question: Question, reason: str) -> Sorter:
    """Choose Spark to sort the rows and to compute conditions that read neighbouring rows.

    Raises as `choose_spark`.
    """
    return replace(choose_spark(question, reason), spark_reads_neighbours=True)


# The steps of every preparation.


def build_preparation(question: Question, drafts: DraftedRules, sorter: Sorter) -> Preparation:
    """Return the preparation of the rows in Spark, which the workers or Spark then sort."""
    preparation_class = UnsortedPreparation if sorter.is_worker else SortedPreparation
    return preparation_class(
        relation=question.relation,
        draft=drafts.joint_draft,
        key_filters=find_key_filters(drafts.joint_draft.plan, question),
        sorter=sorter,
    )


def find_key_filters(plan: MatchPlan, question: Question) -> tuple[str, ...]:
    """Return tests on partition columns, as SQL, that the query makes on the result anyway.

    Input rows that fail them need not be sent. Floating-point columns have no tests, because rows
    of one partition may have different NaNs: some sessions order one NaN before all numbers, and
    another one after them.
    """
    if not question.use.keys or not current_shortcuts().partition_filters:
        return ()
    columns = question.columns
    filters = []
    for key_test in question.use.keys:
        for key in plan.partition_by:
            column = columns.find_by_text(key.text)
            if column is None or not columns.are_same(key.name or column, key_test.column):
                continue
            key_type = to_value_type(question.relation.find_type(key.text))
            if key_type.family is not Family.FLOATING:
                filters.append(f"{key.text} {key_test.test}")
    return tuple(filters)


def analyse_columns(
    question: Question, drafts: DraftedRules, preparation: Preparation
) -> tuple[Mapping[RowColumn, StructField], DataFrame]:
    """Let Spark analyse the rows with all columns of the drafts, once for all rules.

    Returns:
        The fields of the columns, and the rows with these columns first.

    Raises:
        MatchRecognizeError: Spark rejects the text of a rule, which the error names.
    """
    columns = drafts.columns()
    try:
        query = preparation.build_query(columns)
        rows = preparation.run_query(query, columns)
        row_fields = preparation.infer_fields(columns)
        if row_fields is None:
            question.runner.analyse(rows, query)
            row_fields = question.runner.find_fields(rows, str(columns))
        fields = preparation.map_fields(row_fields, columns)
    except QUERY_ERRORS:
        # Analyse each rule by itself to find the one that is wrong.
        for rule, draft in zip(question.rules, drafts.rule_drafts, strict=True):
            with question.locate_rule_errors(rule):
                single = replace(preparation, draft=draft, key_filters=())
                question.runner.analyse(single.dataframe(draft.columns()))
        raise
    return fields, rows


def type_rules(
    question: Question, drafts: DraftedRules, fields: Mapping[RowColumn, StructField]
) -> tuple[TypedConditions, ...]:
    """Type the conditions of all rules.

    Args:
        question: the rules and their relation.
        drafts: the drafts of the rules.
        fields: the fields of `drafts.columns()`.

    Raises:
        MatchRecognizePlanError: a condition is not boolean.
        MatchRecognizeUnsupportedError: a condition is not supported for its types.
    """
    types = {column: to_value_type(field.dataType) for column, field in fields.items()}
    bits = number_bits(drafts)
    conditions = []
    for rule, draft in zip(question.rules, drafts.rule_drafts, strict=True):
        settings = question.settings if depends_on_settings(draft) else DEFAULT_SETTINGS
        with question.locate_rule_errors(rule):
            conditions.append(
                type_conditions(draft, types, bits, ansi=question.ansi, session=settings)
            )
    return tuple(conditions)


def check_types(question: Question, drafts: DraftedRules) -> None:
    """Check types that the engine accepts and Spark does not.

    Raises:
        MatchRecognizeError: a rule has such a type.
    """
    for rule, draft in zip(question.rules, drafts.rule_drafts, strict=True):
        with question.locate_rule_errors(rule):
            question.backend.check_types(draft.written_plan, question.relation)


def depends_on_settings(draft: Draft) -> bool:
    """Return whether the workers compute anything that depends on settings of the session.

    Other queries do not read the settings, because that takes a call to the session.
    """
    for condition in draft.conditions:
        if condition.run_step is not None or condition.nearby_test is not None:
            return True
    return any(
        isinstance(reference, Aggregate) and may_accumulate(draft.plan, reference)
        for measure in draft.plan.measures
        for reference in measure.value.references
    )
