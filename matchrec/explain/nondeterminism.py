"""Say where a run can continue in more than one way, and how many runs that can make.

A run that can follow two edges of a state with the same row becomes two runs. Such a pair of edges
is a source of nondeterminism. Conditions are not compared: any two of them can be true for the same
row, except a condition and its negation.

Source: SASE+, "Runtime complexity": the four sources of nondeterminism, propositions 4.1 and 4.2,
corollary 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from matchrec.automaton.folding import Choice
from matchrec.automaton.program import Action, Program, StateId
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.explain.layout import limit_lines
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.search.compiled_task import compile_task
from matchrec.search.task import Task


class NondeterminismSource(Enum):
    """A source of nondeterminism: two edges of a state that the same row can follow.

    A value has the two edges, as the paper on SASE+ writes them, and how the number of runs grows
    with W, the number of rows in a window. BEGIN_BEGIN comes from alternatives and groups, which
    the paper does not have.
    """

    TAKE_PROCEED = ("Take-Proceed", "linearly")
    IGNORE_PROCEED = ("Ignore-Proceed", "linearly")
    TAKE_IGNORE = ("Take-Ignore", "exponentially")
    BEGIN_IGNORE = ("Begin-Ignore", "linearly")
    BEGIN_BEGIN = ("Begin-Begin", "linearly")

    def __init__(self, edges: str, growth: str) -> None:
        self.edges = edges
        self.growth = growth


def describe_nondeterminism(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield a line for each source with its states, then how many runs there can be at once."""
    task = compiled_query.task
    states_by_source: dict[NondeterminismSource, list[StateId]] = {}
    for state, source in find_sources(task):
        states_by_source.setdefault(source, []).append(state)
    for source, states in states_by_source.items():
        yield describe_source(source, states, task.pattern.program)
    if not states_by_source:
        yield "none: a run has at most one way to continue with a row"
    if task.stages is None and task.needs_event_selection:
        branching_states = {state for states in states_by_source.values() for state in states}
        yield describe_run_count(compiled_query, len(branching_states))
    elif states_by_source and not task.needs_event_selection:
        which = "longest" if task.output is MatchOutput.LONGEST else "preferred"
        needed = f"the search needs only the {which} match of each starting row"
        yield f"W is {describe_window_size(task)}; {needed}"


def describe_source(
    source: NondeterminismSource, states: Sequence[StateId], program: Program
) -> str:
    """Return the line of a source, with the names of the states that have it.

    Args:
        source: the source.
        states: the states, perhaps some of them several times.
        program: the program of the states.
    """
    names = limit_lines((program.name_state(state) for state in dict.fromkeys(states)), "more")
    plural = "s" if len(states) > 1 else ""
    growth = f"the number of runs can grow {source.growth} with W"
    return f"{source.edges} in state{plural} {', '.join(names)}: {growth}"


def find_sources(task: Task) -> Iterator[tuple[StateId, NondeterminismSource]]:
    """Yield each source with a state that has it. A state can come several times."""
    program = task.pattern.program
    if task.stages is not None:
        for state in range(len(program.states)):
            for source in find_sources_in_stages(program, state):
                yield state, source
        return
    folding = task.pattern.folding
    for index, (state, choices) in enumerate(zip(folding.states, folding.choices, strict=True)):
        # Runs begin in the first state, so none of them waits there for its next row.
        runs_wait = index > 0
        for source in find_sources_of_choices(choices, task.selection, runs_wait=runs_wait):
            yield state, source


def find_sources_in_stages(program: Program, state: StateId) -> Iterator[NondeterminismSource]:
    """Yield the sources in one state of a pattern of stages."""
    edges = [edge for edge in program.states[state].edges if edge.target != program.stop]
    takes = [edge for edge in edges if edge.action is Action.TAKE]
    ignores = [edge for edge in edges if edge.action is Action.IGNORE]
    can_proceed = any(edge.action is Action.PROCEED for edge in edges)
    for take in takes:
        # A row follows only one of two edges if one forbids a condition that the other requires.
        required = set(take.required_variables)
        can_ignore_too = any(required.isdisjoint(ignore.forbidden_variables) for ignore in ignores)
        if can_ignore_too and state != program.start:
            yield NondeterminismSource.TAKE_IGNORE
        if can_proceed:
            yield NondeterminismSource.TAKE_PROCEED
    if ignores and can_proceed:
        yield NondeterminismSource.IGNORE_PROCEED


def find_sources_of_choices(
    choices: tuple[Choice, ...], selection: EventSelection, *, runs_wait: bool
) -> Iterator[NondeterminismSource]:
    """Yield the sources in one state, as the paper names them.

    Args:
        choices: what a run in the state can do with a row.
        selection: the event selection strategy.
        runs_wait: whether runs wait in the state for a row, so that they can ignore one.
    """
    can_take_again = any(choice.repeats_loop for choice in choices)
    can_end = any(choice.accepts for choice in choices)
    # The variables with which the next part of the pattern can begin.
    next_variables = {
        choice.variable
        for choice in choices
        if choice.target is not None and not choice.repeats_loop
    }
    can_ignore = runs_wait and selection is not EventSelection.STRICT_CONTIGUITY
    can_ignore_any_row = runs_wait and selection is EventSelection.SKIP_TILL_ANY_MATCH
    if can_take_again and (next_variables or can_end):
        yield NondeterminismSource.TAKE_PROCEED
    if can_ignore and can_take_again and next_variables:
        yield NondeterminismSource.IGNORE_PROCEED
    if can_ignore_any_row and can_take_again:
        yield NondeterminismSource.TAKE_IGNORE
    if can_ignore_any_row and next_variables and not can_take_again:
        yield NondeterminismSource.BEGIN_IGNORE
    if len(next_variables) > 1:
        yield NondeterminismSource.BEGIN_BEGIN


def describe_window_size(task: Task) -> str:
    """Return what W is: the largest number of rows that a run can read."""
    return f"the number of rows in {'a window' if task.has_window else 'a partition'}"


def describe_run_count(compiled_query: CompiledQuery, branching_states: int) -> str:
    """Return how many runs there can be at once, as a line.

    Args:
        compiled_query: the compiled query. It has an event selection, and no stages.
        branching_states: how many states have a source of nondeterminism.
    """
    task = compiled_query.task
    window_size = describe_window_size(task)
    skips_any_row = task.selection is EventSelection.SKIP_TILL_ANY_MATCH
    can_double_at_each_row = skips_any_row and task.pattern.longest_match is None
    if can_double_at_each_row or task.pattern.is_exponentially_ambiguous:
        merging = "and runs of this query do not merge"
        if can_merge_runs(compiled_query):
            merging = "unless runs merge"
        return f"number of runs: exponential in W, {window_size}, {merging}"
    if branching_states:
        return f"number of runs: at most W^{branching_states + 1}; W is {window_size}"
    return f"number of runs: linear in W, {window_size}: one for each starting row"


def can_merge_runs(compiled_query: CompiledQuery) -> bool:
    """Return whether the search can merge runs that have the same future.

    Backtracking follows one run at a time. Runs whose own rows are output stay apart, too: all
    runs if the output is a graph, and runs that end before they are a match.
    """
    task = compiled_query.task
    if compiled_query.strategy.algorithm != "breadth_first" or task.output is MatchOutput.GRAPH:
        return False
    return not compile_task(
        task, len(compiled_query.sent_columns.integer_columns)
    ).outputs_ended_runs
