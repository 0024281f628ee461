"""Rules over a relation → a DataFrame of the rows of all of them, and what explains it.

As with one query (`spark.execute`) everything is built at once and no job runs. Spark is asked for
all rules together; only where it refuses is each tried by itself, to find the one that is to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from pyspark.sql import types as spark_types

from matchrec.compile.draft import Draft
from matchrec.compile.executable import Executable
from matchrec.compile.path import draft, link
from matchrec.compile.rule_set import (
    RuleSet,
    SharedDrafts,
    StreamedDrafts,
    further_keys,
    join_rules,
)
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.conditions.split import Scope
from matchrec.conditions.types import SPARKS_OWN, ValueType
from matchrec.conditions.within import OrderType, check_order
from matchrec.dataclass import dataclass
from matchrec.errors.run.rule_sets import not_divided_by
from matchrec.plan.match_plan import MatchPlan
from matchrec.spark.before.columns import Preparation, with_keys_once
from matchrec.spark.before.sent import Prepared, send_rows
from matchrec.spark.before.unsorted import Unsorted
from matchrec.spark.crossing import crossing_schema, decode_columns, encode_columns
from matchrec.spark.execute import check_steps, in_terms_of_the_query, is_streaming
from matchrec.spark.options import Options
from matchrec.spark.prepare import check_workers_may_sort, sorted_by_either, type_of_order
from matchrec.spark.rule_sets.asked import Asked, Input, Rule, RuleSetOptions
from matchrec.spark.rule_sets.packing import early_words, find_bits
from matchrec.spark.rule_sets.prepare import prepare_sorted, prepare_unsorted
from matchrec.spark.rule_sets.schema import Slots, find_slots, schema_of_rows
from matchrec.spark.rule_sets.streams import bits_of, check_draft, match_events
from matchrec.spark.rule_sets.worker import RuleSetWorker
from matchrec.spark.session import REFUSALS, quiet_analysis, settings_of
from matchrec.spark.streaming.execute import (
    check_executable,
    check_options,
    check_plan,
    scope_of,
)
from matchrec.spark.streaming.prepare import Events
from matchrec.spark.transport import arrow_schema, map_in_arrow, runner_in_worker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class BuiltRuleSet:
    """The rows of all rules, and what explains them.

    rules: by name. drafts: theirs. executables: of each by itself. sorts: who sorts the rows,
    empty of a stream.
    """

    rows: DataFrame
    given: Input
    rule_set: RuleSet
    slots: Slots
    rules: Mapping[str, Rule]
    drafts: Mapping[str, Draft]
    executables: Mapping[str, Executable]
    sorts: str

    @property
    def is_stream(self) -> bool:
        """Whether the rows come little by little."""
        return is_streaming(self.rows)

    def over(self, rows: DataFrame) -> BuiltRuleSet:
        """The same over rows of the workers that are elsewhere, in a session of their own."""
        relation = self.given.relation
        runner = replace(relation.runner, spark=rows.sparkSession)
        given = replace(self.given, relation=replace(relation, runner=runner))
        return replace(self, rows=rows, given=given)


def build_rule_set(rules: Sequence[Rule], given: Input, options: RuleSetOptions) -> BuiltRuleSet:
    """All rules over one input. Raises MatchRecognizeError for whatever is wrong with a rule."""
    asked = Asked(rules, given, options)
    with quiet_analysis():
        check_streams(rules[0].plan, given)
        if asked.is_stream:
            return build_over_stream(asked)
        return sorted_by_either(
            options.sort, lambda: build_unsorted(asked), lambda reason: build_sorted(asked, reason)
        )


def build_unsorted(asked: Asked) -> BuiltRuleSet:
    """The set over rows that the workers sort. Raises where they cannot."""
    check_workers_may_sort(asked.execution)
    shared = draft_rules(asked, lambda _: Scope.SORTED)
    return link_rules(asked, shared, prepare_unsorted(shared, asked.execution))


def build_sorted(asked: Asked, reason: str) -> BuiltRuleSet:
    """The set over rows that Spark sorts. reason: why."""
    shared = draft_rules(asked, lambda _: Scope.NEIGHBOURS)
    return link_rules(asked, shared, prepare_sorted(shared, asked.execution, reason))


def build_over_stream(asked: Asked) -> BuiltRuleSet:
    """All rules over a stream, in one stateful operator."""
    check_options(Options(sort=asked.options.sort))
    for rule in asked.rules:
        with rule.naming():
            check_plan(rule.plan)
    drafts = draft_rules(asked, scope_of).drafts
    for rule in asked.rules:
        with rule.naming():
            check_draft(drafts[rule.name])
    every = {name: replace(one, relevant=()) for name, one in drafts.items()}  # for the watermark
    shared = StreamedDrafts(every, asked.given.events)
    return link_over_stream(asked, shared, Events(asked.given.relation, shared.plan))


def draft_rules(asked: Asked, scope: Callable[[MatchPlan], Scope]) -> SharedDrafts:
    """The drafts of all rules. scope: what Spark can compute before the match."""
    order = cache(type_of_order(asked.given.relation))
    drafts = {rule.name: draft_rule(rule, asked, scope(rule.plan), order) for rule in asked.rules}
    return SharedDrafts(drafts, asked.given.events)


def link_rules(asked: Asked, shared: SharedDrafts, preparation: Preparation) -> BuiltRuleSet:
    """What is drafted, over rows as they are prepared."""
    prepared = prepare_columns(shared, preparation, asked.rules, asked.given)
    types = prepared.types
    executables = link_each(asked, shared, types)
    rule_set = join_rules(shared, executables, types, find_bits(shared.conditions))
    if isinstance(preparation, Unsorted):
        rule_set = rule_set.with_keys_in_all_rows()
    rows, slots = match_rules(rule_set, shared, preparation, prepared, asked.options)
    rules = {rule.name: rule for rule in asked.rules}
    sorts = preparation.sorts
    return BuiltRuleSet(
        rows, asked.given, rule_set, slots, rules, shared.drafts, executables, sorts
    )


def link_over_stream(asked: Asked, shared: SharedDrafts, events: Events) -> BuiltRuleSet:
    """What is drafted, over a stream's events."""
    types = prepare_columns(shared, events, asked.rules, asked.given).types
    executables = link_each(asked, shared, types)
    for rule in asked.rules:
        with rule.naming():
            check_executable(executables[rule.name], rule.plan)
    rule_set = join_rules(shared, executables, types, bits_of(shared))
    rows, slots = match_events(rule_set, shared, events, asked.options.on_error)
    rules = {rule.name: rule for rule in asked.rules}
    return BuiltRuleSet(rows, asked.given, rule_set, slots, rules, shared.drafts, executables, "")


def link_each(
    asked: Asked, shared: SharedDrafts, types: Mapping[RowColumn, ValueType]
) -> dict[str, Executable]:
    """The executables of all rules, each over its own columns."""
    given, options = asked.given, asked.options
    return {
        rule.name: link_rule(rule, shared.drafts[rule.name], types, given, options)
        for rule in asked.rules
    }


def check_streams(plan: MatchPlan, given: Input) -> None:
    """Raises where Spark makes no sense of what the rows are partitioned or sorted by."""
    alone = MatchPlan(plan.pattern, plan.partition_by, plan.order_by)
    with in_terms_of_the_query(alone, given.relation, given.columns):
        texts = (*plan.partition_by, *(item.expression for item in plan.order_by))
        _ = given.relation.select([one.text for one in texts]).schema


def draft_rule(rule: Rule, asked: Asked, scope: Scope, order: Callable[[str], OrderType]) -> Draft:
    """The draft of a rule. Neighbours of rows are not looked at: other rules may need the row.

    order: of the text of an order column, its type.
    """
    given = asked.given
    with rule.naming(), in_terms_of_the_query(rule.plan, given.relation, given.columns):
        check_steps(rule.plan, asked.options.max_steps)
        check_order(rule.plan)
        name_of = given.relation.name_of
        drafted = draft(rule.plan, given.columns, name_of, scope=scope, type_of_order=order)
    return replace(drafted, neighbours=())


def prepare_columns(
    shared: SharedDrafts, preparation: Preparation, rules: Sequence[Rule], given: Input
) -> Prepared:
    """All columns and words. Raises for the rule whose text Spark refuses, if there is one."""
    columns = (*shared.columns, *early_words(shared.conditions))
    try:
        prepared = Prepared(preparation.dataframe(columns, shared.draft()), columns)
        _ = prepared.fields
    except REFUSALS:
        for rule in rules:
            refuse(rule, shared.drafts[rule.name], preparation, given)
        raise
    return prepared


def refuse(rule: Rule, drafted: Draft, preparation: Preparation, given: Input) -> None:
    """Raises MatchRecognizeError where Spark makes no sense of a rule by itself."""
    kind = Events if isinstance(preparation, Events) else Preparation
    with rule.naming(), in_terms_of_the_query(rule.plan, given.relation, given.columns):
        alone = kind(given.relation, drafted.plan)
        _ = alone.dataframe(drafted.columns(), drafted).schema


def link_rule(
    rule: Rule,
    drafted: Draft,
    types: Mapping[RowColumn, ValueType],
    given: Input,
    options: RuleSetOptions,
) -> Executable:
    """The executable of one rule over its own columns."""
    runner = given.relation.runner
    with rule.naming(), in_terms_of_the_query(rule.plan, given.relation, given.columns):
        for key in further_keys(drafted.plan):
            if types[key].family in SPARKS_OWN:
                raise not_divided_by(show_column(key), types[key].name)
        ansi = runner.setting("spark.sql.ansi.enabled") == "true"
        session = settings_of(runner)
        found = link(drafted, types, options.engine, ansi=ansi, session=session)
    return found.limit(options.max_steps)


def match_rules(
    rule_set: RuleSet,
    shared: SharedDrafts,
    preparation: Preparation,
    prepared: Prepared,
    options: RuleSetOptions,
) -> tuple[DataFrame, Slots]:
    """The rows of a linked set, and the slots of what its rules read."""
    columns = (*rule_set.columns, *early_words(shared.conditions))
    drafted = shared.draft()
    sent = send_rows(preparation, drafted, prepared, columns)
    sorting = preparation.sorted_by(columns, drafted) if isinstance(preparation, Unsorted) else None
    inputs = sent.fields[: len(rule_set.columns)]
    slots = find_slots(rule_set, inputs)
    schema = schema_of_rows(rule_set, inputs, slots)
    sends = crossing_schema(schema)
    worker = RuleSetWorker(
        rule_set, slots.of_rule, arrow_schema(sends), options.on_error, sorting, sent.structs
    )
    return decode_columns(mapped(sent.rows, worker, sends), schema), slots


def mapped(prepared: DataFrame, worker: RuleSetWorker, sends: spark_types.StructType) -> DataFrame:
    """The rows as they cross."""
    rule_set = worker.rule_set
    crossing = with_keys_once(encode_columns(prepared), rule_set.once)
    name = f"match_recognize[{len(rule_set.rules)} rules]"
    return map_in_arrow(crossing, runner_in_worker(worker), sends, name)
