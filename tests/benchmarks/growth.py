"""Compare the time per row as rows, keys and output grow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Series = Mapping[str, Mapping[int, Sequence[float]]]


def compare_extremes(series: Series) -> Iterator[list[str]]:
    """Yield a row of cells for each series: each engine's longest time per row over its shortest.

    Args:
        series: for each series and each of its sizes, the time per row of each engine.
    """
    for name, times_by_size in series.items():
        by_engine = zip(*times_by_size.values(), strict=True)
        yield [name, *(f"{max(times) / min(times):.2f}" for times in by_engine)]
