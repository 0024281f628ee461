"""Rules over a relation → a DataFrame of the rows of all of them, and what explains it.

As with one query (`spark.execute`) everything is built at once and no job runs. Spark is asked for
all rules together; only where it refuses is each tried by itself, to find the one that is to blame.
Over a stream one operator holds the state of all rules, so there is one shuffle and one watermark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from matchrec.compile.columns import find_dividing_columns
from matchrec.compile.executable import Executable
from matchrec.compile.rule_set import RuleSet, SharedDrafts, join_rules
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.conditions.types import SPARKS_OWN
from matchrec.errors.run.failures import (
    not_divided_by,
    taken_name,
    versions_of_other_columns,
    versions_over_stream,
)
from matchrec.errors.streams import divided_over_stream
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quoted, string_literal
from matchrec.spark.backends import backend_of
from matchrec.spark.errors.diagnose import Diagnosis
from matchrec.spark.execute import (
    Demand,
    PreparedInput,
    ScopeOf,
    build_result_items,
    prepare,
    project,
)
from matchrec.spark.question import Question, Rule
from matchrec.spark.ranges import check_whole
from matchrec.spark.session import REFUSALS, quiet_analysis
from matchrec.spark.streaming.bucket import digest
from matchrec.spark.streaming.prepare import check_one_row
from matchrec.spark.types import OrderTimes, padding_of, schema_of_reads, struct_of
from matchrec.worker import wire
from matchrec.worker.rule_set import VARIABLE, RowKind, RuleSetWorker
from matchrec.worker.wire import SelectItem

if TYPE_CHECKING:
    import pyarrow as pa

Fields = Sequence[StructField]
PreparedRules = PreparedInput[SharedDrafts]
Slots = tuple[tuple[int, ...], ...]  # of each rule the slot of each of its reads


def find_slots(rule_set: RuleSet, inputs: Fields) -> tuple[Slots, Fields]:
    """The slots of a set, and their fields. inputs: the fields of the columns that cross."""
    fields: list[StructField] = []
    places: dict[tuple[str, int], int] = {}
    of_rule = []
    for rule in rule_set.rules:
        used: Counter[str] = Counter()
        slots = []
        for field in schema_of_reads(rule.executable, inputs).fields:
            kind = f"{field.dataType.json()} {field.metadata}"
            place = places.setdefault((kind, used[kind]), len(fields))
            if place == len(fields):
                name = wire.read(place)
                fields.append(StructField(name, field.dataType, metadata=field.metadata))
            used[kind] += 1
            slots.append(place)
        of_rule.append(tuple(slots))
    return tuple(of_rule), fields


def schema_of_rows(rule_set: RuleSet, inputs: Fields, slots: Fields) -> StructType:
    """The schema of the workers' rows, before types that do not cross are replaced."""
    order = inputs[rule_set.order].dataType
    event = {name: inputs[place].dataType for name, place in rule_set.events.items()}
    events = struct_of(event | {VARIABLE: StringType()})
    numbers = [StructField(name, IntegerType(), nullable=False) for name in (wire.RULE, wire.KIND)]
    own = enumerate(inputs[place] for place in rule_set.keys)
    keys = [StructField(wire.key(i), k.dataType, metadata=padding_of(k)) for i, k in own]
    known = {wire.ROW_NUMBER: LongType(), wire.FIRST: order, wire.LAST: order}
    known |= {wire.EVENTS: ArrayType(events, containsNull=False), wire.MESSAGE: StringType()}
    return StructType([*numbers, *keys, *struct_of(known), *slots])


@dataclass(frozen=True)
class BuiltRuleSet:
    rows: DataFrame
    question: Question
    rule_set: RuleSet
    slots: Slots
    prepared: PreparedRules

    @property
    def shared(self) -> SharedDrafts:
        return self.prepared.demand.caller_draft

    @property
    def times(self) -> OrderTimes:
        return OrderTimes(self.rows.schema[wire.FIRST].dataType)

    def over(self, rows: DataFrame) -> BuiltRuleSet:
        """The rule set over rows of the workers that are elsewhere, in a session of their own."""
        relation = self.question.relation
        runner = replace(relation.runner, backend=backend_of(rows.sparkSession))
        question = replace(self.question, relation=replace(relation, runner=runner))
        return replace(self, rows=rows, question=question)


def build_rule_set(question: Question, events: tuple[str, ...]) -> BuiltRuleSet:
    """All rules over one input. events: the columns of a match's rows. Raises for a wrong rule."""

    def demand(scope: ScopeOf) -> Demand[SharedDrafts]:
        shared = draft_rules(question, events, scope)
        return Demand(shared, shared.drafts, shared.draft(), shared.columns)

    with quiet_analysis():
        first = question.rules[0].plan  # Spark may make no sense of what all share
        shared_plan = MatchPlan(first.pattern, first.partition_by, first.order_by)
        with Diagnosis(shared_plan, question.relation, question.columns).explain():
            _ = question.relation.select([one.text for one in shared_plan.sorted_by]).schema
        check_whole(question, "rules share the rows of a partition")
        prepared = prepare(question, demand)
        shared = prepared.demand.caller_draft
        crossing = {column: place for place, column in enumerate(shared.match_columns)}
        executables = {rule.name: link_rule(prepared, rule, crossing) for rule in question.rules}
        versions = {rule.name: rule.version for rule in question.rules if rule.version is not None}
        rule_set = join_rules(shared, executables, crossing, versions)
        if question.is_stream:
            rule_set = with_identities(prepared, rule_set)
        rows, slots = match_rules(prepared, rule_set)
        return BuiltRuleSet(rows, question, rule_set, slots, prepared)


def draft_rules(question: Question, events: tuple[str, ...], scope: ScopeOf) -> SharedDrafts:
    """The drafts of all rules. Raises for one whose rows cannot come as those of a stream do."""
    drafts = {rule.name: question.draft(rule, scope(rule.plan)) for rule in question.rules}
    for rule in question.rules if question.is_stream else ():
        drafted = drafts[rule.name]
        with rule.naming():
            check_one_row((*drafted.columns(), *drafted.row_conditions), drafted.plan)
            for key in find_dividing_columns(drafted.plan):
                raise divided_over_stream(column=show_column(key))
    return SharedDrafts(drafts, events)


def link_rule(prepared: PreparedRules, rule: Rule, crossing: dict[RowColumn, int]) -> Executable:
    """The executable of one rule. crossing: see `compile.path.link_draft`."""
    plan = prepared.demand.rule_drafts[rule.name].plan
    with prepared.question.locating_errors(rule):
        for key in find_dividing_columns(plan):
            if prepared.types[key].family in SPARKS_OWN:
                raise not_divided_by(column=show_column(key), type_name=prepared.types[key].name)
        return replace(
            prepared.link(rule, crossing), relevant=prepared.demand.caller_draft.relevant
        )


def with_identities(prepared: PreparedRules, rule_set: RuleSet) -> RuleSet:
    """The rules with digests of all that their searches depend on; not on other rules."""
    question, found = prepared.question, []
    for rule, linked in zip(question.rules, rule_set.rules, strict=True):
        drafted, conditions = prepared.demand.rule_drafts[rule.name], prepared.conditions[rule.name]
        types = [(show_column(column), prepared.types[column]) for column in drafted.columns()]
        asked = (linked.version.rule, linked.version.since, drafted.written, rule.columns)
        run = (types, conditions.during, question.ansi, question.options.algorithm)
        found.append(replace(linked, identity=digest(*asked, drafted.plan, *run)[:IDENTITY]))
    return replace(rule_set, rules=tuple(found))


def match_rules(prepared: PreparedRules, rule_set: RuleSet) -> tuple[DataFrame, Slots]:
    sent = prepared.send_watched(rule_set.columns)
    slots, fields = find_slots(rule_set, sent.fields)

    def worker(sends: pa.Schema) -> RuleSetWorker:
        return RuleSetWorker(rule_set, slots, sends, on_error, sent.incoming)

    on_error = prepared.question.on_error
    name = f"match_recognize[{len(rule_set.rules)} rules]"
    return sent.run(worker, schema_of_rows(rule_set, sent.fields, fields), name), slots


VERSION = "rule_version"
IDENTITY = 12  # digits, as each array of a bucket's state is named by one
NAMES = ("rule", "match_number", "start_time", "end_time", "events", "message")


def all_matches(built: BuiltRuleSet) -> DataFrame:
    columns = {"match_number": wire.ROW_NUMBER, "start_time": wire.FIRST, "end_time": wire.LAST}
    return rows_of_kind(built, RowKind.MATCH, columns | {"events": wire.EVENTS})


def failures(built: BuiltRuleSet) -> DataFrame:
    """One row per partition in which a rule failed."""
    return rows_of_kind(built, RowKind.FAILURE, {"message": wire.MESSAGE})


def rows_of_kind(built: BuiltRuleSet, kind: RowKind, columns: Mapping[str, str]) -> DataFrame:
    """The rows of a kind: their rules, their partitions, and further columns by their names."""
    names = enumerate(key_names(built.shared.plan, built.question))
    keys = (SelectItem(wire.key(number), quoted(name)) for number, name in names)
    items = (SelectItem(column, name) for name, column in columns.items())
    shown = (*rule_items(built), *keys, *items)
    return built.rows.where(f"{wire.KIND} = {int(kind)}").selectExpr(*map(str, shown))


def check_measures(built: BuiltRuleSet) -> None:
    """Raises where Spark makes no sense of some measure; asked for all at once, as asking costs."""
    numbers = range(len(built.rule_set.rules))
    texts = (one.sql for number in numbers for one in items_of_rule(built, number))
    items = [str(SelectItem(text, wire.read(place))) for place, text in enumerate(texts)]
    runner = built.question.relation.runner
    try:
        if items:
            runner.analyse(runner.select(built.rows, items))
    except REFUSALS:
        for number in numbers:
            result_of_rule(built, number)
        raise
    for number in numbers:
        if built.rule_set.rules[number].executable.aggregates:
            result_of_rule(built, number)


def result_of_rule(built: BuiltRuleSet, number: int) -> DataFrame:
    """What the rule would give by itself. Raises MatchRecognizeError for a measure of no sense."""
    linked = built.rule_set.rules[number]
    one_row = linked.executable.rows_per_match is RowsPerMatch.ONE_ROW
    kinds = (RowKind.MATCH, RowKind.PARTIAL) if one_row else (RowKind.ROW,)
    listed = ", ".join(str(int(kind)) for kind in kinds)
    own = built.rows.where(f"{wire.KIND} IN ({listed}) AND {wire.RULE} = {number}")
    question, runner = built.question, built.question.runner
    with question.locating_errors(question.rules[number]):
        if linked.executable.aggregates:
            slots = enumerate(built.slots[number])
            reads = [f"{wire.read(slot)} AS {wire.read(place)}" for place, slot in slots]
            return project(question.relation, linked.executable, own.selectExpr(*reads))
        items = [str(one) for one in items_of_rule(built, number)]
        return runner.analyse(runner.select_typed(own, items))


def result_of_versions(built: BuiltRuleSet, name: str) -> DataFrame:
    """What a rule would give by itself, in all of its versions. Raises MatchRecognizeError where
    these have different columns, or several are over a stream.
    """
    rules = enumerate(built.rule_set.rules)
    numbers = [number for number, rule in rules if rule.version.rule == name]
    results = [result_of_rule(built, number) for number in numbers]
    if len(results) > 1 and results[0].isStreaming:
        raise versions_over_stream(name=name)
    if len({str(result.dtypes) for result in results}) > 1:
        shown = (", ".join(f"{name} {kind}" for name, kind in result.dtypes) for result in results)
        raise versions_of_other_columns(name=name, columns=list(dict.fromkeys(shown))[:2])
    return reduce(type(results[0]).unionAll, results)


def items_of_rule(built: BuiltRuleSet, number: int) -> list[SelectItem]:
    """The columns of a rule's result over slots; none where Spark computes aggregates first."""
    executable, slots = built.rule_set.rules[number].executable, built.slots[number]
    return [] if executable.aggregates else build_result_items(executable, slots)


def rule_items(built: BuiltRuleSet) -> Iterator[SelectItem]:
    """The name of a row's rule, and from when on its version is valid, if rules have versions."""
    versions = [rule.version for rule in built.rule_set.rules]
    values = {"rule": [string_literal(version.rule) for version in versions]}
    if built.rule_set.has_versions:
        values[VERSION] = [built.times.literal(version.since) for version in versions]
    for name, literals in values.items():
        yield SelectItem(f"element_at(array({', '.join(literals)}), {wire.RULE} + 1)", name)


def key_names(plan: MatchPlan, question: Question) -> Iterator[str]:
    for key in dict.fromkeys(plan.partition_by):
        yield question.columns.name(key.text) or question.relation.name_of(key.text)


def check_names(built: BuiltRuleSet) -> None:
    """Raises where a column of the input would have the name of another one in the result."""
    folded = built.question.columns.folded
    taken = (*NAMES, VERSION) if built.rule_set.has_versions else NAMES
    for name in key_names(built.shared.plan, built.question):
        if folded(name) in map(folded, taken):
            raise taken_name(what="partition column", name=name)
    for name in built.shared.events:
        if folded(name) == folded(VARIABLE):
            raise taken_name(what="column", name=name)
