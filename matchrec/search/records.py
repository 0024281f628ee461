"""A task over some partitions, as the records that kernels read.

With event selection no array is missing: without conditions on the run, a row of registers is
empty; without a window, it ends with the partition. Other searches have None for what they leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matchrec.automaton.closure import live_states, reached_twice
from matchrec.automaton.program import GUARD_END, TIMED_OUT
from matchrec.conditions.evaluate.formulas import RowValues
from matchrec.conditions.evaluate.instructions import MATCH_NUMBER, READ
from matchrec.conditions.evaluate.link import LinkedConditions, Move, link_conditions
from matchrec.jit.callbacks import NO_CALLBACK
from matchrec.jit.decorators import read_only
from matchrec.plan.clauses import EventSelection, Grouping, MatchOutput
from matchrec.search.interface import Condition, Task
from matchrec.search.kernels import layout
from matchrec.search.kernels.totals import ASKED_SIZE, CODES, words_of
from matchrec.search.matches import find_targets, skip_rule
from matchrec.search.partitions import Frontier, IntArray, Partitions
from matchrec.shortcuts import taken

if TYPE_CHECKING:
    from matchrec.conditions.evaluate.python_calls import PythonCalls


def negation_of(task: Task, compiled: CompiledTask, satisfied: IntArray) -> layout.NegationArrays:
    count, rows = len(task.absent), len(satisfied)
    absent = np.zeros((count, layout.ABSENT_SIZE), np.int64)
    members = np.zeros((count, 2, len(task.variables)), np.bool_)
    following = np.full((count, rows + 1), rows, np.int64)
    for place, absence in enumerate(task.absent):
        kind = layout.AT_THE_END if absence.before is None else layout.IN_THE_MIDDLE
        kind = layout.AT_THE_BEGINNING if absence.after is None else kind
        absent[place] = kind, *code_of(absence.variable, compiled)
        for side, ids in enumerate((absence.after, absence.before)):
            members[place, side, list(ids or ())] = True
        word, mask = word_and_mask(task.conditions[absence.variable])
        here = np.where(satisfied[:, word] & mask == mask, np.arange(rows), rows)
        following[place, :rows] = np.minimum.accumulate(here[::-1])[::-1]
    closing = np.zeros((0 if task.closing is None else 1, layout.CLOSING_SIZE), np.int64)
    if task.closing is not None:
        bit = word_and_mask(task.conditions[task.closing])
        closing[0] = *bit, *code_of(task.closing, compiled)
    return layout.NegationArrays(absent, members, closing, following)


def code_of(variable: int, compiled: CompiledTask) -> tuple[int, int]:
    return compiled.linked.code[variable] if compiled.linked else (0, 0)


@dataclass(frozen=True, slots=True)
class SearchInput:
    """A task over some partitions, as the kernels read them. ends: see `Partitions`.

    selects: whether with event selection. python: what Python computes for conditions on the run;
    None without such.
    """

    selects: bool
    compiled: CompiledTask
    rules: layout.Rules
    rows: layout.RowArrays
    negation: layout.NegationArrays | None
    ends: IntArray | None
    python: PythonCalls | None
    totals: layout.TotalArrays | None = None

    def show_to_python(self, work: Callable[[], layout.Work]) -> None:
        """Let what Python computes see the runs and the match of a search. work: as it is now."""
        if self.python is None:
            return
        progress = work().progress
        self.python.registers = lambda: work().registers
        self.python.match_number = lambda: int(progress.number) + 1
        if not self.selects:  # runs of different starting rows are never searched at once
            self.python.begins = lambda: (progress.partition, progress.start)


def prepare_input(task: Task, partitions: Partitions, *, selects: bool = True) -> SearchInput:
    compiled = compile_task(task, partitions.integers)
    linked, rules = compiled.linked, compiled.rules
    rows = rows_of(partitions, compiled, selects=selects)
    is_tested = task.absent or task.closing is not None
    negation = negation_of(task, compiled, rows.satisfied) if is_tested else None
    python = None
    if linked is not None:
        from matchrec.conditions.evaluate.python_calls import PythonCalls  # loads all functions

        source = RowValues(rows.columns, rows.valid, partitions.ranked)
        python = PythonCalls(linked, source)
        rows = rows._replace(mathematics=python.mathematics, python=python.pointer)
    if not selects:
        rules = rules._replace(accepts=None, goes_on=None, waits=None, ends=None)
        if linked is None:
            rules = rules._replace(instructions=None, live_first=None, live=None)
    totals = totals_of(task, partitions, compiled, rows.window_end)
    return SearchInput(selects, compiled, rules, rows, negation, partitions.ends, python, totals)


def totals_of(
    task: Task, partitions: Partitions, compiled: CompiledTask, window_end: IntArray
) -> layout.TotalArrays | None:
    """What is added up over all matches, as the kernels read it; None where matches come out."""
    if task.totals is None:
        return None
    asked, grouped = task.totals.asked, task.totals.grouped
    members = np.zeros((len(asked), len(task.variables)), np.bool_)
    codes = np.zeros((len(asked), ASKED_SIZE), np.int64)
    for place, total in enumerate(asked):
        members[place, list(total.members)] = True
        codes[place] = CODES[total.over], CODES[total.inside], number_of(total.values), total.floats
    own = len(partitions.columns) - 1 - max((number_of(one.values) for one in asked), default=-1)
    groups = len(partitions.starts) - 1 if grouped is Grouping.PARTITION else partitions.rows
    by_start = grouped is Grouping.START or any(absence.after is None for absence in task.absent)
    apart = np.arange(partitions.rows) if by_start else window_end
    return layout.TotalArrays(
        asked=codes,
        members=members,
        values=plain(partitions.columns[own:], np.int64),
        valid=plain(partitions.valid[own:], np.bool_),
        variables=compiled.rules.program[:, layout.VARIABLE].copy(),
        apart=plain(apart, np.int64),
        groups=np.zeros((groups, words_of(len(asked))), np.int64),
        grouped=list(Grouping).index(grouped),
        widest=1 + int(np.diff(compiled.rules.first).max()),
    )


def rows_of(partitions: Partitions, compiled: CompiledTask, *, selects: bool) -> layout.RowArrays:
    starts, window_end = plain(partitions.starts, np.int64), partitions.window_end
    reads = selects or compiled.linked is not None
    frontier = partitions.frontier
    if selects or frontier is None:
        frontier = Frontier.of(partitions.starts)
    if window_end is None:
        window_end = np.repeat(starts[1:], np.diff(starts) if selects else 0)
    return layout.RowArrays(
        starts,
        frontier,
        plain(partitions.satisfied, np.uint64).view(np.int64),
        plain(window_end, np.int64),
        plain(np.empty(0), np.bool_),  # see `search.beginnings`
        plain(partitions.columns, np.int64) if reads else None,
        plain(partitions.valid, np.bool_) if reads else None,
        NO_CALLBACK if selects else None,
        NO_CALLBACK if selects else None,
    )


def accepting_guards(program: IntArray, states: int) -> IntArray:
    """int64[s]: the weakest guard under which a run that arrives in a state accepts, or -1."""
    guards = np.full(states, -1, np.int64)
    accepting = program[program[:, layout.TARGET] == layout.ACCEPT]
    for guard in (GUARD_END, 0):  # the weakest last
        guards[accepting[accepting[:, layout.GUARD] == guard, layout.SOURCE]] = guard
    return guards


# A task as the arrays that kernels read.


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTask:
    """A task without its names. Equal tasks share one object, so what is made for one serves all.

    rules: as kernels with event selection read them. linked: what depends on the run, None where
    nothing does. remembers_all: whether failures are remembered in all states reached twice.
    """

    rules: layout.Rules
    linked: LinkedConditions | None
    remembers_all: bool

    @property
    def offsets(self) -> tuple[int, ...]:
        if self.linked is None:
            return ()
        code = self.linked.all_code
        return tuple(code[code[:, 0] == READ, 3].tolist())

    @property
    def registers(self) -> int:
        return len(self.linked.initial) if self.linked else 0


def compile_task(task: Task, integers: int) -> CompiledTask:
    """The arrays of a task over `integers` integer columns; of a known one, the same again."""
    return make_arrays(task, integers, merging=taken().merging)


@lru_cache(maxsize=1024)  # a worker asks batch after batch, a stream key after key
def make_arrays(task: Task, integers: int, *, merging: bool) -> CompiledTask:
    first, program = number_choices(task)
    skip = task.skip or task.after_match
    variables = program[:, layout.VARIABLE]
    program[:, layout.IS_TARGET] = find_targets(skip.variable, task.members, variables)
    remembered = program[:, layout.MEMO].copy()
    linked = _link(task, program, integers)
    (waits, ends_of_runs), states = _waiting(task), len(first) - 1
    flushes = bool(ends_of_runs.any())
    looking = program[program[:, layout.TARGET] != layout.ACCEPT, layout.SOURCE]
    rules = layout.Rules(
        first=first,
        program=program,
        output=list(MatchOutput).index(task.output),
        skip=skip_rule(skip.to),
        forgets=linked is not None and MATCH_NUMBER in linked.operations,
        merge_runs=merging and task.output is not MatchOutput.GRAPH and not flushes,
        starts=task.pattern.folding.starts,
        tests_before_mapping=task.stages is not None,
        flushes=flushes,
        accepts=accepting_guards(program, states),
        goes_on=np.isin(np.arange(states), looking).astype(np.int64),
        waits=waits,
        ends=ends_of_runs,
        instructions=linked.instructions if linked else np.empty((0, 5), np.int64),
        live_first=linked.live_first if linked else np.zeros(states + 1, np.int64),
        live=linked.live_registers if linked else np.empty(0, np.int64),
    )
    remembers_all = bool(np.array_equal(program[:, layout.MEMO], remembered))
    return CompiledTask(rules, linked, remembers_all)


def _link(task: Task, program: IntArray, integers: int) -> LinkedConditions | None:
    """The conditions on the run, linked; each choice of `program` says where its instructions are.

    No failure is remembered that a register decides.
    """
    if task.looks_only_at_data:
        return None
    folding, target, test = task.pattern.folding, program[:, layout.TARGET], program[:, layout.TEST]
    maps, asks = target >= 0, test >= 0
    last = [absent.variable for absent in task.absent]
    last += [] if task.closing is None else [task.closing]
    asked = [last if any(c.accepts for c in ways) else [] for ways in folding.choices]
    before = program[asks & (bool(folding.waits) | ~maps)]
    for state, variable in before[:, [layout.SOURCE, layout.TEST]].tolist():
        asked[state] = [*asked[state], variable]
    own = layout.TEST if task.stages is None else layout.VARIABLE  # of stages, before mapping
    rows = program[maps][:, [layout.SOURCE, layout.VARIABLE, layout.TARGET, own]]
    moves = tuple(Move(*row) for row in rows.tolist())
    conditions = [condition.run_condition for condition in task.conditions]
    linked = link_conditions(conditions, task.members, integers, moves, asked)
    program[maps, layout.STEPS : layout.STEPS_END + 1] = np.reshape(linked.steps, (-1, 2))
    code = np.reshape(linked.code, (-1, 2))
    program[asks, layout.CODE : layout.CODE_END + 1] = code[test[asks]]
    live = np.diff(linked.live_first) > 0
    forgotten = np.flatnonzero(maps)[live[target[maps]]]
    program[forgotten, layout.MEMO] = layout.NOT_REMEMBERED
    return linked


def _waiting(task: Task) -> tuple[IntArray, IntArray]:
    """`waits` and `ends` of a compiled task: beside all matches live runs may come out."""
    folding, waits = task.pattern.folding, np.array(list(map(number_of, task.waits)), np.int64)
    if task.stages is None:
        times_out = task.partial is not None and task.output is MatchOutput.ALL
        live = live_states(folding.choices) if times_out else np.zeros(len(waits))
        return waits, np.where(live, TIMED_OUT, 0).astype(np.int64)
    ends = np.array(folding.ends, np.int64)
    if not task.stages.timeouts:
        ends[ends >= TIMED_OUT] = 0
    return waits, ends


def number_choices(task: Task) -> tuple[IntArray, IntArray]:
    """`first` and `program` of `layout.Rules`, without what conditions on the run need."""
    folded = task.pattern.folding.choices
    choices = [choice for state in folded for choice in state]
    first = np.cumsum([0, *map(len, folded)]).astype(np.int64)
    source = np.repeat(np.arange(len(folded)), np.diff(first))
    twice = np.array(reached_twice(folded)) | task.selects  # where rows may be skipped, any can be
    memo = [*np.where(twice, np.cumsum(twice) - 1, layout.NOT_REMEMBERED), layout.NOT_REMEMBERED]
    program = np.zeros((len(choices), layout.CHOICE_SIZE), np.int64)
    columns: dict[int, Sequence[int] | IntArray] = {
        layout.SOURCE: source,
        layout.TARGET: [number_of(c.effect or c.target) for c in choices],
        layout.VARIABLE: [number_of(c.variable) for c in choices],
        layout.GUARD: [c.guard for c in choices],
        layout.MEMO: [memo[number_of(c.target)] for c in choices],
        layout.TEST: [number_of(c.variable if c.test is None else c.test) for c in choices],
        layout.EXCLUDED: [c.excluded for c in choices],
        layout.AGAIN: [c.again for c in choices],
        layout.BLOCKS: [c.blocks for c in choices],
    }
    for column, values in columns.items():
        program[:, column] = values
    if task.stages is None:
        again = program[:, layout.AGAIN] != 0
        skips_at_will = task.selection is EventSelection.SKIP_TILL_ANY_MATCH
        blocks = again | ~np.isin(source, source[again])
        program[:, layout.BLOCKS] = 0 if skips_at_will else blocks
    for choice in program:
        if (test := choice[layout.TEST]) >= 0:
            choice[[layout.WORD, layout.MASK]] = word_and_mask(task.conditions[test])
    return first, program


def number_of(one: int | None) -> int:
    """A number as the kernels' arrays have it, -1 for none."""
    return -1 if one is None else int(one)


def word_and_mask(condition: Condition) -> tuple[int, int]:
    """Where the bit of a row condition is; mask 0 where there is none."""
    if condition.row_condition is None:
        return 0, 0
    bit = np.uint64(1 << condition.row_condition % 64)
    return condition.row_condition // 64, int(bit.astype(np.int64))


def plain(array: npt.NDArray[Any], dtype: type) -> npt.NDArray[Any]:
    """A contiguous array of `dtype`, as kernels take it, copied only if it must be. It cannot be
    written to, so that kernels need no other code for arrays that never could.
    """
    found: npt.NDArray[Any] = read_only(np.ascontiguousarray(array, dtype))
    return found
