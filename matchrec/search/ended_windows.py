"""Choose the window by which a run timed out, if several of its windows have ended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from matchrec.automaton.run_endings import FIRST_NEIGHBOUR_WINDOW, TIMED_OUT
from matchrec.search.matches import Matches
from matchrec.search.partitions import IntArray


def choose_first_ended_windows(matches: Matches, end_times: IntArray) -> Matches:
    """Return the matches; a run that timed out gets the kind of the window that ended first.

    So if several windows end at the same time, the kind does not depend on the window in which the
    run waited. The window of the whole match comes first, then those between neighbours.

    Args:
        matches: matches, and runs that timed out in a window between neighbours.
        end_times: see `Partitions.end_times`.
    """
    assert matches.kind is not None
    assert matches.rows is not None
    timed_out = np.flatnonzero(matches.kind >= FIRST_NEIGHBOUR_WINDOW)
    last_row = matches.rows[matches.offsets[timed_out + 1] - 1]
    # For each window between neighbours and each of these runs, when the window ends.
    neighbour_ends = end_times[1:, last_row]
    window = matches.kind[timed_out] - FIRST_NEIGHBOUR_WINDOW
    end = neighbour_ends[window, np.arange(len(timed_out))]
    has_match_window_ended = end_times[0, matches.start[timed_out]] <= end
    first_window = FIRST_NEIGHBOUR_WINDOW + (neighbour_ends == end).argmax(axis=0)
    kind = matches.kind.copy()
    kind[timed_out] = np.where(has_match_window_ended, TIMED_OUT, first_window)
    return replace(matches, kind=kind)
