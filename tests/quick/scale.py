"""How much tests do: little by default, more in a full run, all of it at night.

    MATCHREC_FULL=1 pytest -m larger        what has a larger form, in that form
    MATCHREC_FULL=night pytest -m larger    the same with all examples, and what takes longest
    MATCHREC_EXAMPLES=20000 pytest FILE     a long run: so many random examples, others each time
    MATCHREC_SEED=1000                      batches of other random queries

    MATCHREC_OWN_SPARK=1 pytest FILE        Spark with its own settings
    MATCHREC_INTERPRETED=1 pytest FILE      Spark that compiles no query

By default a random test draws a part of its examples, the same each time, and a larger part in a
full run. Spark has the settings of tests/quick unless it is to have its own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")

QUICK = Path(__file__).parent
FULL = os.environ.get("MATCHREC_FULL", "0") != "0"
NIGHT = os.environ.get("MATCHREC_FULL") == "night"
OWN_SPARK = os.environ.get("MATCHREC_OWN_SPARK", "0") != "0"
INTERPRETED = os.environ.get("MATCHREC_INTERPRETED", "0") != "0"
SEED = int(os.environ.get("MATCHREC_SEED", "0"))
LONG_RUN = os.environ.get("MATCHREC_EXAMPLES")  # how many examples, as text
# Rows of the second size of random tests: tests/tasks/copies.py.
LARGE = 500 if not (FULL or LONG_RUN) else 1000 if LONG_RUN is None else 2000
PART, PART_OF_FULL = 64, 8  # a quick run has one example of so many, a full run by day


def part() -> int:
    """A run has one example of so many."""
    if NIGHT or LONG_RUN is not None:
        return 1
    return PART_OF_FULL if FULL else PART


def examples(night: int) -> int:
    """How many random examples a test draws that has so many at night."""
    if LONG_RUN is not None:
        return int(LONG_RUN)
    return max(1, night // part())


def copies_of(rows: int, large: int = LARGE) -> int:
    """How many copies of an example of so many rows its second size has; 1 of what is large."""
    return max(1, large // max(1, rows))


def some_of(cases: Sequence[T]) -> Sequence[T]:
    """All cases at night and in a long run, else a part of them, from the first to the last."""
    return cases[:: part()]


def batches(night: int, each: int = 1) -> range:
    """The seeds of random batches: a quick run has the first, a full run others of so many.

    each: how many examples one has, of which a long run asks for a number.
    """
    if LONG_RUN is not None:
        return range(SEED, SEED + max(1, int(LONG_RUN) // each))
    return range(SEED + 1, SEED + 1 + -(-(night - 1) // part())) if FULL else range(SEED, SEED + 1)


def is_now(name: str, of: int) -> bool:
    """Whether the test of this name is in this run, one of so many being quick.

    A quick run has that one, a full run another by day and the others at night, a long run all.
    """
    if LONG_RUN is not None:
        return True
    return is_drawn(name, of, 1) if FULL and not NIGHT else is_drawn(name, of) is not FULL


def is_drawn(name: str, of: int, place: int = 0) -> bool:
    """Whether a test is one of so many: by its name, so that a new test draws no other one.

    place: which of them.
    """
    return crc32(name.encode()) % of == place


def together(cases: Sequence[T]) -> Sequence[Sequence[T]]:
    """Each case on its own in a long run, else all of them in one group."""
    return [cases] if LONG_RUN is None else [[case] for case in cases]


def choose_settings_of_spark() -> None:
    """Lets the sessions of this process, and of those that it starts, have the quick settings."""
    if not OWN_SPARK:
        paths = (str(QUICK), os.environ.get("PYTHONPATH"))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        os.environ["SPARK_CONF_DIR"] = str(QUICK)
