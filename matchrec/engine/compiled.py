"""A task as the arrays that kernels read."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from matchrec.dataclass import dataclass
from matchrec.engine.interface import Condition, Staged, Task
from matchrec.engine.kernels import layout
from matchrec.engine.partitions import BoolArray, Frontier, IntArray, Partitions
from matchrec.engine.skipping import find_targets, skip_rule
from matchrec.evaluate.instructions import MATCH_NUMBER, READ
from matchrec.evaluate.link import LinkedConditions, Ways, link_conditions
from matchrec.evaluate.liveness import Move
from matchrec.nfa.closure import Folding
from matchrec.nfa.compiled_pattern import CompiledPattern
from matchrec.nfa.facts import live_states
from matchrec.nfa.outcomes import TIMED_OUT
from matchrec.nfa.tables import ProgramTables, program_tables
from matchrec.plan.clauses import AfterMatchSkip, EventSelection, MatchOutput


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTask:
    """A task without its names; of equal tasks the same object, by which others are remembered.

    linked: what depends on the run, None where nothing does.

    folding: the states between two rows. waits: int64[s], the state in which a run waits that skips
    a row, -1 where it may not. ends: int64[s], see `Folding`, of what must come out.
    """

    folding: Folding
    tables: ProgramTables
    program: IntArray
    skip: layout.SkipRule
    linked: LinkedConditions | None
    waits: IntArray
    ends: IntArray

    @property
    def remembers_all(self) -> bool:
        """Whether failures are remembered in every state that can be reached twice."""
        return bool(np.array_equal(self.program[:, layout.MEMO], self.tables.memo))

    @property
    def offsets(self) -> tuple[int, ...]:
        """How far from a row of the run, or from the candidate row, conditions read."""
        if self.linked is None:
            return ()
        code = self.linked.all_code
        return tuple(code[code[:, 0] == READ, 3].tolist())

    @property
    def counts_matches(self) -> bool:
        """Whether a condition reads how many matches there were before."""
        return self.linked is not None and MATCH_NUMBER in self.linked.operations

    @property
    def memo_bytes(self) -> int:
        """Bytes that a row of remembered failures takes."""
        return -(-(int(self.program[:, layout.MEMO].max(initial=-1)) + 1) // 8)


def compile_task(task: Task, integers: int) -> CompiledTask:
    """The arrays of a task over `integers` integer columns; of a known one, the same again."""
    last = tuple(absent.variable for absent in task.absent)
    last += () if task.closing is None else (task.closing,)
    parts = _Parts(
        task.pattern,
        task.conditions,
        tuple(sorted((name, ids) for name, ids in task.members.items())),
        task.after_match,
        task.selects,
        last,
        task.selection,
        task.stages,
        task.partial is not None and task.output is MatchOutput.ALL,
    )
    return _compile(parts, integers)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What of a task its arrays are made from.

    last: variables whose conditions end a match. times_out: whether a run that is live where its
    window ends comes out beside all matches.
    """

    pattern: CompiledPattern
    conditions: tuple[Condition, ...]
    members: tuple[tuple[str, frozenset[int]], ...]
    after_match: AfterMatchSkip
    selects: bool
    last: tuple[int, ...]
    selection: EventSelection
    stages: Staged | None
    times_out: bool


@lru_cache(maxsize=1024)  # a worker asks batch after batch, and of a set rule after rule
def _compile(parts: _Parts, integers: int) -> CompiledTask:
    folding = parts.pattern.folding
    folded = folding.choices
    tables = program_tables(folded, selects=parts.selects)
    choices = _choices(tables, parts)
    members = dict(parts.members)
    skip = (parts.stages and parts.stages.skip) or parts.after_match
    choices[:, layout.IS_TARGET] = find_targets(skip.variable, members, tables.variable)
    linked = None
    if any(condition.run_condition is not None for condition in parts.conditions):
        run_conditions = [condition.run_condition for condition in parts.conditions]
        ends = tuple(s for s, ways in enumerate(folded) if any(c.accepts for c in ways))
        asked = _asked_before(tables, folding)
        ways = Ways(_moves(tables, parts.stages), len(folded), parts.last, ends, asked)
        linked = link_conditions(run_conditions, members, integers, ways)
        _add_links(choices, tables, linked)
    rule, waits_and_ends = skip_rule(skip.to), _waiting(parts, folding)
    return CompiledTask(folding, tables, choices, rule, linked, *waits_and_ends)


def _waiting(parts: _Parts, folding: Folding) -> tuple[IntArray, IntArray]:
    """`waits` and `ends` of a compiled task."""
    states = len(folding.choices)
    if parts.stages is None:
        strict = parts.selection is EventSelection.STRICT_CONTIGUITY
        waits = np.full(states, -1) if strict else np.arange(states)
        live = live_states(folding.choices) if parts.times_out else np.zeros(states)
        return waits.astype(np.int64), np.where(live, TIMED_OUT, 0).astype(np.int64)
    ends = np.array(folding.ends, np.int64)
    if not parts.stages.timeouts:
        ends[ends >= TIMED_OUT] = 0
    return np.array([-1 if one is None else one for one in folding.waits], np.int64), ends


def _asked_before(tables: ProgramTables, folding: Folding) -> tuple[tuple[int, int], ...]:
    """Of stages, each state with the variables whose conditions are asked in it."""
    if not folding.waits:
        return ()
    asked = tables.test >= 0
    return tuple(zip(tables.source[asked].tolist(), tables.test[asked].tolist(), strict=True))


def _choices(tables: ProgramTables, parts: _Parts) -> IntArray:
    """The program with its row conditions."""
    choices = np.zeros((len(tables.target), layout.CHOICE_SIZE), np.int64)
    choices[:, layout.SOURCE] = tables.source
    choices[:, layout.TARGET] = tables.target
    choices[:, layout.VARIABLE] = tables.variable
    choices[:, layout.GUARD] = tables.guard
    choices[:, layout.MEMO] = tables.memo
    loops = np.isin(tables.source, tables.source[tables.again])
    if parts.stages is not None:
        choices[:, layout.BLOCKS] = tables.blocks
    elif parts.selection is not EventSelection.SKIP_TILL_ANY_MATCH:
        choices[:, layout.BLOCKS] = tables.again | ~loops
    for choice, test in zip(choices, tables.test, strict=True):
        if test >= 0:
            choice[[layout.WORD, layout.MASK]] = word_and_mask(parts.conditions[test])
    return choices


def word_and_mask(condition: Condition) -> tuple[int, int]:
    """Where the bit of a row condition is; mask 0 where there is none."""
    if condition.row_condition is None:
        return 0, 0
    bit = np.uint64(1 << condition.row_condition % 64)
    return condition.row_condition // 64, int(bit.astype(np.int64))


def _moves(tables: ProgramTables, stages: Staged | None) -> tuple[Move, ...]:
    """The choices that map a row, in order; of stages, tests are asked before that."""
    tests = tables.test if stages is None else tables.variable
    columns = tables.source, tables.variable, tables.target, tests
    return tuple(
        Move(int(source), int(variable), int(target), int(test))
        for source, variable, target, test in zip(*columns, strict=True)
        if target >= 0
    )


def _add_links(choices: IntArray, tables: ProgramTables, linked: LinkedConditions) -> None:
    """Say of each choice where its instructions are; forget no failure that a register decides."""
    mapping = tables.target >= 0
    choices[mapping, layout.STEPS : layout.STEPS_END + 1] = np.reshape(linked.steps, (-1, 2))
    code = np.reshape(linked.code, (-1, 2))
    asked = tables.test >= 0
    choices[asked, layout.CODE : layout.CODE_END + 1] = code[tables.test[asked]]
    live = np.diff(linked.live_first) > 0
    forgotten = np.flatnonzero(mapping)[live[tables.target[mapping]]]
    choices[forgotten, layout.MEMO] = layout.NOT_REMEMBERED


def frontier_of(partitions: Partitions) -> IntArray:
    """How far searches have come as a kernel notes it: int64[5, p]."""
    one = partitions.frontier or Frontier.of(partitions.starts)
    return np.stack([one.start, one.until, one.edge, one.number, one.steps])


def satisfied_of(partitions: Partitions) -> IntArray:
    """The row conditions as a kernel reads them; it reads word 0 even where nothing is needed."""
    if partitions.satisfied.shape[1] == 0:
        return np.zeros((partitions.rows, 1), np.int64)
    return plain(partitions.satisfied, np.uint64).view(np.int64)


def window_end_of(partitions: Partitions) -> IntArray:
    """Where windows end as a kernel reads it; nothing where there are none."""
    if partitions.window_end is None:
        return np.empty(0, np.int64)
    return plain(partitions.window_end, np.int64)


def columns_of(partitions: Partitions) -> tuple[IntArray, BoolArray]:
    """All columns as bits, and their validity: the integer ones, then the floating ones."""
    integers = plain(partitions.integers, np.int64)
    floats = plain(partitions.floats, np.float64).view(np.int64)
    valid = partitions.integers_valid, partitions.floats_valid
    if len(floats) == 0:
        return integers, plain(valid[0], np.bool_)
    if len(integers) == 0:
        return floats, plain(valid[1], np.bool_)
    return np.concatenate([integers, floats]), plain(np.concatenate(valid), np.bool_)


def plain(array: npt.NDArray[Any], dtype: type) -> npt.NDArray[Any]:
    """A contiguous array of `dtype`, as kernels take it, copied only if it must be."""
    return np.ascontiguousarray(array, dtype)
