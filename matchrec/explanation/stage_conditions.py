"""What is said of patterns of stages: their edges, what may be skipped, what matches come out.

Source: Flink CEP, the states and edges that its compiler makes of a pattern.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from matchrec.compile.executable import Executable
from matchrec.engine.interface import Task
from matchrec.explanation.drawing.repeats import said_once
from matchrec.explanation.sources import IGNORE_PROCEED, TAKE_IGNORE, TAKE_PROCEED, Source
from matchrec.nfa.program import Action, Edge, Formulas, Program, StateId
from matchrec.plan.expression import ColumnReference, Reference, Scalar, render
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_navigation, show_reference
from matchrec.plan.stages import Skip, Staging

EVERYTHING = "TRUE"


def tests(plan: MatchPlan) -> dict[str, str]:
    """The conditions by their names, as they would be written."""
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


def formulas_of_stages(plan: MatchPlan, task: Task) -> Formulas:
    """The formula of each edge, by its state and place."""
    written = tests(plan)
    window = " and in the window" if plan.within is not None else ""
    found = {}
    for number, state in enumerate(task.pattern.program.states):
        for place, edge in enumerate(state.edges):
            bounded = window if edge.action is not Action.PROCEED else ""
            is_first = number == task.pattern.program.start
            text = formula(edge, task.pattern.program, written)
            found[number, place] = text + ("" if is_first else bounded)
    return found


def formula(edge: Edge, program: Program, written: Mapping[str, str]) -> str:
    """The conjunction of what an edge needs and what it forbids."""
    needs = (written[program.variables[one]] for one in edge.needs)
    parts = [text for text in needs if text != EVERYTHING]
    parts += [f"not ({written[program.variables[one]]})" for one in edge.forbids]
    return " and ".join(parts) or "true"


def stage_lines(staging: Staging) -> Iterator[str]:
    """What may be skipped, and which matches come out."""
    yield "each stage says what may be skipped before its events: its ignore edges"
    yield "every match, once" if staging.skip is None else after_match(staging.skip)
    if staging.timeouts is not None:
        yield "runs whose window ends come out as well"


def after_match(skip: Skip) -> str:
    """What a match that comes out leaves to others."""
    of_stage = "" if skip.variable is None else f" of {skip.variable}"
    event = f"its {skip.to.end.value.lower()} event{of_stage}"
    left = f"after {event}" if skip.to.past else f"from {event} on"
    missing = (
        "an error without such an event" if skip.fails_on_miss else "all without such an event"
    )
    note = f"; {missing}" if skip.variable is not None else ""
    return f"matches by their first events; each leaves to others what begins {left}{note}"


def test_lines(plan: MatchPlan, executable: Executable) -> Iterator[str]:
    """Each condition, and who computes it."""
    written = tests(plan)
    for name, condition in zip(executable.task.variables, executable.task.conditions, strict=True):
        if name not in written:
            continue
        bit = None if condition.row_condition is None else f"bit {condition.row_condition}"
        run = None if condition.run_condition is None else f"on the run: {written[name]}"
        parts = ", and ".join(one for one in (bit, run) if one)
        yield f"{name.removeprefix(':')}: {parts or 'true'}"


def choices_of_runs(executable: Executable) -> Iterator[str]:
    """States in which one row may lead a run on in more than one way."""
    program = executable.task.pattern.program
    every = {number: tuple(sources(program, number)) for number in range(len(program.states))}
    found = [
        f"may have {source.name} in state {program.named(number)}: {source.runs}"
        for number, known in said_once(every, program)
        for source in known
    ]
    yield from found or ["none: a row leads a run on in one way at most"]


def sources(program: Program, state: StateId) -> Iterator[Source]:
    """The sources in one state, as in the paper."""
    edges = [edge for edge in program.states[state].edges if edge.target != program.stop]
    takes = [edge for edge in edges if edge.action is Action.TAKE]
    ignores = [edge for edge in edges if edge.action is Action.IGNORE]
    leaves = any(edge.action is Action.PROCEED for edge in edges)
    for take in takes:
        both = any(not set(take.needs) & set(one.forbids) for one in ignores)
        if both and state != program.start:
            yield TAKE_IGNORE
        if leaves:
            yield TAKE_PROCEED
    if ignores and leaves:
        yield IGNORE_PROCEED
