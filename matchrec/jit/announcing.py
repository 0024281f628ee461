"""Says once on the standard error that a process compiles, since somebody waits for it.

Nothing is compiled where a query is made, only in the workers; their standard error is the
terminal's in a local session, else the executor's log.
"""

from __future__ import annotations

import sys
from functools import lru_cache

LINE = "matchrec: compiling for the first query of its kind on this machine; this takes seconds"


@lru_cache
def say() -> None:
    """Says it the first time."""
    sys.stderr.write(f"{LINE}\n")
    sys.stderr.flush()
