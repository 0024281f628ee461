"""Stages: the form of a pattern in which every step says which events may be skipped before it.

Source: Flink CEP, "The Pattern API", contiguity of individual and of looping patterns.
"""

from __future__ import annotations

from enum import Enum


class Contiguity(Enum):
    """Which events may be skipped before an event is accepted.

    STRICT: none. RELAXED: those that do not satisfy the stage's own condition. ANY: all.
    """

    STRICT = "next"
    RELAXED = "followed_by"
    ANY = "followed_by_any"
