"""Choose the window by which a run timed out, if several of its windows have ended.

A run of stages can have several windows at a time: the window of the whole match, and windows
between neighbouring rows. The search reports the window in which the run waited. But another window
of the run may have ended earlier, or at the same time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from matchrec.automaton.run_endings import FIRST_NEIGHBOUR_WINDOW, TIMED_OUT
from matchrec.search.matches import Matches
from matchrec.search.partitions import IntArray


def choose_first_ended_windows(matches: Matches, end_times: IntArray) -> Matches:
    """Return the matches, in which each run that timed out has the kind of the first ended window.

    If several windows ended at the same time, the window of the whole match counts as the first,
    then the windows between neighbours in their order. So the kind does not depend on the window in
    which the run waited.

    Args:
        matches: matches, and runs that timed out in a window between neighbours.
        end_times: see `Partitions.end_times`.
    """
    assert matches.kind is not None
    assert matches.rows is not None
    match_end_times = end_times[0]
    neighbour_end_times = end_times[1:]
    # int64[t], the runs that timed out in a window between neighbours, and their last rows.
    runs = np.flatnonzero(matches.kind >= FIRST_NEIGHBOUR_WINDOW)
    last_row = matches.rows[matches.offsets[runs + 1] - 1]
    # int64[w, t], when each window between neighbours ends for each of these runs.
    neighbour_ends = neighbour_end_times[:, last_row]
    reported_window = matches.kind[runs] - FIRST_NEIGHBOUR_WINDOW
    end = neighbour_ends[reported_window, np.arange(len(runs))]
    has_match_window_ended = match_end_times[matches.start[runs]] <= end
    first_window_with_end = (neighbour_ends == end).argmax(axis=0)
    kind = matches.kind.copy()
    kind[runs] = np.where(
        has_match_window_ended, TIMED_OUT, FIRST_NEIGHBOUR_WINDOW + first_window_with_end
    )
    return replace(matches, kind=kind)
