"""Explain an automaton: its edge formulas, sources of nondeterminism, and what a run stores.

The formula of an edge is a conjunction:

    begin, take       the condition of the variable
    proceed           the row can begin what comes next; nothing if that is the final state
    ignore            depends on the strategy: nothing, or that the row cannot be taken again, or
                      in a state that takes no row again, that it begins nothing
    any               the row is in the window
    to the final      the closing condition, which is about the match as a whole

In a pattern of stages each edge has the conditions that it needs and those that it forbids.

The formula of a proceed edge is shorter than in the paper: a run may also follow the edge if it can
neither take nor ignore the row. Then no edge leads on from there, and the run ends either way.

Sources: SASE+, "Query compilation", steps 2 to 6. Flink CEP, the states and edges that its compiler
makes of a pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from typing_extensions import assert_never

from matchrec.automaton.folding import Choice
from matchrec.automaton.program import Action, Edge, Formulas, Program, StateId
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate import registers
from matchrec.conditions.evaluate.link import LinkedConditions
from matchrec.conditions.row_column import show_column
from matchrec.errors.wording import show_count
from matchrec.plan.clauses import Absence, Definition, EventSelection, Gap, MatchOutput, Within
from matchrec.plan.expression import ColumnReference, End, Reference, Scalar, render
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_navigation, show_reference, show_scalar
from matchrec.plan.stages import Skip
from matchrec.search.kernel_input import compile_task
from matchrec.search.task import Task

# The sources of nondeterminism. Source: SASE+, "Runtime complexity", the four sources.

LINEAR, EXPONENTIAL = "linearly", "exponentially"

# The name of a source, and how the number of runs can grow with W in a state that has it. W is the
# number of rows in a window.
Branching = tuple[str, str]

TAKE_PROCEED = "Take-Proceed", LINEAR
IGNORE_PROCEED = "Ignore-Proceed", LINEAR
TAKE_IGNORE = "Take-Ignore", EXPONENTIAL
BEGIN_IGNORE = "Begin-Ignore", LINEAR
BEGIN_BEGIN = "Begin-Begin (from alternatives and groups; not in the paper)", LINEAR

# The text of a condition that holds for every row.
TRUE_TEXT = "TRUE"

# How many states are listed.
MOST_STATES = 20


def limit_lines(texts: Iterable[str], more: str) -> Iterator[str]:
    """Yield the first texts of a list of states, and how many more there are.

    A loop with a counter has as many states as it counts, so there may be thousands.

    Args:
        texts: a text for each state.
        more: the words after the number of states that are left out.
    """
    all_texts = list(texts)
    yield from all_texts[:MOST_STATES]
    if len(all_texts) > MOST_STATES:
        yield f"... {len(all_texts) - MOST_STATES:,} {more}"


def show_conditions(plan: MatchPlan, added: Iterable[Definition] = ()) -> dict[str, str]:
    """Return the text of each condition, by the name of its variable.

    Args:
        plan: the plan.
        added: conditions that are not in the plan. They are left out for patterns of stages.
    """
    if plan.staging is not None:
        return {
            definition.variable: show_stage_condition(definition.condition, definition.variable)
            for definition in plan.definitions
        }
    return {
        definition.variable: show_scalar(definition.condition)
        for definition in (*plan.definitions, *added)
    }


def show_stage_condition(scalar: Scalar, test: str) -> str:
    """Return the text of a stage's condition.

    A column alone is read on the row that is tested, `LAST(price)` on the event before it, and
    `LAST(A.price)` on the last event of the stage A.

    Args:
        scalar: the condition.
        test: the variable that stands for the row that is tested.
    """

    def show(reference: Reference) -> str:
        """Return the text of a reference."""
        if not isinstance(reference, ColumnReference):
            return show_reference(reference)
        navigation = reference.navigation
        if navigation.variable is None:
            return f"LAST({reference.argument})"
        if navigation.variable == test:
            navigation = replace(navigation, variable=None)
            return show_navigation(navigation, reference.argument)
        shown = show_navigation(navigation, reference.argument)
        return shown if shown.endswith(")") else f"LAST({shown})"

    return render(scalar, show)


def describe_next_start(skip: Skip) -> str:
    """Say where the next match may begin, if not all matches of stages are output."""
    qualifier = "" if skip.variable is None else f" of {skip.variable}"
    event = f"its {skip.to.end.value.lower()} event{qualifier}"
    begins = f"after {event}" if skip.to.past else f"at or after {event}"
    result = "is an error" if skip.fails_on_miss else "excludes no other match"
    note = f"; a match without such an event {result}" if skip.variable is not None else ""
    return f"in the order of first events, a match is followed by one that begins {begins}{note}"


def find_sources_in_stages(program: Program, state: StateId) -> Iterator[Branching]:
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


# Event selection, the window, and what must not be there.


def describe_selection(plan: MatchPlan) -> Iterator[str]:
    """Say which rows may be skipped and which matches are output, if it is not as in plain SQL."""
    skip = None if plan.staging is None else plan.staging.skip
    if plan.staging is not None:
        yield "each stage has its own rule for skipping events: see the ignore edges"
        if skip is not None:
            yield describe_next_start(skip)
        if plan.staging.timeouts is not None:
            yield "runs that time out are output, too"
    elif plan.needs_event_selection:
        yield f"{plan.selection.words}: {plan.selection.meaning}"
    if skip is None and (plan.needs_event_selection or plan.output is not MatchOutput.PREFERRED):
        yield f"{plan.output.words}: {plan.output.meaning}"
    if plan.first_matches is not None:
        yield f"{plan.first_matches.words}: {plan.first_matches.meaning}"


def describe_windows(plan: MatchPlan) -> Iterator[str]:
    """Yield lines that say how far apart the rows of a match may be, and where that is tested."""
    if not has_window(plan):
        return
    if plan.within_rows is not None:
        yield f"a match spans at most {show_count(plan.within_rows, 'row')} of the partition"
    if plan.within is not None:
        yield describe_match_window(plan, plan.within)
    for gap in plan.gaps:
        yield describe_gap(gap)
    yield "every edge has this test, as `in the window`"


def describe_match_window(plan: MatchPlan, within: Within) -> str:
    """Say how far apart the first and the last row may be, and which conditions say so, if any."""
    order = plan.order_by[0].expression.text
    distance = within.distance
    if distance is None or not distance.variables:
        interval = within.interval.text
        return f"the last row is less than {interval} after the first row, by {order}"
    variables = ", ".join(distance.variables)
    conditions = "conditions" if len(distance.variables) > 1 else "condition"
    source = f"from the {conditions} of {variables}"
    return f"the last row is {distance.text} after the first row, by {order} ({source})"


def describe_gap(gap: Gap) -> str:
    """Return a text that says how far apart rows inside of a match may be."""
    if gap.to is None:
        return f"each row is less than {gap.interval.text} after the row before it in the match"
    before = f"the last row of {gap.after} before it"
    return f"each row of {gap.to} is less than {gap.interval.text} after {before}"


def has_window(plan: MatchPlan) -> bool:
    """Return whether a run ends because of the distance between its rows."""
    return plan.within_rows is not None or plan.within is not None or len(plan.gaps) > 0


def describe_absences(plan: MatchPlan) -> Iterator[str]:
    """Yield a line for each negated component, with its condition, and the closing condition."""
    conditions = show_conditions(plan)
    for absence in plan.absences:
        condition = conditions.get(absence.variable, "true")
        yield f"no row for {absence.variable} {locate_absence(absence)}: {condition}"
    if plan.match_condition is not None:
        yield f"the whole match, on edges to the final state: {conditions[plan.match_condition]}"


def locate_absence(absence: Absence) -> str:
    """Return which rows a negated component is about."""
    if absence.after is None:
        return "before the match, less than a window before its last row"
    if absence.before is None:
        return "after the match, in its window"
    after, before = (" | ".join(names) for names in (absence.after, absence.before))
    return f"between the last row of {after} and the first row of {before}"


def write_formulas(plan: MatchPlan, task: Task) -> Formulas:
    """Return the formula of each edge, by its state and its index among the state's edges.

    In plain SQL an edge that is always open has none. Anchors are not formulas.
    """
    conditions = show_conditions(plan)
    program = task.pattern.program
    has_window_test = plan.within is not None if plan.staging is not None else has_window(plan)
    edge_formulas = {}
    for state_id, state in enumerate(program.states):
        for edge_index, edge in enumerate(state.edges):
            parts = [write_formula(edge, state_id, task, conditions)]
            is_last = edge.target == program.final and plan.staging is None
            if is_last and plan.match_condition is not None:
                parts.append(conditions[plan.match_condition])
            reads_row = is_last or edge.action is not Action.PROCEED
            # The first row of a run is always in the run's window.
            if has_window_test and reads_row and state_id != program.start:
                parts.append("in the window")
            text = " and ".join(part for part in parts if part)
            if text or (task.needs_event_selection and not edge.anchor):
                edge_formulas[state_id, edge_index] = text or "true"
    return edge_formulas


def write_formula(edge: Edge, state: StateId, task: Task, conditions: dict[str, str]) -> str:
    """Return the formula of one edge without the window; empty if it is true.

    Args:
        edge: an edge of the state.
        state: the state.
        task: the task of the search.
        conditions: the text of each condition, see `show_conditions`.
    """
    program = task.pattern.program
    if task.stages is not None:
        return write_stage_formula(edge, program, conditions)
    if edge.variable is not None:
        return conditions.get(program.variables[edge.variable], "")
    if edge.action is Action.IGNORE:
        if task.selection is EventSelection.SKIP_TILL_ANY_MATCH:
            return ""
        return f"not ({' or '.join(find_blocking_labels(program, state))})"
    if not task.needs_event_selection:
        return ""
    labels = list(dict.fromkeys(find_next_labels(program, edge.target)))
    return "" if "" in labels else " or ".join(labels)


def write_stage_formula(edge: Edge, program: Program, conditions: dict[str, str]) -> str:
    """Return the conjunction of what an edge needs and what it forbids, in a pattern of stages."""
    needed = [conditions[program.variables[test]] for test in edge.needs]
    parts = [text for text in needed if text != TRUE_TEXT]
    parts += [f"not ({conditions[program.variables[test]]})" for test in edge.forbids]
    return " and ".join(parts) or "true"


def find_blocking_labels(program: Program, state: StateId) -> list[str]:
    """Return the labels of a row that a run in a state may not skip.

    These are the edges that take the row again; in a state without such an edge, those that begin
    what comes next.
    """
    takes = [edge for edge in program.states[state].edges if edge.action is Action.TAKE]
    labels = [program.describe_edge(edge) for edge in takes]
    if not takes:
        labels = [label for label in find_next_labels(program, state) if label]
    return list(dict.fromkeys(labels))


def find_next_labels(program: Program, state: StateId) -> Iterator[str]:
    """Yield the labels of the edges by which a run in a state can map its next row.

    Proceed edges are followed. An empty label means that the final state can be reached.
    """
    visited = {state}
    queue = [state]
    while queue:
        next_state = queue.pop(0)
        if next_state == program.final:
            yield ""
        for edge in program.states[next_state].edges:
            if edge.variable is not None:
                yield program.describe_edge(edge)
            elif edge.target not in visited:
                visited.add(edge.target)
                queue.append(edge.target)


# Where a run may go on in more than one way, and how many runs that can make.
#
# Conditions are not compared, so that any two edges are taken to hold for the same row, except a
# condition and its negation.
#
# Source: SASE+, "Runtime complexity": the four sources of nondeterminism, propositions 4.1 and 4.2,
# corollary 4.3.


def describe_nondeterminism(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield a line for each source with its states, then how many runs there may be at once."""
    task = compiled_query.task
    program = task.pattern.program
    states_by_source: dict[Branching, list[StateId]] = {}
    for state, branching in find_branchings(task):
        states_by_source.setdefault(branching, []).append(state)
    for (source, runs), states in states_by_source.items():
        names = limit_lines((program.name_state(state) for state in dict.fromkeys(states)), "more")
        plural = "s" if len(states) > 1 else ""
        states_text = f"state{plural} {', '.join(names)}"
        yield f"{source} in {states_text}: the number of runs can grow {runs} with W"
    if not states_by_source:
        yield "none: a run has at most one way to continue with a row"
    if task.stages is None and task.needs_event_selection:
        branching_states = {state for states in states_by_source.values() for state in states}
        yield describe_cost(compiled_query, len(branching_states))
    elif states_by_source and not task.needs_event_selection:
        rows = describe_reach(task)
        which = "longest" if task.output is MatchOutput.LONGEST else "preferred"
        yield f"W is {rows}; the search needs only the {which} match of each starting row"


def find_branchings(task: Task) -> Iterator[tuple[StateId, Branching]]:
    """Yield the states in which a row may lead a run on in several ways, with each source."""
    program, folding = task.pattern.program, task.pattern.folding
    if task.stages is not None:
        for state in range(len(program.states)):
            for source in find_sources_in_stages(program, state):
                yield state, source
        return
    for index, (state, choices) in enumerate(zip(folding.states, folding.choices, strict=True)):
        for source in find_sources(choices, task.selection, waits=index > 0):
            yield state, source


def find_sources(
    choices: tuple[Choice, ...], selection: EventSelection, *, waits: bool
) -> Iterator[Branching]:
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


def describe_reach(task: Task) -> str:
    """Return a text that says what W is: the rows that one run can read."""
    window = "a window" if task.has_window else "a partition"
    return f"the number of rows in {window}"


def describe_cost(compiled_query: CompiledQuery, states: int) -> str:
    """Return a text that says how many runs there may be at once.

    Args:
        compiled_query: the compiled query.
        states: how many states have a source of nondeterminism.
    """
    task = compiled_query.task
    rows = f"W, {describe_reach(task)}"
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
    if states:
        return f"number of runs: at most W^{states + 1}; W is {describe_reach(task)}"
    return f"number of runs: linear in {rows}: one for each starting row"


# The computation state of a run: the value vector V, and in which states it is still needed.
#
# Source: SASE+, "Basic algorithm" (V) and "Merging equivalent runs" (the bitmasks M).


def describe_registers(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield a line for each value with the conditions that read it, then one for each state.

    The line of a state has the values that are still needed in it.
    """
    task = compiled_query.task
    compiled = compile_task(task, len(compiled_query.sent_columns.integers))
    linked = compiled.linked
    if linked is None or not linked.meanings:
        return
    run_columns = (*compiled_query.sent_columns.integers, *compiled_query.sent_columns.floats)
    columns = [show_column(compiled_query.sent_columns.columns[index]) for index in run_columns]
    describer = RegisterDescriber(task, linked, columns)
    # V1, V2, ... in the order of their first registers.
    values = list(enumerate(sorted(linked.meanings, key=lambda value: value[0]), 1))
    for number, (register, meaning) in values:
        readers = [
            name.removeprefix(":")  # of the test of a stage
            for name, registers_read in zip(task.variables, linked.reads, strict=True)
            if register in registers_read
        ]
        use = f"; read by {', '.join(readers)}" if readers else "; used by other values"
        yield f"V{number} = {describer.show(register, meaning)}{use}"
    program, folding = task.pattern.program, task.pattern.folding
    needed: dict[StateId, set[int]] = {}
    for index, state in enumerate(folding.states):
        if index < folding.start_count or state == program.final:
            continue
        begin, end = linked.live_first[index : index + 2]
        live = set(linked.live_registers[begin:end].tolist())
        live_values = {number for number, (register, _) in values if register in live}
        needed.setdefault(state, set()).update(live_values)
    lines = []
    for state in sorted(needed):
        names = " ".join(f"V{number}" for number in sorted(needed[state]))
        lines.append(f"state {program.name_state(state)} needs: {names or 'nothing'}")
    yield from limit_lines(lines, "more states")


@dataclass(frozen=True, slots=True)
class RegisterDescriber:
    """Describes in words the values that a run keeps in its registers."""

    task: Task
    linked: LinkedConditions
    # The texts of the columns that conditions on the run read.
    columns: list[str]

    def show(self, register: int, meaning: registers.Meaning) -> str:
        """Return a description of a value: its operation, its column and its variables.

        Args:
            register: the first register of the value.
            meaning: what it holds.
        """
        match meaning:
            case registers.RowRegister(end, members, offset):
                end_row = f"the {end.value.lower()} row of {self.name(members)}"
                side = "after" if end is End.FIRST else "before"
                row = f"its row {offset} {side} {end_row}" if offset else end_row
                return f"{self.read_through(register)} on {row}"
            case registers.VariableRegister(registers.RowRegister(end, members, offset), physical):
                row = f"{end.value}({self.name(members)}, {offset})"
                return f"variable of the row at {physical:+d} from {row}"
            case registers.AggregateRegister(function, members, column, _, so_far, forms):
                if forms:
                    listed_values = [value for form in forms for value in form[1:]]
                    texts = dict.fromkeys(map(self.show_listed_value, listed_values))
                    operation = f"list of {', '.join(texts)}"
                elif column is not None:
                    operation = f"{function.value} of {self.columns[column]}"
                else:
                    operation = "count"
                rows_so_far = " so far" if so_far else ""
                return f"{operation} over the rows of {self.name(members)}{rows_so_far}"
            case _:
                assert_never(meaning)

    def show_listed_value(self, value: registers.ListedValue) -> str:
        """Return the columns of a value that is kept for each row: `MATCH_NUMBER() with price`."""
        columns = list(dict.fromkeys(self.columns[column] for column in value.columns))
        if value.column is None:  # the value contains MATCH_NUMBER(), which is not a column
            columns.insert(0, "MATCH_NUMBER()")
        return " with ".join(columns)

    def name(self, members: registers.Members) -> str:
        """Return the name of some variables, or "any variable" for all of them."""
        for name, ids in self.task.members.items():
            if ids == members:
                return name
        states = self.task.pattern.program.states
        all_variables = {edge.variable for state in states for edge in state.edges}
        if members >= all_variables - {None}:
            return "any variable"
        return "|".join(self.task.variables[variable] for variable in sorted(members))

    def read_through(self, register: int) -> str:
        """Return the columns that conditions read on the row whose position is in a register."""
        operation, column, position = self.linked.all_code[:, :3].T
        is_read = (operation == op.READ) & (position == register)
        columns = dict.fromkeys(self.columns[index] for index in column[is_read].tolist())
        return ", ".join(columns) or "position"
