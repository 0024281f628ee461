"""A plan and a relation → a DataFrame: before the match, the match, after it.

Builds everything at once, so that every user error surfaces, and runs no job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from matchrec.compile.draft import Draft
from matchrec.compile.executable import Executable, Output
from matchrec.compile.path import link
from matchrec.conditions.typing.typer import IN_UTC
from matchrec.conditions.within import check_order
from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors.calls import steps_of_event_selection
from matchrec.errors.conditions import nested_too_deep_to_plan
from matchrec.output.reads import ReadIsMatched
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text.sql_text import quoted
from matchrec.plan.text.template import Template
from matchrec.plan.use import EVERYTHING, Use
from matchrec.spark import wire
from matchrec.spark.after.aggregates import aggregate_matches, measure_sql
from matchrec.spark.after.schema import schema_of_reads
from matchrec.spark.before.columns import Preparation, with_keys_once
from matchrec.spark.before.sent import Prepared, Sent, send_rows
from matchrec.spark.before.unsorted import Unsorted
from matchrec.spark.crossing import crossing_schema, decode_columns, encode_columns
from matchrec.spark.errors.diagnose import diagnose, mismatch_of_within
from matchrec.spark.options import Options
from matchrec.spark.prepare import (
    Execution,
    prepare_sorted,
    prepare_stream,
    prepare_unsorted,
    sorted_by_either,
)
from matchrec.spark.relation import Relation
from matchrec.spark.session import REFUSALS, Runner, quiet_analysis, settings_of
from matchrec.spark.transport import map_partitions
from matchrec.spark.wire import SelectItem
from matchrec.spark.worker.matching import Matching

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Executed:
    """The DataFrame of a clause, and what it was made from, which explains it."""

    dataframe: DataFrame
    executable: Executable
    drafted: Draft
    preparation: Preparation

    @property
    def plan(self) -> MatchPlan:
        """The plan as it runs."""
        return self.drafted.plan

    @property
    def written(self) -> MatchPlan:
        """The plan as it was written."""
        return self.drafted.written

    @property
    def keys(self) -> tuple[str, ...]:
        """Tests of whole partitions."""
        return self.preparation.keys

    @property
    def is_stream(self) -> bool:
        """Whether its rows come little by little."""
        return self.preparation.is_stream

    @property
    def sorts(self) -> str:
        """Who sorts the rows of each partition, and why; empty of a stream."""
        return "" if self.is_stream else self.preparation.sorts

    @property
    def shuffled(self) -> tuple[Template, Template] | None:
        """The query of all rows, and that of what is shuffled of them; None of streams."""
        if self.is_stream:
            return None
        return self.preparation.shuffled(self.executable.crossing.columns, self.drafted)


def execute(
    plan: MatchPlan,
    relation: Relation,
    alias: str | None,
    options: Options,
    use: Use = EVERYTHING,
) -> Executed:
    """The result of a plan over a relation.

    alias: the name that qualifies the relation's columns. use: what is used of the result; the
    whole query is checked all the same.
    Raises MatchRecognizeError for whatever is wrong with the query.
    """
    check_steps(plan, options.max_steps)
    rows = relation.rows
    columns = input_columns(relation.runner, rows.columns, alias)
    is_stream = is_streaming(rows)
    if is_stream:
        from matchrec.spark.streaming.execute import check_options, check_plan

        check_plan(plan)
        check_options(options)
    check_order(plan)
    with quiet_analysis(), in_terms_of_the_query(plan, relation, columns):
        execution = Execution(plan, relation, columns, options, use)
        if is_stream:
            return run(execution, *prepare_stream(execution))
        return sorted_by_either(
            options.sort,
            lambda: run(execution, *prepare_unsorted(execution)),
            lambda reason: run(execution, *prepare_sorted(execution, reason)),
        )


def run(execution: Execution, preparation: Preparation, drafted: Draft) -> Executed:
    """The result of a draft, without what is not used of it."""
    found = executed(preparation, drafted, execution.options)
    reads = execution.use.reads
    used = tuple(one for one in drafted.outputs if reads(one.name)) or drafted.outputs[:1]
    if used == drafted.outputs:
        return found
    narrowed = drafted.narrow(used)
    preparation = replace(preparation, plan=narrowed.plan)
    return executed(preparation, narrowed, execution.options)


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


def check_steps(plan: MatchPlan, most: int | None) -> None:
    """Raises MatchRecognizeError where steps are not counted."""
    if most is not None and plan.selects:
        raise steps_of_event_selection()


def executed(preparation: Preparation, drafted: Draft, options: Options) -> Executed:
    """The result of a draft. Raises one of Spark's `REFUSALS`."""
    relation, columns = preparation.relation, drafted.columns()
    drafted = preparation.sending(drafted)
    prepared = Prepared(preparation.dataframe(columns, drafted), columns)
    executable = link_prepared(prepared, relation.runner, drafted, options)
    if isinstance(preparation, Unsorted):
        executable = executable.with_keys_in_all_rows()
    sent = send_rows(preparation, drafted, prepared, executable.crossing.columns)
    matched = match_rows(preparation, drafted, sent, executable, options)
    result = relation.runner.analyse(projected(relation, executable, matched))
    return Executed(result, executable, drafted, preparation)


def link_prepared(
    prepared: Prepared, runner: Runner, drafted: Draft, options: Options
) -> Executable:
    """The executable of a draft whose columns Spark has prepared.

    A session is asked for settings only where conditions depend on them that are not Spark's.
    """
    computed = (part for one in drafted.conditions for part in (one.during, one.nearby))
    runs = any(part is not None for part in computed)
    return link(
        drafted,
        prepared.types,
        options.engine,
        ansi=runner.setting("spark.sql.ansi.enabled") == "true",
        session=settings_of(runner) if runs else IN_UTC,
    ).limit(options.max_steps)


def match_rows(
    preparation: Preparation, drafted: Draft, sent: Sent, executable: Executable, options: Options
) -> DataFrame:
    """The reads of all output rows; counters see what the workers count."""
    schema = schema_of_reads(executable, sent.fields)
    sends = crossing_schema(schema)
    if preparation.is_stream:
        from matchrec.spark.streaming.execute import match_events

        return decode_columns(match_events(sent.rows, executable, preparation.plan, sends), schema)
    matching = Matching(executable)
    if isinstance(preparation, Unsorted):
        sorting = preparation.sorted_by(executable.crossing.columns, drafted)
        matching = Matching(executable, sorting, sent.structs)
    crossing = with_keys_once(encode_columns(sent.rows), executable.crossing.once)
    mapped = map_partitions if options.counters is None else options.counters.map_partitions
    return decode_columns(mapped(crossing, matching, sends, options.transport), schema)


def is_streaming(rows: DataFrame) -> bool:
    """Whether they come little by little."""
    return bool(rows.isStreaming)


def input_columns(runner: Runner, names: Iterable[str], alias: str | None) -> InputColumns:
    """The columns of a relation, as Spark names them."""
    case_sensitive = runner.setting("spark.sql.caseSensitive") == "true"
    return InputColumns(tuple(names), alias, case_sensitive)


def projected(relation: Relation, executable: Executable, matched: DataFrame) -> DataFrame:
    """The scalar SQL around the reads, and the names of the result."""
    if executable.aggregates:
        matched = aggregate_matches(relation.runner, matched, executable)
    is_matched = None
    if isinstance(executable.reads[-1], ReadIsMatched):
        is_matched = wire.read(len(executable.reads) - 1)
    items = [projection(output, is_matched) for output in executable.outputs]
    return relation.runner.select(matched, list(map(str, items)))


def projection(output: Output, is_matched: str | None) -> SelectItem:
    """One item of the select list; on an unmatched row every measure is NULL."""
    text = measure_sql(output.pieces)
    if output.is_measure and is_matched is not None:
        text = f"CASE WHEN {is_matched} THEN {text} END"
    return SelectItem(text, quoted(output.name))
