"""Ending kinds: the kinds of output of a run whose window or partition ends while it waits.

Ending kinds are plain integers because kernels read them from arrays. `Folding.ending_kinds` has
the kind for each state in which a run can wait. Each output run has a kind as well: A_MATCH, or
another kind if SHOW TIMEOUT or SHOW UNFINISHED MATCHES outputs runs that are not matches.
"""

from __future__ import annotations

UNFINISHED = -1  # the partition ended while the run was live, before its window ended
NOTHING = 0  # the run is not output
A_MATCH = 1  # the run is a match
TIMED_OUT = 2  # the window of the whole match has ended
# FIRST_NEIGHBOUR_WINDOW + n: window n between neighbouring rows has ended. In `ending_kinds`, the
# window of the whole match may have ended first. Windows are numbered from 0, the shortest first.
FIRST_NEIGHBOUR_WINDOW = 3

# In `Folding.neighbour_windows`: no window between neighbouring rows ends a run in a state.
NO_NEIGHBOUR_WINDOW = -1
