"""The rows of a rule set → DataFrames: all matches, one rule's own result, failures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from matchrec.compile.executable import Output
from matchrec.errors.run.rule_sets import taken_name
from matchrec.output.reads import ReadIsMatched
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text.sql_text import quoted, string_literal
from matchrec.spark import wire
from matchrec.spark.execute import in_terms_of_the_query, projected, projection
from matchrec.spark.rule_sets.asked import Input
from matchrec.spark.rule_sets.build import BuiltRuleSet
from matchrec.spark.rule_sets.schema import VARIABLE, RowKind
from matchrec.spark.session import REFUSALS
from matchrec.spark.wire import SelectItem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAMES = ("rule", "match_number", "start_time", "end_time", "events", "message")


def all_matches(built: BuiltRuleSet) -> DataFrame:
    """One row per match of each rule."""
    items = [
        SelectItem(name_of_rule(built), "rule"),
        *key_items(built),
        SelectItem(wire.ROW_NUMBER, "match_number"),
        SelectItem(wire.FIRST, "start_time"),
        SelectItem(wire.LAST, "end_time"),
        SelectItem(wire.EVENTS, "events"),
    ]
    return rows_of_kind(built, RowKind.MATCH).selectExpr(*map(str, items))


def failures(built: BuiltRuleSet) -> DataFrame:
    """One row per partition in which a rule failed."""
    rule = SelectItem(name_of_rule(built), "rule")
    items = [rule, *key_items(built), SelectItem(wire.MESSAGE, "message")]
    return rows_of_kind(built, RowKind.FAILURE).selectExpr(*map(str, items))


def check_measures(built: BuiltRuleSet) -> None:
    """Raises MatchRecognizeError where Spark makes no sense of a measure of some rule.

    It is asked for all measures at once, as each question costs it some time.
    """
    numbers = range(len(built.rule_set.rules))
    texts = (one.sql for number in numbers for one in items_of_rule(built, number))
    items = [str(SelectItem(text, wire.read(place))) for place, text in enumerate(texts)]
    runner = built.given.relation.runner
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
    rule, given = built.rules[linked.name], built.given
    with rule.naming(), in_terms_of_the_query(rule.plan, given.relation, given.columns):
        if linked.executable.aggregates:
            matched = own.selectExpr(*reads_of_rule(built, number))
            return projected(given.relation, linked.executable, matched)
        items = [str(one) for one in items_of_rule(built, number)]
        return given.relation.runner.analyse(given.relation.runner.select(own, items))


def reads_of_rule(built: BuiltRuleSet, number: int) -> Iterator[str]:
    """The slots of a rule's reads under the names of the reads."""
    for place, slot in enumerate(built.slots.of_rule[number]):
        yield f"{wire.read(slot)} AS {wire.read(place)}"


def items_of_rule(built: BuiltRuleSet, number: int) -> list[SelectItem]:
    """The columns of a rule's result over slots; none where Spark computes aggregates first."""
    executable, slots = built.rule_set.rules[number].executable, built.slots.of_rule[number]
    if executable.aggregates:
        return []
    mark = isinstance(executable.reads[-1], ReadIsMatched)
    is_matched = wire.read(slots[-1]) if mark else None
    return [projection(in_slots(output, slots), is_matched) for output in executable.outputs]


def in_slots(output: Output, slots: tuple[int, ...]) -> Output:
    """An output that reads the slots of its reads."""
    pieces = (slots[one] if isinstance(one, int) else one for one in output.pieces)
    return replace(output, pieces=tuple(pieces))


def rows_of_kind(built: BuiltRuleSet, kind: RowKind) -> DataFrame:
    return built.rows.where(f"{wire.KIND} = {int(kind)}")


def name_of_rule(built: BuiltRuleSet) -> str:
    """The name of a row's rule, as SQL."""
    names = ", ".join(string_literal(rule.name) for rule in built.rule_set.rules)
    return f"element_at(array({names}), {wire.RULE} + 1)"


def key_items(built: BuiltRuleSet) -> Iterator[SelectItem]:
    """The partition columns."""
    plan = next(iter(built.drafts.values())).plan
    for number, name in enumerate(key_names(plan, built.given)):
        yield SelectItem(wire.key(number), quoted(name))


def key_names(plan: MatchPlan, given: Input) -> Iterator[str]:
    """The names of the partition columns in the result."""
    for key in dict.fromkeys(plan.partition_by):
        yield given.columns.name(key.text) or given.relation.name_of(key.text)


def check_names(built: BuiltRuleSet) -> None:
    """Raises where a column of the input would have the name of another one in the result."""
    folded = built.given.columns.folded
    plan = next(iter(built.drafts.values())).plan
    for name in key_names(plan, built.given):
        if folded(name) in map(folded, NAMES):
            raise taken_name(name, "partition column")
    for name in built.given.events:
        if folded(name) == folded(VARIABLE):
            raise taken_name(name, "column")
