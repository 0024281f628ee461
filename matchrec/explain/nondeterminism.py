"""Say where a run can continue in more than one way, and how many runs that can make.

Conditions are not compared: any two of them can be true for the same row, except a condition and
its negation.

Source: SASE+, "Runtime complexity": the four sources of nondeterminism, propositions 4.1 and 4.2,
corollary 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.automaton.folding import Choice
from matchrec.automaton.program import Action, Program, StateId
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.explain.layout import limit_lines
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.search.compiled_task import compile_task
from matchrec.search.task import Task


@dataclass(frozen=True, slots=True)
class NondeterminismSource:
    """A source of nondeterminism: two edges of a state that the same row can follow."""

    # The two edges, as the paper writes them.
    edges: str
    # The growth of the number of runs with W, the number of rows in a window: an adverb.
    growth: str


TAKE_PROCEED = NondeterminismSource("Take-Proceed", "linearly")
IGNORE_PROCEED = NondeterminismSource("Ignore-Proceed", "linearly")
TAKE_IGNORE = NondeterminismSource("Take-Ignore", "exponentially")
BEGIN_IGNORE = NondeterminismSource("Begin-Ignore", "linearly")
BEGIN_BEGIN = NondeterminismSource(
    "Begin-Begin (from alternatives and groups; not in the paper)", "linearly"
)


def describe_nondeterminism(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield a line for each source with its states, then how many runs there may be at once."""
    task = compiled_query.task
    program = task.pattern.program
    states_by_source: dict[NondeterminismSource, list[StateId]] = {}
    for state, source in find_sources(task):
        states_by_source.setdefault(source, []).append(state)
    for source, states in states_by_source.items():
        names = limit_lines((program.name_state(state) for state in dict.fromkeys(states)), "more")
        plural = "s" if len(states) > 1 else ""
        states_text = f"state{plural} {', '.join(names)}"
        yield f"{source.edges} in {states_text}: the number of runs can grow {source.growth} with W"
    if not states_by_source:
        yield "none: a run has at most one way to continue with a row"
    if task.stages is None and task.needs_event_selection:
        branching_states = {state for states in states_by_source.values() for state in states}
        yield describe_run_count(compiled_query, len(branching_states))
    elif states_by_source and not task.needs_event_selection:
        rows = describe_longest_run(task)
        which = "longest" if task.output is MatchOutput.LONGEST else "preferred"
        yield f"W is {rows}; the search needs only the {which} match of each starting row"


def find_sources(task: Task) -> Iterator[tuple[StateId, NondeterminismSource]]:
    """Yield each state in which a row can lead a run on in several ways, with each source."""
    program, folding = task.pattern.program, task.pattern.folding
    if task.stages is not None:
        for state in range(len(program.states)):
            for source in find_sources_in_stages(program, state):
                yield state, source
        return
    for index, (state, choices) in enumerate(zip(folding.states, folding.choices, strict=True)):
        for source in find_sources_of_choices(choices, task.selection, waits=index > 0):
            yield state, source


def find_sources_in_stages(program: Program, state: StateId) -> Iterator[NondeterminismSource]:
    """Yield the sources in one state of a pattern of stages."""
    edges = [edge for edge in program.states[state].edges if edge.target != program.stop]
    takes = [edge for edge in edges if edge.action is Action.TAKE]
    ignores = [edge for edge in edges if edge.action is Action.IGNORE]
    leaves = any(edge.action is Action.PROCEED for edge in edges)
    for take in takes:
        both_may_hold = any(not set(take.needs) & set(edge.forbids) for edge in ignores)
        if both_may_hold and state != program.start:
            yield TAKE_IGNORE
        if leaves:
            yield TAKE_PROCEED
    if ignores and leaves:
        yield IGNORE_PROCEED


def find_sources_of_choices(
    choices: tuple[Choice, ...], selection: EventSelection, *, waits: bool
) -> Iterator[NondeterminismSource]:
    """Yield the sources in one state, as the paper names them.

    Args:
        choices: what a run in the state can do with a row.
        selection: the event selection strategy.
        waits: whether runs wait in the state for a row, so that they may ignore one. They do in
            all states but the first one.
    """
    takes = any(choice.repeats_loop for choice in choices)
    begins = {
        choice.variable
        for choice in choices
        if choice.target is not None and not choice.repeats_loop
    }
    accepts = any(choice.accepts for choice in choices)
    skips = waits and selection is not EventSelection.STRICT_CONTIGUITY
    skips_any = waits and selection is EventSelection.SKIP_TILL_ANY_MATCH
    if takes and (begins or accepts):
        yield TAKE_PROCEED
    if skips and takes and begins:
        yield IGNORE_PROCEED
    if skips_any and takes:
        yield TAKE_IGNORE
    if skips_any and begins and not takes:
        yield BEGIN_IGNORE
    if len(begins) > 1:
        yield BEGIN_BEGIN


def describe_longest_run(task: Task) -> str:
    """Return a text that says what W is: the largest number of rows that a run can read."""
    window = "a window" if task.has_window else "a partition"
    return f"the number of rows in {window}"


def describe_run_count(compiled_query: CompiledQuery, branching_states: int) -> str:
    """Return a text that says how many runs there may be at once.

    Args:
        compiled_query: the compiled query.
        branching_states: how many states have a source of nondeterminism.
    """
    task = compiled_query.task
    rows = f"W, {describe_longest_run(task)}"
    skips_any = task.selection is EventSelection.SKIP_TILL_ANY_MATCH
    unbounded = skips_any and task.pattern.longest is None
    if unbounded or task.pattern.is_exponentially_ambiguous:
        merges = (
            compiled_query.strategy.algorithm == "breadth_first"
            and task.output is not MatchOutput.GRAPH
            and not compile_task(task, len(compiled_query.sent_columns.integers)).outputs_ended_runs
        )
        merging = "unless runs merge" if merges else "and runs of this query do not merge"
        return f"number of runs: exponential in {rows}, {merging}"
    if branching_states:
        return (
            f"number of runs: at most W^{branching_states + 1}; W is {describe_longest_run(task)}"
        )
    return f"number of runs: linear in {rows}: one for each starting row"
