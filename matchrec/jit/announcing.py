"""Says on the standard error that a process compiles, once: somebody waits for it.

Nothing is compiled where a query is made, only in the workers; their standard error is the
terminal's in a local session, else the executor's log.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

from numba.core import event

LINE = "matchrec: compiling for the first query of its kind on this machine; this takes seconds"


class Announcing(event.Listener):
    """Hears of each function that numba compiles, not of those that it finds on disk."""

    def on_start(self, event: Any) -> None:  # noqa: ARG002 -- any of them
        say()

    def on_end(self, event: Any) -> None:
        """Nothing is to be said."""


@lru_cache
def say() -> None:
    """Says it the first time."""
    sys.stderr.write(f"{LINE}\n")
    sys.stderr.flush()
