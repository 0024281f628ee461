"""`match_rules`: many rules over one DataFrame, which is read, shuffled, sent and sorted once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NoReturn, get_args

from pyspark.sql import DataFrame

from matchrec.api.dialects import parse_clause_of
from matchrec.api.events import Events, add_conditions, lower_over
from matchrec.api.inputs import Frame, Terms, fill_markers, relation_of
from matchrec.api.query import resolve_options
from matchrec.api.remarks import find_remarks, find_session_remarks, find_state_remarks
from matchrec.api.rule_versions import RULES, Rules, WrittenRule, read_rules
from matchrec.api.signatures import ARGUMENTS
from matchrec.api.sql import IS_SASE
from matchrec.arguments import (
    DATAFRAME,
    TEXT,
    TEXTS,
    DialectName,
    OnError,
    checked,
    is_dataframe,
    one_of,
)
from matchrec.errors import MatchRecognizeError
from matchrec.errors.calls import no_attribute
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import PATTERN_CALLS, SASE, reading
from matchrec.errors.run import failures
from matchrec.errors.streams import cached_stream
from matchrec.errors.warnings import refused_rule, warn_caller
from matchrec.explain.explanation import Explanation, explain_rules
from matchrec.explain.pictures.html import folded, paragraph, preformatted
from matchrec.patterns.stages.builder import Pattern
from matchrec.patterns.stages.lower import measure
from matchrec.patterns.stages.tree import textual
from matchrec.plan.clauses import MatchOutput, RowsPerMatch
from matchrec.plan.expression import MATCH_NUMBER
from matchrec.source import Source
from matchrec.spark.environment import check_session, refusing_streams
from matchrec.spark.question import (
    Options,
    Question,
    Rule,
    input_columns,
    is_streaming,
    naming_rule,
)
from matchrec.spark.rule_sets import build
from matchrec.syntax.lower import lower
from matchrec.syntax.nodes import PartitionKey, SortKey
from matchrec.syntax.tokens import read_tokens

if TYPE_CHECKING:
    from typing_extensions import Self

Refused = dict[str, MatchRecognizeError]


@checked(
    **{
        **ARGUMENTS,
        "rules": RULES,
        "on_error": one_of(get_args(OnError)),
        "event_columns": TEXTS.or_none(),
    }
)
def match_rules(  # noqa: PLR0913 -- public signature
    df: Frame,
    rules: Rules,
    *,
    order_by: Terms,
    partition_by: Terms = (),
    type_column: str = "event_type",
    dialect: DialectName = "spark",
    on_error: OnError = "raise",
    event_columns: str | Sequence[str] | None = None,
    options: Options | None = None,
) -> RuleMatches:
    """Find the matches of many rules in a DataFrame, in one pass over its rows.

    A rule may change over time. Pass a dict of versions instead of its text. Each key is the value
    of the first `order_by` column from which a version is valid. The key None is the beginning, and
    a version None ends the rule. A version sees only the rows of its time, and `matches` has a
    column `rule_version`.

    The rules may also be a DataFrame with the columns rule, text and valid_from, or a function that
    returns such a DataFrame. Its column parameters may have the values of `:name` markers, as JSON
    such as `{"fall": 5}`.

    Over a stream the result is a stream, too: one query with one state for all rules.

    Args:
        df: the rows, as for `match_recognize`.
        rules: the rules by name. Each is a clause of SQL without PARTITION BY and ORDER BY, a SASE+
            text, or a Pattern.
        order_by: as for `match_sase`, the same for all rules.
        partition_by: as for `match_sase`, the same for all rules.
        type_column: the column with the types of events, for SASE+ texts.
        dialect: the product whose SQL the clauses are written in, as in `sql`.
        on_error: what happens if a rule fails in a partition, for instance because a sum is too
            large. "raise" ends the query, and the error names the rule. "keep" continues with all
            other rules, and `errors` of the result lists where the rule failed. With "keep", rows
            of a DataFrame of rules that are not valid rules are left out, and `refused` gives the
            reasons.
        event_columns: the columns of the input that the events of matches have, or None for all.
            With fewer columns, matches of many rows are cheaper.
        options: how the query runs. `max_steps` applies to each rule. `transport` and `counters`
            are errors here.

    Raises:
        MatchRecognizeError: a rule has a mistake.

    Everything else works as in `sql`.

    >>> logins = spark.sql("VALUES (1, 'ok'), (2, 'bad'), (3, 'bad'), (4, 'ok') AS t(at, result)")
    >>> found = matchrec.match_rules(logins, {
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
    how = resolve_options("match_rules", options, "transport", "counters")
    check_session(df.sparkSession)
    events = Events.build(df, order_by, partition_by)
    named = (event_columns,) if isinstance(event_columns, str) else event_columns
    asked = RulesReader(events, type_column, dialect, on_error, named)
    given: Any = rules if isinstance(rules, dict) or is_dataframe(rules) else rules()  # type: ignore[operator]
    RULES.check("`match_rules`", "rules", given)
    written = read_rules(given, relation_of(df), asked.events.order_by[0])
    may_refuse = is_dataframe(given) and on_error == "keep"
    with refusing_streams(df.sparkSession):
        found = asked.match_what_can(written, how) if may_refuse else asked.match(written, how)
    warn_of(found._built)
    return found


def warn_of(built: build.BuiltRuleSet) -> None:
    for rule, linked in zip(built.question.rules, built.rule_set.rules, strict=True):
        assert rule.source is not None
        name, drafted = rule.name, built.shared.drafts[rule.name]
        with reading(rule.language):
            found = find_remarks(drafted, built.question, rule.source)
            if built.question.is_stream:
                found += find_state_remarks(drafted.written, linked.executable, rule.source)
        warn_caller(*(failures.of_rule(name, warning) for warning in found))
    warn_caller(*find_session_remarks(built.rows.sparkSession, [built.prepared]))


@dataclass(frozen=True)
class RulesReader:
    events: Events
    type_column: str
    dialect: str
    on_error: OnError
    event_columns: Sequence[str] | None

    def match(self, written: tuple[WrittenRule, ...], how: Options) -> RuleMatches:
        df = self.events.df
        read, frame = self.rules(written)
        relation = relation_of(frame)
        columns = input_columns(relation, names=df.columns)
        question = Question(read, relation, columns, how, on_error=self.on_error)
        known = df.columns
        events = known if self.event_columns is None else self.event_columns
        for name in events:
            if name not in known:
                raise failures.unknown_event_column(name=name, known=known)
            if known.count(name) > 1:
                raise failures.two_columns_of_one_name(name=name)
        return RuleMatches(build.build_rule_set(question.resolve(), tuple(dict.fromkeys(events))))

    def match_what_can(self, written: tuple[WrittenRule, ...], how: Options) -> RuleMatches:
        """The matches of all rules with which nothing is wrong; a warning names each other one."""
        refused: Refused = {}
        while True:
            rules = tuple(rule for rule in written if rule.name not in refused)
            try:
                found = self.match(rules, how)
            except MatchRecognizeError as error:
                if error.rule is None or error.rule in refused or len(rules) == 1:
                    raise
                refused[error.rule] = error
            else:
                warn_caller(*(refused_rule(error=str(one)) for one in refused.values()))
                return RuleMatches(found._built, refused)

    def rules(self, asked: tuple[WrittenRule, ...]) -> tuple[tuple[Rule, ...], DataFrame]:
        """The rules, and the rows with the Columns that are conditions of Patterns."""
        if not asked:
            raise failures.no_rules()
        frame, found = self.events.df, []
        for written in asked:
            name, one = written.name, written.content
            with naming_rule(name):
                if isinstance(one, Pattern):
                    frame, rule = self.pattern(name, one, frame)
                elif IS_SASE.match(one):
                    source = fill_markers(Source(one), written.values)
                    plan = self.events.lower_sase(source, self.type_column, MatchOutput.ALL)
                    rule = Rule(name, plan, source, SASE)
                else:
                    rule = self.clause(name, one, written.values)
            found.append(replace(rule, version=written.version))
        return tuple(found), frame

    def clause(self, name: str, text: str, values: Mapping[str, str]) -> Rule:
        node, source = parse_clause_of(self.events.df, text, self.dialect, values)
        with shown_in(source):
            for part, written in (("PARTITION BY", node.partition_by), ("ORDER BY", node.order_by)):
                if written:  # which all rules have of the call
                    argument, span = part.lower().replace(" ", "_"), written[0].span
                    raise failures.clause_of_its_own(span, clause=part, argument=argument)
            keys = tuple(PartitionKey(read_tokens(one)) for one in self.events.partition_by)
            orders = tuple(SortKey(read_tokens(one)) for one in self.events.order_by)
            plan = lower(replace(node, partition_by=keys, order_by=orders))
        if plan.rows_per_match is RowsPerMatch.ONE_ROW and not (plan.measures or plan.partition_by):
            # a result has a column
            plan = replace(plan, measures=(measure("match_number", MATCH_NUMBER),))
        return Rule(name, plan, source)

    def pattern(self, name: str, pattern: Pattern, frame: DataFrame) -> tuple[DataFrame, Rule]:
        """A Pattern; rows with a column for each of its conditions that is a Column."""
        stages, columns = textual(pattern.stages, f"{sha256(name.encode()).hexdigest()[:8]}_")
        lowered = lower_over(self.events, replace(pattern, stages=stages))
        with shown_in(lowered.source, PATTERN_CALLS):
            wider = add_conditions(frame, columns)
        rule = Rule(name, lowered.plan, lowered.source, PATTERN_CALLS)
        return wider, replace(rule, columns=tuple(map(str, columns.values())))


class RuleMatches:
    """The matches of a set of rules, from `match_rules`.

    Its DataFrames are views of one search. After `cache()` the search runs once for all of them.
    Without it, each action searches again. Over a stream each view is a streaming DataFrame, and
    each query that you start runs its own search. To get all views from one query, write `rows`.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 95) AS t(day, price)")
    >>> found = matchrec.match_rules(ticks, {
    ...     "fall": "MEASURES DOWN.price AS low PATTERN (DOWN) DEFINE DOWN AS price < PREV(price)",
    ...     "rise": "MEASURES UP.price AS high PATTERN (UP) DEFINE UP AS price > PREV(price)",
    ... }, order_by="day").cache()
    >>> found
    <RuleMatches: fall, rise>
    >>> found.rule("rise").show()
    +----+
    |high|
    +----+
    |  95|
    +----+
    >>> _ = found.unpersist()
    """

    def __init__(self, built: build.BuiltRuleSet, refused: Refused | None = None) -> None:
        build.check_names(built)
        build.check_measures(built)
        self._built = built
        self._matches = build.all_matches(built)
        self._results: dict[str, DataFrame] = {}
        self._refused = dict(refused or {})

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> found.rules
        ('large',)
        """
        return tuple(dict.fromkeys(one.version.rule for one in self._built.rule_set.rules))

    @property
    def refused(self) -> dict[str, MatchRecognizeError]:
        """The rules of a table that `on_error="keep"` has left out, each with the reason.

        >>> table = spark.sql("VALUES ('large', 'PATTERN (A) DEFINE A AS id > 1', 3)"
        ...     " AS rules(rule, text, valid_from)")
        >>> found = matchrec.match_rules(spark.range(6), table, order_by="id", on_error="keep")
        >>> found.rules, found.refused
        (('large',), {})
        """
        return dict(self._refused)

    @property
    def matches(self) -> DataFrame:
        """All matches of all rules, one row for each match.

        The columns are:

        - `rule`;
        - `rule_version` if rules have versions: the time from which the version is valid;
        - the partition columns;
        - `match_number`, the number of the match in its partition;
        - `start_time` and `end_time`, the values of the first ORDER BY column on the first and last
          row;
        - `events`, an array of the rows, each with the `variable` that it is mapped to.

        An empty match has no times and no events.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> found.matches.show(truncate=False)
        +-----+------------+----------+--------+----------------+
        |rule |match_number|start_time|end_time|events          |
        +-----+------------+----------+--------+----------------+
        |large|1           |1         |2       |[{1, A}, {2, A}]|
        +-----+------------+----------+--------+----------------+
        """
        return self._matches

    @property
    def errors(self) -> DataFrame:
        """The errors of rules with `on_error="keep"`, one row for each partition in which a rule
        failed.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> found.errors.columns
        ['rule', 'message']
        """
        return build.failures(self._built)

    @checked(name=TEXT)
    def rule(self, name: str) -> DataFrame:
        """Return the result of one rule, in all of its versions, with the columns of its own query.

        >>> rules = {"large": "MEASURES count(*) AS n PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> found.rule("large").show()
        +---+
        |  n|
        +---+
        |  2|
        +---+
        """
        if name not in self.rules:
            raise failures.unknown_rule(name=name, known=self.rules)
        if name not in self._results:
            self._results[name] = build.result_of_versions(self._built, name)
        return self._results[name]

    @property
    def rows(self) -> DataFrame:
        """The DataFrame behind all of these views: write it once, then `split` it.

        >>> rules = {"large": "MEASURES A.id AS n PATTERN (A) DEFINE A AS id > 1"}
        >>> found = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> written = found.rows.localCheckpoint()
        >>> found.split(written).rule("large").collect()
        [Row(n=2)]
        """
        return self._built.rows

    @checked(df=DATAFRAME)
    def split(self, df: DataFrame) -> RuleMatches:
        """Return the views of some of `rows`, such as the rows of a micro-batch in `foreachBatch`.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> found.split(found.rows.limit(0)).matches.count()
        0
        """
        if missing := [name for name in self.rows.columns if name not in df.columns]:
            raise failures.rows_of_something_else(missing=missing)
        return RuleMatches(self._built.over(df), self._refused)

    def cache(self) -> Self:
        """Cache the result of the search, so that only the first action searches.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> found.cache().matches.count(), found.unpersist().rules
        (1, ('large',))
        """
        if is_streaming(self._built.rows):
            raise cached_stream()
        self._built.rows.cache()
        return self

    def unpersist(self) -> Self:
        """Remove the result of the search from Spark's cache.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> found.cache().unpersist()
        <RuleMatches: large>
        """
        self._built.rows.unpersist()
        return self

    def explain(self) -> Explanation:
        """Explain what Spark computes once for all rules, then how each rule runs.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> print(found.explain())
        partitions and order of all rules
          all rows form one partition
          order by `id`
          sorted by the workers: Spark only brings the rows of a partition together
        ...
        """
        built = self._built
        return explain_rules(built.rule_set, built.shared.drafts, built.prepared.preparation.sorter)

    if not TYPE_CHECKING:  # which knows by itself what there is

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, "matches", DataFrame)

    def __repr__(self) -> str:
        return f"<RuleMatches: {', '.join(self.rules)}>"

    def _repr_html_(self) -> str:
        columns = ", ".join(f"{name}: {kind}" for name, kind in self._matches.dtypes)
        shown = paragraph(f"rules: {', '.join(self.rules)}") + paragraph(columns)
        return shown + folded("all stages", preformatted(self.explain().text))
