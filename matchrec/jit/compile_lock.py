"""Let one caller at a time compile a function, while other callers wait for its files.

Spark starts as many workers as there are cores. On a machine without compiled functions, all
workers need the same functions at once. Without a lock, each worker would compile them, and damage
the files of other workers. A lock of a file belongs to a process, so the threads of a process need
another lock:

1. A thread that needs a function takes `COMPILE_LOCK`.
2. It locks the name of the function's files with `hold_process_lock`, and looks for the files
   again.
3. If they are still missing, it calls `print_compiling`, and compiles the function.

`disk_cache.lock_cache_files` does steps 2 and 3.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from threading import RLock

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# The name of a file in the folder of compiled functions. Each name locks one byte of this file.
LOCK_FILE = "compiling.lock"

# The lock of the thread that compiles. numba also lets only one thread compile at a time. The lock
# is re-entrant, so that a thread that holds it can call a compiled function without a deadlock.
COMPILE_LOCK = RLock()

# The message gives no exact time, because the time depends on the kernel, the processor and its
# load: a first `aggregate` has taken from 5 to 60 seconds. docs/contributing/benchmarks.md has a
# table by kernel.
COMPILING_MESSAGE = (
    "matchrec: compiling the search for the first query of its kind on this machine; this takes"
    " several seconds, or tens of seconds on a busy machine; `matchrec warm` does it beforehand"
)

# `matchrec warm` sets this environment variable, so that its workers do not print the message,
# which advises to run `matchrec warm`. Workers inherit the variable from the program.
IS_WARMING_VARIABLE = "MATCHREC_IS_WARMING"


@contextmanager
def hold_process_lock(folder: Path | None, name: str) -> Iterator[None]:
    """Let only one process at a time run the body of the `with` for a name in a folder.

    Not re-entrant: the body must not lock another name in the same folder. The system drops all
    locks that a process has on a file when the process closes the file, even if the file is still
    open elsewhere. The end of an inner `with` would therefore release the outer lock, too. This
    does not happen today, because a function that is being compiled calls no function that is not
    compiled yet.

    Processes do not wait if `folder` is None, or if the lock cannot be taken: on Windows, in a
    folder that cannot be written, and in a file system without locks.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            if folder is not None and fcntl is not None:
                folder.mkdir(parents=True, exist_ok=True)
                lock_file = stack.enter_context((folder / LOCK_FILE).open("ab"))
                offset = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
                fcntl.lockf(lock_file, fcntl.LOCK_EX, 1, offset)
        yield


@lru_cache  # so that the message is printed once
def print_compiling() -> None:
    """Print that the process compiles, once, because a user may be waiting.

    Only workers compile, not the process that makes a query. Their standard error is the terminal
    in a local session, otherwise the log of the executor. Nothing is printed for `matchrec warm`.
    """
    if IS_WARMING_VARIABLE in os.environ:
        return
    sys.stderr.write(f"{COMPILING_MESSAGE}\n")
    sys.stderr.flush()
