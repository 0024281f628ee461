"""Compile the rules of a request to compiled queries: see `compile_request`.

A clause, a rule set, coverage and the trace of a search are all compiled here. A `MatchRequest` has
what the compiler must know of the input and of the session. `compile_rules` lists the steps. Each
step is a function that handles all rules. For each rule, it calls the package `matchrec.compile`,
which needs no session. An error about one rule of several names the rule.

`sorter_choice` has the step that chooses who sorts, and `compiled_rules` the last step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql.types import StructField

from matchrec.compile.compiled_query import SorterChoice, SorterKind
from matchrec.compile.joined_queries import JoinedQueries, join_query
from matchrec.compile.resolved_query import ResolvedQuery, resolve_query
from matchrec.compile.rule_set import join_rule_queries
from matchrec.compile.split_query import SplitQuery, split_query
from matchrec.compile.typed_conditions import type_conditions
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import Family
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.plan.match_plan import MatchPlan
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.compiled_rules import (
    CompiledRule,
    CompiledRules,
    TypedRule,
    build_compiled_rules,
)
from matchrec.spark.kept_results import ResultSlot, open_slot
from matchrec.spark.preparations.preparation import KnownFields, Preparation
from matchrec.spark.preparations.spark_sorts import SortedPreparation
from matchrec.spark.preparations.workers_sort import WorkerSortedPreparation
from matchrec.spark.request import MatchRequest, Purpose, Rule
from matchrec.spark.session_errors import QUERY_ERRORS
from matchrec.spark.sorter_choice import choose_sorter, choose_spark_for_neighbours, propose_sorter
from matchrec.spark.types import to_value_type


@dataclass(frozen=True)
class KeptClause:
    """The parts of a compiled clause that later queries with the same text use again."""

    joined: JoinedQueries
    sorter: SorterChoice
    # See `CompiledRules`.
    fields: KnownFields
    # The value of `Relation.analysed_fields` after the clause was compiled.
    analysed_fields: Mapping[str, StructField]
    compiled_rule: CompiledRule


def compile_request(request: MatchRequest) -> CompiledRules:
    """Compile the rules of a request, or reuse the compiled clause of an equal request.

    Runs no job, except for constants that are lengths of windows: see `window_lengths`.

    Args:
        request: the rules, their input, their options and their purpose.

    Raises:
        MatchRecognizeError: a rule is wrong or not supported, or the workers must sort and cannot.
    """
    if not can_be_kept(request):
        return compile_rules(request)
    (rule,) = request.rules
    slot: ResultSlot[KeptClause] = open_slot(
        "compiled", rule.plan, request.relation, request.columns, request.options, request.use
    )
    kept_clause = slot.find()
    if kept_clause is not None:
        reused = reuse_clause(request, kept_clause)
        if reused is not None:
            return reused
    compiled = compile_rules(request)
    preparation = compiled.preparation
    assert preparation.sorter is not None, "the rows are not a stream"
    (compiled_rule,) = compiled.rules
    slot.keep(
        KeptClause(
            joined=preparation.joined,
            sorter=preparation.sorter,
            fields=compiled.fields,
            analysed_fields=dict(request.relation.analysed_fields),
            compiled_rule=compiled_rule,
        )
    )
    return compiled


def reuse_clause(request: MatchRequest, kept_clause: KeptClause) -> CompiledRules | None:
    """Return a kept clause as the compiled rules of a request for the same plan.

    Returns None if a column has another type by now. The session analyses the columns again, unless
    the input decides all of their types.

    Args:
        request: the request, with the current input and values of parameters.
        kept_clause: the clause that was compiled for an earlier request with the same plan.

    Raises:
        MatchRecognizeError: the session rejects the text of the clause.
    """
    relation = request.relation
    for text, field in kept_clause.analysed_fields.items():
        if relation.has_fixed_type(text):
            relation.analysed_fields[text] = field
    preparation = build_preparation(request, kept_clause.joined, kept_clause.sorter)
    if analyse_columns(request, preparation) != kept_clause.fields:
        return None
    return CompiledRules(
        request=request,
        preparation=preparation,
        fields=kept_clause.fields,
        rules=(kept_clause.compiled_rule,),
    )


def can_be_kept(request: MatchRequest) -> bool:
    """Return whether the compiled rules of a request can be used for an equal request.

    The compiled clause of a query over a table or a DataFrame can be used again, with two
    exceptions:

    - A constant is the length of a window. The session computes it when the clause is compiled, and
      it can be a parameter, whose value must not be kept.
    - The options have counters. They are an object of the user, which must not live as long as the
      session.
    """
    if request.is_rule_set or request.is_stream or request.purpose is not Purpose.RESULT:
        return False
    (rule,) = request.rules
    has_constants = rule.plan.frame_length is not None or rule.plan.constant_lengths
    return not has_constants and request.options.counters is None


def compile_rules(request: MatchRequest) -> CompiledRules:
    """Compile the rules of a request, in these steps:

    1. `resolve_rules` resolves names, compiles row patterns, and drops output columns that nobody
       uses.
    2. `propose_sorter` chooses who sorts the rows, with the reason. For a trace and for rows that
       are sent as pandas data, Spark sorts. Otherwise the workers are proposed.
    3. `split_rules` splits each condition into the parts of Spark, the workers and the search,
       finds the rows that no rule needs, and joins what Spark computes for all rules.
    4. If the workers are proposed, `choose_sorter` can choose Spark instead: by the form of the
       split conditions, by an option, or by a type.
    5. `build_preparation` writes the query that computes the rows in Spark.
    6. `analyse_columns` lets the session analyse all columns at once, to know their types.
    7. `type_rules` types the conditions that Spark does not compute. If the workers cannot compute
       one of them, Spark must sort.
    8. `build_compiled_rules` lists the columns that are sent, chooses the strategy of each search
       with the reason, and returns the compiled rules.

    If Spark must compute the conditions on neighbouring rows, `compile_for_spark` takes steps 3 and
    5 to 8 for Spark, even if they were taken for the workers before. `compile_stream` takes the
    steps for a stream, where nobody sorts.

    Runs the jobs of `compile_request`.

    Args:
        request: the rules, their input, their options and their purpose.

    Raises:
        MatchRecognizeError: a rule is wrong or not supported, or the workers must sort and cannot.
    """
    if request.is_stream:
        return compile_stream(request)
    resolved_queries = resolve_rules(request)
    proposed_sorter = propose_sorter(request)
    if proposed_sorter.kind is SorterKind.SPARK_SORTS_AND_READS:
        return compile_for_spark(request, resolved_queries, proposed_sorter)
    joined = split_rules(request, resolved_queries, proposed_sorter.kind)
    sorter = choose_sorter(request, joined)
    if sorter.kind is SorterKind.SPARK_SORTS_AND_READS:
        return compile_for_spark(request, resolved_queries, sorter)
    preparation = build_preparation(request, joined, sorter)
    fields = analyse_columns(request, preparation)
    try:
        typed_rules = type_rules(request, joined, fields)
    except MatchRecognizeUnsupportedError as error:
        # `type_rules` raises this error at the operation that the workers cannot compute. The query
        # still runs if the request allows that Spark computes the condition.
        if request.workers_must_sort and not request.has_timed_rules:
            raise  # for timed rules, `choose_spark` raises a better error
        reason = error.message
    else:
        return build_compiled_rules(request, preparation, fields, typed_rules)
    spark_sorter = choose_spark_for_neighbours(request, reason)
    return compile_for_spark(request, resolved_queries, spark_sorter)


def compile_for_spark(
    request: MatchRequest, resolved_queries: Sequence[ResolvedQuery], sorter: SorterChoice
) -> CompiledRules:
    """Compile rules for which Spark sorts the rows and computes conditions on neighbouring rows.

    Args:
        request: the rules.
        resolved_queries: the rules with their names resolved.
        sorter: Spark as the sorter, with the reason.

    Raises as `compile_rules`.
    """
    joined = split_rules(request, resolved_queries, sorter.kind)
    preparation = build_preparation(request, joined, sorter)
    fields = analyse_columns(request, preparation)
    typed_rules = type_rules(request, joined, fields)
    return build_compiled_rules(request, preparation, fields, typed_rules)


def compile_stream(request: MatchRequest) -> CompiledRules:
    """Compile the rules of a request over a stream, and check that a stream supports them.

    Each check of `streaming.stream_checks` follows the first step whose result it needs.

    Raises as `compile_request`.
    """
    from matchrec.spark.streaming import stream_checks
    from matchrec.spark.streaming.event_preparation import EventPreparation

    stream_checks.check_request(request)
    joined = split_rules(request, resolve_rules(request), SorterKind.STREAM)
    stream_checks.check_split_queries(request, joined.queries)
    preparation = EventPreparation(request.relation, joined)
    fields = analyse_columns(request, preparation)
    preparation.check_watermark()
    typed_rules = type_rules(request, joined, fields)
    compiled = build_compiled_rules(request, preparation, fields, typed_rules)
    for compiled_rule in compiled.rules:
        with request.locate_rule_errors(compiled_rule.rule):
            stream_checks.check_compiled_query(compiled_rule.compiled_query)
    return compiled


# Resolve.


def resolve_rules(request: MatchRequest) -> tuple[ResolvedQuery, ...]:
    """Return the rules with their names resolved and their row patterns compiled.

    Raises:
        MatchRecognizeError: a rule is wrong, whatever the types of its columns are.
    """
    queries = []
    for rule in request.rules:
        with request.locate_rule_errors(rule):
            request.check_plan(rule.plan)
            query = resolve_query(
                rule.plan,
                request.columns,
                request.relation.find_name,
                request.find_order_type,
                request.use,
            )
        queries.append(query)
    return tuple(queries)


# Split conditions.


def find_scope(kind: SorterKind, query: ResolvedQuery) -> RowScope:
    """Return who reads neighbouring rows for the conditions of a rule.

    Args:
        kind: who sorts and who reads neighbouring rows.
        query: the rule.
    """
    match kind:
        case SorterKind.SPARK_SORTS_AND_READS:
            return RowScope.SPARK
        case SorterKind.STREAM:
            # The search reads neighbouring rows if matches are contiguous. With event selection
            # nobody can read them: `compile_stream` rejects the columns of several rows that
            # RowScope.SPARK leads to.
            return RowScope.SPARK if query.plan.needs_event_selection else RowScope.SEARCH
        case SorterKind.WORKERS | SorterKind.SPARK_SORTS:
            return RowScope.WORKER if current_shortcuts().neighbours else RowScope.SEARCH


def split_rules(
    request: MatchRequest, resolved_queries: Sequence[ResolvedQuery], kind: SorterKind
) -> JoinedQueries:
    """Split the conditions of all rules, and join what Spark computes for them.

    Args:
        request: the rules.
        resolved_queries: the rules with their names resolved, in the same order.
        kind: who sorts and who reads neighbouring rows.

    Raises:
        MatchRecognizeError: a rule is wrong, whatever the types of its columns are.
    """
    queries = []
    for rule, resolved_query in zip(request.rules, resolved_queries, strict=True):
        with request.locate_rule_errors(rule):
            scope = find_scope(kind, resolved_query)
            queries.append(split_rule(request, rule, resolved_query, scope))
    return join_rules(request, queries)


def split_rule(
    request: MatchRequest, rule: Rule, resolved_query: ResolvedQuery, scope: RowScope
) -> SplitQuery:
    """Split the conditions of a rule, for the purpose of the request.

    Args:
        request: the rules.
        rule: the rule.
        resolved_query: the rule with its names resolved.
        scope: who reads neighbouring rows.

    Raises:
        MatchRecognizeError: the rule is wrong, whatever the types of its columns are.
    """
    query = split_query(resolved_query, scope)
    if needs_all_rows(request, query, rule):
        query = replace(query, row_filters=())
    if request.purpose is Purpose.COVERAGE:
        from matchrec.compile.coverage import build_coverage_query

        return build_coverage_query(query)
    return query


def join_rules(request: MatchRequest, queries: Sequence[SplitQuery]) -> JoinedQueries:
    """Return what Spark computes for the split queries of all rules together."""
    if request.event_columns is not None:
        return join_rule_queries(queries, request.event_columns)
    (query,) = queries
    joined = join_query(query)
    if request.purpose is Purpose.TRACE:
        return replace(joined, row_filters=())  # a trace shows all rows of the partition
    return joined


def needs_all_rows(request: MatchRequest, query: SplitQuery, rule: Rule) -> bool:
    """Return whether all rows must be sent, even those that no match needs.

    There are two cases:

    - The input is a stream: every event moves the watermark.
    - The filter of rows could raise an error, because the engine evaluates all operands of an AND.
      Spark does not evaluate an operand on rows for which an earlier operand is false.
    """
    if request.is_stream:
        return True
    return query.can_raise_before_match and request.backend.has_eager_operands(rule.plan)


# Prepare the rows, and let the session analyse them.


def build_preparation(
    request: MatchRequest, joined: JoinedQueries, sorter: SorterChoice
) -> Preparation:
    """Return the preparation of the rows of a request: see `spark.preparations`."""
    key_filters = find_key_filters(request, joined.queries[0].plan)
    if sorter.is_worker:
        watches_ties = request.purpose is Purpose.RESULT
        return WorkerSortedPreparation(
            request.relation, joined, key_filters, sorter, watches_ties=watches_ties
        )
    return SortedPreparation(request.relation, joined, key_filters, sorter)


def find_key_filters(request: MatchRequest, plan: MatchPlan) -> tuple[str, ...]:
    """Return the tests of partition columns, as SQL, with which the query filters the result.

    Input rows that fail a test need not be sent. Tests of floating-point columns are left out,
    because rows of one partition can have different NaNs: some engines order one NaN before all
    numbers and another NaN after them.
    """
    if not request.use.column_tests or not current_shortcuts().partition_filters:
        return ()
    columns = request.columns
    filters = []
    for column_test in request.use.column_tests:
        for key in plan.partition_by:
            column = columns.find_by_text(key.text)
            if column is None:
                continue  # the key is an expression
            if not columns.are_same(key.output_name or column, column_test.column):
                continue
            key_type = to_value_type(request.relation.find_type(key.text))
            if key_type.family is not Family.FLOATING:
                filters.append(f"{key.text} {column_test.comparison}")
    return tuple(filters)


def analyse_columns(request: MatchRequest, preparation: Preparation) -> KnownFields:
    """Let the session analyse all columns of the rules at once, and return their fields.

    Raises:
        MatchRecognizeError: Spark rejects the text of a rule, which the error names.
    """
    try:
        return preparation.analyse_columns()
    except QUERY_ERRORS:
        # Analyse each rule by itself, so that the error names the wrong rule.
        for rule, query in zip(request.rules, preparation.joined.queries, strict=True):
            with request.locate_rule_errors(rule):
                preparation_of_rule = replace(preparation, joined=join_query(query), key_filters=())
                request.runner.analyse(preparation_of_rule.build_rows(query.columns))
        raise


# Type the parts of conditions.


def type_rules(
    request: MatchRequest, joined: JoinedQueries, fields: KnownFields
) -> tuple[TypedRule, ...]:
    """Type the conditions of all rules, and return the rules in the order of the request.

    Args:
        request: the rules.
        joined: the rules, with their conditions split.
        fields: the fields of the columns of the rules.

    Raises:
        MatchRecognizePlanError: a condition is not boolean.
        MatchRecognizeUnsupportedError: a condition is not supported for its types.
    """
    types = {column: to_value_type(field.dataType) for column, field in fields.items()}
    typed_rules = []
    for rule, query in zip(request.rules, joined.queries, strict=True):
        with request.locate_rule_errors(rule):
            conditions = type_conditions(
                query, types, joined, ansi=request.ansi, session=request.settings
            )
        typed_rules.append(TypedRule(rule, query, conditions))
    return tuple(typed_rules)
