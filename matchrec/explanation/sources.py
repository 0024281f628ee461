"""The sources of nondeterminism. Source: SASE+, "Runtime complexity", the four sources."""

from __future__ import annotations

from matchrec.dataclass import dataclass

LINEAR, EXPONENTIAL = "linear in W", "exponential in W"


@dataclass(frozen=True, slots=True)
class Source:
    """One source, and how many runs may branch from one run in such a state."""

    name: str
    runs: str


TAKE_PROCEED = Source("Take-Proceed", LINEAR)
IGNORE_PROCEED = Source("Ignore-Proceed", LINEAR)
TAKE_IGNORE = Source("Take-Ignore", EXPONENTIAL)
BEGIN_IGNORE = Source("Begin-Ignore", LINEAR)
BEGIN_BEGIN = Source("Begin-Begin (alternatives and groups, which the paper has not)", LINEAR)
