"""Rules over a stream: what of them can stream, and the rows that Spark's stateful operator gives.

One operator holds the state of all rules, so there is one shuffle and one watermark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.compile.draft import Draft
from matchrec.compile.rule_set import Bits, RuleSet, SharedDrafts, further_keys
from matchrec.conditions.row_column import show_column
from matchrec.errors.run.rule_sets import divided_over_stream
from matchrec.spark.crossing import crossing_schema, decode_columns
from matchrec.spark.rule_sets.keyed import RulesOfBucket
from matchrec.spark.rule_sets.keyed_rule import ContiguousRule, RuleOutput, SelectingRule
from matchrec.spark.rule_sets.schema import Slots, find_slots, schema_of_rows
from matchrec.spark.rule_sets.worker import OnError
from matchrec.spark.streaming.execute import digest, run_on_buckets
from matchrec.spark.streaming.prepare import Events, check_one_row, send_events
from matchrec.spark.transport import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def check_draft(drafted: Draft) -> None:
    """Raises MatchRecognizeError for a rule whose rows cannot come little by little."""
    check_one_row((*drafted.columns(), *drafted.row_conditions), drafted.plan)
    for key in further_keys(drafted.plan):
        raise divided_over_stream(show_column(key))


def bits_of(shared: SharedDrafts) -> Bits:
    """The bit of each condition: as they cross, without words of their own."""
    count = len(shared.conditions[1])
    return Bits(tuple(range(count)), count)


def match_events(
    rule_set: RuleSet, shared: SharedDrafts, preparation: Events, on_error: OnError
) -> tuple[DataFrame, Slots]:
    """The rows of a linked set, and the slots of what its rules read."""
    prepared = preparation.dataframe(rule_set.columns, shared.draft())
    inputs = prepared.schema.fields[: len(rule_set.columns)]
    slots = find_slots(rule_set, inputs)
    schema = schema_of_rows(rule_set, inputs, slots)
    sends = crossing_schema(schema)
    events = send_events(prepared, rule_set.columns, shared.plan)
    wide, rows = rule_set.over_all_columns(), arrow_schema(sends)
    query = digest(rule_set, events.arriving)
    searches = tuple(
        (SelectingRule if rule.executable.task.selects else ContiguousRule)(
            rule.executable,
            output=RuleOutput(wide, number, slots.of_rule[number], rows),
        )
        for number, rule in enumerate(wide.rules)
    )
    bucket = RulesOfBucket(events.arriving, query, wide, searches, rows, on_error)
    found = run_on_buckets(events, bucket, f"{len(searches)} rules", sends)
    return decode_columns(found, schema), slots
