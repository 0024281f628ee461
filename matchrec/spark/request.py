"""A request: rules to match over a relation, and the options with which they run.

A query is a request with one rule that has no name. The request knows the names and types of the
input's columns and the settings of the session. `spark.compile` compiles its rules, and
`spark.clause_result` builds its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, get_args

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType

from matchrec import arguments
from matchrec.arguments import Algorithm, Sort, Transport
from matchrec.compile.rule_set import Version
from matchrec.conditions.functions.calendar import has_fixed_offset
from matchrec.conditions.functions.function import SessionSettings
from matchrec.conditions.padding import TextPadder
from matchrec.conditions.window_columns import OrderType, check_ascending_order
from matchrec.errors import MatchRecognizeError
from matchrec.errors.calls import max_steps_with_event_selection
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import Language
from matchrec.errors.rule_sets import add_rule_name
from matchrec.plan.earlier_measures import inline_earlier_measures
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, ResultUse
from matchrec.plan.resolve import InputColumns
from matchrec.public_names import public
from matchrec.source import Source
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.backend import Backend
from matchrec.spark.backends import find_backend
from matchrec.spark.errors.diagnose import explain_refusals
from matchrec.spark.errors.refused_operations import find_refusal
from matchrec.spark.errors.rewritten_errors import put_in_plain_words
from matchrec.spark.errors.type_checks import check_window_types
from matchrec.spark.kept_results import ResultSlot, open_slot
from matchrec.spark.relation import Relation
from matchrec.spark.runner import Runner
from matchrec.spark.sail.probes import find_spark_version
from matchrec.spark.types import find_char_length, to_value_type
from matchrec.spark.window_lengths import check_constant_lengths, check_frame_length

if TYPE_CHECKING:
    from matchrec.spark.counters import Counters

# The values that the options `counters` and `max_steps` accept.
COUNTERS = arguments.ArgumentKind(
    "a new Counters(), or None",
    lambda value: value is None or are_counters(value),
    "write counters = matchrec.Counters(), and pass Options(counters=counters)",
)
# The greatest value of `max_steps`: steps are counted in 64 bits.
MOST_STEPS = 2**63 - 1


def find_max_steps_hint(value: object) -> str | None:
    """Return the advice for a number in quotes, or one below 1; None for other values.

    >>> find_max_steps_hint("10"), find_max_steps_hint(0)
    ('write max_steps=10', 'write 1 or more, or leave max_steps out for no limit')
    """
    if isinstance(value, str) and value.strip().isdecimal() and int(value) > 0:
        return f"write max_steps={int(value)}"
    if arguments.is_whole(value) and value < 1:
        return "write 1 or more, or leave max_steps out for no limit"
    return None


MAX_STEPS = arguments.ArgumentKind(
    "a whole number of 1 or more, or None",
    lambda value: value is None or (arguments.is_whole(value) and 1 <= value <= MOST_STEPS),
    "write max_steps=1_000_000_000, or leave it out for no limit",
    find_hint=find_max_steps_hint,
    right_types=(int,),
)


def are_counters(value: object) -> bool:
    """Return whether a value is Counters. A query without counters never loads their module."""
    from matchrec.spark.counters import Counters

    return isinstance(value, Counters)


@public
@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings for how a query runs: its algorithm, who sorts, and limits.

    Attributes:
        algorithm: how the search looks for matches. "auto", which you need not change, chooses the
            algorithm that is expected to be fastest. "backtracking" follows one run at a time, and
            goes back if it fails. "breadth_first" advances all runs together, row by row.
        sort: who sorts the rows. "auto": the Python workers if they can, else the engine.
            "engine": Spark or Sail. "worker": the Python workers. "ranges": the Python workers, and
            large partitions are cut into ranges for several tasks.
        transport: how Spark sends rows to the Python workers. "arrow": as Arrow data, which is
            an error in a stream. "pandas": as pandas data. "auto": as Arrow data, but in a stream
            as pandas data.
        max_steps: the largest number of steps in one partition, after which the query ends with an
            error. A step is one test of a condition that depends on the run. None means no limit.
            An error if the query may skip rows.
        counters: an object that counts the work of the search. See `Counters`. None means that
            nothing is counted.

    Raises:
        MatchRecognizePlanError: an option has any other value.

    >>> by_engine = matchrec.Options(sort="engine", max_steps=1_000_000)
    >>> matchrec.match_recognize(
    ...     spark.range(3), "ORDER BY id MEASURES A.id AS n PATTERN (A) DEFINE A AS id > 1",
    ...     options=by_engine).collect()
    [Row(n=2)]
    """

    algorithm: Algorithm = "auto"
    sort: Sort = "auto"
    transport: Transport = "auto"
    max_steps: int | None = None
    counters: Counters | None = None


# The values that each option accepts, by the name of the option.
OPTIONS: dict[str, arguments.ArgumentKind] = {
    "algorithm": arguments.make_word_kind(get_args(Algorithm)),
    "sort": arguments.make_word_kind(get_args(Sort)),
    "transport": arguments.make_word_kind(get_args(Transport)),
    "max_steps": MAX_STEPS,
    "counters": COUNTERS,
}
Options.__init__ = arguments.check_arguments(**OPTIONS)(Options.__init__)  # type: ignore[method-assign]
NO_OPTIONS = Options()


@contextmanager
def name_rule_in_errors(name: str) -> Iterator[None]:
    """Add the name of a rule to errors that are raised inside, if it has a name."""
    try:
        yield
    except MatchRecognizeError as error:
        if not name:
            raise
        raise add_rule_name(name, error) from error.__cause__


@dataclass(frozen=True)
class Rule:
    """The plan of a rule, with its name and its text. A query is a rule without a name."""

    name: str  # empty for a query
    plan: MatchPlan
    # The text of the rule, which messages show; None for the only clause of a query.
    source: Source | None = None
    # The language of this text; None for the language of the text around the rule.
    language: Language | None = None
    # The time for which the rule is valid; None for a rule without times.
    version: Version | None = None
    # If the rule is a Pattern: its conditions that are Columns of PySpark, as Spark prints them.
    condition_columns: tuple[str, ...] = ()

    @contextmanager
    def name_in_errors(self) -> Iterator[None]:
        """Add the name and the text of the rule to errors that are raised inside."""
        showing_text = (
            nullcontext() if self.source is None else locate_errors(self.source, self.language)
        )
        with name_rule_in_errors(self.name), showing_text:
            yield


class Purpose(Enum):
    """What the rules of a request are compiled for."""

    # The rows of their results.
    RESULT = "result"
    # Counts of the starting rows that reach each variable of PATTERN: see `compile.coverage`.
    COVERAGE = "coverage"
    # The search of one partition, all of whose rows are shown: see `spark.collected_partition`.
    TRACE = "trace"


@dataclass(frozen=True)
class MatchRequest:
    """Rules over a relation, how they are run, and what for.

    `build` rewrites the rules and the relation for the session. `use_session` only changes the
    session of a request, for rows that the workers have returned.
    """

    # The rules, rewritten for the session; one rule without a name for a query.
    rules: tuple[Rule, ...]
    # The input of all rules.
    relation: Relation
    # The names of the relation's columns in the rules.
    columns: InputColumns
    options: Options
    # What the query around the clause uses of the result.
    use: ResultUse = EVERYTHING
    purpose: Purpose = Purpose.RESULT
    # The columns that the events of matches have, if this is a rule set; None for a single query.
    event_columns: tuple[str, ...] | None = None
    # What happens if a rule of a set fails in a partition.
    on_error: arguments.OnError = "raise"

    @classmethod
    def build(  # noqa: PLR0913 -- the fields
        cls,
        rules: Iterable[Rule],
        relation: Relation,
        columns: InputColumns,
        options: Options,
        use: ResultUse = EVERYTHING,
        purpose: Purpose = Purpose.RESULT,
        *,
        event_columns: tuple[str, ...] | None = None,
        on_error: arguments.OnError = "raise",
    ) -> MatchRequest:
        """Return a request for rules as the user wrote them. The arguments are the fields.

        The rules and the relation are rewritten for the session: earlier measures are inlined, CHAR
        values are padded, and expressions that the engine computes differently from Spark are
        replaced.

        Raises:
            MatchRecognizeError: a rule is wrong.
        """
        backend = find_backend(relation.runner.spark)
        relation = backend.rewrite_input(relation, columns.alias)
        return cls(
            rules=tuple(rewrite_rule(rule, relation, columns, backend) for rule in rules),
            relation=relation,
            columns=columns,
            options=options,
            use=use,
            purpose=purpose,
            event_columns=event_columns,
            on_error=on_error,
        )

    def use_session(self, spark: SparkSession) -> MatchRequest:
        """Return the request with a runner of texts in another session, for rows of that session.

        For example, Spark gives `foreachBatch` a new session.
        """
        runner = replace(self.runner, backend=find_backend(spark))
        return replace(self, relation=replace(self.relation, runner=runner))

    @property
    def is_rule_set(self) -> bool:
        """Return whether the rules belong to a rule set, not to a single query."""
        return self.event_columns is not None

    @property
    def runner(self) -> Runner:
        """Return the runner of queries in the session of the relation."""
        return self.relation.runner

    @property
    def backend(self) -> Backend:
        """Return the backend of the session: what differs between Spark, Connect and Sail."""
        return find_backend(self.runner.spark)

    @cached_property
    def is_stream(self) -> bool:
        """Return whether the relation is a stream."""
        return is_streaming(self.relation.rows)

    @property
    def has_timed_rules(self) -> bool:
        """Return whether some rule is valid for only a part of the time."""
        return any(
            rule.version is not None and not rule.version.covers_all_time for rule in self.rules
        )

    # What the options mean. No other module compares their values.

    @property
    def workers_must_sort(self) -> bool:
        """Return whether the user asked for the workers to sort the rows."""
        return self.options.sort in ("worker", "ranges")

    @property
    def engine_must_sort(self) -> bool:
        """Return whether the user asked for the engine to sort the rows."""
        return self.options.sort == "engine"

    @property
    def can_cut_partitions(self) -> bool:
        """Return whether the options allow that partitions are cut into ranges."""
        return self.options.sort in ("auto", "ranges")

    @property
    def must_cut_partitions(self) -> bool:
        """Return whether the user asked for partitions to be cut into ranges."""
        return self.options.sort == "ranges"

    @property
    def sends_pandas(self) -> bool:
        """Return whether the user asked for rows to be sent through pandas."""
        return self.options.transport == "pandas"

    @contextmanager
    def locate_rule_errors(self, rule: Rule) -> Iterator[None]:
        """Replace Spark's errors in the `with` block by errors that show their location in a rule.

        Raises:
            MatchRecognizeError: Spark or matchrec rejects something in the block.
        """
        with rule.name_in_errors(), explain_refusals(rule.plan, self.relation, self.columns):
            yield

    def check_plan(self, plan: MatchPlan) -> None:
        """Check that a rule fits its input and the options.

        Raises:
            MatchRecognizeError: the options, the order or a length do not suit the rule.

        Raises one of Spark's `QUERY_ERRORS`.
        """
        if self.options.max_steps is not None and plan.needs_event_selection:
            raise max_steps_with_event_selection()
        check_ascending_order(plan)
        self.check_row_expressions(plan)
        self.check_lengths(plan)

    def check_row_expressions(self, plan: MatchPlan) -> None:
        """Let Spark analyse keys that are not columns, and the lengths of WITHIN.

        Raises one of Spark's `QUERY_ERRORS`.
        """
        texts = [key.text for key in plan.sorted_by if self.columns.find(key.column_path) is None]
        texts += [length.text for length in plan.computed_lengths]
        self.relation.find_fields(texts)

    def check_lengths(self, plan: MatchPlan) -> None:
        """Check the types of lengths of windows, and the constants that give lengths.

        Raises:
            MatchRecognizePlanError: a type or a constant cannot be a length.
        """
        check_window_types(plan, self.relation)
        if plan.constant_lengths:
            order = self.find_order_type(plan.order_by[0].expression.text)
            check_constant_lengths(plan.constant_lengths, order, self.runner)
        if plan.frame_length is not None:
            check_frame_length(plan.frame_length, self.runner)

    def find_order_type(self, text: str) -> OrderType:
        """Return the type of an ORDER BY expression, and whether the time zone has one offset."""
        zone = self.runner.settings["spark.sql.session.timeZone"]
        return OrderType(to_value_type(self.relation.find_type(text)), has_fixed_offset(zone))

    @cached_property
    def settings(self) -> SessionSettings:
        """Return the settings of the session that change the values of conditions."""
        values = self.runner.settings
        version = find_spark_version(self.runner.spark)
        settings = SessionSettings(
            time_zone=values["spark.sql.session.timeZone"],
            legacy_statistics=values["spark.sql.legacy.statisticalAggregate"] == "true",
            timestamp_type=values["spark.sql.timestampType"],
            cuts_decimals=version >= (4, 0),
            weighs_both_values=version < (4, 3),
        )
        return self.backend.complete_settings(settings, self.relation)

    @cached_property
    def ansi(self) -> bool:
        """Return whether the session is in ANSI mode, so that overflow is an error."""
        return self.runner.settings["spark.sql.ansi.enabled"] == "true"


def rewrite_rule(rule: Rule, relation: Relation, columns: InputColumns, backend: Backend) -> Rule:
    """Return a rule with its plan rewritten for the session: see `MatchRequest.build`.

    Args:
        rule: the rule.
        relation: its input, rewritten for the session.
        columns: the columns of the input.
        backend: the backend of the session.

    Raises:
        MatchRecognizeError: the rule is wrong.
    """

    def is_known(name: str) -> bool:
        """Return whether the session finds a column or variable of this name in the input."""
        with silence_analysis():
            return find_refusal([name], relation) is None

    with rule.name_in_errors():
        # This plan is not kept, because a variable of the session can have the name of a measure by
        # the next query.
        plan = inline_earlier_measures(rule.plan, columns, is_known)
        if rule.name:  # the rules of a set are read anew for each query
            return replace(rule, plan=rewrite_conditions(plan, relation, columns, backend))
        slot: ResultSlot[MatchPlan] = open_slot("rewritten", plan, relation, columns)
        rewritten_plan = slot.find()
        if rewritten_plan is None:
            rewritten_plan = rewrite_conditions(plan, relation, columns, backend)
            slot.keep(rewritten_plan)
        return replace(rule, plan=rewritten_plan)


def rewrite_conditions(
    plan: MatchPlan, relation: Relation, columns: InputColumns, backend: Backend
) -> MatchPlan:
    """Return a plan with conditions and measures that the engine computes as Spark would."""
    return backend.rewrite_plan(pad_chars(plan, relation, columns), relation, columns)


def pad_chars(plan: MatchPlan, relation: Relation, columns: InputColumns) -> MatchPlan:
    """Return the plan with padding in conditions that compare CHAR(n) values of several rows.

    Spark pads a constant that is compared with a CHAR(n) column, but not if the value of the column
    comes from another row, because that value is a string like any other.

    Args:
        plan: the plan of a rule.
        relation: the input.
        columns: the columns of the input.
    """
    lengths = {field.name: find_char_length(field) for field in relation.rows.schema.fields}
    if not any(lengths.values()):
        return plan

    def find_length(names: tuple[str, ...]) -> int | None:
        """Return the length of a CHAR column; None for other columns."""
        return lengths.get(columns.find(names) or "")

    def is_text(constant: str) -> bool:
        """Return whether a constant is a string."""
        return relation.find_type(constant) == StringType()

    return TextPadder(find_length, is_text).pad_plan(plan)


def is_streaming(rows: DataFrame) -> bool:
    """Return whether a DataFrame is a stream."""
    return bool(rows.isStreaming)


def find_input_columns(
    relation: Relation, alias: str | None = None, names: Sequence[str] | None = None
) -> InputColumns:
    """Return the names of a relation's columns, by which rules refer to them.

    Args:
        relation: the relation.
        alias: the name that can qualify the columns, as in `t.price`.
        names: the names of the columns; None for their names in Spark.

    Raises:
        MatchRecognizeError: Spark rejects the relation.
    """
    runner = relation.runner
    try:
        column_names = relation.rows.columns if names is None else names
    except PySparkException as error:
        raise put_in_plain_words(error, runner.list_tables) from None
    case_sensitive = runner.settings["spark.sql.caseSensitive"] == "true"
    return InputColumns(tuple(column_names), alias, case_sensitive)
