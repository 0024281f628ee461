"""Formulas of a program's edges, the sources of nondeterminism, the value vector.

    begin, take   the condition of the variable
    proceed       constrained: the row begins what comes next; true into the final state
    ignore        by strategy: true, or that the row cannot be taken, or where none is, not begun
    all of them   the window
    to the final  the closing condition, which is about the match as a whole

Of patterns of stages each edge has what it needs and what it forbids.

Source: SASE+, "Query compilation", steps 2 to 6. A constrained proceed edge may also be followed,
there, where the run can neither take nor ignore: then no way leads on, and the run ends either way.
Flink CEP, the states and edges that its compiler makes of a pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from typing_extensions import assert_never

from matchrec.automaton.closure import Choice
from matchrec.automaton.program import Action, Edge, Formulas, Program, StateId
from matchrec.compile.executable import Executable
from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate import registers
from matchrec.conditions.evaluate.link import LinkedConditions
from matchrec.conditions.row_column import show_column
from matchrec.plan.clauses import Absence, Definition, EventSelection, Gap, MatchOutput, Within
from matchrec.plan.expression import ColumnReference, End, Reference, Scalar, render
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_navigation, show_reference, show_scalar
from matchrec.plan.stages import Skip
from matchrec.search.interface import Task
from matchrec.search.records import compile_task

# The sources of nondeterminism. Source: SASE+, "Runtime complexity", the four sources.

LINEAR, EXPONENTIAL = "linear in W", "exponential in W"


Branching = tuple[str, str]  # a source, and how many runs one run may become in such a state

TAKE_PROCEED = "Take-Proceed", LINEAR
IGNORE_PROCEED = "Ignore-Proceed", LINEAR
TAKE_IGNORE = "Take-Ignore", EXPONENTIAL
BEGIN_IGNORE = "Begin-Ignore", LINEAR
BEGIN_BEGIN = "Begin-Begin (alternatives and groups, which the paper has not)", LINEAR

EVERYTHING = "TRUE"
MOST_STATES = 20


def few(texts: Iterable[str], more: str) -> Iterator[str]:
    """The first of what is said of each state; a counted loop has as many states as it counts."""
    every = list(texts)
    yield from every[:MOST_STATES]
    if len(every) > MOST_STATES:
        yield f"... {len(every) - MOST_STATES:,} {more}"


def conditions_of(plan: MatchPlan, further: Iterable[Definition] = ()) -> dict[str, str]:
    """The conditions by their names, as they would be written. further: beside the plan's own."""
    if plan.staging is None:
        return {one.variable: show_scalar(one.condition) for one in (*plan.definitions, *further)}
    return {one.variable: show_test(one.condition, one.variable) for one in plan.definitions}


def show_test(scalar: Scalar, test: str) -> str:
    """A condition: columns alone are those of the candidate, LAST those of the event before."""

    def show(reference: Reference) -> str:
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


def after_match(skip: Skip) -> str:
    """What a match that comes out leaves to others."""
    of_stage = "" if skip.variable is None else f" of {skip.variable}"
    event = f"its {skip.to.end.value.lower()} event{of_stage}"
    left = f"after {event}" if skip.to.past else f"from {event} on"
    missing = "an error" if skip.fails_on_miss else "all"
    note = f"; {missing} without such an event" if skip.variable is not None else ""
    return f"matches by their first events; each leaves to others what begins {left}{note}"


def sources_in_stages(program: Program, state: StateId) -> Iterator[Branching]:
    edges = [edge for edge in program.states[state].edges if edge.target != program.stop]
    takes = [edge for edge in edges if edge.action is Action.TAKE]
    ignores = [edge for edge in edges if edge.action is Action.IGNORE]
    leaves = any(edge.action is Action.PROCEED for edge in edges)
    for take in takes:
        both = any(not set(take.needs) & set(edge.forbids) for edge in ignores)
        if both and state != program.start:
            yield TAKE_IGNORE
        if leaves:
            yield TAKE_PROCEED
    if ignores and leaves:
        yield IGNORE_PROCEED


# Event selection, the window, and what must not be there.


def selection_lines(plan: MatchPlan) -> Iterator[str]:
    """The strategy and the matches that come out, where they are not those of plain SQL."""
    if plan.staging is not None:
        skip = plan.staging.skip
        yield "each stage says what may be skipped before its events: its ignore edges"
        yield "every match, once" if skip is None else after_match(skip)
        if plan.staging.timeouts is not None:
            yield "runs whose window ends come out as well"
    elif plan.selects:
        yield f"{plan.selection.words}: {plan.selection.meaning}"
    if plan.selects or plan.output is not MatchOutput.PREFERRED:
        yield f"{plan.output.words}: {plan.output.meaning}"
    if plan.first_matches is not None:
        yield f"{plan.first_matches.words}: {plan.first_matches.meaning}"


def window_lines(plan: MatchPlan) -> Iterator[str]:
    """How far the rows of a match may lie apart, and where that is tested."""
    if not has_window(plan):
        return
    if plan.within_rows is not None:
        yield f"the last row is one of the {plan.within_rows} rows from the first one on"
    if plan.within is not None:
        yield window_line(plan, plan.within)
    yield from map(gap_line, plan.gaps)
    yield "tested on every edge: `in the window`"


def window_line(plan: MatchPlan, within: Within) -> str:
    order, said = plan.order_by[0].expression.text, within.distance
    if said is None or not said.variables:
        interval = within.interval.text
        return f"the last row lies less than {interval} after the first one, along {order}"
    variables = ", ".join(said.variables)
    conditions = "conditions" if len(said.variables) > 1 else "condition"
    source = f"from the {conditions} of {variables}"
    return f"the last row lies {said.written} after the first one, along {order}: {source}"


def gap_line(gap: Gap) -> str:
    if gap.to is None:
        return f"each row lies less than {gap.interval.text} after the row before it in the match"
    before = f"the last row of {gap.after} before it"
    return f"each row of {gap.to} lies less than {gap.interval.text} after {before}"


def has_window(plan: MatchPlan) -> bool:
    return plan.within_rows is not None or plan.within is not None or len(plan.gaps) > 0


def absence_lines(plan: MatchPlan) -> Iterator[str]:
    """Each negated component, with its condition, and the closing condition."""
    written = conditions_of(plan)
    for absence in plan.absences:
        condition = written.get(absence.variable, "true")
        yield f"no row of {absence.variable} {where(absence)}: {condition}"
    if plan.closing is not None:
        yield f"of a whole match, on edges to the final state: {written[plan.closing]}"


def where(absence: Absence) -> str:
    """The part of the stream that an absence is about."""
    if absence.after is None:
        return "before the match, whose window reaches to its last row"
    if absence.before is None:
        return "behind the match, in its window"
    after, before = (" | ".join(names) for names in (absence.after, absence.before))
    return f"between the last row of {after} and the first row of {before}"


def formulas(plan: MatchPlan, task: Task) -> Formulas:
    """The formula of each edge, by its state and place; of plain SQL, what is not true."""
    written, program, found = conditions_of(plan), task.pattern.program, {}
    windowed = has_window(plan) if plan.staging is None else plan.within is not None
    for number, state in enumerate(program.states):
        for place, edge in enumerate(state.edges):
            parts = [formula(edge, number, task, written)]
            is_last = edge.target == program.final and plan.staging is None
            if is_last and plan.closing is not None:
                parts.append(written[plan.closing])
            maps = is_last or edge.action is not Action.PROCEED
            if windowed and maps and number != program.start:  # a run that begins is in its own
                parts.append("in the window")
            text = " and ".join(part for part in parts if part)
            if text or (task.selects and not edge.anchor):
                found[number, place] = text or "true"
    return found


def formula(edge: Edge, state: StateId, task: Task, written: dict[str, str]) -> str:
    """The formula of one edge but for the window; empty where it is true."""
    program = task.pattern.program
    if task.stages is not None:
        needs = (written[program.variables[one]] for one in edge.needs)
        parts = [text for text in needs if text != EVERYTHING]
        parts += [f"not ({written[program.variables[one]]})" for one in edge.forbids]
        return " and ".join(parts) or "true"
    if edge.variable is not None:
        return written.get(program.variables[edge.variable], "")
    if edge.action is Action.IGNORE:
        if task.selection is EventSelection.SKIP_TILL_ANY_MATCH:
            return ""
        # what is taken again may not be skipped, or else what is begun
        takes = [edge for edge in program.states[state].edges if edge.action is Action.TAKE]
        blocking = map(program.label, takes) if takes else filter(None, ways_on(program, state))
        return f"not ({' or '.join(dict.fromkeys(blocking))})"
    if not task.selects:
        return ""
    ways = list(dict.fromkeys(ways_on(program, edge.target)))
    return "" if "" in ways else " or ".join(ways)


def ways_on(program: Program, state: StateId) -> Iterator[str]:
    """What can map a row from a state on, proceed edges included; empty for the final state."""
    seen = {state}
    waiting = [state]
    while waiting:
        here = waiting.pop(0)
        if here == program.final:
            yield ""
        for edge in program.states[here].edges:
            if edge.variable is not None:
                yield program.label(edge)
            elif edge.target not in seen:
                seen.add(edge.target)
                waiting.append(edge.target)


# Where a run may go on in more than one way, and how many runs that can make.
#
# Conditions are unknown here, so that any two edges may hold for the same row, but an edge and its
# negation.
#
# Source: SASE+, "Runtime complexity": the four sources of nondeterminism, propositions 4.1 and 4.2,
# corollary 4.3.


def nondeterminism_lines(executable: Executable) -> Iterator[str]:
    """The sources with their states, then the cost."""
    task, program = executable.task, executable.task.pattern.program
    found: dict[Branching, list[StateId]] = {}
    for state, branching in branchings(task):
        found.setdefault(branching, []).append(state)
    for (source, runs), states in found.items():
        named = few((program.named(state) for state in dict.fromkeys(states)), "more")
        plural = "s" if len(states) > 1 else ""
        yield f"may have {source} in state{plural} {', '.join(named)}: {runs}"
    if not found:
        yield "none: each row has at most one transition"
    if task.stages is None and task.selects:
        yield cost(executable, len({state for states in found.values() for state in states}))
    elif found and not task.selects:
        rows = rows_in_reach(task)
        which = "longest" if task.output is MatchOutput.LONGEST else "preferred"
        yield f"W: {rows}; only the {which} match of a starting row is sought"


def branchings(task: Task) -> Iterator[tuple[StateId, Branching]]:
    """States in which one row may lead a run on in more than one way, with each source."""
    program, folding = task.pattern.program, task.pattern.folding
    if task.stages is not None:
        for state in range(len(program.states)):
            yield from ((state, source) for source in sources_in_stages(program, state))
        return
    for place, (state, choices) in enumerate(zip(folding.states, folding.choices, strict=True)):
        found = sources(choices, task.selection, waits=place > 0)
        yield from ((state, source) for source in found)


def sources(
    choices: tuple[Choice, ...], selection: EventSelection, *, waits: bool
) -> Iterator[Branching]:
    """The sources in one state. waits: whether runs wait there, and so may ignore a row."""
    takes = any(choice.again for choice in choices)
    begins = {one.variable for one in choices if one.target is not None and not one.again}
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


def rows_in_reach(task: Task) -> str:
    return "the rows of a window" if task.windowed else "the rows of a partition"


def cost(executable: Executable, states: int) -> str:
    """How many runs there may be at once. states: how many have a source."""
    task = executable.task
    rows = f"W, {rows_in_reach(task)}"
    skips_any = task.selection is EventSelection.SKIP_TILL_ANY_MATCH
    unbounded = skips_any and task.pattern.longest is None
    if unbounded or task.pattern.is_exponentially_ambiguous:
        merges = executable.strategy.algorithm == "breadth_first"
        merges = merges and task.output is not MatchOutput.GRAPH
        merges = merges and not compile_task(task, len(executable.crossing.integers)).rules.flushes
        merging = "unless runs merge" if merges else "and runs do not merge here"
        return f"runs: exponential in {rows}, {merging}"
    if states:
        return f"runs: polynomial in {rows}: at most W^{states + 1}"
    return f"runs: linear in {rows}: one for each starting row"


# The computation state of a run: the value vector V, and in which states it is still needed.
#
# Source: SASE+, "Basic algorithm" (V) and "Merging equivalent runs" (the bitmasks M).


def vector_lines(executable: Executable) -> Iterator[str]:
    """Each value with the conditions that read it; then for each state those still needed."""
    task = executable.task
    compiled = compile_task(task, len(executable.crossing.integers))
    if compiled.linked is None or not compiled.linked.meanings:
        return
    held = (*executable.crossing.integers, *executable.crossing.floats)
    columns = [show_column(executable.crossing.columns[index]) for index in held]
    vector = Vector(task, compiled.linked, columns)
    values = list(enumerate(sorted(compiled.linked.meanings, key=lambda one: one[0]), 1))
    for number, (register, meaning) in values:
        pairs = zip(task.variables, compiled.linked.reads, strict=True)
        readers = [name.removeprefix(":") for name, reads in pairs if register in reads]
        used = f", for {', '.join(readers)}" if readers else ", for other values"
        yield f"V{number} = {vector.show(register, meaning)}{used}"
    program, folding = task.pattern.program, task.pattern.folding
    needed: dict[StateId, set[int]] = {}
    for place, state in enumerate(folding.states):
        if place >= folding.starts and state != program.final:
            begin, end = compiled.linked.live_first[place : place + 2]
            live = set(compiled.linked.live_registers[begin:end].tolist())
            own = (number for number, (register, _) in values if register in live)
            needed.setdefault(state, set()).update(own)
    told = []
    for state in sorted(needed):
        names = " ".join(f"V{number}" for number in sorted(needed[state]))
        told.append(f"in state {program.named(state)}: {names or 'nothing'}")
    yield from few(told, "more states")


@dataclass(frozen=True, slots=True)
class Vector:
    """The registers of a task, in words. columns: texts of those that run conditions read."""

    task: Task
    linked: LinkedConditions
    columns: list[str]

    def show(self, register: int, meaning: registers.Meaning) -> str:
        match meaning:
            case registers.RowOf(end, members, offset):
                side = "after" if end is End.FIRST else "before"
                further = f", {offset} {side} it" if offset else ""
                row = f"the {end.value.lower()} row of {self.of(members)}{further}"
                return f"set {self.read_through(register)} of {row}"
            case registers.VariableOfRow(registers.RowOf(end, members, offset), physical):
                row = f"{end.value}({self.of(members)}, {offset})"
                return f"set the variable at {physical:+d} from {row}"
            case registers.Reduced(function, members, column, _, so_far, forms):
                values = dict.fromkeys(self.listed(value) for form in forms for value in form[1:])
                what = f"{function.value} {'*' if column is None else self.columns[column]}"
                what = f"list {', '.join(values)}" if forms else what
                return f"{what} of {self.of(members)}{', so far' if so_far else ''}"
            case _:
                assert_never(meaning)

    def listed(self, value: registers.ListedValue) -> str:
        """What a row of a list has; where MATCH_NUMBER() is in it, what that is combined with."""
        read = dict.fromkeys(self.columns[column] for column in value.columns)
        return " with ".join((*(() if value.column is not None else ("MATCH_NUMBER()",)), *read))

    def of(self, members: registers.Members) -> str:
        """The name of variables, or all of theirs."""
        states = self.task.pattern.program.states
        every = {edge.variable for state in states for edge in state.edges}
        named = [name for name, ids in self.task.members.items() if ids == members]
        if not named and members >= every - {None}:
            return "any variable"
        return named[0] if named else "|".join(self.task.variables[one] for one in sorted(members))

    def read_through(self, register: int) -> str:
        """The columns that conditions read at a row whose position is in a register."""
        operation, column, position = self.linked.all_code[:, :3].T
        read = column[(operation == op.READ) & (position == register)]
        return ", ".join(dict.fromkeys(self.columns[one] for one in read.tolist())) or "position"
