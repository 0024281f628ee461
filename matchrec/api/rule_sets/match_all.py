"""`match_all`: many rules over one DataFrame, which is read, shuffled, sent and sorted once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matchrec.api.inputs import relation_of
from matchrec.api.remarks import remarks_in, remarks_on_state, warn
from matchrec.api.rule_sets.reading import Asked, Reading
from matchrec.api.rule_sets.result import RuleMatches
from matchrec.api.signatures import ARGUMENTS
from matchrec.arguments import TEXTS, Kind, OneOf, checked
from matchrec.errors.language import reading
from matchrec.errors.run.rule_sets import (
    of_rule,
    two_columns_of_one_name,
    unknown_event_column,
)
from matchrec.frontends.pattern import AfterMatch, Pattern
from matchrec.spark.execute import input_columns
from matchrec.spark.rule_sets.asked import Input, RuleSetOptions
from matchrec.spark.rule_sets.build import BuiltRuleSet, build_rule_set
from matchrec.spark.rule_sets.worker import OnError
from matchrec.spark.sessions.environment import check_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RULES = Kind(
    "a dict of clauses, SASE+ texts and Patterns by the names of the rules",
    lambda given: (
        isinstance(given, dict)
        and all(isinstance(name, str) and name.strip() for name in given)
        and all(isinstance(one, str | Pattern) for one in given.values())
    ),
    'write rules={"name": "PATTERN (...) DEFINE ..."}',
)


@checked(
    rules=RULES,
    event_columns=TEXTS.or_none(),
    on_error=OneOf(tuple(one.value for one in OnError)),
    **ARGUMENTS,
)
def match_all(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    rules: Asked,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    skip: AfterMatch = AfterMatch.NO_SKIP,
    type_column: str = "event_type",
    dialect: str = "spark",
    event_columns: str | Sequence[str] | None = None,
    on_error: str = "raise",
    engine: str = "auto",
    sort: str = "auto",
    max_steps: int | None = None,
) -> RuleMatches:
    """The matches of many rules over a DataFrame, found in one pass over its rows.

    rules: by name, each a clause of SQL without PARTITION BY and ORDER BY, a SASE+ text or a
    Pattern. order_by, partition_by: as of `sase`, for all rules. skip: of Patterns, as of `detect`.
    type_column: of SASE+ texts. dialect: of clauses. event_columns: which columns of the input the
    events of matches have, None for all; matches of many rows are cheaper with few of them.

    on_error: what becomes of a rule that fails in a partition, as by a sum that is too large:
    "raise" ends the query and names the rule; "keep" goes on with all others, and `errors` of the
    result says where it failed. max_steps: of each rule.

    Over a stream the result is one, too: one query with one state for all rules.
    Otherwise as `sql`. Raises MatchRecognizeError for what is wrong with a rule.

    >>> logins = spark.sql("VALUES (1, 'ok'), (2, 'bad'), (3, 'bad'), (4, 'ok') AS t(at, result)")
    >>> found = matchrec.match_all(logins, {
    ...     "two failures": "PATTERN (B B) DEFINE B AS result = 'bad'",
    ...     "recovery": matchrec.Pattern.begin("bad").where("result = 'bad'")
    ...         .next("ok").where("result = 'ok'"),
    ... }, order_by="at")
    >>> found.matches.select("rule", "start_time", "end_time").show()
    +------------+----------+--------+
    |        rule|start_time|end_time|
    +------------+----------+--------+
    |two failures|         2|       3|
    |    recovery|         3|       4|
    +------------+----------+--------+
    """
    check_session(df.sparkSession)
    asked = Reading.of(df, (order_by, partition_by), skip, type_column, dialect)
    read, frame = asked.rules(rules)
    relation = relation_of(frame)
    columns = input_columns(relation.runner, df.columns, None)
    events = known_columns(df, event_columns)
    options = RuleSetOptions(engine, max_steps, OnError(on_error), sort)
    built = build_rule_set(read, Input(relation, columns, events), options)
    found = RuleMatches(built)
    warn_of(built)
    return found


def known_columns(df: DataFrame, asked: str | Sequence[str] | None) -> tuple[str, ...]:
    """The columns of events. Raises for a name that is none."""
    names = (asked,) if isinstance(asked, str) else df.columns if asked is None else asked
    for name in names:
        if name not in df.columns:
            raise unknown_event_column(name, df.columns)
        if df.columns.count(name) > 1:
            raise two_columns_of_one_name(name)
    return tuple(dict.fromkeys(names))


def warn_of(built: BuiltRuleSet) -> None:
    """Warns of what in the rules is nearly never meant."""
    for name, rule in built.rules.items():
        plan = built.drafts[name].written
        with reading(rule.language):
            found = remarks_in(plan, rule.source)
            if built.is_stream:
                found += remarks_on_state(plan, built.executables[name], rule.source)
        warn(*(of_rule(name, one) for one in found))
