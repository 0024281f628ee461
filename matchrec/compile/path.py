"""From a plan to something that can run: the whole compile path on one screen.

`draft`: resolve → guard reads → output columns → compile the row pattern → find windows → make
tests of NOTs → split → prune.
`link`, once Spark has said what types the columns of the draft have: type → choose → link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from matchrec.compile.columns import build_crossing
from matchrec.compile.draft import Draft
from matchrec.compile.executable import Executable, Output
from matchrec.compile.mapped_rows import guard_reads
from matchrec.compile.nearby import link_nearby
from matchrec.compile.negation import with_negations
from matchrec.compile.task import build_task
from matchrec.conditions.functions.function import Settings
from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.conditions.run_condition import RunExpression
from matchrec.conditions.split import Scope
from matchrec.conditions.types import ValueType
from matchrec.conditions.typing.steps import StepTyper
from matchrec.conditions.typing.typer import IN_UTC, Typer
from matchrec.conditions.within import OrderType
from matchrec.engine.choose import choose
from matchrec.engine.interface import OPTIMISED, Optimisations
from matchrec.nfa.compiled_pattern import compile_pattern
from matchrec.output.read_measures import MeasureReader, timeout_pieces
from matchrec.output.reads import ReadPointer
from matchrec.output.schema import (
    OutputColumn,
    PointerOutput,
    RowOutput,
    TimeoutOutput,
    output_columns,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show
from matchrec.plan.resolve import InputColumns, resolve
from matchrec.pruning.condition_windows import find_condition_window
from matchrec.pruning.gaps import gaps_as_conditions


def draft(  # noqa: PLR0913 -- nearly all call it with three
    plan: MatchPlan,
    columns: InputColumns,
    name_of: Callable[[str], str],
    optimisations: Optimisations = OPTIMISED,
    scope: Scope = Scope.NEIGHBOURS,
    type_of_order: Callable[[str], OrderType] | None = None,
) -> Draft:
    """The draft of a plan over an input with these columns.

    name_of: see `output_columns`. optimisations: those of event selection. scope: of conditions
    that Spark computes. type_of_order: of the text of an order column; without it no condition is
    found to be a window.

    Raises MatchRecognizeError for all that is wrong with a query, whatever the types are.
    """
    resolved = resolve(plan, columns)
    guarded = guard_reads(resolved)
    outputs = output_columns(guarded, columns, name_of)
    compiled = compile_pattern(guarded, constrain_proceed=optimisations.constrain_proceed)
    in_windows = gaps_as_conditions(guarded, compiled.follow)
    if type_of_order is not None:
        in_windows = find_condition_window(in_windows, compiled.follow, type_of_order)
    pattern, conditions = with_negations(in_windows, compiled, scope)
    drafted = Draft(
        in_windows, pattern, conditions, outputs, optimisations, asked=resolved, scope=scope
    )
    return drafted.prune()


def link(
    drafted: Draft,
    types: Mapping[RowColumn, ValueType],
    engine: str,
    *,
    ansi: bool,
    session: Settings = IN_UTC,
) -> Executable:
    """The executable of a draft.

    types: of `drafted.columns()`. engine: "auto" or an engine's name; one that cannot run the plan
    is an error, never replaced. ansi, session: the session's settings.
    """
    plan = drafted.plan
    typer = StepTyper(types, ansi, session)
    run_conditions = type_run_conditions(drafted, typer)
    nearby = link_nearby(drafted, typer)
    task = build_task(drafted, run_conditions, nearby)
    algorithm, reason = choose(task, engine)
    measures = MeasureReader(plan, types)
    outputs = tuple(link_output(output, measures) for output in drafted.outputs)
    return Executable(
        pattern=show(plan.pattern),
        task=task,
        algorithm=algorithm,
        reason=reason,
        rows_per_match=plan.rows_per_match,
        crossing=build_crossing(plan, types, measures.columns, typer.columns),
        conditions=drafted.row_conditions,
        relevant=drafted.relevant,
        neighbours=drafted.neighbours,
        reads=measures.all_reads(plan.rows_per_match),
        aggregates=tuple(measures.aggregates),
        outputs=outputs,
        ansi=ansi,
        window_rows=plan.within_rows,
        nearby=nearby,
    )


def type_run_conditions(drafted: Draft, typer: Typer) -> Mapping[str, RunExpression]:
    """What depends on the run, by variable."""
    return {
        condition.variable: typer.condition(condition.during)
        for condition in drafted.conditions
        if condition.during is not None
    }


def link_output(output: OutputColumn, measures: MeasureReader) -> Output:
    """An output column as text over reads."""
    if isinstance(output, RowOutput):
        return Output(output.name, (measures.row(row_column(output.text)),), is_measure=False)
    if isinstance(output, TimeoutOutput):
        return Output(output.name, timeout_pieces(output.timeouts, measures), is_measure=False)
    if isinstance(output, PointerOutput):
        return Output(output.name, (measures.read(ReadPointer(output.field)),), is_measure=False)
    pieces = measures.pieces(output.value)
    return Output(output.name, pieces, is_measure=not output.over_rows)
