"""Ending kinds: what becomes of a run whose window or partition ends while it waits in a state.

They are plain integers because kernels read them from arrays. `Folding.ending_kinds` has the kind
of each state, and each output run has the kind of its own ending: A_MATCH, or another one if SHOW
TIMEOUT or SHOW UNFINISHED MATCHES outputs runs that are not matches.
"""

from __future__ import annotations

UNFINISHED = -1  # the partition ended while the run was live, before its window ended
NOTHING = 0  # the run is not output
A_MATCH = 1
TIMED_OUT = 2  # the window of the whole match has ended
# FIRST_NEIGHBOUR_WINDOW + n: window n between neighbouring rows has ended, or the window of the
# whole match, whichever ends first. Windows are numbered from the shortest on.
FIRST_NEIGHBOUR_WINDOW = 3

# In `Folding.neighbour_windows`: no window between neighbouring rows ends a run in a state.
NO_NEIGHBOUR_WINDOW = -1
