"""The options of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """What is measured, and how."""

    # The factor by which the numbers of rows are multiplied.
    scale: float = 1.0
    # The number of measured rounds.
    rounds: int = 5
    # Only workloads whose names contain this word are measured.
    only: str = ""
    # Python interpreters of other engines, by the names of the engines.
    interpreters: Mapping[str, str] = field(default_factory=dict)
    # The number of rows of the partition whose memory is measured.
    memory_rows: int = 20_000_000
    # The seed of the data and the texts of the kinds of queries.
    seed: int = 0
    # The number of rows of each table of the kinds, at scale 1.
    rows: int = 2_000_000
    # A folder that keeps these tables for later runs; None to write them for this run only.
    data: Path | None = None
    # The memory of the driver. Only the first part of a run can set it.
    memory: str = "4g"
    # The address of a Trino server; None if Trino is not measured.
    trino: str | None = None
    # Whether `matchrec.tune` sets the session.
    tuned: bool = False
