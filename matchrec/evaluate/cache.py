"""Compiled kernels on disk, so that only the first query of its kind on a machine compiles.

Looked for, in this order, and written to the first place that can be written to:

    $NUMBA_CACHE_DIR        where that is set, then nowhere else
    matchrec/__pycache__    of the installed package; read also where it cannot be written to
    the user's cache        ~/.cache/matchrec on Linux

One file for each kernel, types of its arguments, processor, and Python; a file that was made from
other sources or by another numba is replaced. There is no index that processes could write at the
same time, files appear as a whole, and a damaged one counts as missing. Where no place can be
written to, each process compiles for itself.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from uuid import uuid4

import llvmlite
import numba
import numba.core
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

config: Any = numba.core.config  # its types do not know all options

SOURCES = ("nfa", "evaluate", "engine/kernels", "engine/kernels/selection", "engine", "output")


class KernelCache(NullCache):
    """What a dispatcher of numba asks for compiled code, for one kernel."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.code = function.__code__.co_code

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for some types, or None."""
        target_context.refresh()
        name, key = self.name_and_key(sig, target_context.codegen())
        for place in places():
            payload = read(place / name, key)
            if payload is not None:
                return CompileResult._rebuild(target_context, *pickle.loads(payload))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what has been compiled."""
        name, key = self.name_and_key(sig, data.codegen)
        for place in places():
            if write(place / name, key, dumps(data._reduce())):
                return

    def name_and_key(self, sig: Any, codegen: Any) -> tuple[str, bytes]:
        """The file, and what its content depends on beside its name."""
        types = [one.key for one in (sig if isinstance(sig, tuple) else sig.args)]
        told_apart = repr((types, codegen.magic_tuple(), config.BOUNDSCHECK, config.OPT))
        python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
        name = f"{self.name}.{python}.{hashlib.sha256(told_apart.encode()).hexdigest()[:16]}.kernel"
        made_by = repr((digest_of_sources(), numba.__version__, llvmlite.__version__, told_apart))
        return name, hashlib.sha256(made_by.encode() + self.code).digest()


@lru_cache
def digest_of_sources() -> str:
    """Of all that kernels are made from: they take in what they call."""
    digest = hashlib.sha256()
    for folder in SOURCES:
        for source in sorted(
            files("matchrec").joinpath(folder).iterdir(), key=lambda one: one.name
        ):
            if source.name.endswith(".py"):
                digest.update(source.read_bytes())
    return digest.hexdigest()


def places() -> Iterator[Path]:
    """The folders in which kernels are kept, the first one first."""
    package = Path(__file__).parents[1]
    installation = f"matchrec_{hashlib.sha256(str(package).encode()).hexdigest()[:16]}"
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR) / installation
        return
    yield package / "__pycache__"
    yield Path(AppDirs(appname="matchrec", appauthor=False).user_cache_dir) / installation


def read(path: Path, key: bytes) -> bytes | None:
    """What was written with the same key, or None."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    found, digest, payload = content[:32], content[32:64], content[64:]
    if found != key or hashlib.sha256(payload).digest() != digest:
        return None
    return payload


def write(path: Path, key: bytes, payload: bytes) -> bool:
    """Write a file as a whole; false where that is not possible."""
    temporary = path.with_name(f"{path.name}.{uuid4().hex[:16]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(key + hashlib.sha256(payload).digest() + payload)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        return False
    return True
