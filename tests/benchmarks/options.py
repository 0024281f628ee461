"""What a part of the benchmark is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """scale: of the data. rounds: how often everything is run. only: a word in a workload's name.

    interpreters: of other engines, by their names. memory_rows: of the partition whose memory is
    measured. seed: of the kinds' data and texts. rows: of each of their tables at scale 1. data: a
    folder where these tables stay, to be read again. memory: of the driver, for the first part.
    trino: the address of a server, if one is measured. tuned: whether `matchrec.tune` has set the
    session.
    """

    scale: float = 1.0
    rounds: int = 5
    only: str = ""
    interpreters: Mapping[str, str] = field(default_factory=dict)
    memory_rows: int = 20_000_000
    seed: int = 0
    rows: int = 2_000_000
    data: Path | None = None
    memory: str = "4g"
    trino: str | None = None
    tuned: bool = False
