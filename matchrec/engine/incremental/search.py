"""One partition whose rows come little by little: the breadth-first search, stopped and gone on.

The runs, their registers and the shared buffer are what they are in a search over all rows; between
two calls they are kept with the rows that they still lead to. The end of the rows that are there is
not the end of the partition: only a window that has ended by the clock ends runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from matchrec.conditions.run_condition import Kind
from matchrec.engine.compiled import CompiledTask, compile_task
from matchrec.engine.contiguous.search import Room
from matchrec.engine.incremental.state import SearchState
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches, Numbering, no_matches
from matchrec.engine.partitions import BoolArray, IntArray, Partitions
from matchrec.engine.selection import breadth_first as selection_breadth_first
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.live_runs import Alive
from matchrec.engine.selection.ordering import in_order
from matchrec.engine.selection.records import Given, given
from matchrec.engine.selection.skip import joined
from matchrec.engine.selection.skip_release import Moment, released
from matchrec.evaluate.registers import FirstRow, LastRow, Reduced
from matchrec.nfa.places import NOT_NEAR

ROOM = Room(rows=1 << 14, matches=1 << 10, memory=1 << 6)


@dataclass(frozen=True, slots=True)
class Call:
    """What a search is given this time.

    partitions: one, the rows that are kept, then new ones. stop: the row to stop at; the conditions
    of absences may look at those from there on. ended: bool[n], whether a window that begins with a
    row has ended by the clock, though rows in it may lie behind `stop`. needed: the first row from
    which on all are kept, at most `stop`. near: bool[w, n], whether a window between neighbours
    that begins with a row has ended by the clock; None without such windows.
    """

    partitions: Partitions
    stop: int
    ended: BoolArray
    needed: int
    near: BoolArray | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """matches: what comes out, numbered. state: of the search. kept: int64[k], positions of the
    rows before `stop` that must be there the next time, ascending.
    """

    matches: Matches
    state: SearchState
    kept: IntArray


def go_on(task: Task, state: SearchState, call: Call) -> Answer:
    """Search further rows, and end what has ended. Raises RunFailure."""
    rows = given(task, call.partitions, merge_runs=True)
    alive, found, last_alive = searched(task, rows, state.alive, call, len(state.numbers))
    numbers = all_numbers(state, call)
    settled, bars, held = -1, state.bars, no_matches()
    numbering = Numbering()
    numbering.partition, numbering.last = 0, state.numbered
    if task.stages is None or task.stages.skip is None:
        out = joined([in_order(one) for one in found])
    else:
        shift = state.done - len(state.numbers)
        moment = Moment(
            call.stop, alive.first_rows, last_alive, positions_of(state.bars, numbers, shift)
        )
        waiting = replace(state.held, completed=moved_by(state.held.completed, -shift))
        decided = released(task, task.stages.skip, joined([waiting, *found]), moment)
        out, held, settled = decided.matches, decided.held, decided.settled
        bars = numbers_of(decided.bars, numbers, shift)
        held = replace(held, completed=moved_by(held.completed, shift))
    after = alive.some(alive.starts >= settled)
    if len(after.runs) < len(alive.runs):
        after = compacted(task, rows, after, call)
    numbered = numbering.numbered(out)
    last = max(state.numbered, int(numbered.number.max(initial=-1)))
    needed = after.rows(row_registers(rows.compiled)), held.start, held.rows
    kept = kept_rows(needed, call, contiguous=bool(task.absent))
    places = np.full(len(numbers), -1, np.int64)
    places[kept] = np.arange(len(kept))
    assert held.rows is not None
    moved = replace(held, start=places[held.start], rows=places[held.rows])
    done = state.done + call.stop - len(state.numbers)
    alive = after.moved(places, row_registers(rows.compiled))
    return Answer(numbered, SearchState(done, last, numbers[kept], alive, bars, moved), kept)


def searched(
    task: Task, rows: Given, alive: Alive, call: Call, start: int
) -> tuple[Alive, list[Matches], IntArray]:
    """The runs that are alive behind the new rows, what was found, when runs were last alive."""
    found: list[Matches] = [no_matches()]
    last_alive = np.zeros(0, np.int64)
    if call.stop > start:
        search = resumed(task, rows, alive, start, call.stop)
        found += search.found()
        alive, last_alive = search.alive(), search.work.alive
    over = call.ended[alive.starts] & (rows.rows.window_end[alive.starts] <= call.stop)
    if call.near is not None:
        over |= ended_near(rows.compiled, alive, call.near)
    if not over.any():
        return alive, found, last_alive
    if rows.rules.flushes:
        search = resumed(task, rows, alive.some(over), call.stop, -1)
        found += search.found()
        both = search.work.alive
        last_alive = np.maximum(both, last_alive) if len(last_alive) else both
    return compacted(task, rows, alive.some(~over), call), found, last_alive


def ended_near(compiled: CompiledTask, alive: Alive, ended: BoolArray) -> BoolArray:
    """bool[r], whether a window between neighbours has ended that a run waits in."""
    over = np.zeros(len(alive.runs), np.bool_)
    waiting, window = windows_between(compiled, alive)
    over[waiting] = ended[window, alive.last_rows[waiting]]
    return over


def windows_between(compiled: CompiledTask, alive: Alive) -> tuple[IntArray, IntArray]:
    """The runs that wait in a window between neighbours, and which one it is."""
    near = np.array(compiled.folding.near, np.int64)[alive.runs[:, layout.RUN_STATE]]
    waiting = np.flatnonzero(near != NOT_NEAR)
    return waiting, near[waiting]


def compacted(task: Task, rows: Given, alive: Alive, call: Call) -> Alive:
    """The same runs without the nodes that none of them leads to."""
    search = resumed(task, rows, alive, call.stop, call.stop)
    for _ in search.found():
        pass  # nothing is searched
    return search.alive()


def resumed(
    task: Task, rows: Given, alive: Alive, start: int, stop: int
) -> selection_breadth_first.Search:
    """A search that goes on with some runs; stop -1: at the end of the partition."""
    search = selection_breadth_first.Search(task, rows, ROOM, None)
    count, nodes = len(alive.runs), len(alive.nodes)
    while search.work.runs.shape[1] < 2 * count:
        search.grow(layout.RUNS_FULL)
    while len(search.work.nodes) < 4 * nodes:
        search.grow(layout.NODES_FULL)
    search.work.nodes[:nodes] = alive.nodes
    search.work.progress[layout.NODES] = nodes
    search.give_alive(alive)
    search.work.progress[[layout.START, own.STOP]] = start, stop
    return search


def row_registers(compiled: CompiledTask) -> IntArray:
    """The registers that hold rows."""
    meanings = compiled.linked.meanings if compiled.linked else ()
    held = [number for number, one in meanings if isinstance(one, FirstRow | LastRow)]
    return np.array(held, np.int64)


def kept_rows(needed: Iterable[IntArray | None], call: Call, *, contiguous: bool) -> IntArray:
    """The rows before the one to stop at that are needed further on, ascending.

    contiguous: those between them as well.
    """
    keep = np.zeros(len(call.ended) + 1, np.bool_)
    for rows in needed:
        keep[rows] = True
    first = np.flatnonzero(keep)[:1] if contiguous else np.zeros(0, np.int64)
    keep[min([call.needed, *first]) :] = True
    return np.flatnonzero(keep[: call.stop])


def all_numbers(state: SearchState, call: Call) -> IntArray:
    """The numbers of all rows."""
    new = len(call.ended) - len(state.numbers)
    return np.concatenate([state.numbers, np.arange(state.done, state.done + new)])


def moved_by(rows: IntArray | None, distance: int) -> IntArray:
    """The rows some places on."""
    assert rows is not None
    return rows + distance


def numbers_of(bars: IntArray, numbers: IntArray, shift: int) -> IntArray:
    """Bars as numbers of rows: of new ones, which are not moved; the one behind all has one too."""
    behind = np.append(numbers, numbers[-1] + 1 if len(numbers) else shift)
    first = np.where(bars[:, 1] >= 0, behind[bars[:, 1]], -1)
    return np.stack([bars[:, 0] + shift, first], axis=1)


def positions_of(bars: IntArray, numbers: IntArray, shift: int) -> IntArray:
    """Bars as positions, the inverse."""
    first = np.where(bars[:, 1] >= 0, np.searchsorted(numbers, bars[:, 1]), -1)
    return np.stack([bars[:, 0] - shift, first], axis=1)


def registers_of(task: Task, integers: int) -> int:
    """How many registers a run has."""
    linked = compile_task(task, integers).linked
    return len(linked.initial) if linked else 0


def keeps_values(task: Task, columns: frozenset[int]) -> bool:
    """Whether a run keeps values of some integer columns, apart from the rows that have them."""
    if not columns:
        return False
    linked = compile_task(task, 1 + max(columns)).linked
    kept = [meaning for _, meaning in linked.meanings] if linked else []
    return any(
        isinstance(one, Reduced) and one.kind is Kind.INTEGER and one.column in columns
        for one in kept
    )
