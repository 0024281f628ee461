"""Build the DataFrame of all rules of a set over one relation, and the results of each rule.

As for one query (`spark.clause_result`), everything is built at once and no job runs:

1. `build_rule_set` compiles all rules, and builds one DataFrame of the workers' rows. The workers
   get the rows of the input once, and return rows of all rules: see `worker.rule_batches`. Over a
   stream, one operator holds the state of all rules, so there is one shuffle and one watermark.
2. `check_results` lets Spark analyse the measures of all rules together. If Spark rejects them, it
   analyses each rule by itself, to find the rule that is wrong.
3. `select_matches`, `select_failures` and `select_result` select the workers' rows of one kind or
   of one rule.
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
from matchrec.spark.compile import compile_request
from matchrec.spark.compiled_rules import CompiledRule, CompiledRules
from matchrec.spark.errors.diagnose import explain_refusals
from matchrec.spark.order_numbers import OrderConverter, find_order_converter
from matchrec.spark.range_choice import check_ranges_not_required
from matchrec.spark.read_types import build_read_schema
from matchrec.spark.request import MatchRequest
from matchrec.spark.select_items import SelectItem
from matchrec.spark.session_errors import QUERY_ERRORS
from matchrec.spark.streaming.stream_worker import compute_digest
from matchrec.spark.transport import build_output_schema
from matchrec.spark.types import find_char_metadata, make_struct_type
from matchrec.worker import internal_names
from matchrec.worker.rule_batches import VARIABLE, RowKind
from matchrec.worker.rule_set import RuleSetOutput

# The fields of a schema.
StructFields = Sequence[StructField]

# For each rule, the slot of each of its reads. Slot n is the column `__r<n>` of the workers' rows.
Slots = tuple[tuple[int, ...], ...]

# The names of our columns in results.
RESULT_COLUMNS = ("rule", "match_number", "start_time", "end_time", "events", "message")

# The name of another column of ours, if rules have versions.
VERSION_COLUMN = "rule_version"

# The number of hexadecimal digits of a rule's identity. It is small, because the name of each array
# in the state of a stream has the identity of a rule.
IDENTITY_DIGITS = 12


# The schema of the workers' rows.


def assign_slots(rule_set: RuleSet, sent_fields: StructFields) -> tuple[Slots, StructFields]:
    """Assign a slot to each read of all rules.

    Rules share slots: a set needs as many slots of a type as the rule with the most reads of it. If
    one rule reads an INT, a STRING and an INT, and another rule two STRINGs, then the slots are
    (0, 1, 2) and (1, 3).

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
            typed_read = (type_text, read_counts[type_text])
            read_counts[type_text] += 1
            if typed_read not in slots_by_type:
                new_slot = len(slot_fields)
                slots_by_type[typed_read] = new_slot
                slot_fields.append(
                    StructField(
                        internal_names.name_read(new_slot), read.dataType, metadata=read.metadata
                    )
                )
            slots.append(slots_by_type[typed_read])
        slots_of_rules.append(tuple(slots))
    return tuple(slots_of_rules), slot_fields


def build_row_schema(
    rule_set: RuleSet, sent_fields: StructFields, slot_fields: StructFields
) -> StructType:
    """Return the schema of the workers' rows, whose columns `worker.rule_batches` explains.

    The schema has Spark's types. `build_output_schema` replaces those that Arrow does not have.

    Args:
        rule_set: the rules.
        sent_fields: the fields of the columns that are sent to the workers.
        slot_fields: the fields of the slots.
    """
    order_type = sent_fields[rule_set.order].dataType
    event_types = {name: sent_fields[column].dataType for name, column in rule_set.events.items()}
    event_type = make_struct_type(event_types | {VARIABLE: StringType()})
    number_fields = [
        StructField(name, IntegerType(), nullable=False)
        for name in (internal_names.RULE_NUMBER, internal_names.ROW_KIND)
    ]
    key_fields = []
    for key_number, column_index in enumerate(rule_set.keys):
        sent_field = sent_fields[column_index]
        name = internal_names.name_rule_key(key_number)
        char_metadata = find_char_metadata(sent_field)
        key_fields.append(StructField(name, sent_field.dataType, metadata=char_metadata))
    match_types = {
        internal_names.MATCH_NUMBER: LongType(),
        internal_names.FIRST_ROW_ORDER: order_type,
        internal_names.LAST_ROW_ORDER: order_type,
        internal_names.MATCHED_ROWS: ArrayType(event_type, containsNull=False),
        internal_names.FAILURE_MESSAGE: StringType(),
    }
    match_fields = make_struct_type(match_types).fields
    return StructType([*number_fields, *key_fields, *match_fields, *slot_fields])


@dataclass(frozen=True)
class BuiltRuleSet:
    """The rows of all rules of a set, and what they were built from."""

    # The rows of the workers, see `worker.rule_batches`.
    rows: DataFrame
    rule_set: RuleSet
    slots: Slots
    # The compiled rules of the request, in the order of `rule_set.rules`.
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
    def order_converter(self) -> OrderConverter:
        """Return the converter between values of ORDER BY and the numbers in a `Version`.

        Only for a set of rules with versions, whose ORDER BY has a type with a converter.
        """
        converter = find_order_converter(self.rows.schema[internal_names.FIRST_ROW_ORDER].dataType)
        assert converter is not None, "`match_rules` has checked the type of ORDER BY"
        return converter

    def replace_rows(self, rows: DataFrame) -> BuiltRuleSet:
        """Return the rule set over other rows of the workers, which can be of another session."""
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
        check_ranges_not_required(request, "rules share the rows of a partition")
        compiled_rules = compile_request(request)
        rule_set = link_rules(compiled_rules)
        return plan_rule_set(compiled_rules, rule_set)


def check_shared_plan(request: MatchRequest) -> None:
    """Check PARTITION BY and ORDER BY, which all rules share.

    Raises:
        MatchRecognizeError: Spark rejects an expression in them.
    """
    first_plan = request.rules[0].plan
    # `explain_refusals` needs a plan. The row pattern of this plan is not used.
    shared_plan = MatchPlan(first_plan.pattern, first_plan.partition_by, first_plan.order_by)
    with explain_refusals(shared_plan, request.relation, request.columns):
        texts = [expression.text for expression in shared_plan.sorted_by]
        _ = request.relation.select(texts).schema  # lets Spark analyse them


def link_rules(compiled_rules: CompiledRules) -> RuleSet:
    """Return the rule set for the workers: the compiled rules, and the columns that they share.

    Args:
        compiled_rules: the compiled rules of a request for a rule set.
    """
    request = compiled_rules.request
    assert request.event_columns is not None, "the request is a rule set"
    joined = compiled_rules.preparation.joined
    # All rules have the same partition keys and order, and are sent the same columns.
    first_plan = joined.queries[0].plan
    sent_columns = compiled_rules.rules[0].compiled_query.sent_columns.columns
    indices = {column: index for index, column in enumerate(sent_columns)}

    def find_indices(columns: Iterable[RowColumn]) -> tuple[int, ...]:
        """Return the indices of some columns among the sent columns."""
        return tuple(indices[column] for column in columns)

    linked_rules = []
    for compiled_rule in compiled_rules.rules:
        rule = compiled_rule.rule
        version = rule.version or Version(rule.name)
        identity = ""
        if request.is_stream:
            identity = compute_identity(request, compiled_rule, version)
        linked_rules.append(
            LinkedRule(
                name=rule.name,
                compiled_query=compiled_rule.compiled_query,
                dividing_columns=find_indices(find_dividing_columns(compiled_rule.query.plan)),
                version=version,
                identity=identity,
            )
        )
    return RuleSet(
        rules=tuple(linked_rules),
        columns=sent_columns,
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

    When a stream starts again with other rules, a rule with the same identity keeps its state. So
    the identity does not depend on the other rules of the set.

    Args:
        request: the request of the rule set.
        compiled_rule: the rule.
        version: the version of the rule.

    Returns:
        `IDENTITY_DIGITS` hexadecimal digits.
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


def plan_rule_set(compiled_rules: CompiledRules, rule_set: RuleSet) -> BuiltRuleSet:
    """Build the DataFrame of the rows that the workers will return. Runs no job.

    Args:
        compiled_rules: the compiled rules of a request for a rule set.
        rule_set: what `link_rules` returns for them.
    """
    preparation = compiled_rules.preparation
    fields = preparation.find_fields(rule_set.columns, compiled_rules.fields)
    slots, slot_fields = assign_slots(rule_set, fields)
    schema = build_row_schema(rule_set, fields, slot_fields)
    output = RuleSetOutput(
        rule_set, slots, build_output_schema(schema), compiled_rules.request.on_error
    )
    operator_name = f"match_recognize[{len(rule_set.rules)} rules]"
    rows = preparation.plan_rules(output, schema, operator_name)
    return BuiltRuleSet(rows, rule_set, slots, compiled_rules)


# Results of a set.


def select_matches(built_set: BuiltRuleSet) -> DataFrame:
    """Return one row for each match of each rule."""
    columns = {
        "match_number": internal_names.MATCH_NUMBER,
        "start_time": internal_names.FIRST_ROW_ORDER,
        "end_time": internal_names.LAST_ROW_ORDER,
        "events": internal_names.MATCHED_ROWS,
    }
    return select_rows_of_kind(built_set, RowKind.MATCH, columns)


def select_failures(built_set: BuiltRuleSet) -> DataFrame:
    """Return one row for each partition in which a rule failed, and each such rule."""
    return select_rows_of_kind(
        built_set, RowKind.FAILURE, {"message": internal_names.FAILURE_MESSAGE}
    )


def select_rows_of_kind(
    built_set: BuiltRuleSet, kind: RowKind, columns: Mapping[str, str]
) -> DataFrame:
    """Return the workers' rows of one kind.

    Args:
        built_set: the rule set.
        kind: the kind.
        columns: the workers' columns to select, by their names in the result. They follow the
            columns of the rule and of the partition.
    """
    key_items = [
        SelectItem(internal_names.name_rule_key(index), quote_name(name))
        for index, name in enumerate(list_key_names(built_set))
    ]
    other_items = [SelectItem(column, name) for name, column in columns.items()]
    items = [*list_rule_columns(built_set), *key_items, *other_items]
    rows_of_kind = built_set.rows.where(f"{internal_names.ROW_KIND} = {int(kind)}")
    return rows_of_kind.selectExpr(*[str(item) for item in items])


def check_results(built_set: BuiltRuleSet) -> None:
    """Check that the results of all rules can be made: their names and their measures.

    Raises:
        MatchRecognizeError: a column has a name of ours, or Spark rejects a measure.
    """
    check_input_names(built_set)
    check_measures(built_set)


def check_measures(built_set: BuiltRuleSet) -> None:
    """Let Spark check the measures of all rules: together, because each analysis takes time.

    Raises:
        MatchRecognizeError: Spark rejects a measure.
    """
    rule_numbers = range(len(built_set.rule_set.rules))
    texts = [
        item.sql for rule_number in rule_numbers for item in list_rule_items(built_set, rule_number)
    ]
    items = [
        str(SelectItem(text, internal_names.name_read(index))) for index, text in enumerate(texts)
    ]
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
    if compiled_query.rows_per_match.summarizes_matches:
        kinds = [RowKind.MATCH, RowKind.PARTIAL]
    else:
        kinds = [RowKind.ROW]
    kind_list = ", ".join(str(int(kind)) for kind in kinds)
    rule_rows = built_set.rows.where(
        f"{internal_names.ROW_KIND} IN ({kind_list})"
        f" AND {internal_names.RULE_NUMBER} = {rule_number}"
    )
    slots = built_set.slots[rule_number]
    request = built_set.request
    with request.locate_rule_errors(request.rules[rule_number]):
        if compiled_query.aggregates:
            # `project_result` expects each read in its own column, as in a query without rules.
            reads = [
                f"{internal_names.name_read(slot)} AS {internal_names.name_read(index)}"
                for index, slot in enumerate(slots)
            ]
            return project_result(request.relation, compiled_query, rule_rows.selectExpr(*reads))
        result = select_result_columns(request.runner, compiled_query, rule_rows, slots)
        return request.runner.analyse(result)


def select_result(built_set: BuiltRuleSet, name: str) -> DataFrame:
    """Return the result that a rule would have as a separate query, for all of its versions.

    Args:
        built_set: the rule set.
        name: the name of the rule.

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
    return reduce(lambda union, result: union.unionAll(result), results)


def list_rule_items(built_set: BuiltRuleSet, rule_number: int) -> list[SelectItem]:
    """Return the select list of a rule's result; empty if Spark computes aggregates before it."""
    compiled_query = built_set.rule_set.rules[rule_number].compiled_query
    if compiled_query.aggregates:
        return []
    return build_result_items(compiled_query, built_set.slots[rule_number])


def list_rule_columns(built_set: BuiltRuleSet) -> Iterator[SelectItem]:
    """Yield the column with a row's rule and, if rules have versions, the column with its version.

    The value for a version is the time from which it is valid.
    """
    versions = [rule.version for rule in built_set.rule_set.rules]
    literals_by_column = {"rule": [quote_string(version.rule) for version in versions]}
    if built_set.rule_set.has_versions:
        literals_by_column[VERSION_COLUMN] = [
            built_set.order_converter.write_literal(version.since) for version in versions
        ]
    for name, literals in literals_by_column.items():
        # Rules are numbered from 0, and elements of an array from 1.
        yield SelectItem(
            f"element_at(array({', '.join(literals)}), {internal_names.RULE_NUMBER} + 1)", name
        )


def list_key_names(built_set: BuiltRuleSet) -> Iterator[str]:
    """Yield the names that the partition columns have in a result."""
    request = built_set.request
    for key in dict.fromkeys(built_set.compiled_rules.preparation.joined.partition_keys):
        yield request.columns.find_by_text(key.text) or request.relation.find_name(key.text)


def check_input_names(built_set: BuiltRuleSet) -> None:
    """Check that no column of the input has the name of a column of ours in the result.

    Raises:
        MatchRecognizeError: a partition column or a column of events has such a name.
    """
    fold_name = built_set.request.columns.fold_name
    our_names = {fold_name(name) for name in RESULT_COLUMNS}
    if built_set.rule_set.has_versions:
        our_names.add(fold_name(VERSION_COLUMN))
    for name in list_key_names(built_set):
        if fold_name(name) in our_names:
            raise column_name_taken(column_role="partition column", name=name)
    for name in built_set.request.event_columns or ():
        if fold_name(name) == fold_name(VARIABLE):
            raise column_name_taken(column_role="column", name=name)
