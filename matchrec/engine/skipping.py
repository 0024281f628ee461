"""A skip strategy as kernels read it, and where it leads from matches that are found already.

To add a strategy, give it a line in `plan.clauses.SkipTo`, its words in a front end, and a case.
What the engine does about it follows: all searches ask `kernels.next_start`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from matchrec.engine.kernels import next_start as kernel
from matchrec.engine.kernels.layout import SkipRule
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.plan.expression import End
from matchrec.plan.stages import Skip

VariableArray = npt.NDArray[np.signedinteger[Any]]


def skip_rule(to: SkipTo) -> SkipRule:
    """A skip strategy as kernels read it."""
    return SkipRule(to.end is End.LAST, to.past)


def find_targets(
    variable: str | None, members: Mapping[str, frozenset[int]], mapped: VariableArray
) -> BoolArray:
    """bool[k], which of the variables `mapped` are those that a strategy counts from.

    variable: primary or union, None where it counts from any row. members: ids by name.
    """
    if variable is None:
        return np.ones(len(mapped), np.bool_)
    return np.isin(mapped, list(members[variable]))


def next_starts(
    skip: AfterMatchSkip | Skip, members: Mapping[str, frozenset[int]], matches: Matches
) -> IntArray:
    """int64[m], the row from which the search goes on after each match, or `kernel.NO_ROW`."""
    variables = np.arange(int(matches.classifiers.max(initial=0)) + 1)
    found = np.empty(matches.count, np.int64)
    kernel.next_starts(
        skip_rule(skip.to),
        find_targets(skip.variable, members, variables),
        np.ascontiguousarray(matches.start),
        np.ascontiguousarray(matches.offsets),
        np.ascontiguousarray(matches.classifiers),
        None if matches.rows is None else np.ascontiguousarray(matches.rows),
        found,
    )
    return found
