"""Make the records and arrays in which a search notes how far it has come."""

from __future__ import annotations

import numpy as np

from matchrec.automaton.ambiguity import can_find_match_twice
from matchrec.automaton.run_endings import A_MATCH
from matchrec.plan.clauses import MatchOutput
from matchrec.search.kernel_input import SearchInput
from matchrec.search.kernels import layout
from matchrec.search.partitions import IntArray
from matchrec.search.task import Task

# The initial values of fields of a progress; all other fields begin with 0.
INITIAL_VALUES = {"partition": -1, "memo_window": -1, "best_start": -1, "match_kind": A_MATCH}


def make_progress(progress_class: type[layout.Progress], task: Task) -> layout.Progress:
    """Return the progress of a search that has not begun, with the fields of a class."""
    progress = layout.make_record(progress_class)
    for field in layout.iterate_fields(progress_class):
        setattr(progress, field, INITIAL_VALUES.get(field, 0))
    progress.match_limit = find_match_limit(task)
    max_steps = None if task.needs_event_selection else task.max_steps
    progress.step_limit = min(max_steps or layout.NO_LIMIT, layout.NO_LIMIT)
    return progress


def find_match_limit(task: Task) -> int:
    """Return the number of matches after which the search of a partition ends; NO_LIMIT for all.

    There is no limit if a skip strategy leaves out matches later, or if all matches are output and
    some of them are found twice. `selection.find_matches_run_by_run` removes the limit, because its
    search does not find matches in the order of their numbers.
    """
    if task.max_matches is None or task.skip is not None:
        return layout.NO_LIMIT
    if task.output is MatchOutput.ALL and can_find_match_twice(
        task.pattern.folding, task.states_after_skip
    ):
        return layout.NO_LIMIT
    return task.max_matches


def make_last_live(task: Task, arrays: SearchInput) -> IntArray:
    """Return an array for the last row at which a run of each starting row is live.

    It is int64[n] with -1 for each row; int64[0] if it does not matter when runs are live.
    """
    row_count = arrays.rows.starts[-1] if needs_release_times(task) else 0
    return np.full(row_count, -1, np.int64)


def needs_release_times(task: Task) -> bool:
    """Return whether it matters at which row a match is released.

    It matters if runs that time out are output as well, because whether such a run is kept depends
    on the matches that were released before it timed out.
    """
    return task.stages is not None and task.stages.outputs_timeouts and task.skip is not None
