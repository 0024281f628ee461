"""`match_rules`: many rules over one DataFrame, which is read, shuffled, sent and sorted once.

1. `read_rules` turns the argument `rules` into a list of `WrittenRule`s, one for each version.
2. `RulesReader` parses each of them to a plan over the same rows, keys and order.
3. `build_rule_set` compiles all plans together and plans one search for them.
4. `RuleMatches` has the result: DataFrames that are views of this search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NoReturn, get_args

from pyspark.sql import DataFrame

from matchrec.api.clause_warnings import (
    find_plan_warnings,
    find_state_warnings,
    find_tuning_warnings,
)
from matchrec.api.dialects import parse_clause_in_dialect
from matchrec.api.events import Events, add_conditions, lower_over
from matchrec.api.inputs import (
    ColumnsOrSql,
    Frame,
    build_relation,
    cast_to_dataframe,
    fill_parameters,
)
from matchrec.api.query import resolve_options
from matchrec.api.rule_versions import RULES, Rules, WrittenRule, read_rules
from matchrec.api.signatures import ARGUMENTS
from matchrec.api.sql import IS_SASE
from matchrec.arguments import (
    DATAFRAME,
    TEXT,
    TEXTS,
    DialectName,
    OnError,
    check_arguments,
    is_dataframe,
    make_word_kind,
)
from matchrec.errors import MatchRecognizeError
from matchrec.errors import rule_sets as errors
from matchrec.errors.calls import no_attribute
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import PATTERN_CALLS, SASE, use_language
from matchrec.errors.streams import cache_over_stream
from matchrec.errors.warnings import rejected_rule, warn_caller
from matchrec.explain.explanation import Explanation
from matchrec.explain.pictures.html import wrap_in_details, write_paragraph, write_preformatted
from matchrec.explain.rule_set import explain_rules
from matchrec.patterns.stages.builder import Pattern
from matchrec.patterns.stages.lower import make_measure
from matchrec.patterns.stages.tree import name_columns
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.expression import MATCH_NUMBER
from matchrec.source import Source
from matchrec.spark.environment import check_session, translate_stream_errors
from matchrec.spark.request import (
    MatchRequest,
    Options,
    Rule,
    find_input_columns,
    is_streaming,
    name_rule_in_errors,
)
from matchrec.spark.rule_sets import build
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.nodes import MatchRecognize, PartitionKey, SortKey
from matchrec.syntax.tokenize import read_tokens

if TYPE_CHECKING:
    from typing_extensions import Self

# The rules that were left out because they have a mistake, each with the error.
RejectedRules = dict[str, MatchRecognizeError]


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

    A rule may change over time. To say so, pass a dict of versions instead of its text. Each key is
    the value of the first `order_by` column from which a version is valid. The key None is the
    beginning, and a version None ends the rule. A version sees only the rows of its time, and
    `matches` has a column `rule_version`.

    The rules may also be a DataFrame with the columns rule, text and valid_from, or a function that
    returns such a DataFrame. A further column, parameters, may have the values of `:name`
    parameters, as JSON such as `{"fall": 5}`.

    Over a stream the result is a stream, too: one query with one state for all rules.

    Args:
        df: the rows, as for `match_recognize`.
        rules: the rules by name. Each is a clause of SQL without PARTITION BY and ORDER BY, a SASE+
            query, or a Pattern.
        order_by: as for `match_sase`, the same for all rules.
        partition_by: as for `match_sase`, the same for all rules.
        type_column: the column with the types of events, for SASE+ queries.
        dialect: the product whose SQL the clauses are written in, as in `sql`.
        on_error: what happens if a rule fails in a partition, for instance because a sum is too
            large. "raise" ends the query, and the error names the rule. "continue" runs all other
            rules, and `errors` of the result lists where the rule failed. With "continue", rows of
            a DataFrame of rules that are not valid rules are left out, and `rejected` of the
            result gives the reasons.
        event_columns: the columns of the input that the events of matches have, or None for all.
            With fewer columns, matches of many rows are cheaper.
        options: how the query runs. `max_steps` applies to each rule. `transport` and `counters`
            are not allowed here.

    Raises:
        MatchRecognizeError: a rule has a mistake.

    Everything else works as in `sql`.

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
    options = resolve_options("match_rules", options, "transport", "counters")
    rows = cast_to_dataframe(df)
    check_session(rows.sparkSession)
    event_names = (event_columns,) if isinstance(event_columns, str) else event_columns
    events = Events.build(rows, order_by, partition_by)
    reader = RulesReader(events, type_column, dialect, on_error, event_names, options)
    fixed_rules: Any = rules() if callable(rules) else rules
    RULES.check("`match_rules`", "rules", fixed_rules)
    written_rules = read_rules(fixed_rules, build_relation(rows), events.order_by[0])
    with translate_stream_errors(rows.sparkSession):
        if is_dataframe(fixed_rules) and on_error == "continue":
            matches = reader.match_valid_rules(written_rules)
        else:
            matches = reader.match(written_rules)
    warn_about_rules(matches._built)
    return matches


def warn_about_rules(built: build.BuiltRuleSet) -> None:
    """Warn about what is probably a mistake in the rules or costs time in the session."""
    for rule, linked in zip(built.request.rules, built.rule_set.rules, strict=True):
        assert rule.source is not None
        query = built.queries[rule.name]
        with use_language(rule.language):
            warnings = find_plan_warnings(query, built.request, rule.source)
            if built.request.is_stream:
                warnings += find_state_warnings(
                    query.written_plan, linked.compiled_query, rule.source
                )
        warn_caller(*(errors.name_rule(rule.name, warning) for warning in warnings))
    warn_caller(*find_tuning_warnings(built.rows.sparkSession, [built.compiled]))


@dataclass(frozen=True)
class RulesReader:
    """What all rules of a call share: the arguments of `match_rules` other than the rules."""

    events: Events
    type_column: str
    dialect: str
    on_error: OnError
    event_columns: Sequence[str] | None
    options: Options

    def match(self, written_rules: Sequence[WrittenRule]) -> RuleMatches:
        """Return the matches of all rules.

        Raises:
            MatchRecognizeError: a rule has a mistake.
        """
        rules, frame = self.read(written_rules)
        relation = build_relation(frame)
        # Without the columns of conditions, which no rule may name.
        columns = find_input_columns(relation, names=self.events.df.columns)
        request = MatchRequest(
            rules,
            relation,
            columns,
            self.options,
            event_columns=self.choose_event_columns(),
            on_error=self.on_error,
        )
        return RuleMatches(build.build_rule_set(request.rewrite_rules()))

    def match_valid_rules(self, written_rules: Sequence[WrittenRule]) -> RuleMatches:
        """Return the matches of all rules that have no mistake. Warn about each of the others.

        An error names the first rule with a mistake. So rules are left out one by one until the
        others can be matched.

        Raises:
            MatchRecognizeError: all rules have a mistake, or the mistake is not in a rule.
        """
        rejected: RejectedRules = {}
        while True:
            valid_rules = [rule for rule in written_rules if rule.name not in rejected]
            try:
                matches = self.match(valid_rules)
            except MatchRecognizeError as error:
                if error.rule is None or error.rule in rejected or len(valid_rules) == 1:
                    raise
                rejected[error.rule] = error
            else:
                warn_caller(*(rejected_rule(error=str(error)) for error in rejected.values()))
                return RuleMatches(matches._built, rejected)

    def choose_event_columns(self) -> tuple[str, ...]:
        """Return the columns of the input that the events of matches have, each once.

        Raises:
            MatchRecognizePlanError: the input has no such column, or several.
        """
        input_names = self.events.df.columns
        names = input_names if self.event_columns is None else self.event_columns
        for name in names:
            if name not in input_names:
                raise errors.unknown_event_column(name=name, columns=input_names)
            if input_names.count(name) > 1:
                raise errors.duplicate_input_column(name=name)
        return tuple(dict.fromkeys(names))

    def read(self, written_rules: Sequence[WrittenRule]) -> tuple[tuple[Rule, ...], DataFrame]:
        """Return the rules, and the rows with a column for each condition that is a Column.

        Raises:
            MatchRecognizeError: there are no rules, or one has a mistake. The error names the rule.
        """
        if not written_rules:
            raise errors.no_rules()
        frame = self.events.df
        rules = []
        for written in written_rules:
            content = written.content
            with name_rule_in_errors(written.name):
                if isinstance(content, Pattern):
                    rule, frame = self.read_pattern(written, content, frame)
                elif IS_SASE.match(content):
                    rule = self.read_sase(written, content)
                else:
                    rule = self.read_clause(written, content)
            rules.append(rule)
        return tuple(rules), frame

    def read_sase(self, written: WrittenRule, text: str) -> Rule:
        """Return the rule of a SASE+ text.

        Args:
            written: the rule as the user wrote it.
            text: its text.
        """
        source = fill_parameters(Source(text), written.values)
        plan = self.events.lower_sase(source, self.type_column, MatchOutput.ALL)
        return Rule(written.name, plan, source, SASE, written.version)

    def read_clause(self, written: WrittenRule, text: str) -> Rule:
        """Return the rule of a clause of SQL.

        Args:
            written: the rule as the user wrote it.
            text: the clause.
        """
        node, source = parse_clause_in_dialect(self.events.df, text, self.dialect, written.values)
        with locate_errors(source):
            reject_keys_and_order(node)
            plan = lower_clause(self.add_keys_and_order(node))
        summarizes_matches = plan.rows_per_match.summarizes_matches
        if summarizes_matches and not plan.measures and not plan.partition_by:
            # A DataFrame needs a column.
            plan = replace(plan, measures=(make_measure("match_number", MATCH_NUMBER),))
        return Rule(written.name, plan, source, version=written.version)

    def add_keys_and_order(self, node: MatchRecognize) -> MatchRecognize:
        """Return a clause with the PARTITION BY and ORDER BY that all rules share."""
        keys = [PartitionKey(read_tokens(text)) for text in self.events.partition_by]
        order = [SortKey(read_tokens(text)) for text in self.events.order_by]
        return replace(node, partition_by=tuple(keys), order_by=tuple(order))

    def read_pattern(
        self, written: WrittenRule, pattern: Pattern, frame: DataFrame
    ) -> tuple[Rule, DataFrame]:
        """Return the rule of a Pattern, and the rows with a column for each condition as a Column.

        Args:
            written: the rule as the user wrote it.
            pattern: its Pattern.
            frame: the rows, with the columns of the rules before this one.
        """
        # The hash keeps the columns of several rules apart, whichever rules a call has.
        prefix = f"{sha256(written.name.encode()).hexdigest()[:8]}_"
        stages, conditions = name_columns(pattern.stages, prefix)
        lowered = lower_over(self.events, replace(pattern, stages=stages))
        with locate_errors(lowered.source, PATTERN_CALLS):
            frame = add_conditions(frame, conditions)
        column_texts = tuple(str(column) for column in conditions.values())
        rule = Rule(
            name=written.name,
            plan=lowered.plan,
            source=lowered.source,
            language=PATTERN_CALLS,
            version=written.version,
            columns=column_texts,
        )
        return rule, frame


def reject_keys_and_order(node: MatchRecognize) -> None:
    """Check that the clause of a rule has no PARTITION BY and no ORDER BY.

    Every rule uses the PARTITION BY and ORDER BY of the call.

    Raises:
        MatchRecognizePlanError: the clause has one.
    """
    if node.partition_by:
        raise errors.keys_in_rule(
            node.partition_by[0].span, clause="PARTITION BY", argument="partition_by"
        )
    if node.order_by:
        raise errors.keys_in_rule(node.order_by[0].span, clause="ORDER BY", argument="order_by")


class RuleMatches:
    """The matches of a set of rules, from `match_rules`.

    Its DataFrames are views of one search. After `cache()` the search runs once for all of them.
    Without it, each action searches again. Over a stream each view is a streaming DataFrame, and
    each query that you start runs its own search. To get all views from one query, write `rows`.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 95) AS t(day, price)")
    >>> result = matchrec.match_rules(ticks, {
    ...     "fall": "MEASURES FALL.price AS low PATTERN (FALL) DEFINE FALL AS price < PREV(price)",
    ...     "rise": "MEASURES RISE.price AS high PATTERN (RISE) DEFINE RISE AS price > PREV(price)",
    ... }, order_by="day").cache()
    >>> result
    <RuleMatches: fall, rise>
    >>> result.rule("rise").show()
    +----+
    |high|
    +----+
    |  95|
    +----+
    >>> _ = result.unpersist()
    """

    def __init__(self, built: build.BuiltRuleSet, rejected: RejectedRules | None = None) -> None:
        """Make the views of a rule set.

        Raises:
            MatchRecognizePlanError: names of columns or measures cannot be in one result.
        """
        build.check_input_names(built)
        build.check_measures(built)
        self._built = built
        self._matches = build.select_matches(built)
        self._results: dict[str, DataFrame] = {}
        self._rejected = dict(rejected or {})

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.rules
        ('large',)
        """
        return tuple(dict.fromkeys(rule.version.rule for rule in self._built.rule_set.rules))

    @property
    def rejected(self) -> dict[str, MatchRecognizeError]:
        """The rules that `on_error="continue"` left out of a DataFrame of rules, with their errors.

        >>> table = spark.sql("VALUES ('large', 'PATTERN (A) DEFINE A AS id > 1', 3)"
        ...     " AS rules(rule, text, valid_from)")
        >>> result = matchrec.match_rules(spark.range(6), table, order_by="id", on_error="continue")
        >>> result.rules, result.rejected
        (('large',), {})
        """
        return dict(self._rejected)

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
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.matches.show(truncate=False)
        +-----+------------+----------+--------+----------------+
        |rule |match_number|start_time|end_time|events          |
        +-----+------------+----------+--------+----------------+
        |large|1           |1         |2       |[{1, A}, {2, A}]|
        +-----+------------+----------+--------+----------------+
        """
        return self._matches

    @property
    def errors(self) -> DataFrame:
        """The errors of rules with `on_error="continue"`: a row for each partition in which a rule
        failed.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.errors.columns
        ['rule', 'message']
        """
        return build.select_failures(self._built)

    @check_arguments(name=TEXT)
    def rule(self, name: str) -> DataFrame:
        """Return the result of one rule, in all of its versions, with the columns of its query.

        >>> rules = {"large": "MEASURES count(*) AS n PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.rule("large").show()
        +---+
        |  n|
        +---+
        |  2|
        +---+
        """
        if name not in self.rules:
            raise errors.unknown_rule(name=name, rules=self.rules)
        if name not in self._results:
            self._results[name] = build.select_result(self._built, name)
        return self._results[name]

    @property
    def rows(self) -> DataFrame:
        """The rows of the search, from which all views are made. Write them once, then use `split`.

        >>> rules = {"large": "MEASURES A.id AS n PATTERN (A) DEFINE A AS id > 1"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> written = result.rows.localCheckpoint()
        >>> result.split(written).rule("large").collect()
        [Row(n=2)]
        """
        return self._built.rows

    @check_arguments(df=DATAFRAME)
    def split(self, df: DataFrame) -> RuleMatches:
        """Return the views of some of `rows`, such as the rows of a micro-batch in `foreachBatch`.

        Args:
            df: some or all of `rows`, with all of their columns.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.split(result.rows.limit(0)).matches.count()
        0
        """
        if missing := [name for name in self.rows.columns if name not in df.columns]:
            raise errors.not_rows_of_rule_set(missing=missing)
        return RuleMatches(self._built.over(df), self._rejected)

    def cache(self) -> Self:
        """Cache the result of the search, so that only the first action searches.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.cache().matches.count(), result.unpersist().rules
        (1, ('large',))
        """
        if is_streaming(self._built.rows):
            raise cache_over_stream()
        self._built.rows.cache()
        return self

    def unpersist(self) -> Self:
        """Remove the result of the search from Spark's cache.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.cache().unpersist()
        <RuleMatches: large>
        """
        self._built.rows.unpersist()
        return self

    def explain(self) -> Explanation:
        """Explain what Spark computes once for all rules, then how each rule runs.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> print(result.explain())
        partitions and order of all rules
          all rows form one partition
          order by `id`
          sorted by the workers; the engine only groups the rows by partition
        ...
        """
        built = self._built
        return explain_rules(built.rule_set, built.queries, built.compiled.preparation.sorter)

    if not TYPE_CHECKING:  # otherwise type checkers would accept any attribute

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an AttributeError that says how to get a DataFrame, if that has `name`."""
            raise no_attribute(self, name, "matches", DataFrame)

    def __repr__(self) -> str:
        return f"<RuleMatches: {', '.join(self.rules)}>"

    def _repr_html_(self) -> str:
        """Return the rules and columns for notebooks, with the explanation folded up."""
        rules = write_paragraph(f"rules: {', '.join(self.rules)}")
        columns = write_paragraph(
            ", ".join(f"{name}: {type_}" for name, type_ in self._matches.dtypes)
        )
        return (
            rules + columns + wrap_in_details("all steps", write_preformatted(self.explain().text))
        )
