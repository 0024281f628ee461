"""Compute a digest of the sources of machine code, for the names of files of the disk cache."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import files
from typing import Any

# The folders with the sources of machine code.
SOURCE_FOLDERS = ("jit", "automaton", "conditions/evaluate", "search", "output")

# Files outside of these folders with enums whose members have numbers in machine code.
ENUM_SOURCES = ("conditions/run_condition.py", "plan/clauses.py")


@lru_cache
def hash_sources() -> str:
    """Return a digest of all sources of machine code.

    The digest covers all sources, because the machine code of a function contains the code of the
    functions that it calls.
    """
    digest = hashlib.sha256()
    for folder in SOURCE_FOLDERS:
        for source in list_sources(files("matchrec").joinpath(folder)):
            digest.update(source.read_bytes())
    for name in ENUM_SOURCES:
        digest.update(files("matchrec").joinpath(name).read_bytes())
    return digest.hexdigest()[:16]


def list_sources(folder: Any) -> list[Any]:
    """Return the Python files in a folder and its subfolders, always in the same order."""
    sources: list[Any] = []
    for entry in sorted(folder.iterdir(), key=lambda file: file.name):
        if entry.is_dir():
            sources += list_sources(entry)
        elif entry.name.endswith(".py"):
            sources.append(entry)
    return sources
