"""What a run comes out as."""

from __future__ import annotations

# What a run is whose window or partition ends where it waits: beside these, FIRST_NEAR + n is timed
# out by window n between neighbours, or by that of the whole match, whichever ends first.
NOTHING = 0
A_MATCH = 1
TIMED_OUT = 2
FIRST_NEAR = 3
UNFINISHED = -1  # live where the partition ended, before its window did
NOT_NEAR = -1  # of a place that no window between neighbours ends
