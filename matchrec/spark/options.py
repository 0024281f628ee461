"""How a query is run, apart from what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.dataclass import dataclass
from matchrec.engine.interface import OPTIMISED, Optimisations

if TYPE_CHECKING:
    from matchrec.spark.counters import Counters


@dataclass(frozen=True)
class Options:
    """How a query is run, apart from what it says.

    engine: "auto" or an engine's name. transport: "auto", "arrow" or "pandas". sort: who sorts
    partitions, one of `SORTS`. optimisations: those of event selection. counters: what counts,
    if anything. max_steps: see `Task`.
    """

    engine: str = "auto"
    transport: str = "auto"
    sort: str = "auto"
    optimisations: Optimisations = OPTIMISED
    counters: Counters | None = None
    max_steps: int | None = None
