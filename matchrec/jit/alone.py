"""One process compiles a function, the others on the machine wait for what it keeps.

Spark starts as many workers as there are cores, and on a machine without compiled functions all of
them need the same ones at once. Each would compile them, and would damage what another one keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCKS = "compiling.lock"
"""The file beside the compiled functions, of which each name locks a byte."""


@contextmanager
def alone(place: Path | None, name: str) -> Iterator[None]:
    """Has one process at a time do this for a name in a place.

    Where there is no place, or its file system has no locks, nobody waits.
    """
    with ExitStack() as opened:
        with suppress(OSError):
            if place is not None and fcntl is not None:
                place.mkdir(parents=True, exist_ok=True)
                locks = opened.enter_context((place / LOCKS).open("ab"))
                byte = int.from_bytes(sha256(name.encode()).digest()[:4], "big")
                fcntl.lockf(locks, fcntl.LOCK_EX, 1, byte)
        yield
