"""`match_rules`: many rules over one DataFrame, which is read, shuffled, sent and sorted once.

1. `rule_versions.read_rules` turns the argument `rules` into a list of `WrittenRule`s, one for each
   version.
2. `rules_reader.RulesReader` parses each of them to a plan over the same rows, keys and order.
3. `build_rule_set` compiles all plans together, and links them to one search.
4. `rule_matches.RuleMatches` has the result: DataFrames that are views of this search.

A rule, or each version of it, passes through these records in this order:

    VersionRow    rule_versions         a row of the table of rules: a text, and when it begins
    WrittenRule   rule_versions         the text, and from when until when it is valid: `Version`
    Rule          spark.request         the plan of the text, with the same version
    CompiledRule  spark.compiled_rules  the compiled query of the plan
    LinkedRule    compile.rule_set      the compiled query over the columns of all rules
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from matchrec.api.argument_kinds import ARGUMENTS
from matchrec.api.clause_warnings import (
    find_plan_warnings,
    find_state_warnings,
    find_tuning_warnings,
)
from matchrec.api.event_input import Events
from matchrec.api.frames import Frame, cast_to_dataframe
from matchrec.api.front_end import resolve_options
from matchrec.api.inputs import ColumnsOrSql, build_relation
from matchrec.api.rule_matches import RuleMatches
from matchrec.api.rule_versions import RULES, FixedRules, Rules, read_rules
from matchrec.api.rules_reader import RulesReader
from matchrec.arguments import (
    TEXTS,
    DialectName,
    OnError,
    check_arguments,
    is_dataframe,
    make_word_kind,
)
from matchrec.errors import rule_sets as errors
from matchrec.errors.language import use_language
from matchrec.errors.warn_caller import warn_caller
from matchrec.public_names import public
from matchrec.spark.environment import check_session
from matchrec.spark.errors.stream_errors import translate_stream_errors
from matchrec.spark.request import Options
from matchrec.spark.rule_sets import build


@public
@check_arguments(
    **{
        **ARGUMENTS,
        "rules": RULES,
        "on_error": make_word_kind(get_args(OnError)),
        "event_columns": TEXTS.allow_none(),
    }
)
def match_rules(  # noqa: PLR0913 -- public signature
    df: Frame,
    rules: Rules,
    *,
    order_by: ColumnsOrSql,
    partition_by: ColumnsOrSql = (),
    type_column: str = "event_type",
    dialect: DialectName = "spark",
    on_error: OnError = "raise",
    event_columns: str | Sequence[str] | None = None,
    options: Options | None = None,
) -> RuleMatches:
    """Find the matches of many rules in a DataFrame, in one pass over its rows.

    A rule may change over time. Then its value is a dict of versions instead of a text, such as
    `{None: old_text, date(2026, 1, 1): new_text}`. Each key is the value of the first `order_by`
    column from which a version is valid. The key None is the beginning. A version that is None
    ends the rule. A version sees only the rows of its time, and `matches` has a column
    `rule_version`.

    The rules may also be a DataFrame with the columns rule, text and valid_from, or a function that
    returns such a DataFrame. A further column, parameters, may have the values of `:name`
    parameters, as JSON such as `{"fall": 5}`.

    Over a stream the result is a stream, too: one query with one state for all rules.

    Args:
        df: the rows to search: a DataFrame of Spark, or a frame of pandas, Polars or Arrow.
        rules: a dict from names to rules. Each is a clause of SQL without PARTITION BY and
            ORDER BY, a SASE+ query, or a Pattern.
        order_by: the columns or SQL expressions that sort the rows, the same for all rules.
        partition_by: the columns or SQL expressions that partition the rows, the same for all
            rules. Without it, all rows are one partition.
        type_column: the column with the types of events, for SASE+ queries.
        dialect: the product whose SQL the clauses are written in, as in `sql`.
        on_error: what happens if a rule fails in a partition, for instance because a sum is too
            large. "raise" ends the query, and the error names the rule. "continue" runs all other
            rules, and `errors` of the result lists where the rule failed. If the rules are a
            DataFrame, "continue" also skips its rows that are not valid rules, and `rejected` of
            the result has the reasons.
        event_columns: the columns of the input that the events of matches have, or None for all.
            With fewer columns, matches of many rows are cheaper.
        options: how the query runs. None means the defaults. `max_steps` applies to each rule.
            `transport` and `counters` are not allowed here.

    Returns:
        The matches, in one DataFrame for each rule, or in one for all rules. Nothing runs until you
        call an action on a DataFrame.

    Raises:
        MatchRecognizeError: a rule has a mistake.

    >>> logins = spark.sql("VALUES (1, 'ok'), (2, 'bad'), (3, 'bad'), (4, 'ok') AS t(at, result)")
    >>> result = matchrec.match_rules(logins, {
    ...     "two failures": "PATTERN (B B) DEFINE B AS result = 'bad'",
    ...     "recovery": matchrec.Pattern.begin("bad").where("result = 'bad'")
    ...         .next("ok").where("result = 'ok'"),
    ... }, order_by="at")
    >>> result.matches.select("rule", "start_time", "end_time").show()
    +------------+----------+--------+
    |        rule|start_time|end_time|
    +------------+----------+--------+
    |two failures|         2|       3|
    |    recovery|         3|       4|
    +------------+----------+--------+
    """
    options = resolve_options("match_rules", options, unsupported=("transport", "counters"))
    rows = cast_to_dataframe(df)
    check_session(rows.sparkSession)
    fixed_rules = call_rules(rules)
    events = Events.build(rows, order_by, partition_by)
    relation = build_relation(rows)
    reader = RulesReader(
        events=events,
        relation=relation,
        type_column=type_column,
        dialect=dialect,
        on_error=on_error,
        event_columns=(event_columns,) if isinstance(event_columns, str) else event_columns,
        options=options,
    )
    written_rules = read_rules(fixed_rules, relation, events.order_by[0])
    with translate_stream_errors(rows.sparkSession):
        if is_dataframe(fixed_rules) and on_error == "continue":
            built_set, rejected = reader.build_valid_rules(written_rules)
        else:
            built_set = reader.build(written_rules)
            rejected = {}
        matches = RuleMatches(built_set, rejected)
    warn_about_rules(built_set)
    return matches


def call_rules(rules: Rules) -> FixedRules:
    """Return the argument `rules`, or what it returns if it is a function.

    Raises:
        MatchRecognizePlanError: the function returns something else than rules.
    """
    if not callable(rules):
        return rules
    fixed_rules = rules()
    RULES.check("`match_rules`", "rules", fixed_rules)
    return fixed_rules


def warn_about_rules(built_set: build.BuiltRuleSet) -> None:
    """Warn about probable mistakes in the rules, and about settings that make the session slow."""
    for rule, linked_rule in zip(built_set.request.rules, built_set.rule_set.rules, strict=True):
        assert rule.source is not None
        query = built_set.queries[rule.name]
        with use_language(rule.language):
            warnings = find_plan_warnings(query, built_set.request, rule.source)
            if built_set.request.is_stream:
                warnings += find_state_warnings(
                    query.resolved_plan, linked_rule.compiled_query, rule.source
                )
        warn_caller(*(errors.add_rule_name(rule.name, warning) for warning in warnings))
    warn_caller(*find_tuning_warnings(built_set.rows.sparkSession, [built_set.compiled_rules]))
