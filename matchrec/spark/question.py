"""What is asked of a relation: rules, one of them for a query, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, get_args

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.types import StringType

from matchrec import arguments
from matchrec.compile.path import Draft, draft_query
from matchrec.compile.rule_set import Version
from matchrec.conditions.functions.calendar import has_one_offset
from matchrec.conditions.functions.function import Settings
from matchrec.conditions.padding import Padding
from matchrec.conditions.row_column import OrderType, check_order
from matchrec.conditions.split import RowScope
from matchrec.errors import MatchRecognizeError
from matchrec.errors.calls import steps_of_event_selection
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import Language
from matchrec.errors.run.failures import of_rule
from matchrec.output.schema import NO_COLUMN
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, Use
from matchrec.plan.resolve import InputColumns, with_earlier_measures
from matchrec.source import Source
from matchrec.spark.backend import Backend
from matchrec.spark.backends import backend_of
from matchrec.spark.errors.diagnose import Diagnosis, refusal_of
from matchrec.spark.errors.users_terms import in_plain_words
from matchrec.spark.relation import Relation, Runner
from matchrec.spark.sail.probes import version_spoken
from matchrec.spark.session import quiet_analysis
from matchrec.spark.types import length_of, value_type
from matchrec.spark.window_lengths import check_constant_lengths, check_frame_length, find_constants

if TYPE_CHECKING:
    from matchrec.spark.counters import Counters

COUNTERS = arguments.ArgumentKind(
    "new Counters, or None",
    lambda given: given is None or are_counters(given),
    "write counters = matchrec.Counters(), and pass Options(counters=counters)",
)
MAX_STEPS = arguments.ArgumentKind(
    "a whole number of 1 or more, how often a condition on the run may be asked, or None",
    lambda given: given is None or (arguments.is_whole(given) and 1 <= given < 2**63),
    "write max_steps=1_000_000_000, or leave it out for no limit",
)


def are_counters(given: object) -> bool:
    """Whether they count; queries that nobody counts never load them."""
    from matchrec.spark.counters import Counters

    return isinstance(given, Counters)


@dataclass(frozen=True)
class Options:
    """Settings for how a query runs: its algorithm, sorting and limits.

    Attributes:
        algorithm: how the search looks for matches. "auto" chooses the algorithm that is expected
            to be fastest.
        sort: who sorts each partition: "spark", the Python "worker", or "auto", which chooses the
            worker if it can sort. `explain` says who sorts, and why. With "ranges" the workers
            sort, and large partitions are cut into ranges of their order for several tasks,
            without rows that cannot be in a match. This needs a window such as WITHIN that limits
            matches, and an input that returns the same rows each time, because it is read three
            times. "auto" also cuts a large table without PARTITION BY into ranges.
        transport: how rows reach the Python workers.
        max_steps: how often the search may test conditions that depend on the run in one
            partition before the query ends with an error, or None for no limit. The cost of all
            other conditions is bounded, as `explain` says.
        counters: an object that counts the work of the search. See `Counters`.

    Raises:
        MatchRecognizePlanError: an option has any other value.

    >>> by_spark = matchrec.Options(sort="spark", max_steps=1_000_000)
    >>> matchrec.match_recognize(
    ...     spark.range(3), "ORDER BY id MEASURES A.id AS n PATTERN (A) DEFINE A AS id > 1",
    ...     options=by_spark).collect()
    [Row(n=2)]
    """

    algorithm: arguments.Algorithm = "auto"
    sort: arguments.Sort = "auto"
    transport: arguments.Transport = "auto"
    max_steps: int | None = None
    counters: Counters | None = None


OPTIONS: dict[str, arguments.ArgumentKind] = {
    "algorithm": arguments.one_of(get_args(arguments.Algorithm)),
    "sort": arguments.one_of(get_args(arguments.Sort)),
    "transport": arguments.one_of(get_args(arguments.Transport)),
    "max_steps": MAX_STEPS,
    "counters": COUNTERS,
}
Options.__init__ = arguments.checked(**OPTIONS)(Options.__init__)  # type: ignore[method-assign]
NO_OPTIONS = Options()


@contextmanager
def naming_rule(name: str) -> Iterator[None]:
    """Errors raised inside name the rule, if it has a name."""
    try:
        yield
    except MatchRecognizeError as error:
        if not name:
            raise
        raise of_rule(name, error) from error.__cause__


@dataclass(frozen=True)
class Rule:
    """What a rule asks for; a query has no name. columns: of a Pattern, as Spark prints them."""

    name: str
    plan: MatchPlan
    source: Source | None = None
    language: Language | None = None
    version: Version | None = None
    columns: tuple[str, ...] = ()

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Errors raised inside name the rule and show its text."""
        shown = nullcontext() if self.source is None else shown_in(self.source, self.language)
        with naming_rule(self.name), shown:
            yield


@dataclass(frozen=True)
class Question:
    """Rules over a relation. columns: the names that rules know. use: what is used of a result."""

    rules: tuple[Rule, ...]
    relation: Relation
    columns: InputColumns
    options: Options
    use: Use = EVERYTHING
    on_error: arguments.AfterError = "raise"

    def resolve(self) -> Question:
        """Rewrite each rule for the session: inline earlier measures, pad CHAR values, and write
        what the engine computes otherwise than Spark so that it computes the same.
        """
        columns, backend = self.columns, self.backend
        relation = backend.rewrite_input(self.relation, columns.alias)

        def is_known(name: str) -> bool:
            with quiet_analysis():
                return refusal_of([name], relation) is None

        found = []
        for rule in self.rules:
            with rule.naming():
                plan = with_earlier_measures(rule.plan, columns, is_known)
                plan = padded(plan, relation, columns)
                plan = backend.rewrite_plan(plan, relation, columns)
            found.append(replace(rule, plan=plan))
        return replace(self, rules=tuple(found), relation=relation)

    @property
    def runner(self) -> Runner:
        return self.relation.runner

    @property
    def backend(self) -> Backend:
        return backend_of(self.runner.spark)

    @cached_property
    def is_stream(self) -> bool:
        return is_streaming(self.relation.rows)

    @property
    def has_versions(self) -> bool:
        """Return whether some rule is valid for only a part of the time."""
        return any(
            rule.version is not None and not rule.version.covers_all_time for rule in self.rules
        )

    @property
    def workers_must_sort(self) -> bool:
        """Return whether the user asked for the workers to sort the rows."""
        return self.options.sort in ("worker", "ranges")

    @contextmanager
    def asking(self, rule: Rule) -> Iterator[None]:
        """Raises MatchRecognizeError with a place in a rule for what Spark refuses."""
        with rule.naming(), Diagnosis(rule.plan, self.relation, self.columns).explain():
            yield

    def draft(self, rule: Rule, scope: RowScope) -> Draft:
        """The draft of a rule. Raises MatchRecognizeError for all that is wrong with any types."""
        with self.asking(rule):
            if self.options.max_steps is not None and rule.plan.selects:
                raise steps_of_event_selection()
            check_order(rule.plan)
            sorted_by, find = rule.plan.sorted_by, self.columns.find
            self.relation.fields([one.text for one in sorted_by if find(one.names) is None])
            self.check_lengths(rule.plan)
            name_of, type_of = self.relation.name_of, self.type_of_order
            found = draft_query(rule.plan, self.columns, name_of, scope, type_of, self.use)
            if self.is_stream:  # any row moves the watermark
                return replace(found, sends_all_rows=True, relevant=())
            asks_all = found.can_raise_before_match and self.backend.evaluates_eagerly(rule.plan)
            return replace(found, sends_all_rows=True, relevant=()) if asks_all else found

    def check_lengths(self, plan: MatchPlan) -> None:
        """Raise MatchRecognizePlanError if a constant is not a length of a window or frame."""
        if constants := find_constants(plan):
            order = self.type_of_order(plan.order_by[0].expression.text)
            check_constant_lengths(constants, order, self.runner)
        if plan.frame_length is not None:
            check_frame_length(plan.frame_length, self.runner)

    def columns_of(self, rule: Rule) -> tuple[str, ...]:
        """The columns that a rule gives, also those of which nothing is used."""
        names = [output.name for output in self.draft(rule, RowScope.ROW).outputs]
        return tuple(name for name in names if name != NO_COLUMN)

    @cached_property
    def type_of_order(self) -> Callable[[str], OrderType]:
        def find(text: str) -> OrderType:
            zone = self.runner.settings["spark.sql.session.timeZone"]
            return OrderType(value_type(self.relation.type_of(text)), has_one_offset(zone))

        return cache(find)

    @cached_property
    def settings(self) -> Settings:
        asked, version = self.runner.settings, version_spoken(self.runner.spark)
        found = Settings(
            asked["spark.sql.session.timeZone"],
            asked["spark.sql.legacy.statisticalAggregate"] == "true",
            asked["spark.sql.timestampType"],
            cuts_decimals=version >= (4, 0),
            weighs_both=version < (4, 3),
        )
        return self.backend.complete_settings(found, self.relation)

    @cached_property
    def ansi(self) -> bool:
        return self.runner.settings["spark.sql.ansi.enabled"] == "true"


def padded(plan: MatchPlan, relation: Relation, columns: InputColumns) -> MatchPlan:
    """The plan, in whose conditions a CHAR(n) of another row is padded as one of the row itself."""
    fields = relation.rows.schema.fields
    if not any(map(length_of, fields)):
        return plan
    lengths = {one.name: length_of(one) for one in fields}

    def is_text(constant: str) -> bool:
        return relation.type_of(constant) == StringType()

    return Padding(lambda names: lengths.get(columns.find(names) or ""), is_text).of_plan(plan)


def is_streaming(rows: DataFrame) -> bool:
    return bool(rows.isStreaming)


def input_columns(
    relation: Relation, alias: str | None = None, names: Sequence[str] | None = None
) -> InputColumns:
    """The columns of a relation, as Spark names them, or `names`. alias: qualifies them."""
    runner = relation.runner
    try:
        known = relation.rows.columns if names is None else names
    except PySparkException as error:
        raise in_plain_words(error, runner.tables) from None
    return InputColumns(tuple(known), alias, runner.settings["spark.sql.caseSensitive"] == "true")
