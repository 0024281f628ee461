"""Lower a `Pattern` to a `MatchPlan`.

1. Check the rules that only a complete pattern can break.
2. Write all conditions into one text, one on each line, so that errors can show them.
3. Build the steps of the plan from the stages, see `plan.stages`. Each condition, and each window
   between neighbouring events, becomes a test, see `definitions`.
4. Build the other parts of the plan: the window of the whole match becomes WITHIN, the steps also
   become a row pattern, and the columns of the result become measures.
"""

from __future__ import annotations

from typing import NamedTuple

from matchrec.errors import stages as errors
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import PATTERN_CALLS
from matchrec.patterns.stages import checks
from matchrec.patterns.stages.after_match import AfterMatch
from matchrec.patterns.stages.conditions import NOWHERE
from matchrec.patterns.stages.definitions import (
    TestDefinitions,
    WrittenConditions,
    make_order_column,
    write_conditions,
)
from matchrec.patterns.stages.idle_windows import find_idle_windows
from matchrec.patterns.stages.query import PatternQuery
from matchrec.plan import clauses
from matchrec.plan.expression import (
    MATCH_NUMBER,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    Navigation,
    Reference,
    Semantics,
    Term,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.rules import check_plan
from matchrec.plan.stages import Skip, Staging, build_row_pattern
from matchrec.plan.text import quote_name
from matchrec.source import Source
from matchrec.syntax.key_arguments import make_key_expression


class LoweredPattern(NamedTuple):
    """The plan of a pattern."""

    plan: MatchPlan
    # The text of all conditions of the pattern. The spans in the plan are spans of this text.
    source: Source


def lower_pattern(query: PatternQuery) -> LoweredPattern:
    """Return the plan of a pattern, and the text of its conditions.

    Raises:
        MatchRecognizeError: the pattern or a condition is wrong.
    """
    stages = query.pattern._stages
    checks.check_negations(stages)
    check_skip_target(query)
    checks.check_no_result_column(query.stage_names)
    written_conditions = write_conditions(stages)
    with locate_errors(written_conditions.source, PATTERN_CALLS):
        plan = build_plan(query, written_conditions)
        check_plan(plan)
    return LoweredPattern(plan, written_conditions.source)


def check_skip_target(query: PatternQuery) -> None:
    """Check that the stage of `skip_to_first` or `skip_to_last` has events.

    Raises:
        MatchRecognizePlanError: the pattern has no stage of this name, or only a negated one.
    """
    strategy = query.pattern._skip_strategy
    stage = strategy._stage
    if stage is not None and stage not in query.stage_names:
        call = "skip_to_first" if strategy._to is clauses.SkipTo.FIRST else "skip_to_last"
        raise errors.unknown_skip_target(call=call, name=stage, stages=query.stage_names)


def build_plan(query: PatternQuery, written_conditions: WrittenConditions) -> MatchPlan:
    """Return the plan of a pattern.

    Args:
        query: the pattern, with the settings of its query.
        written_conditions: all conditions of the pattern, in one text.

    Raises:
        MatchRecognizeError: a condition is wrong.
    """
    pattern = query.pattern
    tests = TestDefinitions(query, written_conditions)
    steps = tests.build_steps(pattern._stages)
    match_window = checks.find_match_window(pattern._stages)
    within = None
    if match_window is not None:
        within = clauses.Within(match_window.build_expression())
    first_matches = None
    if pattern._most_matches is not None:
        first_matches = clauses.FirstMatches(pattern._most_matches)
    staging = Staging(
        steps,
        tests=tuple(tests.definitions),
        neighbour_windows=tests.build_neighbour_windows(),
        skip=build_skip(pattern._skip_strategy),
        timeouts=tests.build_timeouts(match_window) if query.timeouts else None,
        idle_windows=tuple(find_idle_windows(pattern._stages)),
    )
    return MatchPlan(
        pattern=build_row_pattern(steps),
        partition_by=tuple(make_key_expression(text) for text in query.partition_by),
        order_by=tuple(clauses.SortItem(key) for key in query.order),
        measures=build_measures(query),
        rows_per_match=query.rows,
        within=within,
        definitions=tuple(tests.definitions.values()),
        output=clauses.MatchOutput.ALL,
        first_matches=first_matches,
        staging=staging,
    )


def build_skip(strategy: AfterMatch) -> Skip | None:
    """Return the row to skip to after a match; None for NO_SKIP."""
    if strategy._to is None:
        return None
    return Skip(strategy._to, strategy._stage, strategy._throws)


def build_measures(query: PatternQuery) -> tuple[clauses.Measure, ...]:
    """Return the measures of a query.

    If a row of the result is a match, its measures are the number of the match, its first and last
    time, and for each stage the array of its events: `match_number, start_time, end_time, a, b`. If
    a row is an event, its measures are the number of its match and the name of its stage:
    `match_number, stage`.
    """
    match_number = make_measure("match_number", MATCH_NUMBER)
    if not query.rows.summarizes_matches:
        return (match_number, make_measure("stage", Classifier(Navigation())))
    measures = [match_number]
    for name, end in ("start_time", End.FIRST), ("end_time", End.LAST):
        navigation = Navigation(end=end, semantics=Semantics.FINAL)
        order_column = make_order_column(navigation, query.order[0])
        measures.append(clauses.Measure(name, order_column))
    event_columns = ", ".join(quote_name(column) for column in query.columns) or "*"
    for stage in query.stage_names:
        event = ColumnReference(Navigation(stage), f"struct({event_columns})", fields=query.columns)
        argument = Term((event,), NOWHERE)
        events = Aggregate("collect_list", stage, (argument,), Semantics.FINAL)
        measures.append(make_measure(stage, events))
    return tuple(measures)


def make_measure(name: str, reference: Reference) -> clauses.Measure:
    """Return a measure that is one reference."""
    return clauses.Measure(name, Term((reference,), NOWHERE))
