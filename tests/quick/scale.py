"""Choose how much tests do: little in a quick run, more in a full run, everything at night.

    pytest                                  a quick run
    MATCHREC_FULL=1 pytest -m larger        a full run of the tests that have a larger form
    MATCHREC_FULL=night pytest -m larger    a night run: all examples, and the slowest tests
    MATCHREC_EXAMPLES=20000 pytest FILE     a long run: this number of random examples, other ones
                                            each time
    MATCHREC_SEED=1000                      other random queries in tests that run batches of them

    MATCHREC_OWN_SPARK=1 pytest FILE        Spark with its default settings
    MATCHREC_INTERPRETED=1 pytest FILE      Spark without code generation

Except in a long run, a random test draws the same examples each time: a small part in a quick run,
a larger part in a full run. Spark has the settings in tests/quick/spark-defaults.conf by default.
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
LONG_RUN = os.environ.get("MATCHREC_EXAMPLES")  # the number of examples, as text
# Rows of the second size of random tests: tests/tasks/copies.py.
LARGE = 500 if not (FULL or LONG_RUN) else 1000 if LONG_RUN is None else 2000
# A quick run has one in 85 examples, a full run by day one in 17. Many lists of examples go through
# all combinations of a few values; every 64th or 8th example would have the same last value.
PART = 85
PART_OF_FULL = 17


def part() -> int:
    """Return N if this run has one in N examples."""
    if NIGHT or LONG_RUN is not None:
        return 1
    return PART_OF_FULL if FULL else PART


def examples(night: int) -> int:
    """Return the number of random examples of a test in this run.

    Args:
        night: the number of its examples at night.
    """
    if LONG_RUN is not None:
        return int(LONG_RUN)
    return max(1, night // part())


def copies_of(rows: int, large: int = LARGE) -> int:
    """Return the number of copies of an example in the second size of a random test.

    Together they have at most `large` rows, but there is at least one copy.
    """
    return max(1, large // max(1, rows))


def some_of(cases: Sequence[T]) -> Sequence[T]:
    """Return all cases at night and in a long run, otherwise a part of them at equal distances."""
    return cases[:: part()]


def batches(night: int, size: int = 1) -> range:
    """Return the seeds of the random batches of this run.

    A quick run has the first batch, a full run a part of the others.

    Args:
        night: the number of batches of a quick run and a night run together.
        size: the number of examples in a batch, for a long run with a number of examples.
    """
    if LONG_RUN is not None:
        return range(SEED, SEED + max(1, int(LONG_RUN) // size))
    if not FULL:
        return range(SEED, SEED + 1)
    number = -(-(night - 1) // part())  # rounded up
    return range(SEED + 1, SEED + 1 + number)


def is_now(name: str, one_in: int) -> bool:
    """Return whether a test runs in this run, if one test in `one_in` runs in a quick run.

    A quick run has this part of the tests, a full run by day another part, a night run all other
    tests, and a long run all tests.
    """
    if LONG_RUN is not None:
        return True
    return is_drawn(name, one_in, 1) if FULL and not NIGHT else is_drawn(name, one_in) is not FULL


def is_drawn(name: str, one_in: int, index: int = 0) -> bool:
    """Return whether a test is drawn, if one in `one_in` tests is.

    It depends on the name of the test only, so a new test does not change which others are drawn.

    Args:
        index: from 0 to `one_in` - 1; each index draws other tests.
    """
    return crc32(name.encode()) % one_in == index


def together(cases: Sequence[T]) -> Sequence[Sequence[T]]:
    """Return one group of all cases; in a long run, a group for each case."""
    return [cases] if LONG_RUN is None else [[case] for case in cases]


def choose_settings_of_spark() -> None:
    """Make Spark sessions of this process and of its children use the settings of tests/quick."""
    if not OWN_SPARK:
        paths = (str(QUICK), os.environ.get("PYTHONPATH"))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        os.environ["SPARK_CONF_DIR"] = str(QUICK)
