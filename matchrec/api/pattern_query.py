"""The query of a Pattern over events, which `match_pattern` runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from typing_extensions import override

from matchrec.api.clause import Clause
from matchrec.api.evaluate import ClauseQuery, EvaluatedClauses, ParsedQuery
from matchrec.api.event_input import EventFrontEnd, Events
from matchrec.api.front_end import resolve_options
from matchrec.api.inputs import build_relation, find_quote_dialect
from matchrec.api.parameters import reject_values_without_parameters
from matchrec.api.query import Query
from matchrec.arguments import ColumnLike, NamedArguments, PatternOutput
from matchrec.errors.calls import option_not_convertible
from matchrec.errors.frames import condition_not_boolean, condition_rejected_by_engine
from matchrec.errors.language import PATTERN_CALLS
from matchrec.patterns.stages.builder import Pattern
from matchrec.patterns.stages.lower import lower_pattern
from matchrec.patterns.stages.query import PatternQuery
from matchrec.patterns.stages.tree import name_column_conditions
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.backends import find_backend
from matchrec.spark.errors.refusals import read_sentence
from matchrec.spark.request import Options

if TYPE_CHECKING:
    from matchrec.dialects.writing.convert import Conversion

# The rows of a match for each value of `output`.
PATTERN_OUTPUTS = {"matches": RowsPerMatch.ONE_ROW, "events": RowsPerMatch.ALL_ROWS_OMIT_EMPTY}


def build_pattern_query(  # noqa: PLR0913 -- the arguments of `match_pattern`
    events: Events,
    pattern: Pattern,
    args: NamedArguments | None,
    output: PatternOutput,
    *,
    timeouts: bool,
    options: Options | None,
) -> Query:
    """Return the query of a Pattern, given the arguments of `match_pattern`."""
    front_end = PatternFrontEnd(
        events=events, pattern=pattern, args=args, output=output, timeouts=timeouts
    )
    return Query(
        text=pattern,
        language="a Pattern",
        dialect="spark",
        options=resolve_options("match_pattern", options),
        _front_end=front_end,
    )


@dataclass(frozen=True)
class PatternFrontEnd(EventFrontEnd):
    """A Pattern, its events and the other arguments of `match_pattern`."""

    pattern: Pattern
    args: NamedArguments | None
    output: PatternOutput
    # Whether runs that timed out are output rows, too.
    timeouts: bool

    @override
    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        """Return the query of the Pattern. Patterns have no dialects, so `dialect` is ignored."""
        lowered_pattern = lower_over_events(
            self.pattern, self.events, self.output, timeouts=self.timeouts
        )
        reject_values_without_parameters(lowered_pattern.source.text, self.args)
        # `why` and `coverage` explain matches. A run that timed out is not a match.
        explained_pattern = lowered_pattern
        if self.timeouts or self.output != "matches":
            explained_pattern = lower_over_events(self.pattern, self.events)
        clause = Clause(
            plan=lowered_pattern.plan,
            relation=build_relation(lowered_pattern.frame, self.args),
            options=options,
            source=lowered_pattern.source,
            language=PATTERN_CALLS,
            explained_plan=explained_pattern.plan,
        )
        return LoweredPatternQuery(clause, lowered_pattern.condition_columns)

    @override
    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        """Write the Pattern in the SQL of a product.

        Args:
            dialect: the product whose SQL the conditions are.
            write: the product whose SQL is written.
            events: the name of the table with the events.

        Raises:
            MatchRecognizeError: the query wants timeouts, which SQL does not have, or a part of the
                Pattern cannot be written.
        """
        from matchrec.api.transpile import ConversionRequest, convert_query

        if self.timeouts:
            raise option_not_convertible(option="timeouts=True")
        request = ConversionRequest(
            query=self.pattern,
            read=dialect,
            write=write,
            events=events,
            order_by=self.events.order_by,
            partition_by=self.events.partition_by,
            output=self.output,
        )
        return convert_query(request)


@dataclass(frozen=True)
class LoweredPatternQuery(ClauseQuery):
    """The query of a Pattern, whose input has a column for each condition that is a Column."""

    # The names of these columns, which the user does not get.
    condition_columns: tuple[str, ...]

    @override
    def build_result(self, clauses: EvaluatedClauses) -> DataFrame:
        """Return the result without the columns that were added for conditions."""
        return super().build_result(clauses).drop(*self.condition_columns)


@dataclass(frozen=True)
class PatternOverEvents:
    """The plan of a Pattern, and the rows to which it applies."""

    plan: MatchPlan
    # The conditions of the Pattern as a text, which errors show.
    source: Source
    # The events, with a column for each condition that is a Column.
    frame: DataFrame
    # The names of these columns.
    condition_columns: tuple[str, ...]


def lower_over_events(
    pattern: Pattern, events: Events, output: PatternOutput = "matches", *, timeouts: bool = False
) -> PatternOverEvents:
    """Return the plan of a Pattern over events.

    The conditions of a plan are SQL. So each condition that is a Column becomes a column of the
    rows, and the plan reads this column.

    Args:
        pattern: the Pattern.
        events: the events.
        output: what the result contains: see `api.events.match_pattern`.
        timeouts: whether runs that timed out are output rows, too.

    Raises:
        MatchRecognizeError: the Pattern has a mistake.
    """
    df = events.df
    stages, condition_columns = name_column_conditions(pattern._stages)
    frame = add_condition_columns(df, condition_columns)
    query = PatternQuery(
        pattern=replace(pattern, _stages=stages),
        order_by=events.order_by,
        partition_by=events.partition_by,
        columns=tuple(df.columns),
        rows=PATTERN_OUTPUTS[output],
        timeouts=timeouts,
        dialect=find_quote_dialect(df.sparkSession, stages),
    )
    plan, source = lower_pattern(query)
    return PatternOverEvents(plan, source, frame, tuple(condition_columns))


def add_condition_columns(df: DataFrame, conditions: Mapping[str, ColumnLike]) -> DataFrame:
    """Return the events with a column for each condition that is a Column.

    Args:
        df: the events.
        conditions: the Columns by the names that they get.

    Raises:
        MatchRecognizePlanError: the engine rejects a Column, or a Column is not a condition.
    """
    columns = {name: cast("Column", condition) for name, condition in conditions.items()}
    for name, column in columns.items():
        check_condition_column(df, name, column)
    return df.withColumns(columns) if columns else df


def check_condition_column(df: DataFrame, name: str, column: Column) -> None:
    """Check that a Column can be a condition over the rows of a DataFrame.

    Args:
        df: the rows.
        name: the name that the Column gets.
        column: the Column.

    Raises:
        MatchRecognizePlanError: the engine rejects the Column, or it is not a condition.
    """
    column_text = str(column)
    with silence_analysis():
        try:
            data_type = df.select("*", column.alias(name)).schema.fields[-1].dataType
        except AnalysisException as error:
            raise condition_rejected_by_engine(
                engine=find_backend(df.sparkSession).engine,
                column=column_text,
                reason=read_sentence(error),
            ) from None
    type_name = data_type.simpleString()
    if type_name not in ("boolean", "void"):  # NULL is void
        raise condition_not_boolean(column=column_text, type_name=type_name)
