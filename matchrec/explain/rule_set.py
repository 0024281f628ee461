"""Explain a rule set: first what all of its rules share, then each rule.

The engine sends and the workers sort the rows once for all rules, so the steps before the search
belong to the set. Each rule has its own search, which `ExplainedClause` describes like the search
of a clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from matchrec.compile.compiled_query import SorterChoice
from matchrec.compile.rule_set import RuleSet
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import show_column
from matchrec.explain.clause import ExplainedClause
from matchrec.explain.explanation import Explanation
from matchrec.explain.layout import ExplainedSection, join_sections
from matchrec.explain.sections import show_order_by, show_partition_by
from matchrec.plan.match_plan import MatchPlan

# The lines about the state that a stream of a rule set keeps between two micro-batches.
STREAM_STATE_LINES = (
    "one state for each partition: the rows that the watermark has not passed, the rows that",
    "some rule still needs (each stored once), and how far the search of each rule has got",
)


def explain_rules(
    rule_set: RuleSet, queries: Mapping[str, SplitQuery], sorter: SorterChoice | None
) -> Explanation:
    """Return the explanation of a rule set: what all rules share, then each rule.

    Args:
        rule_set: the compiled rules. All have the same partitions and order.
        queries: the query of each rule, by the rule's name.
        sorter: who sorts the rows; None for a stream.
    """
    explained_rules = {
        number: ExplainedClause(
            _plan=queries[rule.name].plan,
            # The filters belong to all rules together, and are among the shared steps.
            _compiled_query=replace(rule.compiled_query, row_filters=()),
            _is_stream=sorter is None,
            _resolved_plan=queries[rule.name].resolved_plan,
        )
        for number, rule in enumerate(rule_set.rules, 1)
    }
    any_plan = next(iter(queries.values())).plan
    return Explanation(
        explained_rules,
        rules=tuple(rule.name for rule in rule_set.rules),
        shared=explain_shared_steps(rule_set, any_plan, sorter),
    )


def explain_shared_steps(
    rule_set: RuleSet, any_plan: MatchPlan, sorter: SorterChoice | None
) -> str:
    """Return the sections about what the engine and the workers do once for all rules.

    Args:
        rule_set: the compiled rules.
        any_plan: the plan of any rule. Only its partitions and order are read.
        sorter: who sorts the rows; None for a stream.
    """
    return join_sections(
        [
            ExplainedSection(
                "partitions and order of all rules", describe_shared_partitions(any_plan, sorter)
            ),
            ExplainedSection(
                "computed by the engine before the search, once for all rules",
                describe_shared_work(rule_set, sorter),
            ),
            ExplainedSection(
                "stream, once for all rules", STREAM_STATE_LINES if sorter is None else ()
            ),
        ]
    )


def describe_shared_partitions(any_plan: MatchPlan, sorter: SorterChoice | None) -> Iterator[str]:
    """Yield lines about the partitions and the order that all rules share.

    Equivalence tests are not among them, because they belong to one rule.
    """
    yield show_partition_by(any_plan.partition_by)
    yield show_order_by(any_plan.order_by)
    if sorter is not None:
        yield f"sorted by {sorter}"


def describe_shared_work(rule_set: RuleSet, sorter: SorterChoice | None) -> Iterator[str]:
    """Yield the columns and conditions that the engine computes, each with the rules that need it.

    Then yield how the workers search for several rules, and which rows they get.

    Args:
        rule_set: the compiled rules.
        sorter: who sorts the rows; None for a stream.
    """
    for index, column in enumerate(rule_set.columns):
        users = [
            rule.name
            for rule in rule_set.rules
            if index in rule.compiled_query.sent_columns.used_columns
        ]
        yield f"c{index} = {show_column(column)}{name_users(users)}"
    for bit, condition in enumerate(rule_set.row_conditions):
        users = [rule.name for rule in rule_set.rules if bit in rule.compiled_query.tested_bits]
        yield f"condition {bit} = {show_column(condition)}{name_users(users)}"
    if sorter is not None:
        yield "the workers hold a whole partition, and search it for one rule after the other"
    if rule_set.row_filters:
        tests = " or ".join(show_column(column) for column in rule_set.row_filters)
        yield f"only rows with {tests} are sent to the workers: no other row can change a match"


def name_users(rule_names: Sequence[str]) -> str:
    """Return the text after a column or condition that says which rules need it.

    >>> name_users(["fall", "rise"])
    ', for fall, rise'
    >>> name_users([])
    ''
    """
    return f", for {', '.join(rule_names)}" if rule_names else ""
