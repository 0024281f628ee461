"""The options of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """What is measured, and how."""

    scale: float = 1.0  # the numbers of rows are multiplied by it
    rounds: int = 5  # measured rounds
    only: str = ""  # only workloads whose names contain this word
    # Python interpreters of other engines, by the names of the engines.
    interpreters: Mapping[str, str] = field(default_factory=dict)
    memory_rows: int = 20_000_000  # rows of the partition whose memory is measured
    seed: int = 0  # of the data and texts of the kinds
    rows: int = 2_000_000  # of each table of the kinds at scale 1
    data: Path | None = None  # a folder that keeps these tables for further runs
    memory: str = "4g"  # of the driver; only the first part can set it
    trino: str | None = None  # the address of a server, if Trino is measured
    tuned: bool = False  # whether `matchrec.tune` sets the session
