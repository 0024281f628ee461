"""`match_all`: many rules over one DataFrame, which is read, shuffled, sent and sorted once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from matchrec.api.dialects import parse_clause_of
from matchrec.api.inputs import relation_of, streams_of
from matchrec.api.patterns import PatternCall, with_conditions
from matchrec.api.remarks import remarks_in, remarks_on_state, warn
from matchrec.api.rule_sets.result import RuleMatches
from matchrec.api.signatures import ARGUMENTS
from matchrec.arguments import TEXTS, ArgumentKind, OneOf, checked
from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import PATTERN_CALLS, SASE, reading
from matchrec.errors.run.failures import (
    alike_but_for_case,
    clause_of_its_own,
    no_rules,
    of_rule,
    two_columns_of_one_name,
    unknown_event_column,
)
from matchrec.frontends.pattern import AfterMatch, Pattern, textual
from matchrec.frontends.pattern.lower import measure
from matchrec.frontends.sase import compile_sase
from matchrec.frontends.sql import MatchRecognize
from matchrec.frontends.sql.lower import lower
from matchrec.frontends.sql.nodes import ExpressionText, PartitionKey, SortKey
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import MatchNumber
from matchrec.source import Source, Span
from matchrec.spark.environment import check_session
from matchrec.spark.errors.diagnose import check_type_column
from matchrec.spark.question import Options, Question, Rule, input_columns
from matchrec.spark.rule_sets.build import BuiltRuleSet, build_rule_set
from matchrec.spark.rule_sets.worker import OnError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame


RULES = ArgumentKind(
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
    asked = RulesReader.of(df, (order_by, partition_by), skip, type_column, dialect)
    read, frame = asked.rules(rules)
    relation = relation_of(frame)
    columns = input_columns(relation.runner, df.columns, None)
    events = known_columns(df, event_columns)
    options = Options(engine, sort=sort, max_steps=max_steps)
    question = Question(read, relation, columns, options)
    built = build_rule_set(question, events, OnError(on_error))
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
    """Warns of what in the rules is probably not meant."""
    for rule in built.question.rules:
        assert rule.source is not None
        name, plan = rule.name, built.drafts[rule.name].written
        with reading(rule.language):
            found = remarks_in(plan, rule.source)
            if built.is_stream:
                found += remarks_on_state(plan, built.executables[name], rule.source)
        warn(*(of_rule(name, one) for one in found))


IS_SASE = re.compile(r"(\s|--[^\n]*\n|/\*([^*]|\*(?!/))*\*/)*PATTERN\s+SEQ\b", re.IGNORECASE)
"""How a SASE+ text begins; in a clause of SQL a parenthesis follows PATTERN."""

Asked = Mapping[str, "str | Pattern"]


@dataclass(frozen=True)
class RulesReader:
    """What all rules of a call share. skip: of Patterns. type_column: of SASE+. dialect: of SQL."""

    df: DataFrame
    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]
    skip: AfterMatch
    type_column: str
    dialect: str

    @classmethod
    def of(
        cls,
        df: DataFrame,
        streams: tuple[str | Sequence[str], str | Sequence[str]],
        skip: AfterMatch,
        type_column: str,
        dialect: str,
    ) -> RulesReader:
        """streams: what rows are sorted by and partitioned by, as a call has it."""
        order_by, partition_by = streams
        texts = streams_of(df, order_by, partition_by)
        return cls(df, *texts, skip, type_column, dialect)

    def rules(self, asked: Asked) -> tuple[tuple[Rule, ...], DataFrame]:
        """The rules, and the rows with the Columns that are conditions of Patterns."""
        check_names(asked)
        frame, found = self.df, []
        for name, one in asked.items():
            with naming(name):
                if isinstance(one, Pattern):
                    frame, rule = self.pattern(name, one, frame)
                elif IS_SASE.match(one):
                    rule = self.sase(name, one)
                else:
                    rule = self.clause(name, one)
            found.append(rule)
        return tuple(found), frame

    def clause(self, name: str, text: str) -> Rule:
        """A clause of SQL."""
        node, source = parse_clause_of(self.df, text, self.dialect)
        with shown_in(source):
            refuse_streams(node)
            plan = lower(self.with_streams(node))
        if plan.rows_per_match is RowsPerMatch.ONE_ROW and not (plan.measures or plan.partition_by):
            number = measure("match_number", MatchNumber())  # a result has a column
            plan = replace(plan, measures=(number,))
        return Rule(name, plan, source)

    def with_streams(self, node: MatchRecognize) -> MatchRecognize:
        """The clause with the partitions and the order of all rules."""

        def written(text: str) -> ExpressionText:
            return ExpressionText(text, Span(0, 0))

        return replace(
            node,
            partition_by=tuple(PartitionKey(written(text)) for text in self.partition_by),
            order_by=tuple(SortKey(written(text)) for text in self.order_by),
        )

    def sase(self, name: str, text: str) -> Rule:
        """A SASE+ query."""
        with shown_in(Source(text), SASE):
            plan = compile_sase(text, self.order_by, self.partition_by, self.type_column)
            check_type_column(self.df, self.type_column, plan)
        return Rule(name, plan, Source(text), SASE)

    def pattern(self, name: str, pattern: Pattern, frame: DataFrame) -> tuple[DataFrame, Rule]:
        """A Pattern; rows with a column for each of its conditions that is a Column."""
        taken = len(frame.columns) - len(self.df.columns)
        stages, columns = textual(pattern.stages, taken)
        named = Pattern(stages)
        streams = self.order_by, self.partition_by
        lowered = PatternCall(self.df, named, *streams, self.skip, "matches", False).lowered()
        with shown_in(lowered.source, PATTERN_CALLS):
            wider = with_conditions(frame, columns)
        return wider, Rule(name, lowered.plan, lowered.source, PATTERN_CALLS)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Errors raised inside name the rule."""
    try:
        yield
    except MatchRecognizeError as error:
        raise of_rule(name, error) from error.__cause__


def refuse_streams(node: MatchRecognize) -> None:
    """Raises where a clause has partitions or an order of its own."""
    for clause, written in (("PARTITION BY", node.partition_by), ("ORDER BY", node.order_by)):
        if written:
            raise clause_of_its_own(clause, written[0].span)


def check_names(asked: Asked) -> None:
    """Raises where there is no rule, or two have one name."""
    if not asked:
        raise no_rules()
    seen: dict[str, str] = {}
    for name in asked:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise alike_but_for_case(other, name)
