"""What is asked of a relation: rules, one of them for a query, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, cached_property
from typing import TYPE_CHECKING

from matchrec.compile.path import Draft, draft
from matchrec.conditions.functions.calendar import has_one_offset
from matchrec.conditions.functions.function import Settings
from matchrec.conditions.split import RowScope
from matchrec.conditions.within import OrderType, check_order
from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError, MatchRecognizeUnsupportedError
from matchrec.errors.calls import steps_of_event_selection
from matchrec.errors.conditions import nested_too_deep_to_plan
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import Language
from matchrec.errors.run.failures import of_rule
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, Use
from matchrec.plan.resolve import InputColumns
from matchrec.source import Source
from matchrec.spark.errors.diagnose import diagnose, mismatch_of_within
from matchrec.spark.session import REFUSALS, Relation, Runner, settings_of
from matchrec.spark.types import value_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.spark.counters import Counters


@dataclass(frozen=True)
class Options:
    """How a query is run, apart from what it says.

    engine: "auto" or an engine's name. transport: "auto", "arrow" or "pandas". sort: who sorts
    partitions, one of `SORTS`. counters: what counts, if anything. max_steps: see `Task`.
    """

    engine: str = "auto"
    transport: str = "auto"
    sort: str = "auto"
    counters: Counters | None = None
    max_steps: int | None = None


@dataclass(frozen=True)
class Rule:
    """What a rule asks for. source, language: of its text, for messages that name it.

    A query is a rule without a name.
    """

    name: str
    plan: MatchPlan
    source: Source | None = None
    language: Language | None = None

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Errors raised inside name the rule and show its text."""
        try:
            with nullcontext() if self.source is None else shown_in(self.source, self.language):
                yield
        except MatchRecognizeError as error:
            if not self.name:
                raise
            raise of_rule(self.name, error) from error.__cause__


@dataclass(frozen=True)
class Question:
    """Rules over a relation, and how they are run.

    columns: the names by which rules know those of the relation. use: what is used of the result.
    """

    rules: tuple[Rule, ...]
    relation: Relation
    columns: InputColumns
    options: Options
    use: Use = EVERYTHING

    @staticmethod
    def of_query(
        plan: MatchPlan,
        relation: Relation,
        alias: str | None,
        options: Options,
        use: Use = EVERYTHING,
    ) -> Question:
        """What a query asks. alias: the name that qualifies the relation's columns."""
        columns = input_columns(relation.runner, relation.rows.columns, alias)
        return Question((Rule("", plan),), relation, columns, options, use)

    @property
    def runner(self) -> Runner:
        """The session."""
        return self.relation.runner

    @property
    def is_stream(self) -> bool:
        """Whether the rows come little by little."""
        return is_streaming(self.relation.rows)

    @contextmanager
    def asking(self, rule: Rule) -> Iterator[None]:
        """Raises MatchRecognizeError with a place in a rule for what Spark refuses."""
        with rule.naming(), in_terms_of_the_query(rule.plan, self.relation, self.columns):
            yield

    def draft(self, rule: Rule, scope: RowScope) -> Draft:
        """The draft of a rule. scope: of conditions that Spark computes before the match.

        Raises MatchRecognizeError for all that is wrong with it, whatever the types are.
        """
        with self.asking(rule):
            check_steps(rule.plan, self.options.max_steps)
            check_order(rule.plan)
            return draft(rule.plan, self.columns, self.relation.name_of, scope, self.type_of_order)

    @cached_property
    def type_of_order(self) -> Callable[[str], OrderType]:
        """What tells the type of an order column."""

        def find(text: str) -> OrderType:
            zone = self.runner.setting("spark.sql.session.timeZone")
            return OrderType(value_type(self.relation.type_of(text)), has_one_offset(zone))

        return cache(find)

    @cached_property
    def settings(self) -> Settings:
        """The settings of the session that conditions depend on."""
        return settings_of(self.runner)

    @cached_property
    def ansi(self) -> bool:
        """Whether overflow is an error."""
        return self.runner.setting("spark.sql.ansi.enabled") == "true"


def check_steps(plan: MatchPlan, most: int | None) -> None:
    """Raises MatchRecognizeError where steps are not counted."""
    if most is not None and plan.selects:
        raise steps_of_event_selection()


@contextmanager
def in_terms_of_the_query(
    plan: MatchPlan, relation: Relation, columns: InputColumns
) -> Iterator[None]:
    """Raises MatchRecognizeError with a place in the query for what Spark refuses."""
    try:
        yield
    except REFUSALS as error:
        raise diagnose(error, plan, relation, columns) from error
    except RecursionError as error:
        raise nested_too_deep_to_plan() from error
    except MatchRecognizeUnsupportedError as error:
        raise mismatch_of_within(error, plan, relation) or error from None


def is_streaming(rows: DataFrame) -> bool:
    """Whether they come little by little."""
    return bool(rows.isStreaming)


def input_columns(runner: Runner, names: Iterable[str], alias: str | None) -> InputColumns:
    """The columns of a relation, as Spark names them."""
    case_sensitive = runner.setting("spark.sql.caseSensitive") == "true"
    return InputColumns(tuple(names), alias, case_sensitive)
