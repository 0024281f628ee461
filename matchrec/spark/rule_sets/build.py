"""Build the DataFrame of all rules of a set over one relation, and the results of each rule.

As for one query (`spark.clause_result`), everything is built at once and no job runs. All rules
share one plan: the workers get the rows once, and return rows of all rules, see
`worker.rule_batches`. Over a stream, one operator holds the state of all rules, so there is one
shuffle and one watermark.

Spark analyses the measures of all rules together. If Spark rejects them, it analyses each rule by
itself, to find the rule that is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from matchrec.compile.columns import find_dividing_columns, find_key_columns
from matchrec.compile.rule_set import LinkedRule, RuleSet, Version, find_order_column
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import RowColumn, build_row_column, show_column
from matchrec.errors.rule_sets import (
    column_name_taken,
    rule_versions_differ,
    rule_versions_over_stream,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_name, quote_string
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.clause_result import build_result_items, project_result, select_result_columns
from matchrec.spark.compile import CompiledRule, CompiledRules, compile_request
from matchrec.spark.errors.diagnose import explain_refusals
from matchrec.spark.order_numbers import OrderNumbers, find_order_numbers
from matchrec.spark.ranges import check_may_stay_whole
from matchrec.spark.read_types import build_read_schema
from matchrec.spark.request import MatchRequest
from matchrec.spark.session_errors import QUERY_ERRORS
from matchrec.spark.streaming.stream_worker import compute_digest
from matchrec.spark.transport import build_output_schema
from matchrec.spark.types import find_padding, make_struct_type
from matchrec.worker import wire
from matchrec.worker.rule_batches import VARIABLE, RowKind
from matchrec.worker.rule_set import RuleSetOutput
from matchrec.worker.wire import SelectItem

StructFields = Sequence[StructField]

# For each rule, the slot of each of its reads. A slot is the number of the column of the workers'
# rows that holds the read: `__r0`, `__r1`, ...
Slots = tuple[tuple[int, ...], ...]

# The names of our columns in results. Only rules with versions have the last column.
RESULT_COLUMNS = ("rule", "match_number", "start_time", "end_time", "events", "message")
VERSION_COLUMN = "rule_version"

# The number of digits of a rule's identity. An identity is short, because it is in the name of each
# array of a bucket's state.
IDENTITY_DIGITS = 12


# The schema of the workers' rows.


def assign_slots(rule_set: RuleSet, sent_fields: StructFields) -> tuple[Slots, StructFields]:
    """Assign a slot to each read of all rules.

    Rules share slots: a set needs as many slots of a type as the rule with the most reads of it.

    Args:
        rule_set: the rules.
        sent_fields: the fields of the columns that are sent to the workers.

    Returns:
        The slots, and the field of each slot.
    """
    slot_fields: list[StructField] = []
    # The slot of the nth read of a type, by the type and n.
    slots_by_type: dict[tuple[str, int], int] = {}
    slots_of_rules = []
    for rule in rule_set.rules:
        read_counts: Counter[str] = Counter()  # of this rule, by type
        slots = []
        for read in build_read_schema(rule.compiled_query, sent_fields).fields:
            type_text = f"{read.dataType.json()} {read.metadata}"
            slot = slots_by_type.setdefault((type_text, read_counts[type_text]), len(slot_fields))
            if slot == len(slot_fields):
                slot_fields.append(
                    StructField(wire.name_read(slot), read.dataType, metadata=read.metadata)
                )
            read_counts[type_text] += 1
            slots.append(slot)
        slots_of_rules.append(tuple(slots))
    return tuple(slots_of_rules), slot_fields


def build_row_schema(
    rule_set: RuleSet, sent_fields: StructFields, slot_fields: StructFields
) -> StructType:
    """Return the schema of the workers' rows, before types that Arrow cannot carry are replaced.

    Args:
        rule_set: the rules.
        sent_fields: the fields of the columns that are sent to the workers.
        slot_fields: the fields of the slots.
    """
    order_type = sent_fields[rule_set.order].dataType
    event_types = {name: sent_fields[column].dataType for name, column in rule_set.events.items()}
    event_type = make_struct_type(event_types | {VARIABLE: StringType()})
    numbers = [
        StructField(name, IntegerType(), nullable=False)
        for name in (wire.RULE_NUMBER, wire.ROW_KIND)
    ]
    keys = []
    for index, column in enumerate(rule_set.keys):
        key = sent_fields[column]
        keys.append(
            StructField(wire.name_rule_key(index), key.dataType, metadata=find_padding(key))
        )
    match_types = {
        wire.MATCH_NUMBER: LongType(),
        wire.FIRST_ROW_ORDER: order_type,
        wire.LAST_ROW_ORDER: order_type,
        wire.MATCHED_ROWS: ArrayType(event_type, containsNull=False),
        wire.FAILURE_MESSAGE: StringType(),
    }
    return StructType([*numbers, *keys, *make_struct_type(match_types), *slot_fields])


@dataclass(frozen=True)
class BuiltRuleSet:
    """The rows of all rules of a set, and what they were built from."""

    rows: DataFrame  # of the workers, see `worker.rule_batches`
    rule_set: RuleSet
    slots: Slots
    compiled_rules: CompiledRules

    @property
    def request(self) -> MatchRequest:
        """Return the rules with their input and their options."""
        return self.compiled_rules.request

    @property
    def queries(self) -> Mapping[str, SplitQuery]:
        """Return the split query of each rule, by the name of the rule."""
        return {
            compiled_rule.rule.name: compiled_rule.query
            for compiled_rule in self.compiled_rules.rules
        }

    @property
    def times(self) -> OrderNumbers:
        """Return the converter of the times by which rows are ordered and rules are valid.

        Only rules with versions have such times.
        """
        times = find_order_numbers(self.rows.schema[wire.FIRST_ROW_ORDER].dataType)
        assert times is not None, "`match_rules` has checked the type"
        return times

    def replace_rows(self, rows: DataFrame) -> BuiltRuleSet:
        """Return the rule set over other rows of the workers, which may be of another session."""
        request = self.request.use_session(rows.sparkSession)
        return replace(
            self, rows=rows, compiled_rules=replace(self.compiled_rules, request=request)
        )


# Building a set.


def build_rule_set(request: MatchRequest) -> BuiltRuleSet:
    """Compile all rules of a request, and build the DataFrame of the workers' rows. Runs no job.

    Args:
        request: the rules, with the columns of their events.

    Raises:
        MatchRecognizeError: a rule is wrong, or cannot run with others.
    """
    assert request.event_columns is not None, "the request is a rule set"
    with silence_analysis():
        check_shared_plan(request)
        check_may_stay_whole(request, "rules share the rows of a partition")
        compiled_rules = compile_request(request)
        rule_set = link_rules(compiled_rules)
        rows, slots = plan_output_rows(compiled_rules, rule_set)
        return BuiltRuleSet(rows, rule_set, slots, compiled_rules)


def check_shared_plan(request: MatchRequest) -> None:
    """Check PARTITION BY and ORDER BY, which all rules share.

    Raises:
        MatchRecognizeError: Spark rejects an expression in them.
    """
    first_plan = request.rules[0].plan
    # `explain_refusals` needs a plan. This plan has only what all rules share.
    shared_plan = MatchPlan(first_plan.pattern, first_plan.partition_by, first_plan.order_by)
    with explain_refusals(shared_plan, request.relation, request.columns):
        texts = [expression.text for expression in shared_plan.sorted_by]
        _ = request.relation.select(texts).schema  # lets Spark analyse them


def link_rules(compiled_rules: CompiledRules) -> RuleSet:
    """Return the rule set for the workers: the compiled rules, and the columns that they share.

    Args:
        compiled_rules: the rules of a request, which has the columns of their events.
    """
    request = compiled_rules.request
    joined = compiled_rules.preparation.joined
    first_plan = joined.queries[0].plan  # all rules have the same partition keys and order
    assert request.event_columns is not None, "the request is a rule set"
    columns = compiled_rules.rules[0].compiled_query.sent_columns.columns  # those of all rules
    indices = {column: index for index, column in enumerate(columns)}

    def find_indices(columns: Iterable[RowColumn]) -> tuple[int, ...]:
        """Return the indices of columns among the columns that are sent for the set."""
        return tuple(indices[column] for column in columns)

    linked_rules = []
    for compiled_rule in compiled_rules.rules:
        rule = compiled_rule.rule
        version = rule.version or Version(rule.name)
        dividing_columns = find_dividing_columns(compiled_rule.query.plan)
        identity = ""
        if request.is_stream:
            identity = compute_identity(request, compiled_rule, version)
        linked_rules.append(
            LinkedRule(
                name=rule.name,
                compiled_query=compiled_rule.compiled_query,
                dividing_columns=find_indices(dividing_columns),
                version=version,
                identity=identity,
            )
        )
    return RuleSet(
        rules=tuple(linked_rules),
        columns=columns,
        keys=find_indices(find_key_columns(first_plan)),
        order=indices[find_order_column(first_plan)],
        events={
            name: indices[build_row_column(quote_name(name))] for name in request.event_columns
        },
        row_conditions=joined.row_conditions,
        row_filters=joined.row_filters,
        has_versions=any(rule.version is not None for rule in request.rules),
    )


def compute_identity(request: MatchRequest, compiled_rule: CompiledRule, version: Version) -> str:
    """Return the identity of a rule: a digest of everything that its search depends on.

    The identity does not depend on other rules. By it, the state of a stream finds out which rules
    are still the same.

    Args:
        request: all rules.
        compiled_rule: the rule.
        version: the version of the rule.
    """
    query = compiled_rule.query
    types = compiled_rule.conditions.types
    column_types = [(show_column(column), types[column]) for column in query.columns]
    identity = compute_digest(
        version.rule,
        version.since,
        query.resolved_plan,
        compiled_rule.rule.condition_columns,
        query.plan,
        column_types,
        compiled_rule.conditions.run_conditions,
        request.ansi,
        request.options.algorithm,
    )
    return identity[:IDENTITY_DIGITS]


def plan_output_rows(compiled_rules: CompiledRules, rule_set: RuleSet) -> tuple[DataFrame, Slots]:
    """Return the DataFrame of the rows that the workers will return. Nothing runs.

    Returns:
        The DataFrame, and the slots of the rules' reads.
    """
    preparation = compiled_rules.preparation
    fields = preparation.find_fields(rule_set.columns, compiled_rules.fields)
    slots, slot_fields = assign_slots(rule_set, fields)
    schema = build_row_schema(rule_set, fields, slot_fields)
    output = RuleSetOutput(
        rule_set, slots, build_output_schema(schema), compiled_rules.request.on_error
    )
    name = f"match_recognize[{len(rule_set.rules)} rules]"
    return preparation.plan_rules(output, schema, name), slots


# Results of a set.


def select_matches(built_set: BuiltRuleSet) -> DataFrame:
    """Return one row for each match of each rule."""
    columns = {
        "match_number": wire.MATCH_NUMBER,
        "start_time": wire.FIRST_ROW_ORDER,
        "end_time": wire.LAST_ROW_ORDER,
        "events": wire.MATCHED_ROWS,
    }
    return select_rows_of_kind(built_set, RowKind.MATCH, columns)


def select_failures(built_set: BuiltRuleSet) -> DataFrame:
    """Return one row for each partition in which a rule failed, and each such rule."""
    return select_rows_of_kind(built_set, RowKind.FAILURE, {"message": wire.FAILURE_MESSAGE})


def select_rows_of_kind(
    built_set: BuiltRuleSet, kind: RowKind, columns: Mapping[str, str]
) -> DataFrame:
    """Return the rows of a kind: their rules, their partitions, and other columns.

    Args:
        built_set: the rule set.
        kind: the kind.
        columns: the other columns of the workers' rows, by their names in the result.
    """
    names = list_key_names(built_set)
    keys = [
        SelectItem(wire.name_rule_key(index), quote_name(name)) for index, name in enumerate(names)
    ]
    items = [SelectItem(column, name) for name, column in columns.items()]
    select_list = [str(item) for item in (*list_rule_columns(built_set), *keys, *items)]
    return built_set.rows.where(f"{wire.ROW_KIND} = {int(kind)}").selectExpr(*select_list)


def check_results(built_set: BuiltRuleSet) -> None:
    """Check that the results of all rules can be made: their names and their measures.

    Raises:
        MatchRecognizeError: a column has a name of ours, or Spark rejects a measure.
    """
    check_input_names(built_set)
    check_measures(built_set)


def check_measures(built_set: BuiltRuleSet) -> None:
    """Let Spark check the measures of all rules, together, because each analysis takes time.

    Raises:
        MatchRecognizeError: Spark rejects a measure.
    """
    rule_numbers = range(len(built_set.rule_set.rules))
    texts = [
        item.sql for rule_number in rule_numbers for item in list_rule_items(built_set, rule_number)
    ]
    items = [str(SelectItem(text, wire.name_read(index))) for index, text in enumerate(texts)]
    runner = built_set.request.relation.runner
    try:
        if items:
            runner.analyse(runner.select(built_set.rows, items))
    except QUERY_ERRORS:
        # Analyse each rule by itself, so that the error names the wrong rule.
        for rule_number in rule_numbers:
            build_rule_result(built_set, rule_number)
        raise
    for rule_number in rule_numbers:
        if built_set.rule_set.rules[rule_number].compiled_query.aggregates:
            build_rule_result(built_set, rule_number)


def build_rule_result(built_set: BuiltRuleSet, rule_number: int) -> DataFrame:
    """Return the result that a version of a rule would have as a separate query.

    Args:
        built_set: the rule set.
        rule_number: the index of the version in `rule_set.rules`.

    Raises:
        MatchRecognizeError: Spark rejects a measure.
    """
    compiled_query = built_set.rule_set.rules[rule_number].compiled_query
    kinds = [RowKind.ROW]
    if compiled_query.rows_per_match.summarizes_matches:
        kinds = [RowKind.MATCH, RowKind.PARTIAL]
    kind_list = ", ".join(str(int(kind)) for kind in kinds)
    rule_rows = built_set.rows.where(
        f"{wire.ROW_KIND} IN ({kind_list}) AND {wire.RULE_NUMBER} = {rule_number}"
    )
    request = built_set.request
    with request.locate_rule_errors(request.rules[rule_number]):
        if compiled_query.aggregates:
            reads = [
                f"{wire.name_read(slot)} AS {wire.name_read(index)}"
                for index, slot in enumerate(built_set.slots[rule_number])
            ]
            return project_result(request.relation, compiled_query, rule_rows.selectExpr(*reads))
        slots = built_set.slots[rule_number]
        result = select_result_columns(request.runner, compiled_query, rule_rows, slots)
        return request.runner.analyse(result)


def select_result(built_set: BuiltRuleSet, name: str) -> DataFrame:
    """Return the result that a rule, in all of its versions, would have as a separate query.

    Raises:
        MatchRecognizeError: Spark rejects a measure, the versions have different columns, or the
            input is a stream and the rule has several versions.
    """
    rule_numbers = [
        rule_number
        for rule_number, rule in enumerate(built_set.rule_set.rules)
        if rule.version.rule == name
    ]
    results = [build_rule_result(built_set, rule_number) for rule_number in rule_numbers]
    if len(results) > 1 and results[0].isStreaming:
        raise rule_versions_over_stream(name=name)
    if len({str(result.dtypes) for result in results}) > 1:
        column_lists = [
            ", ".join(f"{column} {type_name}" for column, type_name in result.dtypes)
            for result in results
        ]
        first_columns, second_columns, *_ = dict.fromkeys(column_lists)
        raise rule_versions_differ(
            name=name, first_columns=first_columns, second_columns=second_columns
        )
    return reduce(type(results[0]).unionAll, results)


def list_rule_items(built_set: BuiltRuleSet, rule_number: int) -> list[SelectItem]:
    """Return the select list of a rule's result; empty if Spark computes aggregates before it."""
    compiled_query = built_set.rule_set.rules[rule_number].compiled_query
    if compiled_query.aggregates:
        return []
    return build_result_items(compiled_query, built_set.slots[rule_number])


def list_rule_columns(built_set: BuiltRuleSet) -> Iterator[SelectItem]:
    """Yield the columns that name a row's rule and, if rules have versions, its version.

    The time from which a version is valid is its name.
    """
    versions = [rule.version for rule in built_set.rule_set.rules]
    literals_by_column = {"rule": [quote_string(version.rule) for version in versions]}
    if built_set.rule_set.has_versions:
        literals_by_column[VERSION_COLUMN] = [
            built_set.times.write_literal(version.since) for version in versions
        ]
    for name, literals in literals_by_column.items():
        yield SelectItem(f"element_at(array({', '.join(literals)}), {wire.RULE_NUMBER} + 1)", name)


def list_key_names(built_set: BuiltRuleSet) -> Iterator[str]:
    """Yield the names of the partition columns in a result."""
    request = built_set.request
    for key in dict.fromkeys(built_set.compiled_rules.preparation.joined.partition_keys):
        yield request.columns.find_by_text(key.text) or request.relation.find_name(key.text)


def check_input_names(built_set: BuiltRuleSet) -> None:
    """Check that no column of the input has the name of a column of ours in the result.

    Raises:
        MatchRecognizeError: a partition column or a column of events has such a name.
    """
    folded = built_set.request.columns.fold_name
    our_names = {folded(name) for name in RESULT_COLUMNS}
    if built_set.rule_set.has_versions:
        our_names.add(folded(VERSION_COLUMN))
    for name in list_key_names(built_set):
        if folded(name) in our_names:
            raise column_name_taken(column_role="partition column", name=name)
    for name in built_set.request.event_columns or ():
        if folded(name) == folded(VARIABLE):
            raise column_name_taken(column_role="column", name=name)
